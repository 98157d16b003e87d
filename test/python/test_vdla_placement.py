"""Quantized products that are put on a VDLA compute there what they computed before."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tilework.analysis.program_targets import set_targets
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_passes
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import prepare_parameters, run_function
from tilework.targets import parse_target
from tilework.transforms.graph.place_on_devices import PlaceOnDevices


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


def answers(layer: Layer) -> tuple[Any, Any, FusedOp | None]:
    """What the layer computes as it is and on the device, and the group of that."""
    imported = import_onnx(layer.model())
    module, x = imported.module, layer.data()
    [expected] = run_function(module, "main", [x], imported.parameters)
    set_targets(module, {"host": parse_target("llvm -mcpu=haswell"), "npu": parse_target("vdla")})
    run_passes([PlaceOnDevices()], make_context(), module)
    module.verify()
    parameters = prepare_parameters(module, imported.parameters)
    [found] = run_function(module, "main", [x], parameters)
    groups = [op for op in module.walk() if isinstance(op, FusedOp)]
    return expected, found, groups[0] if groups else None


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


@pytest.mark.parametrize("seed", range(60))
def test_scales_that_are_powers_of_two_leave_all_to_the_device(seed: int):
    layer = random_layer(random.Random(seed))
    expected, found, group = answers(layer)
    np.testing.assert_array_equal(found, expected)
    assert group is not None and "graph.bytes" not in str(group), layer


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("by_filter", [False, True])
def test_with_other_scales_the_host_requantizes(seed: int, by_filter: bool):
    """Where floats are summed, as in the model itself, a sum may be rounded to the other side of a half."""
    layer = random_layer(random.Random(seed))
    layer.shift, layer.by_filter, layer.biased = None, by_filter, layer.biased and not by_filter
    expected, found, group = answers(layer)
    assert np.abs(found.astype(int) - expected.astype(int)).max() <= 1
    assert (found != expected).mean() < 0.02
    assert group is not None and "graph.bytes" in str(group)


def test_halves_are_rounded_to_even_numbers():
    layer = Layer(shift=2, kernel=1, pad=0, channels=16, filters=16, image=(1, 16), biased=True)
    model = layer.model()
    for tensor in model.graph.initializer:
        if tensor.name == "w":
            tensor.CopyFrom(numpy_helper.from_array(np.eye(16, dtype=np.int8).reshape(16, 16, 1, 1), "w"))
        if tensor.name == "b":
            tensor.CopyFrom(numpy_helper.from_array(np.zeros(16, np.int32), "b"))
    imported = import_onnx(model)
    x = np.broadcast_to(np.arange(-8, 8, dtype=np.int8), (1, 16, 1, 16)).copy()
    set_targets(imported.module, {"host": parse_target("llvm -mcpu=haswell"), "npu": parse_target("vdla")})
    run_passes([PlaceOnDevices()], make_context(), imported.module)
    parameters = prepare_parameters(imported.module, imported.parameters)
    [found] = run_function(imported.module, "main", [x], parameters)
    np.testing.assert_array_equal(found[0, 0, 0], [-2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2])


def test_a_bias_as_large_as_words_hold_saturates():
    """What the device adds to it must not wrap around."""
    layer = Layer(shift=11, kernel=1, pad=0)
    model = layer.model()
    bias = np.array([2**31 - 1, -(2**31)] * 8, np.int32)
    for tensor in model.graph.initializer:
        if tensor.name == "b":
            tensor.CopyFrom(numpy_helper.from_array(bias, "b"))
    imported = import_onnx(model)
    set_targets(imported.module, {"host": parse_target("llvm -mcpu=haswell"), "npu": parse_target("vdla")})
    run_passes([PlaceOnDevices()], make_context(), imported.module)
    [found] = run_function(
        imported.module, "main", [layer.data()], prepare_parameters(imported.module, imported.parameters)
    )
    assert {*found[0, ::2].flat} == {127} and {*found[0, 1::2].flat} == {-128}


@pytest.mark.parametrize(
    "layer", [Layer(channels=15), Layer(channels=3, kernel=3)], ids=["fewer channels than a tile", "image of colours"]
)
def test_what_fills_no_tile_stays_on_the_host(layer: Layer):
    expected, found, group = answers(layer)
    np.testing.assert_array_equal(found, expected)
    assert group is None
