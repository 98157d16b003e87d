"""Calls of intrinsics in LLVM IR: by emitters in `intrinsics/`, or by the snippets of their declarations.

A snippet for scalars ends in an instruction, whose value is the result: `call $type @llvm.umax.$suffix($type $x, $type
$y)`. One that says `$type` or `$suffix` is written for whole vectors, another lane by lane. Lines in front of it are
instructions too, and those that begin with `declare` declare functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Template

from xdsl.ir import SSAValue

from tilework.backends.element_types import lanes_of, stored_as
from tilework.backends.intrinsics import IntrinsicWriter, filled
from tilework.backends.llvm.emit_index import index_writer
from tilework.backends.llvm.emitter import Emitter
from tilework.backends.llvm.llvm_types import llvm_type, suffix
from tilework.dialects.loop import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.parts import Part
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration

_DECLARED = re.compile(r"declare [^@]*@([\w.$-]+)\(")


class LLVMIntrinsics(IntrinsicWriter):
    """Intrinsics as instructions of LLVM."""

    folder = "llvm"
    kind = "llvm"

    def write_call(self, e: Emitter, op: CallIntrinsicOp, declaration: Declaration, snippet: str) -> None:
        arguments = [e.get(v) for v in op.arguments]
        lanes = lanes_of(op.result.type)
        if lanes is None or not {"type", "suffix"}.isdisjoint(Template(snippet).get_identifiers()):
            values = dict(zip(declaration.parameters, arguments, strict=True))
            types = {"type": e.type(op.result), "suffix": suffix(op.result.type, op)}
            e.set(op.result, self._value(e, op, snippet, {**values, **types}))
            return
        element, result = llvm_type(declaration.function_type.outputs.data[0], op), "poison"
        for lane in range(lanes):
            scalars = [
                e.text.value(f"extractelement {e.type(v)} {text}, i64 {lane}")
                for v, text in zip(op.arguments, arguments, strict=True)
            ]
            number = self._value(e, op, snippet, dict(zip(declaration.parameters, scalars, strict=True)))
            result = e.text.value(f"insertelement {e.type(op.result)} {result}, {element} {number}, i64 {lane}")
        e.set(op.result, result)

    def write_lines(self, e: Emitter, lines: Sequence[str]) -> None:
        for line in lines:
            if (declared := _DECLARED.match(line)) is not None:
                e.module.declare(declared[1], line)
            else:
                e.text.line(line)

    def place(self, e: Emitter, op: IntrinsicOp, part: Part) -> str:
        index, pointer = index_writer(e, op).expr(part.position), e.get(part.memref)
        if index == "0":
            return pointer
        stored = llvm_type(stored_as(part.form.element, op), op)
        return e.text.value(f"getelementptr inbounds {stored}, ptr {pointer}, i64 {index}")

    def same(self, e: Emitter, value: SSAValue, other: SSAValue) -> None:
        e.set(value, e.get(other))

    def _value(self, e: Emitter, op: CallIntrinsicOp, snippet: str, values: Mapping[str, str]) -> str:
        """The value of the last line."""
        *before, last = filled(snippet, values, e.text.fresh) or [""]
        if not last or _DECLARED.match(last):
            raise CompileError(f"the snippet of @{op.intrinsic} for '{self.kind}' does not end in an instruction", op)
        self.write_lines(e, before)
        return e.text.value(last)


INTRINSICS = LLVMIntrinsics()
