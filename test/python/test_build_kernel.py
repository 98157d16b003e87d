"""From the text of one kernel to object code and a declaration, as a compile worker does it."""

import ctypes

import numpy as np
import pytest

from tilework.algebra.errors import UsageError
from tilework.backends.llvm.build import build_kernel
from tilework.runtime.native import load_objects

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


def run(object_code: bytes, name: str, *arguments: np.ndarray | int) -> None:
    library = load_objects([object_code])
    types = [ctypes.c_void_p if isinstance(a, np.ndarray) else ctypes.c_int64 for a in arguments]
    function = ctypes.CFUNCTYPE(None, *types, ctypes.c_int32)(library.get_function(name))
    function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments), 2)


@pytest.mark.parametrize("options", [{}, {"opt_level": 1}])
def test_a_loop_kernel(options):
    object_code, metadata = build_kernel(LOOP, "twice", "llvm", options)
    x, y = np.arange(20, dtype=np.float32).reshape(5, 4), np.zeros((5, 4), np.float32)
    run(object_code, "twice", x, y, 5)
    np.testing.assert_array_equal(y, 2 * x)
    assert metadata == {
        "declaration": "loop.kernel @twice ins(%arg0: memref<?x4xf32> [N, 4]) outs(%arg1: memref<?x4xf32> [N, 4])"
        " symbols(%N) in_place [0 -> 0]"
    }


def test_a_te_kernel_declares_its_scratch(parse_module):
    object_code, metadata = build_kernel(TE, "softmax", "llvm", {})
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
    object_code, _ = build_kernel(VECTOR_LOGIC, "leaky", "llvm", {})
    rng = np.random.default_rng(0)
    x, n = rng.normal(size=100).astype(np.float32), rng.integers(0, 9, 100).astype(np.int32)
    y, negative = np.zeros(100, np.float32), np.zeros(100, np.bool_)
    run(object_code, "leaky", x, n, y, negative)
    np.testing.assert_array_equal(negative, x < 0)
    np.testing.assert_array_equal(y, np.where((x < 0) & (n > 3), x * n.astype(np.float32), x))


def test_objects_for_another_machine():
    object_code, _ = build_kernel(LOOP, "twice", "llvm -mtriple=aarch64-linux-gnu", {})
    assert object_code[:4] == b"\x7fELF" and object_code[18] == 183  # EM_AARCH64


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("thrice", {}, "no kernel 'thrice' to compile; the module's kernels: 'twice'"),
        ("twice", {"speed": 3}, "unknown option 'speed' of the LLVM backend; the options are opt_level"),
    ],
)
def test_refusals(name, options, message):
    with pytest.raises(UsageError, match=message):
        build_kernel(LOOP, name, "llvm", options)
