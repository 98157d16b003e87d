"""Models whose sizes are known at run time only: any choice of symbolic dimensions compiles, and computes the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilework as tw
from tilework.backends.cache import KernelCache

onnxruntime = pytest.importorskip("onnxruntime")

Array = np.ndarray[Any, Any]
Node = tuple[str, dict[str, Any]]

SIZES = {"N": (1, 3), "H": (7, 14), "W": (9, 8)}
"""The values that each symbol takes, the first and the second time that a module is run."""
RANDOM_MODELS = 12


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def image_model(dims: Sequence[int | str], nodes: Sequence[Node], random: np.random.Generator) -> onnx.ModelProto:
    """A chain of nodes on images of four channels, which all of them keep; weights are random."""
    made: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    for i, (op, attributes) in enumerate(nodes):
        shapes = weight_shapes(op, attributes)
        names = [f"w{i}_{j}" for j in range(len(shapes))]
        weights += [
            numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
            for name, shape in zip(names, shapes, strict=True)
        ]
        attributes = {k: v for k, v in attributes.items() if (op, k) != ("Conv", "kernel_shape")}
        made.append(helper.make_node(op, [f"t{i}", *names], [f"t{i + 1}"], **attributes))
    return model(made, {"t0": dims}, f"t{len(nodes)}", weights)


def weight_shapes(op: str, attributes: dict[str, Any]) -> list[tuple[int, ...]]:
    match op:
        case "Conv":
            return [(4, 4 // attributes["group"], *attributes["kernel_shape"])]
        case "InstanceNormalization":
            return [(4,), (4,)]
        case _:
            return []


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str]],
    output: str,
    weights: Sequence[onnx.TensorProto] = (),
) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in inputs.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_empty_tensor_value_info(output)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def check(made: onnx.ModelProto, cache: KernelCache, random: np.random.Generator, sizes: dict[str, Any]) -> None:
    """Compile once, then compare with onnxruntime at two choices of the sizes."""
    module = tw.compile(made, cache=cache, processes=1)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for time in (0, 1):
        feeds = {
            i.name: random.standard_normal(
                [sizes[d.dim_param][time] if d.dim_param else d.dim_value for d in i.type.tensor_type.shape.dim]
            ).astype(np.float32)
            for i in made.graph.input
        }
        ((name, got),) = module.run(feeds).items()
        (wanted,) = session.run([name], feeds)
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)


CONV: Node = ("Conv", {"kernel_shape": [3, 3], "group": 1, "strides": [2, 2]})
POOL: Node = ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})
PADDED: Node = ("Conv", {"kernel_shape": [3, 3], "group": 1, "pads": [1, 1, 1, 1]})


@pytest.mark.parametrize(
    "dims", [("N", 4, "H", "W"), (1, 4, "H", "W"), (2, 4, "H", "W"), (1, 4, 14, "W"), (1, 4, "H", 9)], ids=str
)
@pytest.mark.parametrize(
    "nodes", [[CONV], [POOL], [PADDED, ("Relu", {}), POOL, CONV]], ids=lambda nodes: "-".join(op for op, _ in nodes)
)
def test_strides_over_symbolic_images(dims, nodes, cache):
    random = np.random.default_rng(0)
    check(image_model(dims, nodes, random), cache, random, SIZES)


def random_node(random: np.random.Generator) -> Node:
    """A node that takes images of any size from 1 x 1 and makes such images."""

    def pick(*values: int) -> int:
        return int(random.choice(values))

    kernel = [pick(1, 2, 3), pick(1, 2, 3)]
    pads = [k // 2 for k in kernel] * 2
    window = {"kernel_shape": kernel, "strides": [pick(1, 2), pick(1, 2, 3)], "pads": pads}
    match random.choice(["conv", "max", "average", "norm", "relu", "softmax", "lrn"]):
        case "conv":
            return "Conv", window | {"group": pick(1, 2, 4)}
        case "max":
            return "MaxPool", window
        case "average":
            return "AveragePool", window | {"count_include_pad": pick(0, 1)}
        case "norm":
            return "InstanceNormalization", {}
        case "softmax":
            return "Softmax", {"axis": pick(-1, 1, 2)}
        case "lrn":
            return "LRN", {"size": 3}
        case _:
            return "Relu", {}


@pytest.mark.parametrize("seed", range(RANDOM_MODELS))
def test_random_image_models(seed, cache):
    random = np.random.default_rng(seed)
    dims = [d[int(random.integers(2))] for d in ((1, "N"), (4, 4), (14, "H"), (9, "W"))]
    nodes = [random_node(random) for _ in range(3)]
    check(image_model(dims, nodes, random), cache, random, SIZES)


@pytest.mark.parametrize("seed", range(RANDOM_MODELS))
def test_random_products(seed, cache):
    """MatMul of stacks of matrices; what is left of the sizes is fixed."""
    random = np.random.default_rng(seed)
    sizes = {"B": (2, 1), "M": (5, 33), "K": (17, 4), "N": (3, 40)}
    batch, m, k, n = (name if random.integers(2) else first for name, (first, _) in sizes.items())
    stacked = bool(random.integers(2))
    inputs = {"a": [batch, m, k], "b": [batch, k, n] if stacked else [k, n]}
    check(model([helper.make_node("MatMul", ["a", "b"], ["y"])], inputs, "y"), cache, random, sizes)
