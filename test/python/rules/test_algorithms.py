"""The choice of an algorithm: those that are not priced, since they cannot be the fastest, are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.ir import Block

from tilework.analysis.precision import PRECISIONS
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.rules.algorithms.base import Algorithm
from tilework.targets import Target, parse_target
from tilework.transforms.graph.algorithms import Algorithms

TARGETS = [
    replace(parse_target(f"llvm -mcpu={cpu}"), cores=2, cache_bytes=(32 << 10, 512 << 10, 32 << 20))
    for cpu in ("haswell", "skylake-avx512")
]


def convolution(filters: int, channels: int, size: int, window: int, stride: int = 1) -> Block:
    """A graph with a fused group of one, its padding such that a window of 3 leaves the size as it is."""
    pad, out = window // 2, (size + window // 2 * 2 - window) // stride + 1
    x, w = f"tensor<1x{channels}x{size}x{size}xf32>", f"tensor<{filters}x{channels}x{window}x{window}xf32>"
    y = f"tensor<1x{filters}x{out}x{out}xf32>"
    attributes = f"strides = array<i64: {stride}, {stride}>, pads = array<i64: {', '.join([str(pad)] * 4)}>"
    text = f"""
        func.func @main(%x: {x}) -> {y} {{
          %w = graph.parameter @w : {w}
          %y = graph.fused "conv" (%x, %w) : ({x}, {w}) -> ({y}) {{
          ^bb0(%a: {x}, %b: {w}):
            %c = graph.conv %a, %b {{{attributes}, dilations = array<i64: 1, 1>, groups = 1 : i64}} : ({x}, {w}) -> {y}
            graph.yield %c : {y}
          }}
          func.return %y : {y}
        }}
    """
    [function] = SourceParser(make_context(), text, "test").parse_module().ops
    return function.regions[0].block


def nothing(_self: Algorithms, _algorithm: Algorithm, _product: object) -> float:
    """What an algorithm takes at least."""
    return 0.0


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.cpu)
@pytest.mark.parametrize(
    "sizes",
    [(64, 64, 56, 3), (128, 128, 28, 3, 2), (512, 512, 7, 3), (16, 16, 14, 5), (512, 512, 14, 1), (3, 64, 32, 3)],
    ids=str,
)
def test_the_best_one_is_found(monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], target: Target):
    block = convolution(*sizes)
    group = next(op for op in block.ops if isinstance(op, FusedOp))
    priced: list[Algorithm] = []
    price = Algorithms._cycles_with  # pyright: ignore[reportPrivateUsage]

    def counted(self: Algorithms, algorithm: Algorithm, group: FusedOp) -> float:
        priced.append(algorithm)
        return price(self, algorithm, group)

    monkeypatch.setattr(Algorithms, "_cycles_with", counted)
    some = Algorithms(target, PRECISIONS["default"]).best_for(group)
    few = len(priced)
    monkeypatch.setattr(Algorithms, "_least_cycles", nothing)
    everything = Algorithms(target, PRECISIONS["default"]).best_for(group)
    assert some == everything
    if len(sizes) == 5:  # windows that move by two have many algorithms
        assert few < len(priced) - few
