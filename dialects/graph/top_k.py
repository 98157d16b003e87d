"""The first elements along an axis in order of size, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import base, irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, minimum, product
from tilework.algebra.predicate import at_least, less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.accumulation import widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, bit_length, index_of, number_of, when
from tilework.dialects.te.radix_sort import RadixSort, Records, Unsorted, has_keys, key_of, key_type

LEAST_SORTED = 16
"""Elements that are chosen from which on sorting takes less time than a heap."""

FEW = 1 << 11
"""Elements of a row for each that is chosen from which on a heap passes over nearly all of them by one comparison."""


@irdl_op_definition
class TopKOp(GraphOp):
    """The `count` largest elements along `axis`, the largest one first, and their indices.

    Without `largest` these are the smallest ones, the smallest one first. NaN counts as larger than every number. Of
    elements that are equal, as zeros of either sign are and NaN is to NaN, the one with the lower index comes first.

    %values, %indices = graph.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true}
        : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)

    The count may be a size in place of a number, such as #graph.dims<[N]> for all of an open axis; further operands,
    whose elements are not read, tell the symbols that the input does not.
    """

    name = "graph.top_k"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    count = prop_def(base(IntegerAttr) | base(DimsAttr))
    largest = prop_def(BoolAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def chosen(self) -> Expr:
        """How many elements are chosen."""
        return self.count.data[0] if isinstance(self.count, DimsAttr) else const(self.count.value.data)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.dtype() == i1:
            raise VerifyException(f"{self.name} computes on numbers, not on truth values, i1")
        x, axis, count = self.dims(0), self.axis.value.data, self.chosen
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        if isinstance(self.count, DimsAttr):
            self.require_symbols_of_operands(self.count)
        if count.is_constant and not 1 <= count.offset <= (x[axis].constant or count.offset):
            raise VerifyException(f"from 1 to {x[axis]} elements along axis {axis} can be chosen, not {count}")
        dims = (*x[:axis], count, *x[axis + 1 :])
        return [tensor_type(dims, self.dtype()), tensor_type(dims, i64)]

    def requirements(self) -> Iterable[Requirement]:
        axis, count = self.axis.value.data, self.chosen
        what = f"dimension {axis} of the input of {self.title} is too short: {count} are taken"
        yield Requirement.of(at_least(self.dims(0)[axis], count), what)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Sequence[Tensor]:
        [x, *_] = inputs
        axis, largest = self.axis.value.data, bool(self.largest.value.data)
        around = [i for i, size in enumerate(x.dims) if i != axis and size != 1]
        sorts = has_keys(x.dtype) and self._are_many(x.dims[axis])
        types = (x.dtype, x.dtype, i64, *((key_type(x.dtype), i64) * 2 if sorts else ()))
        records = [tensor_type([x.dims[i] for i in (*around, axis)], t) for t in types[3:]]

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            dims, count = [here(d) for d in x.dims], here(self.chosen)
            source, values, indices, *rest = (Buffer(k, b, dtype) for b, dtype in zip(buffers, types, strict=True))

            def row(*index: Expr) -> None:
                places = dict(zip(around, index, strict=True))

                def at(i: Expr) -> Sequence[Expr]:
                    return [i if n == axis else places.get(n, const(0)) for n in range(len(dims))]

                def choose() -> None:
                    _Heap(k, values, indices, at, count, largest).choose(lambda i: source[at(i)], dims[axis])

                def sort() -> None:
                    elements = Unsorted(k, lambda i: key_of(k, source[at(i)], descending=largest))
                    pairs = zip(rest[::2], rest[1::2], strict=True)
                    one, other = (Records(keys, order, index) for keys, order in pairs)
                    ordered = RadixSort(k, key_type(x.dtype), (one, other)).sort(elements, dims[axis], count)

                    def put(i: Expr) -> None:
                        place = ordered.place(i)
                        values.store(at(i), source[at(index_of(k, place))])
                        indices.store(at(i), place)

                    k.for_each([count], put, Kind.PARALLEL, [at_least(count, PARALLEL_WORK)])

                if not sorts:
                    choose()
                elif (dims[axis] - count).is_constant:
                    sort()
                else:
                    with when(k, at_least(dims[axis], FEW * count)):
                        choose()
                    with when(k, less_than(dims[axis], FEW * count)):
                        sort()

            is_worth_it = at_least(product(dims), PARALLEL_WORK)
            k.for_each([dims[i] for i in around], row, Kind.PARALLEL, [is_worth_it])

        return k.extern("top_k", [x], [*self.infer(), *records], write)[:2]

    def _are_many(self, extent: Expr) -> bool:
        """Whether so many elements of a row may be chosen that sorting takes less time than a heap."""
        if not self.chosen.is_constant:
            return True
        count = self.chosen.offset
        return count >= LEAST_SORTED and (not extent.is_constant or extent.offset < FEW * count)

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [x, *_] = inputs
        axis, [count] = self.axis.value.data, self.evaluate_dims([self.chosen], inputs)
        wide = widened_array(x)  # numpy sorts NaN of bfloat16 as any number
        if self.largest.value.data:  # the order from the back: equal elements then have to come from the back as well
            order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(wide, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(wide, axis, kind="stable")
        indices = order.take(range(count), axis)
        return [np.take_along_axis(x, indices, axis), indices]


@dataclass(frozen=True)
class _Heap:
    """A row of both results while its statements are written: the best elements so far, a heap with the worst on top.

    Below place n are places 2 n + 1 and 2 n + 2, and neither holds a worse element, one that comes later in the order.
    `at` gives the subscripts of a place.
    """

    k: KernelBuilder
    values: Buffer
    indices: Buffer
    at: Callable[[Expr], Sequence[Expr]]
    count: Expr
    largest: bool

    def choose(self, element: Callable[[Expr], Scalar], extent: Expr) -> None:
        """Fill the row with the best of a row of elements: in order, as the worst that is left goes to the end."""
        k, count, hole, top = self.k, self.count, allocate(self.k, i64), const(0)
        levels = self._levels()

        def enter(i: Expr) -> None:
            self._put(i, element(i), number_of(k, i))

        def arrange(i: Expr) -> None:
            self._sink(hole, levels, count // 2 - 1 - i, count)

        def replace(i: Expr) -> None:
            new = element(i + count)
            with when(k, self._is_better(new, self.values[self.at(top)])):
                self._put(top, new, number_of(k, i + count))
                self._sink(hole, levels, top, count)

        def retire(i: Expr) -> None:
            self._swap(top, count - 1 - i)
            self._sink(hole, levels, top, count - 1 - i)

        k.for_each([count], enter)
        k.for_each([count // 2], arrange)
        k.for_each([minimum(extent - count, count * extent)], replace)  # none of which would replace the best of none
        k.for_each([count - 1], retire)

    def _levels(self) -> Expr:
        """How many levels of the heap are below the top."""
        if self.count.is_constant:
            return const(self.count.offset.bit_length() - 1)
        return index_of(self.k, bit_length(self.k, number_of(self.k, self.count)))

    def _sink(self, hole: Buffer, levels: Expr, start: Expr, end: Expr) -> None:
        """Exchange the element at `start` with the worse one below as long as that is worse; the heap ends at `end`."""
        k = self.k
        hole.store(0, number_of(k, start))

        def level(_: Expr) -> None:
            here = index_of(k, hole[0])
            left, right = here * 2 + 1, minimum(here * 2 + 2, end - 1)
            hole.store(0, number_of(k, end))  # where nothing is below
            with when(k, less_than(left, end)):
                left_is_worse = self._comes_first(right, left)
                below = index_of(k, k.select(left_is_worse, number_of(k, left), number_of(k, right)))
                with when(k, self._comes_first(here, below)):
                    self._swap(here, below)
                    hole.store(0, number_of(k, below))

        k.for_each([levels], level)

    def _comes_first(self, a: Expr, b: Expr) -> Scalar:
        """Whether the element at a place is better than the one at another place; of equal ones the first is."""
        one, other = self.values[self.at(a)], self.values[self.at(b)]
        in_front = self.indices[self.at(a)].compare("lt", self.indices[self.at(b)])
        return self._is_better(one, other) | (in_front & ~self._is_better(other, one))

    def _is_better(self, a: Scalar, b: Scalar) -> Scalar:
        """Whether one element comes before another one of any index; NaN is larger than every number."""
        a, b = widened(self.k, a), widened(self.k, b)
        larger, smaller = (a, b) if self.largest else (b, a)
        if a.is_integer:
            return larger.compare("gt", smaller)
        return ~larger.compare("le", smaller) & smaller.compare("eq", smaller)

    def _put(self, place: Expr, value: Scalar, index: Scalar) -> None:
        self.values.store(self.at(place), value)
        self.indices.store(self.at(place), index)

    def _swap(self, a: Expr, b: Expr) -> None:
        values, indices = ([buffer[self.at(place)] for place in (a, b)] for buffer in (self.values, self.indices))
        self._put(a, values[1], indices[1])
        self._put(b, values[0], indices[0])
