"""Comprehensions of what comprehensions make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import ComprehensionOp, bag_of
from tilework.transforms.bag.row_function import RowFunction
from tilework.transforms.bag.straight_line import copied
from tilework.transforms.bag.types_behind import infer_behind
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class Unnest(PatternPass):
    """Let a comprehension go through the tables of another one, instead of through what that makes.

        %u = bag.comprehension %t {keeps = [["a"]], guards = 1, ...} { p }
        %v = bag.comprehension %u {reads = [["a"]], guards = 1, writes = ["b"], ...} { q; f }
    ->
        %v = bag.comprehension %t {reads = [["a"]], guards = 2, writes = ["b"], ...} { p, q; f }

    Guards and heads of both are one function. Requires nothing; a table that somebody else reads, too, is made
    nevertheless. Columns that the inner one made and the outer one keeps stand behind the others afterwards.
    """

    name = "bag-unnest"
    inserted_too: ClassVar = True


class UnnestGenerator(RewritePattern):
    """{ h(y) | y in { g(x) | x in t, p }, q(y) } is { h(g(x)) | x in t, p, q(g(x)) }, if the inner is read once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComprehensionOp, rewriter: PatternRewriter) -> None:
        for place, table in enumerate(op.tables):
            inner = table.owner
            if not isinstance(inner, ComprehensionOp) or len(list(table.uses)) != 1:
                continue
            if op.rows is None and inner.rows is not None and len(op.tables) > 1:
                continue  # the number of rows would be a product that nobody has named
            made = _unnested(op, place, inner)
            rewriter.replace(op, made)
            rewriter.erase(inner)
            infer_behind(made.result)
            return


def _unnested(op: ComprehensionOp, place: int, inner: ComprehensionOp) -> ComprehensionOp:
    """One comprehension through all other tables, and those of the inner one in its place."""
    tables = [*op.tables[:place], *inner.tables, *op.tables[place + 1 :]]
    row = RowFunction(*map(bag_of, tables))
    own = _values(inner, row, {i: place + i for i in range(len(inner.tables))}, {})
    inner_guards = inner.guards.value.data
    written = dict(zip(inner.written, own[inner_guards:], strict=True))
    source = {name: place + i for i, names in enumerate(inner.kept) for name in names if name not in written}
    known = {
        argument: written[name] if name in written else row.column(name, source[name])
        for argument, (table, name) in op.places.items()
        if table == place
    }
    shift = len(inner.tables) - 1
    outside = {i: i if i < place else i + shift for i in range(len(op.tables)) if i != place}
    values = _values(op, row, outside, known)
    guards = op.guards.value.data
    head = {name: written[name] for name in op.kept[place] if name in written}
    head |= dict(zip(op.written, values[guards:], strict=True))
    kept = op.kept
    inside = [[name for name in kept[place] if source.get(name) == place + i] for i in range(len(inner.tables))]
    rows = op.rows or inner.rows
    region = row.region([*own[:inner_guards], *values[:guards], *head.values()])
    return ComprehensionOp.holding(
        tables,
        row.scalars,
        region,
        reads=[row.reads_of(i) for i in range(len(tables))],
        keeps=[*kept[:place], *inside, *kept[place + 1 :]],
        guards=inner_guards + guards,
        writes=[*head],
        rows=None if rows is None else rows.data,
    )


def _values(
    op: ComprehensionOp, row: RowFunction, tables: dict[int, int], known: dict[SSAValue, SSAValue]
) -> list[SSAValue]:
    """What the function of a comprehension makes, whose tables are these of another one."""
    values = dict(known)
    for argument, (table, name) in op.places.items():
        if argument not in values:
            values[argument] = row.column(name, tables[table])
    shared = op.body.block.args[len(op.body.block.args) - len(op.scalars) :]
    values |= {argument: row.scalar(scalar) for argument, scalar in zip(shared, op.scalars, strict=True)}
    return copied(op.yielded, values, row.block)
