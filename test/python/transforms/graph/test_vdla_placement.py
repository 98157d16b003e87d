"""Quantized products that are put on a VDLA compute there what they computed before."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from quantized_layers import Layer, random_layer

from tilework.analysis.program_targets import set_targets
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_passes
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import prepare_parameters, run_function
from tilework.targets import parse_target
from tilework.transforms.graph.place_on_devices import PlaceOnDevices


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


@pytest.mark.parametrize("seed", range(60))
def test_scales_that_are_powers_of_two_leave_all_to_the_device(seed: int):
    layer = random_layer(random.Random(seed))
    expected, found, group = answers(layer)
    np.testing.assert_array_equal(found, expected)
    assert group is not None and "graph.bytes" not in str(group), layer


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("by_filter", [False, True])
def test_with_other_scales_the_host_requantizes(seed: int, by_filter: bool):
    """Results differ by one at most: sums of floats may be rounded to the other side of a half."""
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
