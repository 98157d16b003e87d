"""A neural network in numpy: each layer knows its value, its derivative, and the ONNX node that means the same.

`forward` keeps what `backward` needs. `backward` takes the loss's gradient at the layer's output, leaves those of the
layer's parameters in `gradients`, and returns the one at its input. Images are `float32[n, channels, height, width]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float32]


class Layer:
    """One step of the network. `parameters` are learned; `statistics` are only measured while training.

    The ONNX node's inputs are the layer's input, then `parameters`, then `statistics`, each in order of insertion.
    """

    onnx_operator: str
    onnx_attributes: dict[str, Any] = {}

    def __init__(self) -> None:
        self.parameters: dict[str, Array] = {}
        self.statistics: dict[str, Array] = {}
        self.gradients: dict[str, Array] = {}

    def forward(self, x: Array, training: bool) -> Array:
        """The layer's value at `x`."""
        raise NotImplementedError

    def backward(self, gradient: Array) -> Array:
        """The gradient at the input of the last `forward`, from the one at its output."""
        raise NotImplementedError


def he_normal(rng: np.random.Generator, *shape: int) -> Array:
    """Weights whose output has the variance of the input when half of that is cut away by a relu (He et al. 2015)."""
    inputs = np.prod(shape[1:])
    return (rng.standard_normal(shape) * np.sqrt(2 / inputs)).astype(np.float32)


def neighbourhoods(x: Array) -> Array:
    """A view `[n, channels, height, width, 3, 3]`: every pixel's 3 by 3 neighbourhood, zero beyond the border."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sliding_window_view(padded, (3, 3), axis=(2, 3))


class Convolution(Layer):
    """`y[n, o, h, w] = sum over c, i, j of x[n, c, h + i - 1, w + j - 1] * weight[o, c, i, j] + bias[o]`."""

    onnx_operator = "Conv"
    onnx_attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}

    def __init__(self, rng: np.random.Generator, channels: int, filters: int):
        super().__init__()
        self.parameters["weight"] = he_normal(rng, filters, channels, 3, 3)
        self.parameters["bias"] = np.zeros(filters, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        self.inputs = neighbourhoods(x)
        y = np.tensordot(self.inputs, self.parameters["weight"], axes=((1, 4, 5), (1, 2, 3)))
        return (y + self.parameters["bias"]).transpose(0, 3, 1, 2)

    def backward(self, gradient: Array) -> Array:
        self.gradients["weight"] = np.tensordot(gradient, self.inputs, axes=((0, 2, 3), (0, 2, 3)))
        self.gradients["bias"] = gradient.sum(axis=(0, 2, 3))
        # A pixel reached its neighbours through the filter; their gradients come back through the filter mirrored.
        mirrored = self.parameters["weight"][:, :, ::-1, ::-1]
        return np.tensordot(neighbourhoods(gradient), mirrored, axes=((1, 4, 5), (0, 2, 3))).transpose(0, 3, 1, 2)


class BatchNormalization(Layer):
    """Each channel shifted and scaled to mean 0 and variance 1, then to a learned mean (`bias`) and `scale`.

    In training, mean and variance are the batch's; afterwards they are constants, the average over the last batches.
    """

    onnx_operator = "BatchNormalization"
    epsilon = 1e-5
    onnx_attributes = {"epsilon": epsilon}
    memory = np.float32(0.9)

    def __init__(self, channels: int):
        super().__init__()
        self.parameters["scale"] = np.ones(channels, np.float32)
        self.parameters["bias"] = np.zeros(channels, np.float32)
        self.statistics["mean"] = np.zeros(channels, np.float32)
        self.statistics["variance"] = np.ones(channels, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        mean, variance = self.measure(x) if training else self.statistics.values()
        self.deviation = np.sqrt(variance + self.epsilon)[:, None, None]
        self.normalized = (x - mean[:, None, None]) / self.deviation
        return self.normalized * self.parameters["scale"][:, None, None] + self.parameters["bias"][:, None, None]

    def measure(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance of each channel in this batch; the running averages move a little towards them."""
        mean, variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
        for name, value in (("mean", mean), ("variance", variance)):
            self.statistics[name] = self.memory * self.statistics[name] + (1 - self.memory) * value
        return mean, variance

    def backward(self, gradient: Array) -> Array:
        batch = (0, 2, 3)
        self.gradients["scale"] = (gradient * self.normalized).sum(axis=batch)
        self.gradients["bias"] = gradient.sum(axis=batch)
        # The batch's mean and variance depend on x too: they take out the part of the gradient that only shifts or
        # scales the whole channel, which normalization would undo.
        shift = gradient.mean(axis=batch, keepdims=True)
        stretch = (gradient * self.normalized).mean(axis=batch, keepdims=True)
        return (gradient - shift - self.normalized * stretch) * self.parameters["scale"][:, None, None] / self.deviation


class Relu(Layer):
    """`max(x, 0)`."""

    onnx_operator = "Relu"

    def forward(self, x: Array, training: bool) -> Array:
        self.positive = x > 0
        return x * self.positive

    def backward(self, gradient: Array) -> Array:
        return gradient * self.positive


class MaxPool(Layer):
    """The largest value of each 2 by 2 square; height and width are even and come out halved."""

    onnx_operator = "MaxPool"
    onnx_attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}

    def forward(self, x: Array, training: bool) -> Array:
        n, channels, height, width = x.shape
        squares = x.reshape(n, channels, height // 2, 2, width // 2, 2)
        largest = squares.max(axis=(3, 5), keepdims=True)
        self.chosen = squares == largest
        return largest[:, :, :, 0, :, 0]

    def backward(self, gradient: Array) -> Array:
        # All of several equal maxima get the gradient. Behind a relu they are zeros, where its gradient is zero anyway.
        n, channels, height, width = gradient.shape
        squares = self.chosen * gradient[:, :, :, None, :, None]
        return squares.reshape(n, channels, 2 * height, 2 * width)


class Flatten(Layer):
    """All of an image's values in one row."""

    onnx_operator = "Flatten"

    def forward(self, x: Array, training: bool) -> Array:
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient: Array) -> Array:
        return gradient.reshape(self.shape)


class Dropout(Layer):
    """In training, each value is zero with chance 1/2 or else doubled; afterwards, the identity."""

    onnx_operator = "Dropout"

    def __init__(self, rng: np.random.Generator):
        super().__init__()
        self.rng = rng

    def forward(self, x: Array, training: bool) -> Array:
        if not training:
            return x
        self.factor = 2 * self.rng.integers(0, 2, x.shape).astype(np.float32)
        return x * self.factor

    def backward(self, gradient: Array) -> Array:
        return gradient * self.factor


class Dense(Layer):
    """`y[n, o] = sum over i of x[n, i] * weight[o, i] + bias[o]`."""

    onnx_operator = "Gemm"
    onnx_attributes = {"transB": 1}

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int):
        super().__init__()
        self.parameters["weight"] = he_normal(rng, outputs, inputs)
        self.parameters["bias"] = np.zeros(outputs, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        self.inputs = x
        return x @ self.parameters["weight"].T + self.parameters["bias"]

    def backward(self, gradient: Array) -> Array:
        self.gradients["weight"] = gradient.T @ self.inputs
        self.gradients["bias"] = gradient.sum(axis=0)
        return gradient @ self.parameters["weight"]
