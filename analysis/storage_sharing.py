"""Which buffers of a kernel can lie in the same storage: those in use one after the other."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from xdsl.dialects import memref
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilework.analysis.accesses import accesses, memory_space, memref_type
from tilework.analysis.in_place import read_before_write
from tilework.analysis.liveness import top_level
from tilework.analysis.registers import constant_subscripts
from tilework.dialects.loop import THREADS, ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError

CONCURRENT = (Kind.PARALLEL, *THREADS)
"""Kinds of loops whose iterations run at the same time: what one allocates is its own."""


@dataclass(frozen=True, eq=False)
class Held:
    """A buffer, and when it is in use: from operation `first` to `last` of the block where it is defined.

    `start` and `end` are the same in the order of the kernel's operations, each counted where it begins and where it
    ends. Of a loop the buffer is defined outside of, every iteration uses it.
    """

    buffer: SSAValue
    block: Block
    first: Operation
    last: Operation
    start: int
    end: int
    uses: list[LoadOp | StoreOp]

    @property
    def elements(self) -> int:
        """How many elements a local buffer has; for scratch of symbolic size a number that depends on its type only."""
        return prod(memref_type(self.buffer.type).get_shape())


@dataclass
class Storage:
    """Buffers that share memory, in the order of their use."""

    held: list[Held] = field(default_factory=list[Held])

    @property
    def elements(self) -> int:
        """How many elements the largest has."""
        return max(b.elements for b in self.held)

    def is_free_for(self, buffer: Held) -> bool:
        """Whether who uses it before the buffer is done by then, or hands it over, and the buffer with who is next."""
        place = self._place(buffer)
        neighbours = [*self.held[:place][-1:], buffer, *self.held[place:][:1]]
        return all(_follows(old, new) for old, new in pairwise(neighbours))

    def add(self, buffer: Held) -> None:
        """Let the buffer use it, too."""
        self.held.insert(self._place(buffer), buffer)

    def _place(self, buffer: Held) -> int:
        return bisect(self.held, buffer.start, key=lambda b: b.start)


def shared_allocations(kernel: KernelOp) -> list[Storage]:
    """Storage for the local buffers that can share it, two or more each.

    They share where scope and element type are the same, and within the iteration of a parallel loop only. Registers,
    and what may become registers because its subscripts are constant, keep their own.
    """
    order = _Order(kernel)
    groups: dict[Hashable, list[Held]] = {}
    for buffer, uses in accesses(kernel).items():
        if not isinstance(buffer.owner, memref.AllocaOp) or not order.has_accesses_only(buffer):
            continue
        if memory_space(buffer) != "register" and not constant_subscripts(uses):
            type_ = memref_type(buffer.type)
            if type_.get_num_dims() != 1:
                raise CompileError(f"{type_} has several dimensions: run loop-flatten-storage first", buffer.owner)
            kind = (order.frame(buffer.owner), type_.memory_space, type_.element_type)
            groups.setdefault(kind, []).append(order.held(buffer, uses))
    return [s for group in groups.values() for s in _assign(group) if len(s.held) > 1]


def shared_scratch(kernel: KernelOp) -> list[Storage]:
    """The same for scratch arguments: of those of one type and size, who can share."""
    order = _Order(kernel)
    uses = accesses(kernel)
    groups: dict[Hashable, list[Held]] = {}
    for buffer in kernel.scratch:
        if buffer in uses and order.has_accesses_only(buffer):
            groups.setdefault((buffer.type, kernel.dims_of(buffer)), []).append(order.held(buffer, uses[buffer]))
    return [s for group in groups.values() for s in _assign(group) if len(s.held) > 1]


def _assign(buffers: list[Held]) -> list[Storage]:
    """Give every buffer, the largest first, the smallest storage that is free while it is in use, or a new one."""
    storages: list[Storage] = []
    for buffer in sorted(buffers, key=lambda b: (-b.elements, b.start)):
        free = [s for s in storages if s.is_free_for(buffer)]
        if free:
            min(free, key=lambda s: s.elements).add(buffer)
        else:
            storages.append(Storage([buffer]))
    return storages


def _follows(old: Held, new: Held) -> bool:
    return old.end < new.start or _in_place(old, new)


def _in_place(old: Held, new: Held) -> bool:
    """Whether the last loop that reads `old` may write `new` over it: every element is read before it is written."""
    if old.block is not new.block or old.last is not new.first:
        return False
    loop = old.last
    reads = [use for use in old.uses if loop.is_ancestor(use)]
    writes = [use for use in new.uses if loop.is_ancestor(use)]
    return not any(isinstance(use, StoreOp) for use in reads) and all(
        read_before_write(read, write, inside=loop)
        for read in reads
        for write in writes
        if isinstance(read, LoadOp) and isinstance(write, StoreOp)
    )


class _Order:
    """When the operations of a kernel begin and end."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.begins: dict[Operation, int] = {}
        self.ends: dict[Operation, int] = {}
        for begins, op in _steps(kernel.body.block):
            (self.begins if begins else self.ends)[op] = len(self.begins) + len(self.ends)

    def held(self, buffer: SSAValue, uses: list[LoadOp | StoreOp]) -> Held:
        """When a buffer is in use."""
        block = buffer.owner if isinstance(buffer, BlockArgument) else buffer.owner.parent
        assert isinstance(block, Block)
        inside = [top_level(use, block) for use in uses]
        first, last = min(inside, key=self.begins.__getitem__), max(inside, key=self.ends.__getitem__)
        return Held(buffer, block, first, last, self.begins[first], self.ends[last], uses)

    def frame(self, op: Operation) -> Operation:
        """The loop whose iteration a local buffer belongs to: the innermost concurrent one, or else the kernel."""
        while not isinstance(op, KernelOp):
            op = _parent(op)
            if isinstance(op, ForOp) and op.kind.data in CONCURRENT:
                break
        return op

    def has_accesses_only(self, buffer: SSAValue) -> bool:
        """Whether loads and stores are all there is; views of arguments are looked through."""
        views = (memref.ReinterpretCastOp,) if isinstance(buffer, BlockArgument) else ()
        return all(
            isinstance(use.operation, LoadOp | StoreOp)
            or (isinstance(use.operation, views) and self.has_accesses_only(use.operation.results[0]))
            for use in buffer.uses
        )


def _steps(block: Block) -> Iterator[tuple[bool, Operation]]:
    """Where operations begin (True) and end (False), in program order."""
    for op in block.ops:
        yield True, op
        for region in op.regions:
            for inner in region.blocks:
                yield from _steps(inner)
        yield False, op


def _parent(op: Operation) -> Operation:
    parent = op.parent_op()
    assert parent is not None
    return parent
