"""Operators as te definitions, by the names of TVM's operator inventory."""

from tilework.compat.tvm.topi import generic, utils
from tilework.compat.tvm.topi import nn as nn
from tilework.compat.tvm.topi import tag as tag
from tilework.compat.tvm.topi import testing as testing
from tilework.compat.tvm.topi import x86 as x86
from tilework.compat.tvm.topi.broadcast import *  # noqa: F403
from tilework.compat.tvm.topi.elementwise import *  # noqa: F403
from tilework.compat.tvm.topi.reduction import *  # noqa: F403
from tilework.compat.tvm.topi.transform import *  # noqa: F403

util = utils
cuda = generic
"""The module of schedules for NVIDIA's devices in TVM: here one set of rules serves all targets."""
