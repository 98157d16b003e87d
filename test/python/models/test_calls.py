"""Graph functions that call each other, and themselves: native, in C, and interpreted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.driver.read_program import read_program
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

TREE = """
// A TreeLSTM without gates: the state of a node is made of those of both children, and of a row of its own.
!node = tensor<i64>
!table = tensor<?x2xi64, #graph.dims<[N, 2]>>
!rows = tensor<?x8xf32, #graph.dims<[N, 8]>>
!row = tensor<8xf32>
func.func private @child(%both: tensor<2xi64>) -> (!node, !node) {
  %first = arith.constant dense<0> : !node
  %second = arith.constant dense<1> : !node
  %l = graph.gather %both, %first {axis = 0 : i64} : (tensor<2xi64>, !node) -> !node
  %r = graph.gather %both, %second {axis = 0 : i64} : (tensor<2xi64>, !node) -> !node
  func.return %l, %r : !node, !node
}
func.func private @tree(%node: !node, %children: !table, %values: !rows, %w: tensor<8x8xf32>) -> !row {
  %zero = arith.constant dense<0> : !node
  %none = graph.less %node, %zero : (!node, !node) -> tensor<i1>
  %y = graph.if %none with (%node, %children, %values, %w) : with (!node, !table, !rows, tensor<8x8xf32>) -> (!row) {
  ^bb0(%n: !node, %c: !table, %v: !rows, %u: tensor<8x8xf32>):
    %0 = arith.constant dense<0.0> : !row
    graph.yield %0 : !row
  } else {
  ^bb0(%n: !node, %c: !table, %v: !rows, %u: tensor<8x8xf32>):
    %both = graph.gather %c, %n {axis = 0 : i64} : (!table, !node) -> tensor<2xi64>
    %l, %r = func.call @child(%both) : (tensor<2xi64>) -> (!node, !node)
    %left = func.call @tree(%l, %c, %v, %u) : (!node, !table, !rows, tensor<8x8xf32>) -> !row
    %right = func.call @tree(%r, %c, %v, %u) : (!node, !table, !rows, tensor<8x8xf32>) -> !row
    %sum = graph.add %left, %right : (!row, !row) -> !row
    %one = graph.reshape %sum {shape = #graph.dims<[1, 8]>} : (!row) -> tensor<1x8xf32>
    %m = graph.matmul %one, %u : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %flat = graph.reshape %m {shape = #graph.dims<[8]>} : (tensor<1x8xf32>) -> !row
    %own = graph.gather %v, %n {axis = 0 : i64} : (!rows, !node) -> !row
    %all = graph.add %flat, %own : (!row, !row) -> !row
    %h = graph.tanh %all : (!row) -> !row
    graph.yield %h : !row
  }
  func.return %y : !row
}
func.func @main(%root: !node, %children: !table, %values: !rows, %w: tensor<8x8xf32>) -> !row {
  %y = func.call @tree(%root, %children, %values, %w) : (!node, !table, !rows, tensor<8x8xf32>) -> !row
  func.return %y : !row
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "tree.mlir"
    path.write_text(TREE, encoding="utf-8")
    return path


def tree_in_numpy(node, children, values, w):
    if node < 0:
        return np.zeros(8, np.float32)
    left, right = (tree_in_numpy(child, children, values, w) for child in children[node])
    return np.tanh((left + right) @ w + values[node])


def random_tree(count: int, seed: int) -> np.ndarray:
    """The children of each node, which have greater numbers than it; each node but the first is one once."""
    rng = np.random.default_rng(seed)
    children = np.full((count, 2), -1, np.int64)
    places = [(0, 0), (0, 1)]
    for node in range(1, count):
        children[places.pop(rng.integers(len(places)))] = node
        places += [(node, 0), (node, 1)]
    return children


@pytest.mark.parametrize("target", ["host", "c"])
def test_a_function_that_follows_a_tree(target: str, tree: Path, cache: KernelCache):
    module, program = tw.compile(tree, cache=cache, target=target, processes=1), read_program(tree)
    rng = np.random.default_rng(0)
    w = rng.standard_normal((8, 8), np.float32) / 3
    for count in (1, 2, 40):
        children, values = random_tree(count, count), rng.standard_normal((count, 8), np.float32)
        wanted = tree_in_numpy(0, children, values, w)
        given = [np.array(0), children, values, w]
        np.testing.assert_allclose(module(*given), wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(run_function(program, "main", given, {})[0], wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(module(np.array(-1), children, values, w), np.zeros(8))


@pytest.mark.parametrize("target", ["host", "c"])
def test_a_function_that_calls_itself_too_often(target: str, tree: Path, cache: KernelCache):
    module = tw.compile(tree, cache=cache, target=target, processes=1)
    values, w = np.ones((900, 8), np.float32), np.eye(8, dtype=np.float32)
    chain = np.stack([np.arange(1, 901), np.full(900, -1)], axis=1)
    chain[-1, 0] = -1
    assert module(np.array(0), chain, values, w).shape == (8,)
    chain[-1, 0] = 0  # round and round
    with pytest.raises(TileworkError, match="a function has called itself too often"):
        module(np.array(0), chain, values, w)
    chain[-1, 0] = -1
    assert module(np.array(0), chain, values, w).shape == (8,), "the next call is a call like any other"


def test_an_interpreted_function_that_calls_itself_too_often(tree: Path):
    children = np.zeros((1, 2), np.int64)
    given = [np.array(0), children, np.ones((1, 8), np.float32), np.eye(8, dtype=np.float32)]
    with pytest.raises(TileworkError, match="@main calls itself too often to be interpreted"):
        run_function(read_program(tree), "main", given, {})


def test_weights_of_functions_that_are_called(tmp_path: Path, cache: KernelCache):
    """A function names parameters, and what it computes of these is computed when the program is compiled."""
    text = """
    func.func private @countdown(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %w = graph.parameter @w : tensor<4xf32>
      %e = graph.exp %w : (tensor<4xf32>) -> tensor<4xf32>
      %zero = arith.constant dense<0> : tensor<i64>
      %more = graph.less %zero, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %y = graph.if %more with (%n, %x, %e) : with (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
      ^bb0(%m: tensor<i64>, %z: tensor<4xf32>, %f: tensor<4xf32>):
        %one = arith.constant dense<1> : tensor<i64>
        %less = graph.sub %m, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %next = graph.add %z, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %r = func.call @countdown(%less, %next) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
        graph.yield %r : tensor<4xf32>
      } else {
      ^bb0(%m: tensor<i64>, %z: tensor<4xf32>, %f: tensor<4xf32>):
        graph.yield %z : tensor<4xf32>
      }
      func.return %y : tensor<4xf32>
    }
    func.func @main(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %y = func.call @countdown(%n, %x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    """
    path = tmp_path / "countdown.mlir"
    path.write_text(text, encoding="utf-8")
    w = np.float32([0, 1, 2, -1])
    module = tw.compile(path, cache=cache, parameters={"w": w}, processes=1)
    x = np.ones(4, np.float32)
    for n in (0, 1, 5):
        np.testing.assert_allclose(module(np.array(n), x), x + n * np.exp(w), rtol=1e-5)


def test_a_function_that_is_called_returns_no_open_sizes(tmp_path: Path, cache: KernelCache):
    text = """
    !k = tensor<?xi1, #graph.dims<[K]>>
    func.func private @open(%n: tensor<i64>) -> !k {
      %k = graph.size "K" = %n at most [8] : tensor<i64>
      func.return %k : !k
    }
    func.func @main(%n: tensor<i64>) -> !k {
      %k = func.call @open(%n) : (tensor<i64>) -> !k
      func.return %k : !k
    }
    """
    path = tmp_path / "open.mlir"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TileworkError, match="returns a size that its arguments do not tell, K"):
        tw.compile(path, cache=cache, processes=1)
