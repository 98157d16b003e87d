"""Functions of a row: lambdas and comprehensions become what a table's operations do with each row."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, f64, i1, i32
from xdsl.ir import Attribute, SSAValue

from tilework.dialects.bag import FilterOp, FoldOp, MapOp, RowsOp, bag_of
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.quoted.values import Bag, Constant, Number, Value, not_known, text_of
from tilework.transforms.bag.row_function import RowFunction

Look = Callable[[ast.expr], Value]
"""What an expression outside of rows stands for."""

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
FUNCTIONS = ("abs", "sqrt", "log", "log1p", "exp", "floor", "ceil", "tanh")
"""Functions of a number, by the names that they have in `math`, numpy or Python."""


class RowReader:
    """Reads expressions about a row of a table, which `name` stands for, and writes a function of the row."""

    def __init__(self, bag: Bag, name: str, look: Look):
        self._bag = bag
        self._name = name
        self._look = look
        self._row = RowFunction(bag_of(bag.value))
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

    def constant(self, value: float) -> Scalar:
        """The same number for each row."""
        with self._k.inside(self._row.block):
            return self._k.constant(value, f64)

    def filter(self, condition: Scalar, rows: str) -> RowsOp:
        """The rows of which a condition holds; `rows` is what their number is called."""
        region = self._row.region([condition.value])
        return FilterOp.holding(self._bag.value, self._row.reads, self._row.scalars, region, rows=StringAttr(rows))

    def map(self, made: Mapping[str, Scalar]) -> RowsOp:
        """The table with these columns."""
        region = self._row.region([scalar.value for scalar in made.values()])
        writes = ArrayAttr([StringAttr(name) for name in made])
        return MapOp.holding(self._bag.value, self._row.reads, self._row.scalars, region, writes=writes)

    def fold(self, made: Sequence[tuple[str, Scalar]], by: str | None = None) -> RowsOp:
        """Numbers of all rows, joined as is said beside each."""
        properties: dict[str, Attribute] = {"kinds": ArrayAttr([StringAttr(kind) for kind, _ in made])}
        if by is not None:
            properties["by"] = StringAttr(by)
        region = self._row.region([scalar.value for _, scalar in made])
        return FoldOp.holding(self._bag.value, self._row.reads, self._row.scalars, region, **properties)

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
            case ast.Call(func=function, args=[argument]) if _name(function) in FUNCTIONS:
                return self._k.call(_name(function), self._scalar(argument))
            case _:
                return self._outside(node)

    def column_of(self, node: ast.expr) -> str | None:
        """The column that `row.name` or `row["name"]` is; None for anything else."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=column) if name == self._name:
                return column
            case ast.Subscript(value=ast.Name(id=name), slice=inner) if name == self._name:
                found = self._look(inner)
                return found.value if isinstance(found, Constant) and isinstance(found.value, str) else None
            case _:
                return None

    def _column(self, node: ast.expr, column: str) -> Scalar:
        bag = bag_of(self._bag.value)
        if column not in bag.columns:
            raise not_known(node, f"the table has no column {column}; it has {', '.join(bag.columns)}")
        return Scalar(self._row.column(column), self._k)

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
        relation = COMPARISONS.get(type(comparison))
        if relation is None:
            raise not_known(node, f"the comparison of {text_of(node)} is not known")
        column = self.column_of(left)
        if column in self._bag.dictionaries:
            values, wanted = self._bag.dictionaries[column], self._look(right)
            if relation not in ("eq", "ne") or not isinstance(wanted, Constant):
                raise not_known(node, f"words are compared with one word by == or !=, not as {text_of(node)}")
            code = values.index(wanted.value) if wanted.value in values else len(values)
            return self._scalar(left).compare(relation, self._k.constant(code, i32))
        return self._scalar(left).compare(relation, self._scalar(right))

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


def _name(function: ast.expr) -> str:
    """The last part of the name of a function."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def result_of(op: RowsOp) -> SSAValue:
    """The only result of an operation."""
    [made] = op.results
    return made
