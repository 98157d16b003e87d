"""Tensors of the te language and the operations that make them: te.placeholder and te.compute."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import LocationAttr

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, const
from tilework.frontends.te.arguments import check_attributes, check_integer, check_text, kind, listed
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.index import Index, IntImm, IterVar, Name, Range, Var, index_of, shape_of, to_index
from tilework.frontends.te.joint_reductions import joint_body
from tilework.frontends.te.scalar import (
    Elementwise,
    IndexData,
    Reduction,
    Scalar,
    ScalarLike,
    Test,
    as_scalar,
    binary,
    walk,
)
from tilework.frontends.te.source_location import user_location


class Operation:
    """What makes one or several tensors. Compared by identity."""

    def __init__(self, name: str, tag: str, attrs: Mapping[str, Any] | None):
        self.name = check_text(name, "the name of a tensor")
        self.tag = check_text(tag, "the tag of a tensor") or _tags[-1]
        self.attrs = check_attributes(attrs, f"attrs of '{name}'")
        self.location: LocationAttr = user_location()
        self.outputs: list[Tensor] = []

    @property
    def num_outputs(self) -> int:
        """How many tensors it makes."""
        return len(self.outputs)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors read, each once."""
        return []

    def output(self, index: int) -> Tensor:
        """One of its tensors, counted from 0. Raises UsageError where there is none."""
        if not 0 <= check_integer(index, f"the number of a tensor of '{self.name}'") < len(self.outputs):
            raise UsageError(f"'{self.name}' has {len(self.outputs)} tensors, counted from 0: there is no {index}")
        return self.outputs[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """A tensor that the caller gives."""


class StagedOp(Operation):
    """What a stage runs. axis, reduce_axis: its axes."""

    def __init__(
        self,
        name: str,
        axis: Sequence[IterVar],
        reduce_axis: Sequence[IterVar],
        tag: str = "",
        attrs: Mapping[str, Any] | None = None,
    ):
        super().__init__(name, tag, attrs)
        self.axis = list(axis)
        self.reduce_axis = list(reduce_axis)


class ComputeOp(StagedOp):
    """Tensors of one shape by a rule for their elements. body: an element's values."""

    def __init__(
        self,
        name: str,
        axis: Sequence[IterVar],
        body: Sequence[Scalar],
        tag: str = "",
        attrs: Mapping[str, Any] | None = None,
    ):
        reduce_axis = body[0].reduce.axes if isinstance(body[0], Reduction) else ()
        super().__init__(name, axis, reduce_axis, tag, attrs)
        self.body = list(body)

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(read.tensor for read in elements_read(self.body)))


class ScheduledOp(StagedOp):
    """What a stage runs once a primitive has rewritten it, or made it."""

    def __init__(self, name: str, axis: Sequence[IterVar], reduce_axis: Sequence[IterVar], inputs: Sequence[Tensor]):
        super().__init__(name, axis, reduce_axis)
        self._inputs = list(inputs)

    @property
    def body(self) -> list[Scalar]:
        """The expression is no value of Python any more. Raises AttributeError, which says where it is to be seen."""
        raise AttributeError(
            f"a primitive has rewritten stage '{self.name}': print the schedule: it has kernel and primitives"
        )

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(self._inputs)


class Tensor(Elementwise):
    """A tensor: indexed inside a compute, it gives an element. Compared by identity.

    `+ - * / // %` of it make tensors, with numbers and values element by element, with other tensors as numpy
    broadcasts them.
    """

    def __init__(self, op: Operation, shape: tuple[Expr, ...], dtype: str, value_index: int = 0):
        self.op: Any = op  # of a class that has `axis` in most places where it is asked for
        self.dims = shape
        self.dtype = dtype
        self.value_index = value_index

    @property
    def shape(self) -> tuple[IntImm | Index, ...]:
        """The extents, integers where they are known."""
        return tuple(map(index_of, self.dims))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def name(self) -> str:
        """The name of the operation, with a number where it makes several tensors."""
        return f"{self.op.name}.v{self.value_index}" if self.op.num_outputs > 1 else self.op.name

    def __getitem__(self, indices: object) -> Scalar | TensorSlice:
        return TensorSlice(self, ())[indices]

    def __call__(self, *indices: object) -> Scalar:
        """The element at these indices, one for each dimension."""
        if len(indices) != self.ndim:
            raise UsageError(f"{len(indices)} indices into tensor '{self.name}' of {self.ndim} dimensions")
        exprs = tuple(map(to_index, indices))
        for axis, (e, dim) in enumerate(zip(exprs, self.dims, strict=True)):
            if e.constant is not None and (e.constant < 0 or (dim.constant is not None and e.constant >= dim.constant)):
                raise UsageError(
                    f"index {e} is outside dimension {axis} of tensor '{self.name}', which has extent {dim}"
                )
        return Element(self.dtype, self, exprs)

    def joined(self, function: str, a: object, b: object) -> Any:
        """The tensor of a function of two operands, of which this is one. Raises UsageError for shapes that differ."""
        return broadcast(lambda x, y: binary(function, x, y), a, b, f"T_{function}")

    def __neg__(self) -> Tensor:
        return compute(self.shape, lambda *i: -self(*i), f"T_neg_{self.op.name}", "elemwise")

    def astype(self, dtype: object) -> Tensor:
        """A tensor of its elements converted to another type."""
        return compute(self.shape, lambda *i: self(*i).astype(dtype), f"T_cast_{self.op.name}", "elemwise")

    def __iter__(self) -> Any:
        raise UsageError(f"tensor '{self.name}' cannot be iterated over: index it")

    def __repr__(self) -> str:
        return f"Tensor({self.name}: {self.dtype} [{', '.join(map(str, self.dims))}])"


