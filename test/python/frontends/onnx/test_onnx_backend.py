"""Models of onnx's own collection of backend tests, imported and interpreted: exported by PyTorch, or of sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase as BackendCase
from onnx.backend.test.loader import load_model_tests

from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

CASES: list[BackendCase] = [
    case for kind in ("pytorch-converted", "pytorch-operator") for case in load_model_tests(kind=kind)
]
SEQUENCES = [case for case in load_model_tests(kind="simple") if case.name.startswith("test_sequence")]


def arrays(folder: Path, kind: str) -> list[np.ndarray[Any, Any]]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    files = [folder / f"{kind}_{i}.pb" for i in range(count)]
    return [numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes())) for file in files]


@pytest.mark.parametrize("case", [*CASES, *SEQUENCES], ids=lambda case: case.name)
def test_exported_model(case: BackendCase):
    folder = Path(case.model_dir)
    imported = import_onnx(folder / "model.onnx")
    data = folder / "test_data_set_0"
    results = run_function(imported.module, "main", arrays(data, "input"), imported.parameters)
    for result, expected in zip(results, arrays(data, "output"), strict=True):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=max(case.rtol, 1e-4), atol=max(case.atol, 1e-5))
