"""From the text of one kernel to object code and a declaration, as a compile worker does it."""

import ctypes
import re

import numpy as np
import pytest
from programs import apply_phase, for_target, text_for

from tilework.algebra.errors import UsageError
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.driver.build_kernel import build_kernel
from tilework.runtime.devices.llvm.compile import assembly
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets import parse_target

LOOP = """
loop.kernel @twice ins(%x: memref<?x4xf32> [N, 4]) outs(%y: memref<?x4xf32> [N, 4]) symbols(%N) {
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to %N "i" parallel {
    loop.for %j = 0 to 4 "j" vectorized {
      %v = loop.load %x[%i, %j] : memref<?x4xf32>
      %w = arith.mulf %v, %two : f32
      loop.store %w, %y[%i, %j] : memref<?x4xf32>
    }
  }
}
"""
TE = """
te.kernel @softmax(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %m = te.compute "m" [i: 3] reduce [k: 8] : tensor<3xf32> {
    %a = te.read %x[i, k] : tensor<3x8xf32>
    te.reduce max %a : f32
  }
  %e = te.compute "e" [i: 3, j: 8] : tensor<3x8xf32> {
    %a = te.read %x[i, j] : tensor<3x8xf32>
    %b = te.read %m[i] : tensor<3xf32>
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    te.yield %d : f32
  }
  %s = te.compute "s" [i: 3] reduce [k: 8] : tensor<3xf32> {
    %a = te.read %e[i, k] : tensor<3x8xf32>
    te.reduce add %a : f32
  }
  %y = te.compute "y" [i: 3, j: 8] : tensor<3x8xf32> {
    %a = te.read %e[i, j] : tensor<3x8xf32>
    %b = te.read %s[i] : tensor<3xf32>
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  }
  te.return %y : tensor<3x8xf32>
}
"""

STRIDED = """
te.kernel @conv(%x: tensor<1x128x28x28xf32>, %w: tensor<8x128x3x3x32xf32>) -> tensor<1x256x14x14xf32> {
  %pad = te.compute "pad" [n: 1, c: 128, y: 29, x: 29] : tensor<1x128x29x29xf32> {
    %1 = te.if_then_else [-y + 27 >= 0, -x + 27 >= 0] : f32 {
      %2 = te.read %x[n, c, y, x] : tensor<1x128x28x28xf32>
      te.yield %2 : f32
    } else {
      %3 = arith.constant 0.0 : f32
      te.yield %3 : f32
    }
    te.yield %1 : f32
  }
  %conv = te.compute "conv" [n: 1, o: 256, y: 14, x: 14] reduce [c: 128, r: 3, s: 3] : tensor<1x256x14x14xf32> {
    %4 = te.read %pad[n, c, 2 * y + r, 2 * x + s] : tensor<1x128x29x29xf32>
    %5 = te.read %w[o floordiv 32, c, r, s, o mod 32] : tensor<8x128x3x3x32xf32>
    %6 = arith.mulf %4, %5 : f32
    te.reduce add %6 : f32
  }
  te.return %conv : tensor<1x256x14x14xf32>
}
"""


def run(object_code: bytes, name: str, *arguments: np.ndarray | int) -> None:
    library = load_objects([object_code])
    types = [ctypes.c_void_p if isinstance(a, np.ndarray) else ctypes.c_int64 for a in arguments]
    function = ctypes.CFUNCTYPE(None, *types, ctypes.c_int32)(library.get_function(name))
    function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments), 2)


def test_a_loop_kernel():
    object_code, metadata = build_kernel(text_for(LOOP), "twice")
    x, y = np.arange(20, dtype=np.float32).reshape(5, 4), np.zeros((5, 4), np.float32)
    run(object_code, "twice", x, y, 5)
    np.testing.assert_array_equal(y, 2 * x)
    assert metadata == {
        "declaration": "loop.kernel @twice ins(%arg0: memref<?x4xf32> [N, 4]) outs(%arg1: memref<?x4xf32> [N, 4])"
        " symbols(%N) in_place [0 -> 0]"
    }


@pytest.mark.parametrize("cpu", ["sapphirerapids", "znver5"])
def test_a_register_tile_stays_in_registers(parse_module, cpu):
    """Where loops over taps are cut for padding, too: an allocator that runs out of registers stores them."""
    module, target = parse_module(STRIDED), parse_target(f"llvm -mcpu={cpu} -cache-sizes=49152,2097152,33554432")
    apply_phase("compile-kernel", for_target(module, str(target)))
    assert not re.findall(r"%zmm\d+, -?\d*\(%rsp\)", assembly(emit_kernels(module, target), target))


def test_a_te_kernel_declares_its_scratch(parse_module):
    object_code, metadata = build_kernel(text_for(TE), "softmax")
    (declaration,) = parse_module(metadata["declaration"]).ops
    assert declaration.is_declaration and declaration.group_sizes[:2] == (1, 1)
    inputs, outputs, _, _ = declaration.group_sizes
    buffers = declaration.function_type.inputs.data[inputs + outputs :]
    scratch = [np.full(type_.get_shape(), np.nan, np.float32) for type_ in buffers]
    x, y = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32), np.zeros((3, 8), np.float32)
    run(object_code, "softmax", x, y, *scratch)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-6)


VECTOR_LOGIC = """
loop.kernel @leaky ins(%x: memref<100xf32>, %n: memref<100xi32>) outs(%y: memref<100xf32>, %negative: memref<100xi1>) {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3 : i32
  loop.for %i = 0 to 100 "i" vectorized {
    %v = loop.load %x[%i] : memref<100xf32>
    %k = loop.load %n[%i] : memref<100xi32>
    %c = arith.cmpf olt, %v, %zero : f32
    %d = arith.cmpi sgt, %k, %three : i32
    %b = arith.andi %c, %d : i1
    %f = arith.sitofp %k : i32 to f32
    %w = arith.mulf %v, %f : f32
    %r = arith.select %b, %w, %v : f32
    loop.store %r, %y[%i] : memref<100xf32>
    loop.store %c, %negative[%i] : memref<100xi1>
  }
}
"""


def test_comparisons_casts_and_selection_in_a_vector_loop():
    object_code, _ = build_kernel(text_for(VECTOR_LOGIC), "leaky")
    rng = np.random.default_rng(0)
    x, n = rng.normal(size=100).astype(np.float32), rng.integers(0, 9, 100).astype(np.int32)
    y, negative = np.zeros(100, np.float32), np.zeros(100, np.bool_)
    run(object_code, "leaky", x, n, y, negative)
    np.testing.assert_array_equal(negative, x < 0)
    np.testing.assert_array_equal(y, np.where((x < 0) & (n > 3), x * n.astype(np.float32), x))


def test_objects_for_another_machine():
    object_code, _ = build_kernel(text_for(LOOP, "llvm -mtriple=aarch64-linux-gnu"), "twice")
    assert object_code[:4] == b"\x7fELF" and object_code[18] == 183  # EM_AARCH64


def test_a_kernel_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="no kernel 'thrice' to compile; the module's kernels: 'twice'"):
        build_kernel(text_for(LOOP), "thrice")
