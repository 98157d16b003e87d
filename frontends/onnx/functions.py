"""Operators that are made of other operators: functions of the model, and those that the ONNX standard defines so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import zip_longest
from typing import Any

import onnx

from tilework.frontends.onnx.defined import is_defined
from tilework.frontends.onnx.node import PREVIEW, Node, value_dims
from tilework.frontends.onnx.structure import node_title
from tilework.frontends.onnx.value_names import element_number


def own_function(node: Node, functions: Iterable[onnx.FunctionProto]) -> onnx.FunctionProto | None:
    """The function of the model that a node calls."""
    wanted = (node.proto.domain, node.op_type, node.proto.overload)
    return next((f for f in functions if (f.domain, f.name, f.overload) == wanted), None)


def is_function(node: Node, functions: Iterable[onnx.FunctionProto]) -> bool:
    """Whether a node calls a function of the model, or the standard defines its operator by others."""
    if own_function(node, functions) is not None:
        return True
    schema = _schema(node)
    has_function = schema is not None and (schema.has_function or schema.has_context_dependent_function)
    return has_function or is_defined(node)


def opset_of(function: onnx.FunctionProto, default: int) -> int:
    """Which version of the standard's operators a function is made of."""
    return next((entry.version for entry in function.opset_import if entry.domain in ("", "ai.onnx")), default)


def called(function: onnx.FunctionProto, node: Node) -> onnx.GraphProto:
    """The graph that a node which calls the function stands for: of the inputs it gives to the outputs it takes."""
    for what, has, most in (("input", node.inputs, function.input), ("output", node.proto.output, function.output)):
        if len(has) > len(most):
            raise node.error(f"it has {len(has)} {what}s, the function {len(most)}")
    given = zip_longest(function.input, node.inputs)
    present = {name: value is not None for name, value in given}
    attributes = {a.name: a for a in (*_defaults(node), *function.attribute_proto, *node.proto.attribute)}
    absent = {name for name, is_given in present.items() if not is_given}
    nodes = _instances(function.node, node.title, attributes, absent)
    taken = [name for name, result in zip(function.output, node.proto.output, strict=False) if result]
    return onnx.GraphProto(
        name=function.name,
        node=nodes,
        input=[onnx.ValueInfoProto(name=name) for name, is_given in present.items() if is_given],
        output=[onnx.ValueInfoProto(name=name) for name in taken],
    )


def _schema(node: Node) -> Any:
    """What the standard says of the operator, None where that is nothing. onnx has no types for its functions."""
    is_text = isinstance(node.op_type, str)  # pyright: ignore[reportUnnecessaryIsInstance]  bytes in damaged files
    if is_text and node.proto.domain == PREVIEW and onnx.defs.has(node.op_type, PREVIEW):
        return onnx.defs.get_schema(node.op_type, PREVIEW)
    is_defined = node.is_standard and is_text and onnx.defs.has(node.op_type, node.opset, "")
    return onnx.defs.get_schema(node.op_type, node.opset, "") if is_defined else None


def standard_function(node: Node) -> onnx.FunctionProto | None:
    """How the standard defines the operator, for inputs of the node's types; None if it does not."""
    schema = _schema(node)
    if schema is None:
        return None
    if version := _latest(schema.context_dependent_function_opset_versions, node.opset):
        types = [_type(node, i).SerializeToString() for i in range(len(node.inputs))]
        proto = node.proto.SerializeToString()
        data = schema.get_context_dependent_function_with_opset_version(version, proto, types)
    elif version := _latest(schema.function_opset_versions, node.opset):
        data = schema.get_function_with_opset_version(version)
    else:
        return None
    return onnx.FunctionProto.FromString(data) if data else None


def _latest(versions: Sequence[int], opset: int) -> int:
    return max((version for version in versions if version <= opset), default=0)


def _type(node: Node, i: int) -> onnx.TypeProto:
    """An input's type, empty where it is absent."""
    if not node.has(i):
        return onnx.TypeProto()
    dims = [str(d) if d.constant is None else d.constant for d in value_dims(node.value(i))]
    return onnx.helper.make_tensor_type_proto(element_number(node.value(i)), dims)


def _defaults(node: Node) -> list[onnx.AttributeProto]:
    """What the standard says of attributes that a node does not have."""
    schema = _schema(node)
    return [] if schema is None else [a.default_value for a in schema.attributes.values() if a.default_value.type]


def _instances(
    nodes: Iterable[onnx.NodeProto], title: str, attributes: Mapping[str, onnx.AttributeProto], absent: Set[str]
) -> list[onnx.NodeProto]:
    """Nodes of a function, with the attributes of the node that calls it, and without inputs that are absent there."""
    made: list[onnx.NodeProto] = []
    for index, proto in enumerate(nodes):
        copy = onnx.NodeProto()
        copy.CopyFrom(proto)
        copy.name = f"{title}/{node_title(proto, index)}"
        copy.input[:] = ["" if name in absent else name for name in proto.input]
        copy.ClearField("attribute")
        for attribute in proto.attribute:
            value = attributes.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
            if value is not None:
                own = copy.attribute.add()
                own.CopyFrom(value)
                own.name = attribute.name
                for graph in (own.g, *own.graphs) if own.HasField("g") else own.graphs:
                    inside = _instances(graph.node, title, attributes, absent)
                    graph.ClearField("node")
                    graph.node.extend(inside)
        made.append(copy)
    return made
