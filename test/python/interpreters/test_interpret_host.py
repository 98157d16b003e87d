"""The host interpreter: symbols, views, the arena, kernels at te and at loop."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.host import run_host

RANDOM = np.random.default_rng(0)


def parse(text: str) -> ModuleOp:
    module = SourceParser(make_context(), text, "test.mlir").parse_module()
    verify(module)
    return module


def integers(*shape: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


DOUBLE = """
loop.kernel @double ins(%x: memref<?x4xf32> [N, 4]) outs(%y: memref<?x4xf32> [N, 4]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %x[%i, %j] : memref<?x4xf32>
      %w = arith.addf %v, %v : f32
      loop.store %w, %y[%i, %j] : memref<?x4xf32>
    }
  }
}
"""

ADD = """
te.kernel @add(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "add" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %v = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %w = te.read %b[j] : tensor<4xf32>
    %s = arith.addf %v, %w : f32
    te.yield %s : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
"memref.global"() <{sym_name = "bias", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
"""

SIGNATURE = """
func.func @main(%x: memref<?x4xf32> {tilework.name = "x", tilework.dims = #graph.dims<[N, 4]>},
                %y: memref<?x4xf32> {tilework.name = "y", tilework.output, tilework.dims = #graph.dims<[N, 4]>}
"""

PLAIN = (
    DOUBLE
    + ADD
    + SIGNATURE
    + """) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %t = memref.alloc(%n) : memref<?x4xf32>
  %b = memref.get_global @bias : memref<4xf32>
  loop.call @double ins(%x) outs(%t) symbols(%n) : memref<?x4xf32>, memref<?x4xf32>
  loop.call @add ins(%t, %b) outs(%y) symbols(%n) : memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>
  func.return
}"""
)

PLANNED = (
    DOUBLE
    + ADD
    + SIGNATURE
    + """, %arena: memref<?xi8> {tilework.arena}) attributes {tilework.arena_bytes = #graph.dims<[16 * N + 64]>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %offset = loop.apply OFFSET
  %t = memref.view %arena[%offset][%n] : memref<?xi8> to memref<?x4xf32>
  %b = memref.get_global @bias : memref<4xf32>
  loop.call @double ins(%x) outs(%t) symbols(%n) : memref<?x4xf32>, memref<?x4xf32>
  loop.call @add ins(%t, %b) outs(%t) symbols(%n) : memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>
  "memref.copy"(%t, %y) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  func.return
}"""
)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("text", [PLAIN, PLANNED.replace("OFFSET", "8 * %n + 64 - 8 * %n")])
def test_kernels_of_two_levels_and_an_arena(text: str, rows: int):
    x, bias = integers(rows, 4), integers(4)
    [y] = run_host(parse(text), "main", [x], {"bias": bias})
    np.testing.assert_array_equal(y, 2 * x + bias)


def test_a_view_outside_of_the_arena_is_an_error():
    with pytest.raises(CompileError, match="memref.view of 48 bytes at 68 reaches outside of 112 bytes"):
        run_host(parse(PLANNED.replace("OFFSET", "68 + 0 * %n")), "main", [integers(3, 4)], {"bias": integers(4)})


def test_what_no_kernel_writes_is_poison():
    text = PLAIN.replace("loop.call @double ins(%x) outs(%t) symbols(%n) : memref<?x4xf32>, memref<?x4xf32>", "")
    [y] = run_host(parse(text), "main", [integers(2, 4)], {"bias": integers(4)})
    assert np.isnan(y).all()


def test_parts_of_a_buffer_and_shapes():
    module = parse(
        DOUBLE.replace("memref<?x4xf32> [N, 4])", "memref<?x4xf32, strided<[8, 1]>> [N, 4])")
        .replace("%y[%i, %j] : memref<?x4xf32>", "%y[%i, %j] : memref<?x4xf32, strided<[8, 1]>>")
        .replace("ins(%x: memref<?x4xf32, strided<[8, 1]>> [N, 4])", "ins(%x: memref<?x4xf32> [N, 4])")
        + """
func.func @main(%x: memref<2x4xf32>, %y: memref<16xf32> {tilework.output}) {
  %n = arith.constant 2 : index
  %m = memref.reinterpret_cast %y to offset: [0], sizes: [2, 8], strides: [8, 1] : memref<16xf32> to memref<2x8xf32>
  %left = memref.subview %m[0, 0] [2, 4] [1, 1] : memref<2x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  %right = memref.subview %m[0, 4] [2, 4] [1, 1] : memref<2x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  loop.call @double ins(%x) outs(%left) symbols(%n) : memref<2x4xf32>, memref<?x4xf32, strided<[8, 1]>>
  loop.call @double ins(%x) outs(%right) symbols(%n) : memref<2x4xf32>, memref<?x4xf32, strided<[8, 1], offset: 4>>
  func.return
}"""
    )
    x = integers(2, 4)
    [y] = run_host(module, "main", [x], {})
    np.testing.assert_array_equal(y.reshape(2, 8), 2 * np.concatenate([x, x], axis=1))


def test_assertions_and_wrong_inputs():
    check = """
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %c1 = arith.constant 1 : index
  %one = arith.cmpi eq, %n, %c1 : index
  cf.assert %one, "one row only"
  func.return }"""
    module = parse(SIGNATURE + ") {" + check)
    run_host(module, "main", [integers(1, 4)], {})
    with pytest.raises(CompileError, match="an assertion fails: one row only"):
        run_host(module, "main", [integers(2, 4)], {})
    with pytest.raises(UsageError, match="@main takes 1 inputs, 0 are given"):
        run_host(module, "main", [], {})
    with pytest.raises(UsageError, match="@main: input 0 has a dimension of 5 where 4 = 4 is expected"):
        run_host(module, "main", [integers(2, 5)], {})
    with pytest.raises(UsageError, match="there is no parameter @bias"):
        run_host(parse(PLAIN), "main", [integers(2, 4)], {})
    with pytest.raises(UsageError, match="the module has no function @other"):
        run_host(module, "other", [], {})


def test_control_flow_between_blocks_is_refused():
    module = parse(SIGNATURE + ") {\n  cf.br ^last\n^last:\n  func.return }")
    with pytest.raises(CompileError, match="@main has 2 blocks: graph and host functions have one"):
        run_host(module, "main", [integers(1, 4)], {})
