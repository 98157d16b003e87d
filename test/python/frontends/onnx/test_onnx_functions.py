"""Nodes that stand for other nodes: functions of the model. Those of the standard are among the node tests."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilework as tw
from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx

OPSET = [helper.make_opsetid("", 18)]
BOTH = [*OPSET, helper.make_opsetid("own", 1)]


def model_of(nodes, functions):
    """A model from x, 3 by 4, to y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])
    graph = helper.make_graph(nodes, "calls", [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, functions=functions, opset_imports=BOTH, ir_version=10)


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opsets=OPSET):
    return helper.make_function("own", name, inputs, outputs, nodes, opsets, attributes, defaults)


def referring(op_type, inputs, outputs, name, to, type_):
    """A node one of whose attributes is a parameter of the function it is in."""
    node = helper.make_node(op_type, inputs, outputs)
    node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=to, type=type_))
    return node


def scaled_leaky():
    nodes = [
        referring("LeakyRelu", ["a"], ["l"], "alpha", "slope", onnx.AttributeProto.FLOAT),
        referring("Constant", [], ["c"], "value_float", "scale", onnx.AttributeProto.FLOAT),
        helper.make_node("Mul", ["l", "c"], ["b"]),
    ]
    return function("ScaledLeaky", ["a"], ["b"], nodes, ["slope"], [helper.make_attribute("scale", 3.0)])


def check(model, expected):
    [y] = tw.compile(model).run({"x": X}).values()
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def leaky(x, slope):
    return np.where(x < 0, slope * x, x)


X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("given", "slope", "scale"),
    [({"slope": 0.25}, 0.25, 3), ({"slope": 0.25, "scale": -2.0}, 0.25, -2), ({}, 0.01, 3)],
    ids=["default", "both", "none"],
)
def test_attributes_are_parameters_with_defaults(given, slope, scale):
    """One that is given nowhere is absent inside, too, so that the operator's own default holds."""
    node = helper.make_node("ScaledLeaky", ["x"], ["y"], domain="own", **given)
    check(model_of([node], [scaled_leaky()]), scale * leaky(X, slope))


def test_functions_call_functions_and_share_no_names():
    inner = [
        helper.make_node("ScaledLeaky", ["x"], ["y"], domain="own", slope=0.5),
        helper.make_node("ScaledLeaky", ["y"], ["b"], domain="own", slope=2.0, scale=0.5),
    ]
    twice = function("Twice", ["x"], ["b"], inner, opsets=BOTH)
    nodes = [
        helper.make_node("Neg", ["x"], ["b"]),
        helper.make_node("Twice", ["b"], ["t"], domain="own"),
        helper.make_node("Add", ["t", "b"], ["y"]),
    ]
    check(model_of(nodes, [twice, scaled_leaky()]), 0.5 * leaky(3 * leaky(-X, 0.5), 2) - X)


def test_outputs_that_are_not_taken():
    nodes = [helper.make_node("Exp", ["a"], ["e"]), helper.make_node("Abs", ["a"], ["b"])]
    both = function("Both", ["a"], ["e", "b"], nodes)
    check(model_of([helper.make_node("Both", ["x"], ["", "y"], domain="own")], [both]), abs(X))
    check(model_of([helper.make_node("Both", ["x"], ["y"], domain="own")], [both]), np.exp(X))


def test_an_input_that_is_absent_is_absent_inside():
    clip = function("Limit", ["a", "low", "high"], ["b"], [helper.make_node("Clip", ["a", "low", "high"], ["b"])])
    low = helper.make_node("Constant", [], ["low"], value_float=-1.0)
    check(model_of([low, helper.make_node("Limit", ["x", "low"], ["y"], domain="own")], [clip]), X.clip(-1))
    check(model_of([low, helper.make_node("Limit", ["x", "", "low"], ["y"], domain="own")], [clip]), X.clip(None, -1))


def test_graphs_inside_of_a_function_have_its_parameters():
    then = helper.make_graph(
        [referring("LeakyRelu", ["a"], ["t"], "alpha", "slope", onnx.AttributeProto.FLOAT)],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["a"], ["e"])],
        "else",
        [],
        [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
    )
    nodes = [
        helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("", TensorProto.BOOL, [], [True])),
        helper.make_node("If", ["yes"], ["b"], then_branch=then, else_branch=other),
    ]
    choose = function("Choose", ["a"], ["b"], nodes, ["slope"])
    check(model_of([helper.make_node("Choose", ["x"], ["y"], domain="own", slope=0.125)], [choose]), leaky(X, 0.125))


