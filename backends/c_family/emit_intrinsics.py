"""Calls of intrinsics in C: by the snippets of their declarations, or by what these mean.

A snippet for scalars is an expression, with statements on lines of their own in front of it; of vectors it is written
lane by lane. One for buffers is statements, to which arguments are pointers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import SSAValue

from tilework.backends.c_family.emit_index import index_writer
from tilework.backends.c_family.emitter import Emitter
from tilework.backends.c_family.forms import form_of
from tilework.backends.intrinsics import IntrinsicWriter, filled
from tilework.dialects.loop import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import element_type
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration


class CIntrinsics(IntrinsicWriter):
    """Intrinsics as expressions and statements of C."""

    folders = ("c_family",)
    kind = "c"

    def write_call(self, e: Emitter, op: CallIntrinsicOp, declaration: Declaration, snippet: str) -> None:
        self._refuse_halves(op)
        form = form_of(op.result.type, op)
        if form.lanes is None:
            e.define(op.result, self._expression(e, op, declaration, snippet, [e.get(v) for v in op.arguments]))
            return
        found: list[str] = []
        for i in range(form.lanes):
            numbers = [(e.vectors.lane(e.get(v), i), v) for v in op.arguments]
            texts = [f"{number} != 0" if e.is_mask(v) else number for number, v in numbers]
            found.append(self._expression(e, op, declaration, snippet, texts))
        if e.is_mask(op.result):
            found = [f"-(({number}) != 0)" for number in found]
        e.define(op.result, e.vectors.lanes(e.file, form, found))

    def _expression(
        self, e: Emitter, op: CallIntrinsicOp, declaration: Declaration, snippet: str, numbers: Sequence[str]
    ) -> str:
        """What a snippet makes of scalars: the lines in front of the last one are written, which is the expression."""
        names = declaration.parameters
        types = [*declaration.function_type.inputs, *declaration.function_type.outputs]
        forms = [form_of(type_, op) for type_ in types]
        said = {f"{name}_type": e.type_of(form) for name, form in zip(names, forms, strict=False)}
        said |= {"type": e.type_of(forms[-1]), "suffix": forms[-1].suffix}
        said |= {n: text if text.isidentifier() else f"({text})" for n, text in zip(names, numbers, strict=True)}
        *before, last = filled(snippet, said, e.text.fresh) or [""]
        if not last:
            raise CompileError(f"the snippet of @{op.intrinsic} for '{self.kind}' has no expression", op)
        for line in before:
            e.text.line(line)
        return last

    def _refuse_halves(self, op: CallIntrinsicOp) -> None:
        """Raise CompileError for halves: in C they are their bits, which an expression would compute with."""
        half = next((t for v in (*op.arguments, op.result) if (t := element_type(v.type)) in (f16, bf16)), None)
        if half is not None:
            message = f"the snippet of @{op.intrinsic} for '{self.kind}' would compute with the bits of {half}"
            raise CompileError(f"{message}: leave it out, so that the meaning is written", op)

    def write_snippet(self, e: Emitter, op: IntrinsicOp, snippet: str, values: Mapping[str, str]) -> None:
        for line in filled(snippet, values, e.text.fresh):
            e.text.line(line)

    def place(self, e: Emitter, op: IntrinsicOp, part: BufferRegion) -> str:
        element = f"{e.get(part.memref)}[{index_writer(e, op).expr(part.position)}]"
        return e.variable(e.pointer(part.memref), f"&{element}", part.memref.name_hint)

    def same(self, e: Emitter, value: SSAValue, other: SSAValue) -> None:
        e.same(value, other)


INTRINSICS = CIntrinsics()
