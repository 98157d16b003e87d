"""What the page says to be known of scikit-learn's estimators is equal to scikit-learn's."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from interpreted_tables import INTERPRETED, Interpreted
from places import ROOT
from sklearn.pipeline import Pipeline

from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.importer import import_method, methods_of
from tilework.frontends.sklearn.programs import take_parameters
from tilework.frontends.sklearn.transformer import OptimizedTransformer
from tilework.runtime.pipelines.calls import result_of

FILE = ROOT / "docs" / "pipelines_support.py"
SPEC = importlib.util.spec_from_file_location("pipelines_support", FILE)
assert SPEC is not None and SPEC.loader is not None
support: Any = importlib.util.module_from_spec(SPEC)
sys.modules["pipelines_support"] = support
SPEC.loader.exec_module(support)

pytestmark = pytest.mark.filterwarnings("ignore")


def interpreted(estimator: Any, rows: Any, method: str) -> Any:
    program = import_method(estimator, rows[:5], method)
    blocks = program.interface.blocks(program.interface.checked(rows))
    if program.module is None:
        return result_of(None, program.interface.output, blocks, len(rows))
    [function] = program.module.ops
    numbers = [program.parameters[name] for name in take_parameters(function)]
    native: Any = Interpreted(program.module)
    return result_of(native, program.interface.output, blocks, len(rows), numbers)


@pytest.mark.parametrize(("text", "words"), support.expressions(), ids=lambda value: str(value))
def test_what_is_known_is_equal(text: str, words: bool):
    rows, _, _ = support.table(words)
    estimator = support.made(text)
    target = support.target_for(estimator, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = support.made(text).fit(rows, target)
        for method in methods_of(fitted):
            try:
                found = interpreted(fitted, rows, method)
            except Unsupported:
                continue
            assert_equal(found, getattr(fitted, method)(rows))
        if support.learned(text, words) is None:
            wrapped = estimator if hasattr(estimator, "transform") else Pipeline([("model", estimator)])
            optimized: Any = OptimizedTransformer(wrapped, INTERPRETED, strict=True).fit(rows, target)
            method = "predict" if hasattr(wrapped, "predict") else "transform"
            assert_equal(getattr(optimized.fitted, method)(rows), getattr(fitted, method)(rows))


def assert_equal(found: Any, expected: Any) -> None:
    if hasattr(expected, "toarray"):
        assert (type(found), found.nnz) == (type(expected), expected.nnz)
        assert (found.indices == expected.indices).all() and (found.indptr == expected.indptr).all()
        assert (found.indices.dtype, found.indptr.dtype) == (expected.indices.dtype, expected.indptr.dtype)
        found, expected = found.toarray(), expected.toarray()
    elif hasattr(expected, "to_numpy"):
        found, expected = found.to_numpy(), expected.to_numpy()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    else:
        np.testing.assert_array_equal(found, expected)
