"""What converters of estimators write with: a function on one table, whose columns are found as they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, Float32Type, Float64Type, StringAttr, f32, f64, i1, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilework.algebra.index_expr import var
from tilework.dialects.bag import BagType, DictType, ToMatrixOp, bag_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.matrix import ColumnsOp, ConcatOp, MapOp, MatrixType, PairsOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn import steps
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.encoded import EncodedColumn
from tilework.runtime.pipelines.interface import Input

Array = NDArray[Any]
ROWS = var("N")
FLOATS: dict[str, Float32Type | Float64Type] = {"float32": f32, "float64": f64}
ELEMENTS: dict[str, Attribute] = {**FLOATS, "int64": i64, "bool": i1}


class Unsupported(Exception):  # noqa: N818  it is an answer
    """Why an estimator, or a parameter of it, stays scikit-learn's."""


@dataclass(frozen=True)
class Columns:
    """Columns of the table as they are given: their keys. Missing ones are taken for what `fills` says of their keys.

    A key is the name of a column of a frame, or the number of one of an array.
    """

    keys: tuple[Any, ...]
    fills: dict[Any, Any] = field(default_factory=dict[Any, Any])


@dataclass(frozen=True)
class Numbers:
    """A matrix, with the keys of those columns whose missing values are still in it.

    source: the columns of the table that it is, as they are given.
    """

    value: SSAValue
    missing: frozenset[Any] = frozenset()
    source: Columns | None = None


@dataclass(frozen=True)
class Opaque:
    """Features that nothing can learn from by sums over rows, and why."""

    why: str


Features = Columns | Numbers | Opaque
"""What a step is given, and what it makes."""


class TrainingData(Protocol):
    """What a program that learns is written for."""

    @property
    def frame(self) -> Any:
        """The rows."""
        ...

    @property
    def keys(self) -> tuple[Any, ...]:
        """What their columns are found by."""
        ...

    @property
    def dtypes(self) -> dict[Any, np.dtype[Any] | None]:
        """The type of each column of numbers."""
        ...

    def is_incomplete(self, key: Any) -> bool:
        """Whether a number of a column is missing in some row."""
        ...

    def encoded(self, key: Any) -> EncodedColumn:
        """The values of a column, told apart."""
        ...

    def whole(self, key: Any) -> EncodedColumn:
        """The same, to learn from how often each stands there. Raises Unsupported where parts of the rows learn."""
        ...

    def first_missing(self, key: Any, missing: float | None) -> int | None:
        """The first row in which a number of a column is missing. Raises Unsupported where parts of the rows learn."""
        ...

    def __len__(self) -> int:
        """How many rows there are."""
        ...


