"""Puts a network together, node by node, with weights for which values stay of about the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8
"""What every engine of today reads."""

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Value:
    """A tensor of the network; `size` is that of its channels (axis 1 of an image, else the last axis)."""

    name: str
    size: int


class Network:
    """Collects nodes and weights. The weights are the same every time."""

    def __init__(self, name: str):
        self.name = name
        self._rng = np.random.default_rng(0)
        self._nodes: list[NodeProto] = []
        self._weights: list[TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    # -- from outside, and back

    def input(self, name: str, shape: Sequence[int], channels: int = 1) -> Value:
        """An input of this shape; `channels` is the axis of its channels."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return Value(name, shape[channels])

    def output(self, value: Value, name: str) -> None:
        """Make a tensor an output."""
        self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(helper.make_empty_tensor_value_info(name))

    def model(self) -> ModelProto:
        """The network, with the shapes of its outputs."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._weights)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)

    # -- nodes

    def node(self, op_type: str, inputs: Sequence[Value | str], size: int, **attributes: Any) -> Value:
        """A node of one output."""
        return self.nodes(op_type, inputs, [size], **attributes)[0]

    def nodes(
        self, op_type: str, inputs: Sequence[Value | str], sizes: Sequence[int], **attributes: Any
    ) -> list[Value]:
        """A node of as many outputs as there are sizes."""
        title = f"{op_type}_{len(self._nodes)}"
        outputs = [Value(f"{title}_{i}", size) for i, size in enumerate(sizes)]
        names = [value.name if isinstance(value, Value) else value for value in inputs]
        self._nodes.append(helper.make_node(op_type, names, [o.name for o in outputs], name=title, **attributes))
        return outputs

    def constant(self, array: Array) -> str:
        """An initializer; its name."""
        name = f"weights_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, shape: Sequence[int], summands: int, gain: float = 2.0) -> str:
        """Normal numbers. A sum of so many products gets the mean square of its inputs where `gain` is 1, twice that
        where it is 2, of which a relu leaves half (He et al. 2015)."""
        scale = np.float32(sqrt(gain / summands))
        return self.constant(self._rng.standard_normal(shape, np.float32) * scale)

    def numbers(self, shape: Sequence[int], low: float, high: float) -> str:
        """Numbers between two bounds."""
        return self.constant(self._rng.uniform(low, high, shape).astype(np.float32))

    # -- layers

    def conv(
        self, x: Value, filters: int, kernel: int, stride: int = 1, groups: int = 1, pad: int | None = None,
        bias: bool = False,
    ) -> Value:  # fmt: skip
        """A convolution with square windows; without `pad` the image keeps its size but for the stride."""
        shape = (filters, x.size // groups, kernel, kernel)
        inputs: list[Value | str] = [x, self.weights(shape, prod(shape[1:]))]
        inputs += [self.numbers([filters], -0.1, 0.1)] if bias else []
        pads = [(kernel - 1) // 2 if pad is None else pad] * 4
        return self.node(
            "Conv", inputs, filters, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups
        )

    def conv_transpose(self, x: Value, filters: int, kernel: int, stride: int, pad: int = 0) -> Value:
        """A transposed convolution with square windows, which enlarges the image by the stride."""
        weights = self.weights((x.size, filters, kernel, kernel), x.size * kernel * kernel // stride**2)
        return self.node(
            "ConvTranspose", [x, weights], filters, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4
        )

    def batch_norm(self, x: Value) -> Value:
        """With means and variances as training leaves them."""
        bounds = [(0.8, 1.2), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2)]  # scale, bias, mean, variance
        statistics = [self.numbers([x.size], low, high) for low, high in bounds]
        return self.node("BatchNormalization", [x, *statistics], x.size, epsilon=1e-5)

    def relu(self, x: Value) -> Value:
        """max(x, 0)."""
        return self.node("Relu", [x], x.size)

    def conv_relu(self, x: Value, filters: int, kernel: int, stride: int = 1, groups: int = 1) -> Value:
        """A convolution, normalized, then relu."""
        return self.relu(self.batch_norm(self.conv(x, filters, kernel, stride, groups)))

    def add(self, a: Value, b: Value) -> Value:
        """The sum."""
        return self.node("Add", [a, b], a.size)

    def gemm(self, x: Value, size: int, gain: float = 1.0) -> Value:
        """A dense layer of a matrix of rows."""
        inputs = [x, self.weights((size, x.size), x.size, gain), self.numbers([size], -0.1, 0.1)]
        return self.node("Gemm", inputs, size, transB=1)

    def linear(self, x: Value, size: int, gain: float = 1.0) -> Value:
        """A dense layer of the last axis, whatever stands before it."""
        product = self.node("MatMul", [x, self.weights((x.size, size), x.size, gain)], size)
        return self.node("Add", [product, self.numbers([size], -0.1, 0.1)], size)

    def reshape(self, x: Value, shape: Sequence[int], size: int) -> Value:
        """Reshape to a constant shape."""
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))], size)

    def scores(self, x: Value, classes: int) -> Value:
        """What ends a classifier: the mean over the image, and a dense layer."""
        mean = self.node("GlobalAveragePool", [x], x.size)
        return self.gemm(self.node("Flatten", [mean], x.size), classes)
