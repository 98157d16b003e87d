"""An ONNX node as its converter sees it, and the registry of converters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import onnx
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, TensorType, UnitAttr, f32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, ExprLike, const, to_expr
from tilework.algebra.predicate import Predicate, equal, multiple_of
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph import CastOp, ReshapeOp, TransposeOp
from tilework.dialects.graph.accumulation import accumulator
from tilework.dialects.graph.base import GraphOp, SizesDiffer, ints, is_float, linear_in, numpy_dtype
from tilework.dialects.graph.broadcast import BinaryOp
from tilework.dialects.graph.joint_shapes import are_computed_alike
from tilework.dialects.graph.logic import WhereOp
from tilework.dialects.graph.reshape import elements_equal
from tilework.dialects.support.diagnostics import TileworkError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of
from tilework.frontends.onnx.decisions import NeedsConstants
from tilework.frontends.onnx.emitter import Emitter
from tilework.frontends.onnx.fractions import has_fractions
from tilework.frontends.onnx.given import DependsOnInputs
from tilework.frontends.onnx.load import to_array
from tilework.frontends.onnx.same_sizes import find_same_sizes
from tilework.frontends.onnx.surroundings import Surroundings
from tilework.frontends.onnx.told_sizes import numbers_told, sizes_told
from tilework.frontends.onnx.types import (
    element_type,
    numpy_type,
    require_addressable,
)
from tilework.frontends.onnx.value_names import kind_name, onnx_name, type_text
from tilework.frontends.onnx.values import AnyValue, Array, Known, OptionalValue, Value, as_dims, dims_array, known

Converter: TypeAlias = "Callable[[Node], AnyValue | Sequence[AnyValue]]"

Function = TypeVar("Function", bound="Callable[[Node], AnyValue | Sequence[AnyValue]]")

STANDARD_DOMAINS = ("", "ai.onnx")

PREVIEW = "ai.onnx.preview"
"""The domain of operators that may become the standard's; there is one version of each."""

_CONVERTERS: dict[tuple[str, str], dict[int, Converter]] = {}
"""The converters by the domain and the name of an operator, then by opset."""


def converter(op_type: str, since: int = 1, domain: str = "") -> Callable[[Function], Function]:
    """Register a function that converts nodes of this operator, from this opset on until a later one takes over.

    The opset is the standard's, also for an operator of another domain. Raises TileworkError for a second one.
    """

    def register(function: Function) -> Function:
        versions = _CONVERTERS.setdefault((domain, op_type), {})
        if since in versions:
            places = f"in {versions[since].__module__} and in {function.__module__}"
            raise TileworkError(f"there are two converters for {'.'.join(filter(None, (domain, op_type)))}, {places}")
        versions[since] = function
        return function

    return register


def find_converter(node: Node) -> Converter | None:
    """The converter for a node's operator: the one registered for the latest opset that is not later than its own."""
    domain = "" if node.is_standard else node.proto.domain
    versions = _CONVERTERS.get((domain, node.op_type), {})
    return versions.get(max((since for since in versions if since <= node.opset), default=0))


