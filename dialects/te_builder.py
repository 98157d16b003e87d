"""Write te kernels in Python, with the words of the field.

    k = KernelBuilder("dense_relu")
    x, w = k.argument(x_type, "x"), k.argument(w_type, "w")
    dense = k.compute("dense", (1, 32), lambda i, j: k.sum((64,), lambda k_: x[i, k_] * w[j, k_]))
    relu = k.compute("relu", (1, 32), lambda i, j: k.max(dense[i, j], 0.0))
    kernel = k.finish([relu])

Axes take the names of the lambda's parameters (a trailing `_` is dropped), as in TVM. Tensors are indexed by index
expressions; the elements are `Scalar`s, whose operators write `arith` and `math` operations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, FunctionType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, ExprLike, to_expr, var
from tilework.algebra.predicate import Predicate
from tilework.dialects import arith
from tilework.dialects.shapes import dims_of, element_type, tensor_type
from tilework.dialects.te import ComputeOp, IfThenElseOp, KernelOp, ReadOp, ReduceOp, ReturnOp, YieldOp

ScalarLike: TypeAlias = "Scalar | float | int"

_FLOAT = {"+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp, "/": arith.DivfOp}
_INTEGER = {"+": arith.AddiOp, "-": arith.SubiOp, "*": arith.MuliOp, "/": arith.DivSIOp}
_UNARY = {
    "exp": math.ExpOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "log": math.LogOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "abs": math.AbsFOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
}


@dataclass(frozen=True)
class Tensor:
    """A kernel argument or a compute: index it inside a compute to read an element."""

    value: SSAValue
    builder: KernelBuilder

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The dimensions, possibly symbolic."""
        return dims_of(self.value.type)

    @property
    def dtype(self) -> Attribute:
        """The element type."""
        return element_type(self.value.type)

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Scalar:
        indices = indices if isinstance(indices, tuple) else (indices,)
        return self.builder.insert(ReadOp(self.value, indices))


@dataclass(frozen=True)
class Scalar:
    """One element while a compute's body is written."""

    value: SSAValue
    builder: KernelBuilder

    @property
    def is_integer(self) -> bool:
        """Whether the element is an integer."""
        return isinstance(self.value.type, IntegerType)

    def _binary(self, sign: str, other: ScalarLike, swapped: bool = False) -> Scalar:
        a, b = self.value, self.builder.scalar(other, self.value.type).value
        a, b = (b, a) if swapped else (a, b)
        table = _INTEGER if self.is_integer else _FLOAT
        return self.builder.insert(table[sign](a, b))

    def __add__(self, other: ScalarLike) -> Scalar:
        return self._binary("+", other)

    def __radd__(self, other: ScalarLike) -> Scalar:
        return self._binary("+", other, swapped=True)

    def __sub__(self, other: ScalarLike) -> Scalar:
        return self._binary("-", other)

    def __rsub__(self, other: ScalarLike) -> Scalar:
        return self._binary("-", other, swapped=True)

    def __mul__(self, other: ScalarLike) -> Scalar:
        return self._binary("*", other)

    def __rmul__(self, other: ScalarLike) -> Scalar:
        return self._binary("*", other, swapped=True)

    def __truediv__(self, other: ScalarLike) -> Scalar:
        return self._binary("/", other)

    def __rtruediv__(self, other: ScalarLike) -> Scalar:
        return self._binary("/", other, swapped=True)

    def __neg__(self) -> Scalar:
        return self.builder.insert(arith.NegfOp(self.value))


@dataclass(frozen=True)
class Reduction:
    """What `KernelBuilder.sum` and its like return: the body of a reduction, written when its compute is."""

    kind: str
    extents: tuple[ExprLike, ...]
    body: Callable[..., ScalarLike]


