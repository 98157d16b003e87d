"""Models whose sizes are known at run time only: any choice of symbolic dimensions compiles, and computes the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target

onnxruntime = pytest.importorskip("onnxruntime")

Array = np.ndarray[Any, Any]
Node = tuple[str, dict[str, Any]]

SIZES = {"N": (1, 3), "H": (7, 14), "W": (9, 8)}
"""The values that each symbol takes, the first and the second time that a module is run."""
RANDOM_MODELS = 12
TARGETS = ["llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"]
REST = (1, 3, 8, 17, 64)
"""One element, fewer than a tile, whole tiles, and some with a rest: of what is along a symbolic axis."""


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
    inputs: Mapping[str, Sequence[int | str]],
    output: str,
    weights: Sequence[onnx.TensorProto] = (),
    opset: int = 13,
) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in inputs.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_empty_tensor_value_info(output)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(
    made: onnx.ModelProto,
    cache: KernelCache,
    random: np.random.Generator,
    sizes: dict[str, tuple[int, ...]],
    target: str = "llvm",
) -> None:
    """Compile once, then compare with onnxruntime at each choice of the sizes."""
    module = tw.compile(made, target, cache=cache, processes=1)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for time in range(min(map(len, sizes.values()))):
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


def dense_model(random: np.random.Generator, columns: int) -> onnx.ModelProto:
    weights = {"w": random.standard_normal((32, columns)), "b": random.standard_normal(columns)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["t0"]),
        helper.make_node("Add", ["t0", "b"], ["t1"]),
        helper.make_node("Relu", ["t1"], ["y"]),
    ]
    return model(nodes, {"x": ["B", 32]}, "y", constants(weights))


def attention_model(random: np.random.Generator) -> onnx.ModelProto:
    """Queries by keys and a softmax of them by values, whose numbers are symbols of their own."""
    weights = {"scale": np.array(0.25)}
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["t0"]),
        helper.make_node("Mul", ["t0", "scale"], ["t1"]),
        helper.make_node("Softmax", ["t1"], ["t2"], axis=-1),
        helper.make_node("MatMul", ["t2", "v"], ["y"]),
    ]
    inputs = {"q": [2, "B", 16], "k": [2, 16, "T"], "v": [2, "T", 16]}
    return model(nodes, inputs, "y", constants(weights))


def products_model(random: np.random.Generator) -> onnx.ModelProto:
    """The two products of attention alone; keys are transposed."""
    nodes = [
        helper.make_node("Transpose", ["k"], ["t0"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t0"], ["t1"]),
        helper.make_node("MatMul", ["t1", "v"], ["y"]),
    ]
    return model(nodes, {"q": [2, "B", 16], "k": [2, "T", 16], "v": [2, "T", 16]}, "y")


def softmax_model(random: np.random.Generator) -> onnx.ModelProto:
    return model([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], {"x": [4, "B", "B"]}, "y")


def layer_norm_model(random: np.random.Generator) -> onnx.ModelProto:
    weights = {"gain": random.standard_normal(48), "bias": random.standard_normal(48)}
    node = helper.make_node("LayerNormalization", ["x", "gain", "bias"], ["y"], axis=-1)
    return model([node], {"x": ["B", "T", 48]}, "y", constants(weights), opset=17)


def mean_model(random: np.random.Generator, axis: int) -> onnx.ModelProto:
    return model([helper.make_node("ReduceMean", ["x"], ["y"], axes=[axis], keepdims=0)], {"x": [3, "B", "T"]}, "y")


def signal_model(random: np.random.Generator, filters: int) -> onnx.ModelProto:
    """Windows of three that move by two, over signals of unknown length."""
    weights = {"w": random.standard_normal((filters, 8, 3)), "b": random.standard_normal(filters)}
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=[2], pads=[1, 1])
    return model([node], {"x": [1, 8, "B"]}, "y", constants(weights))


def points_model(random: np.random.Generator) -> onnx.ModelProto:
    """A convolution of single points, of any number of images."""
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    return model([node], {"x": ["B", 16, 6, 7]}, "y", constants({"w": random.standard_normal((24, 16, 1, 1))}))


def constants(weights: dict[str, Array]) -> list[TensorProto]:
    return [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]


MODELS: dict[str, Callable[[np.random.Generator], onnx.ModelProto]] = {
    "dense of 10": lambda random: dense_model(random, 10),
    "dense of 64": lambda random: dense_model(random, 64),
    "dense of 100": lambda random: dense_model(random, 100),
    "attention": attention_model,
    "products": products_model,
    "softmax": softmax_model,
    "layer norm": layer_norm_model,
    "mean of rows": lambda random: mean_model(random, 2),
    "mean of columns": lambda random: mean_model(random, 1),
    "signal to 24": lambda random: signal_model(random, 24),
    "signal to 26": lambda random: signal_model(random, 26),
    "points": points_model,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", MODELS)
def test_tiles_of_unknown_sizes_leave_any_rest(name: str, target: str, cache: KernelCache):
    """One module for sizes that leave no rest, a rest, one element, and fewer than a tile."""
    if missing := parse_target(target).missing_features(host_target()):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    random = np.random.default_rng(0)
    check(MODELS[name](random), cache, random, {"B": REST, "T": (*REST[2:], *REST[:2])}, target)
