"""How much work a te kernel is: floating-point operations, and bytes that must come from memory and go there.

Both are the definition's, whatever the schedule makes of it: what is computed twice counts once, what stays in a cache
between two kernels counts in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import var
from tilework.algebra.predicate import Predicate, less_than
from tilework.dialects import arith
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.support.words import BYTES, DOT
from tilework.dialects.te import CallIntrinsicOp, ComputeOp, IfThenElseOp, KernelOp, ReduceOp

Sizes = Mapping[str, int]
"""The values of a kernel's symbols."""

_FLOATING = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp),
    *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
)


@dataclass(frozen=True)
class Work:
    """What one call of a kernel does, or several."""

    flops: int = 0
    bytes: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.bytes + other.bytes)

    def times(self, count: int) -> Work:
        """This work, done `count` times."""
        return Work(count * self.flops, count * self.bytes)


def work_of(kernel: KernelOp, sizes: Sizes) -> Work:
    """The work of one call.

    flops: an operation of `arith` or `math` on floating-point numbers counts once for every element that a compute
    defines and every point of its reduction, and so does the joining: a multiply-add is two, of bytes in words as well.
    Comparisons, choices and conversions count nothing, padding like any other element. Of a choice the branch counts
    that is taken, and both where data decides.
    bytes: every argument once, or as many of its elements as are read, if that is less; every result once.
    """
    domains = {compute: Domain.of(compute, sizes) for compute in kernel.computes}
    flops = sum(_flops(compute.body.block, domain) for compute, domain in domains.items())
    reads: dict[SSAValue, int] = {}
    for compute, domain in domains.items():
        for read in compute.reads:
            reads[read.tensor] = reads.get(read.tensor, 0) + domain.points
    arguments = [min(reads.get(a, 0), _elements(a.type, sizes)) * element_bytes(a.type) for a in kernel.body.block.args]
    results = [_elements(r.type, sizes) * element_bytes(r.type) for r in kernel.results_returned]
    return Work(flops, sum(arguments) + sum(results))


Condition = tuple[tuple[Predicate, ...], bool]
"""A conjunction, and whether it holds."""


@dataclass(frozen=True)
class Domain:
    """Where a compute's body, or a branch of it, is evaluated: the points of its axes for which all conditions hold."""

    extents: Mapping[str, int]
    sizes: Sizes
    conditions: tuple[Condition, ...] = ()

    @staticmethod
    def of(compute: ComputeOp, sizes: Sizes) -> Domain:
        """All points. The extent of a reduction may depend on the element: as a condition then on a larger one."""
        extents = {name: int(extent.evaluate(sizes)) for name, extent in compute.spatial}
        conditions: list[Condition] = []
        for name, extent in compute.reduction:
            spatial = [axis for axis in extents if axis in extent.variables()]
            values = np.asarray(extent.evaluate({**sizes, **_grid(extents, spatial)}))
            if spatial:
                conditions.append(((less_than(var(name), extent),), True))
            extents[name] = int(values.max(initial=0))
        return Domain(extents, sizes, tuple(conditions))

    def where(self, condition: Condition) -> Domain:
        """The part of it in which one more condition holds."""
        return replace(self, conditions=(*self.conditions, condition))

    @property
    def points(self) -> int:
        """How many points there are."""
        used = {key for conjunction, _ in self.conditions for p in conjunction for key in p.expr.variables()}
        axes = [axis for axis in self.extents if axis in used]
        values = {**self.sizes, **_grid(self.extents, axes)}
        inside: Any = np.ones((), bool)
        for conjunction, expected in self.conditions:
            holds = np.asarray(reduce(np.logical_and, (p.evaluate(values) for p in conjunction)))
            inside = inside & (holds if expected else ~holds)
        counted = np.broadcast_to(inside, [self.extents[axis] for axis in axes]).sum()
        return int(counted) * prod(extent for axis, extent in self.extents.items() if axis not in used)


def _grid(extents: Mapping[str, int], axes: Sequence[str]) -> dict[str, Any]:
    """The indices along each of the axes, as arrays that broadcast together."""
    return dict(zip(axes, np.ix_(*(np.arange(extents[axis]) for axis in axes)), strict=True))


def _flops(block: Block, domain: Domain) -> int:
    """Those of a block that is evaluated at every point of a domain."""
    here, inside = 0, 0
    for op in block.ops:
        here += _operations(op)
        if isinstance(op, IfThenElseOp) and not op.index_operands:
            inside += _flops(op.then_body.block, domain.where((op.conditions, True)))
            inside += _flops(op.else_body.block, domain.where((op.conditions, False)))
        else:
            inside += sum(_flops(inner, domain) for region in op.regions for inner in region.blocks)
    return inside + (here * domain.points if here else 0)


def _operations(op: Operation) -> int:
    """How many one operation stands for, what is inside apart."""
    if isinstance(op, ReduceOp):
        return int(op.kind is not None and isa(op.values[0].type, AnyFloat))
    if isinstance(op, CallIntrinsicOp) and op.intrinsic == DOT:
        return 2 * BYTES
    if not op.results or not isa(op.results[0].type, AnyFloat):
        return 0
    return int(isinstance(op, _FLOATING) or op.name.startswith("math.")) + int(op.name == "math.fma")


def _elements(type_: Attribute, sizes: Sizes) -> int:
    return prod(int(dim.evaluate(sizes)) for dim in dims_of(type_))


def element_bytes(type_: Attribute) -> int:
    """The size of one element, in bytes."""
    element = element_type(type_)
    assert isinstance(element, FixedBitwidthType), element
    return element.size
