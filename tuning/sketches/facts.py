"""What rules of sketches ask about stages."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument

from tilework.algebra.index_expr import var
from tilework.dialects.te import ComputeOp, IfThenElseOp, ReadOp
from tilework.rules.common.readers import is_needed_whole, readers_of

CHEAP = frozenset({"arith", "te"})
"""Dialects whose operations cost about as much as loading what they compute."""


def extent(compute: ComputeOp, axis: str) -> int:
    """The extent of an axis of a stage, which is constant."""
    value = dict([*compute.spatial, *compute.reduction])[axis].constant
    assert value is not None
    return value


def long_axes(compute: ComputeOp) -> list[str]:
    """The spatial axes with more than one element."""
    return [name for name, e in compute.spatial if e != 1]


def is_cheap(compute: ComputeOp) -> bool:
    """Whether an element takes little to compute again wherever it is read."""
    return not compute.reduction and all(op.name.partition(".")[0] in CHEAP for op in compute.body.walk())


def is_choice(compute: ComputeOp) -> bool:
    """Whether a stage chooses by its indices what it reads, as padding does."""
    return any(isinstance(op, IfThenElseOp) for op in compute.body.walk())


def consumers(compute: ComputeOp) -> list[ComputeOp]:
    """The stages that read a stage, each once, in program order."""
    return list(dict.fromkeys(consumer for consumer, _ in readers_of(compute)))


def is_output(compute: ComputeOp) -> bool:
    """Whether a stage is a result of the kernel."""
    return is_needed_whole(compute)


def reads_by(compute: ComputeOp, axis: str) -> list[ReadOp]:
    """The reads whose place depends on an axis."""
    return [read for read in compute.reads if any(axis in e.variables() for e in read.exprs)]


def is_contiguous(read: ReadOp, axis: str) -> bool:
    """Whether neighbours along an axis are neighbours in memory too, so far as the tensor lies in its own order."""
    *outer, last = read.exprs
    return last.coefficient(axis) == 1 and last.is_affine_in(axis) and not any(axis in e.variables() for e in outer)


def follows(consumer: ComputeOp, producer: ComputeOp) -> bool:
    """Whether a stage reads another one at its own axes only, in their order."""
    axes = tuple(var(name) for name, _ in consumer.spatial)
    reads = [read for read in consumer.reads if read.tensor in producer.results]
    sizes = [e for _, e in consumer.spatial] == [e for _, e in producer.spatial]
    return bool(reads) and sizes and all(read.exprs == axes for read in reads)


def argument_of(read: ReadOp) -> int | None:
    """The number of the kernel's argument that is read; None for a stage."""
    return read.tensor.index if isinstance(read.tensor, BlockArgument) else None


def powers(least: int, most: int, limit: int) -> Sequence[int]:
    """Powers of two from `least` to `most` that are below `limit`, and the first that reaches it."""
    found: list[int] = []
    value = least
    while value <= most:
        found.append(value)
        if value >= limit:
            break
        value *= 2
    return found or [least]
