"""Watching the threads of a kernel, all of which run together: which meet at one element, though nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import BlockArgument

from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import loops_around
from tilework.analysis.launches import mapped_threads
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, ForOp, KernelOp
from tilework.interpreters.loop_access import Access, Frame, Mask, Names
from tilework.interpreters.races import Races

Step: TypeAlias = Callable[[Frame, Mask], None]


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
        is_argument = isinstance(root_buffer(access.op.memref), BlockArgument)
        around = list(loops_around(access.op))  # of one launch: the next one has threads of its own
        threads, blocks = ([loop for loop in around if loop.kind.data in kinds] for kinds in (BLOCK_THREADS, BLOCKS))

        def run(frame: Frame, mask: Mask) -> None:
            buffer, positions, touched = access.places(frame, mask)
            self._of_block.note(access.op, buffer, positions, self._number(threads, frame), touched)
            if is_argument:
                self._of_launch.note(access.op, buffer, positions, self._number(blocks, frame), touched)
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


def watch_of(kernel: KernelOp, names: Names) -> ThreadWatch | None:
    """What watches a kernel; None for one that does not say what each thread does."""
    return ThreadWatch(names) if mapped_threads(kernel) else None
