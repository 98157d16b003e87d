"""How a te kernel makes probabilities of classes from those of each class against each other one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, number_of, when

MOST_STEPS = 100
"""The steps after which what is found so far counts."""

TOLERANCE = 0.005
"""The error, divided by the number of classes, below which no other step is taken."""


def couple(k: KernelBuilder, pairs: Tensor) -> Tensor:
    """The probabilities of the classes [rows, classes], given those of class i against class j [rows, i, j], i != j.

    They minimize the sum of (pairs[j, i] p[i] - pairs[i, j] p[j])^2 over all pairs, as the second method of Wu, Lin and
    Weng (Journal of Machine Learning Research 5, 2004), which libsvm uses: with Q[i, i] the sum of pairs[j, i]^2 and
    Q[i, j] = -pairs[j, i] pairs[i, j], all elements of Q p are equal then; a step sets one class after the other.
    """
    rows, classes, _ = pairs.dims
    assert classes.constant is not None
    type_ = tensor_type([rows, classes], f32)

    def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
        given, found = (Buffer(k, buffer, f32) for buffer in buffers)

        def row(n: Expr) -> None:
            _Row(k, given, found, n, classes).couple()

        is_worth_it = at_least(here(rows) * classes * classes, PARALLEL_WORK)
        k.for_each([here(rows)], row, Kind.PARALLEL, [is_worth_it])

    [result] = k.extern("coupled", [pairs], [type_], write)
    return result


class _Row:
    """One row while its statements are written."""

    def __init__(self, k: KernelBuilder, pairs: Buffer, found: Buffer, row: Expr, classes: Expr):
        self.k, self.pairs, self.found, self.row, self.classes = k, pairs, found, row, classes
        self.count = classes.offset
        self.q, self.qp = allocate(k, f32, self.count**2), allocate(k, f32, self.count)
        self.mean, self.error, self.goes_on = allocate(k, f32), allocate(k, f32), allocate(k, i64)

    def couple(self) -> None:
        """Fill the row of probabilities."""
        self._each(self._begin)
        self.goes_on.store(0, 1)

        def step(_: Expr) -> None:
            with when(self.k, self.goes_on[0].compare("eq", 1)):
                self._measure()
                with when(self.k, self.goes_on[0].compare("eq", 1)):
                    self._each(self._set)

        self.k.for_each([const(MOST_STEPS)], step)

    def _each(self, body: Callable[[Expr], None]) -> None:
        self.k.for_each([self.classes], body)

    def _at(self, i: Expr, j: Expr) -> Expr:
        return i * self.count + j

    def _begin(self, i: Expr) -> None:
        """Fill a row of Q, and begin with the same probability for each class."""
        diagonal = self._at(i, i)
        self.mean.store(0, 0.0)

        def element(j: Expr) -> None:
            against, by = self.pairs[self.row, j, i], self.pairs[self.row, i, j]
            self.q.store(self._at(i, j), against * by * -1.0)
            with when(self.k, number_of(self.k, i).compare("ne", number_of(self.k, j))):
                self.mean.store(0, self.mean[0] + against * against)

        self._each(element)
        self.q.store(diagonal, self.mean[0])
        self.found.store([self.row, i], 1.0 / self.count)

    def _measure(self) -> None:
        """Compute Q p and its mean, and whether an element is far from that."""
        self.mean.store(0, 0.0)
        self.error.store(0, 0.0)

        def element(i: Expr) -> None:
            self.qp.store(i, 0.0)
            self._each(lambda j: self.qp.store(i, self.qp[i] + self.q[self._at(i, j)] * self._p(j)))
            self.mean.store(0, self.mean[0] + self._p(i) * self.qp[i])

        def compare(i: Expr) -> None:
            self.error.store(0, self.k.max(self.error[0], self.k.call("abs", self.qp[i] - self.mean[0])))

        self._each(element)
        self._each(compare)
        is_far = self.error[0].compare("ge", TOLERANCE / self.count)
        self.goes_on.store(0, self.k.cast(is_far, i64))

    def _set(self, i: Expr) -> None:
        """Let the element of Q p for one class be the mean, and the probabilities add up to 1 again."""
        own = self.q[self._at(i, i)]
        change = (self.mean[0] - self.qp[i]) / own
        whole = change + 1.0
        self.found.store([self.row, i], self._p(i) + change)
        self.mean.store(0, (self.mean[0] + change * (change * own + self.qp[i] * 2.0)) / whole / whole)

        def rescale(j: Expr) -> None:
            self.qp.store(j, (self.qp[j] + change * self.q[self._at(i, j)]) / whole)
            self.found.store([self.row, j], self._p(j) / whole)

        self._each(rescale)

    def _p(self, i: Expr) -> Scalar:
        return self.found[self.row, i]
