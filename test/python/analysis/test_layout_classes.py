"""Which tensors may lie in blocks of channels."""

from __future__ import annotations

import pytest

from tilework.analysis.functions import body_of
from tilework.analysis.layout_classes import layout_classes

BLOCKS = (16, 8)


def product(dims: str, size: int) -> str:
    """A function in which a kernel multiplies what another makes, a stack of square matrices, with itself."""
    stack = f"tensor<{dims}x{size}x{size}xf32>"
    return f"""
func.func @main(%x: {stack}) -> {stack} {{
  %y = graph.fused "relu" (%x) : ({stack}) -> ({stack}) {{
  ^bb0(%a: {stack}):
    %r = graph.relu %a : ({stack}) -> {stack}
    graph.yield %r : {stack}
  }}
  %z = graph.fused "matmul" (%y, %y) : ({stack}, {stack}) -> ({stack}) {{
  ^bb0(%a: {stack}, %b: {stack}):
    %m = graph.matmul %a, %b : ({stack}, {stack}) -> {stack}
    graph.yield %m : {stack}
  }}
  func.return %z : {stack}
}}"""


@pytest.mark.parametrize("dims", ["1x64x2", "1x64"])
def test_axes_that_count_matrices_are_no_channels(parse_module, dims: str):
    [function] = parse_module(product(dims, 49)).ops
    assert layout_classes(body_of(function), BLOCKS) == []


def test_rows_of_a_matrix_fill_blocks(parse_module):
    [function] = parse_module(product("1", 48)).ops
    assert [found.block for found in layout_classes(body_of(function), BLOCKS)] == [16]
