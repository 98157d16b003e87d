"""Models whose ranks depend on the value of an input, or that take sequences: compiled by value."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilework as tw
from tilework.specialized import MOST_KEPT, SpecializedModule


def reduce_model() -> onnx.ModelProto:
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4])
    axes = helper.make_tensor_value_info("axes", TensorProto.INT64, [None])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    return helper.make_model(
        helper.make_graph([node], "sum", [x, axes], [y]), opset_imports=[helper.make_opsetid("", 18)]
    )


def sequence_model() -> onnx.ModelProto:
    node = helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 2])
    s = helper.make_value_info("s", helper.make_sequence_type_proto(kind))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph([node], "join", [s], [y]), opset_imports=[helper.make_opsetid("", 18)])


def test_each_value_is_compiled_once():
    module = tw.compile(reduce_model())
    assert isinstance(module, SpecializedModule) and module.decided_by == {"axes"}
    assert [spec.name for spec in module.inputs] == ["x", "axes"]
    for rows in (2, 5, 0):
        for axes in ([1], [0, 2], [-1]):
            x = np.random.default_rng(rows).standard_normal((rows, 3, 4)).astype(np.float32)
            y = module(x, np.array(axes))
            np.testing.assert_allclose(y, x.sum(tuple(axes)), rtol=1e-5, atol=1e-5)
    assert module.compilations == ["axes = [1]", "axes = [0, 2]", "axes = [-1]"]


def test_what_is_kept_is_bounded():
    module = tw.compile(reduce_model())
    assert isinstance(module, SpecializedModule)
    module._kept.update((i, tw.Module.__new__(tw.Module)) for i in range(MOST_KEPT))  # pyright: ignore
    module(np.zeros((1, 3, 4), np.float32), np.array([1]))
    assert len(module._kept) == MOST_KEPT and 0 not in module._kept  # pyright: ignore


def test_a_value_that_does_not_fit_is_refused_by_the_call():
    module = tw.compile(reduce_model())
    with pytest.raises(tw.TileworkError, match="ReduceSum"):
        module(np.zeros((1, 3, 4), np.float32), np.array([7]))
    with pytest.raises(tw.UsageError, match="the module takes 'x', 'axes'; given are 'x'"):
        module.run({"x": np.zeros((1, 3, 4), np.float32)})
    with pytest.raises(tw.UsageError, match="input 'axes' is int32, the module takes int64"):
        module(np.zeros((1, 3, 4), np.float32), np.array([1], np.int32))


def test_it_cannot_be_saved(tmp_path):
    module = tw.compile(reduce_model())
    with pytest.raises(tw.TileworkError, match="compiled for each value of 'axes'; only a model in which they are"):
        module.save(tmp_path / "model.tw")
    with pytest.raises(tw.TileworkError, match="nothing is known of it before the first call"):
        _ = module.outputs


def test_a_sequence_is_a_list():
    module = tw.compile(sequence_model())
    for rows in ((1, 2), (3, 1), (2,)):
        parts = [np.full((n, 2), float(n), np.float32) for n in rows]
        np.testing.assert_array_equal(module(parts), np.concatenate(parts))
    assert isinstance(module, SpecializedModule) and len(module.compilations) == 2
    with pytest.raises(tw.UsageError, match="what is given is of float64"):
        module([np.zeros((1, 2))])
