"""Single operators, from onnx's own collection of backend tests, imported and interpreted: all of some families."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from onnx.backend.test.case import node as collection
from onnx.backend.test.case.test_case import TestCase as BackendCase

from tilework.dialects.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

FAMILIES = {"convtranspose": "ConvTranspose", "gru": "GRU", "lstm": "LSTM", "rnn": "RNN"}
"""Modules of the collection, and their operators. Importing one makes its cases; all of them together take seconds."""

REFUSED = {"sequence_lens": ["test_lstm_with_peepholes"]}
"""Cases that are not supported yet, by what the refusal mentions. One that becomes supported has to leave this list."""


def cases() -> list[BackendCase]:
    for family in FAMILIES:
        importlib.import_module(f"{collection.__name__}.{family}")
    return [case for case in collection._NodeTestCases if case.model.graph.node[0].op_type in FAMILIES.values()]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_node(case: BackendCase):
    assert case.model is not None and case.data_sets is not None
    reason = next((reason for reason, names in REFUSED.items() if case.name in names), None)
    if reason is not None:
        with pytest.raises(TileworkError, match=reason):
            import_onnx(case.model)
        return
    imported = import_onnx(case.model)
    for inputs, outputs in case.data_sets:
        results = run_function(imported.module, "main", list(inputs), imported.parameters)
        for result, expected in zip(results, outputs, strict=True):
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(result, expected, rtol=case.rtol, atol=1e-6)
