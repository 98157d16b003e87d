"""Shapes with symbols: bound once from the inputs, checked at every other use, then evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.algebra.parse import parse
from tilework.algebra.requirement import Requirement
from tilework.runtime.tensor_spec import Dim, TensorSpec

Symbols = dict[str, int]
Shape = tuple[int, ...]


class InputShapes:
    """The shapes that `taker` takes, if they meet requirements. `bind` gives the symbols' values for one call."""

    def __init__(
        self,
        specs: Sequence[TensorSpec],
        symbols: Sequence[str],
        taker: str = "the module",
        requirements: Sequence[Requirement] = (),
    ):
        self._specs = specs
        self._taker = taker
        self._requirements = requirements
        self._sources = {symbol: _source(symbol, specs) for symbol in symbols}
        self._expressions = {
            (spec.name, axis): parse(dim)
            for spec in specs
            for axis, dim in enumerate(spec.shape)
            if isinstance(dim, str) and dim not in self._sources
        }

    def bind(self, shapes: Sequence[Shape]) -> Symbols:
        """The symbols' values, from the shapes of the inputs in order. Raises UsageError for shapes that do not fit."""
        for spec, shape in zip(self._specs, shapes, strict=True):
            _check_numbers(spec, shape, self._taker)
        values = {symbol: shapes[index][axis] for symbol, (index, axis) in self._sources.items()}
        for spec, shape in zip(self._specs, shapes, strict=True):
            self._check_symbols(spec, shape, values)
        for requirement in self._requirements:
            if not requirement.evaluate(values):
                origins = ", ".join(self._origin(str(symbol), values) for symbol in requirement.variables())
                raise UsageError(f"{requirement.text} ({origins})")
        return values

    def _check_symbols(self, spec: TensorSpec, shape: Shape, values: Symbols) -> None:
        for axis, (dim, extent) in enumerate(zip(spec.shape, shape, strict=True)):
            if isinstance(dim, int):
                continue
            expression = self._expressions.get((spec.name, axis))
            expected = values[dim] if expression is None else int(expression.evaluate(values))
            if extent != expected:
                used = [dim] if expression is None else [str(key) for key in expression.variables()]
                raise UsageError(
                    f"dimension {axis} of input '{spec.name}' is {extent}, but {dim} is {expected}: "
                    + ", ".join(self._origin(symbol, values) for symbol in used)
                    + spec.reason
                )

    def _origin(self, symbol: str, values: Symbols) -> str:
        index, axis = self._sources[symbol]
        return f"{symbol} = {values[symbol]} is dimension {axis} of input '{self._specs[index].name}'"


class SymbolicShape:
    """A shape that is known once the symbols are."""

    def __init__(self, dims: Sequence[Dim]):
        self._dims = [parse(dim) if isinstance(dim, str) else dim for dim in dims]
        self._fixed = tuple(dim for dim in dims if isinstance(dim, int)) if not _is_symbolic(dims) else None

    def evaluate(self, values: Mapping[str, int]) -> Shape:
        """The extents, for the symbols' values."""
        if self._fixed is not None:
            return self._fixed
        return tuple(int(dim.evaluate(values)) if isinstance(dim, Expr) else dim for dim in self._dims)


def _is_symbolic(dims: Sequence[Dim]) -> bool:
    return any(isinstance(dim, str) for dim in dims)


def _source(symbol: str, specs: Sequence[TensorSpec]) -> tuple[int, int]:
    """The first input and dimension that are the symbol itself."""
    for index, spec in enumerate(specs):
        if symbol in spec.shape:
            return index, spec.shape.index(symbol)
    raise ValueError(f"symbol '{symbol}' is no input's dimension by itself: {'; '.join(map(str, specs))}")


def _check_numbers(spec: TensorSpec, shape: Shape, taker: str) -> None:
    """Refuse a wrong number of dimensions, and a wrong extent where the spec has a number."""
    if len(shape) != len(spec.shape):
        raise UsageError(
            f"input '{spec.name}' has {len(shape)} dimensions, {shape}: "
            f"{taker} takes {len(spec.shape)}, {spec.shape_text}"
        )
    for axis, (dim, extent) in enumerate(zip(spec.shape, shape, strict=True)):
        if isinstance(dim, int) and dim != extent:
            raise UsageError(
                f"input '{spec.name}' has shape {shape}, {taker} takes {spec.shape_text}: "
                f"dimension {axis} must be {dim}{spec.reason}"
            )
