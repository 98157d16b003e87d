"""Scalar operations in numpy: what differs between MLIR and numpy."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import math, test
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.dialects import arith
from tilework.dialects.scalar_meaning import element_dtype, evaluate
from tilework.dialects.support.diagnostics import CompileError

i4 = IntegerType(4)


def value(type_: Attribute) -> SSAValue:
    return test.TestOp(result_types=[type_]).results[0]


def run(op: Operation, *operands: object) -> object:
    with np.errstate(all="ignore"):
        return evaluate(op, [np.asarray(o) if isinstance(o, list) else o for o in operands])


def test_arithmetic_stays_in_its_type():
    a, b = value(f16), value(f16)
    result = run(arith.AddfOp(a, b), np.float16(2048), np.float16(1))
    assert result == 2048 and isinstance(result, np.float16)


def test_maximum_propagates_nan_and_maxnum_does_not():
    a, b = value(f32), value(f32)
    assert np.isnan(np.float32(run(arith.MaximumfOp(a, b), np.float32("nan"), np.float32(1))))  # pyright: ignore
    assert run(arith.MaxnumfOp(a, b), np.float32("nan"), np.float32(1)) == 1


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("oeq", [False, True, False]), ("une", [True, False, True]), ("ult", [True, False, True]), ("uno", [0, 0, 1])],
)
def test_float_predicates(predicate: str, expected: list[bool]):
    op = arith.CmpfOp(value(f32), value(f32), predicate)
    np.testing.assert_array_equal(run(op, [1.0, 2.0, np.nan], [2.0, 2.0, 1.0]), expected)


def test_integers_divide_towards_zero_and_compare_unsigned():
    a, b = value(i32), value(i32)
    x, y = np.array([-7, 7, -7, 6], np.int32), np.array([2, -2, -2, 3], np.int32)
    np.testing.assert_array_equal(run(arith.DivSIOp(a, b), x, y), [-3, -3, 3, 2])
    np.testing.assert_array_equal(run(arith.RemSIOp(a, b), x, y), [-1, 1, -1, 0])
    np.testing.assert_array_equal(run(arith.CmpiOp(a, b, "ult"), x, y), [False, True, True, False])
    np.testing.assert_array_equal(run(arith.MaxUIOp(a, b), x, y), [-7, -2, -2, 6])


def test_divisions_and_shifts_are_defined_for_all_integers():
    a, b = value(i8), value(i8)
    x, zero = np.array([5, -7, 0, -128], np.int8), np.zeros(4, np.int8)
    for op in (arith.DivSIOp, arith.FloorDivSIOp, arith.RemSIOp, arith.DivUIOp, arith.RemUIOp):
        np.testing.assert_array_equal(run(op(a, b), x, zero), [0, 0, 0, 0])
    for op in (arith.DivSIOp, arith.FloorDivSIOp):
        np.testing.assert_array_equal(run(op(a, b), x, zero - 1), [-5, 7, 0, -128])
    np.testing.assert_array_equal(run(arith.RemSIOp(a, b), x, zero - 1), [0, 0, 0, 0])
    for distance in (8, 100, -1):  # which is 255
        far = np.full(4, distance, np.int8)
        np.testing.assert_array_equal(run(arith.ShLIOp(a, b), x, far), [0, 0, 0, 0])
        np.testing.assert_array_equal(run(arith.ShRUIOp(a, b), x, far), [0, 0, 0, 0])
        np.testing.assert_array_equal(run(arith.ShRSIOp(a, b), x, far), [0, -1, 0, -1])


def test_conversions():
    assert run(arith.ExtUIOp(value(i8), i32), np.int8(-1)) == 255
    assert run(arith.ExtSIOp(value(i1), i32), np.True_) == -1
    assert run(arith.UIToFPOp(value(i1), f32), np.True_) == 1.0
    assert run(arith.FPToSIOp(value(f32), i32), np.float32(-2.7)) == -2
    assert run(arith.TruncIOp(value(i32), i1), np.int32(3)) == np.True_
    assert run(arith.BitcastOp(value(f32), i32), np.float32(1.0)) == 0x3F800000


def test_four_bits():
    assert run(arith.ExtSIOp(value(i4), i32), ml_dtypes.int4(-1)) == -1
    assert run(arith.ExtUIOp(value(i4), i32), ml_dtypes.int4(-1)) == 15
    assert run(arith.UIToFPOp(value(i4), f32), ml_dtypes.int4(-8)) == 8.0
    assert run(arith.TruncIOp(value(i32), i4), np.int32(9)) == ml_dtypes.int4(-7)
    assert run(arith.FPToUIOp(value(f32), i4), np.float32(15)) == ml_dtypes.int4(-1)
    assert run(arith.CmpiOp(value(i4), value(i4), "ne"), ml_dtypes.int4(-1), ml_dtypes.int4(7)) == np.True_
    assert run(arith.ConstantOp(IntegerAttr(15, i4, truncate_bits=True))) == ml_dtypes.int4(-1)


@pytest.mark.parametrize("op", [arith.AddiOp, lambda a, b: arith.CmpiOp(a, b, "ult")])
def test_no_arithmetic_on_four_bits(op: Callable[[SSAValue, SSAValue], Operation]):
    with pytest.raises(CompileError, match="no meaning to 'arith.*' of i4"):
        run(op(value(i4), value(i4)), ml_dtypes.int4(1), ml_dtypes.int4(2))


def test_constants():
    assert run(arith.ConstantOp(IntegerAttr(5, i64))) == 5
    vector = DenseIntOrFPElementsAttr.from_list(VectorType(f32, [3]), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(run(arith.ConstantOp(vector)), np.array([1, 2, 3], np.float32))  # pyright: ignore


def test_functions():
    x = np.float32(4)
    assert run(math.RsqrtOp(value(f32)), x) == 0.5
    assert abs(float(run(math.ErfOp(value(f32)), np.float32(0.5))) - 0.5204999) < 1e-6  # pyright: ignore
    assert run(math.FmaOp(value(f32), value(f32), value(f32)), x, x, x) == 20


def test_what_has_no_meaning_is_refused():
    with pytest.raises(CompileError, match="the interpreters give no meaning to 'test.op'"):
        evaluate(test.TestOp(result_types=[f32]), [])


def test_bf16_is_rounded_after_every_operation():
    x = np.array([1.0, 1.0078125]).astype(element_dtype(bf16))
    y = np.array([0.00390625, 0.00390625]).astype(element_dtype(bf16))
    total = run(arith.AddfOp(value(bf16), value(bf16)), x, y)
    np.testing.assert_array_equal(np.asarray(total).astype(np.float32), [1.0, 1.015625])  # ties go to even
