"""The semantic check of functions: graphs, host functions, and the border between them."""

import numpy as np
import pytest
from planted_bugs import check, replace_with

from tilework.dialects.support.diagnostics import CompileError
from tilework.driver.check_semantics import SemanticCheck

# -- graph and host

GRAPH = """
func.func @main(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %w = graph.parameter @w : tensor<4x4xf32>
  %d = graph.dense %x, %w
    : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<4x4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  %r = graph.relu %d : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  func.return %r : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
"""

HOST = """
te.kernel @dense(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %w: tensor<4x4xf32>)
    -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "dense" [i: N, j: 4] reduce [k: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %a = te.read %x[i, k] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %b = te.read %w[j, k] : tensor<4x4xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
te.kernel @relu(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "relu" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %a = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    te.yield %p : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
"memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4x4xf32>, initial_value}> : () -> ()
func.func @main(%x: memref<?x4xf32> {tilework.name = "x", tilework.dims = #graph.dims<[N, 4]>},
                %y: memref<?x4xf32> {tilework.name = "y", tilework.output, tilework.dims = #graph.dims<[N, 4]>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %w = memref.get_global @w : memref<4x4xf32>
  %t = memref.alloc(%n) : memref<?x4xf32>
  loop.call @dense ins(%x, %w) outs(%t) symbols(%n) : memref<?x4xf32>, memref<4x4xf32>, memref<?x4xf32>
  loop.call @relu ins(%t) outs(%y) symbols(%n) : memref<?x4xf32>, memref<?x4xf32>
  func.return
}
"""

FUSED_WRONGLY = """
func.func @main(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %w = graph.parameter @w : tensor<4x4xf32>
  %r = graph.fused "relu_dense" (%x, %w) : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<4x4xf32>)
      -> (tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  ^bb0(%a: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<4x4xf32>):
    %c = graph.relu %a : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
    %d = graph.dense %c, %b
      : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<4x4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
    graph.yield %d : tensor<?x4xf32, #graph.dims<[N, 4]>>
  }
  func.return %r : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
"""


def test_a_wrong_fusion():
    with pytest.raises(CompileError, match="'planted' changes what graph function @main computes: output 0 at"):
        check(GRAPH, replace_with(FUSED_WRONGLY))


def test_from_graph_to_host():
    report = check(GRAPH, replace_with(HOST)).report
    assert [(c.program, c.elements, c.bitwise) for c in report.comparisons] == [("host function @main", 16, True)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ins(%t) outs(%y)", "ins(%x) outs(%y)", "'planted' changes what host function @main computes"),
        ("outs(%t)", "outs(%y)", "was .* and is nan"),
        ("%w[j, k]", "%w[k, j]", "'planted' changes what host function @main computes"),
    ],
)
def test_bugs_from_graph_to_host(old: str, new: str, message: str):
    with pytest.raises(CompileError, match=message):
        check(GRAPH, replace_with(HOST.replace(old, new)))


def plan(offset: str) -> str:
    return HOST.replace(
        "#graph.dims<[N, 4]>}) {",
        "#graph.dims<[N, 4]>}, %arena: memref<?xi8> {tilework.arena})"
        " attributes {tilework.arena_bytes = #graph.dims<[16 * N]>} {",
    ).replace(
        "%t = memref.alloc(%n) : memref<?x4xf32>",
        f"%at = loop.apply {offset}\n %t = memref.view %arena[%at][%n] : memref<?xi8> to memref<?x4xf32>",
    )


def test_bugs_of_a_memory_plan():
    check(HOST, replace_with(plan("0 * %n")))
    with pytest.raises(CompileError, match="after 'planted', host function @main cannot be run .*: memref.view of 48"):
        check(HOST, replace_with(plan("4 * %n")))


def test_parameters_given_are_used():
    w = np.zeros((4, 4), np.float32)
    report = check(GRAPH, replace_with(FUSED_WRONGLY), checker=SemanticCheck({"w": w})).report
    assert report.elements == 16  # with these, the wrong fusion computes the same


def graph_of(results: str, returned: str) -> str:
    """GRAPH with other results."""
    one = "tensor<?x4xf32, #graph.dims<[N, 4]>>"
    return GRAPH.replace(f"-> {one} {{", f"-> {results} {{").replace(f"func.return %r : {one}", returned)


def test_a_function_without_results_has_nothing_to_compare():
    host = HOST.replace("tilework.output, ", "").replace("outs(%y)", "outs(%x)")
    assert check(graph_of("()", "func.return"), replace_with(host)).report.comparisons == []


def test_a_pass_that_returns_more_is_refused():
    both = "tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[N, 4]>>"
    message = "'planted' changes how many results graph function @main has: there were 1 and are 2"
    with pytest.raises(CompileError, match=message):
        check(GRAPH, replace_with(graph_of(f"({both})", f"func.return %r, %r : {both}")))
