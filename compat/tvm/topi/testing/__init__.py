"""Operators in numpy, which tests compare with, and the schedule that they use on a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilework import te
from tilework.compat.tvm.topi import nn
from tilework.compat.tvm.topi.generic import schedule_injective
from tilework.compat.tvm.topi.utils import pair, window_padding


def get_elemwise_schedule(target: Any) -> Callable[..., te.Schedule]:
    """What schedules element-wise operators on a target."""
    return schedule_injective


get_broadcast_schedule = get_injective_schedule = get_reduce_schedule = get_elemwise_schedule


def get_conv2d_nchw_implement(target: Any) -> tuple[Callable[..., te.Tensor], Callable[..., te.Schedule]]:
    """What defines and what schedules a convolution."""
    return nn.conv2d_nchw, schedule_injective


def conv2d_nchw_python(a_np: Any, w_np: Any, stride: Any, padding: Any, groups: int = 1) -> Any:
    """The convolution of NCHW with OIHW."""
    kernel = (w_np.shape[2], w_np.shape[3])
    top, left, bottom, right = window_padding(padding, kernel)
    (sh, sw), (filters, channels) = pair(stride), w_np.shape[:2]
    data = np.pad(a_np, [(0, 0), (0, 0), (top, bottom), (left, right)])
    windows = np.lib.stride_tricks.sliding_window_view(data, kernel, axis=(2, 3))[:, :, ::sh, ::sw]
    parts = [
        np.einsum("bchwyx,ocyx->bohw", windows[:, g * channels : (g + 1) * channels], part)
        for g, part in enumerate(np.split(w_np.reshape(filters, channels, *kernel), groups))
    ]
    return np.concatenate(parts, axis=1).astype(a_np.dtype)


def softmax_python(a_np: Any, axis: int = -1) -> Any:
    """Exponentials over their sum along an axis."""
    shifted = np.exp(a_np - a_np.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)
