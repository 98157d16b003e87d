"""Quantized forms of networks: products of bytes, as exporters write them with QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log2
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper, shape_inference

from tilework.tools.bench.networks.residual import resnet18

Array: TypeAlias = NDArray[Any]

LARGEST = 127
"""What the largest number of a tensor becomes."""

QUANTIZED = ("Conv", "Gemm", "Add", "GlobalAveragePool")
"""What takes dequantized numbers, as in networks that exporters quantize for accelerators."""


def quantized(model: ModelProto, scale_of: Callable[[float], float]) -> ModelProto:
    """A network whose products and sums take bytes that are dequantized, and whose results are quantized.

    scale_of: the scale of a tensor whose largest number has that size. Normalizations become part of the convolutions
    before them. How large the tensors between nodes are is measured, with one random input. All zero points are 0.
    """
    folded = _without_normalization(model)
    return _Quantizing(folded, _largest(folded), scale_of).model()


def power_of_two(largest: float) -> float:
    """The least power of two that is a scale for a tensor with such a number."""
    return 2.0 ** ceil(log2(largest / LARGEST))


def tight(largest: float) -> float:
    """The least scale for a tensor with such a number."""
    return largest / LARGEST


def resnet18_qdq(image: int = 224, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2)) -> ModelProto:
    """ResNet-18 of bytes whose scales are powers of two."""
    return quantized(resnet18(image, width, blocks), power_of_two)


def resnet18_qdq_tight(image: int = 224, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2)) -> ModelProto:
    """ResNet-18 of bytes whose scales are as small as they can be."""
    return quantized(resnet18(image, width, blocks), tight)


def _arrays(model: ModelProto) -> dict[str, Array]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def _without_normalization(model: ModelProto) -> ModelProto:
    """The network with what its normalizations do done by the weights and biases of the convolutions before them."""
    arrays = _arrays(model)
    convolutions = {node.output[0]: node for node in model.graph.node if node.op_type == "Conv"}
    nodes: list[NodeProto] = []
    for node in model.graph.node:
        if node.op_type != "BatchNormalization":
            nodes.append(node)
            continue
        conv = convolutions[node.input[0]]
        gain, shift, mean, variance = (arrays[name] for name in node.input[1:])
        factor = gain / np.sqrt(variance + np.float32(1e-5))
        weight = conv.input[1]
        arrays[weight] = arrays[weight] * factor.reshape(-1, 1, 1, 1)
        arrays[f"{weight}_bias"] = shift - mean * factor
        attributes = {a.name: helper.get_attribute_value(a) for a in conv.attribute}
        made = helper.make_node("Conv", [*conv.input, f"{weight}_bias"], node.output, conv.name, **attributes)
        nodes[nodes.index(conv)] = made
    return _model(model, nodes, arrays)


def _model(like: ModelProto, nodes: list[NodeProto], arrays: Mapping[str, Array]) -> ModelProto:
    """A network with the inputs and outputs of another one, and those of the arrays that its nodes read."""
    read = {name for node in nodes for name in node.input}
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in read]
    graph = helper.make_graph(nodes, like.graph.name, like.graph.input, like.graph.output, weights)
    made = helper.make_model(graph, ir_version=like.ir_version, opset_imports=like.opset_import)
    return shape_inference.infer_shapes(made, strict_mode=True)


def _largest(model: ModelProto) -> dict[str, float]:
    """The size of the largest number in each tensor of a network for one random input, and in each weight."""
    from tilework.api import compile as compile_model  # running a network takes all of the compiler

    names = [name for node in model.graph.node for name in node.output]
    shown = ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    [image] = model.graph.input
    shape = [dim.dim_value for dim in image.type.tensor_type.shape.dim]
    data = np.random.default_rng(0).standard_normal(shape, np.float32)
    found = compile_model(shape_inference.infer_shapes(shown)).run({image.name: data})
    return {name: float(np.abs(a).max()) for name, a in ({image.name: data} | found | _arrays(model)).items()}


class _Quantizing:
    """Makes the nodes of the quantized network, in order."""

    def __init__(self, model: ModelProto, largest: Mapping[str, float], scale_of: Callable[[float], float]):
        self._model, self._scale_of, self._largest = model, scale_of, largest
        self._float_arrays = _arrays(model)
        self._arrays: dict[str, Array] = {}
        self._nodes: list[NodeProto] = []
        self._scales: dict[str, float] = {}
        self._dequantized: set[str] = set()

    def model(self) -> ModelProto:
        """The quantized network."""
        for node in self._model.graph.node:
            inputs = [self._taken(node, name) for name in node.input] if node.op_type in QUANTIZED else node.input
            copied = NodeProto()
            copied.CopyFrom(node)
            del copied.input[:]
            copied.input.extend(inputs)
            self._nodes.append(copied)
        return _model(self._model, self._nodes, self._float_arrays | self._arrays)

    def _taken(self, node: NodeProto, name: str) -> str:
        """An input of a node, dequantized: a weight, a bias with the scale of the products, or what nodes made."""
        made = f"{name}_float"
        if made in self._dequantized:
            return made
        self._dequantized.add(made)
        if name in self._float_arrays:
            is_bias = len(node.input) > 2 and name == node.input[2]
            scale = prod_of_scales(self._scales, node) if is_bias else self._scale_of(self._largest[name])
            integers = np.rint(self._float_arrays[name] / scale)
            self._arrays[f"{name}_bytes"] = integers.astype(np.int32 if is_bias else np.int8)
        else:
            scale = self._scale_of(self._largest[name])
        self._scales[name] = scale
        self._arrays[f"{name}_scale"] = np.array(scale, np.float32)
        if name not in self._float_arrays:
            self._arrays["zero"] = np.array(0, np.int8)
            self._nodes.append(helper.make_node("QuantizeLinear", [name, f"{name}_scale", "zero"], [f"{name}_bytes"]))
        self._nodes.append(helper.make_node("DequantizeLinear", [f"{name}_bytes", f"{name}_scale"], [made]))
        return made


def prod_of_scales(scales: Mapping[str, float], node: NodeProto) -> float:
    """The scale of the products of a node's data and weight."""
    return scales[node.input[0]] * scales[node.input[1]]
