"""Schedules of operators: those of Tilework's rules for the target, whatever the operator."""

from __future__ import annotations

from typing import Any

from tilework import te


def default_schedule(outs: Any, auto_inline: bool = True) -> te.Schedule:
    """The schedule that the rules of the target make when it is built."""
    return te.schedule_by_rules(outs)


def schedule_injective(outs: Any) -> te.Schedule:
    """Do what `default_schedule` does; so do all of this module."""
    return te.schedule_by_rules(outs)


schedule_extern = schedule_reduce = schedule_dense = schedule_batch_matmul = schedule_softmax = schedule_injective
schedule_conv2d_nchw = schedule_conv2d_nhwc = schedule_conv2d_hwcn = schedule_depthwise_conv2d_nchw = schedule_injective
schedule_adaptive_pool = schedule_lrn = schedule_injective


def schedule_pool(outs: Any, layout: str = "NCHW") -> te.Schedule:
    """Do what `default_schedule` does."""
    return te.schedule_by_rules(outs)
