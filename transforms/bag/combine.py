"""Comprehensions become filters, joins and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, StringAttr, f64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import ComprehensionOp, FilterOp, JoinOp, MapOp, YieldOp, bag_of, keys_compared
from tilework.transforms.bag.straight_line import copied, needed_for
from tilework.transforms.bag.types_behind import infer_behind
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class Combine(PatternPass):
    """Let comprehensions be combinators: filters first, then joins from guards that compare keys, then maps.

        %u = bag.comprehension %p, %t {reads = [["age", "town"], ["name", "size"]], keeps = [["age"], []], ...}
          { guards: age >= 18, town is name; head: size }
    ->
        %a = bag.filter %p {reads = ["age"]} { age >= 18 }
        %j = bag.join %a, %t {on = ["town", "name"], reads = ["size"], writes = ["size@1"]}
        %u = bag.map %j {reads = ["size@1"], writes = ["size"]} { size }

    The order is that of Emma's rules. Tables have what the head has, and further columns that nobody reads. Requires
    nothing; a comprehension of tables that stand beside each other and that no guard compares stays, as there is no
    combinator for all pairs.
    """

    name = "bag-combine"
    inserted_too: ClassVar = True


class CombineFilter(RewritePattern):
    """{ h | x in a, y in b, p(x), q } is { h | x in filter(a, p), y in b, q }."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComprehensionOp, rewriter: PatternRewriter) -> None:
        for guard in _guards(op, 1):
            value = op.yielded[guard]
            arguments = needed_for([value]) & {*op.body.block.args}
            tables = {op.places[argument][0] for argument in arguments if argument in op.places}
            if len(tables) == 1:
                [table] = tables
                kept = _filter(op, value, table, arguments)
                rewriter.insert(kept)
                rewriter.replace(op, _without_guard(op, guard, {table: kept.result}))
                return


class CombineJoin(RewritePattern):
    """{ h | x in a, y in b, x.k == y.l, q } is { h | z in join(a, b), q }."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComprehensionOp, rewriter: PatternRewriter) -> None:
        for guard in _guards(op, 2):
            codes = keys_compared(op.yielded[guard])
            if codes is None or not all(code in op.places for code in codes):
                continue
            (left, a), (right, b) = sorted(op.places[code] for code in codes)
            if right == left + 1 and _is_one_dictionary(op, (left, a), (right, b)):
                pair = _Pair.of(op, guard, left)
                if pair is None:
                    continue
                table = op.tables[left]
                if pair.copies:
                    copying = _copying(table, pair.copies)
                    rewriter.insert(copying)
                    table = copying.result
                joined = _join(op, pair, table, (a, b))
                made = _of_joined(op, guard, pair, joined)
                rewriter.insert(joined)
                rewriter.replace(op, made)
                infer_behind(made.result)
                return


class CombineMap(RewritePattern):
    """{ h(x) | x in a } is map(a, h)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComprehensionOp, rewriter: PatternRewriter) -> None:
        if len(op.tables) != 1 or op.guards.value.data:
            return
        table = op.tables[0]
        if op.written:
            mapped = MapOp.holding(table, op.read[0], op.scalars, op.body.clone(), writes=op.writes)
            rewriter.insert(mapped)
            table = mapped.result
        rewriter.replace(op, [], [table])
        infer_behind(table)


def _guards(op: ComprehensionOp, tables: int) -> range:
    """Its guards, but for the last one that is left where there are more tables than so many: it names the rows."""
    guards = op.guards.value.data
    return range(0 if guards == 1 and len(op.tables) > tables else guards)


def _filter(op: ComprehensionOp, guard: SSAValue, table: int, arguments: set[SSAValue]) -> FilterOp:
    """The filter of a table by a guard that reads nothing else."""
    own = [argument for argument in op.body.block.args if argument in arguments]
    columns = [argument for argument in own if argument in op.places]
    shared = [argument for argument in own if argument not in op.places]
    block = Block(arg_types=[argument.type for argument in (*columns, *shared)])
    known: dict[SSAValue, SSAValue] = dict(zip((*columns, *shared), block.args, strict=True))
    block.add_op(YieldOp(copied([guard], known, block)))
    names = [op.places[argument][1] for argument in columns]
    scalars = [_scalar(op, argument) for argument in shared]
    rows = StringAttr(_rows_behind(op, len(op.tables)))
    return FilterOp.holding(op.tables[table], names, scalars, Region(block), rows=rows)


def _scalar(op: ComprehensionOp, argument: SSAValue) -> SSAValue:
    """The scalar that an argument of the function is."""
    behind = op.body.block.args[len(op.body.block.args) - len(op.scalars) :]
    return next(scalar for inner, scalar in zip(behind, op.scalars, strict=True) if inner is argument)


def _rows_behind(op: ComprehensionOp, tables: int) -> str:
    """What rows are called of which one guard less holds, in so many tables: as at the end, if that is all."""
    assert op.rows is not None
    guards = op.guards.value.data
    return op.rows.data if (guards, tables) == (1, 1) else f"{op.rows.data}_{guards}"


def _without_guard(op: ComprehensionOp, guard: int, tables: Mapping[int, SSAValue]) -> ComprehensionOp:
    """The comprehension without a guard, of other tables in the place of some, which have the same columns."""
    every = [tables.get(i, table) for i, table in enumerate(op.tables)]
    return _remade(op, guard, every, op.kept, lambda table, name: (table, name))


