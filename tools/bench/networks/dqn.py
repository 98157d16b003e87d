"""Deep Q networks, which play Atari games: four grey images of 84x84 to the value of every action."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network

ACTIONS = 18
"""What Atari's joystick can do."""

NATURE = [(32, 8, 4), (64, 4, 2), (64, 3, 1)]
"""Filters, window and stride of the convolutions of Mnih et al. in Nature, 2015: the network that TVM measures."""

WORKSHOP = [(16, 8, 4), (32, 4, 2)]
"""The layers of the network of Mnih et al. 2013."""


def dqn() -> ModelProto:
    """The network of 2015: three convolutions, a dense layer of 512."""
    return _network("dqn", NATURE, 512)


def dqn_2013() -> ModelProto:
    """The network of 2013: two convolutions, a dense layer of 256."""
    return _network("dqn_2013", WORKSHOP, 256)


def _network(name: str, convolutions: Sequence[tuple[int, int, int]], hidden: int) -> ModelProto:
    net = Network(name)
    x, edge = net.input("frames", [1, 4, 84, 84]), 84
    for filters, kernel, stride in convolutions:
        x = net.relu(net.conv(x, filters, kernel, stride, pad=0, bias=True))
        edge = (edge - kernel) // stride + 1
    x = net.node("Flatten", [x], x.size * edge * edge)
    x = net.relu(net.gemm(x, hidden, gain=2.0))
    net.output(net.gemm(x, ACTIONS), "values")
    return net.model()
