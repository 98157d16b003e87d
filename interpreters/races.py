"""Threads that run at once: which of them have touched what since they last waited for each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilework.dialects.graph.base import Array
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.buffers import Buffer

NOBODY, SEVERAL = -1, -2


@dataclass
class _Touched:
    """Who touched every element of some storage: the last writer and a reader, by number; whether there are more
    readers.

    storage: kept, so that no other has its identity. written_by, read_by: the operations, by number.
    """

    storage: Array
    writer: Array
    reader: Array
    several: Array
    written_by: Array
    read_by: Array

    @classmethod
    def of(cls, storage: Array) -> _Touched:
        """Make the record of storage that nobody has touched."""
        writer, reader = (np.full(len(storage), NOBODY, np.int64) for _ in range(2))
        written_by, read_by = (np.zeros(len(storage), np.int64) for _ in range(2))
        return cls(storage, writer, reader, np.zeros(len(storage), bool), written_by, read_by)


@dataclass
class Races:
    """Notes accesses, and refuses one that meets that of another thread, if one of both is a store.

    what: what the numbers are numbers of, as "threads of a block".
    """

    what: str
    _name: str = "?"
    _touched: dict[int, _Touched] = field(default_factory=dict[int, _Touched])
    _ops: list[Operation] = field(default_factory=list[Operation])

    def forget(self) -> None:
        """They have waited for each other."""
        self._touched.clear()

    def note(
        self, op: Operation, memref: SSAValue, buffer: Buffer, positions: Any, numbers: Any, mask: Any, *, writes: bool
    ) -> None:
        """Note that threads of these numbers touch elements at these positions, where the mask holds.

        memref: what the operation calls the buffer. Raises CompileError, with both operations, where they race.
        """
        self._name = memref.name_hint or "?"
        at, by, chosen = np.broadcast_arrays(positions, numbers, True if mask is None else mask)
        at, by = at[chosen], by[chosen]
        touched = self._touched.setdefault(id(buffer.storage), _Touched.of(buffer.storage))
        number = len(self._ops)
        self._ops.append(op)
        if writes:
            self._store(op, touched, at, by, number)
        else:
            self._load(op, touched, at, by, number)

    def _store(self, op: Operation, touched: _Touched, at: Array, by: Array, number: int) -> None:
        self._refuse(op, "writes", at, by, touched.writer[at], touched.written_by[at], "wrote")
        self._refuse(op, "writes", at, by, touched.reader[at], touched.read_by[at], "read")
        several = np.where(touched.several[at], SEVERAL, NOBODY)
        self._refuse(op, "writes", at, by, several, touched.read_by[at], "read")
        touched.writer[at], touched.written_by[at] = by, number
        self._refuse(op, "writes", at, by, touched.writer[at], touched.written_by[at], "wrote")

    def _load(self, op: Operation, touched: _Touched, at: Array, by: Array, number: int) -> None:
        self._refuse(op, "reads", at, by, touched.writer[at], touched.written_by[at], "wrote")
        first = touched.reader[at]
        touched.reader[at] = np.where(first == NOBODY, by, first)
        touched.several[at] |= touched.reader[at] != by
        touched.read_by[at] = number

    def _refuse(self, op: Operation, does: str, at: Array, by: Array, others: Array, ops: Array, did: str) -> None:
        """Raise CompileError where another thread did something at the same element."""
        meeting = (others != NOBODY) & (others != by)
        if not meeting.any():
            return
        which = int(np.argmax(meeting))
        other = self._ops[int(ops[which])]
        who = "another one" if others[which] == SEVERAL else f"number {others[which]}"
        which_element = f"element {at[which]} of %{self._name}"
        message = (
            f"{self.what} race: number {by[which]} {does} {which_element}, which {who} {did} without a barrier between "
            "them"
        )
        raise CompileError(message, op, (("the other access", other),))
