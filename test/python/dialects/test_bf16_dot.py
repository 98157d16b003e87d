"""Dot products of numbers of bfloat16: the instruction, what stands for it, and what the interpreter computes."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Block

from tilework.backends.llvm.product_terms import Terms
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp, KernelOp
from tilework.dialects.support import bfloat16
from tilework.interpreters.loop import run_loop_kernel
from tilework.targets import parse_target

RANDOM = np.random.default_rng(16)
N = 48
TINY = float(np.finfo(np.float32).tiny)

Parse = Callable[[str], ModuleOp]

DOT = "%d = loop.call_intrinsic @bf16.dot(%x, %w) : (WORDS, WORDS) -> FLOATS\n"
BODIES = {
    "alone": DOT + "%t = arith.addf %d, %zero fastmath<contract> : FLOATS",
    "added": DOT + "%t = arith.addf %a, %d fastmath<contract> : FLOATS",
    "added by another sum": DOT + "%t = arith.addf %a, %d : FLOATS",
    "two": DOT
    + DOT.replace("%d", "%e").replace("%w)", "%x)")
    + "%s = arith.addf %d, %e fastmath<contract> : FLOATS\n%t = arith.addf %s, %a fastmath<contract> : FLOATS",
    "nothing else": DOT + DOT.replace("%d", "%e") + "%t = arith.addf %d, %e fastmath<contract> : FLOATS",
    "read twice": DOT
    + "%s = arith.addf %a, %d fastmath<contract> : FLOATS\n%t = arith.addf %s, %d fastmath<contract> : FLOATS",
    "a product that nothing reads": DOT + "%t = arith.addf %a, %a fastmath<contract> : FLOATS",
}


def kernel(lanes: int | None, body: str) -> str:
    """N pairs of words, and N floats."""
    words, floats, part = "i32", "f32", ("", "")
    if lanes is not None:
        words, floats = f"vector<{lanes}xi32>", f"vector<{lanes}xf32>"
        part = f", {words}", f", {floats}"
    at = "%i" if lanes is None else f"{lanes} * %i"
    zero = "0.0 : f32" if lanes is None else f"dense<0.0> : {floats}"
    body = body.replace("WORDS", words).replace("FLOATS", floats)
    return f"""
