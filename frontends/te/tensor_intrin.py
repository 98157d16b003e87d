"""Tensor intrinsics of the te language: what an instruction computes, as a compute, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from tilework.algebra.errors import UsageError
from tilework.dialects import te
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.intrinsic import RESULT
from tilework.dialects.te.joining import identity
from tilework.frontends.te.arguments import check_function, check_text, kind, listed
from tilework.frontends.te.buffers import Buffer, InstructionBuffer, check_buffer, decl_buffer
from tilework.frontends.te.calls import ExternCall
from tilework.frontends.te.ir_builder import Body
from tilework.frontends.te.kernel import build_kernel, name_everything, operations_for
from tilework.frontends.te.packed import PackedCall
from tilework.frontends.te.tensor import ComputeOp, PlaceholderOp, Tensor

Snippets = dict[str, list[str]]
"""The lines that a back end writes, by the kind of target, such as "llvm"."""


@dataclass(frozen=True, eq=False)
class TensorIntrin:
    """An instruction on tensors, for `tensorize` of a stage.

    op: what it computes. buffers: of the tensors that it reads, then of the result. body, reset, update: the snippets
    of the whole, of what sets the result to the identity of a reduction, and of what joins a part of a reduction; None
    where there is no such instruction.
    """

    name: str
    op: ComputeOp
    buffers: tuple[InstructionBuffer, ...]
    body: Snippets | None
    reset: Snippets | None
    update: Snippets | None

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that it reads."""
        return self.op.input_tensors

    @property
    def reduce_init(self) -> Snippets | None:
        """The reset, by TVM's name."""
        return self.reset

    @property
    def reduce_update(self) -> Snippets | None:
        """The update, by TVM's name."""
        return self.update

    def __call__(self, *regions: object, reduce_axis: object = None) -> Any:
        """Refused: a compute says what each element equals, and a schedule where the instruction is used."""
        raise UsageError(
            f"intrinsic '{self.name}' is called in a compute: write what it computes there, and `s[T].tensorize(axis, "
            "intrinsic)` in the schedule"
        )

    def declarations(self, name: str) -> list[te.IntrinsicOp]:
        """The `te.intrinsic` of that name, and those that it names."""
        found: list[te.IntrinsicOp] = []
        others: dict[str, Attribute] = {}
        if self.reset is not None:
            others["reset"] = SymbolRefAttr(f"{name}.reset")
            found.append(self._declared(f"{name}.reset", self._identity(), [self.buffers[-1]], self.reset, {}))
        accumulates: dict[str, Attribute] = {"accumulates": UnitAttr()}
        if self.body is None:
            assert self.update is not None
            return [*found, self._declared(name, self._meaning(), self.buffers, self.update, others | accumulates)]
        if self.update is not None:
            others["update"] = SymbolRefAttr(f"{name}.update")
            updating = self._declared(f"{name}.update", self._meaning(), self.buffers, self.update, accumulates)
            found.append(updating)
        return [*found, self._declared(name, self._meaning(), self.buffers, self.body, others)]

    def _declared(
        self,
        name: str,
        meaning: te.KernelOp,
        buffers: Sequence[InstructionBuffer],
        snippets: Snippets,
        others: Mapping[str, Attribute],
    ) -> te.IntrinsicOp:
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": meaning.function_type,
            "names": ArrayAttr(StringAttr(buffer.name) for buffer in buffers[:-1]),
            "buffers": ArrayAttr(buffer.type for buffer in buffers),
            "multiples": DenseArrayBase.from_list(i64, [buffer.multiple for buffer in buffers]),
            "snippets": DictionaryAttr({target: _text(lines) for target, lines in snippets.items()}),
        }
        if all(buffer.multiple == 1 for buffer in buffers):
            del properties["multiples"]
        return te.IntrinsicOp.create(properties={**properties, **others}, regions=[meaning.detach_region(meaning.body)])

    def _meaning(self) -> te.KernelOp:
        operations = operations_for([self.op])
        return build_kernel("meaning", name_everything(operations), self.op.input_tensors, self.op.outputs, operations)

    def _identity(self) -> te.KernelOp:
        """A tensor of the identity of the reduction."""
        [compute] = self._meaning().computes
        last = compute.terminator
        assert isinstance(last, te.ReduceOp) and last.kind is not None
        number, type_ = identity(last.kind.data, last.values[0].type), compute.results[0].type
        k = KernelBuilder("identity")
        value: Any = number.value.data
        made = k.compute("identity", dims_of(type_), lambda *_: k.constant(value, last.values[0].type))
        return k.finish([made])


