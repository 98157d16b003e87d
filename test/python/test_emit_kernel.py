"""Kernels written by hand in the loop dialect, compiled and compared with numpy."""

import numpy as np
import pytest

DENSE = """
loop.kernel @dense ins(%x: memref<?x64xf32> [N, 64], %w: memref<64x32xf32>) outs(%y: memref<?x32xf32> [N, 32])
    symbols(%N) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  loop.for %i = 0 to %N "i" parallel {
    %acc = memref.alloca() : memref<32xf32, "register">
    loop.for %j = 0 to 2 "j" unrolled {
      loop.store %zero, %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
    }
    loop.for %k = 0 to 64 "k" {
      loop.for %j = 0 to 2 "j" unrolled {
        %a = loop.load %x[%i, %k] : memref<?x64xf32>
        %av = vector.broadcast %a : f32 to vector<16xf32>
        %b = loop.load %w[%k, 16 * %j] : memref<64x32xf32>, vector<16xf32>
        %p = arith.mulf %av, %b : vector<16xf32>
        %c = loop.load %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
        %s = arith.addf %c, %p : vector<16xf32>
        loop.store %s, %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
      }
    }
    loop.for %j = 0 to 2 "j" unrolled {
      %v = loop.load %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
      loop.store %v, %y[%i, 16 * %j] : memref<?x32xf32>, vector<16xf32>
    }
  }
}
"""


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers as floats: every partial sum is exact, whatever the order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_dense(compile_kernel, n, threads):
    x, w = integers(n, 64), integers(64, 32, seed=1)
    y = np.full((n, 32), np.nan, np.float32)
    compile_kernel(DENSE)(x, w, y, n, threads=threads)
    np.testing.assert_array_equal(y, x @ w)
