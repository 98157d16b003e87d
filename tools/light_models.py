"""Nine well-known image networks with weights that prove something: the graphs of the onnx wheel, weights of our own.

The wheel's "light" models keep their graphs small by making weights from `ConstantOfShape`, one constant a tensor, so
that every output is constant and any wrong compiler passes. `load_light_model` puts seeded random weights there, scaled
so that values stay near 1 from the image to the scores; an independent runtime then says what is right.

    python -m tilework.tools.light_models          # all nine: do the scores mean something?
"""

from __future__ import annotations

import math
import sys
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper, shape_inference

from tilework.dialects.support.diagnostics import UsageError

LIGHT_MODELS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)

Array = NDArray[np.float32]


def load_light_model(name: str, seed: int = 0) -> onnx.ModelProto:
    """The graph of that name (one of `LIGHT_MODELS`) with random weights as initializers; `seed` decides them all.

    The few trained tensors that the wheel's file does hold are replaced too: they do not fit random neighbours.
    """
    if name not in LIGHT_MODELS:
        raise UsageError(f"there is no light model {name!r}; there are {', '.join(LIGHT_MODELS)}")
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    model = onnx.ModelProto.FromString(light.read_bytes())
    weights = _random_weights(model.graph, seed)
    _replace_parameters(model.graph, weights)
    return model


def random_feeds(model: onnx.ModelProto, seed: int = 0) -> dict[str, Array]:
    """A standard normal tensor for every input of the model."""
    shapes = {value.name: _shape(value) for value in model.graph.input}
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shapes[name], np.float32) for name in _inputs(model.graph)}


# ---- Weights ---------------------------------------------------------------------------------------------------------

RESHAPING = {"Reshape", "Unsqueeze"}
"""Operators through which a parameter may pass before it is used."""

VECTORS: dict[tuple[str, int], tuple[float, float]] = {
    ("Conv", 2): (-0.1, 0.1),
    ("Gemm", 2): (-0.1, 0.1),
    ("BatchNormalization", 1): (0.8, 1.2),
    ("BatchNormalization", 2): (-0.1, 0.1),
    ("BatchNormalization", 3): (-0.1, 0.1),
    ("BatchNormalization", 4): (0.5, 1.5),
    ("Mul", 1): (0.8, 1.2),
    ("Add", 1): (-0.1, 0.1),
}
"""Between what bounds a parameter lies that is operand i of an operator: scales near 1, biases and means near 0."""


def _random_weights(graph: onnx.GraphProto, seed: int) -> dict[str, Array]:
    """A value for every parameter, in one walk that also estimates how large the values it meets are."""
    producers = {output: node for node in graph.node for output in node.output}
    shapes = _parameter_shapes(graph)
    moments = {name: Moments() for name in _inputs(graph)}
    weights: dict[str, Array] = {}
    for node in graph.node:
        for operand, used in enumerate(node.input):
            name = _origin(used, producers)
            if node.op_type in RESHAPING or name not in shapes:
                continue
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            if (node.op_type, operand) in VECTORS:
                weights[name] = rng.uniform(*VECTORS[node.op_type, operand], shapes[name]).astype(np.float32)
            else:
                weights[name] = _matrix(rng, node, shapes[name], moments[node.input[0]].mean_square)
        if node.input[0] in moments:
            moments[node.output[0]] = _moments(node, [moments[name] for name in node.input if name in moments])
    return weights


def _parameter_shapes(graph: onnx.GraphProto) -> dict[str, tuple[int, ...]]:
    """Every floating-point parameter, be it an initializer or the result of a `ConstantOfShape`."""
    initializers = {initializer.name: initializer for initializer in graph.initializer}
    shapes = {name: tuple(tensor.dims) for name, tensor in initializers.items() if tensor.data_type == tensor.FLOAT}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shapes[node.output[0]] = tuple(numpy_helper.to_array(initializers[node.input[0]]).tolist())
    return shapes


def _origin(name: str, producers: Mapping[str, onnx.NodeProto]) -> str:
    """The tensor that `name` is a reshaped form of: a parameter, or anything else."""
    while name in producers and producers[name].op_type in RESHAPING:
        name = producers[name].input[0]
    return name


def _matrix(rng: np.random.Generator, user: onnx.NodeProto, shape: tuple[int, ...], mean_square: float) -> Array:
    """Normal weights for which inputs of that mean square give outputs of mean square 1 (He et al. 2015)."""
    match user.op_type:
        case "Conv":
            terms = math.prod(shape[1:])
        case "Gemm" if _attribute(user, "transB", 0) == 1:
            terms = shape[-1]
        case other:
            raise NotImplementedError(f"a parameter of shape {shape} used by {other} {user.name!r}")
    return rng.standard_normal(shape, np.float32) * np.float32(1 / math.sqrt(terms * mean_square))


