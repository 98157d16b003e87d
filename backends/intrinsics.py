"""What back ends write for intrinsics: an emitter found by name, else the declaration's snippet, else the meaning.

An emitter is an entry of `HANDLERS` in `backends/<back end>/intrinsics/<set>.py`, in the tree or in a plugin: the name
of an intrinsic, `<set>.<rest>`, and a function of the emitter and the operation. `HANDLERS` may also say how another
operation is written around calls of intrinsics of the set, such as a sum that one instruction computes with its term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Template
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.errors import TileworkError
from tilework.backends.element_types import lanes_of
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te.intrinsic import RESULT
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration
from tilework.dialects.te.intrinsics import declaration_of
from tilework.plugins.packages import Folder, by_name, folders_of, member_of

Handler = Callable[[Any, Any], None]
"""Writes one operation: called with the emitter of a back end and the operation."""


class IntrinsicWriter(ABC):
    """How a back end writes intrinsics. What is abstract here is said in its language."""

    folders: ClassVar[tuple[str, ...]]
    """The folders of back ends in which its emitters lie."""
    kind: ClassVar[str]
    """What snippets for it are said to be for."""

    # -- for back ends

    def handlers(self) -> dict[type[Operation], Handler]:
        """How intrinsics are written, and what is written around them."""
        around = {key: handler for key, handler in self._emitters().items() if not isinstance(key, str)}
        return {CallIntrinsicOp: self.call, IntrinsicOp: self.on_buffers, **around}

    def why_no_code(self, op: IntrinsicOp) -> str | None:
        """Why there is nothing to write for an intrinsic on buffers; None if there is."""
        if op.intrinsic in self._emitters() or declaration_of(op, op.intrinsic).snippet(self.kind) is not None:
            return None
        return (
            f"'{op.name}' needs an instruction for @{op.intrinsic}: the back end of '{self.kind}' has no emitter for "
            f"it, and the declaration no snippet; give one for '{self.kind}', or compile for another target"
        )

    def call(self, e: Any, op: CallIntrinsicOp) -> None:
        """Write a call on scalars or vectors."""
        handler, declaration = self._emitters().get(op.intrinsic), declaration_of(op, op.intrinsic)
        if handler is not None:
            handler(e, op)
        elif (snippet := declaration.snippet(self.kind)) is not None:
            self.write_call(e, op, declaration, snippet)
        else:
            self._write_meaning(e, op, declaration)

    def on_buffers(self, e: Any, op: IntrinsicOp) -> None:
        """Write an intrinsic on parts of buffers. Raises CompileError where there is nothing to write."""
        if (why := self.why_no_code(op)) is not None:
            raise CompileError(why, op)
        handler, declaration = self._emitters().get(op.intrinsic), declaration_of(op, op.intrinsic)
        if handler is not None:
            handler(e, op)
            return
        values: dict[str, str] = {}
        for name, part in zip([RESULT, *declaration.parameters], op.buffer_regions, strict=True):
            values[name] = self.register(op, part) if part.form.in_register else self.place(e, op, part)
            values |= {f"{name}_stride{axis}": str(stride) for axis, stride in enumerate(part.strides)}
        self.write_snippet(e, op, declaration.snippet(self.kind) or "", values)

    def register(self, op: IntrinsicOp, part: BufferRegion) -> str:
        """What a register is called: the constant subscript of the part. Raises CompileError where it is none."""
        if part.position.constant is None:
            message = f"the subscript of register %{part.memref.name_hint or '?'} is no constant"
            raise CompileError(f"{message}: run loop-unroll and loop-simplify", op)
        return str(part.position.constant)

    # -- in the language of a back end

    @abstractmethod
    def write_call(self, e: Any, op: CallIntrinsicOp, declaration: Declaration, snippet: str) -> None:
        """Write a snippet for scalars, and name the result."""

    @abstractmethod
    def write_snippet(self, e: Any, op: IntrinsicOp, snippet: str, values: Mapping[str, str]) -> None:
        """Write a snippet for buffers, in which names have these values."""

    @abstractmethod
    def place(self, e: Any, op: IntrinsicOp, part: BufferRegion) -> str:
        """A pointer to the first element of a part."""

    @abstractmethod
    def same(self, e: Any, value: SSAValue, other: SSAValue) -> None:
        """Let a value be another one, which has been written."""

    # -- inside

    def _emitters(self) -> Mapping[str | type[Operation], Handler]:
        found = (folders_of(f"backends/{name}/intrinsics") for name in self.folders)
        return _handlers_in(tuple(folder for folders in found for folder in folders))

    def _write_meaning(self, e: Any, op: CallIntrinsicOp, declaration: Declaration) -> None:
        block = _meaning_block(declaration, op)
        for argument, operand in zip(block.args, op.arguments, strict=True):
            self.same(e, argument, operand)
        last = block.last_op
        assert last is not None
        last.detach()
        e.block(block)
        self.same(e, op.result, last.operands[0])


@cache
def _handlers_in(folders: tuple[Folder, ...]) -> Mapping[str | type[Operation], Handler]:
    found: list[tuple[str, tuple[str | type[Operation], Handler]]] = []
    modules = [(name, folder.load(name)) for folder in folders for name in folder.modules()]
    for name, module in modules:
        for key, handler in member_of(module, "HANDLERS").items():
            home = key.partition(".")[0] if isinstance(key, str) else name
            if home != name:
                raise TileworkError(f"{module.__name__} writes @{key}, which belongs into '{home}.py'")
            found.append((key if isinstance(key, str) else key.name, (key, handler)))
    return dict(by_name("emitters of intrinsics", found, lambda entry: entry[1].__module__).values())


def filled(snippet: str, values: Mapping[str, str], fresh: Callable[[str], str]) -> list[str]:
    """The lines of a snippet with these values; names that begin with `_` are fresh ones, the same in all lines."""
    template = Template(snippet)
    own = {name: fresh(name[1:]) for name in template.get_identifiers() if name.startswith("_")}
    lines = template.substitute({**own, **values}).splitlines()
    return [line.strip() for line in lines if line.strip()]


def _meaning_block(declaration: Declaration, op: CallIntrinsicOp) -> Block:
    """The meaning of an intrinsic as a block with the call's operands as arguments: on vectors, where the call is."""
    lanes = lanes_of(op.result.type)
    block = Block(arg_types=[operand.type for operand in op.operands])
    mapped: dict[SSAValue, SSAValue] = dict(zip(declaration.body.block.args, block.args, strict=True))
    for scalar in declaration.body.block.ops:
        new = _on_lanes(scalar, [mapped[v] for v in scalar.operands], lanes)
        new.location = op.location
        block.add_op(new)
        mapped.update(zip(scalar.results, new.results, strict=True))
    return block


def _on_lanes(op: Operation, operands: Sequence[SSAValue], lanes: int | None) -> Operation:
    """An operation on scalars as the same one on vectors of so many lanes; on scalars for None."""
    types = [type_ if lanes is None else VectorType(type_, [lanes]) for type_ in op.result_types]
    if isinstance(op, arith.ConstantOp) and lanes is not None:
        number = cast("IntegerAttr | FloatAttr", op.value).value.data
        return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(cast(Any, types[0]), [cast(Any, number)]))
    return type(op).create(operands=operands, result_types=types, properties=op.properties, attributes=op.attributes)