def _is_one_dictionary(op: ComprehensionOp, a: tuple[int, str], b: tuple[int, str]) -> bool:
    left, right = (bag_of(op.tables[table]).columns[name] for table, name in (a, b))
    return left == right


@dataclass(frozen=True)
class _Pair:
    """A table and the next one, which are joined. Columns that the head has of the next one replace those of one name.

    left: the number of the first one. kept: the columns that the head has of both. taken: the names that columns of the
    next one have in pairs. copies: the names of copies of columns that are replaced and still read.
    """

    left: int
    kept: tuple[list[str], list[str]]
    taken: Mapping[str, str]
    copies: Mapping[str, str]

    @staticmethod
    def of(op: ComprehensionOp, guard: int, left: int) -> _Pair | None:
        """What becomes of their columns without a guard; None where words are replaced that are still read."""
        needed = needed_for([value for i, value in enumerate(op.yielded) if i != guard])
        read = [op.places[v] for v in op.body.block.args if v in needed and v in op.places]
        columns = bag_of(op.tables[left]).columns
        same = _same_columns(op, left)
        kept = [name for name in op.kept[left + 1] if name not in same]
        names = {*columns, *kept}
        new = [name for table, name in read if table == left + 1 and name not in kept]
        copied_ = [name for table, name in read if table == left and name in kept]
        if not all(isinstance(columns[name], AnyFloat) for name in copied_):
            return None
        renamed = {name: name for name in kept}
        for name in new:
            renamed[name] = _new_name(name, names)
        copies = {name: _new_name(name, {*names, *renamed.values()}) for name in copied_}
        return _Pair(left, ([*op.kept[left], *(n for n in op.kept[left + 1] if n in same)], kept), renamed, copies)


def _same_columns(op: ComprehensionOp, left: int) -> set[str]:
    """The names of columns that guards say to hold the same in a table and the next one."""
    guards = [keys_compared(guard) for guard in op.yielded[: op.guards.value.data]]
    places = [[op.places[code] for code in codes] for codes in guards if codes and all(c in op.places for c in codes)]
    pairs = [sorted(pair) for pair in places]
    return {
        a for (i, a), (j, b) in pairs if (i, j, a) == (left, left + 1, b) and _is_one_dictionary(op, (i, a), (j, b))
    }


def _copying(table: SSAValue, copies: Mapping[str, str]) -> MapOp:
    """The map that gives a table further columns, which hold the same numbers as others."""
    block = Block(arg_types=[f64] * len(copies))
    block.add_op(YieldOp(block.args))
    writes = ArrayAttr([StringAttr(name) for name in copies.values()])
    return MapOp.holding(table, [*copies], [], Region(block), writes=writes)


def _join(op: ComprehensionOp, pair: _Pair, table: SSAValue, keys: tuple[str, str]) -> JoinOp:
    """The join of a table and the next one, with the columns that are read of this."""
    names = {"on": keys, "reads": pair.taken.keys(), "writes": pair.taken.values()}
    properties: dict[str, Attribute] = {n: ArrayAttr([StringAttr(x) for x in xs]) for n, xs in names.items()}
    rows = StringAttr(_rows_behind(op, len(op.tables) - 1))
    return JoinOp.of(table, op.tables[pair.left + 1], **properties, rows=rows)


def _new_name(name: str, others: set[str]) -> str:
    """A name that is like one, and that no other column has."""
    i = 1
    while f"{name}@{i}" in others:
        i += 1
    return f"{name}@{i}"


def _of_joined(op: ComprehensionOp, guard: int, pair: _Pair, joined: JoinOp) -> ComprehensionOp:
    """The comprehension of a join in the place of two tables."""
    left = pair.left

    def place(table: int, name: str) -> tuple[int, str]:
        if table in (left, left + 1):
            return left, (pair.copies if table == left else pair.taken).get(name, name)
        return table - 1 if table > left else table, name

    tables = [*op.tables[:left], joined.result, *op.tables[left + 2 :]]
    kept = op.kept
    return _remade(op, guard, tables, [*kept[:left], [*pair.kept[0], *pair.kept[1]], *kept[left + 2 :]], place)


def _remade(
    op: ComprehensionOp,
    guard: int,
    tables: Sequence[SSAValue],
    keeps: Sequence[Sequence[str]],
    place: Callable[[int, str], tuple[int, str]],
) -> ComprehensionOp:
    """The comprehension without a guard, whose columns are now in other places."""
    values = [value for i, value in enumerate(op.yielded) if i != guard]
    needed, arguments = needed_for(values), [*op.body.block.args]
    columns = {v: place(*op.places[v]) for v in arguments if v in needed and v in op.places}
    columns = dict(sorted(columns.items(), key=lambda item: item[1][0]))
    shared = [v for v in arguments if v in needed and v not in op.places]
    block = Block(arg_types=[v.type for v in (*columns, *shared)])
    known: dict[SSAValue, SSAValue] = dict(zip((*columns, *shared), block.args, strict=True))
    block.add_op(YieldOp(copied(values, known, block)))
    guards = op.guards.value.data - 1
    return ComprehensionOp.holding(
        tables,
        [_scalar(op, v) for v in shared],
        Region(block),
        reads=[[name for at, name in columns.values() if at == i] for i in range(len(tables))],
        keeps=keeps,
        guards=guards,
        writes=op.written,
        rows=op.rows.data if guards and op.rows is not None else None,
    )
