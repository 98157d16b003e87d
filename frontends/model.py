"""Reading a model, whatever it is given as: the path of a file, its bytes, a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.driver.read_program import is_program_file, read_program

if TYPE_CHECKING:
    from tilework.frontends.onnx.given import Given
    from tilework.frontends.te.operator import Kernel

Array = NDArray[Any]


def read_file(model: Any) -> Any:
    """The bytes of an open file; anything else as it is. Raises UsageError for a file that is open for text."""
    if not hasattr(model, "read"):
        return model
    content = model.read()
    if not isinstance(content, bytes):
        raise UsageError("the model's file is open for text: open it with 'rb'")
    return content


def read_model(
    model: Any, parameters: Mapping[str, Array] | None, kernels: Mapping[str, Kernel], given: Given | None = None
) -> tuple[ModuleOp, dict[str, Array]]:
    """A module whose function @main is the model, which is the caller's to change, and its parameters.

    model, parameters, kernels: as `tilework.compile` takes them. given: what an ONNX model is imported for, where that
    is needed. Raises as `tilework.compile` does, and as `import_onnx` where more has to be given.
    """
    if is_program_file(model):
        model = read_program(model, lambda module: _define_kernels(module, kernels))
    if isinstance(model, ModuleOp):
        if not isinstance(parameters, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"parameters= takes a dictionary of arrays, not a {type(parameters).__name__}")
        module = model.clone()
        _define_kernels(module, kernels)
        return module, dict(parameters or {})
    if parameters is not None:
        raise UsageError("parameters= belongs to a graph module; an ONNX model brings its own")
    from tilework.frontends.onnx import import_onnx  # onnx takes a while to import

    imported = import_onnx(model, kernels) if given is None else import_onnx(model, kernels, given)
    return imported.module, dict(imported.parameters)


def _define_kernels(module: ModuleOp, kernels: Mapping[str, Kernel]) -> None:
    if kernels:
        from tilework.frontends.te.graph_kernels import define_kernels  # te takes 0.1 s to import

        define_kernels(module, kernels)