class Emitter:
    """Appends to a function. `inputs` are the columns of its table by name, `parameters` the fitted numbers.

    dtypes: of the columns that there are, by key; None for what is no number. data: of a program that learns, what it
    learns from; ones: of an encoder that learns, by its identity, how many it makes of all rows; is_open: whether how
    many columns there are, or how many are 0, depends on all rows. wide: whether numbers become those of double
    precision, whatever they are.
    """

    def __init__(
        self, dtypes: dict[Any, np.dtype[Any] | None], data: TrainingData | None = None, *, wide: bool = False
    ):
        self.dtypes = dtypes
        self.wide = wide
        self.data = data
        self.learned: dict[int, Learned] = {}
        self.ones: dict[int, int] = {}
        self.is_open = False
        self.block = Block(arg_types=[BagType.of(ROWS, {})])
        self.table: SSAValue = self.block.args[0]
        self.table.name_hint = "table"
        self.inputs: dict[str, Input] = {}
        self.parameters: dict[str, Array] = {}

    def insert(self, op: Operation) -> SSAValue:
        """Append an operation; its first result."""
        self.block.add_op(op)
        return op.results[0]

    def parameter(self, name: str, array: Array, dtype: str = "float64") -> SSAValue:
        """A fitted array, as elements of that type."""
        symbol, n = name, 0
        while symbol in self.parameters:
            n += 1
            symbol = f"{name}.{n}"
        self.parameters[symbol] = np.ascontiguousarray(array, dtype)
        type_ = tensor_type(self.parameters[symbol].shape, ELEMENTS[dtype])
        return self.insert(ParameterOp(symbol, type_))

    # -- columns of the table

    def numbers(self, x: Features, missing: float | None = None) -> Numbers:
        """A matrix of features: columns of numbers become one, whose type is the one that all of them fit in.

        missing: the number that says that one is missing, where NaN does not.
        """
        if isinstance(x, Numbers):
            return x
        if isinstance(x, Opaque):
            raise Unsupported(x.why)
        types = [self.dtypes[key] for key in x.keys]
        if any(t is None for t in types):
            texts = [str(key) for key, t in zip(x.keys, types, strict=True) if t is None]
            raise Unsupported(f"numbers are computed of columns that hold none: {', '.join(texts)}")
        dtype = "float32" if self.are_single(x) and not self.wide else "float64"
        marked = missing is not None
        names = self._columns(
            [Input(key, dtype, None, marked, marked or self._may_be_missing(key), missing) for key in x.keys]
        )
        op = ToMatrixOp.of(self.table, columns=ArrayAttr([StringAttr(name) for name in names]))
        return Numbers(self.insert(op), frozenset(x.keys), x)

    def are_single(self, x: Columns) -> bool:
        """Whether single precision is the type that all of these columns of numbers fit in."""
        return np.result_type(*[t for key in x.keys if (t := self.dtypes[key]) is not None]) == np.float32

    def codes(self, key: Any, dictionary: Dictionary) -> str:
        """The name of the column of codes that a column's values have in a dictionary."""
        return self._columns([Input(key, "int32", dictionary, optional=False)])[0]

    def refuse_missing(self, x: Numbers) -> Numbers:
        """The matrix, of a table in which the columns that it comes from have no missing number."""
        for name, given in list(self.inputs.items()):
            if given.key in x.missing and given.dictionary is None:
                self.inputs[name] = replace(given, finite=True)
        return Numbers(x.value)

    def _columns(self, wanted: Sequence[Input]) -> list[str]:
        """The names of columns of the table, which gets those that it does not have."""
        known = {_identity(given): name for name, given in self.inputs.items()}
        bag = bag_of(self.table)
        columns, optional, names = dict(bag.columns), {*bag.may_be_missing}, list[str]()
        for given in wanted:
            identity = _identity(given)
            if identity not in known:
                name = known[identity] = self._unused(given.key)
                self.inputs[name] = given
                codes = given.dictionary
                columns[name] = FLOATS[given.dtype] if codes is None else DictType.of(codes.size)
                optional |= {name} if codes is None and given.optional else set()
            names.append(known[identity])
        if len(columns) > len(bag.columns):
            self.table = Rewriter.replace_value_with_new_type(self.table, BagType.of(bag.rows, columns, optional))
        return names

    def _unused(self, key: Any) -> str:
        """A name for a column that no other one has."""
        base = str(key) if isinstance(key, str) else f"x{key}"
        name, n = base, 1
        while name in self.inputs:
            n += 1
            name = f"{base}.{n}"
        return name

    def _may_be_missing(self, key: Any) -> bool:
        """Whether a number of a column may be missing: in data that are there, whether one is."""
        return self.data is None or self.data.is_incomplete(key)

    # -- matrices

    def map(self, x: Numbers, vectors: Sequence[SSAValue], function: Callable[..., Scalar]) -> Numbers:
        """A function of every element."""
        return Numbers(self.insert(MapOp.by(x.value, vectors, function)), x.missing)

    def beside(self, parts: Sequence[Numbers]) -> Numbers:
        """The columns of several matrices; of the widest of their types."""
        if len(parts) == 1:
            return parts[0]
        if len({matrix_of(p.value).element_type for p in parts}) > 1:
            raise Unsupported("columns of float32 and of float64 are put side by side")
        missing = frozenset(key for part in parts for key in part.missing)
        return Numbers(self.insert(ConcatOp.of(*(part.value for part in parts))), missing)

    def taken(self, x: Numbers, which: Sequence[int]) -> Numbers:
        """Some columns of a matrix."""
        return Numbers(self.insert(ColumnsOp.of(x.value, which=ints(which))), x.missing)

    def spread(self, x: Numbers, which: Sequence[int]) -> Numbers:
        """The columns of a matrix, each as often as it is named: a product with zeros and ones would lose infinity."""
        ones = self.map(self.taken(x, [0]), [], one)
        pairs = PairsOp.of(ones.value, x.value, left=ints([0] * len(which)), right=ints(which))
        return Numbers(self.insert(pairs), x.missing)


