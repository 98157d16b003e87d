"""Host functions with their kernels, compiled and called as a runtime module calls them."""

import numpy as np
import pytest

from tilework.backends.llvm.emit_host import emit_host
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.support.diagnostics import CompileError, TileworkError
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.manifest import Manifest
from tilework.runtime.module import Module
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets.cpu.host import host_target

# y[:, :4] = 2 * (x + bias), y[:, 4:] = x, through a temporary in the arena
HOST = """
"memref.global"() <{sym_name = "unused", type = memref<3xi64>, initial_value, sym_visibility = "private"}> : () -> ()
"memref.global"() <{sym_name = "bias", type = memref<4xf32>, initial_value, sym_visibility = "private"}> : () -> ()
"memref.global"() <{sym_name = "two", type = memref<1xf32>, initial_value = dense<2.0> : tensor<1xf32>,
                    sym_visibility = "private", constant}> : () -> ()

loop.kernel @add ins(%x: memref<?x4xf32> [N, 4], %b: memref<4xf32>) outs(%t: memref<?x4xf32> [N, 4]) symbols(%N) {
  loop.for %i = 0 to %N "i" parallel {
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %x[%i, %j] : memref<?x4xf32>
      %w = loop.load %b[%j] : memref<4xf32>
      %s = arith.addf %v, %w : f32
      loop.store %s, %t[%i, %j] : memref<?x4xf32>
    }
  }
}
loop.kernel @scale ins(%t: memref<?x4xf32> [N, 4], %f: memref<1xf32>) outs(%y: memref<?x4xf32, strided<[8, 1]>> [N, 4])
    symbols(%N) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %t[%i, %j] : memref<?x4xf32>
      %w = loop.load %f[0] : memref<1xf32>
      %s = arith.mulf %v, %w : f32
      loop.store %s, %y[%i, %j] : memref<?x4xf32, strided<[8, 1]>>
    }
  }
}
func.func @main(%x: memref<?x4xf32> {tilework.name = "input", tilework.dims = #graph.dims<[N, 4]>},
                %y: memref<?x8xf32> {tilework.name = "output", tilework.output, tilework.dims = #graph.dims<[N, 8]>},
                %arena: memref<?xi8> {tilework.arena})
    attributes {tilework.arena_bytes = #graph.dims<[16 * N + 64]>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %limit = arith.constant 5 : index
  %small = arith.cmpi sle, %n, %limit : index
  cf.assert %small, "N is at most 5"
  %at = arith.constant 64 : index
  %t = memref.view %arena[%at][%n] : memref<?xi8> to memref<?x4xf32>
  %bias = memref.get_global @bias : memref<4xf32>
  %two = memref.get_global @two : memref<1xf32>
  loop.call @add ins(%x, %bias) outs(%t) symbols(%n) : memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>
  %left = memref.subview %y[0, 0] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  loop.call @scale ins(%t, %two) outs(%left) symbols(%n)
    : memref<?x4xf32>, memref<1xf32>, memref<?x4xf32, strided<[8, 1]>>
  %right = memref.subview %y[0, 4] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  "memref.copy"(%x, %right) : (memref<?x4xf32>, memref<?x4xf32, strided<[8, 1], offset: 4>>) -> ()
  func.return
}
"""


def module_of(text, parse_module, **parameters) -> Module:
    """What the compiler makes of a lowered module: kernels and host in separate objects, and a manifest."""
    module, target = parse_module(text), host_target()
    host, info = emit_host(module, target)
    objects = [compile_ir(text, target) for text in (emit_kernels(module, target), host)]
    return Module(Manifest(target=str(target), **vars(info)), objects, parameters)


@pytest.fixture(scope="module")
def module(parse_module) -> Module:
    return module_of(HOST, parse_module, bias=np.arange(4, dtype=np.float32), unused=np.zeros(3, np.int64))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_one_call_runs_everything(module, n):
    x = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
    expected = np.concatenate([2 * (x + np.arange(4, dtype=np.float32)), x], axis=1)
    np.testing.assert_array_equal(module(x), expected)


def test_a_failed_assertion_is_reported(module):
    with pytest.raises(TileworkError, match="N is at most 5"):
        module(np.zeros((6, 4), np.float32))


def test_what_the_entry_takes_is_described(parse_module):
    _, info = emit_host(parse_module(HOST), host_target())
    assert info.inputs == (TensorSpec("input", "float32", ("N", 4)),)
    assert info.outputs == (TensorSpec("output", "float32", ("N", 8)),)
    assert info.parameters == (TensorSpec("unused", "int64", (3,)), TensorSpec("bias", "float32", (4,)))
    assert (info.symbols, info.arena_bytes, info.kernels) == (("N",), "16 * N + 64", 2)
    assert info.messages == {1: "N is at most 5"} and info.entry == "tilework_main"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module {}", "no function '@main' in the module: it would be the entry"),
        (
            """func.func @main(
                   %y: memref<?xf32> {tilework.name = "y", tilework.output, tilework.dims = #graph.dims<[M]>}) {
                 func.return
               }""",
            "no input has dimension 'M', which output 'y' has",
        ),
        (
            """func.func @main(%x: memref<4xf32>) {
                 %t = memref.alloc() : memref<4xf32>
                 func.return
               }""",
            "a temporary without a place in the arena: run loop-plan-memory before",
        ),
        (
            """func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
                 func.return %x : memref<4xf32>
               }""",
            "'@main' returns values: its outputs are arguments",
        ),
        (
            """func.func @main(%x: memref<4xf32>) {
                 %w = memref.get_global @w : memref<4xf32>
                 func.return
               }""",
            "no memref.global @w in the module",
        ),
        (
            """func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {tilework.output}) {
                 "memref.copy"(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
                 func.return
               }""",
            "argument %x of @main has type memref<.xf32> but no tilework.dims attribute",
        ),
    ],
)
def test_refusals(parse_module, text, message):
    with pytest.raises(CompileError, match=message):
        emit_host(parse_module(text), host_target())
