"""ONNX models that run for some sizes only: two have to be equal, or a number has to divide one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import Sizes, check_sizes, graph, model, node, numbers

from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


Inputs = Mapping[str, Sequence[int | str]]


def made(inputs: Inputs, *nodes: onnx.NodeProto, opset: int = 18, **constants: Any) -> onnx.ModelProto:
    return model(nodes, inputs, "y", {k: np.asarray(v) for k, v in constants.items()}, opset=opset)


def of_x(dims: Sequence[int | str], *nodes: onnx.NodeProto, opset: int = 18, **constants: Any) -> onnx.ModelProto:
    return made({"x": dims}, *nodes, opset=opset, **constants)


def sizes(names: str, *values: Sequence[int]) -> list[Sizes]:
    return [dict(zip(names.split(), each, strict=True)) for each in values]


# ---- A size that is divided -----------------------------------------------------------------------------------------

RESHAPES = {
    "what is left": (
        of_x(["n", 8], node("Reshape", "x s", "y"), s=[-1, 16]),
        sizes("n", [2], [6], [0], [34]),
        (sizes("n", [3])[0], "-1 cannot be computed: 16 does not divide 8 .* n .*n = 3 is dimension 0 of input 'x'"),
    ),
    "products of symbols": (
        of_x(["b4", "t"], node("Reshape", "x s", "y"), s=[4, -1, 3]),
        sizes("b4 t", [4, 3], [8, 6], [12, 5], [1, 12], [2, 6], [0, 7]),
        (sizes("b4 t", [4, 5])[0], r"12 does not divide b4 .* t \(b4 = 4 .*, t = 5 .*\)"),
    ),
    "products between kernels": (
        of_x(["b4", "t"], node("Exp", "x", "e"), node("Reshape", "e s", "r"), node("Neg", "r", "y"), s=[4, -1, 3]),
        sizes("b4 t", [4, 3], [12, 5], [1, 12], [0, 1]),
        (sizes("b4 t", [4, 1])[0], "12 does not divide"),
    ),
    "a product taken apart by a size that is known": (
        made(
            {"x": ["m", 8], "z": ["b", "t"]},
            node("Shape", "z", "bt"),
            node("Concat", "bt last", "s", axis=0),
            node("Reshape", "x s", "y"),
            last=[8],
        ),
        sizes("m b t", [6, 2, 3], [6, 1, 6], [7, 7, 1], [0, 0, 5]),
        (sizes("m b t", [6, 2, 2])[0], r"it cannot reshape \[m, 8\] into \[b, t, 8\].*b = 2.*t = 2.*m = 6"),
    ),
    "flattened and taken apart again": (
        of_x(
            ["b", "t", 8],
            node("Shape", "x", "sx"),
            node("Reshape", "x flat", "f"),
            node("MatMul", "f w", "m"),
            node("Slice", "sx zero two", "bt"),
            node("Concat", "bt left", "s", axis=0),
            node("Reshape", "m s", "y"),
            flat=[-1, 8],
            left=[-1],
            zero=[0],
            two=[2],
            w=numbers(8, 5),
        ),
        sizes("b t", [2, 3], [1, 1], [7, 5]),
        None,
    ),
    "heads": (
        of_x(
            ["b", "t", "d"],
            node("Reshape", "x s", "r"),
            node("Transpose", "r", "p", perm=[0, 2, 1, 3]),
            node("Softmax", "p", "y"),
            s=[0, 0, 4, -1],
        ),
        sizes("b t d", [2, 3, 8], [1, 1, 4], [2, 5, 20]),
        (sizes("b t d", [2, 3, 10])[0], "-1 cannot be computed: .* divide .*d = 10 is dimension 2 of input 'x'"),
    ),
    "blocks into depth": (
        of_x([1, 2, "h", "w"], node("SpaceToDepth", "x", "y", blocksize=2)),
        sizes("h w", [4, 6], [2, 2], [0, 2]),
        (sizes("h w", [4, 5])[0], "the width, w, is no multiple of 2 .*w = 5"),
    ),
    "depth into blocks": (
        of_x(["n", "c", 3, "w"], node("DepthToSpace", "x", "y", blocksize=2, mode="CRD")),
        sizes("n c w", [1, 8, 5], [2, 4, 1], [3, 12, 2]),
        (sizes("n c w", [1, 6, 5])[0], "the number of channels, c, is no multiple of 4 .*c = 6"),
    ),
    "groups of channels": (
        of_x(
            ["n", "c", 5],
            node("GroupNormalization", "x ones zeros", "y", num_groups=2),
            opset=21,
            ones=np.ones(6, np.float32),
            zeros=np.zeros(6, np.float32),
        ),
        sizes("n c", [1, 6], [3, 6]),
        (sizes("n c", [1, 4])[0], "dimension 1 must be 6; .* 'GroupNormalization_0.*' needs c to be 6"),
    ),
}


@pytest.mark.parametrize("name", RESHAPES)
def test_sizes_that_are_divided(name: str, cache: KernelCache):
    network, fitting, refused = RESHAPES[name]
    check_sizes(network, cache, fitting, [] if refused is None else [refused])


def windows_of_seven() -> tuple[list[onnx.NodeProto], dict[str, Any]]:
    """What exporters write for images that are cut into windows of 7 x 7 pixels, and put together again."""
    names = ["b", "h", "w", "c"]
    nodes = [node("Shape", "x", "shape")]
    for axis, name in enumerate(names):
        nodes += [node("Gather", f"shape at{axis}", name), node("Unsqueeze", f"{name} front", f"{name}1")]
    for name in "hw":
        nodes += [node("Div", f"{name} seven", f"{name}7"), node("Unsqueeze", f"{name}7 front", f"{name}71")]
    nodes += [
        node("Concat", "b1 h71 seven1 w71 seven1 c1", "apart", axis=0),
        node("Reshape", "x apart", "blocks"),
        node("Transpose", "blocks", "windows", perm=[0, 1, 3, 2, 4, 5]),
        node("Concat", "rest seven1 seven1 c1", "batch", axis=0),
        node("Reshape", "windows batch", "each"),
        node("MatMul", "each weight", "mixed"),
        node("Concat", "b1 h71 w71 seven1 seven1 rest", "together", axis=0),
        node("Reshape", "mixed together", "back"),
        node("Transpose", "back", "rows", perm=[0, 1, 3, 2, 4, 5]),
        node("Concat", "b1 h1 w1 rest", "image", axis=0),
        node("Reshape", "rows image", "whole"),
        node("Add", "whole x", "y"),
    ]
    constants = {f"at{axis}": np.array(axis) for axis in range(4)}
    return nodes, {
        **constants,
        "front": np.array([0]),
        "seven": np.array(7),
        "seven1": np.array([7]),
        "rest": np.array([-1]),
        "weight": numbers(6, 6),
    }


def test_images_in_windows(cache: KernelCache):
    nodes, constants = windows_of_seven()
    network = model(nodes, {"x": ["b", "h", "w", 6]}, "y", constants)
    fitting = sizes("b h w", [1, 7, 7], [2, 14, 21], [1, 56, 7], [3, 7, 14])
    message = r"it cannot reshape \[b, h, w, 6\] into .* another number of elements \(.*h = 8 is dimension 1 of input"
    check_sizes(network, cache, fitting, [(sizes("b h w", [1, 8, 7])[0], message)])


# ---- Parts ----------------------------------------------------------------------------------------------------------


def halves(*nodes: onnx.NodeProto, **attributes: Any) -> onnx.ModelProto:
    return of_x(["n", 3], node("Split", "x", "a b", axis=0, **attributes), *nodes)


PARTS = {
    "equal parts that are added": (
        halves(node("Sub", "a b", "y"), num_outputs=2),
        sizes("n", [2], [6], [14]),
        (sizes("n", [5])[0], "n = 5 is dimension 0 of input 'x'"),
    ),
    "the last part may be smaller": (
        halves(node("Concat", "b a", "y", axis=0), num_outputs=2),
        sizes("n", [2], [5], [7], [1]),
        None,
    ),
    "without a number of parts": (
        model([node("Split", "x", "a b c", axis=1), node("Max", "c a b", "y")], {"x": [2, "n"]}, "y", opset=13),
        sizes("n", [3], [9], [0]),
        (sizes("n", [4])[0], "it makes 3 equal parts of an axis of size n .*n = 4 is dimension 1 of input 'x'"),
    ),
    "parts of sizes that are said": (
        of_x([2, "n"], node("Split", "x parts", "a b", axis=1), node("Concat", "b a", "y", axis=1), parts=[2, 3]),
        sizes("n", [5]),
        (sizes("n", [6])[0], "dimension 1 must be 5; Split 'Split_0' needs n to be 5"),
    ),
    "a part that is left": (
        of_x(
            ["n", 3],
            node("Shape", "x", "s", end=1),
            node("Sub", "s two", "left"),
            node("Concat", "two left", "parts", axis=0),
            node("Split", "x parts", "a b", axis=0),
            node("Concat", "b a", "y", axis=0),
            two=[2],
        ),
        sizes("n", [2], [3], [9]),
        (sizes("n", [1])[0], "n = 1 is dimension 0 of input 'x'"),
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_an_axis(name: str, cache: KernelCache):
    network, fitting, refused = PARTS[name]
    check_sizes(network, cache, fitting, [] if refused is None else [refused])


# ---- Sizes that are equal -------------------------------------------------------------------------------------------

OVER_TWO = node(
    "Scan",
    "a b",
    "y",
    num_scan_inputs=2,
    body=graph([node("Sub", "a b", "d")], {"a": [2], "b": [2]}, "d"),
)

OF_DATA = [
    node("ReduceSum", "a", "sum", keepdims=0),
    node("Greater", "sum nothing", "c"),
    node(
        "If",
        "c",
        "y",
        then_branch=graph([node("Neg", "a", "n")], {}, "n"),
        else_branch=graph([node("Exp", "b", "e")], {}, "e"),
    ),
]

EQUAL = {
    "Einsum": made({"a": [3, "p"], "b": ["q", 2]}, node("Einsum", "a b", "y", equation="ij,jk->ik")),
    "MatMul": made({"a": [3, "p"], "b": ["q", 2]}, node("MatMul", "a b", "y")),
    "Gemm": made({"a": ["p", 3], "b": ["q", 2]}, node("Gemm", "a b", "y", transA=1)),
    "Concat": made({"a": ["p", 3], "b": ["q", 5]}, node("Concat", "a b", "y", axis=1)),
    "Conv": made({"x": [1, "p", 6], "w": [4, "q", 3]}, node("Conv", "x w", "y")),
    "ConvTranspose": made({"x": [1, "p", 6], "w": ["q", 4, 3]}, node("ConvTranspose", "x w", "y")),
    "InstanceNormalization": made({"x": [2, "p", 3], "s": ["q"]}, node("InstanceNormalization", "x s s", "y")),
    "Scan": made({"a": ["p", 2], "b": ["q", 2]}, OVER_TWO),
    "If": made({"a": ["p", 2], "b": ["q", 2]}, *OF_DATA, nothing=np.float32(0)),
    "ScatterElements": made({"x": [3, 20], "i": [2, "p"], "u": [2, "q"]}, node("ScatterElements", "x i u", "y")),
    "ScatterND": made({"x": [3, "p"], "i": [2, 1], "u": [2, "q"]}, node("ScatterND", "x i u", "y")),
    "GridSample": made({"x": ["p", 2, 4, 5], "g": ["q", 3, 3, 2]}, node("GridSample", "x g", "y")),
    "GRU": made(
        {"x": [3, "p", 2], "h": [1, "q", 4]},
        node("GRU", "x w r   h", "y", hidden_size=4),
        w=numbers(1, 12, 2),
        r=numbers(1, 12, 4),
    ),
    "ReverseSequence": made({"x": [3, "p", 2], "i": ["q"]}, node("ReverseSequence", "x i", "y")),
    "Reshape": made({"a": ["p", 3], "b": ["q", 3]}, node("Shape", "b", "s"), node("Reshape", "a s", "y")),
}


FILTERS = made({"x": [1, 4, 6], "w": ["m", 2, 3], "b": ["k"]}, node("Conv", "x w b", "y", group=2))


def test_filters_that_the_caller_gives(cache: KernelCache):
    """So many that the groups have as many each, and a bias for each."""
    refused = [
        ({"m": 5, "k": 5}, r"the m filters of conv 'Conv_0' do not divide into 2 groups \(m = 5 is dimension 0 of"),
        ({"m": 6, "k": 1}, "Conv 'Conv_0' needs k to be m"),
    ]
    check_sizes(FILTERS, cache, sizes("m k", [2, 2], [6, 6]), refused)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_windows_of_weights_that_the_caller_gives(op: str, cache: KernelCache):
    """The attribute says how large they are."""
    network = made({"x": [1, 4, 6], "w": [4, 4, "k"]}, node(op, "x w", "y", kernel_shape=[3]))
    refused = [({"k": 4}, f"dimension 2 must be 3; {op} '{op}_0' needs k to be 3")]
    check_sizes(network, cache, sizes("k", [3]), refused)


@pytest.mark.parametrize("op", EQUAL)
def test_two_names_of_one_size(op: str, cache: KernelCache):
    """The operator is named that needs it."""
    message = rf"dimension \d of input '\w' is 4, but p is 5: p = 5 is .*; {op} '{op}_\d' needs q to be p"
    check_sizes(EQUAL[op], cache, sizes("p q", [5, 5], [1, 1], [17, 17]), [({"p": 5, "q": 4}, message)])


LOOP = node(
    "Scan",
    "s xs",
    "end y",
    num_scan_inputs=1,
    body=graph([node("Add", "s x", "n"), node("Mul", "n n", "o")], {"s": ["p"], "x": ["q"]}, "n o"),
)

NOT_LESS = {
    "Gemm": made({"a": ["p", 3], "b": [3, 4], "d": ["q", 4]}, node("Gemm", "a b d", "y")),
    "LayerNormalization": made({"a": [3, "p"], "d": ["q"]}, node("LayerNormalization", "a d", "y")),
    "Scan": made({"s": ["p"], "xs": [3, "q"]}, LOOP),
}


@pytest.mark.parametrize("op", NOT_LESS)
def test_a_size_that_is_repeated_at_most(op: str, cache: KernelCache):
    """What is added to rows, or to a state, may be of one element; it does not make more of what there is."""
    refused = [({"p": 5, "q": 4}, f"'{op}_0'|'Add_0' takes .* q = 4"), ({"p": 1, "q": 5}, f"'{op}_0'.* q = 5")]
    check_sizes(NOT_LESS[op], cache, sizes("p q", [5, 5], [1, 1], [5, 1]), refused)
