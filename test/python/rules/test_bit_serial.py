"""Products of numbers of few bits, bit by bit: planes and products against numpy, and the instructions that count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx_models import Array
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.runtime.cache import KernelCache
from tilework.targets import parse_target

RANDOM = np.random.default_rng(46)
N = 48


def kernel(lanes: int | None, body: str) -> str:
    """A loop over N words in three arrays, %x, %w and %a; `body` makes %t of them, all of type TYPE."""
    type_, part = ("i32", "") if lanes is None else (f"vector<{lanes}xi32>", f", vector<{lanes}xi32>")
    at = "%i" if lanes is None else f"{lanes} * %i"
    loads = "\n".join(f"%{v} = loop.load %{v}s[{at}] : memref<{N}xi32>{part}" for v in "xwa")
    number = "i32" if lanes is None else f"vector<{lanes}xi32>"

    def constant(n: int) -> str:
        return f"{n} : i32" if lanes is None else f"dense<{n}> : {number}"

    numbers = "\n".join(f"%c{n} = arith.constant {constant(n)}" for n in (1, 3, 7, 32))
    return f"""
loop.kernel @k ins(%xs: memref<{N}xi32>, %ws: memref<{N}xi32>, %as: memref<{N}xi32>) outs(%out: memref<{N}xi32>) {{
  loop.for %i = 0 to {N // (lanes or 1)} "i" {{
    {loads}
    {numbers}
    {body.replace("TYPE", type_)}
    loop.store %t, %out[{at}] : memref<{N}xi32>{part}
  }}
}}"""


DOT = "%d = loop.call_intrinsic @bits.dot(%x, %w) : (TYPE, TYPE) -> TYPE\n"

BODIES: dict[str, tuple[str, Callable[[Array, Array], Array] | None]] = {
    "alone": (DOT.replace("%d", "%t"), lambda d, a: d),
    "shifted": (DOT + "%t = arith.shli %d, %c3 : TYPE", lambda d, a: d << 3),
    "added": (DOT + "%t = arith.addi %d, %a : TYPE", lambda d, a: d + a),
    "shifted and added": (
        DOT + "%s = arith.shli %d, %c3 : TYPE\n%t = arith.addi %a, %s : TYPE",
        lambda d, a: a + (d << 3),
    ),
    "shifted by more than a byte has": (
        DOT + "%s = arith.shli %d, %c7 : TYPE\n%t = arith.addi %a, %s : TYPE",
        lambda d, a: a + (d << 7),
    ),
    "shifted out": (DOT + "%s = arith.shli %d, %c32 : TYPE\n%t = arith.addi %a, %s : TYPE", lambda d, a: a),
    "shifted twice": (
        DOT + "%r = arith.shli %d, %c1 : TYPE\n%s = arith.shli %r, %c3 : TYPE\n%t = arith.addi %a, %s : TYPE",
        lambda d, a: a + (d << 4),
    ),
    "two": (
        DOT
        + "%e = loop.call_intrinsic @bits.dot(%x, %a) : (TYPE, TYPE) -> TYPE\n%s = arith.shli %e, %c1 : TYPE\n"
        + "%r = arith.addi %d, %s : TYPE\n%t = arith.addi %a, %r : TYPE",
        None,
    ),
    "nothing else": (DOT + DOT.replace("%d", "%e") + "%t = arith.addi %d, %e : TYPE", lambda d, a: 2 * d),
    "read twice": (DOT + "%s = arith.addi %a, %d : TYPE\n%t = arith.addi %s, %d : TYPE", lambda d, a: a + 2 * d),
    "with bytes": (
        DOT + "%e = loop.call_intrinsic @dot4.ui8i8(%x, %w) : (TYPE, TYPE) -> TYPE\n%r = arith.addi %d, %e : TYPE\n"
        "%s = loop.call_intrinsic @dot4.ui8i8(%x, %w) : (TYPE, TYPE) -> TYPE\n%t = arith.subi %r, %s : TYPE",
        lambda d, a: d,
    ),
}


@pytest.mark.parametrize("like", ["znver4", "icelake-server"])
@pytest.mark.parametrize("lanes", [None, 4, 6, 8, 16, 24])
@pytest.mark.parametrize("name", BODIES)
def test_counts_of_all_widths(compile_kernel, name: str, lanes: int | None, like: str):
    """Four lanes, eight and sixteen are counted in bytes where the machine can, and none counts words as fast."""
    body, expected = BODIES[name]
    x, w, a = (RANDOM.integers(-(2**31), 2**31, N).astype(np.int32) for _ in range(3))
    x[:2], w[:2] = -1, [-1, 0]  # all bits and none
    out = np.zeros(N, np.int32)
    compile_kernel(kernel(lanes, body), like)(x, w, a, out)
    counts = np.bitwise_count((x & w).view(np.uint32)).astype(np.int32)
    if expected is None:
        second = np.bitwise_count((x & a).view(np.uint32)).astype(np.int32)
        np.testing.assert_array_equal(out, a + counts + 2 * second)
    else:
        np.testing.assert_array_equal(out, expected(counts, a))


@pytest.mark.parametrize(
    ("target", "lanes", "expected", "absent"),
    [
        ("llvm -mcpu=icelake-server", 16, "@llvm.x86.avx512.vpdpbusd.512(<16 x i32> %a", "ctpop.v16i32"),
        ("llvm -mcpu=znver4", 16, "@llvm.ctpop.v16i32", "vpdpbusd"),
        ("llvm -mcpu=znver5", 16, "@llvm.x86.avx512.vpdpbusd.512(<16 x i32> %a", "ctpop.v16i32"),
        ("llvm -mcpu=icelake-server -mattr=-avx512bitalg", 16, "@llvm.ctpop.v16i32", "vpdpbusd"),
        ("llvm -mcpu=skylake-avx512", 16, "@llvm.x86.avx512.pmaddubs.w.512", "ctpop.v16i32"),
        ("llvm -mcpu=alderlake", 8, "@llvm.x86.avx512.vpdpbusd.256(<8 x i32> %a", "ctpop.v8i32"),
        ("llvm -mcpu=haswell", 8, "@llvm.x86.avx2.pmadd.ub.sw", "ctpop.v8i32"),
        ("llvm -mcpu=x86-64-v2", 4, "@llvm.x86.ssse3.pmadd.ub.sw.128", "ctpop.v4i32"),
        ("llvm -mcpu=x86-64", 4, "@llvm.ctpop.v4i32", "pmadd"),
        ("llvm -mcpu=neoverse-n1", 4, "@llvm.aarch64.neon.udot.v4i32.v16i8(<4 x i32> %a", "ctpop.v4i32"),
        ("llvm -mcpu=cortex-a72", 4, "@llvm.ctpop.v4i32", "udot"),
        ("llvm -mcpu=icelake-server", None, "@llvm.ctpop.i32", "vpdpbusd"),
    ],
)
def test_counts_are_of_bytes_where_these_are_added_up(target: str, lanes: int | None, expected: str, absent: str):
    module = SourceParser(make_context(), kernel(lanes, BODIES["shifted and added"][0]), "<test>").parse_module()
    assert isinstance(module, ModuleOp)
    text = emit_kernels(module, parse_target(target))
    assert expected in text
    assert absent not in text


# ---- Operators -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def tensor(shape: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, dtype)))}>"


def program(
    x: tuple[int, ...], w: tuple[int, ...], planes: tuple[int, int], result: tuple[int, ...], operator: str
) -> str:
    """Both are packed, the weight once; `operator` has its attributes."""
    channels = len(x) - 1 if len(x) < 3 else 1
    types = [tensor(x, "ui8"), tensor(w, "ui8")]
    words = [
        tensor((p, *s[:axis], -(-s[axis] // 32), *s[axis + 1 :]), "i32")
        for p, s, axis in ((planes[0], x, channels), (planes[1], w, 1))
    ]
    out = tensor(result, "i32")
    return f"""
