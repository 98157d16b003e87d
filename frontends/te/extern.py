"""te.extern: tensors that statements fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.frontends.te.arguments import check_function, kind
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.index import shape_of
from tilework.frontends.te.ir_builder import Body, Buffer
from tilework.frontends.te.tensor import StagedOp, Tensor


class ExternOp(StagedOp):
    """Statements on buffers. inputs: the tensors read whole; in_buffers, out_buffers: what stands for the tensors."""

    def __init__(self, name: str, inputs: Sequence[Tensor], tag: str, attrs: Mapping[str, Any] | None):
        super().__init__(name, [], [], tag, attrs)
        self.inputs = list(inputs)
        self.in_buffers = [Buffer(t.name, t.dims, t.dtype) for t in inputs]
        self.out_buffers: list[Buffer] = []
        self.body = Body(())

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(self.inputs))


def extern(
    shape: object,
    inputs: Tensor | Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], Body],
    name: str = "extern",
    dtype: object = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """The tensors that the statements of `fcompute(ins, outs)` fill, each element; `te.ir_builder` makes statements.

    shape: that of the result, or a list of the shapes of several. dtype: its element type, or one for each; by default
    that of the inputs. Returns a tensor, or a list where there are several. The stage has no axes: a schedule can set
    its scope. Raises UsageError for arguments that do not fit.
    """
    op = ExternOp(name, _tensors(name, inputs), tag, attrs)
    check_function(fcompute, 2, f"fcompute of extern '{name}'")
    shapes = _shapes(shape)
    dtypes = _dtypes(op, dtype, len(shapes))
    op.outputs = [Tensor(op, dims, t, i) for i, (dims, t) in enumerate(zip(shapes, dtypes, strict=True))]
    op.out_buffers = [Buffer(t.name, t.dims, t.dtype) for t in op.outputs]
    body = fcompute(list(op.in_buffers), list(op.out_buffers))
    if not isinstance(body, Body):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"extern '{name}': its function returns ib.get() of te.ir_builder, not {kind(body)}")
    op.body = body
    return op.outputs[0] if len(op.outputs) == 1 else op.outputs


def _tensors(name: str, inputs: object) -> list[Tensor]:
    given = list(cast("Sequence[object]", inputs)) if isinstance(inputs, list | tuple) else [inputs]
    for value in given:
        if not isinstance(value, Tensor) or isinstance(value, Buffer):
            raise UsageError(f"extern '{name}': its inputs are tensors, not {kind(value)}")
    return cast("list[Tensor]", given)


def _shapes(shape: object) -> list[tuple[Expr, ...]]:
    given = list(cast("Sequence[object]", shape)) if isinstance(shape, list | tuple) else [shape]
    several = bool(given) and all(isinstance(part, list | tuple) for part in given)
    return [shape_of(part) for part in (given if several else [given])]


def _dtypes(op: ExternOp, dtype: object, count: int) -> list[str]:
    if dtype is None:
        found = sorted({t.dtype for t in op.inputs})
        if len(found) != 1:
            raise UsageError(f"extern '{op.name}': inputs of {', '.join(found) or 'no type'}; give dtype=")
        return found * count
    given = list(cast("Sequence[object]", dtype)) if isinstance(dtype, list | tuple) else [dtype] * count
    if len(given) != count:
        raise UsageError(f"extern '{op.name}': {len(given)} dtypes for {count} shapes")
    return [check_dtype(t) for t in given]
