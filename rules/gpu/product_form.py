"""Reductions that are products: of matrices, of many matrices, convolutions, convolutions of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import BlockArgument, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr, Key, var
from tilework.analysis.sizes import bits_of
from tilework.dialects.te import ComputeOp, ReadOp, ReduceOp


@dataclass(frozen=True)
class Operand:
    """A factor. source: the stage that makes it, or the number of an argument.

    batch, own, summed: the axes of the product that say which element is read, by what they are to it: those of all
    factors, those that the other factor lacks, and those that are summed along. along_sum: whether elements that lie
    side by side are summed. has_windows: whether an index adds up axes of both kinds.
    """

    source: str | int
    batch: tuple[str, ...]
    own: tuple[str, ...]
    summed: tuple[str, ...]
    along_sum: bool
    has_windows: bool
    bits: int


@dataclass(frozen=True)
class Grouping:
    """An axis of the product that goes through groups, each of `count` elements that have one factor in common."""

    axis: str
    count: int

    @property
    def names(self) -> tuple[str, str]:
        """The axes that it is split into."""
        return f"{self.axis}.outer", f"{self.axis}.inner"


@dataclass(frozen=True)
class Product:
    """sums[batch.., row.., column..] = sum over summed.. of left[batch.., row.., summed..] * right[batch.., column..,
    summed..], in any order of the axes; the result's elements lie side by side along the last column.

    stage: its name. grouping: how an axis is split first. batch, rows, columns: axes, in the order of the result's.
    extents: of all of them, and of those summed along.
    """

    stage: str
    grouping: Grouping | None
    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    extents: Mapping[str, int]
    left: Operand
    right: Operand

    def count(self, axes: Sequence[str]) -> int:
        """How many points these axes have."""
        points = 1
        for axis in axes:
            points *= self.extents[axis]
        return points

    @property
    def summed(self) -> tuple[str, ...]:
        """The axes that are summed along."""
        spatial = {*self.batch, *self.rows, *self.columns}
        return tuple(axis for axis in self.extents if axis not in spatial)


def product_of(compute: ComputeOp) -> Product | None:
    """The form of a reduction; None for one that has another, or whose sizes are not known."""
    last = compute.terminator
    if not isinstance(last, ReduceOp) or last.kind != StringAttr("add") or last.where is not None:
        return None
    if len(compute.results) != 1 or any(not e.constant for _, e in (*compute.spatial, *compute.reduction)):
        return None
    factors = _factors(compute)
    return None if factors is None else _Form(compute, *factors).form()


def _factors(compute: ComputeOp) -> tuple[ReadOp, ReadOp] | None:
    """The elements of two tensors that are multiplied; all else that is read is the same for all sums."""
    names = {name for name, _ in (*compute.spatial, *compute.reduction)}
    moving: dict[tuple[SSAValue, tuple[Expr, ...]], ReadOp] = {}
    for read in compute.reads:
        keys = {key for e in read.exprs for key in e.variables()}
        if read.parent_op() is not compute or not keys <= names:
            return None
        if keys:
            moving.setdefault((read.tensor, tuple(read.exprs)), read)
    if len(moving) != 2:
        return None
    one, other = moving.values()
    return None if one.tensor is other.tensor else (one, other)


class _Form:
    """Reads off the form of a reduction of two factors."""

    def __init__(self, compute: ComputeOp, one: ReadOp, other: ReadOp):
        self.compute = compute
        self.reads = one, other
        self.spatial = {name: e.constant or 0 for name, e in compute.spatial}
        self.summed = {name: e.constant or 0 for name, e in compute.reduction}
        self.exprs = [tuple(read.exprs) for read in self.reads]
        self.grouping: Grouping | None = None

    def form(self) -> Product | None:
        self.split_groups()
        used = [{key for e in exprs for key in e.variables()} for exprs in self.exprs]
        if any(extent > 1 and not (name in used[0] and name in used[1]) for name, extent in self.summed.items()):
            return None
        batch = tuple(name for name in self.spatial if name in used[0] and name in used[1])
        own = [tuple(n for n in self.spatial if n in keys and n not in batch) for keys in used]
        left_over = [name for name in self.spatial if name not in used[0] | used[1]]
        if any(self.spatial[name] > 1 for name in left_over) or not all(own):
            return None
        last = max((name for name, extent in self.spatial.items() if extent > 1), key=self._place, default="")
        columns = next((at for at in (0, 1) if last in own[at]), None)
        if columns is None:
            return None
        operands = [self.operand(at, batch, own[at]) for at in (1 - columns, columns)]
        rows = tuple(n for n in self.spatial if n in own[1 - columns] or n in left_over)
        extents = {**self.spatial, **self.summed}
        name = self.compute.stage.data
        return Product(name, self.grouping, batch, rows, own[columns], extents, operands[0], operands[1])

    def _place(self, axis: str) -> int:
        return list(self.spatial).index(axis)

    def split_groups(self) -> None:
        """Split an axis of which one factor reads the same element for several of its points at a time."""
        for axis, extent in list(self.spatial.items()):
            counts = {count for exprs in self.exprs for count in _quotients(exprs, axis)}
            if len(counts) != 1:
                continue
            grouping = Grouping(axis, counts.pop())
            outer, inner = grouping.names
            if extent % grouping.count or grouping.count == 1:
                continue
            inside = Domain({outer: (0, extent // grouping.count - 1), inner: (0, grouping.count - 1)})
            place = {axis: grouping.count * var(outer) + var(inner)}
            split = [tuple(inside.simplify(e.substitute(place)) for e in exprs) for exprs in self.exprs]
            if all(any(inner in e.variables() for e in exprs) for exprs in split):
                continue  # both differ from point to point all the same
            self.grouping, self.exprs = grouping, split
            sizes = {outer: extent // grouping.count, inner: grouping.count}
            parts = [(sizes if n == axis else {n: e}) for n, e in self.spatial.items()]
            self.spatial = {n: e for part in parts for n, e in part.items()}
            return

    def operand(self, at: int, batch: Sequence[str], own: Sequence[str]) -> Operand:
        read, exprs = self.reads[at], self.exprs[at]
        used = {key for e in exprs for key in e.variables()}
        tensor = read.tensor
        source = tensor.index if isinstance(tensor, BlockArgument) else _maker(tensor).stage.data
        summed = tuple(name for name in self.summed if name in used)
        beside = _side_by_side(read, exprs)
        along_sum = not any(self.spatial[name] > 1 and name in beside for name in own)
        windows = any({*own} & {*e.variables()} and {*summed} & {*e.variables()} for e in exprs)
        batch = tuple(n for n in batch if n in used)
        return Operand(source, batch, tuple(own), summed, along_sum, windows, bits_of(tensor.type))


def _quotients(exprs: Sequence[Expr], axis: str) -> Iterator[int]:
    """Give the constants by which index expressions divide an axis."""
    for e in exprs:
        for atom, _ in e.terms:
            if isinstance(atom, Compound) and atom.kind == "floordiv" and atom.args[0] == var(axis):
                yield atom.args[1].constant or 1


def _maker(tensor: SSAValue) -> ComputeOp:
    """The stage that makes a tensor."""
    maker = tensor.owner
    assert isinstance(maker, ComputeOp)
    return maker


def _side_by_side(read: ReadOp, exprs: Sequence[Expr]) -> set[Key]:
    """The axes along which what is read lies side by side in the memory of what a stage is made of, if that only moves.

    exprs: the indices of the read.
    """
    tensor = read.tensor
    while not isinstance(tensor, BlockArgument):
        maker = _maker(tensor)
        inner = next((r for r in maker.reads if r.exprs), None)
        if maker.reduction or inner is None:
            break
        places = {name: e for (name, _), e in zip(maker.spatial, exprs, strict=True)}
        tensor, exprs = inner.tensor, [e.substitute(places) for e in inner.exprs]
    return {*exprs[-1].variables()} if exprs else set()
