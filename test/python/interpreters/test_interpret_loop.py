"""The loop interpreter: every form of a kernel, poison, bounds, races, memory that is shared, samples."""

import numpy as np
import pytest

from tilework.analysis.verification import verify
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.loop import LoopProgram, run_loop_kernel, run_loop_sample
from tilework.interpreters.loop_plan import Mode

RANDOM = np.random.default_rng(0)


def parse(text: str) -> KernelOp:
    module = SourceParser(make_context(), text, "test.mlir").parse_module()
    verify(module)
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return kernel


def integers(*shape: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


def modes(kernel: KernelOp, *symbols: int) -> dict[str, Mode]:
    """How each loop is run, by the name of its axis."""
    program = LoopProgram(kernel, symbols)
    return {loop.axis.data: mode for loop, mode in program._plan.modes.items()}  # pyright: ignore[reportPrivateUsage]


DENSE = """
loop.kernel @dense ins(%x: memref<?x6xf32> [N, 6], %w: memref<10x6xf32>)
                   outs(%y: memref<?x10xf32> [N, 10]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to %N "i" parallel {
    loop.for %jo = 0 to 3 "j.outer" {
      %acc = memref.alloca() : memref<4xf32, "register">
      loop.for %ji = 0 to 4 "j.inner" vectorized {
        loop.store %zero, %acc[%ji] : memref<4xf32, "register">
      }
      loop.for %k = 0 to 6 "k" {
        loop.for %ji = 0 to 4 "j.inner" vectorized {
          loop.if [9 - 4 * %jo - %ji >= 0] {
            %a = loop.load %x[%i, %k] : memref<?x6xf32>
            %b = loop.load %w[4 * %jo + %ji, %k] : memref<10x6xf32>
            %s = loop.load %acc[%ji] : memref<4xf32, "register">
            %p = arith.mulf %a, %b : f32
            %t = arith.addf %s, %p : f32
            loop.store %t, %acc[%ji] : memref<4xf32, "register">
          }
        }
      }
      loop.for %ji = 0 to min(4, 10 - 4 * %jo) "j.inner" vectorized {
        %s = loop.load %acc[%ji] : memref<4xf32, "register">
        loop.store %s, %y[%i, 4 * %jo + %ji] : memref<?x10xf32>
      }
    }
  }
}
"""


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_tiled_reduction_with_a_tail(rows: int):
    x, w, y = integers(rows, 6), integers(10, 6), np.zeros((rows, 10), np.float32)
    run_loop_kernel(parse(DENSE), [x, w], [y])
    np.testing.assert_array_equal(y, x @ w.T)


def test_data_parallel_loops_run_at_once():
    found = modes(parse(DENSE), 3)
    assert found == {"i": Mode.AXIS, "j.outer": Mode.AXIS, "j.inner": Mode.AXIS, "k": Mode.SERIAL}


FLAT = """
loop.kernel @dense ins(%x: memref<?x6xf32> [N, 6], %w: memref<10x6xf32>)
                   outs(%y: memref<?x10xf32> [N, 10]) symbols(%N) {
  %nx = loop.apply 6 * %N
  %ny = loop.apply 10 * %N
  %xf = memref.reinterpret_cast %x to offset: [0], sizes: [%nx], strides: [1] : memref<?x6xf32> to memref<?xf32>
  %wf = memref.reinterpret_cast %w to offset: [0], sizes: [60], strides: [1] : memref<10x6xf32> to memref<60xf32>
  %yf = memref.reinterpret_cast %y to offset: [0], sizes: [%ny], strides: [1] : memref<?x10xf32> to memref<?xf32>
  loop.for %f = 0 to 3 * %N "i.j.fused" parallel {
    %acc = memref.alloca() : memref<4xf32, "register">
    %zero = arith.constant dense<0.0> : vector<4xf32>
    loop.store %zero, %acc[0] : memref<4xf32, "register">, vector<4xf32>
    loop.for %k = 0 to 6 "k" {
      %a = loop.load %xf[6 * (%f floordiv 3) + %k] : memref<?xf32>
      %av = vector.broadcast %a : f32 to vector<4xf32>
      %b = loop.load %wf[24 * (%f mod 3) + %k] stride 6 count min(4, 10 - 4 * (%f mod 3))
        : memref<60xf32>, vector<4xf32>
      %s = loop.load %acc[0] : memref<4xf32, "register">, vector<4xf32>
      %p = arith.mulf %av, %b : vector<4xf32>
      %t = arith.addf %s, %p : vector<4xf32>
      loop.store %t, %acc[0] : memref<4xf32, "register">, vector<4xf32>
    }
    %r = loop.load %acc[0] : memref<4xf32, "register">, vector<4xf32>
    loop.store %r, %yf[10 * (%f floordiv 3) + 4 * (%f mod 3)] count min(4, 10 - 4 * (%f mod 3))
      : memref<?xf32>, vector<4xf32>
  }
}
"""


@pytest.mark.parametrize("rows", [1, 3])
def test_flattened_fused_and_with_vectors(rows: int):
    x, w, y = integers(rows, 6), integers(10, 6), np.zeros((rows, 10), np.float32)
    run_loop_kernel(parse(FLAT), [x, w], [y])
    np.testing.assert_array_equal(y, x @ w.T)
    assert modes(parse(FLAT), rows)["i.j.fused"] is Mode.AXIS


def elementwise(body: str, loops: str = 'loop.for %i = 0 to 8 "i"', tail: str = "", kind: str = "") -> KernelOp:
    return parse(f"""
loop.kernel @f ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {{
  {loops} {kind} {{
    {body}
  }}
  {tail}
}}""")


COPY = "%v = loop.load %x[%i] : memref<8xf32>\n loop.store %v, %y[%i] : memref<8xf32>"
SCAN = """%v = loop.load %x[%i] : memref<8xf32>
    %p = loop.if [%i - 1 >= 0] -> f32 {
      %q = loop.load %y[%i - 1] : memref<8xf32>
      loop.yield %q : f32
    } else {
      %z = arith.constant 0.0 : f32
      loop.yield %z : f32
    }
    %s = arith.addf %v, %p : f32
    loop.store %s, %y[%i] : memref<8xf32>"""


def test_a_dependence_keeps_its_order():
    x, y = integers(8), np.zeros(8, np.float32)
    kernel = elementwise(SCAN)
    run_loop_kernel(kernel, [x], [y])
    np.testing.assert_array_equal(y, np.cumsum(x))
    assert modes(kernel) == {"i": Mode.SERIAL}


def test_a_race_in_a_parallel_loop_shows():
    y = np.zeros(8, np.float32)
    run_loop_kernel(elementwise(SCAN, kind="parallel"), [integers(8)], [y])
    assert np.isnan(y).any()


def test_elements_never_written_are_poison():
    y = np.zeros(8, np.float32)
    run_loop_kernel(elementwise(COPY, 'loop.for %i = 1 to 7 "i"'), [integers(8)], [y])
    np.testing.assert_array_equal(np.isnan(y), [True, *[False] * 6, True])


def test_reading_a_local_buffer_before_writing_shows():
    body = """%t = memref.alloca() : memref<1xf32, "register">
    %v = loop.load %t[0] : memref<1xf32, "register">
    loop.store %v, %y[%i] : memref<8xf32>"""
    y = np.zeros(8, np.float32)
    run_loop_kernel(elementwise(body), [integers(8)], [y])
    assert np.isnan(y).all()


@pytest.mark.parametrize(("access", "named"), [("%x[%i + 1]", "i \\+ 1"), ("%x[%i - 1]", "i - 1"), ("%x[2 * %i]", "i")])
def test_an_access_out_of_bounds_is_an_error(access: str, named: str):
    body = f"%v = loop.load {access} : memref<8xf32>\n loop.store %v, %y[%i] : memref<8xf32>"
    message = (
        f"@f, in i: load from %x\\[.*{named}\\] out of bounds: dimension 0 has 8 elements, the subscript is -?[0-9]+"
    )
    with pytest.raises(CompileError, match=message):
        run_loop_kernel(elementwise(body), [integers(8)], [np.zeros(8, np.float32)])


def test_a_store_out_of_bounds_and_one_that_is_guarded():
    store = "%v = loop.load %x[%i] : memref<8xf32>\n loop.store %v, %y[%i + 1] : memref<8xf32>"
    with pytest.raises(CompileError, match="store to %y\\[%i \\+ 1\\] out of bounds: .* the subscript is 8"):
        run_loop_kernel(elementwise(store), [integers(8)], [np.zeros(8, np.float32)])
    x, y = integers(8), np.zeros(8, np.float32)
    run_loop_kernel(elementwise(f"loop.if [6 - %i >= 0] {{ {store} }}"), [x], [y])
    np.testing.assert_array_equal(y[1:], x[:7])


def test_a_value_loaded_before_a_store_stays():
    body = """%v = loop.load %y[%i] : memref<8xf32>
    %z = arith.constant 0.0 : f32
    loop.store %z, %y[%i] : memref<8xf32>
    loop.store %v, %y[%i] : memref<8xf32>"""
    x, y = integers(8), np.zeros(8, np.float32)
    first = 'loop.for %i = 0 to 8 "first" { ' + COPY + ' }\n loop.for %i = 0 to 8 "i"'
    run_loop_kernel(elementwise(body, first), [x], [y])
    np.testing.assert_array_equal(y, x)


def test_a_shifted_tail_computes_elements_twice():
    body = """loop.for %j = 0 to 3 "j" {
      %v = loop.load %x[min(3 * %i, 5) + %j] : memref<8xf32>
      loop.store %v, %y[min(3 * %i, 5) + %j] : memref<8xf32>
    }"""
    x, y = integers(8), np.zeros(8, np.float32)
    kernel = elementwise(body, 'loop.for %i = 0 to 3 "i"', kind="parallel")
    run_loop_kernel(kernel, [x], [y])
    np.testing.assert_array_equal(y, x)
    assert modes(kernel) == {"i": Mode.AXIS, "j": Mode.AXIS}


def test_the_last_of_different_values_stays():
    x, y = integers(8), np.zeros(8, np.float32)
    body = """loop.for %j = 0 to 8 "j" {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.store %v, %y[%j] : memref<8xf32>
    }"""
    x[:2], x[-1] = (1, 2), 3
    run_loop_kernel(elementwise(body), [x], [y])
    np.testing.assert_array_equal(y, np.full(8, 3))
    run_loop_kernel(elementwise(body, kind="parallel"), [x], [y])
    np.testing.assert_array_equal(y, np.full(8, 1))  # a race: such loops run backwards


def test_bounds_that_differ_from_iteration_to_iteration():
    kernel = parse("""
loop.kernel @triangle ins(%x: memref<5x5xf32>) outs(%y: memref<5x5xf32>) {
  loop.for %i = 0 to 5 "i" {
    loop.for %j = 0 to 5 "j" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %y[%i, %j] : memref<5x5xf32>
    }
    loop.for %j = %i to 5 "j" {
      %v = loop.load %x[%i, %j] : memref<5x5xf32>
      loop.store %v, %y[%i, %j] : memref<5x5xf32>
    }
  }
}""")
    x, y = integers(5, 5), np.zeros((5, 5), np.float32)
    run_loop_kernel(kernel, [x], [y])
    np.testing.assert_array_equal(y, np.triu(x))


def test_in_place_is_as_good_as_the_accesses_allow():
    x = integers(8)
    buffer = x.copy()
    run_loop_kernel(elementwise(COPY), [buffer], [buffer])
    np.testing.assert_array_equal(buffer, x)
    body = "%v = loop.load %x[%i] : memref<8xf32>\n %w = arith.addf %v, %v : f32\n"
    run_loop_kernel(elementwise(body + "loop.store %w, %y[%i] : memref<8xf32>"), [buffer], [buffer])
    np.testing.assert_array_equal(buffer, 2 * x)
    buffer[...] = x
    reversed_body = "%v = loop.load %x[7 - %i] : memref<8xf32>\n loop.store %v, %y[%i] : memref<8xf32>"
    run_loop_kernel(elementwise(reversed_body), [buffer], [buffer])
    np.testing.assert_array_equal(buffer, [*x[::-1][:4], *x[::-1][:4][::-1]])  # the second half reads what was written


def test_the_output_is_a_slice_of_something_bigger():
    kernel = parse("""
loop.kernel @copy ins(%x: memref<2x3xf32>) outs(%y: memref<2x3xf32, strided<[8, 1]>>) {
  loop.for %i = 0 to 2 "i" {
    loop.for %j = 0 to 3 "j" {
      %v = loop.load %x[%i, %j] : memref<2x3xf32>
      loop.store %v, %y[%i, %j] : memref<2x3xf32, strided<[8, 1]>>
    }
  }
}""")
    x, whole = integers(2, 3), np.zeros((2, 8), np.float32)
    run_loop_kernel(kernel, [x], [whole[:, 2:5]])
    np.testing.assert_array_equal(whole, np.pad(x, ((0, 0), (2, 3))))
    with pytest.raises(CompileError, match="got memory of strides \\[3, 1\\]"):
        run_loop_kernel(kernel, [x], [np.zeros((2, 3), np.float32)])


def test_scratch_is_poisoned_and_lent():
    kernel = parse("""
loop.kernel @twice ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) scratch(%t: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %x[%i] : memref<4xf32>
    loop.store %v, %t[%i] : memref<4xf32>
  }
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %t[3 - %i] : memref<4xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
}""")
    x, y, lent = integers(4), np.zeros(4, np.float32), np.zeros(4, np.float32)
    run_loop_kernel(kernel, [x], [y], [lent])
    np.testing.assert_array_equal(y, x[::-1])
    np.testing.assert_array_equal(lent, x)


def test_a_sample_computes_what_it_says_it_computes():
    x, w, y = integers(50, 6), integers(10, 6), np.zeros((50, 10), np.float32)
    [computed] = run_loop_sample(parse(DENSE), [x, w], [y], iterations=3)
    np.testing.assert_array_equal(y[computed], (x @ w.T)[computed])
    np.testing.assert_array_equal(computed.any(1).nonzero()[0], [0, 24, 49])
    assert np.isnan(y[~computed]).all()


def test_wrong_arrays_are_refused():
    with pytest.raises(UsageError, match="@f takes 1 inputs and 1 outputs, got 3 arrays"):
        run_loop_kernel(elementwise(COPY), [integers(8), integers(8)], [integers(8)])
    with pytest.raises(UsageError, match="@f: argument 0 has a dimension of 7 where 8 = 8 is expected"):
        run_loop_kernel(elementwise(COPY), [integers(7)], [integers(8)])
    with pytest.raises(CompileError, match="@f: argument 0 is memref<8xf32>, got memory of \\[8\\] float64"):
        run_loop_kernel(elementwise(COPY), [np.zeros(8)], [integers(8)])


@pytest.mark.parametrize("dtype", ["f32", "ui8", "i8", "i1"])
def test_lanes_that_are_not_touched_are_what_the_load_says(dtype: str):
    element = {"ui8": "i8"}.get(dtype, dtype)
    kernel = parse(f"""
        loop.kernel @between ins(%x: memref<8x{dtype}>) outs(%y: memref<8x{dtype}>) {{
          %rest = loop.load %x[7] : memref<8x{dtype}>
          %v = loop.load %x[0] from 1 count 3 else %rest : memref<8x{dtype}>, vector<8x{element}>
          loop.store %v, %y[0] from 0 count 6 : memref<8x{dtype}>, vector<8x{element}>
        }}""")
    x = (np.arange(8) % 2).astype({"f32": np.float32, "ui8": np.uint8, "i8": np.int8, "i1": np.bool_}[dtype])
    y = np.zeros_like(x)
    run_loop_kernel(kernel, [x], [y])
    np.testing.assert_array_equal(y[:6], np.array([x[7], x[1], x[2], x[7], x[7], x[7]], x.dtype))
