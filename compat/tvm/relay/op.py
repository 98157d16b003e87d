"""Operators of graphs, by the names of relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from typing import cast as typed

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr as Size
from tilework.algebra.index_expr import const as size
from tilework.algebra.index_expr import product
from tilework.compat.tvm.relay.expr import Call, Expr, Maker, Tuple, wrapped
from tilework.dialects import graph
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.te import element_type_of


def call(name: str, args: Sequence[Any], make: Callable[..., SSAValue]) -> Expr:
    """An operator on expressions, or on numbers, which are constants."""
    return Call(name, tuple(map(wrapped, args)), make)


def maker(op: type[GraphOp], **properties: Attribute) -> Maker:
    """What appends an operator with such properties."""

    def make(*values: SSAValue) -> SSAValue:
        return op.of(*values, **properties).results[0]

    return make


def numbers_in(axis: Any) -> list[int]:
    """One axis or several by number."""
    return [int(a) for a in (typed("Sequence[Any]", axis) if isinstance(axis, list | tuple) else (axis,))]


def integers(values: Sequence[int]) -> DenseArrayBase[Any]:
    """A list of numbers as an attribute."""
    return DenseArrayBase.from_list(i64, [int(v) for v in values])


def whole(value: int) -> IntegerAttr[Any]:
    """A number as an attribute."""
    return IntegerAttr(int(value), i64)


def axis_of(axis: int, value: SSAValue, more: int = 0) -> int:
    """An axis counted from the front. Raises TVMError for one that there is not."""
    rank = len(dims_of(value.type)) + more
    if not -rank <= axis < rank:
        raise UsageError(f"axis {axis} of a tensor of {rank} dimensions")
    return axis % rank


def reshaped(value: SSAValue, dims: Sequence[Size | int]) -> SSAValue:
    """The elements under other dimensions."""
    exprs = tuple(d if isinstance(d, Size) else size(d) for d in dims)
    return graph.ReshapeOp.of(value, shape=DimsAttr(exprs)).result


def _binary(name: str, op: type[Any]) -> Callable[[Any, Any], Expr]:
    def operator(lhs: Any, rhs: Any) -> Expr:
        return call(name, (lhs, rhs), maker(op))

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} of two tensors, as numpy broadcasts them."
    return operator


def _unary(name: str, op: type[Any]) -> Callable[[Any], Expr]:
    def operator(data: Any) -> Expr:
        return call(name, (data,), maker(op))

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} of each element."
    return operator


def _reduction(name: str, op: type[Any]) -> Callable[..., Expr]:
    def operator(data: Any, axis: Any = None, keepdims: bool = False) -> Expr:
        def make(x: SSAValue) -> SSAValue:
            rank = len(dims_of(x.type))
            axes = sorted({axis_of(a, x) for a in (range(rank) if axis is None else numbers_in(axis))})
            return op.of(x, axes=integers(axes), keep_dims=BoolAttr.from_bool(keepdims)).result

        return call(name, (data,), make)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} over axes, all by default; with keepdims they stay, of extent 1."
    return operator


add = _binary("add", graph.AddOp)
subtract = _binary("subtract", graph.SubOp)
multiply = _binary("multiply", graph.MulOp)
divide = _binary("divide", graph.DivOp)
maximum = _binary("maximum", graph.MaxOp)
minimum = _binary("minimum", graph.MinOp)
power = _binary("power", graph.PowOp)
equal = _binary("equal", graph.EqualOp)
less = _binary("less", graph.LessOp)
less_equal = _binary("less_equal", graph.LessEqualOp)
logical_and = _binary("logical_and", graph.AndOp)
logical_or = _binary("logical_or", graph.OrOp)
exp = _unary("exp", graph.ExpOp)
log = _unary("log", graph.LogOp)
sqrt = _unary("sqrt", graph.SqrtOp)
tanh = _unary("tanh", graph.TanhOp)
sigmoid = _unary("sigmoid", graph.SigmoidOp)
erf = _unary("erf", graph.ErfOp)
negative = _unary("negative", graph.NegOp)
abs = _unary("abs", graph.AbsOp)  # noqa: A001  TVM's name
floor = _unary("floor", graph.FloorOp)
ceil = _unary("ceil", graph.CeilOp)
sin = _unary("sin", graph.SinOp)
cos = _unary("cos", graph.CosOp)
logical_not = _unary("logical_not", graph.NotOp)
sum = _reduction("sum", graph.ReduceSumOp)  # noqa: A001
prod = _reduction("prod", graph.ReduceProdOp)
max = _reduction("max", graph.ReduceMaxOp)  # noqa: A001
min = _reduction("min", graph.ReduceMinOp)  # noqa: A001
mean = _reduction("mean", graph.ReduceMeanOp)


def cast(data: Any, dtype: str) -> Expr:
    """Each element as a number of another type."""
    return call("cast", (data,), maker(graph.CastOp, to=element_type_of(dtype)))


def clip(a: Any, a_min: float, a_max: float) -> Expr:
    """Each element, at least a_min and at most a_max."""

    def make(x: SSAValue) -> SSAValue:
        type_: Any = element_type(x.type)
        return graph.ClipOp.of(x, low=FloatAttr(a_min, type_), high=FloatAttr(a_max, type_)).result

    return call("clip", (a,), make)


def transpose(data: Any, axes: Sequence[int] | None = None) -> Expr:
    """The tensor with axes in another order, by default the opposite one."""

    def make(x: SSAValue) -> SSAValue:
        order = range(len(dims_of(x.type)))[::-1] if axes is None else [axis_of(a, x) for a in axes]
        return graph.TransposeOp.of(x, permutation=integers(order)).result

    return call("transpose", (data,), make)


def reshape(data: Any, newshape: Any) -> Expr:
    """The elements in their order in another shape; a size may be -1, which the others say, or 0, which stays."""
    sizes = [newshape] if isinstance(newshape, int) else [int(n) for n in newshape]

    def make(x: SSAValue) -> SSAValue:
        own = dims_of(x.type)
        dims = [own[place] if n == 0 else size(n) for place, n in enumerate(sizes)]
        if -1 in sizes:
            rest = product([d for d, n in zip(dims, sizes, strict=True) if n != -1])
            dims[sizes.index(-1)] = product(own) // rest
        return reshaped(x, dims)

    return call("reshape", (data,), make)


def expand_dims(data: Any, axis: int, num_newaxis: int = 1) -> Expr:
    """The tensor with axes of extent 1 from `axis` on."""

    def make(x: SSAValue) -> SSAValue:
        dims, at = list(dims_of(x.type)), axis_of(axis, x, more=1)
        return reshaped(x, [*dims[:at], *[1] * num_newaxis, *dims[at:]])

    return call("expand_dims", (data,), make)


def squeeze(data: Any, axis: Any = None) -> Expr:
    """The tensor without axes of extent 1, all of them by default."""

    def make(x: SSAValue) -> SSAValue:
        dims = dims_of(x.type)
        ones = {place for place, d in enumerate(dims) if d.constant == 1}
        gone = ones if axis is None else {axis_of(a, x) for a in numbers_in(axis)}
        if gone - ones:
            raise UsageError(f"relay.squeeze of axis {(gone - ones).pop()}, whose extent is not 1")
        return reshaped(x, [d for place, d in enumerate(dims) if place not in gone])

    return call("squeeze", (data,), make)


def concatenate(data: Any, axis: int = 0) -> Expr:
    """Tensors one behind the other along an axis."""
    parts = data.fields if isinstance(data, Tuple) else tuple(data)

    def make(*values: SSAValue) -> SSAValue:
        return graph.ConcatOp.of(*values, axis=whole(axis_of(axis, values[0]))).result

    return call("concatenate", parts, make)


def where(condition: Any, x: Any, y: Any) -> Expr:
    """Elements of x where the condition holds, of y elsewhere."""
    return call("where", (condition, x, y), maker(graph.WhereOp))


__all__ = [
    "abs",
    "add",
    "cast",
    "ceil",
    "clip",
    "concatenate",
    "cos",
    "divide",
    "equal",
    "erf",
    "exp",
    "expand_dims",
    "floor",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "power",
    "prod",
    "reshape",
    "sigmoid",
    "sin",
    "sqrt",
    "squeeze",
    "subtract",
    "sum",
    "tanh",
    "transpose",
    "where",
]
