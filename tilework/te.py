"""Tensor expressions and schedules in Python, with the names, arguments and meaning of TVM 0.8's `te`."""

from tilework.frontends.te import *  # noqa: F403