loop.kernel @k ins(%xs: memref<{N}xi32>, %ws: memref<{N}xi32>, %as: memref<{N}xf32>) outs(%out: memref<{N}xf32>) {{
  %zero = arith.constant {zero}
  loop.for %i = 0 to {N // (lanes or 1)} "i" {{
    %x = loop.load %xs[{at}] : memref<{N}xi32>{part[0]}
    %w = loop.load %ws[{at}] : memref<{N}xi32>{part[0]}
    %a = loop.load %as[{at}] : memref<{N}xf32>{part[1]}
    {body}
    loop.store %t, %out[{at}] : memref<{N}xf32>{part[1]}
  }}
}}"""


def words_of(pairs: np.ndarray) -> np.ndarray:
    """Pairs of floats as words of their nearest numbers of bfloat16."""
    return np.ascontiguousarray(pairs.astype(ml_dtypes.bfloat16)).view(np.int32).ravel()


def numbers_of(words: np.ndarray) -> np.ndarray:
    return words.view(ml_dtypes.bfloat16).reshape(-1, 2).astype(np.float64)


@pytest.mark.parametrize("lanes", [None, 2, 4, 6, 8, 16, 24])
@pytest.mark.parametrize("name", BODIES)
def test_compiled_sums_are_those_of_the_interpreter_but_for_rounding(
    compile_kernel: Callable[[str], Callable[..., None]], parse_module: Parse, name: str, lanes: int | None
):
    """Four lanes, eight and sixteen are one instruction where the machine has it."""
    x, w = (words_of(RANDOM.standard_normal((N, 2)) * 2.0 ** RANDOM.integers(-20, 20, (N, 1))) for _ in "xw")
    a = RANDOM.standard_normal(N).astype(np.float32)
    text = kernel(lanes, BODIES[name])
    compiled, interpreted = np.zeros(N, np.float32), np.zeros(N, np.float32)
    compile_kernel(text)(x, w, a, compiled)
    [made] = (op for op in parse_module(text).ops if isinstance(op, KernelOp))
    run_loop_kernel(made, [x, w, a], [interpreted])
    largest = np.abs(a) + 4 * np.maximum(np.abs(numbers_of(x)), np.abs(numbers_of(w))).max(axis=1) ** 2
    assert (np.abs(compiled - interpreted) <= 2.0**-22 * largest).all()
    assert np.isfinite(compiled).all() and np.abs(compiled).min() > 0


@pytest.mark.parametrize("lanes", [None, 4, 16])
def test_small_integers_are_exact(compile_kernel: Callable[[str], Callable[..., None]], lanes: int | None):
    x, w = (RANDOM.integers(-128, 129, (N, 2)) for _ in "xw")
    a, out = RANDOM.integers(-999, 999, N).astype(np.float32), np.zeros(N, np.float32)
    compile_kernel(kernel(lanes, BODIES["added"]))(words_of(x), words_of(w), a, out)
    np.testing.assert_array_equal(out, a + (x * w).sum(axis=1))


@pytest.mark.parametrize("lanes", [None, 16])
@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (((-0.0, -0.0), (1.0, 1.0)), -0.0),
        (((-0.0, 0.0), (1.0, 1.0)), 0.0),
        (((np.inf, 1.0), (1.0, 1.0)), np.inf),
        (((np.inf, 1.0), (1.0, -np.inf)), np.nan),
        (((np.nan, 1.0), (1.0, 1.0)), np.nan),
        (((2.0**127, 1.0), (4.0, 1.0)), np.inf),
        (((TINY, TINY), (1.0, 1.0)), 2 * TINY),
    ],
)
def test_what_is_special_is_what_it_means(
    compile_kernel: Callable[[str], Callable[..., None]],
    lanes: int | None,
    pairs: tuple[tuple[float, float], tuple[float, float]],
    expected: float,
):
    """Signs of zeros, too; only numbers that are not normal may be zeros."""
    x, w = (words_of(np.tile(np.array(pair), (N, 1))) for pair in pairs)
    out = np.ones(N, np.float32)
    body = DOT + "%t = arith.addf %d, %a : FLOATS"
    compile_kernel(kernel(lanes, body))(x, w, np.full(N, -0.0, np.float32), out)
    np.testing.assert_array_equal(out, np.full(N, expected, np.float32))
    np.testing.assert_array_equal(np.signbit(out), np.full(N, np.signbit(expected)) | np.isnan(out) & np.signbit(out))


@pytest.mark.parametrize(
    ("target", "bits"),
    [
        ("llvm -mcpu=sapphirerapids", 512),
        ("llvm -mcpu=znver4", 512),
        ("llvm -mcpu=sapphirerapids -mattr=-avx512vl", 0),
        ("llvm -mcpu=icelake-server", 0),
        ("llvm -mcpu=neoverse-v1", 128),
        ("llvm -mcpu=neoverse-n1", 0),
        ("c -mcpu=sapphirerapids", 0),
        ("c -mcpu=neoverse-v1", 0),
    ],
)
def test_machines_with_the_instruction(target: str, bits: int):
    assert parse_target(target).bfloat16_dot_bits == bits


def test_a_long_sum_of_products_is_taken_apart():
    """More products than Python's stack has room for, and nothing else."""
    block = Block(arg_types=[i32, f32])
    dots = [CallIntrinsicOp(bfloat16.DOT, [block.args[0]] * 2, f32) for _ in range(2000)]
    block.add_ops(dots)
    total = dots[0].result
    for dot in dots[1:]:
        block.add_op(added := arith.AddfOp(total, dot.result, arith.CONTRACT))
        total = added.result
    block.add_op(last := arith.AddfOp(total, block.args[1], arith.CONTRACT))
    others, terms = Terms(block).parts_of(last)
    assert others == [block.args[1]] and [term.product for term in terms] == dots