func.func @main(%x: {types[0]}) -> {out} {{
  %w = graph.parameter @w : {types[1]}
  %v = graph.bits %w {{axis = 1 : i64, planes = {planes[1]} : i64}} : ({types[1]}) -> {words[1]}
  %b = graph.bits %x {{axis = {channels} : i64, planes = {planes[0]} : i64}} : ({types[0]}) -> {words[0]}
  %y = {operator} : ({words[0]}, {words[1]}) -> {out}
  func.return %y : {out}
}}"""


def compiled(text: str, w: Array, tmp_path: Path, cache: KernelCache, target: str):
    path = tmp_path / "program.mlir"
    path.write_text(text)
    module = SourceParser(make_context(), text, str(path)).parse_module()
    return tw.compile(module, parameters={"w": w}, cache=cache, target=target, processes=1)


def numbers(shape: tuple[int, ...], planes: int) -> Array:
    """Bits above the planes are set, too: they do not count."""
    return RANDOM.integers(0, 256, shape).astype(np.uint8) | (np.uint8(0) if planes == 8 else np.uint8(128))


def weights(w: Array, planes: int, bipolar: bool) -> Array:
    low = (w & 2**planes - 1).astype(np.int64)
    return 2 * low - (2**planes - 1) if bipolar else low


TARGETS = ["llvm -mcpu=x86-64-v3", "llvm"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bipolar", [False, True])
@pytest.mark.parametrize(
    ("channels", "filters", "size", "window", "stride", "planes"),
    [
        (64, 48, 14, 3, 1, (2, 1)),  # tiles of whole vectors
        (40, 20, 9, 3, 2, (2, 2)),  # the last word is not full
        (1, 1, 1, 1, 1, (1, 1)),
        (33, 7, 5, 1, 1, (3, 1)),  # one channel is in a word of its own
        (96, 16, 8, 1, 2, (8, 2)),
    ],
)
def test_convolutions(
    channels: int,
    filters: int,
    size: int,
    window: int,
    stride: int,
    planes: tuple[int, int],
    bipolar: bool,
    target: str,
    tmp_path: Path,
    cache: KernelCache,
):
    pad = window // 2
    x, w = numbers((1, channels, size, size), planes[0]), numbers((filters, channels, window, window), planes[1])
    after = (size + 2 * pad - window) // stride + 1
    attributes = f"strides = array<i64: {stride}, {stride}>, pads = array<i64: {pad}, {pad}, {pad}, {pad}>"
    attributes += f", dilations = array<i64: 1, 1>{', bipolar' if bipolar else ''}"
    text = program(
        x.shape, w.shape, planes, (1, filters, after, after), f"graph.bit_serial_conv %b, %v {{{attributes}}}"
    )
    found = compiled(text, w, tmp_path, cache, target)(x)
    padded = np.pad((x & 2 ** planes[0] - 1).astype(np.int64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (window, window), (2, 3))[:, :, ::stride, ::stride]
    expected = np.einsum("ncyxab,ocab->noyx", windows, weights(w, planes[1], bipolar))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bipolar", [False, True])
@pytest.mark.parametrize(
    ("rows", "depth", "outputs", "planes"),
    [((12,), 256, 64, (2, 1)), ((1,), 100, 19, (2, 2)), ((), 64, 33, (1, 1)), ((5,), 1, 1, (2, 1))],
)
def test_layers(
    rows: tuple[int, ...],
    depth: int,
    outputs: int,
    planes: tuple[int, int],
    bipolar: bool,
    target: str,
    tmp_path: Path,
    cache: KernelCache,
):
    x, w = numbers((*rows, depth), planes[0]), numbers((outputs, depth), planes[1])
    operator = f"graph.bit_serial_dense %b, %v{' {bipolar}' if bipolar else ''}"
    text = program(x.shape, w.shape, planes, (*rows, outputs), operator)
    found = compiled(text, w, tmp_path, cache, target)(x)
    expected = (x & 2 ** planes[0] - 1).astype(np.int64) @ weights(w, planes[1], bipolar).T
    np.testing.assert_array_equal(found, expected)
