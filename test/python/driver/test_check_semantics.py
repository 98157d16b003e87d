"""The semantic check finds planted bugs at every level and across borders, and lets correct passes through."""

import numpy as np
import pytest
from planted_bugs import Change, Reassociating, check, first, replace_with, swap_operands
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilework.algebra.index_expr import const, var
from tilework.algebra.predicate import Predicate
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, IfOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import TeIndexAttr, TeWhenAttr
from tilework.dialects.te import ComputeOp, IfThenElseOp, ReadOp, ReduceOp
from tilework.driver.check_semantics import SemanticCheck
from tilework.driver.fuzz_data import fuzz_parameter, symbol_values

# -- te

TE = """
te.kernel @blur(%x: tensor<?x8xf32, #graph.dims<[N, 8]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>> {
  %pad = te.compute "pad" [i: N, j: 10] : tensor<?x10xf32, #graph.dims<[N, 10]>> {
    %p = te.if_then_else [j - 1 >= 0, 8 - j >= 0] : f32 {
      %v = te.read %x[i, j - 1] : tensor<?x8xf32, #graph.dims<[N, 8]>>
      te.yield %v : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [i: N, j: 8] reduce [k: 3] : tensor<?x8xf32, #graph.dims<[N, 8]>> {
    %a = te.read %pad[i, j + k] : tensor<?x10xf32, #graph.dims<[N, 10]>>
    te.reduce add %a : f32
  }
  %out = te.compute "out" [i: N, j: 8] : tensor<?x8xf32, #graph.dims<[N, 8]>> {
    %a = te.read %x[i, j] : tensor<?x8xf32, #graph.dims<[N, 8]>>
    %b = te.read %sum[i, j] : tensor<?x8xf32, #graph.dims<[N, 8]>>
    %c = arith.subf %a, %b : f32
    te.yield %c : f32
  }
  te.return %out : tensor<?x8xf32, #graph.dims<[N, 8]>>
}
"""


def swap_te(module: ModuleOp) -> None:
    swap_operands(first(module, arith.SubfOp))


def drop_guard(module: ModuleOp) -> None:
    guard = first(module, IfThenElseOp)
    guard.properties["when"] = TeWhenAttr(guard.when.data[:1])


def shift_read(module: ModuleOp) -> None:
    read = first(module, ReadOp, 1)
    i, j = read.indices.data
    read.properties["indices"] = TeIndexAttr((i, 9 - j))


def shrink_sum(module: ModuleOp) -> None:
    first(module, ComputeOp, 1).properties["reduce_extents"] = TeIndexAttr.of([2])


@pytest.mark.parametrize(
    ("bug", "message"),
    [
        (swap_te, "'planted' changes what te kernel @blur computes: output 0 at \\[0, .\\] was .* and is .* for N = 3"),
        (drop_guard, "after 'planted', te kernel @blur cannot be run for N = 3: compute 'pad' reads .* out of bounds"),
        (shift_read, "'planted' changes what te kernel @blur computes"),
        (shrink_sum, "'planted' changes what te kernel @blur computes"),
    ],
)
def test_bugs_at_te(bug: Change, message: str):
    with pytest.raises(CompileError, match=message) as caught:
        check(TE, bug)
    assert caught.value.notes[0][0].startswith("while running pass 'planted")


def test_a_pass_that_changes_nothing_is_not_compared():
    assert check(TE, lambda module: None).report.comparisons == []


def test_a_correct_pass_is_compared_for_several_symbols():
    def negate_twice(module: ModuleOp) -> None:
        subtraction = first(module, arith.SubfOp)
        a, b = subtraction.operands
        negated, total = (op := arith.NegfOp(b)), arith.AddfOp(a, op)
        block = subtraction.parent
        assert block is not None
        block.insert_ops_before([negated, total], subtraction)
        subtraction.results[0].replace_all_uses_with(total.result)
        subtraction.detach()
        subtraction.erase()

    report = check(TE, negate_twice).report
    [comparison] = report.comparisons
    assert (comparison.elements, comparison.bitwise) == (3 * 8 + 8, True)
    assert str(report) == "planted: te kernel @blur: 32 elements equal"


# -- te to loop, and loop

