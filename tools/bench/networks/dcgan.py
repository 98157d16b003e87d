"""The generator of DCGAN (Radford et al. 2015): 100 random numbers to a colour image of 64x64."""

from __future__ import annotations

from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network


def dcgan(width: int = 128) -> ModelProto:
    """Transposed convolutions of 4x4 double the image four times; `width` channels are left before the last one."""
    net = Network("dcgan")
    x = net.relu(net.gemm(net.input("code", [1, 100]), 16 * 8 * width))
    x = net.reshape(x, [1, 8 * width, 4, 4], 8 * width)
    for share in (4, 2, 1):
        x = net.relu(net.batch_norm(net.conv_transpose(x, share * width, 4, 2, 1)))
    x = net.conv_transpose(x, 3, 4, 2, 1)
    net.output(net.node("Tanh", [x], 3), "image")
    return net.model()
