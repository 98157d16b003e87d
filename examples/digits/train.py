"""Train a small convolutional network on handwritten digits and write it as `digits.onnx`. Takes under a minute.

    python examples/digits/train.py

Batch normalization and dropout are written as nodes of their own, though neither is needed after training: to fold
them away is the compiler's work, and this file gives it something to fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
from digits_data import Digits, load_split
from layers import Array, BatchNormalization, Convolution, Dense, Dropout, Flatten, Layer, MaxPool, Relu
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

MODEL = Path(__file__).with_name("digits.onnx")
OPSET, IR_VERSION = 17, 8
EPOCHS = 30
BATCH = 32
STEP = 2e-3
"""Adam's step size in the first epoch; it falls to zero along half a cosine."""


def build_network(rng: np.random.Generator) -> list[Layer]:
    """Build a network from `float32[n, 1, 8, 8]` to one score per digit, `float32[n, 10]`."""
    return [
        Convolution(rng, 1, 16),
        BatchNormalization(16),
        Relu(),
        Convolution(rng, 16, 32),
        Relu(),
        MaxPool(),
        Convolution(rng, 32, 32),
        Relu(),
        Flatten(),
        Dropout(rng),
        Dense(rng, 32 * 4 * 4, 10),
    ]


def forward(network: Sequence[Layer], x: Array, training: bool = False) -> Array:
    """The scores of every image in `x`."""
    for layer in network:
        x = layer.forward(x, training)
    return x


def backward(network: Sequence[Layer], gradient: Array) -> None:
    """Leave the gradient of every parameter in its layer, given the one at the scores."""
    for layer in reversed(network):
        gradient = layer.backward(gradient)


def softmax(scores: Array) -> Array:
    """Probabilities in the ratio of the scores' exponentials; the largest score is taken off first against overflow."""
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def cross_entropy_gradient(scores: Array, labels: NDArray[np.int64]) -> Array:
    """The gradient, at the scores, of the mean of `-log softmax(scores)[label]`: probability minus truth."""
    truth = np.eye(scores.shape[1], dtype=np.float32)[labels]
    return (softmax(scores) - truth) / np.float32(len(labels))


class Adam:
    """Steps of equal size per parameter: the gradient's running mean over its running root mean square."""

    def __init__(self, network: Sequence[Layer]):
        self.network = network
        self.steps = 0
        self.mean = [{name: np.zeros_like(value) for name, value in layer.parameters.items()} for layer in network]
        self.square = [{name: np.zeros_like(value) for name, value in layer.parameters.items()} for layer in network]

    def step(self, size: float) -> None:
        """Move every parameter once; both means start at zero, and `size` makes up for that."""
        self.steps += 1
        size *= float(np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps))
        for layer, mean, square in zip(self.network, self.mean, self.square, strict=True):
            for name, gradient in layer.gradients.items():
                mean[name] += np.float32(0.1) * (gradient - mean[name])
                square[name] += np.float32(0.001) * (gradient**2 - square[name])
                layer.parameters[name] -= np.float32(size) * mean[name] / (np.sqrt(square[name]) + np.float32(1e-8))


def batches(digits: Digits, rng: np.random.Generator) -> Iterator[Digits]:
    """The digits in random order, `BATCH` at a time; the few that fill no batch sit out this epoch."""
    order = rng.permutation(len(digits.images))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        yield Digits(digits.images[chosen], digits.labels[chosen])


def train(digits: Digits, seed: int = 0) -> list[Layer]:
    """A network trained on `digits`; the same seed gives the same network (on the same numpy)."""
    rng = np.random.default_rng(seed)
    network = build_network(rng)
    optimizer = Adam(network)
    for epoch in range(EPOCHS):
        size = STEP * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for images, labels in batches(digits, rng):
            backward(network, cross_entropy_gradient(forward(network, images, training=True), labels))
            optimizer.step(size)
        print(f"epoch {epoch + 1:2} of {EPOCHS}: {accuracy(network, digits):.2%} of the training images")
    return network


def accuracy(network: Sequence[Layer], digits: Digits) -> float:
    """The share of images whose highest score is at the right digit."""
    return float((forward(network, digits.images).argmax(axis=1) == digits.labels).mean())


def to_onnx(network: Sequence[Layer]) -> onnx.ModelProto:
    """The network, one node a layer and a softmax at the end, for any number "N" of images at a time."""
    nodes: list[onnx.NodeProto] = []
    initializers: list[onnx.TensorProto] = []
    value = "images"
    for index, layer in enumerate(network):
        name = f"{layer.onnx_operator.lower()}_{index}"
        tensors = {f"{name}.{key}": array for key, array in (layer.parameters | layer.statistics).items()}
        initializers += [numpy_helper.from_array(array, tensor) for tensor, array in tensors.items()]
        attributes = layer.onnx_attributes
        nodes.append(helper.make_node(layer.onnx_operator, [value, *tensors], [f"{name}.out"], name, **attributes))
        value = f"{name}.out"
    nodes.append(helper.make_node("Softmax", [value], ["probabilities"], "softmax", axis=1))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Train, report the accuracy on the held-out images, write the model beside this file."""
    training, held_out = load_split()
    network = train(training)
    onnx.save(to_onnx(network), MODEL)
    print(f"{accuracy(network, held_out):.2%} of the {len(held_out.images)} held-out images")
    print(f"wrote {MODEL.name}: {MODEL.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
