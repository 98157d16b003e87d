"""Calls of intrinsics in C: by the snippets of their declarations, or by what these mean.

A snippet for scalars is an expression, with statements on lines of their own in front of it; of vectors it is written
lane by lane. One for buffers is statements, to which arguments are pointers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.backends.c_family.emit_index import index_writer
from tilework.backends.c_family.emitter import Emitter
from tilework.backends.c_family.forms import Form, form_of
from tilework.backends.intrinsics import IntrinsicWriter, filled
from tilework.dialects.loop import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.parts import Part
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration


class CIntrinsics(IntrinsicWriter):
    """Intrinsics as expressions and statements of C."""

    folder = "c_family"
    kind = "c"

    def write_call(self, e: Emitter, op: CallIntrinsicOp, declaration: Declaration, snippet: str) -> None:
        form, arguments = form_of(op.result.type, op), [e.get(v) for v in op.arguments]

        def expression(of: Sequence[str], form: Form) -> str:
            values = dict(zip(declaration.parameters, of, strict=True))
            types = {"type": e.type_of(form), "suffix": form.suffix}
            *before, last = filled(snippet, {**values, **types}, e.text.fresh) or [""]
            if not last:
                raise CompileError(f"the snippet of @{op.intrinsic} for '{self.kind}' has no expression", op)
            self.write_lines(e, before)
            return last

        if form.lanes is None:
            e.define(op.result, expression(arguments, form))
            return
        lanes = [expression([e.vectors.lane(a, i) for a in arguments], form.scalar) for i in range(form.lanes)]
        e.define(op.result, e.vectors.lanes(e.file, form, lanes))

    def write_lines(self, e: Emitter, lines: Sequence[str]) -> None:
        for line in lines:
            e.text.line(line)

    def place(self, e: Emitter, op: IntrinsicOp, part: Part) -> str:
        element = f"{e.get(part.memref)}[{index_writer(e, op).expr(part.position)}]"
        return e.variable(e.pointer(part.memref), f"&{element}", part.memref.name_hint)

    def same(self, e: Emitter, value: SSAValue, other: SSAValue) -> None:
        e.same(value, other)


INTRINSICS = CIntrinsics()
