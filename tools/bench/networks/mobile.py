"""Networks for telephones: MobileNet, versions 1 (Howard et al. 2017) and 2 (Sandler et al. 2018)."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network, Value

V1 = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
"""Channels and stride of every pair of a depthwise and a 1x1 convolution."""

V2 = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
"""What every stage is: by how much blocks expand, channels, blocks, the first one's stride."""


def mobilenet_v1(image: int = 224, divisor: int = 1) -> ModelProto:
    """`divisor` makes it narrower."""
    net = Network("mobilenet_v1")
    x = net.conv_relu(net.input("image", [1, 3, image, image]), 32 // divisor, 3, 2)
    for channels, stride in V1:
        x = net.conv_relu(x, x.size, 3, stride, groups=x.size)
        x = net.conv_relu(x, channels // divisor, 1)
    net.output(net.node("Softmax", [net.scores(x, 1000)], 1000, axis=1), "shares")
    return net.model()


def mobilenet_v2(image: int = 224, divisor: int = 1) -> ModelProto:
    """`divisor` makes it narrower."""
    net = Network("mobilenet_v2")
    bounds = [net.constant(np.array(bound, np.float32)) for bound in (0, 6)]

    def conv_relu6(x: Value, filters: int, kernel: int, stride: int = 1, groups: int = 1) -> Value:
        return net.node("Clip", [net.batch_norm(net.conv(x, filters, kernel, stride, groups)), *bounds], filters)

    x = conv_relu6(net.input("image", [1, 3, image, image]), 32 // divisor, 3, 2)
    for expansion, channels, count, first_stride in V2:
        for number in range(count):
            stride = first_stride if number == 0 else 1
            y = conv_relu6(x, expansion * x.size, 1) if expansion > 1 else x
            y = conv_relu6(y, y.size, 3, stride, groups=y.size)
            y = net.batch_norm(net.conv(y, channels // divisor, 1))
            x = net.add(x, y) if stride == 1 and x.size == y.size else y
    x = conv_relu6(x, 1280 // divisor, 1)
    net.output(net.scores(x, 1000), "scores")
    return net.model()
