"""Which thread of a warp has which element: the code for tensor cores, run by a warp made of what PTX's manual says."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from warp_machine import Warp
from xdsl.parser import Parser

from tilework.backends.cuda.emit_ptx import emit_launched
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.targets import parse_target
from tilework.targets.gpu.target import GpuTarget

SM_80 = GpuTarget.of(parse_target("cuda -arch=sm_80"))


def kernel(kind: str, stride: int = 24) -> str:
    """Two tiles of sums, beside each other, of a tile of one factor and two of the other, and where they are stored."""

    def multiply(tile: int) -> str:
        return (
            f"loop.intrinsic @mma.{kind} updates %r[{16 * tile}] of [16, 16] strides [32, 1] "
            f"from %a[{2 * stride}] of [16, 16] strides [{stride}, 1], %b[{16 * tile}] of [16, 16] strides [40, 1] "
            f': memref<512xf32, "mma">, memref<512x{kind}, "shared">, memref<640x{kind}, "shared">'
        )

    def each(name: str, parts: str, types: str) -> str:
        return "\n".join(f"loop.intrinsic @mma.{name} {parts.format(16 * t)} : {types}" for t in range(2))

    registers, stored = 'memref<512xf32, "mma">', 'memref<1024xf32, "shared">'
    zero = each("zero", "writes %r[{0}] of [16, 16] strides [32, 1]", registers)
    parts = "writes %s[{0}] of [16, 16] strides [36, 1] from %r[{0}] of [16, 16] strides [32, 1]"
    store = each("store", parts, f"{stored}, {registers}")
    return f"""
loop.kernel @k outs(%y: memref<1xf32>) attributes {{loop.mapped, loop.index_bits = 32 : i64}} {{
  loop.for %block = 0 to 1 "block" blockIdx.x {{
    %a = memref.alloca() : memref<512x{kind}, "shared">
    %b = memref.alloca() : memref<640x{kind}, "shared">
    %s = memref.alloca() : {stored}
    loop.for %t = 0 to 32 "t" threadIdx.x {{
      %r = memref.alloca() : {registers}
      loop.if [-%t >= 0] {{
        {zero}
        {multiply(0)}
        {multiply(1)}
        {multiply(1)}
        {store}
      }}
    }}
  }}
}}
"""


def emitted(text: str) -> str:
    return emit_launched(Parser(make_context(), text).parse_module(), SM_80)


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_threads_hold_what_the_manual_says(kind: str, dtype: type):
    """Every element of both tiles is right; the second one is added to twice."""
    text = emitted(kernel(kind))
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, n).astype(dtype) for n in (512, 640))
    sums = np.full(1024, np.nan, np.float32)
    names = re.findall(r'@"?(k\.\w+)"? = internal addrspace\(3\)', text)
    shared = dict(zip(names, (a.view(np.uint8), b.view(np.uint8), sums.view(np.uint8)), strict=True))
    [function] = re.findall(r"define ptx_kernel.*?\n}", text, re.DOTALL)
    Warp(shared).run(function)
    left = np.stack([a[48 + 24 * row : 48 + 24 * row + 16] for row in range(16)]).astype(np.float32)
    for tile, times in ((0, 1), (1, 2)):
        right = np.stack([b[40 * row + 16 * tile : 40 * row + 16 * tile + 16] for row in range(16)]).astype(np.float32)
        stored = np.stack([sums[36 * row + 16 * tile : 36 * row + 16 * tile + 16] for row in range(16)])
        np.testing.assert_array_equal(stored, times * (left @ right))


def test_rows_that_begin_between_16_bytes_are_refused():
    with pytest.raises(CompileError, match="rows of %a begin at no multiple of 8 elements: give them such a stride by"):
        emitted(kernel("f16", stride=20))


def test_tiles_that_overlap_are_refused():
    text = kernel("f16").replace("@mma.zero writes %r[16] of", "@mma.zero writes %r[8] of")
    with pytest.raises(CompileError, match="tiles of %r overlap, and are registers"):
        emitted(text)


def test_tiles_of_loops_that_are_not_unrolled_are_refused():
    text = kernel("f16").replace("@mma.zero writes %r[16] of", "@mma.zero writes %r[16 * %block] of")
    with pytest.raises(CompileError, match="the subscript of tile register %r is no constant: unroll the loops"):
        emitted(text)
