"""Convolutions of two bits by one beside those of floats: the layers of table 2 of the TVM paper, in one process.

This is the paper's ultra low precision (figure 18): activations come as floats, are rounded to two bits and packed,
and are multiplied by weights of -1 and 1, which were packed before. The convolution of packed activations is measured
alone, too, with the intrinsic that counts bits and with what stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilework.api import compile
from tilework.dialects import arith
from tilework.dialects.support.bits import BITS, DOT
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import CallIntrinsicOp
from tilework.driver.instrumentation import Instrumentation
from tilework.lowering.graph_to_te import GraphToTe
from tilework.runtime.cache import KernelCache
from tilework.runtime.threads import set_num_threads
from tilework.tools.bench.operators import OPERATOR, operator_model, parse_operator

LAYERS = tuple(f"C{i}" for i in range(2, 13))
"""C1 is left out: its three channels do not fill a word."""

PLANES = 2
"""Activations have so many bits; a weight has one."""

RUNS = 10
"""Each program runs so often when it is its turn."""

Run = Callable[[], object]


class WithoutIntrinsic(Instrumentation):
    """Bits are counted by operations of `arith` and `math`, for which LLVM finds the instructions."""

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        if not isinstance(pass_, GraphToTe):
            return
        for call in [inside for inside in op.walk() if isinstance(inside, CallIntrinsicOp) and inside.intrinsic == DOT]:
            x, w = call.arguments
            both = arith.AndIOp(x, w)
            Rewriter.replace_op(call, [both, math.CtPopOp(both.result)])


def measure_bit_serial(repeat: int, threads: int) -> dict[str, Any]:
    """Microseconds, medians of `repeat` turns of all programs, for each layer, as JSON values."""
    set_num_threads(threads)
    with TemporaryDirectory(prefix="tilework-bench-") as folder:
        cache = KernelCache(Path(folder))
        layers = {name: _medians(_programs(name, cache), repeat) for name in LAYERS}
    return {"threads": threads, "layers": layers}


def bit_serial_rows(measured: Mapping[str, Any]) -> list[list[str]]:
    """A table of them, geometric means of the ratios last."""
    rows = [["layer", "f32", "2 bits by 1", "faster", "of which products", "without intrinsic", "faster by it"]]
    faster, by_intrinsic = list[float](), list[float]()
    for name, us in measured["layers"].items():
        faster.append(us["floats"] / us["bits"])
        by_intrinsic.append(us["plain"] / us["products"])
        times = [f"{us[what]:.1f}" for what in ("floats", "bits", "products", "plain")]
        rows.append([name, *times[:2], f"{faster[-1]:.2f}", *times[2:], f"{by_intrinsic[-1]:.2f}"])
    rows.append(["mean", "", "", f"{geometric_mean(faster):.2f}", "", "", f"{geometric_mean(by_intrinsic):.2f}"])
    return rows


def _medians(programs: Mapping[str, Run], repeat: int) -> dict[str, float]:
    """Programs run in turns, so that whatever else the machine does meets all alike."""
    times = {name: list[float]() for name in programs}
    for _ in range(repeat):
        for name, run in programs.items():
            run()  # finds its data and code in the caches from then on
            for _ in range(RUNS):
                start = perf_counter()
                run()
                times[name].append(1e6 * (perf_counter() - start))
    return {name: median(taken) for name, taken in times.items()}


def _programs(name: str, cache: KernelCache) -> dict[str, Run]:
    """The layer in floats, in bits; its products alone, and those without the intrinsic."""
    _, sizes = parse_operator(f"{OPERATOR}{name}")
    channels, filters, size, window = (sizes[key] for key in ("ic", "oc", "hw", "k"))
    random = np.random.default_rng(0)
    x = random.uniform(-1, 4, (1, channels, size, size)).astype(np.float32)
    words = random.integers(-(2**31), 2**31, (PLANES, 1, -(-channels // BITS), size, size)).astype(np.int32)
    weights = {"w": random.integers(0, 2, (filters, channels, window, window)).astype(np.uint8)}
    whole, products = (_parsed(bit_serial_program(sizes, packed)) for packed in (False, True))
    floats = compile(operator_model(f"{OPERATOR}{name}"), cache=cache)
    bits = compile(whole, parameters=weights, cache=cache)
    alone = compile(products, parameters=weights, cache=cache)
    plain = compile(products, parameters=weights, cache=cache, instrumentations=[WithoutIntrinsic()])
    return {
        "floats": lambda: floats(x),
        "bits": lambda: bits(x),
        "products": lambda: alone(words),
        "plain": lambda: plain(words),
    }


def _parsed(text: str) -> ModuleOp:
    return SourceParser(make_context(), text, "<bit-serial>").parse_module()


def bit_serial_program(sizes: Mapping[str, int], packed: bool) -> str:
    """A convolution of these sizes, of activations that are packed or come as floats, by the weights @w; its results
    are floats."""
    channels, filters, size, window, stride = (sizes[key] for key in ("ic", "oc", "hw", "k", "stride"))
    after, words = -(-size // stride), -(-channels // BITS)
    padding = max((after - 1) * stride + window - size, 0)
    pads = f"{padding // 2}, {padding // 2}, {padding - padding // 2}, {padding - padding // 2}"
    floats, bytes_, planes = (
        _tensor(1, channels, size, size, "f32"),
        _tensor(1, channels, size, size, "ui8"),
        _tensor(PLANES, 1, words, size, size, "i32"),
    )
    weights, kernel = (
        _tensor(filters, channels, window, window, "ui8"),
        _tensor(1, filters, words, window, window, "i32"),
    )
    sums, result = _tensor(1, filters, after, after, "i32"), _tensor(1, filters, after, after, "f32")
    packing = f"""
  %r = graph.round %x : ({floats}) -> {floats}
  %c = graph.clip %r {{low = 0.0 : f32, high = {2**PLANES - 1}.0 : f32}} : ({floats}) -> {floats}
  %q = graph.cast %c {{to = ui8}} : ({floats}) -> {bytes_}
  %b = graph.bits %q {{axis = 1 : i64, planes = {PLANES} : i64}} : ({bytes_}) -> {planes}"""
    attributes = f"strides = array<i64: {stride}, {stride}>, pads = array<i64: {pads}>, dilations = array<i64: 1, 1>"
    return f"""
func.func @main({f"%b: {planes}" if packed else f"%x: {floats}"}) -> {result} {{
  %w = graph.parameter @w : {weights}
  %v = graph.bits %w {{axis = 1 : i64, planes = 1 : i64}} : ({weights}) -> {kernel}{"" if packed else packing}
  %y = graph.bit_serial_conv %b, %v {{{attributes}, bipolar}} : ({planes}, {kernel}) -> {sums}
  %f = graph.cast %y {{to = f32}} : ({sums}) -> {result}
  func.return %f : {result}
}}"""


def _tensor(*parts: int | str) -> str:
    return f"tensor<{'x'.join(map(str, parts))}>"
