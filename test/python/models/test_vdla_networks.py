"""Quantized networks run with their products on a VDLA, and compute what the host alone does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper
from quantized_layers import Layer, random_layer

import tilework as tw
from tilework.runtime.devices.vdla.device import VdlaDevice
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.module import Module
from tilework.tools.bench.networks.quantized import resnet18_qdq, resnet18_qdq_tight

DEVICE = {"host": "llvm", "vdla0": "vdla"}


def with_bytes(model: ModelProto) -> ModelProto:
    """The network whose results are all tensors of bytes too."""
    shown = ModelProto()
    shown.CopyFrom(model)
    names = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return shown


def answers(model: ModelProto, x: Any, targets: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any], Module]:
    """The results by name of the host alone and with the device, and what has run there."""
    name = model.graph.input[0].name
    alone = tw.compile(model, target=targets["host"], precision="strict")
    beside = tw.compile(model, targets=targets, precision="strict")
    return alone.run({name: x}), beside.run({name: x}), beside


def reports_of(module: Module) -> list[tuple[str, int, RunReport]]:
    """The kernels that ran on the device, how often they did, and what the simulator says of them."""
    devices = list(module.devices.values())
    assert all(isinstance(device, VdlaDevice) for device in devices)
    return [report for device in devices if isinstance(device, VdlaDevice) for report in device.report()]


def runs_of(module: Module) -> dict[str, int]:
    """How many convolutions and dense layers ran on the device."""
    runs = {"conv": 0, "dense": 0}
    for label, count, _ in reports_of(module):
        runs[label.partition("_")[0]] += count
    return runs


def image(size: int) -> Any:
    return np.random.default_rng(1).standard_normal((1, 3, size, size), np.float32)


def test_a_network_of_powers_of_two_is_the_same_layer_by_layer():
    model = with_bytes(resnet18_qdq(32, 16, (1, 1)))
    expected, found, module = answers(model, image(32), DEVICE)
    assert runs_of(module) == {"conv": 5, "dense": 1}  # all but the one that reads three colours
    assert len(expected) > 10
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_with_other_scales_a_network_is_within_a_step():
    model = with_bytes(resnet18_qdq_tight(16, 16, (1,)))
    expected, found, module = answers(model, image(16), DEVICE)
    assert runs_of(module) == {"conv": 2, "dense": 1}
    for name in expected.keys() - {model.graph.output[0].name}:
        assert np.abs(found[name].astype(int) - expected[name].astype(int)).max() <= 1, name


@pytest.mark.slow
def test_the_network_as_it_is_used():
    expected, found, module = answers(resnet18_qdq(), image(224), DEVICE)
    assert runs_of(module) == {"conv": 19, "dense": 1}
    np.testing.assert_array_equal(found["scores"], expected["scores"])


@pytest.mark.parametrize("seed", range(4))
def test_layers_of_all_kinds_of_bytes(seed: int):
    """Exactly where scales are powers of two; a host that sums floats may round others to the other side of a half."""
    layer = random_layer(random.Random(seed))
    if seed % 2:
        layer.shift, layer.by_filter, layer.biased = None, seed % 4 == 1, layer.biased and seed % 4 == 3
    expected, found, module = answers(layer.model(), layer.data(), DEVICE)
    assert sum(runs_of(module).values()) == 1
    difference = np.abs(found["y"].astype(int) - expected["y"].astype(int)).max()
    assert difference <= (1 if layer.shift is None else 0), layer


def test_zeros_around_an_image_may_be_many():
    """More than a load writes beside what it reads."""
    layer = Layer(kernel=31, pad=16, image=(2, 2))
    expected, found, module = answers(layer.model(), layer.data(), DEVICE)
    assert runs_of(module) == {"conv": 1, "dense": 0}
    np.testing.assert_array_equal(found["y"], expected["y"])


@pytest.mark.parametrize("layer", [Layer(scale=1.0, shift=9), Layer(scale=2.0**-6, shift=9)], ids=["data", "result"])
def test_a_scale_of_one_is_a_scale(layer: Layer):
    """That of the result is 0.125 times that of x times two to the power of the shift."""
    expected, found, module = answers(layer.model(), layer.data(), DEVICE)
    [(_, _, report)] = reports_of(module)
    assert report.dram_bytes["out"] == found["y"].size  # bytes leave the device, and no words
    np.testing.assert_array_equal(found["y"], expected["y"])


@pytest.mark.parametrize(
    ("target", "layer"),
    [
        ("vdla -block-in=8", Layer()),
        ("vdla -block-out=32", Layer()),
        ("vdla -batch=2", Layer()),
        ("vdla", Layer(channels=32, groups=2)),
        ("vdla", Layer(dense=True, channels=16, filters=1 << 15, shift=9)),
        ("vdla", Layer(kernel=33, pad=16, image=(2, 2))),
        ("vdla", Layer(kernel=1, pad=2, stride=3, image=(1, 1))),
    ],
    ids=[
        "tiles of fewer channels than products have",
        "tiles of more outputs",
        "tiles of several rows",
        "groups of channels",
        "a bias that does not fit",
        "sums that words may not hold",
        "windows of zeros alone",
    ],
)
def test_what_the_device_cannot_run_stays_on_the_host(target: str, layer: Layer):
    expected, found, module = answers(layer.model(), layer.data(), {"host": "llvm", "vdla0": target})
    assert sum(runs_of(module).values()) == 0
    np.testing.assert_array_equal(found["y"], expected["y"])
