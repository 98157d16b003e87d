"""Kernels on devices: which statements are launched, with how many threads, and which thread accesses what.

A statement right in a kernel is one launch; so is one in a serial loop around all blocks, which the host runs. Its
loops of the kinds `blockIdx` and `threadIdx` are blocks and threads: of every kind there are as many as the longest of
its loops has iterations. A loop inside another of the same kind deals its iterations out to the same threads, and so
does each of several beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeGuard

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import Predicate
from tilework.analysis.accesses import element_position, root_buffer
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, DEVICE_THREADS, ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.annotations import MAPPED
from tilework.dialects.support.diagnostics import CompileError

LARGE_SIZE = 1_000_003
"""Stands for a size that is not known: subscripts are in bounds, so that rows do not meet whatever it is."""

MOST_PLACES = 1 << 20
"""So many places are looked at to tell whether two threads touch one; more, and they are taken to do so."""


@dataclass(frozen=True)
class Launch:
    """A statement that the host launches. extents: how many blocks and threads there are of each kind that it has."""

    statement: Operation
    extents: Mapping[Kind, Expr]

    @cached_property
    def block_threads(self) -> dict[Kind, int]:
        """How many threads a block has along each kind. Raises CompileError where data decide that."""
        found: dict[Kind, int] = {}
        for kind in BLOCK_THREADS:
            extent = self.extents.get(kind)
            if extent is not None:
                if extent.constant is None:
                    message = f"{kind} has {extent} threads: how many a block has must be known; split the axis"
                    raise CompileError(message, self.statement)
                found[kind] = extent.constant
        return found


def launches(kernel: KernelOp) -> list[Launch]:
    """The launches of a kernel, in order: the statements of the host that have loops over threads."""
    found = (launch_of(op) for op in host_statements(kernel.body.block))
    return [launch for launch in found if launch is not None]


def host_statements(block: Block) -> Iterator[Operation]:
    """What the host does in the block of a kernel: loops that it runs are looked into."""
    for op in block.ops:
        if is_host_loop(op):
            yield from host_statements(op.body.block)
        else:
            yield op


def is_host_loop(op: Operation) -> TypeGuard[ForOp]:
    """Whether an operation is a loop of the host around launches, between which all blocks are waited for."""
    if not isinstance(op, ForOp) or op.kind.data in DEVICE_THREADS:
        return False
    return any(loop.kind.data in BLOCKS for loop in thread_loops(op))


def launch_of(statement: Operation) -> Launch | None:
    """The launch that a statement is; None for one without threads."""
    extents: dict[Kind, Expr] = {}
    for loop in thread_loops(statement):
        kind, extent = loop.kind.data, loop.extent
        known = extents.setdefault(kind, extent)
        if known.constant is not None and extent.constant is not None:
            extents[kind] = max(known, extent, key=lambda e: e.offset)
        elif known != extent:
            raise CompileError(
                f"loop '{loop.axis.data}' has {extent} iterations on {kind}, which has {known}: which is more is not "
                "known; give both axes the same extent",
                loop,
            )
    return Launch(statement, extents) if extents else None


def thread_loops(op: Operation) -> Iterator[ForOp]:
    """The loops over blocks and threads in a statement, outer ones first."""
    return (inner for inner in op.walk() if isinstance(inner, ForOp) and inner.kind.data in DEVICE_THREADS)


@dataclass(frozen=True)
class ThreadAccess:
    """A load or a store, and the loops around it, outermost first."""

    op: LoadOp | StoreOp
    loops: tuple[ForOp, ...]

    @property
    def buffer(self) -> SSAValue:
        """What is accessed, views looked through."""
        return root_buffer(self.op.memref)

    @property
    def is_store(self) -> bool:
        """Whether the operation writes to memory."""
        return isinstance(self.op, StoreOp)

    def thread_indices(self) -> dict[Kind, ForOp]:
        """The loop that says which thread of a block it is, by kind: the innermost one."""
        return {loop.kind.data: loop for loop in self.loops if loop.kind.data in BLOCK_THREADS}

    def conditions(self) -> Iterator[Predicate]:
        """What holds where it is done, as conditions around it say."""
        inner, around = self.op, self.op.parent_op()
        while around is not None and not isinstance(around, KernelOp):
            if isinstance(around, IfOp) and around.then_body.block is inner.parent:
                yield from around.conditions
            inner, around = around, around.parent_op()

    def places(self, outside: Sequence[SSAValue], threads: Mapping[Kind, int]) -> Array | None:
        """Pairs of a place in the buffer and the number of a thread that touches it; None where that is not known.

        What is in no loop over the threads of a kind, all of them do. outside: indices that are taken to be zero.
        """
        position = element_position(self.op)
        free = [loop for loop in self.loops if loop.index in position.variables() and loop.index not in outside]
        own = self.thread_indices()
        all_of = [kind for kind in threads if kind not in own]
        varying = list(dict.fromkeys([*own.values(), *free]))
        extents = [loop.extent.constant for loop in varying]
        if None in extents or any(loop.lower != 0 for loop in varying):
            return None
        sizes = [*(extent for extent in extents if extent is not None), *(threads[kind] for kind in all_of)]
        if prod(sizes) > MOST_PLACES:
            return None
        grids = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
        values = {loop.index: grid for loop, grid in zip(varying, grids, strict=False)}
        numbers = {kind: values[loop.index] for kind, loop in own.items()}
        numbers |= dict(zip(all_of, grids[len(varying) :], strict=True))
        given = {key: LARGE_SIZE for key in position.variables()}  # sizes, and what the host's loops count
        at = position.evaluate({**given, **dict.fromkeys(outside, 0), **values})
        number: Array = np.zeros((1,) * len(sizes), np.int64)
        for kind, count in threads.items():
            number = number * count + numbers[kind]
        pairs = np.stack(np.broadcast_arrays(at, number), axis=-1)
        done = np.ones(pairs.shape[:-1], np.bool_)
        for condition in self.conditions():
            if {*condition.expr.variables()} <= values.keys():
                done &= condition.evaluate(values)
        return np.unique(pairs[done], axis=0)


def meet(one: ThreadAccess, other: ThreadAccess, common: Sequence[SSAValue], threads: Mapping[Kind, int]) -> bool:
    """Whether two threads of a block may touch one place of a buffer, one of them to write.

    common: the indices of serial loops that have the same value for both accesses.
    """
    if one.buffer is not other.buffer or not (one.is_store or other.is_store):
        return False
    outside = [*common, *(loop.index for loop in one.loops if loop.kind.data in BLOCKS)]
    if not _move_alike(one, other, outside):
        return True
    found = [access.places(outside, threads) for access in (one, other)]
    pairs = [of_one for of_one in found if of_one is not None]
    if len(pairs) < len(found):
        return True
    touched = np.unique(np.concatenate(pairs), axis=0)[:, 0]
    by_several = touched[1:][touched[1:] == touched[:-1]]
    both = np.intersect1d(pairs[0][:, 0], pairs[1][:, 0])
    return bool(np.isin(by_several, both).any())


def _move_alike(one: ThreadAccess, other: ThreadAccess, outside: Sequence[SSAValue]) -> bool:
    """Whether what is outside moves the places of both by as much, so that it need not be looked at."""
    zero = dict.fromkeys(outside, 0)
    moved = [e - e.substitute(zero) for e in (element_position(one.op), element_position(other.op))]
    return moved[0] == moved[1]


def accesses_in(op: Operation, around: tuple[ForOp, ...]) -> Iterator[ThreadAccess]:
    """The loads and stores of an operation and of what it holds, in order; around: the loops around it."""
    if isinstance(op, LoadOp | StoreOp):
        yield ThreadAccess(op, around)
    inner = (*around, op) if isinstance(op, ForOp) else around
    for block in (block for region in op.regions for block in region.blocks):
        for inside in block.ops:
            yield from accesses_in(inside, inner)


def written_in(op: Operation) -> set[SSAValue]:
    """The buffers that an operation stores to."""
    return {root_buffer(inner.memref) for inner in op.walk() if isinstance(inner, StoreOp)}


def blocks_of(op: Operation) -> list[Block]:
    """The blocks right inside an operation."""
    return [block for region in op.regions for block in region.blocks]


def mapped_threads(kernel: KernelOp) -> frozenset[ForOp]:
    """The loops over threads of blocks in a kernel that says what each of them does; of no other kernel.

    That is so behind `loop-map-threads`: no loop deals iterations out again.
    """
    if MAPPED not in kernel.attributes:
        return frozenset()
    return frozenset(loop for loop in thread_loops(kernel) if loop.kind.data in BLOCK_THREADS)
