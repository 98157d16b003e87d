"""A quoted function: read once for each kind of tables that it is called with, and then compiled."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import FunctionType, ModuleOp, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import var
from tilework.dialects.bag import BagType, ComprehensionOp, DictType
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.frontends.quoted.functions import Functions
from tilework.frontends.quoted.reader import Reader
from tilework.frontends.quoted.results import given, values_of
from tilework.frontends.quoted.values import Bag, Constant, NotKnown, OneDictionary, Value
from tilework.frontends.sklearn.programs import Compile, Recent, key_of, optimized, parts_of
from tilework.frontends.sklearn.training_data import Rows
from tilework.interpreters.graph import evaluate_function
from tilework.runtime.module import Module
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.interface import Array, Input, Part
from tilework.transforms.matrix.split_host import FINISH, split_host

Columns = dict[str, Input]
"""What is in the columns of a table, by their names."""


class DataBag:
    """What a parameter of a quoted function is annotated with that is a table; frames and arrays are given."""

    def __init__(self, rows: Iterable[Any]):
        """The table of these rows, in a function that is read. Raises UsageError where the function is run."""
        raise UsageError("a DataBag is a table in a function that is read: quote the function, and give it frames")

    if TYPE_CHECKING:  # whatever is asked of a table is read

        def __getattr__(self, name: str) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...


class Quoted:
    """Called with a frame for each parameter; gives what the function returns, in numpy.

    Of groups that is a dict of a number by each value, of a table a dict of its columns.
    """

    def __init__(self, function: Callable[..., Any], compile_: Compile):
        if not inspect.isfunction(function):
            raise UsageError(f"a function that is quoted is written with def; a {type(function).__name__} is given")
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compile = compile_
        self._function = function
        self._programs = Recent[bytes, _Program](16)
        try:
            lines, first = inspect.getsourcelines(function)
        except OSError:
            raise UsageError(f"the source of {function.__name__} is not there to be read") from None
        definition = _parsed(textwrap.dedent("".join(lines)))
        if not isinstance(definition, ast.FunctionDef):
            raise UsageError("a function that is quoted is written with def")
        self._definition = ast.increment_lineno(definition, first - 1)
        self._functions = Functions(definition, {"DataBag": DataBag})

    def __call__(self, *tables: Any) -> Any:
        """What the function returns for tables. Raises UsageError with the line of what is not known."""
        data = self._rows(tables)
        program = self._program(self._inputs(data), self._around())
        arrays = [array for table, parts in zip(data, program.parts, strict=True) for array in _arrays(table, parts)]
        made = program.native(*arrays)
        results = list(made) if isinstance(made, tuple) else [made]
        if program.finish is not None:
            results = evaluate_function(program.finish, FINISH, results, {})
        return given(program.result, iter(results))

    def show(self, *tables: Any, optimize: bool = False) -> str:
        """The program for tables like these, as it is read or as it is compiled."""
        return ir_text(self.program(*tables, optimize=optimize), PrintingOptions())

    def program(self, *tables: Any, optimize: bool = False) -> ModuleOp:
        """The same as a module. Raises UsageError with the line of what is not known."""
        module, _, _ = self._read(self._inputs(self._rows(tables)), self._around())
        if optimize:
            optimized("optimize-bags", module)
        return module

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the tables that it takes."""
        return tuple(argument.arg for argument in self._definition.args.args)

    def _rows(self, tables: Sequence[Any]) -> list[Rows]:
        for table in tables:
            if len(getattr(table, "shape", (0, 0))) != 2:
                raise UsageError(f"{self.__name__} takes tables, which have rows and columns; a {type(table).__name__} "
                                 f"with {len(table.shape)} axes is given")  # fmt: skip
        return [Rows(table) for table in tables]

    def _inputs(self, data: list[Rows]) -> list[Columns]:
        """The columns of each table."""
        count = len(self._definition.args.args)
        if count != len(data):
            raise UsageError(f"{self.__name__} takes {count} tables, {len(data)} are given")
        return [{str(key): _input(table, key) for key in table.keys} for table in data]

    def _program(self, inputs: list[Columns], around: _Around) -> _Program:
        key = key_of(inputs, around)
        if key is None:
            return self._compiled(inputs, around)
        return self._programs.get(key) or self._programs.put(key, self._compiled(inputs, around))

    def _compiled(self, inputs: list[Columns], around: _Around) -> _Program:
        module, inputs, result = self._read(inputs, around)
        optimized("optimize-bags", module)
        if any(isinstance(op, ComprehensionOp) for op in module.walk()):
            raise UsageError(
                f"{self.__name__}, rows keep a column that is called as a column of words of a table before theirs, "
                "which is compared with a third table: let the table whose columns are kept be the first"
            )
        [function] = module.ops
        assert isinstance(function, FuncOp)
        types = function.function_type.inputs
        parts = [parts_of(type_, columns) for type_, columns in zip(types, inputs, strict=True)]
        finish = split_host(module)
        return _Program(self._compile(module), parts, result, finish)

    def _read(self, inputs: list[Columns], around: _Around) -> tuple[ModuleOp, list[Columns], Value]:
        """The program, the columns of each table as it takes them, and what it returns."""
        while True:
            try:
                return self._read_with(inputs, around)
            except OneDictionary as needed:
                inputs = _united(inputs, *needed.dictionaries)

    def _read_with(self, inputs: list[Columns], around: _Around) -> tuple[ModuleOp, list[Columns], Value]:
        """The same, if all words that are compared have the same codes. Raises OneDictionary if not."""
        block = Block()
        names: dict[str, Value] = {name: Constant(value) for name, value in around.constants.items()}
        for i, (parameter, columns) in enumerate(zip(self._definition.args.args, inputs, strict=True)):
            argument = block.insert_arg(_type(columns, f"N{i}"), i)
            argument.name_hint = parameter.arg
            words = {name: c.dictionary.values for name, c in columns.items() if c.dictionary is not None}
            names[parameter.arg] = Bag(argument, words)
        try:
            result = Reader(names, around.functions, block.add_op).run(self._definition.body)
            if result is None:
                raise NotKnown("it returns nothing")
            values = list(values_of(result, block.add_op))
            if not values:
                raise NotKnown("what it returns is computed of no table")
        except NotKnown as error:
            raise UsageError(f"{self.__name__}, {error}") from None
        block.add_op(ReturnOp(*values))
        types = FunctionType.from_lists(list(block.arg_types), [value.type for value in values])
        return ModuleOp([FuncOp("main", types, Region(block))]), inputs, result

    def _around(self) -> _Around:
        """What the function knows from around it."""
        around = {**self._function.__globals__, **inspect.getclosurevars(self._function).nonlocals}
        used = {node.id for node in ast.walk(self._definition) if isinstance(node, ast.Name)}
        known = {name: around[name] for name in sorted(used & around.keys())}
        constants: dict[str, Any] = {n: v for n, v in known.items() if isinstance(v, int | float | str | list | tuple)}
        return _Around(constants, self._functions.known(self._function, known))