def test_an_older_opset_inside():
    """Its Unsqueeze has its axes as an attribute."""
    nodes = [helper.make_node("Unsqueeze", ["a"], ["b"], axes=[0])]
    old = function("Old", ["a"], ["b"], nodes, opsets=[helper.make_opsetid("", 11)])
    check(model_of([helper.make_node("Old", ["x"], ["y"], domain="own")], [old]), X[None])


def test_a_function_of_the_standard_in_one_of_the_model():
    """Its sizes are symbolic."""
    nodes = [helper.make_node("MeanVarianceNormalization", ["a"], ["b"], axes=[1])]
    model = model_of([helper.make_node("Mvn", ["x"], ["y"], domain="own")], [function("Mvn", ["a"], ["b"], nodes)])
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "N"
    check(model, (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([helper.make_node("Round", ["x"], ["b"], domain="own")], "'Round_0/Round_0': it is in the function that it"),
        ([helper.make_node("Unheard", ["x"], ["b"], domain="own")], "own.Unheard 'Round_0/Unheard_0' of (3x4xf32)"),
        ([helper.make_node("Softmax", ["x"], ["b"], axis=7)], "Softmax 'Round_0/Softmax_0'"),
        ([helper.make_node("Abs", ["q"], ["b"])], "'Round_0/Abs_0' (Abs) reads 'q', which nothing in the graph makes"),
    ],
    ids=["recursion", "unsupported", "wrong", "undefined"],
)
def test_refusals_say_where(nodes, message):
    model = model_of(
        [helper.make_node("Round", ["x"], ["y"], domain="own")], [function("Round", ["x"], ["b"], nodes, opsets=BOTH)]
    )
    with pytest.raises(TileworkError) as error:
        import_onnx(model)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [(["x", "x"], ["y"], "has 2 inputs, the function 1"), (["x"], ["y", "z"], "has 2 outputs, the function 1")],
    ids=["inputs", "outputs"],
)
def test_more_than_the_function_has(inputs, outputs, message):
    one = function("One", ["a"], ["b"], [helper.make_node("Abs", ["a"], ["b"])])
    with pytest.raises(TileworkError, match=message):
        import_onnx(model_of([helper.make_node("One", inputs, outputs, domain="own")], [one]))


def test_an_opset_inside_that_there_is_not():
    new = function("New", ["a"], ["b"], [helper.make_node("Abs", ["a"], ["b"])], opsets=[helper.make_opsetid("", 99)])
    with pytest.raises(TileworkError, match="function New uses opset 99"):
        import_onnx(model_of([helper.make_node("New", ["x"], ["y"], domain="own")], [new]))


def test_an_output_that_is_not_made_is_of_a_call():
    lost = function("Lost", ["a"], ["q"], [helper.make_node("Abs", ["a"], ["b"])])
    with pytest.raises(TileworkError, match="^Lost 'Lost_0': nothing in the graph makes its output 'q'"):
        import_onnx(model_of([helper.make_node("Lost", ["x"], ["y"], domain="own")], [lost]))


def test_functions_that_are_too_deep():
    """None of them calls itself."""
    deep = [
        function(f"F{i}", ["a"], ["b"], [helper.make_node(f"F{i + 1}", ["a"], ["b"], domain="own")], opsets=BOTH)
        for i in range(300)
    ]
    with pytest.raises(TileworkError, match="it is in 40 functions that call each other"):
        import_onnx(model_of([helper.make_node("F0", ["x"], ["y"], domain="own")], deep))


def test_attention_whose_mask_and_past_are_of_open_length():
    """A step of a decoder. That both lengths fit is asked when it is called."""
    dims = {"q": [1, 2, 1, 8], "k": [1, 2, 1, 8], "v": [1, 2, 1, 8], "m": [1, "T"], "pk": [1, 2, "P", 8]}
    dims["pv"] = dims["pk"]
    graph = helper.make_graph(
        [helper.make_node("Attention", ["q", "k", "v", "m", "pk", "pv"], ["y", "nk", "nv"])],
        "step",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in dims.items()],
        [helper.make_empty_tensor_value_info(name) for name in ("y", "nk", "nv")],
    )
    module = tw.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11))
    random = np.random.default_rng(0)
    for past in (3, 8):
        sizes = {"T": past + 1, "P": past}
        x = {n: random.standard_normal([sizes.get(d, d) for d in s]).astype(np.float32) for n, s in dims.items()}
        k, v = (np.concatenate([x[old], x[new]], 2) for old, new in (("pk", "k"), ("pv", "v")))
        scores = np.exp(x["q"] @ k.swapaxes(2, 3) / np.sqrt(8) + x["m"])
        found = module.run(x)
        np.testing.assert_allclose(found["y"], scores / scores.sum(-1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(found["nk"], k)
