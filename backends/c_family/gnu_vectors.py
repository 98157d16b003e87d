"""Vectors by the extension of C that GCC, from version 12 on, and clang have: `__attribute__((vector_size(..)))`.

Operators work on whole vectors. What has no operator is written lane by lane, from which both compilers make
instructions on vectors where there are such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.forms import Form


@dataclass(frozen=True)
class GnuVectors:
    """Types of vectors, and operations on them; what they need is defined in the file.

    scalars: the types of kinds. helper: what stands before the name of a function that is always inlined.
    """

    scalars: Mapping[str, str]
    helper: str

    # -- types

    def type(self, file: FileText, form: Form) -> str:
        """The name of a type."""
        name, size = form.suffix, f"vector_size({form.bytes})"
        file.define_type(name, f"typedef {self.scalars[form.kind]} {name} __attribute__(({size}));\n")
        return name

    def in_memory(self, file: FileText, form: Form) -> str:
        """The name of the same type where it lies in memory, aligned as its elements are."""
        name = f"{self.type(file, form)}_at"
        attributes = f"aligned({form.bits // 8}), may_alias"
        file.define_type(name, f"typedef {form.suffix} {name} __attribute__(({attributes}));\n")
        return name

    # -- values

    def lane(self, vector: str, lane: int | str) -> str:
        """One element."""
        return f"{vector}[{lane}]"

    def lanes(self, file: FileText, form: Form, texts: Sequence[str]) -> str:
        """A vector of elements; those behind the last one given are zero."""
        return f"({self.type(file, form)}){{{', '.join(texts)}}}"

    def splat(self, file: FileText, form: Form, scalar: str) -> str:
        """A vector with one number in all lanes."""
        name = f"splat_{form.suffix}"

        def write() -> str:
            values = ", ".join(["x"] * (form.lanes or 1))
            head = f"{self.helper} {self.type(file, form)} {name}({self.scalars[form.kind]} x)"
            return f"{head} {{\n  return ({form.suffix}){{{values}}};\n}}\n"

        file.define_once(name, write)
        return f"{name}({scalar})"

    def reinterpreted(self, file: FileText, form: Form, text: str) -> str:
        """The vector that has the bits of another one."""
        return f"({self.type(file, form)}){text}"

    def converted(self, file: FileText, form: Form, text: str) -> str:
        """The vector whose elements are those of another one, converted as C converts numbers."""
        return f"__builtin_convertvector({text}, {self.type(file, form)})"

    def selected(self, file: FileText, form: Form, mask: str, a: str, b: str) -> str:
        """The elements of `a` where a mask is set, of `b` elsewhere."""
        name = f"select_{form.suffix}"

        def write() -> str:
            type_, bits = self.type(file, form), self.type(file, form.mask)
            head = f"{self.helper} {type_} {name}({bits} mask, {type_} a, {type_} b)"
            return f"{head} {{\n  return ({type_})((mask & ({bits})a) | (~mask & ({bits})b));\n}}\n"

        file.define_once(name, write)
        return f"{name}({mask}, {a}, {b})"

    def shuffled(self, a: str, b: str, picked: Sequence[int]) -> str:
        """A vector of picked lanes of two others, whose lanes are counted through; -1 stands for any lane."""
        return f"__builtin_shufflevector({a}, {b}, {', '.join(map(str, picked))})"

    # -- memory

    def loaded(self, file: FileText, form: Form, place: str, lanes: int) -> str:
        """The first lanes of a vector from memory, the others being zero. place: the text of the first element."""
        if lanes == form.lanes:
            return f"*(const {self.in_memory(file, form)} *)&{place}"
        name = f"load_{lanes}_{form.suffix}"

        def write() -> str:
            head = f"{self.helper} {self.type(file, form)} {name}(const {self.scalars[form.kind]} *x)"
            copy = f"__builtin_memcpy(&v, x, {lanes} * sizeof *x);"
            return f"{head} {{\n  {form.suffix} v = {{0}};\n  {copy}\n  return v;\n}}\n"

        file.define_once(name, write)
        return f"{name}(&{place})"

    def stored(self, file: FileText, form: Form, place: str, value: str, lanes: int) -> str:
        """A statement that writes the first lanes of a vector."""
        if lanes == form.lanes:
            return f"*({self.in_memory(file, form)} *)&{place} = {value};"
        return f"__builtin_memcpy(&{place}, &{value}, {lanes} * sizeof {value}[0]);"
