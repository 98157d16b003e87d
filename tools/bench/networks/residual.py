"""Residual networks: ResNet-18 (He et al. 2015) and, with grouped convolutions, a ResNeXt (Xie et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network, Value


def resnet18(image: int = 224, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2)) -> ModelProto:
    """Blocks of two 3x3 convolutions; each stage halves the image and doubles the `width`."""

    def block(net: Network, x: Value, filters: int, stride: int) -> Value:
        y = net.conv_relu(x, filters, 3, stride)
        return _joined(net, x, net.batch_norm(net.conv(y, filters, 3)), stride)

    return _classifier("resnet18", image, width, blocks, block)


def resnext26(image: int = 224, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2), groups: int = 32) -> ModelProto:
    """Blocks of a 1x1, a grouped 3x3 and a 1x1 convolution, at first with `width` / 16 channels a group."""

    def block(net: Network, x: Value, filters: int, stride: int) -> Value:
        y = net.conv_relu(net.conv_relu(x, 2 * filters, 1), 2 * filters, 3, stride, groups)
        return _joined(net, x, net.batch_norm(net.conv(y, 4 * filters, 1)), stride)

    return _classifier("resnext26", image, width, blocks, block)


def _joined(net: Network, x: Value, y: Value, stride: int) -> Value:
    """relu(x + y), where x is brought to the shape of y."""
    if stride != 1 or x.size != y.size:
        x = net.batch_norm(net.conv(x, y.size, 1, stride))
    return net.relu(net.add(y, x))


def _classifier(
    name: str, image: int, width: int, blocks: Sequence[int], block: Callable[[Network, Value, int, int], Value]
) -> ModelProto:
    net = Network(name)
    x = net.conv_relu(net.input("image", [1, 3, image, image]), width, 7, 2)
    x = net.node("MaxPool", [x], width, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage, count in enumerate(blocks):
        for number in range(count):
            x = block(net, x, width << stage, 2 if stage > 0 and number == 0 else 1)
    net.output(net.scores(x, 1000), "scores")
    return net.model()
