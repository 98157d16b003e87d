"""A quoted function: read once for each kind of tables that it is called with, and then compiled."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import var
from tilework.dialects.bag import BagType, DictType
from tilework.frontends.quoted.reader import Reader
from tilework.frontends.quoted.values import Bag, Constant, NotKnown, Number, Value
from tilework.frontends.sklearn.programs import Compile, optimized, parts_of
from tilework.frontends.sklearn.training_data import Rows
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.interface import Input


class DataBag:
    """What a parameter of a quoted function is annotated with that is a table; frames and arrays are given."""


class Quoted:
    """Called with a frame for each parameter; gives numbers, and for groups a number by each value."""

    def __init__(self, function: Callable[..., Any], compile_: Compile):
        if not inspect.isfunction(function):
            raise UsageError(f"a function that is quoted is written with def; a {type(function).__name__} is given")
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compile = compile_
        self._function = function
        try:
            lines, first = inspect.getsourcelines(function)
        except OSError:
            raise UsageError(f"the source of {function.__name__} is not there to be read") from None
        definition = _parsed(textwrap.dedent("".join(lines)))
        if not isinstance(definition, ast.FunctionDef):
            raise UsageError("a function that is quoted is written with def")
        self._definition = ast.increment_lineno(definition, first - 1)

    def __call__(self, *tables: Any) -> Any:
        """What the function returns for tables. Raises UsageError with the line of what is not known."""
        data = [Rows(table) for table in tables]
        module, inputs, result = self._read(data)
        optimized("optimize-bags", module)
        [function] = module.ops
        assert isinstance(function, FuncOp)
        arrays: list[Any] = []
        for table, given, type_ in zip(data, inputs, function.function_type.inputs, strict=True):
            arrays += [part.reader(table.frame)(0, len(table)) for part in parts_of(type_, given)]
        made = self._compile(module)(*arrays)
        return _given(result, iter(made if isinstance(made, tuple) else (made,)))

    def show(self, *tables: Any, optimize: bool = False) -> str:
        """The program for tables like these, as it is read or as it is compiled."""
        module, _, _ = self._read([Rows(table) for table in tables])
        if optimize:
            optimized("optimize-bags", module)
        return str(module)

    def _read(self, data: list[Rows]) -> tuple[ModuleOp, list[dict[str, Input]], Value]:
        """The program, the columns of each table, and what it returns."""
        parameters = [argument.arg for argument in self._definition.args.args]
        if len(parameters) != len(data):
            raise UsageError(f"{self.__name__} takes {len(parameters)} tables, {len(data)} are given")
        block, names, inputs = Block(), self._constants(), list[dict[str, Input]]()
        for i, (parameter, table) in enumerate(zip(parameters, data, strict=True)):
            given = {str(key): _input(table, key) for key in table.keys}
            types = {n: f64 if g.dictionary is None else DictType.of(g.dictionary.size) for n, g in given.items()}
            optional = [name for name, g in given.items() if g.dictionary is None]
            argument = block.insert_arg(BagType.of(var(f"N{i}"), types, optional), i)
            argument.name_hint = parameter
            words = {name: g.dictionary.values for name, g in given.items() if g.dictionary is not None}
            names[parameter] = Bag(argument, words)
            inputs.append(given)
        try:
            result = Reader(names, block.add_op).run(self._definition.body)
            if result is None:
                raise NotKnown("it returns nothing")
            values = [number.value for number in _numbers(result)]
        except NotKnown as error:
            raise UsageError(f"{self.__name__}, {error}") from None
        block.add_op(ReturnOp(*values))
        types = FunctionType.from_lists(list(block.arg_types), [value.type for value in values])
        return ModuleOp([FuncOp("main", types, Region(block))]), inputs, result

    def _constants(self) -> dict[str, Value]:
        """The numbers, texts and lists that the function knows from around it."""
        around = {**self._function.__globals__, **inspect.getclosurevars(self._function).nonlocals}
        return {name: Constant(v) for name, v in around.items() if isinstance(v, int | float | str | list | tuple)}


def _parsed(source: str) -> ast.stmt | None:
    """The first statement of a source, which is none where a lambda stands in the middle of one."""
    try:
        return ast.parse(source).body[0]
    except SyntaxError:
        return None


def _input(table: Rows, key: Any) -> Input:
    if table.dtypes[key] is not None:
        return Input(key, "float64")
    values = tuple(v for v in table.encoded(key).ordered if v is not None and v == v)
    return Input(key, "int32", Dictionary(values))


def _numbers(result: Value) -> list[Number]:
    """What a function returns, in order. Raises NotKnown for what is no number."""
    items = result if isinstance(result, tuple) else (result,)
    for item in items:
        if not isinstance(item, Number):
            raise NotKnown("what it returns is no number that is computed of a table")
    return [item for item in items if isinstance(item, Number)]


def _given(result: Value, arrays: Any) -> Any:
    """What is returned, in the form in which the function says it."""
    if isinstance(result, tuple):
        return tuple(_given(item, arrays) for item in result)
    array = np.asarray(next(arrays))
    assert isinstance(result, Number)
    if result.labels is None:
        return float(array)
    return dict(zip(result.labels, array.tolist(), strict=True))
