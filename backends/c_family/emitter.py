"""The state of one walk over operations that writes C: which value has which name, in which function.

What an operation becomes is said by handlers, one table for each dialect; the emitter looks them up by type. Every
value is a variable that is set once, or a constant; index expressions are written where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.accesses import memory_space, root_buffer
from tilework.backends.c_family.c_text import FileText, FunctionText, is_name
from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.forms import INDEX, Form, form_of, memory_kind
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.element_types import element_of, is_boolean, lanes_of
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.support.memory_scopes import untagged
from tilework.dialects.support.shapes import is_narrow

Handler = Callable[[Any, Any], None]
"""Writes one operation and names its results: called with the emitter and the operation."""
Handlers = Mapping[type[Operation], Handler]


class Captured(NamedTuple):
    """A value of the function around that an outlined one is given: its name there, here, and its type."""

    outside: str
    inside: str
    type: str
    restrict: str
    """What says of a pointer that no other one reaches the same memory, if that is so."""

    @property
    def parameter(self) -> str:
        return declared(self.type, f"{self.restrict} {self.inside}".strip())


class Scope:
    """One C function being written.

    A function outlined from another has an `outer` scope; a value of it that is used inside becomes a parameter.
    """

    def __init__(self, outer: Scope | None = None, taken: Collection[str] = ()):
        self.text = FunctionText(taken)
        self.outer = outer
        self.names: dict[SSAValue, str] = {}
        self.captures: dict[str, Captured] = {}
        """What the function uses of the one around it, by its name there, in the order of the parameters."""
        self.alone: set[str] = set()
        """Names of pointers to memory that the function reaches through no other pointer."""
        self.local_bytes = 0


class Emitter:
    """Walks blocks and writes what the handlers say."""

    def __init__(
        self,
        file: FileText,
        spelling: Spelling,
        handlers: Handlers,
        name: str,
        taken: Collection[str] = (),
        index: Form = INDEX,
    ):
        self.file = file
        self.spelling = spelling
        self.vectors = spelling.vectors
        self.c = Expressions(file, spelling)
        self.name = name
        """The function's name, from which those of outlined ones derive."""
        self.index = index
        """The form of index values."""
        self.num_threads: str | None = None
        """The parameter that says how many threads a parallel loop may use; None inside of one."""
        self.taken = taken
        self.scope = Scope(taken=taken)
        self.text = self.scope.text
        self.outlined = 0
        self.read_only: set[SSAValue] = set()
        """Buffers that are only read."""
        self._masks: dict[SSAValue, Form] = {}
        self._handlers = handlers

    def enter(self, scope: Scope) -> None:
        """Write into another function from now on."""
        self.scope = scope
        self.text = scope.text

    def block(self, block: Block) -> None:
        """Write the operations of a block."""
        for op in block.ops:
            handler = self._handlers.get(type(op))
            if handler is None:
                raise CompileError(f"the C backend does not know '{name_of(op)}' here", op)
            handler(self, op)

    # -- values

    def get(self, value: SSAValue) -> str:
        """The text of a value: a name or a constant. One of the function around becomes a parameter."""
        return self._get(value, self.scope)

    def _get(self, value: SSAValue, scope: Scope) -> str:
        name = scope.names.get(value)
        if name is None:
            assert scope.outer is not None, f"{value} is used before it is defined"
            name = self._capture(value, scope, scope.outer)
            scope.names[value] = name
        return name

    def _capture(self, value: SSAValue, scope: Scope, outer: Scope) -> str:
        outside = self._get(value, outer)
        if not is_name(outside):
            return outside  # a constant
        if outside not in scope.captures:
            # Two views of one pointer have one name, so that no two parameters point to the same memory.
            is_alone = outside in outer.alone
            inside = scope.text.parameter(outside)
            scope.captures[outside] = Captured(
                outside, inside, self.type(value), self.spelling.restrict if is_alone else ""
            )
            if is_alone:
                scope.alone.add(inside)
        return scope.captures[outside].inside

    def set(self, value: SSAValue, text: str) -> None:
        """Say what a value is: a name, or a constant."""
        self.scope.names[value] = text

    def same(self, value: SSAValue, other: SSAValue) -> None:
        """Say that a value is another one."""
        if other in self._masks:
            self._masks[value] = self._masks[other]
        self.set(value, self.get(other))

    def define(self, value: SSAValue, expression: str, mask: Form | None = None) -> None:
        """Append the declaration of a variable that is `value`. mask: its form where that is a vector of booleans."""
        if mask is not None:
            self._masks[value] = mask
        self.set(value, self.variable(self.type(value), expression, value.name_hint))

    def variable(self, type_: str, expression: str, hint: str | None = None) -> str:
        """Append the declaration of a variable that is set once; returns its name."""
        name = self.text.fresh(hint)
        declaration = f"{type_}const {name}" if type_.endswith("*") else f"const {type_} {name}"
        self.text.line(f"{declaration} = {expression};", name)
        return name

    def value(self, form: Form, expression: str, hint: str | None = None) -> str:
        """The same for a scalar or a vector."""
        return self.variable(self.type_of(form), expression, hint)

    # -- types

    def form(self, value: SSAValue) -> Form:
        """The form of a scalar or a vector; of a vector of booleans, that of what it was made of."""
        if value in self._masks:
            return self._masks[value]
        if isinstance(value.type, IndexType):
            return self.index
        return form_of(value.type, value.owner if isinstance(value.owner, Operation) else None)

    def type(self, value: SSAValue) -> str:
        """The C type of a value; that of a pointer ends in its star."""
        if isinstance(value.type, MemRefType):
            return self.pointer(value)
        return self.type_of(self.form(value))

    def type_of(self, form: Form) -> str:
        """The C type of a form."""
        return self.c.type(form)

    def pointer(self, buffer: SSAValue) -> str:
        """The type of a pointer to the elements of a buffer."""
        const = "const " if buffer in self.read_only else ""
        space = self.spelling.spaces.get(untagged(memory_space(root_buffer(buffer))), "")
        return f"{const}{space}{self.spelling.scalars[self.memory_kind(buffer)]} *"

    def memory_kind(self, buffer: SSAValue) -> str:
        """The kind of a buffer's elements in memory; for half bytes, of the bytes that they lie in."""
        element = element_of(buffer.type)
        return "i8" if is_narrow(element) else memory_kind(element)

    # -- booleans

    def is_mask(self, value: SSAValue) -> bool:
        """Whether a value is a vector of booleans."""
        return lanes_of(value.type) is not None and is_boolean(element_of(value.type))

    def mask(self, value: SSAValue, form: Form) -> str:
        """A vector of booleans as integers that are as wide as the elements of a form."""
        own, wanted = self.form(value), form.of("i")
        return self.get(value) if own == wanted else self.vectors.converted(self.file, wanted, self.get(value))


def declared(type_: str, name: str) -> str:
    """A declaration: the star of a pointer stands with the name."""
    return f"{type_}{name}" if type_.endswith("*") else f"{type_} {name}"
