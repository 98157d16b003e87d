"""Operators as functions of standard ones, as text: onnxruntime's own, its contrib ops, and some of the standard.

The text is ONNX's own. A line may end with the condition under which it is there:

    Y = Add (Z, bias)                 # if bias            where that input is given, or that attribute is not 0
    Y = Identity (Z)                  # if no bias
    Y = Relu (Z)                      # if activation is Relu
    M = Unsqueeze (mask, axes)        # if mask rank 2     several are joined by `and`, or by `or`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import onnx
from xdsl.dialects.builtin import bf16, f16

from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.standard import check_node

DOMAIN = "com.microsoft"

STANDARD = ""
"""The domain of the standard's own operators."""

OPSET = 23
"""The opset of the standard's operators in the texts."""

Writer: TypeAlias = "Callable[[Node], str]"

_WRITERS: dict[tuple[str, str], Writer] = {}

_TYPES = {
    **dict.fromkeys(("alpha", "beta", "epsilon", "mask_filter_value", "scale", "softcap"), onnx.AttributeProto.FLOAT),
    **dict.fromkeys((f"activation_{name}" for name in ("alpha", "beta", "gamma")), onnx.AttributeProto.FLOAT),
    **dict.fromkeys((f"{name}_norm_epsilon" for name in ("k", "q", "qk")), onnx.AttributeProto.FLOAT),
    **dict.fromkeys(("activation", "auto_pad", "k_quant_type", "v_quant_type"), onnx.AttributeProto.STRING),
    **dict.fromkeys(
        ("axes", "dilations", "kernel_shape", "pads", "qkv_hidden_sizes", "strides"), onnx.AttributeProto.INTS
    ),
    "activation_params": onnx.AttributeProto.FLOATS,
}
"""The types of attributes; of others int."""

_HEADER = re.compile(r"\s*(?P<name>\w+)\s*(<[^>]*>)?\s*\((?P<inputs>[^)]*)\)\s*=>")


def define(text: str, domain: str = DOMAIN) -> None:
    """Register an operator by its text."""
    header = _HEADER.match(text)
    assert header is not None
    _WRITERS[domain, header["name"]] = lambda node: text


def defined(name: str, domain: str = DOMAIN) -> Callable[[Writer], Writer]:
    """Register a function that writes the text of an operator for a node."""

    def register(writer: Writer) -> Writer:
        _WRITERS[domain, name] = writer
        return writer

    return register


def wide(node: Node) -> str:
    """The operator that makes of halves numbers which hold their powers and positions too; of others themselves."""
    return "Cast <to = 1>" if node.dtype(0) in (f16, bf16) else "Identity"


def is_defined(node: Node) -> bool:
    """Whether a node's operator is defined here."""
    return _key(node) in _WRITERS


def defining_function(node: Node) -> onnx.FunctionProto | None:
    """What a node's operator is made of, given its inputs and attributes; None for other operators.

    Raises TileworkError for attributes that the text does not have, unless they are 0: that asks for nothing.
    """
    writer = _WRITERS.get(_key(node))
    if writer is None:
        return None
    if node.is_standard and onnx.defs.has(node.op_type):
        check_node(node)
    else:
        _check_types(node)
    text = writer(node)
    header = _HEADER.match(text)
    assert header is not None
    inputs = [name.strip() for name in header["inputs"].split(",")]
    lines = [line.partition("#") for line in text.splitlines()]
    kept = [code for code, _, condition in lines if _holds(node, condition.split(), inputs)]
    versions = f'<domain: "{_key(node)[0]}", opset_import: ["" : {OPSET}]>'
    function = onnx.parser.parse_function(versions + "\n".join(kept))
    known = {*function.attribute, *(attribute.name for attribute in function.attribute_proto)}
    for attribute in node.proto.attribute:
        if attribute.name not in known and node.attribute(attribute.name):
            raise node.error(f"its attribute {attribute.name} is not supported")
    if not _is_whole(function):
        raise node.error("what its inputs and attributes ask for together is not supported")
    return function


def _is_whole(function: onnx.FunctionProto) -> bool:
    """Whether the lines that are there make all that they read, and the first output."""
    made = {"", *function.input}
    for step in function.node:
        if not made.issuperset(step.input):
            return False
        made.update(step.output)
    return function.output[0] in made


def _check_types(node: Node) -> None:
    """Refuse attributes of other types than those that onnxruntime knows by their names."""
    for attribute in node.proto.attribute:
        wanted = _TYPES.get(attribute.name, onnx.AttributeProto.INT)
        if attribute.type != wanted:
            kind = onnx.AttributeProto.AttributeType.Name(wanted).lower()
            raise node.error(f"its attribute {attribute.name} is of type {kind}")


def _key(node: Node) -> tuple[str, str]:
    return ("" if node.is_standard else node.proto.domain, node.op_type)


def _holds(node: Node, words: Sequence[str], inputs: Sequence[str]) -> bool:
    """Whether the condition of a line does: `if` and what is to be."""
    if not words:
        return True
    choices = [part.split(" and ") for part in " ".join(words[1:]).split(" or ")]
    return any(all(_is_so(node, part.split(), inputs) for part in parts) for parts in choices)


def _is_so(node: Node, words: Sequence[str], inputs: Sequence[str]) -> bool:
    match words:
        case ["no", name]:
            return not _is_so(node, [name], inputs)
        case [name, "rank", rank]:
            i = inputs.index(name)
            return node.has(i) and len(node.dims(i)) == int(rank)
        case [name, "is", value]:
            return str(node.attribute(name, "")) == value
        case [name]:
            return node.has(inputs.index(name)) if name in inputs else bool(node.attribute(name, 0))
        case _:
            raise AssertionError(f"no condition: {' '.join(words)}")