class KernelBuilder:
    """Builds one `te.kernel`."""

    def __init__(self, name: str):
        self.name = name
        self.block = Block()
        self._at = Builder(InsertPoint.at_end(self.block))
        self._symbols: set[str] = set()
        self._stages: set[str] = set()

    # -- tensors

    def argument(self, type_: Attribute, name: str) -> Tensor:
        """Append a kernel argument of that tensor type."""
        value = self.block.insert_arg(type_, len(self.block.args))
        value.name_hint = name
        for dim in dims_of(type_):
            self._symbols |= {cast(str, key) for key in dim.variables()}
        return Tensor(value, self)

    def compute(
        self,
        stage: str,
        dims: Sequence[ExprLike],
        body: Callable[..., ScalarLike | Reduction],
        dtype: Attribute | None = None,
    ) -> Tensor:
        """Append a compute whose element at the axes is `body(*axes)`; `stage` gets a suffix if it is taken.

        `dtype` is needed only where the body is a Python number.
        """
        axes = self._name_axes(body, dims, taken=self._symbols)
        block = Block()
        outer, self._at = self._at, Builder(InsertPoint.at_end(block))
        element = body(*(var(n) for n, _ in axes))
        reduce_axes: list[tuple[str, ExprLike]] = []
        if isinstance(element, Reduction):
            reduce_axes = self._name_axes(element.body, element.extents, taken=self._symbols | {n for n, _ in axes})
            inner = self.scalar(element.body(*(var(n) for n, _ in reduce_axes)), dtype)
            self.insert(ReduceOp(element.kind, inner.value))
        else:
            inner = self.scalar(element, dtype)
            self.insert(YieldOp(inner.value))
        self._at = outer
        op = ComputeOp(self._unique(stage), axes, reduce_axes, tensor_type(dims, inner.value.type), Region(block))
        self._at.insert(op)
        return Tensor(op.result, self)

    def finish(self, results: Sequence[Tensor]) -> KernelOp:
        """The kernel that returns these tensors."""
        self._at.insert(ReturnOp([r.value for r in results]))
        types = FunctionType.from_lists(list(self.block.arg_types), [r.value.type for r in results])
        return KernelOp(self.name, types, Region(self.block))

    # -- reductions

    def sum(self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike]) -> Reduction:
        """The sum over reduce axes of these extents."""
        return Reduction("add", tuple(extents), body)

    def reduce_max(self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike]) -> Reduction:
        """The maximum over reduce axes; NaN wins."""
        return Reduction("max", tuple(extents), body)

    def reduce_min(self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike]) -> Reduction:
        """The minimum over reduce axes; NaN wins."""
        return Reduction("min", tuple(extents), body)

    def prod(self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike]) -> Reduction:
        """The product over reduce axes."""
        return Reduction("mul", tuple(extents), body)

    # -- scalars

    def constant(self, value: float | int, dtype: Attribute) -> Scalar:
        """A number of that element type."""
        if isinstance(dtype, IntegerType):
            return self.insert(arith.ConstantOp(IntegerAttr(int(value), cast(IntegerType, dtype))))
        return self.insert(arith.ConstantOp(FloatAttr(float(value), cast(AnyFloat, dtype))))

    def scalar(self, value: ScalarLike, dtype: Attribute | None) -> Scalar:
        """A scalar as it is; a Python number as a constant of type `dtype`."""
        if isinstance(value, Scalar):
            return value
        assert dtype is not None, "a body that is a number needs dtype="
        return self.constant(value, dtype)

    def max(self, a: Scalar, b: ScalarLike) -> Scalar:
        """The larger one; NaN wins."""
        op = arith.MaxSIOp if a.is_integer else arith.MaximumfOp
        return self.insert(op(a.value, self.scalar(b, a.value.type).value))

    def min(self, a: Scalar, b: ScalarLike) -> Scalar:
        """The smaller one; NaN wins."""
        op = arith.MinSIOp if a.is_integer else arith.MinimumfOp
        return self.insert(op(a.value, self.scalar(b, a.value.type).value))

    def power(self, a: Scalar, b: ScalarLike) -> Scalar:
        """`a` to the power `b`."""
        return self.insert(math.PowFOp(a.value, self.scalar(b, a.value.type).value))

    def call(self, function: str, a: Scalar) -> Scalar:
        """exp, tanh, erf, log, sqrt, rsqrt, abs, floor, ceil, sin or cos."""
        return self.insert(_UNARY[function](a.value))

    def if_then_else(
        self,
        when: Sequence[Predicate],
        then: Callable[[], ScalarLike],
        otherwise: Callable[[], ScalarLike],
        dtype: Attribute,
    ) -> Scalar:
        """Lazy choice on indices: only the chosen value is computed."""
        regions: list[Region] = []
        for branch in (then, otherwise):
            block = Block()
            outer, self._at = self._at, Builder(InsertPoint.at_end(block))
            self.insert(YieldOp(self.scalar(branch(), dtype).value))
            self._at = outer
            regions.append(Region(block))
        return self.insert(IfThenElseOp(when, dtype, *regions))

    # -- plumbing

    def insert(self, op: Operation) -> Scalar:
        """Append an operation to the body being written; its result, if it has one."""
        self._at.insert(op)
        return Scalar(op.results[0], self) if op.results else cast(Scalar, None)

    def _unique(self, stage: str) -> str:
        name, n = stage, 0
        while name in self._stages:
            n += 1
            name = f"{stage}.{n}"
        self._stages.add(name)
        return name

    def _name_axes(
        self, body: Callable[..., object], extents: Sequence[ExprLike], taken: set[str]
    ) -> list[tuple[str, ExprLike]]:
        names: list[str] = []
        parameters = list(inspect.signature(body).parameters.values())
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                names += [f"{p.name}{i}" for i in range(len(extents) - len(names))]
            else:
                names.append(p.name.rstrip("_"))
        assert len(names) == len(extents), f"{len(extents)} extents for axes {names}"
        used = set(taken)
        axes: list[tuple[str, ExprLike]] = []
        for name, extent in zip(names, extents, strict=True):
            while name in used:
                name += "_"
            used.add(name)
            axes.append((name, to_expr(extent)))
        return axes
