"""Schedules for processors: the rules of the target, as in `generic`."""

from tilework.compat.tvm.topi.generic import (
    default_schedule,
    schedule_conv2d_nchw,
    schedule_conv2d_nhwc,
    schedule_dense,
    schedule_injective,
    schedule_pool,
    schedule_reduce,
    schedule_softmax,
)

__all__ = [
    "default_schedule",
    "schedule_conv2d_nchw",
    "schedule_conv2d_nhwc",
    "schedule_dense",
    "schedule_injective",
    "schedule_pool",
    "schedule_reduce",
    "schedule_softmax",
]
