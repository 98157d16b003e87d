"""What a function does, operation by operation, with its loops unrolled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation

from tilework.analysis.functions import body_of
from tilework.dialects.isa.vdla import VdlaOp, check_bounds
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.unit_op import UnitOp
from tilework.interpreters.units import UnitsRun
from tilework.transforms.vdla.accesses import Touched, touched


class Instance(NamedTuple):
    """One run of an operation. runs: for each block around, outermost first, how often it had run before."""

    op: VdlaOp
    touched: Touched
    runs: tuple[int, ...]


class Event(NamedTuple):
    """The place before or behind a statement, and how many operations have run there."""

    statement: Operation
    is_behind: bool
    done: int


@dataclass
class Trace:
    """All instances in order, and the places where tokens may be taken and pushed."""

    instances: list[Instance] = field(default_factory=list[Instance])
    events: list[Event] = field(default_factory=list[Event])


def trace_of(function: func.FuncOp) -> Trace:
    """What a function does that takes no numbers. Raises CompileError for an access out of bounds."""
    run = _Tracing()
    run.block(body_of(function))
    return run.trace


class _Tracing(UnitsRun):
    """A run that computes numbers of tiles alone."""

    def __init__(self):
        super().__init__()
        self.trace = Trace()
        self._runs: dict[Block, int] = {}
        self._around: list[Block] = []

    def block(self, block: Block) -> list[object]:
        self._runs[block] = self._runs.get(block, -1) + 1
        self._around.append(block)
        handed = super().block(block)
        self._around.pop()
        return handed

    def loop(self, loop: scf.ForOp) -> None:
        self._event(loop, is_behind=False)
        super().loop(loop)
        self._event(loop, is_behind=True)

    def allocate(self, op: memref.AllocaOp | memref.AllocOp) -> None:
        """Nothing is computed in memory."""

    def execute(self, op: UnitOp) -> None:
        assert isinstance(op, VdlaOp)
        at = [self.values[value] for value in op.operands if isinstance(value.type, IndexType)]
        self._event(op, is_behind=False)
        runs = tuple(self._runs[block] for block in self._around)
        what = touched(op, at)
        for buffer, tiles in (*what.reads, *what.writes):
            check_bounds(op, memref_of(buffer).get_shape()[0], tiles)
        self.trace.instances.append(Instance(op, what, runs))
        self._event(op, is_behind=True)

    def _event(self, statement: Operation, *, is_behind: bool) -> None:
        self.trace.events.append(Event(statement, is_behind, len(self.trace.instances)))
