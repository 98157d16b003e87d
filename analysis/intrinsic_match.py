"""Whether a nest of loops does what an intrinsic on buffers does, and with which parts of which buffers.

The meaning of the intrinsic and the nest are compared as expressions: operators that commute have their operands in any
order, and the loops may be in any order too. Which loop is which axis of the meaning, the distances say by which the
accesses move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from operator import le
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.analysis.accesses import memory_space, root_buffer
from tilework.analysis.loop_nest import LoopNest, NoNest, ShortNest, Steps, buffer_name
from tilework.dialects import arith
from tilework.dialects.loop import LoadOp
from tilework.dialects.loop.buffer_regions import BufferRegion, Form
from tilework.dialects.support.memory_scopes import has_no_addresses
from tilework.dialects.support.shapes import scalar_type
from tilework.dialects.te import ReadOp, ReduceOp
from tilework.dialects.te.intrinsic import RESULT, IntrinsicOp
from tilework.dialects.te.intrinsics import declaration_of
from tilework.dialects.te.joining import identity, joining_op

Loads: TypeAlias = dict[ReadOp, LoadOp]
"""Which load of a nest is which read of the meaning."""

_COMMUTE = (
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
    *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
)


class Match(NamedTuple):
    """What nests are: an intrinsic, and the parts of the result and of the arguments."""

    intrinsic: IntrinsicOp
    parts: list[BufferRegion]


def matched(nests: Sequence[LoopNest], intrinsic: IntrinsicOp) -> list[Match]:
    """The intrinsics that one nest or two are, in order. Raises NoNest, which says where nests and meaning differ.

    Of two, the first one sets elements to the identity of a reduction, and the second one is the reduction. Both are
    one intrinsic that begins by itself with the identity, or that which resets the result, and one that accumulates.
    """
    *first, nest = nests
    update = _Matching(nest, intrinsic)
    if not first:
        if intrinsic.compute.reduction and intrinsic.accumulates is None:
            raise NoNest(update.differing("the nest is to set the result to the identity first, which it does not"))
        return [Match(intrinsic, update.parts())]
    if not intrinsic.compute.reduction:
        raise NoNest(update.differing("there are two nests, and the intrinsic is no reduction"))
    parts = update.parts()
    if intrinsic.accumulates is None:
        _require_reset(first[0], update, parts[0])
        return [Match(intrinsic, parts)]
    if intrinsic.reset is None:
        message = "the nest sets the result to the identity first, and the declaration names no 'reset' that does"
        raise NoNest(update.differing(message))
    reset = declaration_of(intrinsic, intrinsic.reset.root_reference.data)
    return [Match(reset, _Matching(first[0], reset).parts()), Match(intrinsic, parts)]


def _require_reset(nest: LoopNest, update: _Matching, result: BufferRegion) -> None:
    """Raise NoNest where a nest does not set all of the result to the identity of the reduction."""
    last = update.intrinsic.compute.terminator
    assert isinstance(last, ReduceOp)
    stored = nest.store.value.owner
    wanted = identity(cast(StringAttr, last.kind).data, last.values[0].type)
    if not isinstance(stored, arith.ConstantOp) or _said(stored) != _said(arith.ConstantOp(wanted)):
        raise NoNest(update.differing(f"the result is to be set to {_number_text(wanted)} first"))
    spatial, access = len(update.intrinsic.compute.spatial), nest.steps(nest.store)
    axes, extents = update.axes[:spatial], update.extents[:spatial]
    for order in permutations(range(len(nest.loops))):
        if [nest.trips[i] for i in order] == extents:
            moves = dict(zip(axes, (access.steps[i] for i in order), strict=True))
            strides = _solved(update.result, moves)
            if (access.access.memref, access.start) == (result.memref, result.position) and strides is not None:
                if tuple(strides) == result.strides:
                    return
    raise NoNest(update.differing(f"another part is set to {_number_text(wanted)} first: {nest.text_of(nest.store)}"))


@dataclass(frozen=True)
class _Access:
    """How the meaning accesses a buffer: at these indices, over the names of its axes."""

    indices: tuple[Expr, ...]
    want: MemRefType[Attribute]

    def strides(self) -> list[int | None]:
        """How many elements apart they are to be along each dimension; None for any distance."""
        rank = len(self.want.get_shape())
        if isinstance(self.want.layout, StridedLayoutAttr):
            return list(self.want.layout.get_strides())
        return [None] * (rank - 1) + [1] * min(rank, 1)


class _Matching:
    """A nest, and the meaning that it is compared with: of a reduction, what is joined to what is there."""

    def __init__(self, nest: LoopNest, intrinsic: IntrinsicOp):
        self.nest = nest
        self.intrinsic = intrinsic
        compute = intrinsic.compute
        self.axes = [name for name, _ in (*compute.spatial, *compute.reduction)]
        self.extents = [e.offset for _, e in (*compute.spatial, *compute.reduction)]
        self.result = _Access(tuple(var(name) for name, _ in compute.spatial), intrinsic.wants[-1])

    def parts(self) -> list[BufferRegion]:
        """The part of the result, then those of the arguments. Raises NoNest, which says where the two differ."""
        ways = list(self.ways())
        if not ways:
            raise NoNest(self.differing("what is stored differs"))
        if sorted(self.nest.trips) != sorted(self.extents):
            kind = ShortNest if self.is_short() else NoNest
            raise kind(self.differing(f"the loops differ{self.remedy(ways)}"))
        reason: NoNest | None = None
        for loads in ways:
            for order in permutations(range(len(self.nest.loops))):
                if [self.nest.trips[i] for i in order] == self.extents:
                    try:
                        return self.bound(order, loads)
                    except NoNest as error:
                        reason = reason or error
        raise reason or NoNest(self.differing("the loops differ"))

    def is_short(self) -> bool:
        """Whether the loops run fewer times than those of the meaning: a loop of one iteration is none any more."""
        trips, extents = sorted(self.nest.trips, reverse=True), sorted(self.extents, reverse=True)
        return len(trips) <= len(extents) and all(map(le, trips, extents))

    def remedy(self, ways: Sequence[Loads]) -> str:
        """How the loops would have to be split and ordered to be those of the meaning; nothing where no way is seen."""
        loops = range(len(self.nest.loops))
        for loads in ways:
            for order in permutations(loops, len(self.axes)):
                if any(self.nest.trips[i] % extent for i, extent in zip(order, self.extents, strict=True)):
                    continue
                try:
                    self.bound(order, loads)
                except NoNest:
                    continue
                names = [loop.axis.data for loop in self.nest.loops]
                chosen = zip(order, self.extents, strict=True)
                splits = [f"split '{names[i]}' by {n}" for i, n in chosen if self.nest.trips[i] != n]
                outside = [f"'{names[i]}'" for i in loops if i not in order]
                moved = [f"put {', '.join(outside)} outside of them"] if outside else []
                return f" ({', '.join([*splits, *moved])}, and tensorize the inner loops)"
        return ""

    # -- what is computed

    def ways(self) -> Iterator[Loads]:
        """The ways to see the meaning in what the nest stores."""
        last, value = self.intrinsic.compute.terminator, self.nest.store.value
        if not isinstance(last, ReduceOp):
            yield from self.seen(last.values[0], value, {})
            return
        joined = value.owner
        if isinstance(joined, Operation) and type(joined) is joining_op(last):
            for before, term in (joined.operands, joined.operands[::-1]):
                if self.is_before(before):
                    yield from self.seen(last.values[0], term, {})

    def is_before(self, value: SSAValue) -> bool:
        """Whether a value is what is in the element that is stored."""
        load, store = value.owner, self.nest.store
        if not isinstance(load, LoadOp) or load not in self.nest.value_ops:
            return False
        return (load.memref, load.exprs) == (store.memref, store.exprs)

    def seen(self, meaning: SSAValue, value: SSAValue, loads: Loads) -> Iterator[Loads]:
        """The ways to see a value of the meaning in one of the nest, with these loads known."""
        one, other = meaning.owner, value.owner
        assert isinstance(one, Operation)
        if meaning.type != value.type or not isinstance(other, Operation):
            return
        if isinstance(one, ReadOp):
            if isinstance(other, LoadOp) and other in self.nest.value_ops and loads.get(one, other) is other:
                yield {**loads, one: other}
        elif type(one) is type(other) and _said(one) == _said(other):
            orders = [list(other.operands)]
            if isinstance(one, _COMMUTE):
                orders.append(orders[0][::-1])
            for operands in orders:
                yield from self.all_seen(list(one.operands), operands, loads)

    def all_seen(self, meanings: Sequence[SSAValue], values: Sequence[SSAValue], loads: Loads) -> Iterator[Loads]:
        """The same for several values."""
        if not meanings:
            yield loads
            return
        for found in self.seen(meanings[0], values[0], loads):
            yield from self.all_seen(meanings[1:], values[1:], found)

    # -- where it is

    def bound(self, order: Sequence[int], loads: Loads) -> list[BufferRegion]:
        """The parts, if loop number `order[i]` is axis number i. Raises NoNest where it is not."""
        wants = self.intrinsic.wants
        found = {-1: self.part(self.result, self.nest.steps(self.nest.store), order, is_result=True)}
        for read, load in loads.items():
            number = _number(read)
            part = self.part(_Access(read.exprs, wants[number]), self.nest.steps(load), order, is_result=False)
            if root_buffer(part.memref) is root_buffer(found[-1].memref):
                raise NoNest(f"the nest reads {buffer_name(part.memref)} while it writes it, which intrinsics do not")
            if found.setdefault(number, part) != part:
                raise NoNest(self.differing(f"{buffer_name(part.memref)} and another part stand for one argument"))
        return [found[number] for number in sorted(found)]

    def part(self, meaning: _Access, access: Steps, order: Sequence[int], is_result: bool) -> BufferRegion:
        """The part that an access reaches."""
        name, memref = buffer_name(access.access.memref), access.access.memref
        moves = {axis: access.steps[loop] for axis, loop in zip(self.axes, order, strict=True)}
        strides = _solved(meaning, moves)
        if strides is None:
            raise NoNest(self.differing(f"{name} moves otherwise, by {_moves(moves)}"))
        wanted, space = meaning.want.memory_space, memory_space(memref)
        if isinstance(wanted, StringAttr) and space != wanted.data:
            raise NoNest(f'{name} is to be of scope "{wanted.data}", and is {memref.type}')
        if isinstance(wanted, NoneAttr) and has_no_addresses(space):
            raise NoNest(f"{name} is to be in memory, and registers have no addresses: {memref.type}")
        offset = sum((s * e.offset for s, e in zip(strides, meaning.indices, strict=True)), 0)
        is_read = not is_result or self.intrinsic.accumulates is not None
        element, is_register = scalar_type(memref.type), has_no_addresses(space)
        form = Form(tuple(meaning.want.get_shape()), element, is_register, is_read, is_result)
        part = BufferRegion(memref, access.start - offset, tuple(strides), form)
        if (is_result or is_register) and part.overlaps_itself:
            raise NoNest(f"elements of {name} would have one place: strides {strides} for shape {list(form.shape)}")
        return part

    # -- messages

    def differing(self, reason: str) -> str:
        """A reason with both sides behind it."""
        compute, store = self.intrinsic.compute, self.nest.store
        last, names = compute.terminator, ", ".join(name for name, _ in compute.spatial)
        stored = _text(last.values[0], _meaning_leaf)
        if isinstance(last, ReduceOp):
            stored = f"{_short(joining_op(last).name)}({RESULT}[{names}], {stored})"
        expected = f"{RESULT}[{names}] = {stored} : {last.values[0].type}"
        found = f"{self.nest.text_of(store)} = {_text(store.value, self._nest_leaf)} : {store.value.type}"
        axes = _listed(self.axes, self.extents)
        loops = _listed([loop.axis.data for loop in self.nest.loops], self.nest.trips)
        return f"{reason}: expected {expected}{axes}; found {found}{loops}"

    def _nest_leaf(self, op: Operation) -> str | None:
        return self.nest.text_of(op) if isinstance(op, LoadOp) else None


def _number(read: ReadOp) -> int:
    assert isinstance(read.tensor, BlockArgument)
    return read.tensor.index


def _said(op: Operation) -> Mapping[str, object]:
    """What an operation says besides its operands, flags about rounding apart. Numbers have their sign, zeros too."""
    said: dict[str, object] = {}
    for key, value in (op.properties | op.attributes).items():
        if key not in ("fastmath", "fastmathFlags", "overflowFlags"):
            said[key] = repr(value.value.data) if isinstance(value, FloatAttr | IntegerAttr) else value
    return said


def _solved(meaning: _Access, moves: Mapping[str, int]) -> list[int] | None:
    """The strides with which an access moves so; None where there are none."""
    strides, shape = meaning.strides(), meaning.want.get_shape()
    if not all(e.is_affine_in(axis) for e in meaning.indices for axis in moves):
        return None
    pending = dict(moves)
    while pending:
        told: set[str] = set()
        for axis, move in pending.items():
            factors = {d: c for d, e in enumerate(meaning.indices) if (c := e.coefficient(axis)) != 0}
            unknown = [d for d in factors if strides[d] is None]
            if len(unknown) > 1:
                continue
            told.add(axis)
            rest = move - sum(c * cast(int, strides[d]) for d, c in factors.items() if strides[d] is not None)
            if not unknown and rest != 0:
                return None
            if unknown:
                stride, left = divmod(rest, factors[unknown[0]])
                if left or stride < 1:
                    return None
                strides[unknown[0]] = stride
        if not told:
            return None
        pending = {axis: move for axis, move in pending.items() if axis not in told}
    if any(stride is None and extent != 1 for stride, extent in zip(strides, shape, strict=True)):
        return None
    return [stride or 1 for stride in strides]  # of one element, any stride does


# -- text


def _text(value: SSAValue, leaf: object) -> str:
    op = value.owner
    if not isinstance(op, Operation):
        return "an argument"
    told = leaf(op) if callable(leaf) else None
    if told is not None:
        return str(told)
    if isinstance(op, arith.ConstantOp):
        return _number_text(op.value)
    return f"{_short(op.name)}({', '.join(_text(operand, leaf) for operand in op.operands)})"


def _meaning_leaf(op: Operation) -> str | None:
    return f"{op.tensor.name_hint}[{', '.join(map(str, op.exprs))}]" if isinstance(op, ReadOp) else None


def _number_text(number: Attribute) -> str:
    return str(number.value.data) if isinstance(number, FloatAttr | IntegerAttr) else str(number)


def _short(name: str) -> str:
    return name.partition(".")[2]


def _listed(names: Sequence[str], extents: Sequence[int]) -> str:
    listed = ", ".join(f"{name} < {extent}" for name, extent in zip(names, extents, strict=True))
    return f" for {listed}" if listed else ""


def _moves(moves: Mapping[str, int]) -> str:
    return ", ".join(f"{move} with {axis}" for axis, move in moves.items())
