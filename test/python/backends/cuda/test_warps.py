"""Which thread of a warp has which element: the code for tensor cores, run by a warp made of what PTX's manual says."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from warp_machine import Warp
from xdsl.parser import Parser

from tilework.analysis.program_targets import HOST, set_targets
from tilework.backends.base import refuse_unaccepted
from tilework.backends.cuda.emit_ptx import emit_launched
from tilework.backends.registry import backend_for
from tilework.dialects import loop
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_phase
from tilework.interpreters.loop import run_loop_kernel
from tilework.targets import parse_target
from tilework.targets.gpu.target import GpuTarget

SM_80 = GpuTarget.of(parse_target("cuda -arch=sm_80"))


def two_tiles(kind: str, stride: int = 24) -> str:
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
    text = emitted(two_tiles(kind))
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
        emitted(two_tiles("f16", stride=20))


def test_tiles_that_overlap_are_refused():
    text = two_tiles("f16").replace("@mma.zero writes %r[16] of", "@mma.zero writes %r[8] of")
    with pytest.raises(CompileError, match="tiles of %r overlap, and are registers"):
        emitted(text)


def test_tiles_of_loops_that_are_not_unrolled_are_refused():
    text = two_tiles("f16").replace("@mma.zero writes %r[16] of", "@mma.zero writes %r[16 * %block] of")
    with pytest.raises(CompileError, match="the subscript of tile register %r is no constant: unroll the loops"):
        emitted(text)


def test_what_each_thread_would_do_by_itself_is_refused():
    text = two_tiles("f16").replace("loop.if [-%t >= 0] {", 'loop.for %i = 0 to 1 "i" {')
    module = Parser(make_context(), text).parse_module()
    with pytest.raises(CompileError, match="@mma.zero is done by all threads of a warp together, and stands beside"):
        refuse_unaccepted(backend_for(SM_80), module, SM_80)


@pytest.mark.parametrize(
    ("shape", "subscripts", "meaning"),
    [
        ("32x24", "k, j", "gik,kj->gij"),
        ("24x32", "j, k", "gik,jk->gij"),
        ("2x32x24", "g, k, j", "gik,gkj->gij"),
        ("2x24x32", "g, j, k", "gik,gjk->gij"),
    ],
)
def test_the_rule_computes_what_te_says(shape: str, subscripts: str, meaning: str):
    """Rows and columns that are no multiples of a tile, many products at a time, and weights of either layout."""
    text = f"""
te.kernel @products(%a: tensor<2x40x32xf16>, %b: tensor<{shape}xf16>) -> tensor<2x40x24xf32> {{
  %p = te.compute "product" [g: 2, i: 40, j: 24] reduce [k: 32] : tensor<2x40x24xf32> {{
    %0 = te.read %a[g, i, k] : tensor<2x40x32xf16>
    %1 = te.read %b[{subscripts}] : tensor<{shape}xf16>
    %2 = arith.extf %0 : f16 to f32
    %3 = arith.extf %1 : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    te.reduce add %4 : f32
  }}
  te.return %p : tensor<2x40x24xf32>
}}
"""
    context = make_context()
    module = Parser(context, text).parse_module()
    set_targets(module, {HOST: SM_80})
    run_phase("compile-gpu-kernel", context, module)
    assert "loop.intrinsic @mma.f16" in str(module)
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, n).astype(np.float16) for n in ((2, 40, 32), [int(n) for n in shape.split("x")]))
    y = np.full((2, 40, 24), np.nan, np.float32)
    run_loop_kernel(kernel, [a, b], [y])
    np.testing.assert_array_equal(y, np.einsum(meaning, a.astype(np.float32), b.astype(np.float32)))
