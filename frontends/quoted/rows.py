"""Functions of a row: lambdas and comprehensions become what a table's operations do with each row."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr, f64, i1, i32
from xdsl.ir import Attribute

from tilework.dialects.bag import ComprehensionOp, FilterOp, FoldOp, MapOp, RowsOp, bag_of, keys_compared, same_key
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.quoted.functions import OF_NUMBERS, called
from tilework.frontends.quoted.values import Bag, Constant, Number, OneDictionary, Value, not_known, text_of
from tilework.transforms.bag.row_function import RowFunction

Place = tuple[int, str]
"""Which table, and which column of it."""

Look = Callable[[ast.expr], Value]
"""What an expression outside of rows stands for."""

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


class RowReader:
    """Reads expressions about a row of each table, for which names stand, and writes a function of these rows.

    functions: the names by which functions are known, by what is written.
    """

    def __init__(self, rows: Mapping[str, Bag], look: Look, functions: Mapping[str, str]):
        self._names = [*rows]
        self._bags = [*rows.values()]
        self._look = look
        self._functions = functions
        self._row = RowFunction(*(bag_of(bag.value) for bag in self._bags))
        self._k = KernelBuilder("row")

    def number(self, node: ast.expr) -> Scalar:
        """A number of a row. Raises NotKnown for anything else."""
        with self._k.inside(self._row.block):
            made = self._scalar(node)
        if made.dtype != f64:
            raise not_known(node, f"{text_of(node)} is no number")
        return made

    def truth(self, node: ast.expr) -> Scalar:
        """A condition on a row. Raises NotKnown for anything else."""
        with self._k.inside(self._row.block):
            made = self._scalar(node)
        if made.dtype != i1:
            raise not_known(node, f"{text_of(node)} is no condition")
        return made

    def are_joined(self, guards: Sequence[Scalar]) -> bool:
        """Whether conditions join all tables, of which always two are joined that stand beside each other.

        A condition joins two tables if it is that words of rows of both are equal.
        """
        words = [keys_compared(guard.value) for guard in guards]
        pairs = [{self._row.table_of(word) for word in compared} for compared in words if compared is not None]
        groups = [{table} for table in range(len(self._bags))]
        while len(groups) > 1:
            beside = [i for i, (a, b) in enumerate(pairwise(groups)) if any(pair & a and pair & b for pair in pairs)]
            if not beside:
                return False
            groups[beside[0] : beside[0] + 2] = [groups[beside[0]] | groups[beside[0] + 1]]
        return True

    def constant(self, value: float) -> Scalar:
        """The same number for each row."""
        with self._k.inside(self._row.block):
            return self._k.constant(value, f64)

    def filter(self, condition: Scalar, rows: str) -> RowsOp:
        """The rows of which a condition holds; `rows` is what their number is called."""
        region = self._row.region([condition.value])
        return FilterOp.holding(self._bags[0].value, self._row.reads, self._row.scalars, region, rows=StringAttr(rows))

    def map(self, made: Mapping[str, Scalar]) -> RowsOp:
        """The table with these columns."""
        region = self._row.region([scalar.value for scalar in made.values()])
        writes = ArrayAttr([StringAttr(name) for name in made])
        return MapOp.holding(self._bags[0].value, self._row.reads, self._row.scalars, region, writes=writes)

    def fold(self, made: Sequence[tuple[str, Scalar]], by: str | None = None) -> RowsOp:
        """Numbers of all rows, joined as is said beside each."""
        properties: dict[str, Attribute] = {"kinds": ArrayAttr([StringAttr(kind) for kind, _ in made])}
        if by is not None:
            properties["by"] = StringAttr(by)
        region = self._row.region([scalar.value for _, scalar in made])
        return FoldOp.holding(self._bags[0].value, self._row.reads, self._row.scalars, region, **properties)

    def comprehension(
        self, guards: Sequence[Scalar], keeps: Sequence[str], made: Mapping[str, Scalar], rows: str
    ) -> ComprehensionOp:
        """The rows for which all guards hold, with all columns of the rows that are to be kept and with these."""
        tables = range(len(self._bags))
        columns = [
            bag_of(bag.value).columns if name in keeps else ()
            for name, bag in zip(self._names, self._bags, strict=True)
        ]
        return ComprehensionOp.holding(
            [bag.value for bag in self._bags],
            self._row.scalars,
            self._row.region([scalar.value for scalar in (*guards, *made.values())]),
            reads=[self._row.reads_of(table) for table in tables],
            keeps=[[name for name in each if name not in made] for each in columns],
            guards=len(guards),
            writes=[*made],
            rows=rows if guards else None,
        )

    # -- expressions

    def _scalar(self, node: ast.expr) -> Scalar:
        column = self.column_of(node)
        if column is not None:
            return self._column(node, column)
        match node:
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._k.constant(0.0, f64) - self._scalar(inner)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._k.select(self._scalar(inner), self._k.constant(0, i1), self._k.constant(1, i1))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return self._compare(node, left, comparison, right)
            case ast.BoolOp(op=op, values=values):
                return self._joined(isinstance(op, ast.And), [self._scalar(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._k.select(self._scalar(test), self._scalar(body), self._scalar(other))
            case ast.Call(func=function, args=[argument], keywords=[]) if (
                name := called(self._functions, function)
            ) in OF_NUMBERS:
                return self._k.call(name, self._scalar(argument))
            case _:
                return self._outside(node)

    def column_of(self, node: ast.expr) -> Place | None:
        """The column that `row.name` or `row["name"]` is; None for anything else."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=column) if name in self._names:
                return self._names.index(name), column
            case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in self._names:
                found = self._look(inner)
                if isinstance(found, Constant) and isinstance(found.value, str):
                    return self._names.index(name), found.value
                return None
            case _:
                return None

    def _column(self, node: ast.expr, place: Place) -> Scalar:
        table, column = place
        bag = bag_of(self._bags[table].value)
        if column not in bag.columns:
            raise not_known(node, f"the table has no column {column}; it has {', '.join(bag.columns)}")
        return Scalar(self._row.column(column, table), self._k)

    def _words(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The dictionary of a column of words; None for anything else."""
        place = self.column_of(node)
        return None if place is None else self._bags[place[0]].dictionaries.get(place[1])

    def _binary(self, node: ast.BinOp) -> Scalar:
        a, b = self._scalar(node.left), self._scalar(node.right)
        if (a.dtype, b.dtype) != (f64, f64):
            raise not_known(node, f"{text_of(node)} computes with what is no number")
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return a / b
            case _:
                raise not_known(node, f"the operator of {text_of(node)} is not known")

    def _compare(self, node: ast.expr, left: ast.expr, comparison: ast.cmpop, right: ast.expr) -> Scalar:
        if self._words(left) is not None:
            return self._compare_words(node, left, comparison, right)
        if self._words(right) is not None:
            return self._compare_words(node, right, comparison, left)
        relation = COMPARISONS.get(type(comparison))
        if relation is None:
            raise not_known(node, f"the comparison of {text_of(node)} is not known")
        return self._scalar(left).compare(relation, self._scalar(right))

    def _compare_words(self, node: ast.expr, column: ast.expr, comparison: ast.cmpop, other: ast.expr) -> Scalar:
        """Whether words of a column are those of another column, are one word, or are missing."""
        values, others = self._words(column), self._words(other)
        assert values is not None
        if others is not None and isinstance(comparison, ast.Eq):
            if values != others:
                raise OneDictionary(values, others)
            return same_key(self._k, self._scalar(column), self._scalar(other))
        wanted = None if self.column_of(other) is not None else self._look(other)
        match comparison, wanted:
            case ast.Eq() | ast.Is(), Constant(value=None):
                return self._scalar(column).compare("lt", self._k.constant(0, i32))
            case ast.NotEq() | ast.IsNot(), Constant(value=None):
                return self._scalar(column).compare("ge", self._k.constant(0, i32))
            case ast.Eq() | ast.NotEq(), Constant(value=word) if _may_be_among(word, values):
                code = values.index(word) if word in values else len(values)
                return self._scalar(column).compare(COMPARISONS[type(comparison)], self._k.constant(code, i32))
            case ast.Eq() | ast.NotEq(), Constant():
                raise not_known(node, f"{text_of(node)} compares words with what is none of their kind")
            case _:
                raise not_known(node, f"words are compared with one word by == or !=, not as {text_of(node)}")

    def _joined(self, both: bool, conditions: Sequence[Scalar]) -> Scalar:
        joined = conditions[0]
        for other in conditions[1:]:
            joined = self._k.select(joined, other, joined) if both else self._k.select(joined, joined, other)
        return joined

    def _outside(self, node: ast.expr) -> Scalar:
        found = self._look(node)
        if isinstance(found, Constant) and isinstance(found.value, int | float):
            return self._k.constant(float(found.value), f64)
        if isinstance(found, Number) and found.labels is None:
            return Scalar(self._row.scalar(found.value), self._k)
        raise not_known(node, f"{text_of(node)} is no number that a row can be given")


def _may_be_among(wanted: object, values: Sequence[Any]) -> bool:
    """Whether a word or number is of a kind that there is among values, if there are any."""
    kind = next((kind for kind in (str, int | float) if isinstance(wanted, kind)), None)
    return kind is not None and (not values or any(isinstance(value, kind) for value in values))
