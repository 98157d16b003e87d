"""What every graph operator is: operands, attributes, a shape rule, a fusion category, a te definition, a meaning.

From its class alone an operator is parsed, printed, verified, interpreted, fused and compiled:

    %y = graph.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<...>, tensor<...>) -> tensor<...>
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, ClassVar, TypeAlias, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, DenseArrayBase, IntegerType, TensorType, i1, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import TileworkError
from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import at_least
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.narrow import is_narrow, narrow_dtype
from tilework.dialects.support.inferred_op import InferredOp
from tilework.dialects.support.locations import source_name
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder, Tensor

Array: TypeAlias = NDArray[Any]

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


class Category(IntEnum):
    """How an operator may be fused (TVM's pattern kinds). The order is used: a group has its members' largest."""

    ELEMENTWISE = 0
    """Each output element reads the input elements at its own index."""
    BROADCAST = 1
    """Output axes map in order to input axes; some inputs are repeated."""
    INJECTIVE = 2
    """Each output element reads one element of an input: reshape, transpose, concat, slice, pad."""
    REDUCTION = 3
    """sum, max and the like."""
    COMPLEX = 4
    """complex-out-fusable: element-wise operators can be fused to its output (convolution, dense, pooling)."""
    TUPLE = 7
    OPAQUE = 8
    """Operators of this category are never fused."""


class SizesDiffer(VerifyException):
    """Two sizes differ that have to be equal: maybe not for some values of symbols.

    `places` say which operand could have which other size along which axis, any of which would do.
    """

    def __init__(self, one: Expr, other: Expr, message: str, *places: tuple[int, int, Expr]):
        super().__init__(message)
        self.one = one
        self.other = other
        self.places = places


class GraphOp(InferredOp, HasCanonicalizationPatternsInterface, ABC):
    """Base of the graph operators. Operands and results are tensors; a subclass declares them and its properties."""

    CATEGORY: ClassVar[Category]

    @abstractmethod
    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor | Sequence[Tensor]:
        """Append to `k` the computes that make the result(s) from the inputs."""

    @abstractmethod
    def evaluate(self, *inputs: Array) -> Array | Sequence[Array]:
        """The result(s) in numpy."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.graph.canonicalization import PATTERNS  # which imports the operators

        return PATTERNS

    @abstractmethod
    def infer(self) -> Sequence[TensorType[Attribute]]: ...

    def verify_(self) -> None:
        for i in range(len(self.operands)):
            self.dims(i)  # an operand's dimensions are all known, at least by name
        super().verify_()

    def operand_type(self, i: int) -> TensorType[Attribute]:
        """The type of operand `i`."""
        return cast("TensorType[Attribute]", self.operands[i].type)

    def dims(self, i: int) -> tuple[Expr, ...]:
        """The dimensions of operand `i`."""
        return dims_of(self.operands[i].type)

    def dtype(self, i: int = 0) -> Attribute:
        """The element type of operand `i`."""
        return self.operand_type(i).element_type

    @property
    def label(self) -> str:
        """The operator's name without its dialect: the name of the te stage it defines."""
        return self.name.removeprefix("graph.")

    @property
    def title(self) -> str:
        """What messages call it: with the name of the node that it came from, where it has one."""
        source = source_name(self.location)
        return self.label if source is None else f"{self.label} '{source}'"

    def requirements(self) -> Iterable[Requirement]:
        """What symbols must be where it is run, besides what the types say; perhaps what is always so, too."""
        return ()

    def joined_sizes(self) -> Iterable[tuple[Expr, Expr]]:
        """For operands that broadcast, a size along each axis, and that which it becomes."""
        return ()

    def windows_fit(self) -> Iterable[Requirement]:
        """Requirements that an operator has a window at all, along each axis behind the second."""
        for axis, dim in list(enumerate(dims_of(self.results[0].type)))[2:]:
            what = f"the windows of {self.title} do not fit into the image: dimension {axis} of its result would be"
            yield Requirement.of(at_least(dim, 1), f"{what} {dim}")

    @property
    def category(self) -> Category:
        """How it may be fused: for most operators the same for all of their class."""
        return self.CATEGORY

    def category_of(self, operand: int) -> Category:
        """How it reads that operand."""
        return self.category

    def require_float(self) -> None:
        """Refuse an operand whose elements are not floating-point numbers."""
        for i in range(len(self.operands)):
            if not isinstance(self.dtype(i), AnyFloat):
                raise VerifyException(f"{self.name} computes on floating-point numbers, not on {self.dtype(i)}")

    def require_numbers(self) -> None:
        """Refuse an operand of truth values."""
        for i in range(len(self.operands)):
            if self.dtype(i) == i1:
                raise VerifyException(f"{self.name} computes on numbers, not on truth values, i1")

    def require_symbols_of_operands(self, sizes: Iterable[Expr]) -> None:
        """Refuse a symbol that is in no operand's dimensions."""
        known = {name for i in range(len(self.operands)) for d in self.dims(i) for name in d.variables()}
        if unknown := [str(name) for e in sizes for name in e.variables() if name not in known]:
            raise VerifyException(f"the input does not tell what {unknown[0]} is")

    def evaluate_dims(self, sizes: Sequence[Expr], inputs: Sequence[Array]) -> list[int]:
        """Expressions over the symbols in the operands' dimensions, for these operands.

        Raises TileworkError where no dimension tells a symbol by itself.
        """
        dims = [d for i in range(len(self.operands)) for d in self.dims(i)]
        found = _runtime_sizes(sizes, dims, [n for x in inputs for n in x.shape])
        if None in found:
            raise TileworkError(f"{self.name}: no dimension of an operand tells what {sizes[found.index(None)]} is")
        return [n for n in found if n is not None]

    def require_same_dtype(self) -> None:
        """Refuse operands of different element types."""
        types = dict.fromkeys(self.dtype(i) for i in range(len(self.operands)))
        if len(types) > 1:
            raise VerifyException(
                f"{self.name} takes operands of one element type, not {' and '.join(map(str, types))}"
            )


def ints(values: Iterable[int]) -> DenseArrayBase[IntegerType]:
    """`array<i64: ...>`: strides, pads, axes and the like."""
    return DenseArrayBase.from_list(i64, list(values))


def extremes(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a type: infinite ones, where it has these."""
    if is_float(dtype):
        return dtype.type(-np.inf), dtype.type(np.inf)
    return dtype.type(np.iinfo(dtype).min), dtype.type(np.iinfo(dtype).max)


def normalize_axis(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises VerifyException for one that a tensor of that rank does not have."""
    if not -rank <= axis < rank:
        raise VerifyException(f"a tensor of rank {rank} has no axis {axis}")
    return axis % rank


def runtime_shape(target: Sequence[Expr], dims: Sequence[Expr], shape: Sequence[int]) -> list[int]:
    """`target` in numbers, for an input of dimensions `dims` that has this shape; -1 for what that does not tell."""
    return [-1 if n is None else n for n in _runtime_sizes(target, dims, shape)]


def _runtime_sizes(target: Sequence[Expr], dims: Sequence[Expr], shape: Sequence[int]) -> list[int | None]:
    sizes = dict(zip(dims, shape, strict=True))
    symbols = {key: (size - d.offset) // d.coefficient(key) for d, size in sizes.items() for key in linear_in(d)}

    def size(d: Expr) -> int | None:
        if d in sizes:
            return sizes[d]
        return int(d.evaluate(symbols)) if set(d.variables()) <= symbols.keys() else None

    return [size(d) for d in target]


def linear_in(d: Expr) -> Sequence[Key]:
    """The only variable of a dimension that is a multiple of it and a number."""
    keys = d.variables()
    return keys if len(keys) == 1 and d.coefficient(keys[0]) and d.is_affine_in(keys[0]) else ()


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """The numpy type of an element type: of floating-point numbers, integers and i1 (bool). Raises VerifyException."""
    if isinstance(element_type, BFloat16Type):
        return BFLOAT16
    if is_narrow(element_type):
        return narrow_dtype(element_type)
    names = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}
    names |= {f"i{n}": f"int{n}" for n in (8, 16, 32, 64)} | {f"ui{n}": f"uint{n}" for n in (8, 16, 32, 64)}
    if str(element_type) not in names:
        raise VerifyException(f"no numpy type for {element_type}")
    return np.dtype(names[str(element_type)])


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of a numpy type are floating-point; to numpy, bfloat16 is of a kind of its own."""
    return dtype.kind == "f" or dtype == BFLOAT16
