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
from tilework.dialects.te.builder_statements import Buffer, allocate, bit_length, index_of, number_of, when

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
        left = [inputs[1].value.type, tensor_type(inputs[1].dims, i64)]
        kept, counts, *_ = k.extern("suppress", inputs, [*self.infer(), *left], self._writer(k, inputs))
        return kept, counts

    def _writer(
        self, k: KernelBuilder, inputs: Sequence[Tensor]
    ) -> Callable[[Sequence[SSAValue], Callable[[Expr], Expr]], None]:
        """What inserts the statements. The last two results are memory for boxes that are left, and their scores."""
        images, classes, count = inputs[1].dims
        [room] = self.room

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            types = (f32, f32, f32, f32, i64, i64, i64, f32, i64)
            boxes, scores, overlap, score, most, kept, counts, left, order = (
                Buffer(k, buffer, dtype) for buffer, dtype in zip(buffers, types, strict=True)
            )

            def row(flat: Expr) -> None:
                image, class_ = flat // here(classes), flat % here(classes)
                at, centers = (image, class_), bool(self.centers.value.data)
                one = _Class(k, at, (boxes, left, order, kept, counts), centers)

                def clear(m: Expr) -> None:
                    kept.store((*at, m), 0)

                def choose(_: Expr) -> None:
                    one.choose(here(room), overlap[[]], most[[]])

                k.for_each([here(room)], clear)
                one.begin(here(count), lambda n: scores[image, class_, n], score[[]])
                k.for_each([here(count)], choose)

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

    Boxes to be considered are a heap, the best one on top: their scores are in `scores`, their indices in `order`.
    Below place n are places 2 n + 1 and 2 n + 2, and neither holds a better box.
    """

    def __init__(self, k: KernelBuilder, at: tuple[Expr, Expr], buffers: Sequence[Buffer], centers: bool):
        self.k, self.at, self.centers = k, at, centers
        self.boxes, self.scores, self.order, self.kept, self.counts = buffers
        self.size, self.levels = allocate(k, i64), allocate(k, i64)
        self.hole, self.is_dropped = allocate(k, i64), allocate(k, i64)

    def begin(self, count: Expr, score: Callable[[Expr], Scalar], limit: Scalar) -> None:
        """Make the heap of the boxes with a greater score than the limit."""
        k, size = self.k, self.size
        self.counts.store(self.at, 0)
        size.store(0, 0)

        def enter(n: Expr) -> None:
            own = score(n)
            with when(k, own.compare("gt", limit)):
                self._put(index_of(k, size[0]), own, number_of(k, n))
                size.store(0, size[0] + 1)

        k.for_each([count], enter)
        self.levels.store(0, bit_length(k, size[0]))
        half = index_of(k, size[0] >> 1)

        def arrange(i: Expr) -> None:
            self._sink(half - 1 - i)

        k.for_each([half], arrange)

    def choose(self, room: Expr, overlap: Scalar, most: Scalar) -> None:
        """Take the best box, and keep it unless it overlaps one that is kept."""
        k, size = self.k, self.size
        is_wanted = size[0].compare("gt", 0) & self.counts[self.at].compare("lt", k.min(most, number_of(k, room)))
        with when(k, is_wanted):
            best = self.order[(*self.at, const(0))]
            size.store(0, size[0] - 1)
            self._move(index_of(k, size[0]), const(0))
            self._sink(const(0))
            corners = self._corners(index_of(k, best))
            self.is_dropped.store(0, 0)

            def look(m: Expr) -> None:
                with when(k, self.is_dropped[0].compare("eq", 0)):
                    other = self._corners(index_of(k, self.kept[(*self.at, m)]))
                    self.is_dropped.store(0, k.cast(_overlaps(k, corners, other, overlap), i64))

            k.for_each([index_of(k, self.counts[self.at])], look)
            with when(k, self.is_dropped[0].compare("eq", 0)):
                self.kept.store((*self.at, index_of(k, self.counts[self.at])), best)
                self.counts.store(self.at, self.counts[self.at] + 1)

    def _sink(self, start: Expr) -> None:
        """Exchange the box at `start` with the better one below as long as that is better."""
        k, size = self.k, self.size
        self.hole.store(0, number_of(k, start))

        def level(_: Expr) -> None:
            here = self.hole[0]
            left, right = here * 2 + 1, k.min(here * 2 + 2, size[0] - 1)
            self.hole.store(0, size[0])  # where nothing is below
            with when(k, left.compare("lt", size[0])):
                right_is_better = self._comes_first(index_of(k, right), index_of(k, left))
                below = k.select(right_is_better, right, left)
                with when(k, self._comes_first(index_of(k, below), index_of(k, here))):
                    self._swap(index_of(k, here), index_of(k, below))
                    self.hole.store(0, below)

        k.for_each([index_of(k, self.levels[0])], level)

    def _comes_first(self, a: Expr, b: Expr) -> Scalar:
        """Whether the box at a place is better than the one at another place; of equal ones the first is."""
        one, other = self.scores[(*self.at, a)], self.scores[(*self.at, b)]
        in_front = self.order[(*self.at, a)].compare("lt", self.order[(*self.at, b)])
        return one.compare("gt", other) | (one.compare("eq", other) & in_front)

    def _put(self, place: Expr, score: Scalar, index: Scalar) -> None:
        self.scores.store((*self.at, place), score)
        self.order.store((*self.at, place), index)

    def _move(self, place: Expr, to: Expr) -> None:
        self._put(to, self.scores[(*self.at, place)], self.order[(*self.at, place)])

    def _swap(self, a: Expr, b: Expr) -> None:
        score, index = self.scores[(*self.at, a)], self.order[(*self.at, a)]
        self._move(b, a)
        self._put(b, score, index)

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
