"""Quantized products for a VDLA, at random."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


@dataclass
class Layer:
    """A quantized convolution or dense layer, as exporters write one.

    shift: the scale of the result is that of the sums times 2**shift; None: it is no such multiple. dtype, zero: of x.
    ends: what is done before quantizing. scale: of x, where scales are powers of two.
    """

    shift: int | None = 9
    dtype: type[np.generic] = np.int8
    zero: int = 0
    result_type: type[np.generic] = np.int8
    result_zero: int = 0
    channels: int = 16
    filters: int = 16
    kernel: int = 3
    stride: int = 1
    pad: int = 1
    groups: int = 1
    image: tuple[int, int] = (5, 7)
    biased: bool = True
    scale: float = 0.25
    ends: str = ""
    dense: bool = False
    by_filter: bool = False
    seed: int = 0
    constants: dict[str, Any] = field(default_factory=dict[str, Any])

    def model(self) -> onnx.ModelProto:
        """The ONNX model, from x to y."""
        draw = np.random.default_rng(self.seed)
        window = () if self.dense else (self.kernel, self.kernel)
        shape = (1, self.channels) + (() if self.dense else self.image)
        scale = np.float32(self.scale * (1 if self.shift is not None else 1.3))
        weight_scale = np.full(self.filters, 0.125, np.float32) * (
            draw.uniform(1, 2, self.filters) if self.by_filter else 1
        )
        result = np.float32(self.scale * 0.125 * 2.0 ** (9 if self.shift is None else self.shift))
        self.constants = {
            "s": scale,
            "z": self.dtype(self.zero),
            "w": draw.integers(-128, 128, (self.filters, self.channels // self.groups, *window), np.int8),
            "ws": weight_scale.astype(np.float32) if self.by_filter else np.float32(0.125),
            "wz": np.zeros(self.filters, np.int8) if self.by_filter else np.int8(0),
            "b": draw.integers(-30000, 30000, self.filters, np.int32),
            "bs": scale * np.float32(0.125),
            "rs": result,
            "rz": self.result_type(self.result_zero),
        }
        product = {"op_type": "Gemm", "transB": 1} if self.dense else {
            "op_type": "Conv", "pads": [self.pad] * 4, "strides": [self.stride] * 2, "group": self.groups,
        }  # fmt: skip
        nodes = [
            helper.make_node("DequantizeLinear", ["x", "s", "z"], ["dx"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["dw"], **({"axis": 0} if self.by_filter else {})),
            helper.make_node("DequantizeLinear", ["b", "bs"], ["db"]),
            helper.make_node(inputs=["dx", "dw", *(["db"] if self.biased else [])], outputs=["p"], **product),
            {
                "": lambda: helper.make_node("Identity", ["p"], ["e"]),
                "relu": lambda: helper.make_node("Relu", ["p"], ["e"]),
                "clip": lambda: helper.make_node("Clip", ["p", "low", "high"], ["e"]),
            }[self.ends](),
            helper.make_node("QuantizeLinear", ["e", "rs", "rz"], ["y"]),
        ]
        self.constants |= {"low": np.float32(-40.3), "high": np.float32(300.7)}
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(
            nodes,
            "layer",
            [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_empty_tensor_value_info("y")],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def data(self) -> Any:
        """Bytes of x."""
        limits = np.iinfo(self.dtype)
        shape = (1, self.channels) + (() if self.dense else self.image)
        return np.random.default_rng(self.seed + 1).integers(limits.min, limits.max + 1, shape, self.dtype)


def random_layer(draw: random.Random) -> Layer:
    dtype, result = draw.choice([np.int8, np.uint8]), draw.choice([np.int8, np.uint8])
    zeros = {np.int8: [0, 0, -7, 100], np.uint8: [128, 0, 3, 255]}
    return Layer(
        shift=draw.choice([0, 1, 7, 9, 11]),
        dtype=dtype,
        zero=draw.choice(zeros[dtype]),
        result_type=result,
        result_zero=draw.choice(zeros[result]),
        channels=draw.choice([16, 17, 32, 40]),
        filters=draw.choice([5, 8, 16, 33]),
        kernel=draw.choice([1, 2, 3]),
        stride=draw.choice([1, 2]),
        pad=draw.choice([0, 1]),
        image=(draw.randint(3, 6), draw.randint(3, 6)),
        biased=draw.random() < 0.7,
        ends=draw.choice(["", "relu", "clip"]),
        dense=draw.random() < 0.3,
        seed=draw.randrange(1000),
    )
