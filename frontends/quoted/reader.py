"""The statements of a quoted function, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, StringAttr, TensorType, f64
from xdsl.ir import Operation, SSAValue

from tilework.dialects import arith, graph
from tilework.dialects.bag import ColumnOp, ToMatrixOp, bag_of
from tilework.dialects.matrix import ToTensorOp
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import Scalar
from tilework.frontends.quoted.functions import called
from tilework.frontends.quoted.matrices import FUNCTIONS, REDUCTIONS, SIGNS, Algebra
from tilework.frontends.quoted.rows import RowReader
from tilework.frontends.quoted.values import (
    Bag,
    Column,
    Constant,
    Groups,
    Matrix,
    Number,
    Part,
    Value,
    not_known,
    text_of,
)

AGGREGATES = ("sum", "min", "max", "count", "mean", "std")
KINDS: Mapping[str, str] = {"sum": "add", "min": "min", "max": "max"}


class Reader:
    """Reads statements, and appends operations by `insert`. names: what names stand for.

    functions: the names by which functions are known, by what is written.
    """

    def __init__(
        self,
        names: dict[str, Value],
        functions: Mapping[str, str],
        insert: Callable[[Operation], object],
        algebra: Algebra | None = None,
    ):
        self._names = names
        self._functions = functions
        self._algebra = Algebra(insert) if algebra is None else algebra
        self._insert = insert
        self._filters = 0

    def run(self, statements: Sequence[ast.stmt]) -> Value | None:
        """What the statements return; None where they return nothing. Raises NotKnown."""
        for statement in statements:
            match statement:
                case ast.Expr(value=ast.Constant(value=str())):
                    continue
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self.value(value))
                case ast.For(target=ast.Name(id=name), iter=items, body=body, orelse=[]):
                    for item in self._constants(items):
                        self._names[name] = Constant(item)
                        if self.run(body) is not None:
                            raise not_known(statement, "a loop returns nothing")
                case ast.Return(value=ast.expr() as value):
                    return self.value(value)
                case _:
                    raise not_known(statement, f"the statement {text_of(statement).splitlines()[0]!r} is not known")
        return None

    def _assign(self, target: ast.expr, value: Value) -> None:
        """Let a name, or names one by one, stand for a value."""
        match target:
            case ast.Name(id=name):
                self._names[name] = value
            case ast.Tuple(elts=names) if isinstance(value, tuple) and len(names) == len(value):
                for name, item in zip(names, value, strict=True):
                    self._assign(name, item)
            case _:
                raise not_known(target, f"what is assigned to {text_of(target)} is not known")

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for. Raises NotKnown."""
        made = self._algebraic(node)
        return self._of_tables(node) if made is None else made

    def _of_tables(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.Name(id=name):
                if name not in self._names:
                    raise not_known(node, f"the name {name} is not known")
                return self._names[name]
            case ast.List(elts=items):
                return Constant([self._constant(item) for item in items])
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.Subscript(value=inner, slice=index):
                bag = self._bag(inner)
                return Column(bag, self._column_name(bag, index))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in SIGNS:
                return self._computed(node, op, self.value(left), self.value(right))
            case ast.Call(func=function, args=[ast.GeneratorExp() as rows], keywords=[]):
                return self._comprehension(node, self._called(function), rows)
            case ast.Call(func=function, args=[rows], keywords=[]) if self._called(function) == "len":
                found = self.value(rows)
                if isinstance(found, Part):
                    return self._algebra.count(rows, found)
                return self._aggregate(node, "count", self._bag(rows), None, None)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=arguments, keywords=[]):
                return self._method(node, self.value(inner), method, arguments)
            case _:
                raise not_known(node, f"{text_of(node)} is not known")

    # -- matrices

    def _algebraic(self, node: ast.expr) -> Value | None:
        """What an expression of matrices stands for; None for another one."""
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._algebra.computed(node, ast.MatMult, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._negated(node, self.value(inner))
            case ast.Subscript(value=ast.Attribute(value=inner, attr="shape"), slice=ast.Constant(value=1)):
                return Constant(dims_of(self._algebra.matrix(inner, self.value(inner)).value.type)[1].constant)
            case ast.Attribute(value=inner, attr="T"):
                return self._algebra.transposed(inner, self.value(inner))
            case ast.Call(func=function, args=[inner], keywords=[]) if (name := self._called(function)) in FUNCTIONS:
                return self._algebra.function(inner, name, self.value(inner))
            case ast.Call(func=function, args=[left, right], keywords=[]) if self._called(function) == "solve":
                return self._algebra.solved(node, self.value(left), self.value(right))
            case ast.Call(func=function, args=[size], keywords=[]) if self._called(function) == "eye":
                return self._identity(node, self._constant(size))
            case ast.Call(func=function, args=[ast.Lambda() as fit, x, y], keywords=keywords) if (
                self._called(function) == "cross_validate"
            ):
                given = {keyword.arg: self._constant(keyword.value) for keyword in keywords}
                return self._cross_validated(fit, self.value(x), self.value(y), given)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[], keywords=[ast.keyword("axis", axis)]):
                return self._reduced(node, self.value(inner), method, self._constant(axis))
            case _:
                return None

    def _identity(self, node: ast.expr, size: object) -> Value:
        if not isinstance(size, int) or size < 1:
            raise not_known(node, f"{text_of(node)}: how many rows there are is a whole number above 0")
        return self._algebra.identity(size)

    def _reduced(self, node: ast.expr, on: Value, method: str, axis: object) -> Value:
        if axis is not None and not isinstance(axis, int):
            raise not_known(node, f"{text_of(node)}: an axis is a whole number")
        if method not in REDUCTIONS or not isinstance(on, Matrix | Part):
            raise not_known(node, f"{text_of(node)} is not known")
        return self._algebra.reduced(node, on, method, axis)

    def _cross_validated(self, fit: ast.Lambda, x: Value, y: Value, given: Mapping[str | None, Any]) -> Value:
        """r2 of each value of a grid, in each fold: fits to sums over rows, of all folds but one."""
        names, folds, grid = [argument.arg for argument in fit.args.args], given.get("folds"), given.get("grid")
        if len(names) != 3 or not isinstance(folds, int) or folds < 2 or not isinstance(grid, list | tuple):
            raise not_known(fit, "write cross_validate(lambda X, y, a: ..., X, y, folds=5, grid=[...])")
        train, held_out = self._algebra.statistics(
            fit, self._algebra.matrix(fit, x), self._algebra.matrix(fit, y), folds
        )
        if not grid or not all(isinstance(value, int | float) for value in grid):  # pyright: ignore[reportUnknownVariableType]
            raise not_known(fit, "the grid of a cross-validation is a list of numbers")
        values = np.asarray(grid, float).tolist()
        tried = self._algebra.constant(values, [1, len(values)], 2)
        known = {names[0]: Part("X"), names[1]: Part("y"), names[2]: tried}
        inner = Reader({**self._names, **known}, self._functions, self._insert, Algebra(self._insert, train))
        return self._algebra.r2(fit.body, inner.value(fit.body), held_out, tried)

    # -- tables

    def _comprehension(self, node: ast.Call, function: str, rows: ast.GeneratorExp) -> Value:
        """A table of rows, or the sum, the least or the greatest of numbers of rows."""
        tables: dict[str, Bag] = {}
        for generator in rows.generators:
            if not isinstance(generator.target, ast.Name):
                raise not_known(rows, f"the rows of a table have a name, not {text_of(generator.target)}")
            if generator.target.id in tables:
                raise not_known(rows, f"rows of two tables are called {generator.target.id}")
            tables[generator.target.id] = self._bag(generator.iter)
        reader = self._rows(tables)
        conditions = [inner for generator in rows.generators for test in generator.ifs for inner in _parts(test)]
        guards = [reader.truth(condition) for condition in conditions]
        if not reader.are_joined(guards):
            raise not_known(rows, "rows of several tables need an `if` by which words of both are equal")
        self._filters += 1
        name = f"K{self._filters}"
        if function == "DataBag":
            keeps, made = self._head(reader, tables, rows.elt)
            left = {n: words for row in keeps for n, words in tables[row].dictionaries.items() if n not in made}
            return Bag(self._inserted(reader.comprehension(guards, keeps, made, name)), left)
        if function not in KINDS:
            raise not_known(node, f"{text_of(node.func)} of rows is not known; known are DataBag, {', '.join(KINDS)}")
        made = {"value": reader.number(rows.elt)}
        bag = Bag(self._inserted(reader.comprehension(guards, [], made, name)), {})
        reader = self._rows({"row": bag})
        return Number(self._inserted(reader.fold([(KINDS[function], reader.number(_column("value")))])))

    def _head(self, reader: RowReader, rows: Collection[str], node: ast.expr) -> tuple[list[str], dict[str, Scalar]]:
        """The names of the rows whose columns a comprehension has, and the columns that it is given besides."""
        match node:
            case ast.Name(id=name) if name in rows:
                return [name], {}
            case ast.BinOp(left=ast.Name(id=name), op=ast.BitOr(), right=ast.Dict() as made) if name in rows:
                return [name], self._columns(reader, made)
            case _:
                raise not_known(node, f"a row becomes `{next(iter(rows))} | {{...}}`, not {text_of(node)}")

    def _columns(self, reader: RowReader, made: ast.Dict) -> dict[str, Scalar]:
        """The columns that `{name: number}` makes."""
        pairs = zip(made.keys, made.values, strict=True)
        return {str(self._constant(key)): reader.number(value) for key, value in pairs if key is not None}

    def _method(self, node: ast.Call, on: Value, method: str, arguments: Sequence[ast.expr]) -> Value:
        match on, method, arguments:
            case Bag(), "filter", [ast.Lambda(args=ast.arguments(args=[ast.arg(arg=row)]), body=body)]:
                return self._filtered(on, row, body)
            case Bag(), "map", [ast.Lambda(args=ast.arguments(args=[ast.arg(arg=row)]), body=body)]:
                return self._mapped(on, row, body)
            case Bag(), "to_matrix", [_, *_]:
                names = ArrayAttr([StringAttr(self._number_column(on, name)) for name in self._flat(arguments)])
                made = self._inserted(ToMatrixOp.of(on.value, columns=names))
                return Matrix(self._inserted(ToTensorOp.of(made)))
            case Bag(), "to_vector", [name]:
                column = StringAttr(self._number_column(on, name))
                return Matrix(self._inserted(ColumnOp.of(on.value, column=column)))
            case Bag(), "count", []:
                return self._aggregate(node, "count", on, None, None)
            case Bag(), "group_by", [by]:
                name = self._column_name(on, by)
                if name not in on.dictionaries:
                    raise not_known(node, f"column {name} holds numbers; groups are by a column of words")
                return Groups(on, name)
            case Groups(bag=bag, name=name), "count", []:
                return self._aggregate(node, "count", bag, None, name)
            case Groups(bag=bag, name=name), _, [of] if method in AGGREGATES:
                return self._aggregate(node, method, bag, self._column_name(bag, of), name)
            case Matrix() | Part(), _, [] if method in REDUCTIONS:
                return self._algebra.reduced(node, on, method, None)
            case Column(bag=bag, name=name), _, [] if method in AGGREGATES:
                return self._aggregate(node, method, bag, name, None)
            case _:
                raise not_known(node, f"{text_of(node)} is not known")

    def _filtered(self, bag: Bag, row: str, condition: ast.expr) -> Bag:
        reader = self._rows({row: bag})
        truth = reader.truth(condition)
        self._filters += 1
        return Bag(self._inserted(reader.filter(truth, f"K{self._filters}")), bag.dictionaries)

    def _mapped(self, bag: Bag, row: str, node: ast.expr) -> Bag:
        reader = self._rows({row: bag})
        _, made = self._head(reader, [row], node)
        left = {name: known for name, known in bag.dictionaries.items() if name not in made}
        return Bag(self._inserted(reader.map(made)), left) if made else bag

    def _aggregate(self, node: ast.expr, method: str, bag: Bag, column: str | None, by: str | None) -> Number:
        reader = self._rows({"row": bag})
        labels = None if by is None else bag.dictionaries[by]
        one = ("add", reader.constant(1.0))
        if column is None:
            count = self._inserted(reader.fold([one], by))
            return Number(count, labels, None if by is None else count, is_count=True)
        number = reader.number(ast.copy_location(_column(column), node))
        if by is None and method in KINDS:
            return Number(self._inserted(reader.fold([(KINDS[method], number)])))
        fold = reader.fold([(KINDS.get(method, "add"), number), one], by)
        self._insert(fold)
        total, count = fold.results
        rows = None if by is None else count
        if method in KINDS:
            return Number(total, labels, rows)
        if method == "count":
            return Number(count, labels, rows, is_count=True)
        mean = Number(self._number_op(graph.DivOp, total, count), labels, rows)
        if method == "mean":
            return mean
        if by is not None:
            raise not_known(node, "the deviation within groups is not known")
        return self._deviation(node, bag, column, mean, count)

    def _deviation(self, node: ast.expr, bag: Bag, column: str, mean: Number, count: SSAValue) -> Number:
        """The square root of the mean of (x - mean)^2: a second pass, which loses no digits."""
        self._names["the mean"] = mean  # a name that no function can have
        reader = self._rows({"row": bag})
        left = ast.BinOp(_column(column), ast.Sub(), ast.Name("the mean"))
        square = reader.number(ast.fix_missing_locations(ast.copy_location(ast.BinOp(left, ast.Mult(), left), node)))
        total = self._inserted(reader.fold([("add", square)]))
        return Number(self._number_op(graph.SqrtOp, self._number_op(graph.DivOp, total, count)))

    # -- numbers and names

    def _negated(self, node: ast.expr, value: Value) -> Value:
        if isinstance(value, Constant) and isinstance(value.value, int | float):
            return Constant(-value.value)
        return self._computed(node, ast.Mult(), Constant(-1.0), value)

    def _computed(self, node: ast.expr, op: ast.operator, a: Value, b: Value) -> Value:
        if isinstance(a, Matrix | Part) or isinstance(b, Matrix | Part):
            return self._algebra.computed(node, type(op), a, b)
        made = self._number_op(SIGNS[type(op)], self._as_number(node, a), self._as_number(node, b))
        match [x for x in (a, b) if isinstance(x, Number) and x.rows is not None]:
            case [Number(labels=labels, rows=rows)]:
                return Number(made, labels, rows)
            case [Number(labels=labels, rows=SSAValue() as rows), Number(labels=others, rows=SSAValue() as more)]:
                if labels != others:
                    raise not_known(node, f"{text_of(node)} computes with groups by different words")
                return Number(made, labels, rows if rows is more else self._number_op(graph.MulOp, rows, more))
            case _:
                return Number(made)

    def _number(self, node: ast.expr) -> SSAValue:
        return self._as_number(node, self.value(node))

    def _as_number(self, node: ast.expr, value: Value) -> SSAValue:
        if isinstance(value, Number):
            return value.value
        if isinstance(value, Constant) and isinstance(value.value, int | float):
            array = DenseIntOrFPElementsAttr.from_list(TensorType(f64, []), [float(value.value)])
            return self._inserted(arith.ConstantOp(array))
        raise not_known(node, f"{text_of(node)} is no number")

    def _number_op(self, operator: Any, *operands: SSAValue) -> SSAValue:
        return self._inserted(operator.of(*operands))

    def _rows(self, rows: Mapping[str, Bag]) -> RowReader:
        return RowReader(rows, self.value, self._functions)

    def _called(self, function: ast.expr) -> str:
        return called(self._functions, function)

    def _inserted(self, op: Operation) -> SSAValue:
        self._insert(op)
        return op.results[0]

    def _bag(self, node: ast.expr) -> Bag:
        found = self.value(node)
        if not isinstance(found, Bag):
            raise not_known(node, f"{text_of(node)} is no table")
        return found

    def _column_name(self, bag: Bag, node: ast.expr) -> str:
        name = self._constant(node)
        if name not in bag_of(bag.value).columns:
            raise not_known(node, f"the table has no column {name}; it has {', '.join(bag_of(bag.value).columns)}")
        return str(name)

    def _flat(self, arguments: Sequence[ast.expr]) -> Iterator[ast.expr]:
        """Arguments, with the items of a list that is known in the place of `*list`."""
        for argument in arguments:
            match argument:
                case ast.Starred(value=items):
                    yield from (ast.copy_location(ast.Constant(item), argument) for item in self._constants(items))
                case _:
                    yield argument

    def _number_column(self, bag: Bag, node: ast.expr) -> str:
        name = self._column_name(bag, node)
        if name in bag.dictionaries:
            raise not_known(node, f"column {name} holds words, not numbers")
        return name

    def _constant(self, node: ast.expr) -> Any:
        found = self.value(node)
        if not isinstance(found, Constant):
            raise not_known(node, f"{text_of(node)} is not known when the function is read")
        return found.value

    def _constants(self, node: ast.expr) -> list[Any]:
        found = self._constant(node)
        if not isinstance(found, list | tuple):
            raise not_known(node, f"a loop goes through a list that is known, not through {text_of(node)}")
        return list(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _column(name: str) -> ast.expr:
    """`row["name"]`."""
    made = ast.Subscript(ast.Name("row"), ast.Constant(name))
    return ast.fix_missing_locations(ast.Expression(made)).body


def _parts(condition: ast.expr) -> Sequence[ast.expr]:
    """Conditions that all have to hold."""
    match condition:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in _parts(value)]
        case _:
            return [condition]
