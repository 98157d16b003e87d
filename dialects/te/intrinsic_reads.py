"""What the meaning of an intrinsic reads of its arguments: whether that is in bounds, and reaches to both ends."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Key
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.structure import ComputeOp

MOST_POINTS = 1 << 24
"""The meaning of an intrinsic has no more points: it is what one instruction does."""


def verify_reads(compute: ComputeOp, argument: SSAValue, name: str) -> None:
    """Raise VerifyException where an argument is read outside of it, or neither end of it is.

    An instruction reaches all of its buffers, and loops that do the same reach no farther than what the meaning reads.
    """
    axes = [*compute.spatial, *compute.reduction]
    extents = [extent.offset for _, extent in axes]
    if prod(extents) > MOST_POINTS:
        raise VerifyException(f"an instruction has at most {MOST_POINTS} points, not {prod(extents)}")
    points: dict[Key, Any] = dict(zip((axis for axis, _ in axes), np.ix_(*map(np.arange, extents)), strict=True))
    shape = [dim.offset for dim in dims_of(argument.type)]
    ends = set[int]()
    for read in (read for read in compute.reads if read.tensor is argument):
        place: Any = 0
        for axis, (expr, size) in enumerate(zip(read.exprs, shape, strict=True)):
            index = np.asarray(expr.evaluate(points))
            if index.min() < 0 or index.max() >= size:
                message = f"index {expr} of argument %{name} is from {index.min()} to {index.max()}"
                raise VerifyException(f"{message}, where axis {axis} has {size} elements")
            place = place * size + index
        ends |= {int(np.min(place)), int(np.max(place))}
    if not {0, prod(shape) - 1} <= ends:
        raise VerifyException(
            f"the first or the last element of argument %{name} is not read, and an instruction reaches all of its "
            "argument, beyond what loops read: give it the shape of what is read"
        )
