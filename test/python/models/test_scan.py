"""graph.scan: what the graph interpreter says it means, host functions of kernels and compiled modules compute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from programs import apply_phase
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.analysis.verification import verify
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.graph import prepare_parameters, run_function
from tilework.interpreters.host import run_host
from tilework.runtime.cache import KernelCache

Array = np.ndarray[Any, Any]

ROW = "tensor<4xf32>"
ROWS = "tensor<?x4xf32, #graph.dims<[T, 4]>>"
BATCH = "tensor<?x4xf32, #graph.dims<[N, 4]>>"
BATCHES = "tensor<?x?x4xf32, #graph.dims<[T, N, 4]>>"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def parse(text: str) -> ModuleOp:
    """ROW and so on stand for the types above."""
    named = {"ROW": ROW, "ROWS": ROWS, "BATCH": BATCH, "BATCHES": BATCHES}
    text = re.sub(r"\b(ROWS?|BATCH|BATCHES)\b", lambda match: named[match[0]], text)
    module = SourceParser(make_context(), text, "<test>").parse_module()
    verify(module)
    return module


def rows(*shape: int, seed: int = 0) -> Array:
    """Small numbers of eighths: what is computed of a few is exact."""
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 8).astype(np.float32)


def check(text: str, cache: KernelCache, *arrays: Array, parameters: dict[str, Array] | None = None) -> list[Array]:
    """The results of @main, once all levels are found to give the same."""
    module, given = parse(text), parameters or {}
    expected = [np.asarray(array) for array in run_function(module, "main", list(arrays), given)]
    host = module.clone()
    apply_phase("optimize-graph", host)
    prepared = prepare_parameters(host, given)
    apply_phase("lower-to-te", host)
    verify(host)
    outputs = run_host(host, "main", list(arrays), prepared)
    compiled = tw.compile(module, parameters=given, cache=cache)(*arrays)
    native = [compiled] if len(expected) == 1 else list(compiled)
    for array, *others in zip(expected, outputs, native, strict=True):
        for other in others:
            assert other.dtype == array.dtype and other.size == array.size
            if array.size == 0:  # the interpreter knows no other sizes of an element that there is none of
                assert len(other) == len(array)
                continue
            np.testing.assert_allclose(other, array, rtol=1e-6)
    return expected


SUMS = """
func.func @main(%h: ROW, %xs: ROWS) -> (ROW, ROWS) {
  %end, %ys = graph.scan {reverse} from (%h) over (%xs) : from (ROW) over (ROWS) -> (ROW, ROWS) {
  ^bb0(%s: ROW, %x: ROW):
    %n = graph.add %s, %x : (ROW, ROW) -> ROW
    graph.yield %n, %n : ROW, ROW
  }
  func.return %end, %ys : ROW, ROWS
}
"""


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("reverse", ["", "reverse"])
def test_running_sums(steps: int, reverse: str, cache: KernelCache):
    h, xs = rows(4), rows(steps, 4, seed=1)
    end, ys = check(SUMS.replace("{reverse}", reverse), cache, h, xs)
    walked = xs[::-1] if reverse else xs
    sums = h + np.cumsum(walked, axis=0)
    np.testing.assert_array_equal(end, sums[-1] if steps else h)
    np.testing.assert_array_equal(ys, sums[::-1] if reverse else sums)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_states_that_change_places(steps: int, cache: KernelCache):
    text = """
    func.func @main(%a: ROW, %b: ROW, %xs: ROWS) -> (ROW, ROW, ROWS) {
      %c, %d, %ys = graph.scan from (%a, %b) over (%xs) : from (ROW, ROW) over (ROWS) -> (ROW, ROW, ROWS) {
      ^bb0(%s: ROW, %t: ROW, %x: ROW):
        %y = graph.add %s, %x : (ROW, ROW) -> ROW
        graph.yield %t, %s, %y : ROW, ROW, ROW
      }
      func.return %c, %d, %ys : ROW, ROW, ROWS
    }"""
    a, b = rows(4, seed=1), rows(4, seed=2)
    c, d, _ = check(text, cache, a, b, rows(steps, 4))
    np.testing.assert_array_equal([c, d], [a, b] if steps % 2 == 0 else [b, a])


def test_a_state_that_stays_and_one_that_is_the_element(cache: KernelCache):
    """The first goes through unchanged; the second is the element of the step before."""
    text = """
    func.func @main(%a: ROW, %b: ROW, %xs: ROWS) -> (ROW, ROW, ROWS) {
      %c, %d, %ys = graph.scan from (%a, %b) over (%xs) : from (ROW, ROW) over (ROWS) -> (ROW, ROW, ROWS) {
      ^bb0(%s: ROW, %t: ROW, %x: ROW):
        graph.yield %s, %x, %t : ROW, ROW, ROW
      }
      func.return %c, %d, %ys : ROW, ROW, ROWS
    }"""
    a, b, xs = rows(4, seed=1), rows(4, seed=2), rows(3, 4)
    c, d, ys = check(text, cache, a, b, xs)
    np.testing.assert_array_equal(c, a)
    np.testing.assert_array_equal(d, xs[-1])
    np.testing.assert_array_equal(ys, [b, *xs[:-1]])


def test_the_last_two_numbers_of_a_sum(cache: KernelCache):
    """Fibonacci: one state is the sum of both, the other the first."""
    text = """
    func.func @main(%a: ROW, %b: ROW, %xs: ROWS) -> (ROW, ROW) {
      %c, %d = graph.scan from (%a, %b) over (%xs) : from (ROW, ROW) over (ROWS) -> (ROW, ROW) {
      ^bb0(%s: ROW, %t: ROW, %x: ROW):
        %n = graph.add %s, %t : (ROW, ROW) -> ROW
        graph.yield %n, %s : ROW, ROW
      }
      func.return %c, %d : ROW, ROW
    }"""
    one = np.ones(4, np.float32)
    c, d = check(text, cache, one, one, rows(6, 4))
    assert (c[0], d[0]) == (21, 13)


@pytest.mark.parametrize(("outer", "inner"), [(0, 3), (1, 1), (3, 2)])
def test_a_scan_in_a_scan(outer: int, inner: int, cache: KernelCache):
    """Sums along a batch, from its end, in sums along the sequence; inner steps read the outer state."""
    text = """
    func.func @main(%h: ROW, %k: ROW, %xs: BATCHES) -> (ROW, BATCHES) {
      %end, %ys = graph.scan from (%h) over (%xs) with (%k)
          : from (ROW) over (BATCHES) with (ROW) -> (ROW, BATCHES) {
      ^bb0(%s: ROW, %x: BATCH, %c: ROW):
        %inner, %zs = graph.scan reverse from (%s) over (%x) with (%s, %c)
            : from (ROW) over (BATCH) with (ROW, ROW) -> (ROW, BATCH) {
        ^bb1(%t: ROW, %row: ROW, %before: ROW, %d: ROW):
          %0 = graph.mul %row, %d : (ROW, ROW) -> ROW
          %sum = graph.add %t, %0 : (ROW, ROW) -> ROW
          %z = graph.sub %sum, %before : (ROW, ROW) -> ROW
          graph.yield %sum, %z : ROW, ROW
        }
        graph.yield %inner, %zs : ROW, BATCH
      }
      func.return %end, %ys : ROW, BATCHES
    }"""
    h, k, xs = rows(4, seed=1), rows(4, seed=2), rows(outer, inner, 4)
    end, ys = check(text, cache, h, k, xs)
    np.testing.assert_array_equal(end, h + k * xs.sum(axis=(0, 1)))
    if ys.size:
        np.testing.assert_array_equal(ys, k * np.cumsum(xs[:, ::-1], axis=1)[:, ::-1])


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_layer_of_any_batch(steps: int, cache: KernelCache):
    """With weights that the body names, and a bias that it is given; two sequences, one of them of numbers."""
    text = """
    !cell = tensor<?xf32, #graph.dims<[T]>>
    func.func @main(%h: BATCH, %xs: BATCHES, %scale: !cell, %b: ROW) -> (BATCH, BATCHES) {
      %v = graph.parameter @v : tensor<4x4xf32>
      %two = arith.constant dense<2.0> : tensor<f32>
      %end, %ys = graph.scan from (%h) over (%xs, %scale) with (%v, %b, %two)
          : from (BATCH) over (BATCHES, !cell) with (tensor<4x4xf32>, ROW, tensor<f32>) -> (BATCH, BATCHES) {
      ^bb0(%s: BATCH, %x: BATCH, %f: tensor<f32>, %u: tensor<4x4xf32>, %c: ROW, %t: tensor<f32>):
        %w = graph.parameter @w : tensor<4x4xf32>
        %0 = graph.dense %s, %w : (BATCH, tensor<4x4xf32>) -> BATCH
        %1 = graph.dense %x, %u : (BATCH, tensor<4x4xf32>) -> BATCH
        %2 = graph.add %0, %1 : (BATCH, BATCH) -> BATCH
        %3 = graph.add %2, %c : (BATCH, ROW) -> BATCH
        %4 = graph.mul %3, %f : (BATCH, tensor<f32>) -> BATCH
        %n = graph.relu %4 : (BATCH) -> BATCH
        %y = graph.mul %n, %t : (BATCH, tensor<f32>) -> BATCH
        graph.yield %n, %y : BATCH, BATCH
      }
      func.return %end, %ys : BATCH, BATCHES
    }"""
    v, w, b = rows(4, 4, seed=1), rows(4, 4, seed=2), rows(4, seed=3)
    xs, scale = rows(steps, 3, 4, seed=4), np.array([0.5, 1, 0.25, 1], np.float32)[:steps]
    h = rows(3, 4)
    end, ys = check(text, cache, h, xs, scale, b, parameters={"v": v, "w": w})
    for t in range(steps):
        h = np.maximum((h @ w.T + xs[t] @ v.T + b) * scale[t], 0)
        np.testing.assert_array_equal(ys[t], 2 * h)
    np.testing.assert_array_equal(end, h)


def test_parts_of_states_and_of_elements(cache: KernelCache):
    """Views of what lies in a sequence that is made, in one that is read, and in a state: halves that change places."""
    text = """
    !half = tensor<1x4xf32>
    !whole = tensor<1x8xf32>
    !halves = tensor<?x2x4xf32, #graph.dims<[T, 2, 4]>>
    !wholes = tensor<?x1x8xf32, #graph.dims<[T, 1, 8]>>
    func.func @main(%h: !whole, %xs: !halves) -> (!whole, !wholes) {
      %end, %ys = graph.scan from (%h) over (%xs) : from (!whole) over (!halves) -> (!whole, !wholes) {
      ^bb0(%s: !whole, %x: tensor<2x4xf32>):
        %flat = graph.reshape %x {shape = #graph.dims<[1, 8]>} : (tensor<2x4xf32>) -> !whole
        %sum = graph.add %s, %flat : (!whole, !whole) -> !whole
        %a = graph.slice %sum {axes = array<i64: 1>, starts = array<i64: 0>,
            stops = array<i64: 4>, steps = array<i64: 1>} : (!whole) -> !half
        %b = graph.slice %sum {axes = array<i64: 1>, starts = array<i64: 4>,
            stops = array<i64: 8>, steps = array<i64: 1>} : (!whole) -> !half
        %e = graph.softmax %a {axis = 1 : i64} : (!half) -> !half
        %f = graph.softmax %b {axis = 1 : i64} : (!half) -> !half
        %y = graph.concat %f, %e {axis = 1 : i64} : (!half, !half) -> !whole
        %n = graph.concat %b, %a {axis = 1 : i64} : (!half, !half) -> !whole
        graph.yield %n, %y : !whole, !whole
      }
      func.return %end, %ys : !whole, !wholes
    }"""
    h, xs = rows(1, 8), rows(3, 2, 4, seed=1)
    end, _ = check(text, cache, h, xs)
    for x in xs:
        h = np.roll(h + x.reshape(1, 8), 4, axis=1)
    np.testing.assert_array_equal(end, h)


@pytest.mark.parametrize(("steps", "batch"), [(1, 1), (3, 2), (5, 0)])
@pytest.mark.parametrize("after", ["N * 3, 4", "N, 12", "N * 12"])
def test_elements_of_unknown_size_under_other_dimensions(steps: int, batch: int, after: str, cache: KernelCache):
    """A step looks at its element as one of fewer axes, and hands it on as it was."""
    shape = "x".join("?" if "N" in d else d for d in after.split(", "))
    texts = {
        "SEQUENCE": "tensor<?x?x3x4xf32, #graph.dims<[S, N, 3, 4]>>",
        "ELEMENT": "tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>",
        "MADE": f"tensor<?x{shape}xf32, #graph.dims<[S, {after}]>>",
        "FLAT": f"tensor<{shape}xf32, #graph.dims<[{after}]>>",
        "DIMS": f"#graph.dims<[{after}]>",
    }
    text = """
    func.func @main(%h: FLAT, %xs: SEQUENCE) -> (FLAT, MADE, SEQUENCE) {
      %end, %ys, %zs = graph.scan from (%h) over (%xs) : from (FLAT) over (SEQUENCE) -> (FLAT, MADE, SEQUENCE) {
      ^bb0(%s: FLAT, %x: ELEMENT):
        %flat = graph.reshape %x {shape = DIMS} : (ELEMENT) -> FLAT
        %n = graph.add %s, %flat : (FLAT, FLAT) -> FLAT
        %z = graph.reshape %n {shape = #graph.dims<[N, 3, 4]>} : (FLAT) -> ELEMENT
        graph.yield %n, %flat, %z : FLAT, FLAT, ELEMENT
      }
      func.return %end, %ys, %zs : FLAT, MADE, SEQUENCE
    }
    """
    for name, type_ in texts.items():
        text = text.replace(name, type_)
    flat = [eval(d, {"N": batch}) for d in after.split(", ")]
    h, xs = rows(*flat), rows(steps, batch, 3, 4, seed=1)
    end, ys, zs = check(text, cache, h, xs)
    sums = h + np.cumsum(xs.reshape(steps, *flat), axis=0)
    np.testing.assert_array_equal(end, sums[-1])
    np.testing.assert_array_equal(ys, xs.reshape(steps, *flat))
    np.testing.assert_array_equal(zs, sums.reshape(xs.shape))


def test_results_that_nobody_reads(cache: KernelCache):
    text = """
    func.func @main(%h: ROW, %xs: ROWS) -> ROWS {
      %end, %ys, %zs = graph.scan from (%h) over (%xs) : from (ROW) over (ROWS) -> (ROW, ROWS, ROWS) {
      ^bb0(%s: ROW, %x: ROW):
        %n = graph.add %s, %x : (ROW, ROW) -> ROW
        %y = graph.neg %n : (ROW) -> ROW
        graph.yield %n, %n, %y : ROW, ROW, ROW
      }
      func.return %zs : ROWS
    }"""
    h, xs = rows(4), rows(3, 4, seed=1)
    [zs] = check(text, cache, h, xs)
    np.testing.assert_array_equal(zs, -(h + np.cumsum(xs, axis=0)))


def test_one_scan_behind_another(cache: KernelCache):
    """The second goes back over what the first makes, which is read in all its steps, as its last state is."""
    text = """
    !cell = tensor<1x4xf32>
    !cells = tensor<6x1x4xf32>
    func.func @main(%h: !cell, %xs: !cells) -> !cells {
      %0 = graph.softmax %xs {axis = 2 : i64} : (!cells) -> !cells
      %end, %ys = graph.scan from (%h) over (%0) : from (!cell) over (!cells) -> (!cell, !cells) {
      ^bb0(%s: !cell, %x: !cell):
        %1 = graph.softmax %s {axis = 1 : i64} : (!cell) -> !cell
        %y = graph.add %1, %x : (!cell, !cell) -> !cell
        %n = graph.softmax %y {axis = 1 : i64} : (!cell) -> !cell
        graph.yield %n, %y : !cell, !cell
      }
      %last, %zs = graph.scan reverse from (%end) over (%ys) with (%end)
          : from (!cell) over (!cells) with (!cell) -> (!cell, !cells) {
      ^bb0(%s: !cell, %x: !cell, %k: !cell):
        %z = graph.add %s, %x : (!cell, !cell) -> !cell
        %n = graph.mul %z, %k : (!cell, !cell) -> !cell
        graph.yield %n, %z : !cell, !cell
      }
      %2 = graph.softmax %zs {axis = 2 : i64} : (!cells) -> !cells
      %3 = graph.mul %2, %last : (!cells, !cell) -> !cells
      func.return %3 : !cells
    }"""
    check(text, cache, rows(1, 4), rows(6, 1, 4, seed=1))


def test_one_result_several_times(cache: KernelCache):
    """It is given as it is, and in another shape; a state is an element of what is made as well."""
    text = """
    !cell = tensor<1x4xf32>
    !cells = tensor<6x1x4xf32>
    func.func @main(%h: !cell, %xs: !cells) -> (!cell, !cell, tensor<6x4xf32>, !cells) {
      %end, %ys = graph.scan from (%h) over (%xs) : from (!cell) over (!cells) -> (!cell, !cells) {
      ^bb0(%s: !cell, %x: !cell):
        %n = graph.add %s, %x : (!cell, !cell) -> !cell
        graph.yield %n, %s : !cell, !cell
      }
      %flat = graph.reshape %ys {shape = #graph.dims<[6, 4]>} : (!cells) -> tensor<6x4xf32>
      func.return %end, %end, %flat, %ys : !cell, !cell, tensor<6x4xf32>, !cells
    }"""
    h, xs = rows(1, 4), rows(6, 1, 4, seed=1)
    end, _, _, ys = check(text, cache, h, xs)
    np.testing.assert_array_equal([*ys, end], h + np.cumsum([np.zeros_like(h), *xs], axis=0))
