"""Which stages of a kernel are inlined, which are computed at a consumer, which fill a buffer of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import partial

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.sizes import size_of
from tilework.dialects import arith
from tilework.dialects.te import ComputeOp, ExternOp, IfThenElseOp, KernelOp, ReadOp, ReduceOp, YieldOp, scans_of
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.rules.common.axes import iterations, sums_windows
from tilework.rules.common.lone_stages import alone
from tilework.rules.common.readers import is_needed_whole, readers_of
from tilework.rules.cpu.argument_copies import ArgumentCopy, copy_arguments
from tilework.rules.cpu.costs import lanes_differ
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.relayout import Relayout, relayout_stages
from tilework.scheduling.dataflow.handles import is_returned
from tilework.scheduling.dataflow.inline import inline_compute, inline_computes
from tilework.scheduling.dataflow.simplify_reads import simplify_reads
from tilework.targets.cpu.target import CpuTarget

LARGEST_COPY = 16
"""Scalar operations of a stage that may be inlined in more than one place."""


@dataclass(frozen=True)
class StagePlan:
    """`inlined` stages by name; `relayouts` of others; `copies` of arguments; `roots` as they look after all that.

    `anchored`: root -> the reduction inside it. `steps` are what scans compute in each step. `parts`: roots that only a
    reduction reads, and that sum windows at most -> the root with that reduction, and the names of the first axes of
    both, at every point of which it reads a part of its own.
    """

    inlined: list[str]
    relayouts: list[Relayout]
    copies: list[ArgumentCopy]
    roots: list[ComputeOp]
    anchored: dict[ComputeOp, ComputeOp]
    steps: list[ComputeOp]
    parts: dict[ComputeOp, tuple[ComputeOp, list[str]]]

    @property
    def stages(self) -> list[ComputeOp]:
        """All stages but those that are steps of others."""
        return [*self.anchored.values(), *self.roots]

    def sums(self, root: ComputeOp) -> bool:
        """Whether a root is a reduction, or one is inside it."""
        return bool(self.anchored.get(root, root).reduction)


def plan_stages(kernel: KernelOp, target: CpuTarget, parameters: Set[int] = frozenset()) -> StagePlan:
    """Decide on a copy of the kernel. parameters: the arguments whose layouts may be chosen."""
    copy = copy_with_declarations(kernel)
    inlined: list[str] = []

    def inline(may_inline: Callable[[KernelOp, ComputeOp], bool]) -> None:
        for compute in copy.computes:
            if may_inline(copy, compute):
                inlined.append(compute.stage.data)
                inline_compute(compute)

    inline(_only_moves)  # then its sources are read where they are used
    cheap = _cheap_stages(copy)
    inlined += [compute.stage.data for compute in cheap]
    inline_computes(cheap)
    relayouts = relayout_stages(copy, target, reductions=True)  # which decides about their tiles
    inline(partial(_pads_for_nothing, target=target, parameters=parameters))
    relayouts += relayout_stages(copy, target, reductions=False)
    for compute in copy.computes:
        simplify_reads(compute)
    copies = copy_arguments(copy, target, parameters)
    anchored: dict[ComputeOp, ComputeOp] = {}
    steps = [compute for scan in scans_of(copy) for compute in scan.steps]
    for compute in (c for c in copy.computes if c not in steps):
        root = _anchor_of(compute)
        if root is not None and root not in anchored:
            anchored[root] = compute
    inside = {*anchored.values(), *steps}
    roots = [c for c in copy.computes if c not in inside]
    root_of = {anchored.get(root, root): root for root in roots}
    parts: dict[ComputeOp, tuple[ComputeOp, list[str]]] = {}
    for producer in roots:
        reduction = _only_reader(producer)
        root = root_of.get(reduction) if reduction is not None and reduction.reduction else None
        if reduction is None or root is None or root is producer:
            continue
        axes = _own_part(producer, anchored.get(producer, producer), reduction)
        if axes is not None:
            parts[producer] = root, axes
    return StagePlan(inlined, relayouts, copies, roots, anchored, steps, parts)


def _only_reader(compute: ComputeOp) -> ComputeOp | None:
    """The stage that reads a stage, if nothing else does."""
    readers = {reader for reader, _ in readers_of(compute)}
    return next(iter(readers)) if len(readers) == 1 and not is_needed_whole(compute) else None


def _own_part(producer: ComputeOp, summed: ComputeOp, reduction: ComputeOp) -> list[str] | None:
    """The axes of a reduction at every point of which it reads a part of the producer that no other point reads.

    summed: the reduction inside the producer, else itself. None where it sums more than windows.
    """
    if len(producer.results) > 1 or (summed.reduction and not sums_windows(summed)):
        return None
    readers, shared = readers_of(producer), list[str]()
    for at, (axis, own) in enumerate(zip(reduction.spatial, producer.spatial, strict=False)):
        if axis[1] != own[1] or any(read.exprs[at] != var(axis[0]) for _, read in readers):
            break
        shared.append(axis[0])
    return shared


def _can_inline(compute: ComputeOp) -> bool:
    return not compute.reduction and len(compute.results) == 1 and not is_needed_whole(compute)


def _gathers(compute: ComputeOp) -> bool:
    """Whether a stage only puts elements side by side that are apart in memory, and sums read each of them often."""
    *reads, end = compute.body.block.ops
    if not compute.spatial or len(reads) != 1 or not isinstance(reads[0], ReadOp) or not isinstance(end, YieldOp):
        return False
    if not reads[0].exprs:
        return False
    readers = [reader for reader, _ in readers_of(compute)]
    apart = abs(reads[0].exprs[-1].coefficient(compute.spatial[-1][0])) > 1
    return apart and any(iterations(r) > 2 * size_of(compute.spatial) for r in readers if r.reduction)


def _only_moves(kernel: KernelOp, compute: ComputeOp) -> bool:
    """Whether each element of the stage is one of another tensor."""
    moves = all(isinstance(op, ReadOp | YieldOp) for op in compute.body.block.ops)
    return moves and _can_inline(compute) and not _gathers(compute)


@dataclass(frozen=True)
class _Weight:
    """The scalar operations of a stage in which others are inlined, and whether some of them are dear."""

    ops: int
    dear: bool


def _cheap_stages(kernel: KernelOp) -> list[ComputeOp]:
    """The stages that do not repeat noteworthy work in place of their reads, those before being inlined likewise."""
    inlined: dict[SSAValue, _Weight] = {}
    cheap: list[ComputeOp] = []
    for compute in kernel.computes:
        weight = _weight(compute, inlined)
        if _can_inline(compute) and _is_cheap(compute, weight) and (weight.ops or not _gathers(compute)):
            cheap.append(compute)
            inlined[compute.result] = weight
    return cheap


def _weight(compute: ComputeOp, inlined: Mapping[SSAValue, _Weight]) -> _Weight:
    ops, dear = 0, False
    for op in compute.body.walk():
        if isinstance(op, ReadOp):
            of_read = inlined.get(op.tensor, _Weight(0, dear=False))
            ops, dear = ops + of_read.ops, dear or of_read.dear
        elif not isinstance(op, YieldOp):
            ops, dear = ops + 1, dear or op.name.startswith("math.") or isinstance(op, IfThenElseOp)
    return _Weight(ops, dear)


def _is_cheap(compute: ComputeOp, weight: _Weight) -> bool:
    """Whether putting the stage in place of its reads does not repeat noteworthy work."""
    readers = readers_of(compute)
    for reader, _ in readers:
        repeated = weight.dear or iterations(reader) > 2 * size_of(compute.spatial)
        if reader.reduction and weight.ops and repeated:
            return False
    return len(readers) == 1 or (not weight.dear and weight.ops <= LARGEST_COPY)


def _pads_for_nothing(kernel: KernelOp, compute: ComputeOp, target: CpuTarget, parameters: Set[int]) -> bool:
    """Whether a stage only pads, and where its reader need not ask for each element whether that is padding."""
    readers = readers_of(compute)
    if len(readers) != 1 or not _can_inline(compute) or _gathers(compute):
        return False
    [(reader, _)] = readers
    if any(not isinstance(op, IfThenElseOp | ReadOp | arith.ConstantOp | YieldOp) for op in compute.body.walk()):
        return False
    return _pads_outside(compute, reader) or _pads_tiles(kernel, compute, reader, target, parameters)


def _pads_outside(compute: ComputeOp, reader: ComputeOp) -> bool:
    """Whether a stage pads along no axis but the outermost of its reader.

    The few iterations of that loop that meet the padding get code of their own.
    """
    long = [name for name, extent in reader.spatial if extent != const(1)]
    return not _pads_along({*long[1:], *long[-1:]}, compute)  # the last becomes lanes, even if there is no other


def _pads_tiles(
    kernel: KernelOp, compute: ComputeOp, reader: ComputeOp, target: CpuTarget, parameters: Set[int]
) -> bool:
    """Whether the tiles of a reader had better know where padding is than read it.

    What only some lanes of a vector load, straight code takes as a part of one, if the machine can. Else loops are cut
    where padding ends: that costs nothing but code, and what is padding is left out of the sums.
    """
    padded = _with_inlined(kernel, compute, reader, target, parameters)
    tile = choose_tile(padded, reads_of(padded, parameters), target)
    if tile is None or not all(e.is_constant for _, e in reader.spatial):
        return False
    return not _pads_along({tile.vector}, compute) or (tile.straight and not lanes_differ(padded, tile.vector, target))


def _with_inlined(
    kernel: KernelOp, compute: ComputeOp, reader: ComputeOp, target: CpuTarget, parameters: Set[int]
) -> ComputeOp:
    """A copy of the reader, in a kernel of its own where the stage is inlined, and arguments are copied."""
    copy = alone(kernel, [compute, reader])
    same, copied = copy.compute(compute.stage.data), copy.compute(reader.stage.data)
    assert same is not None and copied is not None
    inline_compute(same)
    simplify_reads(copied)
    copy_arguments(copy, target, parameters)
    copied = copy.compute(reader.stage.data)
    assert copied is not None
    return copied


def _pads_along(axes: Set[str], compute: ComputeOp) -> bool:
    """Whether a condition of a stage depends on these axes of its readers."""
    for _, read in readers_of(compute):
        moving = {name for (name, _), e in zip(compute.spatial, read.exprs, strict=True) if axes & {*e.variables()}}
        if any(moving & {*p.expr.variables()} for p in _conditions(compute)):
            return True
    return False


def _conditions(compute: ComputeOp) -> list[Predicate]:
    return [p for op in compute.body.walk() if isinstance(op, IfThenElseOp) for p in op.conditions]


def _anchor_of(compute: ComputeOp) -> ComputeOp | None:
    """The one element-wise consumer of a reduction, which reads it at its own indices."""
    if not compute.reduction or is_returned(compute):
        return None
    if any(isinstance(use.operation, ExternOp) for result in compute.results for use in result.uses):
        return None
    readers = readers_of(compute)
    consumers = {reader for reader, _ in readers}
    if len(consumers) != 1:
        return None
    [consumer] = consumers
    own = tuple(var(n) for n, _ in consumer.spatial)
    same = [e for _, e in consumer.spatial] == [e for _, e in compute.spatial]
    if isinstance(consumer.terminator, ReduceOp) or not same or any(r.exprs != own for _, r in readers):
        return None
    return consumer
