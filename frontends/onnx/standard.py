"""What the ONNX standard says of a node, checked before the node is read: attributes, inputs, element types."""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import dataclass
from functools import cache

import onnx

from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.value_names import is_integer, onnx_name

INTEGERS = frozenset(f"tensor({sign}int{bits})" for sign in ("", "u") for bits in (8, 16, 32, 64))

HALF, BFLOAT16 = "tensor(float16)", "tensor(bfloat16)"

LEFT_OVER = ("consumed_inputs",)
"""Attributes of opset 1 that exporters went on writing; they say nothing about the result."""


@dataclass(frozen=True)
class _Input:
    """`variable` is the same for inputs that have one element type; `types` are those that the input may have."""

    variable: str
    types: Set[str]


def check_node(node: Node) -> None:
    """Raises TileworkError for a node that the standard does not allow."""
    violation = _violation(node) or _reference(node) or _wrong_type(node)
    if violation is not None:
        raise node.error(f"it does not follow the ONNX standard: {violation}")


def _violation(node: Node) -> str | None:
    """What onnx itself has against the node: unknown attributes, say, or too few inputs."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {"": node.opset}
    try:
        onnx.checker.check_node(_by_itself(node), context)
    except onnx.checker.ValidationError as error:
        # of a name that is no text, some versions of Python say nothing
        return str(error).partition("\n")[0].rstrip(".") or "one of its names is no text"
    except UnicodeDecodeError as error:
        return f"one of its names is no text: {error}"
    return None


def _by_itself(node: Node) -> onnx.NodeProto:
    """The node without left-overs; graphs inside, whose nodes are checked one by one, may read what is around them."""
    proto, left_over = node.proto, [name for name in LEFT_OVER if not _has_attribute(node, name)]
    kept = [attribute for attribute in proto.attribute if attribute.name not in left_over]
    if len(kept) == len(proto.attribute) and not any(attribute.HasField("g") for attribute in kept):
        return proto
    result = onnx.NodeProto()
    result.CopyFrom(proto)
    result.ClearField("attribute")
    result.attribute.extend(kept)
    for attribute in result.attribute:
        if attribute.HasField("g"):
            attribute.g.CopyFrom(onnx.GraphProto(name=attribute.name))
    return result


def _has_attribute(node: Node, name: str) -> bool:
    """Whether the standard of the model's opset has that attribute for the operator."""
    is_known = onnx.defs.has(node.op_type, node.opset, "")
    return is_known and name in onnx.defs.get_schema(node.op_type, node.opset, "").attributes


def _reference(node: Node) -> str | None:
    """Only inside a function may an attribute be a parameter."""
    references = (attribute for attribute in node.proto.attribute if attribute.ref_attr_name)
    for attribute in references:
        return f"attribute '{attribute.name}' refers to '{attribute.ref_attr_name}', but the node is in no function"
    return None


def _wrong_type(node: Node) -> str | None:
    expected = _inputs(node.op_type, node.opset)
    first: dict[str, int] = {}
    for i in filter(node.has, range(len(node.inputs))):
        parameter = expected[min(i, len(expected) - 1)]  # the last one may stand for many
        if not _possible_types(node, i) & parameter.types:
            return f"input {i} is a {onnx_name(node.any_value(i))}, not a {' or '.join(sorted(parameter.types))}"
        other = first.setdefault(parameter.variable, i) if parameter.variable else i
        if not _possible_types(node, i) & _possible_types(node, other):
            types = " and a ".join(onnx_name(node.any_value(n)) for n in (other, i))
            return f"inputs {other} and {i} are of one type, not a {types}"
    return None


def _possible_types(node: Node, i: int) -> Set[str]:
    """Arithmetic on shapes forgets of what width its integers were."""
    return INTEGERS if is_integer(node.any_value(i)) else {onnx_name(node.any_value(i))}


@cache
def _inputs(op_type: str, opset: int) -> tuple[_Input, ...]:
    schema = onnx.defs.get_schema(op_type, opset, "")
    return tuple(
        _Input(parameter.type_str if parameter.is_homogeneous else "", _admitted(parameter.types))
        for parameter in schema.inputs
    )


def _admitted(types: Collection[str]) -> Set[str]:
    """With bfloat16 wherever half precision is: most operators took it later, but exporters write it before."""
    return frozenset({*types, BFLOAT16} if HALF in types else types)