LOOP = """
loop.kernel @blur ins(%x: memref<?x8xf32> [N, 8]) outs(%y: memref<?x8xf32> [N, 8]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to %N "i" parallel {
    loop.for %jo = 0 to 2 "j.outer" {
      %acc = memref.alloca() : memref<4xf32, "register">
      loop.for %ji = 0 to 4 "j.inner" {
        loop.store %zero, %acc[%ji] : memref<4xf32, "register">
      }
      loop.for %k = 0 to 3 "k" {
        loop.for %ji = 0 to 4 "j.inner" vectorized {
          %p = loop.if [4 * %jo + %ji + %k - 1 >= 0, 8 - 4 * %jo - %ji - %k >= 0] -> f32 {
            %v = loop.load %x[%i, 4 * %jo + %ji + %k - 1] : memref<?x8xf32>
            loop.yield %v : f32
          } else {
            loop.yield %zero : f32
          }
          %a = loop.load %acc[%ji] : memref<4xf32, "register">
          %s = arith.addf %a, %p : f32
          loop.store %s, %acc[%ji] : memref<4xf32, "register">
        }
      }
      loop.for %ji = 0 to 4 "j.inner" {
        %v = loop.load %x[%i, 4 * %jo + %ji] : memref<?x8xf32>
        %a = loop.load %acc[%ji] : memref<4xf32, "register">
        %s = arith.subf %v, %a : f32
        loop.store %s, %y[%i, 4 * %jo + %ji] : memref<?x8xf32>
      }
    }
  }
}
"""


def test_a_lowering_is_compared_with_the_te_kernel_of_the_same_name():
    [comparison] = check(TE, replace_with(LOOP)).report.comparisons
    assert (comparison.program, comparison.elements, comparison.bitwise) == ("loop kernel @blur", 32, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0 to 3", "0 to 2", "output 0 at \\[0, 0\\] was"),
        ("arith.subf %v, %a", "arith.subf %a, %v", "output 0 at \\[0, .\\] was"),
        ("+ %k - 1 >= 0, 8", "+ %k >= 0, 8", "@blur, in i > j.outer > k > j.inner: load from %x.* out of bounds"),
        ('0 to 2 "j.outer"', '1 to 2 "j.outer"', "output 0 at \\[0, 0\\] was .* and is nan"),
        ("%a = loop.load %acc[%ji]", "%a = loop.load %acc[3 - %ji]", "output 0 at"),
    ],
)
def test_bugs_of_a_lowering(old: str, new: str, message: str):
    assert old in LOOP
    with pytest.raises(CompileError, match=f"@blur .*{message}|{message}"):
        check(TE, replace_with(LOOP.replace(old, new)))


def bound_off_by_one(module: ModuleOp) -> None:
    first(module, ForOp, 3).set_bounds(1, 3)


def bound_too_far(module: ModuleOp) -> None:
    loop = first(module, ForOp, 5)
    loop.set_bounds(0, 5)


def drop_loop_guard(module: ModuleOp) -> None:
    guard = first(module, IfOp)
    guard.set_conditions([Predicate(p.expr + 1) if i == 0 else p for i, p in enumerate(guard.conditions)])


def drop_initialization(module: ModuleOp) -> None:
    loop = first(module, ForOp, 2)
    loop.detach()
    loop.erase()


def swap_loop(module: ModuleOp) -> None:
    swap_operands(first(module, arith.SubfOp))


@pytest.mark.parametrize(
    ("bug", "message"),
    [
        (bound_off_by_one, "'planted' changes what loop kernel @blur computes: output 0 at \\[0, 1\\] was"),
        (
            bound_too_far,
            "after 'planted', loop kernel @blur cannot be run .* out of bounds: dimension . has . elements",
        ),
        (drop_loop_guard, "out of bounds: dimension 1 has 8 elements, the subscript is -1"),
        (drop_initialization, "and is nan"),
        (swap_loop, "'planted' changes what loop kernel @blur computes"),
    ],
)
def test_bugs_at_loop(bug: Change, message: str):
    with pytest.raises(CompileError, match=message):
        check(LOOP, bug)


def test_a_symbol_that_no_dimension_tells():
    text = LOOP.replace("?x8xf32> [N, 8]", "8x8xf32>").replace("?x8", "8x8").replace("0 to 3", "0 to min(3, %N)")
    with pytest.raises(CompileError, match="'planted' changes what loop kernel @blur computes: .* for N = 3"):
        check(text.replace('0 to %N "i"', '0 to 8 "i"'), swap_loop)


def test_the_first_wrong_pass_is_named():
    with pytest.raises(CompileError, match="'reassociating' changes"):
        check(LOOP, lambda module: None, Reassociating(swap_loop), bound_off_by_one)


# -- large kernels are sampled


def scaled(text: str) -> str:
    return text.replace("?x8xf32, #graph.dims<[N, 8]>", "64x8xf32").replace(
        "?x10xf32, #graph.dims<[N, 10]>", "64x10xf32"
    )