class Moments(NamedTuple):
    """What is estimated of a tensor's values. It needs no precision, only not to drift over a hundred layers."""

    mean: float = 0.0
    variance: float = 1.0

    @property
    def mean_square(self) -> float:
        return self.mean**2 + self.variance


def _moments(node: onnx.NodeProto, inputs: list[Moments]) -> Moments:
    """The moments of a node's result, if its inputs are independent and normal."""
    match node.op_type:
        case "Conv" | "Gemm":
            return Moments()
        case "BatchNormalization":
            return _times(inputs[0], math.log(3))  # the mean of 1/variance over the variances of VECTORS
        case "Relu":
            return _above_zero(inputs[0])
        case "MaxPool":
            # Neighbours in an image resemble each other: a window is worth as many values as its edge is long.
            return _largest(inputs[0], _attribute(node, "kernel_shape", [])[0])
        case "LRN":
            return _times(inputs[0], _attribute(node, "bias", 1.0) ** (-2 * _attribute(node, "beta", 0.75)))
        case "Sum":
            return Moments(sum(m.mean for m in inputs), sum(m.variance for m in inputs))
        case "Concat":
            mean = sum(m.mean for m in inputs) / len(inputs)
            return Moments(mean, sum(m.mean_square for m in inputs) / len(inputs) - mean**2)
        case _:
            return inputs[0]


def _times(values: Moments, square: float) -> Moments:
    """Moments of the values times a factor with that square."""
    return Moments(values.mean * math.sqrt(square), values.variance * square)


def _above_zero(values: Moments) -> Moments:
    """The moments of max(x, 0) for a normal x."""
    deviation = math.sqrt(values.variance)
    ratio = values.mean / deviation
    chance = (1 + math.erf(ratio / math.sqrt(2))) / 2
    density = math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    mean = values.mean * chance + deviation * density
    return Moments(mean, values.mean_square * chance + values.mean * deviation * density - mean**2)


def _largest(values: Moments, count: int) -> Moments:
    """Moments of the largest of `count` values."""
    sample = np.random.default_rng(0).standard_normal((10_000, count)).max(axis=1)
    deviation = math.sqrt(values.variance)
    return Moments(values.mean + deviation * float(sample.mean()), values.variance * float(sample.var()))


def _attribute(node: onnx.NodeProto, name: str, default: Any) -> Any:
    """A node's attribute, or what the ONNX standard says where it is absent."""
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def _replace_parameters(graph: onnx.GraphProto, weights: Mapping[str, Array]) -> None:
    """Make `weights` the graph's only floating-point initializers and forget whatever nobody reads any more."""
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    read = {name for node in nodes for name in node.input}
    old = {initializer.name for initializer in graph.initializer}
    kept = [tensor for tensor in graph.initializer if tensor.name in read and tensor.name not in weights]
    inputs = [value for value in graph.input if value.name not in old]
    _assign(graph.node, nodes)
    _assign(graph.initializer, [*kept, *(numpy_helper.from_array(array, name) for name, array in weights.items())])
    # In ONNX files of this age (IR 3), an initializer is also an input.
    parameters = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in graph.initializer]
    _assign(graph.input, [*inputs, *parameters])


def _assign(field: Any, values: list[Any]) -> None:
    """`field[:] = values`, which protobuf does not offer."""
    del field[:]
    field.extend(values)


# ---- What to look at -------------------------------------------------------------------------------------------------


def stage_tensors(model: onnx.ModelProto) -> list[str]:
    """The scores (before a final softmax), and before them one tensor a stage: the first that is about to shrink.

    A stage is what happens at one height and width. Comparing these tells at which depth a result goes wrong.
    """
    shapes = _inferred_shapes(model.graph)
    parameters = {initializer.name for initializer in model.graph.initializer}
    stages: dict[tuple[int, ...], str] = {}
    for node in model.graph.node:
        image = node.input[0]
        before, after = shapes[image], shapes[node.output[0]]
        # What becomes rank 5 is a channel shuffle on its way.
        if image in parameters or len(before) != 4 or len(after) == 5 or before[2:] == after[2:]:
            continue
        stages.setdefault(before[2:], image)
    scores = _scores(model)
    return [*(name for name in stages.values() if name not in (scores, *_inputs(model.graph))), scores]


def with_outputs(model: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    """The same model with these tensors as further outputs."""
    shapes = _inferred_shapes(model.graph)
    result = onnx.ModelProto()
    result.CopyFrom(model)
    present = {value.name for value in result.graph.output}
    for name in names:
        if name not in shapes:
            raise UsageError(f"the graph {model.graph.name!r} has no tensor {name!r}")
        if name not in present:
            result.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shapes[name]))
    return result


def _scores(model: onnx.ModelProto) -> str:
    """The model's output, or what a softmax makes it from."""
    output = model.graph.output[0].name
    last = next(node for node in model.graph.node if output in node.output)
    return last.input[0] if last.op_type == "Softmax" else output