def decl_tensor_intrin(
    op: ComputeOp,
    fcompute: Callable[[Sequence[Buffer], Sequence[Buffer]], Any],
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """Declare an instruction: what it computes, and by `fcompute` how back ends write it.

    op: a compute of placeholders of known shape. fcompute: takes the buffers that are read and the result's, and
    returns snippets, such as {"c": f"dot8({outs[0].access_ptr('w')}, ...);"}, or three of these, of which any may be
    None: for the whole compute, for what sets the result to the identity of its reduction, and for what joins a part of
    the reduction. Snippets may be `te.call_extern(...)` of a function of C; a `te.call_packed` is taken for `lower`,
    but no back end writes it. binds: buffers of tensors, by `decl_buffer`; others have default_buffer_params.
    """
    is_compute = isinstance(op, ComputeOp)  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
    if not is_compute or not all(isinstance(t.op, PlaceholderOp) for t in op.input_tensors):
        raise UsageError("decl_tensor_intrin takes a compute that reads placeholders alone")
    check_function(fcompute, 2, "fcompute of decl_tensor_intrin")
    if scalar_params is not None:
        raise UsageError("decl_tensor_intrin takes no scalar_params: a number that varies is a tensor")
    bound = dict(binds or {})
    names = name_everything(operations_for([op]))
    tensors = [*op.input_tensors, *op.outputs]
    if len(op.outputs) != 1 or any(not dim.is_constant for t in tensors for dim in t.dims):
        raise UsageError("decl_tensor_intrin takes a compute of one result, of tensors whose shapes are known")
    named = [*(names.stages[t.op] for t in tensors[:-1]), RESULT]
    default = dict(default_buffer_params or {})
    buffers = tuple(_buffer(t, n, bound.pop(t, None), default) for t, n in zip(tensors, named, strict=True))
    if bound:
        raise UsageError(f"binds of decl_tensor_intrin names '{next(iter(bound)).name}', which it does not read")
    given = fcompute(buffers[:-1], buffers[-1:])
    parts = list(cast("tuple[Any, ...]", given)) if isinstance(given, tuple) else [given]
    body, reset, update = [_snippets(part) for part in [*parts, None, None]][:3]
    if len(parts) > 3 or (body is None and update is None):
        raise UsageError("fcompute returns snippets, or three of these: of the body, of the reset, and of the update")
    if not op.reduce_axis and (reset is not None or update is not None or body is None):
        raise UsageError("fcompute returns a body alone, since the compute is no reduction")
    return TensorIntrin(check_text(name, "the name of an intrinsic"), op, buffers, body, reset, update)


def _buffer(tensor: Tensor, name: str, bound: Buffer | None, default: Mapping[str, Any]) -> InstructionBuffer:
    asked = decl_buffer(tensor.shape, tensor.dtype, name, **default) if bound is None else check_buffer(bound, tensor)
    return InstructionBuffer(name, asked.dims, asked.dtype, asked.wanted, asked.scope, asked.multiple)


def _snippets(value: object) -> Snippets | None:
    if value is None:
        return None
    if isinstance(value, ExternCall):
        return value.snippets()
    if isinstance(value, PackedCall):
        return {}
    if isinstance(value, Body) and len(value.statements) == 1 and isinstance(value.statements[0], ExternCall):
        return _snippets(value.statements[0])
    if not isinstance(value, Mapping):
        raise UsageError(
            f'snippets are a dictionary from kinds of targets, such as "llvm", to text, or te.call_extern(...), not '
            f"{kind(value)}"
        )
    found: Snippets = {}
    for target, text in cast("Mapping[str, object]", value).items():
        lines = listed(text)
        texts = [text] if lines is None else lines
        if not all(isinstance(line, str) for line in texts):
            raise UsageError(f"the snippet for '{target}' is a text, or a list of lines, not {kind(text)}")
        found[target] = cast("list[str]", texts)
    return found


def _text(lines: list[str]) -> Attribute:
    return ArrayAttr(map(StringAttr, lines))