def _identity(given: Input) -> tuple[Any, ...]:
    """What two columns of a program have in common that are one."""
    return (given.key, given.dtype, given.dictionary, given.missing)


Function = TypeVar("Function", bound=type["Step"])
STEPS: dict[type, type[Step]] = {}
_STEP_OF: Callable[[Any], type[Step] | None] = STEPS.get


class Step(ABC):
    """How the estimators of one type are written as operations. A subclass is registered by `step`."""

    @classmethod
    @abstractmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        """What the estimator makes of features. Raises Unsupported."""


class FittedStep(Step):
    """A step that computes with vectors which are fitted: read off an estimator, or learned from the table itself.

    `NARROW` says whether those that it reads stay in single precision where they are.
    """

    NARROW: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        """The vectors of a fitted estimator, by name. Raises Unsupported."""

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        """The same vectors as statistics of the features. Raises Unsupported."""
        raise Unsupported(f"the fit of {type(estimator).__name__} is no sum over rows")

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        """Set the attributes of an estimator that has learned these vectors from so many rows.

        It has been fitted to a few of them, so that it has all attributes, of their types.
        """
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        """What an estimator with these vectors makes of a matrix. Raises Unsupported."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        matrix = e.numbers(x)
        return cls.apply(e, estimator, matrix, cls.vectors(e, estimator, matrix))

    @classmethod
    def vectors(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        """The vectors, as what is being written has them."""
        if id(estimator) in e.learned:  # from the training set, when it is applied to rows that are held out
            return e.learned[id(estimator)].vectors
        if e.data is not None:
            made = cls.learned(e, estimator, x)
            e.learned[id(estimator)] = Learned(estimator, cls.finish, made)
            return made
        title = type(estimator).__name__.lower()
        return {
            name: e.parameter(f"{title}.{name}", array, array.dtype.name if cls.NARROW else "float64")
            for name, array in cls.known(estimator).items()
        }


@dataclass(frozen=True)
class Learned:
    """What an estimator learns: the vectors of its step, by name, and what sets attributes as `FittedStep.finish`."""

    estimator: Any
    finish: Callable[[Any, dict[str, Array], int], None]
    vectors: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])


def step(*types: type) -> Callable[[Function], Function]:
    """Register the step for estimators of exactly these types."""

    def register(made: Function) -> Function:
        STEPS.update(dict.fromkeys(types, made))
        return made

    return register


def convert(e: Emitter, estimator: Any, x: Features) -> Features:
    """What an estimator makes of features. Raises Unsupported for one that is not known."""
    _import_steps()
    found = _STEP_OF(type(estimator))
    if found is None:
        raise Unsupported(f"{type(estimator).__name__} is not among the estimators that are known")
    return found.convert(e, estimator, x)


@cache
def _import_steps() -> None:
    """Import what registers steps."""
    for module in iter_modules(steps.__path__):
        import_module(f"{steps.__name__}.{module.name}")


def element_of(x: Numbers) -> Float32Type | Float64Type:
    """The type of a matrix's elements."""
    type_ = x.value.type
    assert isinstance(type_, MatrixType)
    return f32 if type_.element_type == f32 else f64


def columns_count(x: Numbers) -> int:
    """How many columns a matrix has."""
    return matrix_of(x.value).columns


def one(k: KernelBuilder, v: Scalar) -> Scalar:
    """1, whatever v is."""
    return k.constant(1.0, v.dtype)