def _inputs(graph: onnx.GraphProto) -> list[str]:
    parameters = {initializer.name for initializer in graph.initializer}
    return [value.name for value in graph.input if value.name not in parameters]


def _shape(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)


def _inferred_shapes(graph: onnx.GraphProto) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor. The inference copies what it is given, so it gets no weights (they are inputs too)."""
    operands_of_reshape = [tensor for tensor in graph.initializer if tensor.data_type == tensor.INT64]
    skeleton = helper.make_graph(graph.node, graph.name, graph.input, graph.output, operands_of_reshape)
    model = helper.make_model(skeleton, opset_imports=[helper.make_opsetid("", 9)], ir_version=3)
    inferred = shape_inference.infer_shapes(model).graph
    return {value.name: _shape(value) for value in (*inferred.input, *inferred.value_info, *inferred.output)}


# ---- What is right ---------------------------------------------------------------------------------------------------


def reference(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Every output of the model by name, from onnxruntime where it is installed, else (slowly) from onnx itself."""
    names = [value.name for value in model.graph.output]
    return dict(zip(names, _evaluator(model)(None, dict(feeds)), strict=True))


def _evaluator(model: onnx.ModelProto) -> Any:
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        evaluator: Any = ReferenceEvaluator(model)
    else:
        evaluator = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return evaluator.run


class Meaning(NamedTuple):
    """What the scores are worth as a test.

    `deviation` of the scores; the `largest_share` that a softmax gives one class; by how much of `deviation` the scores
    move at most when the image is another one (`moved_by_image`), or when one filter changes its sign
    (`moved_by_filter`: the least that a filter of the first, the middle and the last matrix achieves).
    """

    deviation: float
    largest_share: float
    moved_by_image: float
    moved_by_filter: float


def measure_meaning(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> Meaning:
    """Run the model on these feeds, on others, and with a filter changed."""
    name = _scores(model)
    observed = with_outputs(model, [name])
    scores = reference(observed, feeds)[name]
    deviation = float(scores.std())
    exponentials = np.exp(scores - scores.max())

    def moved(other: Array) -> float:
        return float(np.abs(other - scores).max()) / deviation

    matrices = [tensor for tensor in observed.graph.initializer if len(tensor.dims) > 1]
    chosen = (matrices[0], matrices[len(matrices) // 2], matrices[-1])
    return Meaning(
        deviation,
        float(exponentials.max() / exponentials.sum()),
        moved(reference(observed, {key: -value for key, value in feeds.items()})[name]),
        min(moved(reference(_with_filter_negated(observed, matrix), feeds)[name]) for matrix in chosen),
    )


def assert_meaningful(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> Meaning:
    """Refuse a model on which a wrong compiler could pass: scores constant, nearly one-hot, or deaf to its operands."""
    meaning = measure_meaning(model, feeds)
    assert 0.1 < meaning.deviation < 10, f"scores deviate by {meaning.deviation:.3g}, not by something near 1"
    assert meaning.largest_share < 0.5, f"one class gets {meaning.largest_share:.1%} of the softmax"
    assert meaning.moved_by_image > 1e-2, f"another image moves the scores by {meaning.moved_by_image:.1g} deviations"
    assert meaning.moved_by_filter > 1e-3, f"a filter moves the scores by {meaning.moved_by_filter:.1g} deviations"
    return meaning


def _with_filter_negated(model: onnx.ModelProto, matrix: onnx.TensorProto) -> onnx.ModelProto:
    """The model with the matrix's first filter negated: all weights of its first output."""
    values = numpy_helper.to_array(matrix).copy()
    values.squeeze()[0] *= -1
    result = onnx.ModelProto()
    result.CopyFrom(model)
    changed = next(tensor for tensor in result.graph.initializer if tensor.name == matrix.name)
    changed.CopyFrom(numpy_helper.from_array(values, matrix.name))
    return result


def main() -> None:
    """Measure the named light models, or all of them, and time the reference."""
    print(f"{'model':14}{'stages':>8}{'std':>8}{'largest':>9}{'by image':>10}{'by filter':>11}{'ms':>8}")
    for name in sys.argv[1:] or LIGHT_MODELS:
        model = load_light_model(name)
        feeds = random_feeds(model)
        meaning = assert_meaningful(model, feeds)
        run = _evaluator(model)
        durations = [_seconds(run, feeds) for _ in range(5)]
        print(
            f"{name:14}{len(stage_tensors(model)):8}{meaning.deviation:8.3f}{meaning.largest_share:9.2%}"
            f"{meaning.moved_by_image:10.2g}{meaning.moved_by_filter:11.2g}{1000 * min(durations):8.1f}"
        )


def _seconds(run: Any, feeds: Mapping[str, Array]) -> float:
    start = time.perf_counter()
    run(None, dict(feeds))
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
