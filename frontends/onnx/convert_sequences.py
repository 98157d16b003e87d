"""Converters: sequences and optionals, whose lengths and positions are known while importing. Nothing is emitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from tilework.algebra.index_expr import Expr, const
from tilework.frontends.onnx.axes import axis_from_front, from_front
from tilework.frontends.onnx.convert_movement import concatenated
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.sizes import parts_of
from tilework.frontends.onnx.types import type_text
from tilework.frontends.onnx.value_names import element_number, is_integer, onnx_name
from tilework.frontends.onnx.values import AnyValue, Known, OptionalValue, Value, ValueSequence, as_dims, known

# ---- Sequences -------------------------------------------------------------------------------------------------------


@converter("SequenceEmpty")
def sequence_empty(node: Node) -> ValueSequence:
    """Make an empty sequence, of floats where it does not say otherwise."""
    return ValueSequence((), node.attribute("dtype", onnx.TensorProto.FLOAT))


@converter("SequenceConstruct")
def sequence_construct(node: Node) -> ValueSequence:
    """Make a sequence of the inputs."""
    values = tuple(node.value(i) for i in range(len(node.inputs)))
    return ValueSequence(values, element_number(values[0]))


@converter("SequenceInsert")
def sequence_insert(node: Node) -> ValueSequence:
    """In front of a position, or at the end."""
    sequence, value = _sequence(node), node.value(1)
    if element_number(value) != sequence.element:
        raise node.error(f"a {onnx_name(value)} is put into a {onnx_name(sequence)}")
    at = _position(node, 2, len(sequence.values) + 1) if node.has(2) else len(sequence.values)
    return ValueSequence((*sequence.values[:at], value, *sequence.values[at:]), sequence.element)


@converter("SequenceErase")
def sequence_erase(node: Node) -> ValueSequence:
    """All but one, the last where no position says which."""
    sequence = _sequence(node)
    if not sequence.values:
        raise node.error("nothing can be erased from an empty sequence")
    at = _position(node, 1, len(sequence.values)) if node.has(1) else len(sequence.values) - 1
    return ValueSequence((*sequence.values[:at], *sequence.values[at + 1 :]), sequence.element)


@converter("SequenceAt")
def sequence_at(node: Node) -> Value:
    """Take one element of a sequence."""
    values = _sequence(node).values
    return values[_position(node, 1, len(values))]


@converter("SequenceLength")
def sequence_length(node: Node) -> Value:
    """A number known while importing."""
    return node.size(len(_sequence(node).values))


@converter("SequenceMap")
def sequence_map(node: Node) -> Sequence[AnyValue]:
    """The body, once for each element of the sequences; other inputs are the same for all."""
    inputs, outputs = [node.any_value(i) for i in range(len(node.inputs))], len(node.proto.output)
    lengths = [len(value.values) for value in inputs if isinstance(value, ValueSequence)]
    if len(set(lengths)) > 1:
        raise node.error(f"its sequences are of one length, not of {' and '.join(map(str, lengths))}")
    made = [
        node.graph("body", [v.values[i] if isinstance(v, ValueSequence) else v for v in inputs], outputs)
        for i in range(lengths[0])
    ]
    if not made:
        return [ValueSequence((), output.type.tensor_type.elem_type) for output in node.attribute("body").output]
    tensors = [[node.one_tensor(value, "what its body makes") for value in values] for values in made]
    return [ValueSequence(values, element_number(values[0])) for values in zip(*tensors, strict=True)]


def _sequence(node: Node) -> ValueSequence:
    """Input 0; the standard allows nothing else there."""
    value = node.any_value(0)
    assert isinstance(value, ValueSequence)
    return value


def _position(node: Node, i: int, count: int) -> int:
    """Input `i`, one of so many positions, counted from the front. Those to insert at end one later than elements."""
    position = int(node.number(i, "position"))
    length = len(_sequence(node).values)
    if not -length <= position < count:
        raise node.error(f"a sequence of {length} has no position {position}")
    return position + length if position < 0 else position


# ---- Sequences and tensors -------------------------------------------------------------------------------------------


@converter("SplitToSequence")
def split_to_sequence(node: Node) -> ValueSequence:
    """Slices behind one another: of the sizes given, or all of one size but for the last.

    Those of size 1 may be without their axis. By the standard only where no size is given; but PyTorch's exporters
    write the 1 too, and onnxruntime reads it so.
    """
    axis, value, element = axis_from_front(node, 0), node.value(0), element_number(node.value(0))
    parts = parts_of(node, value, axis, _sizes(node, axis))
    is_single = not node.has(1) or node.dims(1) == () and node.number(1, "size of parts") == 1
    if is_single and not node.attribute("keepdims", 1):
        dims = node.dims(0)
        parts = [node.reshape(part, [*dims[:axis], *dims[axis + 1 :]]) for part in parts]
    return ValueSequence(tuple(parts), element)


def _sizes(node: Node, axis: int) -> list[Expr]:
    """The sizes of the parts along the axis that is split."""
    if node.has(1):
        given = node.array(1, "size of parts")
        if given.ndim == 1:
            return as_dims(given)
        if given.ndim > 1:
            raise node.error("the sizes of its parts are one number, or a list")
        size = int(node.number(1, "size of parts"))
        if size < 1:
            raise node.error(f"{size} is no size of parts")
    else:
        size = 1
    extent = node.dims(0)[axis].constant
    if extent is None:
        raise node.error(f"how many parts it makes is open: axis {axis} has size {node.dims(0)[axis]}")
    return [const(min(size, extent - start)) for start in range(0, extent, size)]


@converter("ConcatFromSequence")
def concat_from_sequence(node: Node) -> Value:
    """The elements along an axis that they have, or along a new one."""
    values = _sequence(node).values
    if not values:
        raise node.error("an empty sequence does not tell what shape its elements have together")
    is_new, rank = bool(node.attribute("new_axis", 0)), len(value_dims(values[0]))
    [axis] = from_front(node, [node.attribute("axis")], rank + is_new)
    if wrong := [v for v in values if len(value_dims(v)) != rank]:
        raise node.error(f"its elements are of one rank, not of {rank} and {len(value_dims(wrong[0]))}")
    if is_new:
        values = [node.reshape(v, [*value_dims(v)[:axis], const(1), *value_dims(v)[axis:]]) for v in values]
    if len(values) == 1:
        return values[0]
    integers = [v for v in values if is_integer(v)]
    return _beside(node, integers, axis) if len(integers) == len(values) else concatenated(node, values, axis)


def _beside(node: Node, values: Sequence[Known], axis: int) -> Known:
    """Known integers one behind the other, sizes among them."""
    is_symbolic = any(v.is_symbolic for v in values)
    try:
        array = np.concatenate([v.array.astype(object) if is_symbolic else v.array for v in values], axis)
    except ValueError as error:
        raise node.error(f"its elements do not fit together: {error}") from error
    return known(array, node.title, values[0].dtype)


# ---- Optionals -------------------------------------------------------------------------------------------------------


@converter("Optional")
def optional(node: Node) -> OptionalValue:
    """Make an optional of the input, or one without an element."""
    if not node.has(0):
        type_ = node.attribute("type")
        if type_ is None:
            raise node.error("it has neither an element nor the type of one")
        return OptionalValue(None, type_text(type_))
    value = node.any_value(0)
    assert not isinstance(value, OptionalValue)  # by the standard
    return OptionalValue(value, onnx_name(value))


@converter("OptionalHasElement")
def optional_has_element(node: Node) -> Value:
    """Whether there is one; tensors and sequences are elements themselves."""
    value = node.any_value(0) if node.has(0) else None
    return Known(
        np.array(value.value is not None if isinstance(value, OptionalValue) else value is not None), node.title
    )


@converter("OptionalGetElement")
def optional_get_element(node: Node) -> AnyValue:
    """The element, which there has to be."""
    value = node.any_value(0)
    if not isinstance(value, OptionalValue):
        return value
    if value.value is None:
        raise node.error("its optional is empty")
    return value.value
