"""Dilated convolutions by phases: the same sums, whatever sizes and padding are multiples of."""

from __future__ import annotations

import numpy as np
import pytest
from programs import for_target
from xdsl.parser import Parser

from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.support.registration import make_context
from tilework.interpreters.graph import run_function
from tilework.transforms.graph.space_to_batch import SpaceToBatch


@pytest.mark.parametrize(
    ("size", "taps", "dilation", "pads"),
    [
        ((12, 15), 3, 2, (2, 2, 2, 2)),
        ((13, 14), 3, 2, (0, 1, 3, 0)),
        ((20, 19), 2, 3, (0, 0, 0, 0)),
        ((24, 21), 3, 4, (4, 4, 4, 4)),
        ((28, 25), 5, 2, (7, 5, 0, 6)),
    ],
)
def test_the_same_sums(size: tuple[int, int], taps: int, dilation: int, pads: tuple[int, ...]):
    height, width = (e + a + b - (taps - 1) * dilation for e, a, b in zip(size, pads[:2], pads[2:], strict=True))
    x, w, y = (
        f"tensor<{t}xf32>" for t in (f"2x64x{size[0]}x{size[1]}", f"66x64x{taps}x{taps}", f"2x66x{height}x{width}")
    )
    text = f"""
    func.func @main(%x: {x}) -> {y} {{
      %w = graph.parameter @w : {w}
      %y = graph.conv %x, %w {{strides = array<i64: 1, 1>, pads = array<i64: {", ".join(map(str, pads))}>,
        dilations = array<i64: {dilation}, {dilation}>, groups = 1 : i64}} : ({x}, {w}) -> {y}
      func.return %y : {y}
    }}"""
    context = make_context()
    module = Parser(context, text).parse_module()
    rng = np.random.default_rng(0)
    image = rng.integers(-2, 3, (2, 64, *size)).astype(np.float32)
    parameters = {"w": rng.integers(-2, 3, (66, 64, taps, taps)).astype(np.float32)}
    [expected] = run_function(module, "main", [image], parameters)
    SpaceToBatch().apply(context, for_target(module))
    module.verify()
    [conv] = [op for op in module.walk() if isinstance(op, ConvOp)]
    assert conv.dilations.get_values() == (1, 1)
    [found] = run_function(module, "main", [image], parameters)
    assert np.array_equal(found, expected)
