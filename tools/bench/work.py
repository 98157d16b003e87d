"""How much work a te kernel is: floating-point operations, and bytes that must come from memory and go there.

Both are the definition's, whatever the schedule makes of it: what is computed twice counts once, what stays in a cache
between two kernels counts in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.dialects import arith
from tilework.dialects.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, KernelOp, ReduceOp

Sizes = Mapping[str, int]
"""The values of a kernel's symbols."""

_FLOATING = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp),
    *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
)


@dataclass(frozen=True)
class Work:
    """What one call of a kernel does."""

    flops: int
    bytes: int


def work_of(kernel: KernelOp, sizes: Sizes) -> Work:
    """The work of one call.

    flops: an operation of `arith` or `math` on floating-point numbers counts once for every element that a compute
    defines and every point of its reduction, and so does the joining: a multiply-add is two. Comparisons, choices and
    conversions count nothing, padding like any other element.
    bytes: every argument once, or as many of its elements as are read, if that is less; every result once.
    """
    flops = sum(_points(compute, sizes) * _operations(compute) for compute in kernel.computes)
    reads: dict[SSAValue, int] = {}
    for compute in kernel.computes:
        for read in compute.reads:
            reads[read.tensor] = reads.get(read.tensor, 0) + _points(compute, sizes)
    arguments = [min(reads.get(a, 0), _elements(a.type, sizes)) * element_bytes(a.type) for a in kernel.body.block.args]
    results = [_elements(r.type, sizes) * element_bytes(r.type) for r in kernel.results_returned]
    return Work(flops, sum(arguments) + sum(results))


def _points(compute: ComputeOp, sizes: Sizes) -> int:
    """How often the body of a compute is evaluated; the extents of a reduction may depend on the element."""
    extents = {name: int(extent.evaluate(sizes)) for name, extent in compute.spatial}
    inner = [extent for _, extent in compute.reduction]
    free = [name for name in extents if any(name in extent.variables() for extent in inner)]
    grid = dict(zip(free, np.ix_(*(np.arange(extents[name]) for name in free)), strict=True))
    counts = np.asarray(prod(np.maximum(extent.evaluate({**sizes, **grid}), 0) for extent in inner))
    dependent = np.broadcast_to(counts, [extents[name] for name in free]).sum()
    return int(dependent) * prod(extent for name, extent in extents.items() if name not in free)


def _operations(compute: ComputeOp) -> int:
    """How many operations one evaluation of the body is, joining included."""
    counted = sum(_flops(op) for op in compute.body.walk())
    last = compute.terminator
    named = isinstance(last, ReduceOp) and last.kind is not None and isa(last.values[0].type, AnyFloat)
    return counted + named


def _flops(op: Operation) -> int:
    if not op.results or not isa(op.results[0].type, AnyFloat):
        return 0
    return int(isinstance(op, _FLOATING) or op.name.startswith("math.")) + int(op.name == "math.fma")


def _elements(type_: Attribute, sizes: Sizes) -> int:
    return prod(int(dim.evaluate(sizes)) for dim in dims_of(type_))


def element_bytes(type_: Attribute) -> int:
    """Of one element, in bytes."""
    element = element_type(type_)
    assert isinstance(element, FixedBitwidthType), element
    return element.size
