"""Nests of a drawn schedule as meanings of intrinsics: what the innermost loops of a stage do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeVar

from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects import arith
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ComputeOp, IntrinsicOp, KernelOp, ReadOp, ReduceOp
from tilework.scheduling.bound_inference import StageBounds, infer_bounds
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import Axis, Stage, read_schedule
from tilework.tools.fuzz.draw import Draw

T = TypeVar("T")

MOST_POINTS = 64
"""Snippets write out every point of a nest."""

BINARY = (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.MaximumfOp)
"""The operations of meanings."""


@dataclass(frozen=True)
class Nest:
    """A stage as its schedule has left it."""

    stage: Stage
    bounds: StageBounds

    @property
    def leaves(self) -> list[Axis]:
        return self.stage.leaves

    def trip(self, axis: Axis) -> int | None:
        """How often a loop runs; None where that is not known."""
        return self.bounds.extents[axis].constant


def nest_of(kernel: KernelOp, sequence: SequenceOp, intrinsics: Sequence[IntrinsicOp], stage: str) -> Nest | None:
    """The nest of the stage of that name; None where the schedule is refused as it is, or the stage is no compute."""
    kernel, sequence = kernel.clone(), sequence.clone()
    ModuleOp([*(declared.clone() for declared in intrinsics), kernel, sequence])
    try:
        apply_dataflow(kernel, sequence)
        state = read_schedule(kernel, sequence)
        bounds = infer_bounds(state)
    except CompileError:
        return None
    found = state.stages.get(stage)
    if found is None or not isinstance(found.compute, ComputeOp):
        return None
    return Nest(found, bounds[found])


@dataclass(frozen=True)
class Argument:
    """What a meaning reads: along each dimension an index, as multiples of axes by number."""

    indices: tuple[Mapping[int, int], ...]

    def shape(self, extents: Sequence[int]) -> list[int]:
        """Its sizes, for axes of these extents."""
        return [1 + sum(factor * (extents[axis] - 1) for axis, factor in index.items()) for index in self.indices]

    def at(self, point: Sequence[Any]) -> list[Any]:
        """The element that is read at a point."""
        return [sum(factor * point[axis] for axis, factor in index.items()) for index in self.indices]


@dataclass(frozen=True)
class Tile:
    """The meaning of an intrinsic: the axes that stay, then those that are combined away, and what is read.

    reads: the argument that each read of the stage's body is.
    """

    compute: ComputeOp
    extents: list[int]
    rank: int
    arguments: list[Argument]
    reads: Mapping[ReadOp, int]

    @property
    def is_reduction(self) -> bool:
        return self.rank < len(self.extents)

    @property
    def reducer(self) -> str | None:
        """How the values of a reduction are joined."""
        last = self.compute.terminator
        return last.kind.data if isinstance(last, ReduceOp) and last.kind is not None else None

    def points(self) -> list[tuple[int, ...]]:
        """All points of the axes that stay."""
        return list(product(*map(range, self.extents[: self.rank])))

    def terms(self) -> list[tuple[int, ...]]:
        """All points of the others."""
        return list(product(*map(range, self.extents[self.rank :])))

    def value(
        self, read: Callable[[int], T], constant: Callable[[float], T], binary: Callable[[type[Operation], T, T], T]
    ) -> T:
        """What the body computes, of values of any kind."""

        def found(value: SSAValue) -> T:
            op = value.owner
            if isinstance(op, ReadOp):
                return read(self.reads[op])
            if isinstance(op, arith.ConstantOp):
                assert isinstance(op.value, FloatAttr)
                return constant(op.value.value.data)
            assert isinstance(op, BINARY)
            return binary(type(op), found(op.operands[0]), found(op.operands[1]))

        return found(self.compute.terminator.operands[0])


def tile_of(nest: Nest, count: int, draw: Draw) -> Tile | None:
    """The innermost loops, so many, as a meaning with its axes in any order; None where it is none that we write."""
    compute, inside = nest.stage.body, list(nest.leaves[-count:])
    if not is_simple(compute) or any(nest.trip(axis) is None for axis in inside):
        return None
    spatial = drawn_order([axis for axis in inside if not axis.reduce], draw)
    axes = [*spatial, *drawn_order([axis for axis in inside if axis.reduce], draw)]
    extents = [nest.trip(axis) or 0 for axis in axes]
    if not 0 < prod(extents) <= MOST_POINTS:
        return None
    arguments: list[Argument] = []
    reads: dict[ReadOp, int] = {}
    known: dict[tuple[SSAValue, tuple[Expr, ...]], int] = {}
    for read in compute.reads:
        argument = _argument(nest, read, axes, draw)
        if argument is None:
            return None
        place = known.get((read.tensor, tuple(read.exprs)))
        if place is None or draw.chance(20):  # one element that is read twice may be two arguments
            place = len(arguments)
            arguments.append(argument)
        reads[read] = known[read.tensor, tuple(read.exprs)] = place
    return Tile(compute, extents, len(spatial), arguments, reads)


def drawn_order(items: Sequence[T], draw: Draw) -> list[T]:
    """The same in any order."""
    left, found = list(items), list[T]()
    while left:
        found.append(left.pop(draw.choice(range(len(left)))))
    return found


def is_simple(compute: ComputeOp) -> bool:
    """Whether snippets can say what a body does: arithmetic on elements of f32."""
    last = compute.terminator
    if len(last.operands) != 1 or (isinstance(last, ReduceOp) and (last.kind is None or last.where is not None)):
        return False
    if isinstance(last, ReduceOp) and last.kind is not None and last.kind.data not in ("add", "max"):
        return False
    ops = [op for op in compute.body.block.ops if op is not last]
    values = [result.type for op in ops for result in op.results]
    return all(isinstance(op, (ReadOp, arith.ConstantOp, *BINARY)) for op in ops) and all(t == f32 for t in values)


def in_drawn_order(nests: Sequence[tuple[T, Nest | None]], draw: Draw) -> list[tuple[T, Nest]]:
    """What may be tensorized, in any order; products come first mostly, which are rare."""
    found = [(what, nest) for what, nest in drawn_order(nests, draw) if nest is not None and is_simple(nest.stage.body)]
    if draw.chance(70):
        found.sort(key=lambda one: not (one[1].stage.body.reduction and len(one[1].stage.body.reads) > 1))
    return found


def _argument(nest: Nest, read: ReadOp, axes: Sequence[Axis], draw: Draw) -> Argument | None:
    """A part of a tensor: along each of its dimensions that an axis moves along. None where it moves otherwise."""
    values = {axis.name: nest.bounds.values[axis.name] for axis in nest.stage.roots}
    indices: list[Mapping[int, int]] = []
    for expr in read.exprs:
        place = expr.substitute(values)
        if not all(place.is_affine_in(axis) for axis in axes):
            return None
        index = {i: factor for i, axis in enumerate(axes) if (factor := place.coefficient(axis))}
        if any(factor < 0 for factor in index.values()):
            return None
        if len(index) == 1 and draw.chance(50):  # the distance of elements says the factor as well
            index = dict.fromkeys(index, 1)
        if index:
            indices.append(index)
    return Argument(tuple(indices))