class Node:
    """One node: its attributes, its inputs (None where absent), and the means to emit operators for it."""

    def __init__(
        self,
        proto: onnx.NodeProto,
        title: str,
        opset: int,
        inputs: Sequence[AnyValue | None],
        emitter: Emitter,
        folder: Path | None,
        around: Surroundings | None = None,
    ):
        self.proto = proto
        self.title = title
        self.opset = opset
        self.inputs = inputs
        self.emitter = emitter
        self._folder = folder
        self._around = around
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}

    @property
    def op_type(self) -> str:
        """The ONNX operator."""
        return self.proto.op_type

    @property
    def operator(self) -> str:
        """The operator with its domain, `my.ops::Swish`; one of the standard by its name alone."""
        return self.op_type if self.is_standard else f"{self.proto.domain}::{self.op_type}"

    @property
    def is_standard(self) -> bool:
        """Whether the operator is one of the ONNX standard."""
        return self.proto.domain in STANDARD_DOMAINS

    def inside(self, emitter: Emitter) -> Node:
        """The node as one that emits operators elsewhere."""
        return Node(self.proto, self.title, self.opset, self.inputs, emitter, self._folder, self._around)

    def given(self, inputs: Mapping[int, AnyValue]) -> Node:
        """The node with other inputs in some places."""
        values = [inputs.get(i, value) for i, value in enumerate(self.inputs)]
        return Node(self.proto, self.title, self.opset, values, self.emitter, self._folder, self._around)

    def graph(self, name: str, inputs: Sequence[AnyValue], outputs: int) -> list[AnyValue]:
        """What the graph that is attribute `name` makes of these inputs, so many outputs; emits its operators.

        What it takes as an optional may be given as the element of one, as by the iteration of a loop before.
        """
        graph: onnx.GraphProto = self._attributes[name].g
        for what, given, wanted in (("inputs", graph.input, len(inputs)), ("outputs", graph.output, outputs)):
            if len(given) != wanted:
                raise self.error(f"its {name} has {len(given)} {what}, not {wanted}")
        assert self._around is not None
        taken = [_as_declared(value, given.type) for value, given in zip(inputs, graph.input, strict=True)]
        try:
            return self._around.import_graph(graph, taken, self.emitter)
        except TileworkError as error:
            raise TileworkError(f"{self.op_type} '{self.title}': {error}") from error

    def trial(self, name: str) -> list[AnyValue] | Exception:
        """What the graph that is attribute `name` would make of no inputs, or why it makes nothing."""
        assert self._around is not None
        return self._around.try_graph(self._attributes[name].g, self.emitter)

    def declared_ranks(self) -> list[int | None]:
        """The numbers of axes that the model declares for the outputs."""
        assert self._around is not None
        return [self._around.declared_rank(name) for name in self.proto.output]

    def branch(self, likely: str, other: str) -> str:
        """Which of two branches is imported, where nothing says which."""
        assert self._around is not None
        return self._around.branch(self.title, likely, other)

    # -- attributes

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute's value: an int, float, string, list of these, or array; `default` where it is absent."""
        if name not in self._attributes:
            return default
        attribute = self._attributes[name]
        if attribute.type == onnx.AttributeProto.TENSOR:
            return to_array(attribute.t, self._folder)
        value = onnx.helper.get_attribute_value(attribute)
        return value.decode(errors="replace") if isinstance(value, bytes) else value

    def element_type(self, onnx_type: int | str) -> Attribute:
        """The element type for an ONNX data type: its number or, before opset 6, its name."""
        if isinstance(onnx_type, str):
            if onnx_type not in onnx.TensorProto.DataType.keys():
                raise self.error(f"'{onnx_type}' is no element type")
            onnx_type = onnx.TensorProto.DataType.Value(onnx_type)
        try:
            return element_type(onnx_type, "its result")
        except TileworkError as error:
            raise self.error(str(error)) from error

    # -- inputs

    def has(self, i: int) -> bool:
        """Whether input `i` is given."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def any_value(self, i: int) -> AnyValue:
        """Input `i`, a tensor or not."""
        value = self.inputs[i] if i < len(self.inputs) else None
        if value is None:
            raise self.error(f"input {i} is missing")
        return value

    def value(self, i: int) -> Value:
        """Input `i`, a tensor, known or not."""
        return self.one_tensor(self.any_value(i), f"input {i}")

    def one_tensor(self, value: AnyValue, what: str) -> Value:
        """The value, which has to be a tensor; `what` it is, says the error."""
        if not isinstance(value, SSAValue | Known):
            raise self.error(f"{what} is {kind_name(value)}, not a tensor")
        return value

    def tensor(self, i: int) -> SSAValue:
        """Input `i` as an SSA value."""
        return self.emitter.tensor(self.value(i))

    def dims(self, i: int) -> tuple[Expr, ...]:
        """The dimensions of input `i`."""
        return value_dims(self.value(i))

    def array(self, i: int, what: str, most: Expr | None = None) -> Array:
        """Input `i` as numbers: known, or sizes, those that data tell too, of which none is larger than `most`.

        `what` it is, says the error.
        """
        value = self._data_integers(i)
        if value is None:
            return self.known_array(i, what)
        sizes = sizes_told(self.emitter, value, most, self.title)
        if sizes is None:
            raise self._too_many(value, what)
        return known(dims_array(tuple(sizes)).reshape([d.offset for d in value_dims(value)]), self.title).array

    def numbers(self, i: int, what: str) -> list[Expr | SSAValue]:
        """Input `i` as integers: those that are known, or sizes, and tensors of one i64 each for those that are data.

        `what` it is, says the error.
        """
        value = self._data_integers(i)
        if value is None:
            return [*as_dims(self.known_array(i, what))]
        numbers = numbers_told(self.emitter, value, self.title)
        if numbers is None:
            raise self._too_many(value, what)
        return numbers

    def _data_integers(self, i: int) -> SSAValue | None:
        """Input `i` where it is integers that data tell."""
        value = self.value(i)
        is_integer = isinstance(value, SSAValue) and isinstance(_element_type(value), IntegerType)
        return value if isinstance(value, SSAValue) and is_integer and not self.emitter.defaults_in(value) else None

    def _too_many(self, value: SSAValue, what: str) -> TileworkError:
        return self.depends(value, f"its {what} is computed from data, and is no vector of a few sizes")

    def known_array(self, i: int, what: str) -> Array:
        """Input `i`, which has to be known while importing; `what` it is, says the error."""
        value = self.value(i)
        if isinstance(value, Known) and has_fractions(value.array):
            raise self.error(f"its {what} depends on symbolic dimensions")
        if isinstance(value, Known):
            return value.array
        if defaults := self.emitter.defaults_in(value):
            raise NeedsConstants(defaults)
        known = "but has to be known beforehand: shapes depend on it, and data do not decide these"
        raise self.depends(value, f"its {what} is computed from data, {known}")

    def integers(self, i: int, what: str) -> list[int]:
        """Known integers from input `i`."""
        array = self.known_array(i, what)
        if array.dtype == object:
            raise self.error(f"its {what} depends on symbolic dimensions")
        return [int(x) for x in array.flat]

    def count(self, i: int, what: str) -> Expr:
        """An integer from input `i`, which may depend on symbolic dimensions, or be a size that data tell."""
        array = self.array(i, what)
        if array.size != 1:
            raise self.error(f"its {what} is one number, not {array.size}")
        return to_expr(array.item())

    def number(self, i: int, what: str) -> float | int:
        """A known number from input `i`."""
        array = self.known_array(i, what)
        if array.dtype == object:
            raise self.error(f"its {what} depends on symbolic dimensions")
        if array.size != 1:
            raise self.error(f"its {what} is one number, not {array.size}")
        return array.item()

    def dtype(self, i: int) -> Attribute:
        """The element type of input `i`."""
        return self.dtype_of(self.value(i))

    def dtype_of(self, value: Value) -> Attribute:
        """The element type of a value."""
        return self.element_type(numpy_type(value.dtype)) if isinstance(value, Known) else _element_type(value)

    # -- results

    def emit(self, op: type[GraphOp], *operands: Value, **properties: Attribute | None) -> SSAValue:
        """Append an operator, whose first result it is; properties that are None stay absent."""
        return self.emit_all(op, *operands, **properties)[0]

    def emit_all(self, op: type[GraphOp], *operands: Value, **properties: Attribute | None) -> Sequence[SSAValue]:
        """Append an operator; all of its results. A shape that does not fit is the node's error.

        Where it fits for some sizes only, these are required, or SameSizes is raised.
        """
        given = {name: attribute for name, attribute in properties.items() if attribute is not None}
        if issubclass(op, BinaryOp | WhereOp):
            operands = self._aligned(operands)
        try:
            made = op.of(*map(self.emitter.tensor, operands), **given)
            for result in made.results:
                require_addressable(_tensor_type(result), "its result")
        except SizesDiffer as error:
            self.require_equal(error.one, error.other, str(error))
            at, axis, size = next((place for place in error.places if place[2].is_constant), error.places[0])
            fitting = self.of_size(operands[at], axis, size, str(error))
            return self.emit_all(op, *operands[:at], fitting, *operands[at + 1 :], **properties)
        except (VerifyException, TileworkError) as error:
            raise self.error(str(error)) from error
        self.emitter.insert(made, self.title)
        return made.results

    def _aligned(self, operands: Sequence[Value]) -> tuple[Value, ...]:
        """Operands that broadcast, where sizes that are computed from the same symbols are those of the first one."""
        aligned = list(operands)
        for i, value in enumerate(aligned):
            for axis, size in enumerate(reversed(value_dims(value)), start=1):
                before = [value_dims(v)[-axis] for v in aligned[:i] if len(value_dims(v)) >= axis]
                alike = next((other for other in before if are_computed_alike(other, size)), None)
                if alike is not None:
                    what = f"its operands have sizes {alike} and {size} along one axis"
                    aligned[i] = self.of_size(aligned[i], len(value_dims(value)) - axis, alike, what)
        return tuple(aligned)

    # -- sizes of which only the running model knows

    def require(self, what: str, *any_of: Predicate) -> None:
        """Let the model run only where one of these conditions on sizes holds. `what` is wrong else.

        Raises TileworkError where none ever does.
        """
        requirement = Requirement(any_of, f"{self.op_type} '{self.title}': {what}")
        if requirement.is_never_met():  # where it is met by sizes of 0 alone, too: that is a mistake
            raise self.error(what)
        if not requirement.is_always_met():
            self.emitter.require(requirement, self.title)

    def require_equal(self, one: Expr, other: Expr, what: str) -> None:
        """Let the model run only where two sizes are equal. Raises SameSizes where that decides about an input's."""
        if one != other:
            self._find_same_sizes(one, other)
            self.require(what, equal(one, other))

    def _find_same_sizes(self, one: Expr, other: Expr) -> None:
        """Raise SameSizes where two sizes, which have to be equal, are that for one size of an input only."""
        emitter = self.emitter
        find_same_sizes(one, other, f"{self.op_type} '{self.title}'", emitter.whole, emitter.is_told)

    def quotient(self, size: Expr, by: Expr | int, what: str) -> Expr:
        """A size by another, which divides it."""
        self.require(what, multiple_of(size, by))
        return size // by

    def of_size(self, value: Value, axis: int, size: Expr, what: str) -> Value:
        """The value, an axis of which is of this size; where that is open, it is required."""
        dims = value_dims(value)
        return self.of_dims(value, [*dims[:axis], size, *dims[axis + 1 :]], what)

    def of_dims(self, value: Value, dims: Sequence[Expr], what: str) -> Value:
        """The value, which is of these dimensions; where that is open, it is required."""
        self.require_dims(value, dims, what)
        return self.reshape(value, dims)

    def require_dims(self, value: Value, dims: Sequence[Expr], what: str) -> None:
        """Let the model run only where a value is of these dimensions."""
        own = value_dims(value)
        if len(own) != len(dims):
            raise self.error(what)
        for size, wanted in zip(own, dims, strict=True):
            self.require_equal(size, wanted, what)

    def reshape(self, value: Value, dims: Sequence[Expr]) -> Value:
        """The value under other dimensions; a known array is only looked at otherwise.

        Where these may be of as many elements, that is required.
        """
        before = value_dims(value)
        if tuple(dims) == before:
            return value
        sizes = [d.constant for d in dims if d.constant is not None]
        if isinstance(value, Known) and len(sizes) == len(dims) and prod(sizes) == value.array.size:
            return known(value.array.reshape(sizes), value.name, value.element)
        condition = elements_equal(before, dims)
        if condition.constant is not None:
            return self.emit(ReshapeOp, value, shape=DimsAttr.of(dims))
        shapes = " into ".join(f"[{', '.join(map(str, shape))}]" for shape in (before, dims))
        self._find_same_sizes(condition.expr, const(0))
        self.require(f"it cannot reshape {shapes}, which is of another number of elements", condition)
        told = self.inputs_with_symbols(before, dims)
        return self.emit(ReshapeOp, value, *told, shape=DimsAttr.of(dims), checked=UnitAttr())

    def inputs_with_symbols(self, known: Iterable[Expr], sizes: Iterable[Expr]) -> list[SSAValue]:
        """Inputs of the model with the symbols in sizes that dimensions which are known do not tell."""
        told = {key for d in known for key in linear_in(d)}
        return self.emitter.inputs_with_symbols(e for e in sizes if not told.issuperset(e.variables()))

    def size(self, size: ExprLike) -> Known:
        """A size as an int64 without dimensions."""
        return known(np.array(to_expr(size), object), self.title)

    def transposed(self, value: Value, permutation: Sequence[int]) -> Value:
        """The value with its axes in another order."""
        if list(permutation) == sorted(permutation):
            return value
        return self.emit(TransposeOp, value, permutation=ints(permutation))

    def scalar(self, number: float, like: Value) -> Known:
        """A number with the element type of `like`, without dimensions."""
        dtype = like.array.dtype if isinstance(like, Known) else numpy_dtype(_element_type(like))
        array = np.array(number, dtype)
        if not is_float(dtype) and array != number:
            raise self.error(f"it computes with {number:g}, which is no {dtype}")
        return Known(array, self.title)

    # -- half precision: what takes several steps is computed in f32 and rounded at the end

    def widened(self, value: Value) -> Value:
        """Half-precision numbers as f32, others as they are."""
        return self.cast(value, accumulator(self.dtype(0)))

    def narrowed(self, value: Value) -> Value:
        """The value in the element type of input 0."""
        return self.cast(value, self.dtype(0))

    def cast(self, value: Value, to: Attribute) -> Value:
        """The value in another element type, itself where it has that already."""
        return value if self.dtype_of(value) == to else self.emit(CastOp, value, to=to)

    # -- errors

    def error(self, message: str) -> TileworkError:
        """An error that says which node it is about, and what it is given."""
        return TileworkError(f"{self.op_type} '{self.title}': {message} (inputs: {self.input_types()})")

    def depends(self, value: SSAValue, message: str) -> TileworkError:
        """The error of a node that would have to know this value: DependsOnInputs where inputs decide about it."""
        text, names = str(self.error(message)), self.emitter.inputs_read(value)
        return DependsOnInputs(text, names) if names else TileworkError(text)

    def input_types(self) -> str:
        """The types of the inputs, for messages."""
        given = zip(self.proto.input, self.inputs, strict=True)
        return ", ".join(type_text(value) if value is not None else "?" if name else "-" for name, value in given)


def value_dims(value: Value) -> tuple[Expr, ...]:
    """The dimensions of a value."""
    return tuple(map(const, value.array.shape)) if isinstance(value, Known) else dims_of(value.type)


def _as_declared(value: AnyValue, type_: onnx.TypeProto) -> AnyValue:
    if isinstance(value, OptionalValue) or not type_.HasField("optional_type"):
        return value
    return OptionalValue(value, onnx_name(value))


def _element_type(value: SSAValue) -> Attribute:
    return _tensor_type(value).element_type


def _tensor_type(value: SSAValue) -> TensorType[Attribute]:
    return cast("TensorType[Attribute]", value.type)


def float_attr(value: float) -> FloatAttr:
    """A number of an ONNX attribute, which is an f32."""
    return FloatAttr(float(np.float32(value)), f32)


def number_attr(value: float, element: Attribute) -> FloatAttr | IntegerAttr:
    """A number of a tensor's element type."""
    if isa(element, IntegerType):
        return IntegerAttr(int(value), element)
    return FloatAttr(value, cast(AnyFloat, element))


def int_attr(value: int) -> IntegerAttr:
    """An integer of an ONNX attribute."""
    return IntegerAttr(value, i64)
