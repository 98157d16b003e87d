"""What `tilework bench` counts: operations and bytes of te kernels, calls and buffers of a compiled model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from places import ROOT

from tilework.api import compile
from tilework.dialects import te
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.runtime.cache import KernelCache
from tilework.runtime.module import Module
from tilework.runtime.shapes import SymbolicShape
from tilework.targets.cpu.host import host_target
from tilework.tools.bench import measure
from tilework.tools.bench.meters import multiply_adds, stream
from tilework.tools.bench.operators import operator_model
from tilework.tools.bench.program import TICKS, ProgramWatcher, tick_object
from tilework.tools.bench.roofline import Measured, Roofline, measured_kernels, whole_model
from tilework.tools.bench.table import KERNEL_HEAD, kernel_rows, percent
from tilework.tools.bench.work import Work, work_of
from tilework.tools.cli import main

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def watched(model: object, cache: KernelCache, **dims: int) -> tuple[ProgramWatcher, Module]:
    """The notes on a model, and the model with a clock around each call."""
    watcher = ProgramWatcher(dims)
    module = compile(model, cache=cache, instrumentations=[watcher])
    return watcher, Module(module.manifest, [*module.objects, tick_object(host_target())], module.parameters)


def kernel_work(text: str, **sizes: int) -> Work:
    [kernel] = SourceParser(make_context(), text, "test").parse_module().ops
    assert isinstance(kernel, te.KernelOp)
    kernel.verify()
    return work_of(kernel, sizes)


def test_dense_relu_of_a_symbolic_size():
    """A multiply-add is two; the relu is one more for every element."""
    text = """
    te.kernel @f(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %w: tensor<32x64xf32>)
        -> tensor<?x32xf32, #graph.dims<[N, 32]>> {
      %d = te.compute "d" [i: N, j: 32] reduce [k: 64] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
        %a = te.read %x[i, k] : tensor<?x64xf32, #graph.dims<[N, 64]>>
        %b = te.read %w[j, k] : tensor<32x64xf32>
        %p = arith.mulf %a, %b : f32
        te.reduce add %p : f32
      }
      %r = te.compute "r" [i: N, j: 32] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
        %v = te.read %d[i, j] : tensor<?x32xf32, #graph.dims<[N, 32]>>
        %zero = arith.constant 0.0 : f32
        %m = arith.maximumf %v, %zero : f32
        te.yield %m : f32
      }
      te.return %r : tensor<?x32xf32, #graph.dims<[N, 32]>>
    }"""
    assert kernel_work(text, N=3) == Work(3 * 32 * 64 * 2 + 3 * 32, 4 * (3 * 64 + 32 * 64 + 3 * 32))
    assert kernel_work(text, N=0).flops == 0


def test_a_reduction_whose_extent_depends_on_the_element():
    """A running sum of 5 elements adds 1 + 2 + 3 + 4 + 5 numbers in each of 2 rows."""
    text = """
    te.kernel @f(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
      %s = te.compute "s" [i: 2, j: 5] reduce [k: j + 1] : tensor<2x5xf32> {
        %a = te.read %x[i, k] : tensor<2x5xf32>
        te.reduce add %a : f32
      }
      te.return %s : tensor<2x5xf32>
    }"""
    assert kernel_work(text) == Work(2 * 15, 4 * (10 + 10))


def test_of_a_choice_the_branch_counts_that_is_taken():
    """Three rows of eight take one exponential each, the other five nothing; where data decides, both count."""
    text = """
    te.kernel @f(%x: tensor<8x4xf32>, %rows: tensor<8xi64>) -> (tensor<8x4xf32>, tensor<8xf32>) {
      %a = te.compute "a" [i: 8, j: 4] : tensor<8x4xf32> {
        %v = te.read %x[i, j] : tensor<8x4xf32>
        %r = te.if_then_else [i - 5 >= 0] : f32 {
          %e = math.exp %v : f32
          te.yield %e : f32
        } else {
          te.yield %v : f32
        }
        te.yield %r : f32
      }
      %b = te.compute "b" [i: 8] : tensor<8xf32> {
        %n = te.read %rows[i] : tensor<8xi64>
        %row = arith.index_cast %n : i64 to index
        %v = te.read %x[i, 0] : tensor<8x4xf32>
        %r = te.if_then_else [%row - i >= 0] : f32 {
          %e = math.exp %v : f32
          te.yield %e : f32
        } else {
          %s = arith.addf %v, %v : f32
          te.yield %s : f32
        }
        te.yield %r : f32
      }
      te.return %a, %b : tensor<8x4xf32>, tensor<8xf32>
    }"""
    assert kernel_work(text).flops == 3 * 4 + 8 * 2


def test_what_is_not_read_is_not_moved():
    """Two rows of a table of a thousand; neither indices nor choices are floating-point operations."""
    text = """
    te.kernel @f(%table: tensor<1000x8xf32>, %rows: tensor<2xi64>) -> tensor<2x8xf32> {
      %g = te.compute "g" [i: 2, j: 8] : tensor<2x8xf32> {
        %r = te.read %rows[i] : tensor<2xi64>
        %one = arith.constant 1 : i64
        %s = arith.addi %r, %one : i64
        %row = arith.index_cast %s : i64 to index
        %v = te.read %table[%row, j] : tensor<1000x8xf32>
        te.yield %v : f32
      }
      te.return %g : tensor<2x8xf32>
    }"""
    assert kernel_work(text) == Work(0, 4 * 16 + 8 * 2 + 4 * 16)


def test_a_model_is_what_defines_it(cache):
    """Whatever algorithm its convolution gets."""
    watcher, _ = watched(operator_model("op:conv,ic=64,oc=64,hw=28,k=3"), cache)
    assert watcher.flops == 2 * 64 * 28 * 28 * 64 * 9
    whole = {**RESULT, "program": {"flops": watcher.flops, "calls": watcher.calls}}
    engines = {"tilework": {"milliseconds": {"median": 2.0}}}
    assert whole_model(whole, {**RUN, "engines": engines}, "tilework").rate == watcher.flops / 0.002


@pytest.mark.parametrize(
    ("name", "flops"),
    [
        ("op:gemm,m=4,n=8,k=16", 2 * 4 * 8 * 16),
        ("op:conv,ic=4,oc=8,hw=6,k=3,stride=2", 2 * 8 * 3 * 3 * 4 * 3 * 3),
        ("op:depthwise,c=4,hw=6,k=3", 2 * 4 * 6 * 6 * 3 * 3),
    ],
)
def test_operators(name, flops, cache):
    watcher, _ = watched(operator_model(name), cache)
    assert sum(call["flops"] for call in watcher.calls) == flops


def test_a_model_with_a_clock_around_each_call(cache):
    """It computes the same, and tells when its calls began and ended, in that order."""
    watcher, module = watched(DIGITS, cache, N=2)
    images = np.random.default_rng(0).standard_normal((2, 1, 8, 8), np.float32)
    got = module.run({"images": images})
    ticks = got.pop(TICKS)
    assert ticks.shape == (2 * len(watcher.calls),) and (np.diff(ticks) >= 0).all()
    [result] = got.values()
    assert np.array_equal(result, compile(DIGITS, cache=cache)(images))
    assert [call["source"] for call in watcher.calls][:2] == ["conv_0", "conv_3"]
    assert watcher.calls[0]["flops"] == 2 * watched(DIGITS, cache)[0].calls[0]["flops"]


def test_buffers_in_use_at_once_lie_apart(cache):
    watcher, module = watched(DIGITS, cache)
    (arena,) = SymbolicShape((module.manifest.arena_bytes,)).evaluate({"N": 1})
    assert 0 < max(b["offset"] + b["bytes"] for b in watcher.buffers) <= arena
    for i, a in enumerate(watcher.buffers):
        assert 0 <= a["first"] <= a["last"] < len(watcher.calls)
        for b in watcher.buffers[:i]:
            apart_in_time = a["last"] <= b["first"] or b["last"] <= a["first"]
            apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
            assert apart_in_time or apart


SCAN = """
func.func @main(%h: tensor<1x64xf32>, %xs: tensor<?x1x64xf32, #graph.dims<[T, 1, 64]>>, %w: tensor<64x64xf32>)
    -> tensor<1x64xf32> {
  %0 = graph.softmax %h {axis = 1 : i64} : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %end = graph.scan from (%0) over (%xs) with (%w)
      : from (tensor<1x64xf32>) over (tensor<?x1x64xf32, #graph.dims<[T, 1, 64]>>) with (tensor<64x64xf32>)
      -> (tensor<1x64xf32>) {
  ^bb0(%s: tensor<1x64xf32>, %x: tensor<1x64xf32>, %k: tensor<64x64xf32>):
    %1 = graph.dense %s, %k : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    %2 = graph.dense %1, %k : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    %n = graph.add %2, %x : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    graph.yield %n : tensor<1x64xf32>
  }
  func.return %end : tensor<1x64xf32>
}
"""


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_loop_of_calls_is_one_with_the_work_of_all_iterations(steps, cache):
    """Two products, and the sum behind one of them, a step. The clock stands around the loop as around a call."""
    watcher, module = watched(SourceParser(make_context(), SCAN, "test").parse_module(), cache, T=steps)
    softmax, loop = watcher.calls
    assert loop["kernel"] == "loop of 2 kernels"
    assert loop["flops"] == steps * (2 * 2 * 64 * 64 + 64)
    assert loop["bytes"] == steps * 4 * (2 * 64 * 64 + 2 * 64 + 3 * 64)
    assert watcher.flops == softmax["flops"] + loop["flops"]
    feeds = [np.ones(shape, np.float32) for shape in ((1, 64), (steps, 1, 64), (64, 64))]
    *_, ticks = module(*feeds)
    assert ticks.shape == (4,) and (np.diff(ticks) >= 0).all()
    assert all(0 <= b["first"] <= b["last"] <= 1 for b in watcher.buffers)


def test_meters_run():
    for meter in (multiply_adds, stream):
        run, amount = meter(2)
        assert run() == () and amount > 1e6


ROOFLINE = Roofline(flops_per_second=100e9, bytes_per_second=10e9)


def test_roofline():
    assert ROOFLINE.ridge == 10
    assert ROOFLINE.attainable(5) == 50e9 and ROOFLINE.attainable(20) == 100e9
    kernel = Measured("k", 1, flops=10**9, bytes=10**9, seconds=0.2, roofline=ROOFLINE)
    assert (kernel.rate, kernel.of_peak, kernel.of_bandwidth) == (5e9, 0.05, 0.5)
    assert (kernel.intensity, kernel.bound) == (1.0, "memory")


RESULT = {
    "program": {
        "flops": 100_000,
        "calls": [
            {"kernel": "a", "source": "first", "flops": 1000, "bytes": 1000},
            {"kernel": "b", "source": None, "flops": 90000, "bytes": 1000},
            {"kernel": "a", "source": "second", "flops": 1000, "bytes": 1000},
        ],
    }
}
RUN = {
    "limits": {"flops_per_second": 100e9, "bytes_per_second": 10e9},
    "calls": [{"start": 0.0, "time": 1.0}, {"start": 2.0, "time": 6.0}, {"start": 8.0, "time": 1.0}],
}


def test_calls_of_a_kernel_add_up():
    b, a = measured_kernels(RESULT, RUN)
    assert (b.name, b.calls, b.flops, b.bound) == ("b", 1, 90000, "compute")
    assert (a.name, a.calls, a.flops, a.bytes, round(1e6 * a.seconds, 6)) == ("a", 2, 2000, 2000, 2.0)


def test_kernel_table():
    head, b, a, between = kernel_rows(RESULT, RUN)
    assert head == KERNEL_HEAD
    assert b == ["b", "1", "6.0", "75 %", "15.0", "15 %", "0.001", "90.0", "compute", ""]
    assert a == ["a", "2", "2.0", "25 %", "1.0", "1 %", "0.002", "1.0", "memory", "first"]
    assert between[:3] == ["(between calls)", "", "1.0"]


def test_percent():
    assert percent(0.123) == "12 %"


def test_every_kernel_of_a_model_is_timed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(measure, "BLOCK_SECONDS", 0.001)
    file = tmp_path / "out.json"
    command = ["bench", "op:gemv,n=64,k=64", "--against", "none", "--threads", "1", "--repeat", "1", "--kernels"]
    assert main([*command, "--json", str(file)]) == 0
    [result] = json.loads(file.read_text())["models"]
    [run] = result["inference"]
    assert len(run["calls"]) == len(result["program"]["calls"]) == 1
    assert run["limits"].keys() == {"flops_per_second", "bytes_per_second"}
    kernel = result["program"]["calls"][0]["kernel"]
    assert any(line.split()[:2] == [kernel, "1"] for line in capsys.readouterr().out.splitlines())
