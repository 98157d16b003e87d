"""`tvm.contrib.cblas`: products of matrices by a library, here numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilework import te
from tilework.compat.tvm.registry import register_func


@register_func("tvm.contrib.cblas.matmul", override=True)
def _matmul(lhs: Any, rhs: Any, out: Any, transa: bool, transb: bool) -> None:
    left, right = (np.swapaxes(a.memory, -1, -2) if t else a.memory for a, t in ((lhs, transa), (rhs, transb)))
    np.matmul(left, right, out=out.memory)


def matmul(lhs: te.Tensor, rhs: te.Tensor, transa: bool = False, transb: bool = False, **kwargs: Any) -> Any:
    """The product of two matrices, each of them transposed if asked for."""
    return _product("matmul", lhs, rhs, transa, transb, kwargs)


def batch_matmul(lhs: te.Tensor, rhs: te.Tensor, transa: bool = False, transb: bool = False, **kwargs: Any) -> Any:
    """Products of matrices, batch by batch."""
    return _product("batch_matmul", lhs, rhs, transa, transb, kwargs)


def _product(name: str, lhs: te.Tensor, rhs: te.Tensor, transa: bool, transb: bool, options: dict[str, Any]) -> Any:
    rows = lhs.shape[-1] if transa else lhs.shape[-2]
    columns = rhs.shape[-2] if transb else rhs.shape[-1]
    return te.extern(
        (*lhs.shape[:-2], rows, columns),
        [lhs, rhs],
        lambda ins, outs: te.call_packed("tvm.contrib.cblas.matmul", ins[0], ins[1], outs[0], transa, transb),
        options.pop("name", name),
        **options,
    )