@dataclass(frozen=True, eq=False)
class Element(Scalar):
    """One element of a tensor."""

    tensor: Tensor
    indices: tuple[Expr, ...]


class TensorSlice(ScalarLike):
    """A tensor with some of its indices given, as in `A[i][j]`."""

    def __init__(self, tensor: Tensor, indices: tuple[object, ...]):
        self.tensor = tensor
        self.indices = indices

    def __getitem__(self, indices: object) -> Scalar | TensorSlice:
        given = cast("tuple[object, ...]", indices) if isinstance(indices, tuple) else (indices,)
        every = (*self.indices, *given)
        for index in given:
            to_index(index)
        return TensorSlice(self.tensor, every) if len(every) < self.tensor.ndim else self.tensor(*every)

    @property
    def dtype(self) -> str:
        """The element type."""
        return self.tensor.dtype

    def scalar(self) -> Scalar:
        return self.tensor(*self.indices)


def tensors_of(value: object, what: str) -> list[Tensor]:
    """One tensor or a list of tensors. Raises UsageError for anything else."""
    given = [value] if isinstance(value, Tensor) else listed(value)
    for tensor in [value] if given is None else given:
        if not isinstance(tensor, Tensor):
            raise UsageError(f"{what}: tensors are expected, not {kind(tensor)}")
    return cast("list[Tensor]", given)


# -- making them


class NumberVar(ScalarLike):
    """A number that the caller of the compiled function gives, of a type that is no index. tensor: what holds it."""

    def __init__(self, name: str, dtype: str):
        self.name = name
        self.dtype = dtype
        self.tensor = placeholder((), dtype, name)

    def scalar(self) -> Scalar:
        return self.tensor()


Argument: TypeAlias = Tensor | Var | NumberVar
"""What a compiled function takes: a tensor, or a number."""


def var(name: str = "tindex", dtype: str = "int32") -> Any:
    """What is known when the compiled function is called: a symbolic extent, or a number that stands in its arguments.

    A `Var` of int32 or int64 is an extent and an index, a `NumberVar` of another type a number alone.
    """
    check_text(name, "the name of a te.var")
    return Var(name) if check_dtype(dtype) in ("int32", "int64") else NumberVar(name, check_dtype(dtype))


def size_var(name: str = "size", dtype: str = "int32") -> Var:
    """Make a symbolic extent. Raises UsageError for a dtype that is no index."""
    if check_dtype(dtype) not in ("int32", "int64"):
        raise UsageError(f"te.size_var '{name}' of {dtype}: a symbol is an extent, int32 or int64")
    return var(name, dtype)


def reduce_axis(dom: object, name: str = "rv") -> IterVar:
    """An axis to reduce over, from dom[0] on and before dom[1]."""
    return IterVar(_domain(dom), name, is_reduce=True)


def thread_axis(dom: object = None, tag: str = "", name: str = "") -> IterVar:
    """A thread index such as "threadIdx.x", for `bind`; an extent may come first."""
    if isinstance(dom, str):
        dom, tag = None, dom
    if not check_text(tag, "the tag of a thread axis"):
        raise UsageError('te.thread_axis needs a tag, such as "threadIdx.x"')
    name = check_text(name, "the name of a thread axis") or tag
    return IterVar(None if dom is None else _domain(dom), name, thread_tag=tag)


def _domain(dom: object) -> Range:
    if isinstance(dom, Range):
        return dom
    given = cast("Sequence[object]", dom) if isinstance(dom, tuple | list) else (0, dom)
    if len(given) != 2:
        raise UsageError(f"a domain is (first, end); {len(given)} numbers given")
    first, end = map(to_index, given)
    return Range(Index(first), Index(end - first))


def placeholder(shape: object, dtype: object = None, name: str = "placeholder") -> Tensor:
    """A tensor that the caller of the compiled function gives; by default of float32."""
    op = PlaceholderOp(name, "", None)
    op.outputs = [Tensor(op, shape_of(shape), "float32" if dtype is None else check_dtype(dtype))]
    return op.outputs[0]


