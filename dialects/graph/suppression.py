"""Boxes that are kept of those that overlap: the end of detectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.loop import Kind
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of, when

Corners = tuple[Scalar, Scalar, Scalar, Scalar]
"""Least and greatest place of a box along the first axis, then along the second."""


@irdl_op_definition
class SuppressOp(GraphOp):
    """Choose, of every class, boxes from the best one on that overlap no better one too much; count them.

    %kept, %counts = graph.suppress %boxes, %scores, %overlap, %score, %most {centers = false, room = #graph.dims<[N]>}
        : (tensor<1x?x4xf32, ..>, tensor<1x3x?xf32, ..>, tensor<f32>, tensor<f32>, tensor<i64>)
        -> (tensor<1x3x?xi64, #graph.dims<[1, 3, N]>>, tensor<1x3xi64>)

    boxes: [images, boxes, 4], two opposite corners, or with `centers` the middle and the extents, second axis first.
    scores: [images, classes, boxes]. A box is considered where its score is greater than `score`, which NaN never is;
    of equal scores the lower index is better. It is kept where for all kept ones the intersection, divided by the
    union, is at most `overlap`, and there are no more than `most`, nor than `room`, the size of the first result, in
    which zeros follow the kept ones. As ONNX's NonMaxSuppression, in numbers of 32 bits.
    """

    name = "graph.suppress"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    overlap = operand_def(TensorType)
    score = operand_def(TensorType)
    most = operand_def(TensorType)
    centers = prop_def(BoolAttr)
    room = prop_def(DimsAttr)
    kept = result_def(TensorType)
    counts = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        boxes, scores = self.dims(0), self.dims(1)
        if len(boxes) != 3 or boxes[2] != 4 or len(scores) != 3 or (boxes[0], boxes[1]) != (scores[0], scores[2]):
            raise VerifyException("it takes boxes [images, boxes, 4] and scores [images, classes, boxes]")
        scalars = [self.operand_type(i) for i in (2, 3, 4)]
        if [self.dtype(0), self.dtype(1), *scalars] != [f32, f32, *(tensor_type([], t) for t in (f32, f32, i64))]:
            raise VerifyException("boxes, scores and two limits are of type f32, and the number of boxes is an i64")
        if len(self.room) != 1:
            raise VerifyException(f"there is one room, not {len(self.room)}")
        self.require_symbols_of_operands(self.room)
        return [tensor_type((*scores[:2], *self.room), i64), tensor_type(scores[:2], i64)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Sequence[Tensor]:
        kept, counts, _ = k.extern("suppress", inputs, [*self.infer(), inputs[1].value.type], self._writer(k, inputs))
        return kept, counts

    def _writer(
        self, k: KernelBuilder, inputs: Sequence[Tensor]
    ) -> Callable[[Sequence[SSAValue], Callable[[Expr], Expr]], None]:
        """What inserts the statements. The third result is memory for the scores of boxes that are left."""
        images, classes, count = inputs[1].dims
        [room] = self.room

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            types = (f32, f32, f32, f32, i64, i64, i64, f32)
            boxes, scores, overlap, score, most, kept, counts, left = (
                Buffer(k, buffer, dtype) for buffer, dtype in zip(buffers, types, strict=True)
            )

            def row(flat: Expr) -> None:
                image, class_ = flat // here(classes), flat % here(classes)
                one = _Class(k, here(count), boxes, left, kept, counts, (image, class_), bool(self.centers.value.data))
                one.begin(lambda n: scores[image, class_, n], score[[]])

                def choose(m: Expr) -> None:
                    one.choose(m, overlap[[]], most[[]])

                k.for_each([here(room)], choose)

            k.for_each([here(images) * here(classes)], row, Kind.PARALLEL, [at_least(here(count), 256)])

        return write

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        boxes, scores, overlap, score, most = inputs
        [room] = self.evaluate_dims(list(self.room), inputs)
        kept = np.zeros((*scores.shape[:2], room), np.int64)
        counts = np.zeros(scores.shape[:2], np.int64)
        for image, class_ in np.ndindex(*counts.shape):
            corners = _corners(boxes[image], bool(self.centers.value.data))
            chosen = _chosen(corners, scores[image, class_], overlap, score)[: max(0, min(int(most), room))]
            kept[image, class_, : len(chosen)] = chosen
            counts[image, class_] = len(chosen)
        return [kept, counts]


# -- in numpy


def _corners(boxes: Array, centers: bool) -> Array:
    """Least and greatest places of boxes, as `Corners` has them."""
    if centers:
        x, y, width, height = boxes.T
        half = np.float32(2)
        return np.stack([y - height / half, y + height / half, x - width / half, x + width / half], 1)
    a, b, c, d = boxes.T
    return np.stack([np.minimum(a, c), np.maximum(a, c), np.minimum(b, d), np.maximum(b, d)], 1)


def _chosen(corners: Array, scores: Array, overlap: Array, score: Array) -> list[int]:
    """The boxes that are kept, from the best one on."""
    considered = np.flatnonzero(scores > score)
    chosen: list[int] = []
    for i in considered[np.argsort(-scores[considered], kind="stable")]:
        if not any(_overlap(corners[i], corners[j], overlap) for j in chosen):
            chosen.append(int(i))
    return chosen


def _overlap(a: Array, b: Array, limit: Array) -> bool:
    heights = min(a[1], b[1]) - max(a[0], b[0])
    widths = min(a[3], b[3]) - max(a[2], b[2])
    areas = [(box[1] - box[0]) * (box[3] - box[2]) for box in (a, b)]
    common = widths * heights
    union = areas[0] + areas[1] - common
    positive = heights > 0 and widths > 0 and common > 0 and areas[0] > 0 and areas[1] > 0 and union > 0
    return bool(positive and common / union > limit)


# -- as statements


class _Class:
    """The boxes of one class of an image while the statements that choose among them are written.

    Scores of boxes that are no longer, or were never, to be considered are NaN in `left`.
    """

    def __init__(
        self,
        k: KernelBuilder,
        count: Expr,
        boxes: Buffer,
        left: Buffer,
        kept: Buffer,
        counts: Buffer,
        at: tuple[Expr, Expr],
        centers: bool,
    ):
        self.k, self.count, self.boxes, self.left, self.kept, self.counts = k, count, boxes, left, kept, counts
        self.at, self.centers = at, centers
        self.best = allocate(k, i64)
        """The index of the best box that is left, -1 where there is none."""

    def begin(self, score: Callable[[Expr], Scalar], limit: Scalar) -> None:
        """Consider the boxes with a greater score than the limit, and look for the best one."""
        k, none = self.k, self.k.constant(float("nan"), f32)
        self.counts.store(self.at, 0)
        self.best.store(0, -1)

        def enter(n: Expr) -> None:
            own = score(n)
            self.left.store((*self.at, n), k.select(own.compare("gt", limit), own, none))
            self._better(n)

        k.for_each([self.count], enter)

    def _better(self, n: Expr) -> None:
        """Make a box the best one where it is left and has a greater score: the first of equal ones."""
        k, best = self.k, self.best[0]
        own = self.left[(*self.at, n)]
        there = k.max(best, 0)
        other = self.left[(*self.at, index_of(k, there))]
        is_better = own.compare("gt", other) | (best.compare("lt", 0) & own.compare("eq", own))
        self.best.store(0, k.select(is_better, number_of(k, n), best))

    def choose(self, place: Expr, overlap: Scalar, most: Scalar) -> None:
        """Keep the best box that is left, drop those that it overlaps, and look for the next one."""
        k, best = self.k, self.best[0]
        is_kept = best.compare("ge", 0) & number_of(k, place).compare("lt", most)
        self.kept.store((*self.at, place), k.select(is_kept, best, k.constant(0, i64)))
        self.best.store(0, k.select(is_kept, best, k.constant(-1, i64)))
        with when(k, is_kept):
            self.counts.store(self.at, number_of(k, place + 1))
            chosen = index_of(k, best)
            corners = self._corners(chosen)
            none = k.constant(float("nan"), f32)
            self.left.store((*self.at, chosen), none)
            self.best.store(0, -1)

            def look(n: Expr) -> None:
                own = self.left[(*self.at, n)]
                is_dropped = _overlaps(k, corners, self._corners(n), overlap)
                self.left.store((*self.at, n), k.select(is_dropped, none, own))
                self._better(n)

            k.for_each([self.count], look)

    def _corners(self, n: Expr) -> Corners:
        k = self.k
        a, b, c, d = (self.boxes[self.at[0], n, const(i)] for i in range(4))
        if self.centers:
            half_width, half_height = c / 2.0, d / 2.0
            return b - half_height, b + half_height, a - half_width, a + half_width
        return k.min(a, c), k.max(a, c), k.min(b, d), k.max(b, d)


def _overlaps(k: KernelBuilder, a: Corners, b: Corners, limit: Scalar) -> Scalar:
    """Whether the intersection of two boxes, divided by their union, is greater than a limit."""
    heights = k.min(a[1], b[1]) - k.max(a[0], b[0])
    widths = k.min(a[3], b[3]) - k.max(a[2], b[2])
    areas = [(box[1] - box[0]) * (box[3] - box[2]) for box in (a, b)]
    common = widths * heights
    union = areas[0] + areas[1] - common
    parts = [heights, widths, common, *areas, union]
    positive = parts[0].compare("gt", 0.0)
    for part in parts[1:]:
        positive = positive & part.compare("gt", 0.0)
    return positive & (common / union).compare("gt", limit)
