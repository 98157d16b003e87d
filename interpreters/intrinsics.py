"""What intrinsics on buffers mean, in numpy, for many parts of buffers at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Key
from tilework.dialects.graph.base import Array
from tilework.dialects.scalar_meaning import element_dtype
from tilework.dialects.te import IntrinsicOp, ReduceOp
from tilework.interpreters.te_bodies import Body, Mask
from tilework.interpreters.te_reduce import reducer_of

BLOCK = 1 << 22
"""How many terms of reductions are computed at a time."""


def run_intrinsic(intrinsic: IntrinsicOp, before: Array | None, arguments: Sequence[Array]) -> Array:
    """What is stored, for arguments of shape [..., *shape of the part], whose first dimensions broadcast.

    before: what is in the result, where the intrinsic updates it.
    """
    compute = intrinsic.compute
    shape = tuple(e.offset for _, e in compute.spatial)
    parts = [_Parts(*of_part) for of_part in zip(arguments, map(_shape, intrinsic.wants), strict=False)]
    around = np.broadcast_shapes(*(p.around for p in parts), () if before is None else _Parts(before, shape).around)
    axes = np.ogrid[(slice(0, 1), *(slice(0, n) for n in shape))][1:]  # dimension 0 is the reduction's
    names: dict[Key, Any] = dict(zip((n for n, _ in compute.spatial), axes, strict=True))
    body = Body(dict(zip(intrinsic.body.block.args, parts, strict=True)), compute, names)
    with np.errstate(all="ignore"):
        if compute.reduction:
            return _joined(body, around, shape, before)
        [value] = body.values(None)
        dtype = element_dtype(compute.terminator.values[0].type)
        return np.broadcast_to(value, (*around, 1, *shape)).reshape(*around, *shape).astype(dtype)


def _joined(body: Body, around: tuple[int, ...], shape: tuple[int, ...], before: Array | None) -> Array:
    """A reduction, which starts from what was there before, or from its identity."""
    compute = body.compute
    reducer = reducer_of(cast(ReduceOp, compute.terminator))
    start = reducer.identities[0] if before is None else before
    total = [np.array(np.broadcast_to(start, (*around, *shape)))]
    extents = [e.offset for _, e in compute.reduction]
    step = max(1, BLOCK // max(1, total[0].size))
    for first in range(0, prod(extents), step):
        points = np.unravel_index(np.arange(first, min(first + step, prod(extents))), extents)
        positions = {
            name: position.reshape(-1, *[1] * len(shape))
            for (name, _), position in zip(compute.reduction, points, strict=True)
        }
        [terms], _ = replace(body, names={**body.names, **positions}).terms(None)
        terms = np.broadcast_to(terms, (*around, len(points[0]), *shape))
        total = reducer.fold(total, [np.moveaxis(terms, len(around), 0)], None)
    return total[0]


def _shape(want: MemRefType[Attribute]) -> tuple[int, ...]:
    return tuple(want.get_shape())


@dataclass
class _Parts:
    """The same part of many buffers: an array [*around, *shape], as one tensor whose elements are arrays."""

    elements: Array
    shape: tuple[int, ...]

    @property
    def around(self) -> tuple[int, ...]:
        return self.elements.shape[: self.elements.ndim - len(self.shape)]

    def take(self, flat: Array, mask: Mask) -> Array:
        """The elements at flat positions, behind the dimensions around."""
        return self.elements.reshape(*self.around, -1)[..., flat]
