"""The state of one walk over operations that writes LLVM IR: which value has which name, in which function.

What an operation becomes is said by handlers, one table for each dialect; the emitter looks them up by type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilework.analysis.accesses import memory_space
from tilework.backends.llvm.llvm_types import llvm_type
from tilework.backends.llvm.text import FunctionText, ModuleText
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.support.memory_scopes import untagged

Handler = Callable[[Any, Any], None]
"""Writes one operation and names its results: called with the emitter and the operation."""
Handlers = Mapping[type[Operation], Handler]


class Scope:
    """One LLVM function being written.

    A function outlined from another has an `outer` scope; a value of it that is used inside becomes a parameter.
    """

    def __init__(self, outer: Scope | None = None):
        self.text = FunctionText()
        self.outer = outer
        self.names: dict[SSAValue, str] = {}
        self.captures: dict[str, tuple[str, str]] = {}
        """Name outside -> name inside and type, in the order of the parameters."""
        self.noalias: set[str] = set()
        """Names of pointers to memory that the function reaches through no other pointer."""
        self.alloca_bytes = 0

    def get(self, value: SSAValue) -> str:
        """The name of a value, or the constant that it is; captured where it is the outer function's."""
        name = self.names.get(value)
        if name is not None:
            return name
        assert self.outer is not None, f"{value} is used before it is defined"
        name = self.capture(self.outer.get(value), value.type)
        self.names[value] = name
        return name

    def capture(self, outside: str, type_: Attribute) -> str:
        """The parameter that carries a value of the outer function; a constant needs none."""
        assert self.outer is not None
        if not outside.startswith("%"):
            return outside
        if outside not in self.captures:
            # Two views of one pointer have one name, so that no two parameters point to the same memory.
            inside = self.text.fresh(outside[1:])
            self.captures[outside] = (inside, llvm_type(type_))
            if isinstance(type_, MemRefType) and outside in self.outer.noalias:
                self.noalias.add(inside)
        return self.captures[outside][0]


class Emitter:
    """Walks blocks and writes what the handlers say."""

    def __init__(
        self,
        module: ModuleText,
        handlers: Handlers,
        name: str,
        num_threads: str | None = None,
        spaces: Mapping[str | None, int] | None = None,
        index: str = "i64",
    ):
        self.module = module
        self.name = name
        """The function's name, from which those of outlined ones derive."""
        self.num_threads = num_threads
        """The parameter that says how many threads a parallel loop may use; None inside of one."""
        self.scope = Scope()
        self.text = self.scope.text
        self.outlined = 0
        self._handlers = handlers
        self._spaces = spaces or {}
        """The numbers that LLVM has for memories that are apart, by their names; None is that of arguments."""
        self.index = index
        """The type of index values."""
        self._types: dict[int, str] = {}
        self.plans: dict[tuple[str, Block], Any] = {}
        """What has been decided about all operations of a block, by the name of what decides."""

    def enter(self, scope: Scope) -> None:
        """Write into another function from now on."""
        self.scope = scope
        self.text = scope.text

    def block(self, block: Block) -> None:
        """Write all operations of a block."""
        handlers = self._handlers
        for op in block.ops:
            handler = handlers.get(type(op))
            if handler is None:
                raise CompileError(f"the LLVM backend does not know '{name_of(op)}' here", op)
            handler(self, op)

    def get(self, value: SSAValue) -> str:
        """The text of a value."""
        name = self.scope.names.get(value)
        return self.scope.get(value) if name is None else name

    def set(self, value: SSAValue, text: str) -> None:
        """Say what a value is: a name, or a constant."""
        self.scope.names[value] = text

    def define(self, value: SSAValue, instruction: str) -> None:
        """Append an instruction whose result is `value`."""
        self.scope.names[value] = self.text.value(instruction, value.name_hint)

    def address(self, buffer: SSAValue) -> str:
        """The LLVM type of a pointer into a buffer."""
        space = self._spaces.get(untagged(memory_space(buffer)), 0)
        return f"ptr addrspace({space})" if space else "ptr"

    def type(self, value: SSAValue) -> str:
        """The LLVM type of a value."""
        key = id(value.type)  # types live as long as the module that is walked
        text = self._types.get(key)
        if text is None:
            owner = value.owner
            whole = llvm_type(value.type, owner if isinstance(owner, Operation) else None)
            text = self._types[key] = self.index if isinstance(value.type, IndexType) else whole
        return text
