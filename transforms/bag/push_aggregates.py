"""Sums of joined rows are sums of the rows of each table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, StringAttr, f64
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.bag import AttachOp, FilterOp, FoldOp, JoinOp, YieldOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.transforms.bag.straight_line import copied, needed_for
from tilework.transforms.patterns import PatternPass

COUNT = "pairs@"
"""The column that says with how many rows of the left table a row of the right one is joined."""


@dataclass(frozen=True)
class PushAggregates(PatternPass):
    """Let the left table of a join be summed by key, so that no pair of rows is made.

        %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["e"]}
        %s = bag.fold %j {reads = ["a", "e"], kinds = ["add"]} { a * e }
    ->
        %n, %a = bag.fold %l {reads = ["a"], kinds = ["add", "add"], by = "c"} { 1, a }
        %t = bag.attach %r, %n, %a {by = "d", writes = ["n", "sum"]}
        %u = bag.filter %t {reads = ["n"]} { n > 0 }
        %s = bag.fold %u {reads = ["e", "sum"], kinds = ["add"]} { sum * e }

    So a large table is read once, and only its groups meet the small one. Each number has to be of one row of both, or
    a product of one of each; the least and the greatest are of one row alone. It reassociates: sums are added in
    another order, and what becomes of infinite numbers may differ where products of them with 0 are summed.
    """

    name = "bag-push-aggregates"
    inserted_too: ClassVar = True


class FoldOfJoined(RewritePattern):
    """sum(f(x) g(y) | (x, y) in join(a, b)) is sum(g(y) s(y.k) | y in b), where s sums f by key."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FoldOp, rewriter: PatternRewriter) -> None:
        join = op.input.owner
        if not isinstance(join, JoinOp) or op.group is not None:
            return
        sides = _Sides(op, join)
        factors = [sides.factors(kind.data, value) for kind, value in zip(op.kinds, op.yielded, strict=True)]
        found = [each for each in factors if each is not None]
        if len(found) < len(factors):
            return
        left = sides.fold_left([factor for factor, _ in found])
        names = [COUNT, *(f"{kind.data}@{i}" for i, kind in enumerate(op.kinds))]
        writes = ArrayAttr([StringAttr(name) for name in names])
        attached = AttachOp.of(join.right, *left.results, by=StringAttr(join.keys[1]), writes=writes)
        paired = FilterOp.by(attached.result, [COUNT], [], _is_paired, rows=join.rows)
        right = sides.fold_right(paired.result, [factor for _, factor in found], names[1:])
        rewriter.replace(op, [left, attached, paired, right], right.results)


Factor = SSAValue | None
"""A number of one row of a pair; None for a factor that is not there."""


class _Sides:
    """The function of a fold of pairs, in parts that read one of both rows."""

    def __init__(self, op: FoldOp, join: JoinOp):
        self._op = op
        self._join = join
        self._arguments = [*op.body.block.args]
        self._columns: dict[SSAValue, str] = dict(zip(self._arguments, op.names, strict=False))

    def factors(self, kind: str, value: SSAValue) -> tuple[Factor, Factor] | None:
        """The factors of a number that are of the left row and of the right one; None where there are no such."""
        sides = self._sides(value)
        if sides == {0} or not sides:
            return value, None
        if sides == {1}:
            return None, value
        product = value.owner
        if kind != "add" or not isinstance(product, arith.MulfOp):
            return None
        a, b = product.lhs, product.rhs
        if (self._sides(a), self._sides(b)) == ({1}, {0}):
            a, b = b, a
        return (a, b) if (self._sides(a), self._sides(b)) == ({0}, {1}) else None

    def fold_left(self, factors: Sequence[Factor]) -> FoldOp:
        """How many rows there are of each key, and what is joined of each."""
        pairs = zip(factors, self._op.kinds, strict=True)
        kinds = ["add", *("add" if factor is None else kind.data for factor, kind in pairs)]
        values = [value for value in factors if value is not None]
        names, scalars, block, known = self._function(values, {})
        one = arith.ConstantOp(FloatAttr(1.0, f64))
        block.add_op(one)
        made = iter(copied(values, known, block))
        block.add_op(YieldOp([one.result, *(one.result if f is None else next(made) for f in factors)]))
        by = StringAttr(self._join.keys[0])
        return FoldOp.holding(self._join.left, names, scalars, Region(block), kinds=_strings(kinds), by=by)

    def fold_right(self, table: SSAValue, factors: Sequence[Factor], groups: Sequence[str]) -> FoldOp:
        """What is joined of the rows of the right table, given what is known of the left ones of each."""
        values = [value for value in factors if value is not None]
        names, scalars, block, known = self._function(values, self._join.taken)
        made = iter(copied(values, known, block))
        results: list[SSAValue] = []
        for kind, factor, group in zip(self._op.kinds, factors, groups, strict=True):
            if factor is not None and kind.data != "add":
                results.append(next(made))
                continue
            joined: SSAValue = block.insert_arg(f64, len(names))
            names.append(group)
            if factor is not None:
                product = arith.MulfOp(joined, next(made))
                block.add_op(product)
                joined = product.result
            results.append(joined)
        block.add_op(YieldOp(results))
        return FoldOp.holding(table, names, scalars, Region(block), kinds=self._op.kinds)

    def _sides(self, value: SSAValue) -> set[int]:
        """The rows that a value reads columns of: 0 is the left one, 1 the right one."""
        names = [self._columns[v] for v in needed_for([value]) if v in self._columns]
        return {int(name in self._join.taken) for name in names}

    def _function(
        self, values: Sequence[SSAValue], taken: dict[str, str]
    ) -> tuple[list[str], list[SSAValue], Block, dict[SSAValue, SSAValue]]:
        """The columns and scalars that values need, and a block with an argument for each."""
        needed = needed_for(values)
        columns = [v for v in self._arguments if v in needed and v in self._columns]
        behind = self._arguments[len(self._columns) :]
        shared: dict[SSAValue, SSAValue] = dict(zip(behind, self._op.scalars, strict=True))
        inner = [v for v in shared if v in needed]
        block = Block(arg_types=[v.type for v in (*columns, *inner)])
        known: dict[SSAValue, SSAValue] = dict(zip((*columns, *inner), block.args, strict=True))
        names = [taken.get(self._columns[v], self._columns[v]) for v in columns]
        return names, [shared[v] for v in inner], block, known


def _is_paired(k: KernelBuilder, count: Scalar) -> Sequence[Scalar]:
    return [count.compare("gt", k.constant(0.0, f64))]


def _strings(names: Sequence[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(name) for name in names])
