"""How long stages take, roughly, so that ways to compute the same can be compared: cycles of one core.

Nothing is measured: vectors loaded, stored and computed with are counted, and bytes that come from memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.ir import Block

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.sizes import LARGE, bits_of, bytes_of, size_of
from tilework.dialects import arith
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import CallIntrinsicOp, ComputeOp, IfThenElseOp, IndexOp, KernelOp, ReadOp, YieldOp
from tilework.dialects.te.intrinsics import declaration_of
from tilework.rules.common.axes import Axis
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.reads import Read, reads_of
from tilework.rules.cpu.register_tile import cheapest_tile
from tilework.targets.cpu.target import CpuTarget

POINTS = 1 << 14
"""At so many points of axes conditions are looked at; on more, padding is no noteworthy part."""


def kernel_cycles(
    kernel: KernelOp,
    computes: Iterable[ComputeOp],
    target: CpuTarget,
    parameters: Set[int],
    fixed: Mapping[ComputeOp, Sequence[str]] = MappingProxyType({}),
) -> float:
    """The cycles of a kernel with these stages, one after the other. fixed: axes of loops around some of them."""
    multiplying, others = 0.0, 0.0
    for compute in computes:
        if compute.reduction:
            multiplying += reduction_cycles(compute, target, parameters, fixed.get(compute, ()))
        else:
            others += elementwise_cycles(compute, target)
    return overlapped(multiplying, memory_cycles(kernel, parameters, target), target) + others


def reduction_cycles(compute: ComputeOp, target: CpuTarget, parameters: Set[int], fixed: Sequence[str] = ()) -> float:
    """The cycles of a reduction in register tiles, inside of loops along axes that are `fixed`."""
    tile = cheapest_tile(compute, reads_of(compute, parameters), target, fixed)
    each = 1.0 if tile is None else tile.cost * target.machine.core.issue / target.multiplies_per_cycle
    if tile is not None and lanes_differ(compute, tile.vector, target):
        each = max(each, target.machine.core.chosen_lane)
    axes = (*compute.spatial, *compute.reduction)
    padded = [p for op in _choices(compute) if _is_padding(op) for p in op.conditions]
    skipped = [p for p in padded if tile is not None and tile.vector not in p.expr.variables()]
    return each * size_of(axes) * part_inside(skipped, axes)


def lanes_differ(compute: ComputeOp, axis: str, target: CpuTarget) -> bool:
    """Whether lanes along the axis are computed one by one: a condition depends on it for which no mask stands."""
    return not all(_is_padding(op) and _is_masked(op, axis, target) for op in _asking(compute, axis))


def lanes_are_masked(compute: ComputeOp, axis: str, target: CpuTarget) -> bool:
    """Whether conditions depend on the axis, and masks stand for all of them."""
    return len(_asking(compute, axis)) > 0 and not lanes_differ(compute, axis, target)


def _asking(compute: ComputeOp, axis: str) -> list[IfThenElseOp]:
    """The choices whose conditions depend on the axis."""
    return [op for op in _choices(compute) if any(axis in p.expr.variables() for p in op.conditions)]


def _choices(compute: ComputeOp) -> list[IfThenElseOp]:
    return [op for op in compute.body.walk() if isinstance(op, IfThenElseOp)]


def part_inside(conditions: Sequence[Predicate], axes: Sequence[Axis]) -> float:
    """The part of the points of axes at which conditions of the kind `>=` hold, those on different axes taken apart.

    Conditions on what is read count as true.
    """
    extents: dict[Key, int] = {name: size_of([(name, extent)]) for name, extent in axes}
    by_axes: dict[tuple[Key, ...], list[Expr]] = {}
    for p in conditions:
        if p.kind == ">=" and extents.keys() >= {*p.expr.variables()}:
            by_axes.setdefault(tuple(sorted(p.expr.variables(), key=str)), []).append(p.expr)
    result = 1.0
    for names, limits in by_axes.items():
        if 0 < prod(extents[n] for n in names) <= POINTS:
            points = dict(zip(names, np.ix_(*(np.arange(extents[n]) for n in names)), strict=True))
            result *= float(np.all(np.broadcast_arrays(*(e.evaluate(points) >= 0 for e in limits)), axis=0).mean())
    return result


def _is_padding(choice: IfThenElseOp) -> bool:
    """Whether it is between an element and a constant, so that a vector of it is a load under a mask."""
    then, otherwise = ([type(op) for op in region.block.ops] for region in choice.regions)
    return then == [ReadOp, YieldOp] and otherwise == [arith.ConstantOp, YieldOp]


def _is_masked(choice: IfThenElseOp, axis: str, target: CpuTarget) -> bool:
    """Whether lanes along an axis are loaded under a mask as fast as others; if they are not side by side, they are
    picked out of vectors under masks."""
    reads = (op for op in choice.regions[0].block.ops if isinstance(op, ReadOp))
    near = all(abs(Read(op.indices.data, dims_of(op.tensor.type)).step(axis)) == 1 for op in reads)
    return target.masks_loads if near else target.partial_bits > 0


def elementwise_cycles(compute: ComputeOp, target: CpuTarget, bits: int | None = None) -> float:
    """The cycles of a stage whose last axis becomes lanes, for numbers of so many bits, else for its own.

    Of a choice the dearest branch counts.
    """
    if not compute.spatial:
        return 1.0
    lanes = target.lanes(bits or bits_of(compute.results[0].type))
    result = Read(tuple(var(n) for n, _ in compute.spatial), tuple(e for _, e in compute.spatial))
    work = _work(compute, lanes, target)
    each = work.body(compute.body.block) + work.access(result)
    return each * size_of(compute.spatial) / lanes


def load_cycles(compute: ComputeOp, target: CpuTarget) -> float:
    """The cycles of loading one vector along the last axis, of what takes longest to load."""
    work = _work(compute, target.lanes(bits_of(compute.results[0].type)), target)
    return max((work.access(Read(op.indices.data, dims_of(op.tensor.type))) for op in compute.reads), default=0.0)


def _work(compute: ComputeOp, lanes: int, target: CpuTarget) -> _Work:
    return _Work(target, compute.spatial[-1][0], lanes)


@dataclass(frozen=True)
class _Work:
    """Cycles that one vector of elements takes."""

    target: CpuTarget
    vector: str
    lanes: int

    def body(self, block: Block) -> float:
        """What a body computes."""
        total = 0.0
        for op in block.ops:
            match op:
                case IfThenElseOp():
                    total += max(self.body(region.block) for region in op.regions)
                case ReadOp():
                    total += self.access(Read(op.indices.data, dims_of(op.tensor.type)))
                case arith.ConstantOp() | IndexOp() | YieldOp():
                    pass
                case CallIntrinsicOp():
                    total += declaration_of(op, op.intrinsic).additions / self.target.vectors_per_cycle
                case _:
                    total += 1 / self.target.vectors_per_cycle
        return total

    def access(self, read: Read) -> float:
        """A load or store; lanes that are apart are taken one by one."""
        slots = read.cost(self.vector, self.lanes, LARGE, self.target)
        return slots / (self.target.vectors_per_cycle if slots == 1.0 else self.target.machine.core.lanes_per_cycle)


def memory_cycles(kernel: KernelOp, arguments: Iterable[int], target: CpuTarget) -> float:
    """The cycles that it takes to get these arguments from memory."""
    tensors = (kernel.body.block.args[i].type for i in arguments)
    return sum(bytes_of(t) for t in tensors) / target.bandwidth.memory


def again_cycles(kernel: KernelOp, arguments: Iterable[int], times: int, target: CpuTarget) -> float:
    """The cycles of reading weights so many times more, for every block of what they are multiplied with but the first.

    They are read in order, and little else is between two blocks, so that the second cache keeps nearly as many as it
    has room for.
    """
    weights = sum(bytes_of(kernel.body.block.args[i].type) for i in arguments)
    speed, stays = target.bandwidth, weights <= target.cache_bytes[1] * target.machine.caches.weights_again_share
    return times * weights / (speed.shared if stays else speed.piecewise)


def between_cycles(computes: Iterable[ComputeOp], target: CpuTarget) -> float:
    """The cycles of storing what these compute, some at a time, to the second cache, and loading it from there."""
    return 2 * sum(bytes_of(c.results[0].type) for c in computes) / target.bandwidth.second


def kept_cycles(compute: ComputeOp, target: CpuTarget) -> float:
    """The cycles of storing all that this computes, in many places in turns, and loading it when all of it is there.

    Where it stays in the second cache, lines are stored as they are loaded. Else each is got from behind it first,
    which no one asks for, and goes back: sums of quarters were stored at 2.5 to 4.3 bytes a cycle.
    """
    count = bytes_of(compute.results[0].type)
    speed = target.kept_speed(count)
    storing = count / speed if count <= target.near_bytes else 2 * count / target.bandwidth.piecewise
    return storing + count / speed