def test_a_large_kernel_is_sampled():
    te = scaled(TE).replace("N", "64")
    loop = (
        LOOP.replace("?x8xf32> [N, 8]", "64x8xf32>")
        .replace("?x8", "64x8")
        .replace(" symbols(%N)", "")
        .replace("%N", "64")
    )
    checker = SemanticCheck(max_work=1000)
    report = check(te, replace_with(loop), checker=checker).report
    [comparison] = report.comparisons
    assert 8 <= comparison.elements < 64 * 8
    for bug in (bound_off_by_one, swap_loop):
        with pytest.raises(CompileError, match="'planted' changes what loop kernel @blur computes"):
            check(te, replace_with(loop), bug, checker=SemanticCheck(max_work=1000))
    with pytest.raises(CompileError, match="'planted' changes what te kernel @blur computes"):
        check(te, swap_te, checker=SemanticCheck(max_work=1000))


def test_samples_of_two_loop_kernels_meet():
    loop = LOOP.replace("?x8xf32> [N, 8]", "64x8xf32>").replace("?x8", "64x8").replace(" symbols(%N)", "")
    checker = SemanticCheck(max_work=1000)
    with pytest.raises(CompileError, match="'planted' changes what loop kernel @blur computes"):
        check(loop.replace("%N", "64"), swap_loop, checker=checker)

    def rename_axis(module: ModuleOp) -> None:
        first(module, ForOp).properties["axis"] = StringAttr("rows")

    [comparison] = check(loop.replace("%N", "64"), rename_axis, checker=SemanticCheck(max_work=1000)).report.comparisons
    assert 8 <= comparison.elements < 64 * 8


# -- numbers that round

SOFT = """
te.kernel @soft(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = te.compute "soft" [i: 7] reduce [k: 7] : tensor<7xf32> {
    %a = te.read %x[KI] : tensor<7xf32>
    %e = math.exp %a : f32
    te.reduce add %e : f32
  }
  te.return %y : tensor<7xf32>
}
"""


def test_sums_of_rounded_numbers_may_be_reordered():
    [comparison] = check(SOFT.replace("KI", "k"), replace_with(SOFT.replace("KI", "6 - k"))).report.comparisons
    assert not comparison.bitwise
    with pytest.raises(CompileError, match="changes what te kernel @soft computes: .* \\(allowed error .*\\)"):
        check(SOFT.replace("KI", "k"), replace_with(SOFT.replace("KI", "k floordiv 2")))


def test_exact_sums_may_be_reordered_by_any_pass():
    ints = SOFT.replace("math.exp %a", "arith.addf %a, %a")
    [comparison] = check(ints.replace("KI", "k"), replace_with(ints.replace("KI", "6 - k"))).report.comparisons
    assert comparison.bitwise


def test_roots_are_taken_of_positive_numbers():
    root = SOFT.replace("KI", "k").replace("math.exp", "math.log")
    swapped = root.replace("math.log %a", "math.log2 %a")
    with pytest.raises(CompileError, match="changes what te kernel @soft computes"):
        check(root, replace_with(swapped))


def test_a_check_that_compares_nothing_fails():
    nan = SOFT.replace("KI", "k").replace(
        "%e = math.exp %a",
        "%n = arith.negf %a : f32\n %m = math.absf %n : f32\n %o = arith.negf %m : f32\n %e = math.log %o",
    )
    with pytest.raises(CompileError, match="the check of 'planted' compared no number of te kernel @soft: all are NaN"):
        check(nan, lambda module: swap_nothing(module))


def swap_nothing(module: ModuleOp) -> None:
    reduce = first(module, ReduceOp)
    doubled = arith.AddfOp(reduce.operands[0], reduce.operands[0])
    block = reduce.parent
    assert block is not None
    block.insert_op_before(doubled, reduce)
    reduce.operands = [doubled.result]


def test_a_changed_signature_is_reported_as_not_compared():
    wider = SOFT.replace("KI", "k").replace("7", "9")
    report = check(SOFT.replace("KI", "k"), replace_with(wider)).report
    assert report.unchecked == [("planted", "te kernel @soft", "its inputs are not those it had before")]
    assert "not compared" in str(report)


def test_another_module_starts_afresh():
    checker = SemanticCheck()
    check(SOFT.replace("KI", "k"), lambda module: None, checker=checker)
    check(SOFT.replace("KI", "6 - k").replace("math.exp", "math.sqrt"), lambda module: None, checker=checker)
    assert checker.report.comparisons == []


def test_parameters_of_deep_networks_do_not_make_values_explode():
    weight = fuzz_parameter((64, 64, 3, 3), np.dtype(np.float32), [0])
    used = np.count_nonzero(weight.reshape(64, -1), axis=1)
    assert 1 < used.mean() < 3
    assert np.abs(fuzz_parameter((64,), np.dtype(np.float32), [0])).max() == 2


def test_symbols_are_large_enough_for_every_dimension():
    n, h = var("N"), var("H")
    assert symbol_values([n, h - 6]) == [{"N": 9, "H": 15}]
    assert symbol_values([n, 2 * h]) == [{"N": 3, "H": 5}, {"N": 1, "H": 1}]
    assert symbol_values([const(4)]) == [{}]
