"""Operators of neural networks."""

from tilework.compat.tvm.topi.nn.convolution import *  # noqa: F403
from tilework.compat.tvm.topi.nn.layers import *  # noqa: F403
from tilework.compat.tvm.topi.nn.padding import dilate as dilate
from tilework.compat.tvm.topi.nn.padding import pad as pad
from tilework.compat.tvm.topi.nn.pooling import *  # noqa: F403
