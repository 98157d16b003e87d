"""Watching the threads of a kernel, all of which run together: which meet at one element, though nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import loops_around
from tilework.analysis.launches import mapped_threads
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, ForOp, IntrinsicOp, KernelOp, StoreOp
from tilework.interpreters.buffers import Buffer
from tilework.interpreters.loop_access import Access, Frame, Mask, Names
from tilework.interpreters.loop_regions import RegionAccess
from tilework.interpreters.races import Races

Step: TypeAlias = Callable[[Frame, Mask], None]

Places: TypeAlias = Callable[[Frame, Mask], tuple[Buffer, Array, Mask]]
"""Says which positions of a buffer's storage are touched, and where."""


class ThreadWatch:
    """Notes the accesses of a kernel that says what each thread does.

    Threads of a block wait for each other at barriers, and those of several blocks nowhere.
    """

    def __init__(self, names: Names):
        self._slots = names.slots
        self._of_block = Races("threads of a block")
        self._of_launch = Races("blocks")

    def watched(self, access: Access, step: Step) -> Step:
        """A load or a store, noted before it is done."""
        return self._watched(access.op, [(access.op.memref, access.places, isinstance(access.op, StoreOp))], step)

    def watched_parts(self, op: IntrinsicOp, parts: Sequence[RegionAccess], step: Step) -> Step:
        """An intrinsic on buffers, noted before it is done; parts: those of the operation, the result's first."""
        touched = list(zip(op.buffer_regions, parts, strict=True))
        reads = [(part.memref, access.places, False) for part, access in touched if part.form.is_read]
        writes = [(part.memref, access.places, True) for part, access in touched if part.form.is_written]
        return self._watched(op, [*reads, *writes], step)

    def _watched(self, op: Operation, touches: Sequence[tuple[SSAValue, Places, bool]], step: Step) -> Step:
        """A step of an operation, and before it a note of what it touches: a buffer, where, and whether it writes."""
        around = list(loops_around(op))  # of one launch: the next one has threads of its own
        threads, blocks = ([loop for loop in around if loop.kind.data in kinds] for kinds in (BLOCK_THREADS, BLOCKS))

        def run(frame: Frame, mask: Mask) -> None:
            for memref, places, writes in touches:
                buffer, positions, touched = places(frame, mask)
                noted = [(self._of_block, threads)]
                if isinstance(root_buffer(memref), BlockArgument):
                    noted.append((self._of_launch, blocks))
                for races, loops in noted:
                    number = _spread(self._number(loops, frame), positions)
                    mask_of_elements = None if touched is None else _spread(touched, positions)
                    races.note(op, memref, buffer, positions, number, mask_of_elements, writes=writes)
            step(frame, mask)

        return run

    def begun(self, op: ForOp, step: Step) -> Step:
        """A loop, before which nothing is known of threads where it is the outermost one over them."""
        kind, around = op.kind.data, op.parent_op()
        races = [self._of_launch] if isinstance(around, KernelOp) else []
        if kind in BLOCK_THREADS and not (isinstance(around, ForOp) and around.kind.data in BLOCK_THREADS):
            races.append(self._of_block)
        if not races:
            return step

        def run(frame: Frame, mask: Mask) -> None:
            for race in races:
                race.forget()
            step(frame, mask)

        return run

    def barrier(self, frame: Frame, mask: Mask) -> None:
        """The threads of a block wait for each other."""
        self._of_block.forget()

    def _number(self, loops: Sequence[ForOp], frame: Frame) -> Any:
        """The numbers of the threads, or of the block, at which the loops over them are."""
        number: Any = 0
        for loop in loops:
            number = number * (loop.extent.constant or 1 << 32) + frame.values[self._slots[loop.index]]
        return number


def _spread(values: Any, positions: Array) -> Array:
    """Values for each axis as values for each element, whose dimensions are behind those of axes."""
    given = np.asarray(values)
    return given.reshape(*given.shape, *[1] * (positions.ndim - given.ndim)) if given.ndim else given


def watch_of(kernel: KernelOp, names: Names) -> ThreadWatch | None:
    """What watches a kernel; None for one that does not say what each thread does."""
    return ThreadWatch(names) if mapped_threads(kernel) else None
