"""What a kernel's stages read, element by element, and how vectors of it are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import gcd, prod

from xdsl.ir import BlockArgument

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr, Key, var
from tilework.analysis.sizes import LARGE, size_of
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget

NEAR = 4
"""Up to which distance lanes are picked out of whole vectors, not loaded one by one."""

_BLOCK, _LANE = "block", "lane"
"""Names of axes of our own: an index along the vector axis is so many whole vectors and a lane."""


@dataclass(frozen=True)
class Read:
    """One access of the body: the element of a tensor of size `dims` at `indices`.

    argument: the number of the kernel's argument that the tensor is, where its layout may be chosen.
    """

    indices: tuple[Expr, ...]
    dims: tuple[Expr, ...]
    argument: int | None = None
    _moves: dict[tuple[str, int], bool] = field(default_factory=dict[tuple[str, int], bool], compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.indices, self.dims, self.argument))  # asked for very often, while tiles are compared

    @cached_property
    def axes(self) -> frozenset[Key]:
        """The axes that the element depends on."""
        return frozenset(key for e in self.indices for key in e.variables())

    @cached_property
    def _steps(self) -> Mapping[Key, int]:
        steps, row = dict.fromkeys(self.axes, 0), 1
        for e, dim in zip(reversed(self.indices), reversed(self.dims), strict=True):
            for axis in e.variables():
                steps[axis] += e.coefficient(axis) * row
            row *= LARGE if dim.constant is None else dim.constant
        return steps

    def cost(self, vector: str, width: int, count: int, target: CpuTarget) -> float:
        """Load slots taken for one vector of `width` elements along an axis.

        It is one of `count` that are side by side from 0 on; with a count of 0 it begins anywhere.
        """
        if vector not in self.axes:
            return 1.0
        if self.is_apart(vector, width, count):
            return target.machine.core.lane_slots * width
        stride = _stride(self, vector, width, count)
        assert stride is not None
        return 1.0 if stride in (0, 1) else target.machine.core.stride_slots * abs(stride)

    def is_apart(self, vector: str, width: int, count: int) -> bool:
        """Whether lanes along an axis, as in `cost`, are accessed one by one."""
        if vector not in self.axes:
            return False
        stride = _stride(self, vector, width, count)
        return stride is None or abs(stride) > NEAR

    def is_regular(self, axis: str, width: int) -> bool:
        """Whether the elements of one vector of `width` along an axis are equally far apart."""
        return axis not in self.axes or _stride(self, axis, width, LARGE) is not None

    def has_known_steps(self, axis: str) -> bool:
        """Whether it is known how far apart neighbours along an axis are."""
        first = next((at for at, e in enumerate(self.indices) if axis in e.variables()), len(self.indices))
        return all(dim.is_constant for dim in self.dims[first + 1 :])

    def is_aligned(self, vector: str, width: int) -> bool:
        """Whether what is read begins at multiples of `width` elements wherever the vector axis does."""
        row = 1
        for e, dim in zip(reversed(self.indices), reversed(self.dims), strict=True):
            others = [e.offset, *(count for atom, count in e.terms if Expr(((atom, 1),), 0).as_var != vector)]
            if any(count * row % width for count in others):
                return False
            row *= LARGE if dim.constant is None else dim.constant
        return True

    def moves(self, axis: str, factor: int) -> bool:
        """Whether `factor` iterations of an axis, the first a multiple of it, read different elements.

        They do not where the axis counts filters of a group and the element is the group's.
        """
        if factor == 1 or axis not in self.axes:
            return False
        if (axis, factor) not in self._moves:  # asked for every candidate
            self._moves[axis, factor] = _stride(self, axis, factor, LARGE) != 0
        return self._moves[axis, factor]

    def step(self, axis: str) -> int:
        """Elements between neighbours along an axis, but for what quotients and remainders of it add."""
        return self._steps.get(axis, 0)

    def crowd(self, axis: str, count: int, element_bytes: int, target: CpuTarget) -> int:
        """How many lines of the elements at `count` iterations share one place of the nearest cache."""
        sets = target.machine.caches.sets
        lines, inside = divmod(self.step(axis) * element_bytes, LINE_BYTES)
        return 1 if inside or not lines else -(-count // (sets // gcd(sets, lines)))

    def crowds(self, axis: str, count: int, element_bytes: int, target: CpuTarget) -> bool:
        """Whether they leave hardly any room there for lines of something else."""
        return count > self.room(axis, element_bytes, target)

    def room(self, axis: str, element_bytes: int, target: CpuTarget) -> int:
        """How many iterations of an axis leave room there; LARGE where all do, as their lines lie in all places."""
        lines, inside = divmod(self.step(axis) * element_bytes, LINE_BYTES)
        if inside or not lines:
            return LARGE
        caches = target.machine.caches
        return (ways_of(target) - caches.spare_ways) * (caches.sets // gcd(caches.sets, lines))

    def distinct(self, points: Mapping[str, range]) -> int:
        """How many different elements are read at all these points of axes, roughly, the others standing still.

        Axes that an index adds up are counted by the ends of the sum, which is exact for windows with strides; that
        another index follows them too is not seen.
        """
        result = 1
        left = dict(points)
        for e in self.indices:
            steps = [(axis, left.pop(axis)) for axis in list(left) if axis in e.variables()]
            count = prod(len(values) for _, values in steps)
            if len(steps) > 1 and count and all(e.is_affine_in(axis) for axis, _ in steps):
                spans = [(abs(e.coefficient(axis) * values.step), len(values) - 1) for axis, values in steps]
                count = min(count, sum(step * most for step, most in spans) // gcd(*(step for step, _ in spans)) + 1)
            result *= count
        return result

    def is_in_blocks(self, axis: str) -> bool:
        """Whether an index along an axis is split into a block and a place in it."""
        return any(axis in e.variables() and not e.is_affine_in(axis) for e in self.indices)

    def block(self, axis: str) -> int | None:
        """How many elements the blocks have that an index along an axis is split into, the first if several are."""
        atoms = [atom for e in self.indices for atom, _ in e.terms if isinstance(atom, Compound) and atom.kind == "mod"]
        sizes = [size.constant for x, size in (atom.args for atom in atoms) if axis in x.variables()]
        return sizes[0] if sizes else None

    def count(self, extents: Mapping[str, int]) -> int:
        """How many elements are read along axes of these extents: a part of the tensor, where loops are around."""
        return min(prod(n for axis, n in extents.items() if axis in self.axes), size_of([("", e) for e in self.dims]))

    def axis_to_pack(self, vector: str) -> int | None:
        """The dimension that blocks along the vector axis would cut: the one that follows it, element by element."""
        following = [d for d, e in enumerate(self.indices) if vector in e.variables()]
        if len(following) != 1 or self.argument is None:
            return None
        e = self.indices[following[0]]
        return following[0] if e.is_affine_in(vector) and e.coefficient(vector) == 1 else None


@cache
def _stride(read: Read, axis: str, width: int, count: int) -> int | None:
    """Elements between neighbours in `width` iterations, None if it varies; `count` as in `Read.cost`."""
    lane = Domain({_BLOCK: (0, count - 1 if count else None), _LANE: (0, width - 1)})
    first = width * var(_BLOCK) if count else var(_BLOCK)
    total, row = 0, 1
    for e, dim in zip(reversed(read.indices), reversed(read.dims), strict=True):
        if axis in e.variables():
            e = lane.simplify(e.substitute({axis: first + var(_LANE)}))
            if not e.is_affine_in(_LANE):
                return None
            total += e.coefficient(_LANE) * row
        row *= LARGE if dim.constant is None else dim.constant
    return total


def ways_of(target: CpuTarget) -> int:
    """How many lines have room in each place of the nearest cache."""
    return target.cache_bytes[0] // (target.machine.caches.sets * LINE_BYTES)


def reads_of(compute: ComputeOp, parameters: Set[int] = frozenset()) -> list[Read]:
    """The reads of a compute; the layouts of the kernel's arguments numbered `parameters` may be chosen."""
    return [
        Read(
            r.indices.data,
            dims_of(r.tensor.type),
            r.tensor.index if isinstance(r.tensor, BlockArgument) and r.tensor.index in parameters else None,
        )
        for r in compute.reads
    ]
