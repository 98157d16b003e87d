"""Which loops of a kernel may run all their iterations at once: those that carry no dependence.

Two accesses to one buffer, a store among them, conflict where they can touch one element in two different iterations
of the loop. Subscripts are compared with the variables of the loop and of the loops inside it renamed on one side.
Equal subscripts mean `sum(coefficient * (atom - atom')) + rest == 0`; where the terms below the largest coefficient
cannot reach it, that atom must be equal on both sides (mixed-radix digits). A coefficient may be a symbol, too. The
answer is conservative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Atom, Compound, Expr, Key, Var, const, divide, var
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.loop.buffer_regions import BufferRegion, BufferRegionsOp

Root: TypeAlias = SSAValue
LARGEST_TABLE = 1 << 20
"""How many iterations of a loop are looked at one by one, at most."""


@dataclass(frozen=True)
class Access:
    """A load, a store, or a part of a buffer that an operation touches as a whole: which memory, through which view, at
    which subscripts over loop variables.

    `facts` are expressions that are not negative where the access takes place: guards, bounds of loops, lane counts.
    """

    op: LoadOp | StoreOp | BufferRegionsOp
    is_store: bool
    root: Root
    view: tuple[object, ...]
    subscripts: tuple[Expr, ...]
    facts: tuple[Expr, ...]


class Dependences:
    """The accesses of a kernel at known symbols, and the ranges of its loop variables.

    `same` maps arguments whose memory overlaps to one of them; arguments in it are one view only if `identical`.
    """

    def __init__(
        self,
        kernel: KernelOp,
        symbols: Mapping[SSAValue, int],
        same: Mapping[SSAValue, SSAValue] | None = None,
        identical: bool = True,
    ):
        self._known = {key: const(value) for key, value in symbols.items()}
        self._same = same or {}
        self._identical = identical
        self.ranges: dict[Key, tuple[int, int]] = {}
        self._open: dict[Key, tuple[int | None, int | None]] = {}  # the ranges of which no more than one end is known
        self._domain = Domain()
        self.accesses: list[Access] = []
        for op in kernel.walk():
            if isinstance(op, ForOp):
                self._add_range(op)
            elif isinstance(op, LoadOp | StoreOp):
                self.accesses.append(self._access(op))
            elif isinstance(op, BufferRegionsOp):
                self.accesses += [self._part(op, i, part) for i, part in enumerate(op.buffer_regions)]

    def resolve(self, e: Expr) -> Expr:
        """An index expression over loop variables only, where constants and `loop.apply` allow.

        The variable of a loop with one iteration is the value that it has there.
        """
        known: dict[Key, Expr] = {}
        for key in e.variables():
            if isinstance(key, SSAValue) and key in self._known:
                known[key] = self._known[key]
            elif isinstance(key, SSAValue) and isinstance(key.owner, ApplyOp):
                known[key] = self.resolve(key.owner.value)
            elif isinstance(key, SSAValue) and isinstance(key.owner, arith.ConstantOp):
                known[key] = const(cast(IntegerAttr, key.owner.value).value.data)
        return e.substitute(known) if known else e

    def overwritten_by(self, loop: ForOp) -> set[StoreOp] | None:
        """None where an iteration of the loop may touch what another one stores: it carries a dependence.

        Else the stores, in general none, by which several iterations may write one element that nothing in the loop
        reads: the last tile that is moved inwards does that. The order matters unless they write the same value.
        """
        found: set[StoreOp] = set()
        for access, is_alone in self.conflicts(loop):
            if not is_alone or not isinstance(access.op, StoreOp):
                return None
            found.add(access.op)
        return found

    def conflicts(self, loop: ForOp) -> Iterator[tuple[Access, bool]]:
        """The accesses that may touch an element that another iteration touches too, where one of the two writes it.

        With each comes whether nothing else in the loop touches its buffer: it is in conflict with itself then.
        """
        if loop.index in self._known:
            return  # there is no other iteration
        inside = [a for a in self.accesses if loop.is_ancestor(a.op) and not _is_inside(a.root, loop)]
        for root in dict.fromkeys(a.root for a in inside if a.is_store):
            accesses = [a for a in inside if a.root is root]
            for i, a in enumerate(accesses):
                if any(self._may_conflict(loop, a, b) for b in accesses[i:] if a.is_store or b.is_store):
                    yield a, len(accesses) == 1

    # -- facts

    def _add_range(self, loop: ForOp) -> None:
        lower, upper = self._domain.lower(self.resolve(loop.lower)), self._domain.upper(self.resolve(loop.upper))
        if lower is None or upper is None:
            self._open[loop.index] = (lower, None if upper is None else upper - 1)
            self._domain.add(loop.index, *self._open[loop.index])
            return
        if upper == lower + 1:
            self._known[loop.index] = const(lower)
        self.ranges[loop.index] = (lower, max(lower, upper - 1))
        self._domain.add(loop.index, *self.ranges[loop.index])

    def _access(self, op: LoadOp | StoreOp) -> Access:
        subscripts = [self.resolve(e) for e in op.exprs]
        facts = [self.resolve(e) for e in _facts(op)]
        accessed = op.result.type if isinstance(op, LoadOp) else op.value.type
        if isinstance(accessed, VectorType):
            lane = (op, "lane")
            self.ranges[lane] = (0, accessed.get_shape()[0] - 1)
            subscripts[-1] = subscripts[-1] + var(lane) * op.lane_stride
            if op.lane_count is not None:
                facts += [self.resolve(e) - 1 - var(lane) for e in _arguments(op.lane_count, "min")]
            if op.lane_first is not None:
                facts += [var(lane) - self.resolve(e) for e in _arguments(op.lane_first, "max")]
        return self._found(op, op.memref, isinstance(op, StoreOp), subscripts, facts)

    def _part(self, op: BufferRegionsOp, number: int, part: BufferRegion) -> Access:
        position = self.resolve(part.position)
        for axis, (extent, stride) in enumerate(zip(part.form.shape, part.strides, strict=True)):
            element = (op, number, axis)
            self.ranges[element] = (0, extent - 1)
            position = position + var(element) * stride
        return self._found(op, part.memref, part.form.is_written, [position], [self.resolve(e) for e in _facts(op)])

    def _found(
        self,
        op: LoadOp | StoreOp | BufferRegionsOp,
        buffer: SSAValue,
        is_store: bool,
        subscripts: Sequence[Expr],
        facts: Sequence[Expr],
    ) -> Access:
        useful = tuple(e for e in facts if len(e.terms) > 1)
        return Access(op, is_store, self.root(buffer), self._view(buffer), tuple(subscripts), useful)

    def root(self, value: SSAValue) -> Root:
        """The argument or allocation that a memref is a view of; one of them where arguments overlap."""
        while isinstance(value.owner, memref.ReinterpretCastOp | memref.CastOp):
            value = value.owner.operands[0]
        return self._same.get(value, value)

    def _view(self, value: SSAValue) -> tuple[object, ...]:
        """Equal for memrefs that are the same view of the same memory."""
        owner = value.owner
        if isinstance(owner, memref.ReinterpretCastOp):
            sizes = (owner.static_offsets, owner.static_sizes, owner.static_strides)
            dynamic = tuple(self.resolve(var(v)) for v in (*owner.offsets, *owner.sizes, *owner.strides))
            return (*self._view(owner.source), *sizes, dynamic)
        if isinstance(owner, memref.CastOp):
            return self._view(owner.source)
        return (self._same.get(value, value) if self._identical else value,)

    # -- pairs

    def _may_conflict(self, loop: ForOp, a: Access, b: Access) -> bool:
        if a.view != b.view:
            return True
        domain = Domain({**self.ranges, **self._open})
        for key, ends in {**self.ranges, **self._open}.items():
            domain.add(("'", key), *ends)

        def renamed(e: Expr) -> Expr:
            return e.rename(lambda key: key if _is_outside(key, loop) else ("'", key))

        differences = [f - renamed(g) for f, g in zip(a.subscripts, b.subscripts, strict=True)]
        facts = [*a.facts, *map(renamed, b.facts)]
        return not _Equalities(domain, differences, facts, renamed).separate(loop.index, self.ranges.get(loop.index))


class _Equalities:
    """What follows from several expressions being zero, and others (`facts`) not being negative.

    renamed: what an expression of one iteration is in the other.
    """

    def __init__(
        self, domain: Domain, differences: Sequence[Expr], facts: Sequence[Expr], renamed: Callable[[Expr], Expr]
    ):
        self.domain = domain
        self.renamed = renamed
        self.facts: list[Expr] = list(facts)
        self.differences: list[Expr] = list(differences)
        self.digits: list[Expr] = []
        self.joined: list[Expr] = []
        self.impossible = False

    def separate(self, index: SSAValue, range_: tuple[int, int] | None) -> bool:
        """Whether they are never zero for two different values of `index`, `("'", index)` being its other value."""
        progress = True
        while progress and not self.impossible:
            equal = dict(self._equal_variables())
            if index in equal.values():
                return True
            values: dict[Key, Expr] = {k: var(v) for k, v in equal.items()}
            self.differences = [e.substitute(values) for e in self.differences]
            self.facts = [e.substitute(values) for e in self.facts]
            progress = self._join_digits() or bool(equal)
        return self.impossible or self._digits_tell(index, range_)

    def _equal_variables(self) -> Iterator[tuple[Key, Key]]:
        """Renamed variables that must equal their originals."""
        for difference in self.differences:
            for delta in self._peel(difference):
                pair = self._twins(delta)
                if pair is None:
                    continue
                if isinstance(pair, Var):
                    yield ("'", pair.key), pair.key
                else:
                    self.digits.append(Expr(((pair, 1),), 0))

    def _join_digits(self) -> bool:
        """`x` is equal on both sides where `x floordiv d` and `x mod d` are; whether that is new of any `x`."""
        joined: list[Expr] = []
        for digit in self.digits:
            [(atom, _)] = digit.terms
            if isinstance(atom, Compound) and atom.kind == "mod":
                x, d = atom.args
                if x // d in self.digits and self.renamed(d) == d:
                    joined.append(x - self.renamed(x))
        new = [e for e in joined if e not in self.joined]
        self.joined += new
        self.differences += new
        return bool(new)

    def _twins(self, delta: Expr) -> Atom | None:
        """The atom x of an expression that is x - x' or x' - x."""
        if len(delta.terms) != 2 or delta.offset or {c for _, c in delta.terms} != {1, -1}:
            return None
        for (x, _), (y, _) in (delta.terms, delta.terms[::-1]):
            if isinstance(x, Var) and isinstance(y, Var) and y.key == ("'", x.key):
                return x
            if isinstance(x, Compound) and isinstance(y, Compound):
                if self.renamed(Expr(((x, 1),), 0)) == Expr(((y, 1),), 0):
                    return x
        return None

    def _peel(self, e: Expr) -> Iterator[Expr]:
        """Expressions that must be zero where `e` is: groups of terms, largest coefficient first."""
        low, high = self._lower(e), self._upper(e)
        if (low is not None and low > 0) or (high is not None and high < 0):
            self.impossible = True
            return
        while e.terms:
            split = self._split_by_symbol(e) or self._split_by_number(e)
            if split is None:
                return
            group, e = split
            yield group
        self.impossible |= e.offset != 0

    def _split_by_number(self, e: Expr) -> tuple[Expr, Expr] | None:
        """`(q, r)` with `e == d * q + r` and `-d < r < d` for the largest coefficient `d`: both are zero."""
        size = max(abs(c) for _, c in e.terms)
        group = Expr(tuple((atom, c // size) for atom, c in e.terms if abs(c) == size), 0)
        rest = e - group * size
        low, high = self._lower(rest), self._upper(rest)
        return None if low is None or high is None or low <= -size or high >= size else (group, rest)

    def _split_by_symbol(self, e: Expr) -> tuple[Expr, Expr] | None:
        """The same for a factor `d` of a product in `e` that is one value in both iterations."""
        products = [atom for atom, _ in e.terms if isinstance(atom, Compound) and atom.kind == "product"]
        for d in dict.fromkeys(d for atom in products for d in atom.args if self.renamed(d) == d):
            quotient, rest = divide(e, d)
            if rest != e and all(self._is_negative(side - d) for side in (rest, -rest)):
                return quotient, rest
        return None

    def _is_negative(self, e: Expr) -> bool:
        high = self._upper(e)
        return high is not None and high < 0

    def _lower(self, e: Expr) -> int | None:
        high = self._upper(-e)
        return None if high is None else -high

    def _upper(self, e: Expr) -> int | None:
        """`e <= e + k * fact` for every k > 0: the multiples that cancel terms of `e` may give a lower bound."""
        best = self.domain.upper(e)
        for fact in self.facts:
            shared = dict(e.terms)
            factors = {-shared[atom] // c for atom, c in fact.terms if atom in shared and shared[atom] % c == 0}
            for factor in sorted(f for f in factors if f > 0):
                larger: Expr = e + fact * factor
                bound = self.domain.upper(larger)
                if bound is not None and (best is None or bound < best):
                    best, e = bound, larger
        return best

    def _digits_tell(self, index: SSAValue, range_: tuple[int, int] | None) -> bool:
        """Whether the quotients and remainders found equal, of `index` alone, differ for all its values."""
        digits = [d for d in self.digits if d.variables() == (index,)]
        if not digits or range_ is None or range_[1] - range_[0] >= LARGEST_TABLE:
            return False
        values = np.arange(range_[0], range_[1] + 1)
        table = np.stack([np.broadcast_to(d.evaluate({index: values}), values.shape) for d in digits])
        return len(np.unique(table, axis=1).T) == len(values)


def _facts(op: Operation) -> Iterator[Expr]:
    """What the loops and conditions around an operation say: expressions that are not negative."""
    child, parent = op, op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            for lower in _arguments(parent.lower, "max"):
                yield var(parent.index) - lower
            for upper in _arguments(parent.upper, "min"):
                yield upper - 1 - var(parent.index)
        elif isinstance(parent, IfOp) and child.parent_region() is parent.then_body:
            for p in parent.conditions:
                yield p.expr
                if p.kind == "==":
                    yield -p.expr
        child, parent = parent, parent.parent_op()


def _arguments(e: Expr, kind: str) -> Sequence[Expr]:
    """The arguments of an expression that is one `min` or `max`; else the expression itself."""
    if len(e.terms) == 1 and not e.offset and e.terms[0][1] == 1:
        atom = e.terms[0][0]
        if isinstance(atom, Compound) and atom.kind == kind:
            return atom.args
    return (e,)


def _is_outside(key: Key, loop: ForOp) -> bool:
    """Whether a variable has one value for all iterations of the loop."""
    return isinstance(key, SSAValue) and not loop.is_ancestor(key.owner)


def _is_inside(root: Root, loop: ForOp) -> bool:
    owner = root.owner
    return isinstance(owner, Operation) and loop.is_ancestor(owner)