@dataclass(frozen=True)
class _Around:
    """Numbers, texts and lists by their names, and the names by which functions are known, by what is written."""

    constants: Mapping[str, Any]
    functions: Mapping[str, str]


@dataclass(frozen=True)
class _Program:
    """What a function has been compiled to: native code, in which arrays each table lies, what it returns.

    finish: what numpy computes of what the native code tells, if something is left.
    """

    native: Module
    parts: list[tuple[Part, ...]]
    result: Value
    finish: ModuleOp | None = None


def _arrays(table: Rows, parts: Sequence[Part]) -> Iterator[Array]:
    """A table as a program takes it."""
    for part in parts:
        read = table.reader_of_codes(part) if part.holds_codes else part.reader(table.frame, checked=False)
        yield read(0, len(table))


def _type(columns: Columns, rows: str) -> BagType:
    """The type of a table."""
    types = {n: f64 if c.dictionary is None else DictType.of(c.dictionary.size) for n, c in columns.items()}
    optional = [name for name, c in columns.items() if c.dictionary is None]
    return BagType.of(var(rows), types, optional, columnar=True)


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


def _united(inputs: list[Columns], one: tuple[Any, ...], other: tuple[Any, ...]) -> list[Columns]:
    """Columns of which those with one of two dictionaries have one of the words of both."""
    words = Dictionary((*one, *(word for word in other if word not in set(one))))

    def united(given: Input) -> Input:
        own = given.dictionary is not None and given.dictionary.values in (one, other)
        return replace(given, dictionary=words) if own else given

    return [{name: united(given) for name, given in columns.items()} for columns in inputs]
