"""Calls of intrinsics in LLVM IR: by emitters in `intrinsics/`, or by the snippets of their declarations.

A snippet for scalars ends in an instruction, whose value is the result: `call $type @llvm.umax.$suffix($type $x, $type
$y)`. One that says a type is written for whole vectors, another lane by lane. Lines in front of it are instructions
too, and those that begin with `declare` declare functions. LLVM looks at every snippet alone first, so that what it
refuses is said of the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from string import Template

from xdsl.ir import SSAValue

from tilework.backends.element_types import lanes_of, stored_as
from tilework.backends.intrinsics import IntrinsicWriter, filled
from tilework.backends.llvm.emit_index import index_writer
from tilework.backends.llvm.emitter import Emitter
from tilework.backends.llvm.llvm_types import llvm_type, suffix
from tilework.dialects.loop import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration
from tilework.runtime.devices.llvm.compile import LLVMError, parse_ir

_DECLARED = re.compile(r"declare [^@]*@([\w.$-]+)\(")


class LLVMIntrinsics(IntrinsicWriter):
    """Intrinsics as instructions of LLVM."""

    folders = ("llvm",)
    kind = "llvm"

    def write_call(self, e: Emitter, op: CallIntrinsicOp, declaration: Declaration, snippet: str) -> None:
        names, lanes = declaration.parameters, lanes_of(op.result.type)
        whole = lanes is None or _says_type(snippet)
        element = [llvm_type(t, op) for t in (*declaration.function_type.inputs, *declaration.function_type.outputs)]
        *types, result_type = [e.type(v) for v in (*op.arguments, op.result)] if whole else element
        said = {"type": result_type, "suffix": suffix(op.result.type, op)}
        said |= {f"{name}_type": type_ for name, type_ in zip(names, types, strict=True)}
        _refuse_invalid(op, snippet, said, dict(zip(names, types, strict=True)), result_type)
        arguments = [e.get(v) for v in op.arguments]
        if whole:
            values = dict(zip(names, arguments, strict=True))
            e.set(op.result, self._value(e, snippet, {**said, **values}))
            return
        result = "poison"
        for lane in range(lanes or 0):
            scalars = [
                e.text.value(f"extractelement {e.type(v)} {text}, i64 {lane}")
                for v, text in zip(op.arguments, arguments, strict=True)
            ]
            number = self._value(e, snippet, {**said, **dict(zip(names, scalars, strict=True))})
            result = e.text.value(f"insertelement {e.type(op.result)} {result}, {result_type} {number}, i64 {lane}")
        e.set(op.result, result)

    def write_snippet(self, e: Emitter, op: IntrinsicOp, snippet: str, values: Mapping[str, str]) -> None:
        pointers = {name: "ptr" for name, text in values.items() if text.startswith("%")}
        _refuse_invalid(op, snippet, {n: text for n, text in values.items() if n not in pointers}, pointers, None)
        self.write_lines(e, filled(snippet, values, e.text.fresh))

    def write_lines(self, e: Emitter, lines: Sequence[str]) -> None:
        for line in lines:
            if (declared := _DECLARED.match(line)) is not None:
                e.module.declare(declared[1], line)
            else:
                e.text.line(line)

    def place(self, e: Emitter, op: IntrinsicOp, part: BufferRegion) -> str:
        index, pointer = index_writer(e, op).expr(part.position), e.get(part.memref)
        if index == "0":
            return pointer
        stored = llvm_type(stored_as(part.form.element, op), op)
        return e.text.value(f"getelementptr inbounds {stored}, ptr {pointer}, i64 {index}")

    def same(self, e: Emitter, value: SSAValue, other: SSAValue) -> None:
        e.set(value, e.get(other))

    def _value(self, e: Emitter, snippet: str, values: Mapping[str, str]) -> str:
        """The value of the last line."""
        *before, last = filled(snippet, values, e.text.fresh)
        self.write_lines(e, before)
        return e.text.value(last)


def _says_type(snippet: str) -> bool:
    """Whether a snippet says types, so that these may be those of vectors."""
    names = Template(snippet).get_identifiers()
    return any(name in ("type", "suffix") or name.endswith("_type") for name in names)


def _refuse_invalid(
    op: CallIntrinsicOp | IntrinsicOp,
    snippet: str,
    said: Mapping[str, str],
    arguments: Mapping[str, str],
    result_type: str | None,
) -> None:
    """Raise CompileError for a snippet that is no LLVM IR. arguments: their types; result_type: None on buffers."""
    values = {**said, **{name: f"%arg{i}" for i, name in enumerate(arguments)}}
    lines = filled(snippet, values, lambda name: f"%own.{name}")
    head = [line for line in lines if _DECLARED.match(line) is not None]
    body = [line for line in lines if line not in head]
    if result_type is not None:
        body = [*body[:-1], f"%result = {body[-1] if body else ''}"]
    end = "ret void" if result_type is None else f"ret {result_type} %result"
    parameters = ", ".join(f"{type_} %arg{i}" for i, type_ in enumerate(arguments.values()))
    text = "\n".join(
        [*head, f"define {result_type or 'void'} @snippet({parameters}) {{", "entry:", *body, end, "}", ""]
    )
    if (error := _why_invalid(text)) is not None:
        raise CompileError(f"LLVM refuses the snippet of @{op.intrinsic} for 'llvm': {error}", op)


@cache
def _why_invalid(text: str) -> str | None:
    """What LLVM says against a module; None for one that it takes."""
    try:
        parse_ir(text)
    except LLVMError as error:
        return " ".join(str(error).partition(": ")[2].split())
    return None


INTRINSICS = LLVMIntrinsics()
