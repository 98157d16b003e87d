"""A language model of LSTM layers (Zaremba et al. 2014, the medium one): embedded words to scores of the next word."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network, Value


def lstm_step(hidden: int = 650, vocabulary: int = 10000, layers: int = 2) -> ModelProto:
    """One word; states come and go."""
    return _language_model("lstm_step", 1, hidden, vocabulary, layers)


def lstm_35(steps: int = 35, hidden: int = 650, vocabulary: int = 10000, layers: int = 2) -> ModelProto:
    """The 35 words of a training example."""
    return _language_model("lstm_35", steps, hidden, vocabulary, layers)


def _language_model(name: str, steps: int, hidden: int, vocabulary: int, layers: int) -> ModelProto:
    net = Network(name)
    x = net.input("words", [steps, 1, hidden], channels=2)
    for layer in range(layers):
        states = [net.input(f"{state}_{layer}", [1, 1, hidden], channels=2) for state in "hc"]
        x, *states = _lstm(net, x, states, hidden)
        for state, value in zip("hc", states, strict=True):
            net.output(value, f"new_{state}_{layer}")
    net.output(net.linear(x, vocabulary), "scores")
    return net.model()


def _lstm(net: Network, x: Value, states: list[Value], hidden: int) -> list[Value]:
    """The outputs of all steps, and the states after the last one."""
    weights = [net.weights((1, 4 * hidden, size), size, gain=1.0) for size in (x.size, hidden)]
    inputs = [x, *weights, net.numbers([1, 8 * hidden], -0.1, 0.1), "", *states]
    y, *states = net.nodes("LSTM", inputs, [hidden] * 3, hidden_size=hidden)
    return [net.node("Squeeze", [y, net.constant(np.array([1]))], hidden), *states]
