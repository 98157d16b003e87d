"""Normalizer: rows divided by their norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import Normalizer
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, StringAttr
from xdsl.ir import SSAValue

from tilework.dialects import graph
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.dialects.matrix import FromTensorOp, ToTensorOp
from tilework.dialects.matrix.base import matrix_of
from tilework.frontends.sklearn.emitter import Emitter, Features, Numbers, Opaque, Step, element_of, step


@step(Normalizer)
class Normalized(Step):
    """x / |x| for each row x; a row of which the norm is 0, or next to it, stays as it is."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        matrix = e.refuse_missing(e.numbers(x))
        if e.data is not None:
            return Opaque("Normalizer makes what is not affine in the columns")
        rows = e.insert(ToTensorOp.of(matrix.value))
        norms, dtype = cls._norms(e, estimator.norm, rows), numpy_dtype(element_of(matrix))
        least, one = (
            e.parameter(f"normalizer.{name}", np.full((1, 1), value), dtype.name)
            for name, value in (("least", 10 * np.finfo(dtype).eps), ("one", 1.0))
        )
        divisors = e.insert(graph.WhereOp.of(e.insert(graph.LessOp.of(norms, least)), one, norms))
        made = e.insert(graph.DivOp.of(rows, divisors))
        names = ArrayAttr([StringAttr(name) for name in matrix_of(matrix.value).names])
        return Numbers(e.insert(FromTensorOp.of(made, origins=names)))

    @classmethod
    def _norms(cls, e: Emitter, norm: str, rows: SSAValue) -> SSAValue:
        """The norm of each row, in a column."""
        kept: dict[str, Any] = {"axes": ints([1]), "keep_dims": BoolAttr.from_bool(True)}
        if norm == "l2":
            squares = e.insert(graph.MulOp.of(rows, rows))
            return e.insert(graph.SqrtOp.of(e.insert(graph.ReduceSumOp.of(squares, **kept))))
        sizes = e.insert(graph.AbsOp.of(rows))
        return e.insert((graph.ReduceSumOp if norm == "l1" else graph.ReduceMaxOp).of(sizes, **kept))
