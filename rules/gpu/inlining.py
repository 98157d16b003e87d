"""Which stages are computed where they are read: on a device, computing again is cheap beside memory and launches."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tilework.analysis.sizes import size_of
from tilework.dialects import arith
from tilework.dialects.te import ComputeOp, IfThenElseOp, IndexOp, KernelOp, ReadOp, YieldOp
from tilework.rules.common.axes import iterations
from tilework.rules.common.readers import is_needed_whole, readers_of

ACCESS = 8
"""A device computes so much while it reads or writes an element in memory."""

LAUNCH = 1_000_000
"""And so much from one launch to the next."""

REUSED = 64
"""So many times a block uses what it fetches for a product, roughly."""

LONGEST = 256
"""Operations of a stage with all that is inlined in it: text grows with every place that it is inlined in."""

_FREE = (ReadOp, YieldOp, IfThenElseOp, IndexOp, arith.ConstantOp)
"""What moves elements, or decides which."""

_DIVISIONS = (arith.DivfOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)


@dataclass(frozen=True)
class _Weight:
    """A stage with all that is inlined in it: how many operations it has, and how long they take."""

    operations: int
    cycles: int


def inlined_stages(kernel: KernelOp, products: Set[str]) -> list[str]:
    """The stages that are inlined, by name, in program order. products: the reductions that fetch what they read."""
    weights: dict[SSAValue, _Weight] = {}
    found: list[str] = []
    for compute in kernel.computes:
        weight = _weight(compute, weights)
        if _can_inline(compute) and weight.operations <= LONGEST and _is_worth_it(compute, weight.cycles, products):
            weights[compute.result] = weight
            found.append(compute.stage.data)
    return found


def _can_inline(compute: ComputeOp) -> bool:
    return not compute.reduction and len(compute.results) == 1 and not is_needed_whole(compute)


def _is_worth_it(compute: ComputeOp, cycles: int, products: Set[str]) -> bool:
    """Whether computing a stage wherever it is read takes less time than writing it down."""
    own = size_of(compute.spatial)
    again = sum(_evaluations(reader, products) for reader, _ in readers_of(compute))
    return again * cycles <= own * cycles + (own + again) * ACCESS + LAUNCH


def _evaluations(reader: ComputeOp, products: Set[str]) -> int:
    """How often a reader asks for an element."""
    return -(-iterations(reader) // (REUSED if reader.stage.data in products else 1))


def _weight(compute: ComputeOp, inlined: Mapping[SSAValue, _Weight]) -> _Weight:
    operations, cycles = 0, 0
    for op in compute.body.walk():
        operations += 1
        if isinstance(op, ReadOp) and op.tensor in inlined:
            operations += inlined[op.tensor].operations
            cycles += inlined[op.tensor].cycles
        else:
            cycles += _cycles(op)
    return _Weight(operations, cycles)


def _cycles(op: Operation) -> int:
    """How long an operation takes beside an addition: functions are sequences of others."""
    if isinstance(op, _FREE):
        return 0
    if op.name.startswith("math."):
        return 16
    return 8 if isinstance(op, _DIVISIONS) else 1
