"""te.extern: tensors that statements fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.frontends.te.arguments import check_function, kind, listed
from tilework.frontends.te.buffers import Buffer, Store, check_buffer
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.index import shape_of
from tilework.frontends.te.ir_builder import Body
from tilework.frontends.te.packed import PackedCall
from tilework.frontends.te.tensor import StagedOp, Tensor


class ExternOp(StagedOp):
    """Statements on buffers, or a call of a function of Python.

    inputs: the tensors read whole; in_buffers, out_buffers: what stands for the tensors.
    """

    def __init__(self, name: str, inputs: Sequence[Tensor], tag: str, attrs: Mapping[str, Any] | None):
        super().__init__(name, [], [], tag, attrs)
        self.inputs = list(inputs)
        self.in_buffers: list[Buffer] = []
        self.out_buffers: list[Buffer] = []
        self.body = Body(())
        self.call: PackedCall | None = None

    @property
    def buffers(self) -> list[Buffer]:
        """What stands for the tensors that it reads, then for those that it makes."""
        return [*self.in_buffers, *self.out_buffers]

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(self.inputs))


def extern(
    shape: object,
    inputs: Tensor | Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], object],
    name: str = "extern",
    dtype: object = None,
    in_buffers: object = None,
    out_buffers: object = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """The tensors that `fcompute(ins, outs)` fills, each element, by statements, or by a call of a function of Python.

    `te.ir_builder` makes statements, `te.call_packed` a call.

    shape: that of the result, or a list of the shapes of several. dtype: its element type, or one for each; by default
    that of the inputs. in_buffers, out_buffers: by `te.decl_buffer`, in place of new ones. Returns a tensor, or a list
    where there are several. The stage has no axes: a schedule can set its scope. Raises UsageError for arguments that
    do not fit.
    """
    op = ExternOp(name, _tensors(name, inputs), tag, attrs)
    check_function(fcompute, 2, f"fcompute of extern '{name}'")
    shapes = _shapes(shape)
    dtypes = _dtypes(op, dtype, len(shapes))
    op.outputs = [Tensor(op, dims, t, i) for i, (dims, t) in enumerate(zip(shapes, dtypes, strict=True))]
    op.out_buffers = _buffers(op.outputs, out_buffers, f"out_buffers of extern '{name}'")
    op.in_buffers = _buffers(op.inputs, in_buffers, f"in_buffers of extern '{name}'")
    body = fcompute(list(op.in_buffers), list(op.out_buffers))
    if isinstance(body, Store):
        body = Body((body,))
    if isinstance(body, PackedCall):
        op.call = body
        if unknown := [arg for arg in body.args if isinstance(arg, Buffer) and arg not in op.buffers]:
            raise UsageError(
                f"extern '{name}': call_packed is given '{unknown[0].name}', which is none of ins and outs"
            )
    elif isinstance(body, Body):
        op.body = body
    else:
        raise UsageError(f"extern '{name}': its function returns ib.get() or call_packed(...), not {kind(body)}")
    return op.outputs[0] if len(op.outputs) == 1 else op.outputs


def extern_of(
    name: str, inputs: Sequence[Tensor], in_buffers: Sequence[Buffer], out_buffers: Sequence[Buffer], body: Body
) -> list[Tensor]:
    """The tensors that statements fill, one for each of the buffers that these write."""
    op = ExternOp(name, inputs, "", None)
    op.in_buffers, op.out_buffers, op.body = list(in_buffers), list(out_buffers), body
    op.outputs = [Tensor(op, buffer.dims, buffer.dtype, i) for i, buffer in enumerate(out_buffers)]
    return op.outputs


def _buffers(tensors: Sequence[Tensor], given: object, what: str) -> list[Buffer]:
    """A buffer for each tensor: those that are given, or new ones."""
    if given is None:
        return [Buffer(t.name, t.dims, t.dtype) for t in tensors]
    buffers = listed(given)
    buffers = [given] if buffers is None else buffers
    if len(buffers) != len(tensors):
        raise UsageError(f"{what}: {len(buffers)} buffers for {len(tensors)} tensors")
    return [check_buffer(buffer, tensor) for buffer, tensor in zip(buffers, tensors, strict=True)]


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
