"""A small U-Net (Ronneberger et al. 2015): an image to a class for every pixel."""

from __future__ import annotations

from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network, Value


def unet(image: int = 128, width: int = 32, depth: int = 3, classes: int = 2) -> ModelProto:
    """`depth` times the image is halved and the `width` doubled, then the way back, beside what was there before."""
    net = Network("unet")

    def twice(x: Value, filters: int) -> Value:
        return net.conv_relu(net.conv_relu(x, filters, 3), filters, 3)

    x = net.input("image", [1, 3, image, image])
    passed: list[Value] = []
    for level in range(depth):
        passed.append(twice(x, width << level))
        x = net.node("MaxPool", [passed[-1]], passed[-1].size, kernel_shape=[2, 2], strides=[2, 2])
    x = twice(x, width << depth)
    for level in reversed(range(depth)):
        x = net.conv_transpose(x, width << level, 2, 2)
        x = twice(net.node("Concat", [passed[level], x], 2 * x.size, axis=1), x.size)
    net.output(net.conv(x, classes, 1, bias=True), "scores")
    return net.model()
