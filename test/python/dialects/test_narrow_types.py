"""Numbers of a byte and less: compiled, encoded and decoded as ml_dtypes does, and at the borders of models."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilework as tw
from tilework.dialects.graph.narrow import FORMATS

FLOATS = {form.dtype: type_ for type_, form in FORMATS.items()}
POWERS = np.dtype(ml_dtypes.float8_e8m0fnu)
INTEGERS = [np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)]


def cast_model(given: np.dtype, made: np.dtype, **attributes: object) -> onnx.ModelProto:
    number, to = map(helper.np_dtype_to_tensor_dtype, (given, made))
    node = helper.make_node("Cast", ["x"], ["y"], to=to, **attributes)
    x, y = (helper.make_tensor_value_info(name, kind, ["N"]) for name, kind in (("x", number), ("y", to)))
    return helper.make_model(helper.make_graph([node], "cast", [x], [y]), opset_imports=[helper.make_opsetid("", 25)])


def numbers() -> np.ndarray:
    """Numbers of all magnitudes, those in the middle between two, NaN and infinities."""
    bits = np.random.default_rng(0).integers(0, 2**32, 20000, np.uint32)
    middles = [1.0625, 1.1875, 464, 480, 61440, 2**-10, 3 * 2**-10, 0.25, 0.75, 5.0, 7.0]
    special = np.array([*middles, np.inf, 0.0, np.nan], np.float32)
    return np.concatenate([bits.view(np.float32), np.linspace(-500, 500, 4001, dtype=np.float32), special, -special])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats_are_encoded_and_decoded_as_ml_dtypes_does(dtype: np.dtype):
    x = numbers()
    with np.errstate(invalid="ignore"):
        expected = x.astype(dtype)
    y = tw.compile(cast_model(x.dtype, dtype, saturate=0))(x)
    is_number = ~np.isnan(x) if FORMATS[FLOATS[dtype]].nan is None else np.ones(x.shape, bool)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.view(np.uint8)[is_number], expected.view(np.uint8)[is_number])
    codes = np.arange(1 << FORMATS[FLOATS[dtype]].bits, dtype=np.uint8).view(dtype)
    np.testing.assert_array_equal(tw.compile(cast_model(dtype, x.dtype))(codes), codes.astype(np.float32))


@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATS if dtype.itemsize == 1], ids=str)
def test_what_is_too_large_saturates(dtype: np.dtype):
    x = np.array([1e6, -1e6, np.inf, -np.inf, np.nan], np.float32)
    largest = float(ml_dtypes.finfo(dtype).max)
    y = tw.compile(cast_model(x.dtype, dtype))(x).astype(np.float32)
    missing = 0.0 if FORMATS[FLOATS[dtype]].nan is None else np.nan
    np.testing.assert_array_equal(y, [largest, -largest, largest, -largest, missing])


@pytest.mark.parametrize(
    ("mode", "expected"), [("up", [1, 2, 2, 4, 4]), ("down", [1, 1, 1, 2, 2]), ("nearest", [1, 1, 2, 2, 4])]
)
def test_powers_of_two(mode: str, expected: list[int]):
    x = np.array([1, 1.25, 1.5, 2.5, 3.5], np.float32)
    y = tw.compile(cast_model(x.dtype, POWERS, round_mode=mode))(x)
    np.testing.assert_array_equal(y.astype(np.float32), expected)
    codes = np.arange(256, dtype=np.uint8).view(POWERS)
    np.testing.assert_array_equal(tw.compile(cast_model(POWERS, x.dtype))(codes), codes.astype(np.float32))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_keep_their_lowest_bits(dtype: np.dtype):
    x = np.arange(-20, 21, dtype=np.int32)
    y = tw.compile(cast_model(x.dtype, dtype))(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.astype(np.int32), x.astype(np.int8).astype(dtype).astype(np.int32))
    np.testing.assert_array_equal(tw.compile(cast_model(dtype, x.dtype))(y), y.astype(np.int32))


def test_a_weight_of_four_bits_is_moved_and_dequantized():
    """Nothing but a byte for each number of the weight is kept, packed as ONNX stores it."""
    weight = np.arange(-8, 8).astype(ml_dtypes.int4).reshape(4, 4)
    nodes = [
        helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
        helper.make_node("DequantizeLinear", ["t", "s"], ["d"]),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    initializers = [onnx.numpy_helper.from_array(a, n) for a, n in ((weight, "w"), (np.float32(0.5), "s"))]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy")
    graph = helper.make_graph(nodes, "weight", [x], [y], initializers)
    given = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    made = tw.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))(given)
    np.testing.assert_allclose(made, given @ (weight.astype(np.float32).T / 2), rtol=1e-5)


def test_sizes_of_zero_and_a_wrong_dtype():
    module = tw.compile(cast_model(np.dtype(np.float32), INTEGERS[0]))
    assert module(np.zeros(0, np.float32)).shape == (0,)
    assert [str(spec) for spec in module.outputs] == ["y: int4 (N,)"]
    with pytest.raises(tw.UsageError, match="input 'x' is int8, the module takes int4"):
        tw.compile(cast_model(INTEGERS[0], np.dtype(np.float32)))(np.zeros(3, np.int8))


@pytest.mark.parametrize("name", ["int4", "float8_e4m3fn"])
def test_branches_and_bodies_hold_narrow_numbers(name: str):
    """An If, a Loop and a Scan, whose states are halved each time."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    kind = helper.np_dtype_to_tensor_dtype(dtype)

    def halved(given: str, made: str) -> list[onnx.NodeProto]:
        steps = [
            ("Cast", [given], {"to": 1}),
            ("Mul", [f"{made}_0", "half"], {}),
            ("Cast", [f"{made}_1"], {"to": kind}),
        ]
        results = [f"{made}_0", f"{made}_1", made]
        return [helper.make_node(op, i, [o], **a) for (op, i, a), o in zip(steps, results, strict=True)]

    def body(nodes: list[onnx.NodeProto], inputs: dict[str, list[int]], *outputs: str) -> onnx.GraphProto:
        types = {"i": TensorProto.INT64, "c": TensorProto.BOOL}
        given = [helper.make_tensor_value_info(n, types.get(n[0], kind), s) for n, s in inputs.items()]
        made = [helper.make_tensor_value_info(n, types.get(n[0], kind), [] if n[0] in types else [3]) for n in outputs]
        return helper.make_graph(nodes, "body", given, made)

    same = [helper.make_node("Identity", ["x"], ["a"])]
    loop = [*halved("s", "n"), helper.make_node("Identity", ["c2"], ["c3"]), helper.make_node("Identity", ["s"], ["e"])]
    scan = [*halved("t", "u"), helper.make_node("Identity", ["row"], ["v"])]
    nodes = [
        helper.make_node(
            "If", ["c"], ["y"], then_branch=body(same, {}, "a"), else_branch=body(halved("x", "b"), {}, "b")
        ),
        helper.make_node(
            "Loop", ["i", "c", "x"], ["end", "all"], body=body(loop, {"i2": [], "c2": [], "s": [3]}, "c3", "n", "e")
        ),
        helper.make_node(
            "Scan", ["x", "xs"], ["last", "rows"], body=body(scan, {"t": [3], "row": [3]}, "u", "v"), num_scan_inputs=1
        ),
    ]
    shapes = {"c": [], "i": [], "x": [3], "xs": ["N", 3]}
    types = {"c": TensorProto.BOOL, "i": TensorProto.INT64}
    inputs = [helper.make_tensor_value_info(n, types.get(n, kind), s) for n, s in shapes.items()]
    outputs = [helper.make_tensor_value_info(n, kind, None) for n in ("y", "end", "all", "last", "rows")]
    half = helper.make_tensor("half", TensorProto.FLOAT, [], [0.5])
    graph = helper.make_graph(nodes, "narrow", inputs, outputs, [half])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    module = tw.compile(model, processes=1)
    x, xs = np.array([4, -6, 2], np.float32).astype(dtype), np.ones((2, 3), np.float32).astype(dtype)
    for holds in (True, False):
        feeds = {"c": np.array(holds), "i": np.array(2), "x": x, "xs": xs}
        y, end, all_, last, rows = module.run(feeds).values()
        chosen = x if holds else (x.astype(np.float32) / 2).astype(dtype)
        quarter = (x.astype(np.float32) / 4).astype(dtype)
        np.testing.assert_array_equal(y.astype(np.float32), chosen.astype(np.float32))
        np.testing.assert_array_equal(end.astype(np.float32), (quarter if holds else x).astype(np.float32))
        assert all_.shape == ((2 if holds else 0), 3) and all_.dtype == dtype
        np.testing.assert_array_equal(last.astype(np.float32), quarter.astype(np.float32))
        np.testing.assert_array_equal(rows.astype(np.float32), xs.astype(np.float32))