def compute(
    shape: object,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor whose element at indices is `fcompute(*indices)`; a list of tensors where that is a tuple.

    Axes take the names of the parameters, those behind `*` the names i0, i1, ... or `varargs_names`.
    """
    dims = shape_of(shape)
    names = _axis_names(name, fcompute, len(dims), varargs_names)
    axis = [IterVar(Range(0, Index(dim)), n) for n, dim in zip(names, dims, strict=True)]
    given = fcompute(*axis)
    body = tuple(map(_element, cast("Sequence[object]", given) if isinstance(given, tuple | list) else (given,)))
    if not body:
        raise UsageError(f"compute '{name}' returns no value")
    body = joint_body(name, body)
    op = ComputeOp(name, axis, body, tag, attrs)
    op.outputs = [Tensor(op, dims, value.dtype, i) for i, value in enumerate(body)]
    return op.outputs if isinstance(given, tuple | list) else op.outputs[0]


def broadcast(function: Callable[[Any, Any], Any], a: object, b: object, name: str) -> Tensor:
    """The tensor of a function of two operands' elements, as numpy broadcasts these; one may be a value.

    Its tag is "broadcast" or, of one tensor, "elemwise". Raises UsageError for shapes that do not broadcast.
    """
    tensors = [operand for operand in (a, b) if isinstance(operand, Tensor)]
    rank = max(tensor.ndim for tensor in tensors)
    dims = [const(1)] * rank
    for tensor in tensors:
        for place, dim in enumerate(tensor.dims, start=rank - tensor.ndim):
            if const(1) not in (dim, dims[place]) and dim != dims[place]:
                shapes = " and ".join(str(list(map(str, t.dims))) for t in tensors)
                raise UsageError(f"{name} of tensors of shapes {shapes}, which do not broadcast")
            dims[place] = dim if dims[place] == const(1) else dims[place]

    def element(operand: object, at: Sequence[IterVar]) -> object:
        if not isinstance(operand, Tensor):
            return operand
        own = zip(at[rank - operand.ndim :], operand.dims, strict=True)
        return operand(*(0 if dim == const(1) else index for index, dim in own))

    tag = "broadcast" if len(tensors) > 1 else "elemwise"
    shape = tuple(map(index_of, dims))
    return compute(shape, lambda *at: function(element(a, at), element(b, at)), name, tag)


_tags: list[str] = [""]


@contextmanager
def tag_scope(tag: str) -> Generator[None]:
    """The tag of the computes made inside that have none of their own."""
    _tags.append(check_text(tag, "the tag of a scope"))
    try:
        yield
    finally:
        _tags.pop()


# -- what a body reads


def elements_read(body: Sequence[Scalar]) -> list[Element]:
    """Every element read, also where it is an index."""
    found: list[Element] = []
    for value in walk(body):
        if isinstance(value, Element):
            found.append(value)
        for name in names_in(value):
            if name.data is not None:
                found += elements_read([name.data])
    return found


def names_in(value: Scalar) -> list[Name]:
    """The variables of the indices that a value itself holds, not those inside its operands."""
    exprs: tuple[Expr, ...] = ()
    match value:
        case Element():
            exprs = value.indices
        case IndexData():
            exprs = (value.expr,)
        case Test():
            exprs = (value.predicate.expr,)
        case _:
            pass
    return [cast(Name, key) for e in exprs for key in e.variables()]


def _element(value: object) -> Scalar:
    """What a compute's rule returns: a reduction is allowed here."""
    if isinstance(value, Reduction):
        return value
    if isinstance(value, Tensor) and value.ndim == 0:
        return value()
    return as_scalar(value)


def _axis_names(name: str, function: object, rank: int, varargs_names: Sequence[str] | None) -> list[str]:
    if not callable(function):
        raise UsageError(f"compute '{name}' is given by a function of indices, not by {kind(function)}")
    rest = None if varargs_names is None else listed(varargs_names)
    if varargs_names is not None and rest is None:
        raise UsageError(f"varargs_names of compute '{name}' is a list of names, not {kind(varargs_names)}")
    others = None if rest is None else [check_text(n, f"a name of varargs_names of compute '{name}'") for n in rest]
    parameters = _parameters(name, function)
    names = [p.name for p in parameters if p.kind in _POSITIONAL and p.default is p.empty]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        names += [f"i{i}" for i in range(len(names), rank)] if others is None else others
    if len(names) != rank:
        raise UsageError(f"a compute of {rank} dimensions: its function takes {len(names)} indices, {', '.join(names)}")
    return names


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(name: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(f"compute '{name}' is given by a function whose parameters Python does not know") from None
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise UsageError(f"the function of compute '{name}' asks for {parameter.name}=: it is called with indices")
    return parameters
