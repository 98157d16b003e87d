"""How an operator whose meaning is a te kernel may be fused, as the kernel's accesses say.

A tensor that is read at the place of the element which is computed is read element by element; one that lacks some of
the axes is broadcast; any other one element is moved (injective). A kernel with a reduction is a reduction, or complex
where the reduction multiplies elements of different places or goes over windows. What comes behind the reduction has to
be element-wise. All other kernels are opaque: those with several results, several reductions one behind the other,
scans and externs. These are TVM's kinds of patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects import arith
from tilework.dialects.graph.base import Category
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, IfThenElseOp, IndexOp, KernelOp, ReadOp, ReturnOp

PRODUCTS = (arith.MulfOp, arith.MuliOp)


@dataclass(frozen=True)
class KernelCategory:
    """The category of a kernel as a whole, and how it reads each of its arguments."""

    whole: Category
    arguments: tuple[Category, ...]


def kernel_category(kernel: KernelOp) -> KernelCategory:
    """The category of an operator whose meaning is this kernel."""
    arguments = kernel.body.block.args
    paths = _Paths()
    if not _is_fusable(kernel) or not all(paths.pass_through(compute) for compute in reversed(kernel.computes)):
        return KernelCategory(Category.OPAQUE, (Category.OPAQUE,) * len(arguments))
    read = [paths.to_result.get(argument, Category.ELEMENTWISE) for argument in arguments]
    if paths.whole > Category.REDUCTION:
        read = [paths.whole] * len(arguments)
    return KernelCategory(paths.whole, tuple(read))


def _is_fusable(kernel: KernelOp) -> bool:
    """Whether a kernel makes one tensor, by computes alone."""
    made = list(kernel.results_returned)
    return len(made) == 1 and all(isinstance(op, ComputeOp | ReturnOp) for op in kernel.body.block.ops)


@dataclass
class _Paths:
    """How tensors are read on the ways from them to the kernel's result, found from the result on.

    Tensors that are not there yet have no way to the result, but for the result itself.
    """

    whole: Category = Category.ELEMENTWISE
    to_result: dict[SSAValue, Category] = field(default_factory=dict[SSAValue, Category])

    def pass_through(self, compute: ComputeOp) -> bool:
        """Go on to what a compute reads; False where nothing but a kernel of its own can compute that."""
        behind = [self.to_result[r] for r in compute.results if r in self.to_result]
        if not behind and not any(isinstance(use.operation, ReturnOp) for r in compute.results for use in r.uses):
            return True
        here = max(behind, default=Category.ELEMENTWISE)
        if compute.reduction and here is not Category.ELEMENTWISE:
            return False
        own = _category_of_compute(compute)
        self.whole = max(self.whole, own)
        chosen_by = set(_reads_behind_indices(compute.body.block))
        for read in compute.reads:
            category = max(here, own if compute.reduction else _category_of_read(compute, read))
            if read in chosen_by:
                category = Category.OPAQUE
            self.to_result[read.tensor] = max(category, self.to_result.get(read.tensor, category))
        return True


def _category_of_compute(compute: ComputeOp) -> Category:
    """How a compute makes an element of all that it reads."""
    if compute.reduction:
        return Category.COMPLEX if _sums_products(compute) or _has_windows(compute) else Category.REDUCTION
    axes = {name for name, _ in compute.spatial}
    if any(_asks_for_place(op, axes) for op in compute.body.walk()):
        return Category.INJECTIVE
    return max((_category_of_read(compute, read) for read in compute.reads), default=Category.ELEMENTWISE)


def _category_of_read(compute: ComputeOp, read: ReadOp) -> Category:
    """How one read of a compute without reduction goes by its axes."""
    axes: Mapping[object, tuple[int, Expr]] = {name: (i, e) for i, (name, e) in enumerate(compute.spatial)}
    places: list[int] = []
    for index, size in zip(read.exprs, dims_of(read.tensor.type), strict=True):
        place, extent = axes.get(index.as_var, (None, None))
        if place is not None and extent == size:
            places.append(place)
        elif not (index == 0 and size == 1):
            return Category.INJECTIVE
    if places == list(range(len(compute.spatial))) and len(places) == len(read.indices):
        return Category.ELEMENTWISE
    is_in_order = all(a < b for a, b in zip(places, places[1:], strict=False))
    return Category.BROADCAST if is_in_order else Category.INJECTIVE


def _asks_for_place(op: Operation, axes: Set[str]) -> bool:
    """Whether what is computed depends on where: it would be something else if axes were taken together."""
    match op:
        case IndexOp():
            asked = [op.value]
        case IfThenElseOp():
            asked = [condition.expr for condition in op.conditions]
        case _:
            return False
    return any(key in axes for e in asked for key in e.variables())


def _has_windows(compute: ComputeOp) -> bool:
    """Whether an index goes along an axis of the result and one that is reduced, as those of windows do."""
    spatial, reduced = ({name for name, _ in axes} for axes in (compute.spatial, compute.reduction))
    indices = [set(e.variables()) for read in compute.reads for e in read.exprs]
    return any(keys & spatial and keys & reduced for keys in indices)


def _sums_products(compute: ComputeOp) -> bool:
    """Whether elements are multiplied that are not the same."""
    return any(
        len({frozenset(_elements_behind(value)) for value in op.operands} - {frozenset()}) > 1
        for op in compute.body.walk()
        if isinstance(op, PRODUCTS)
    )


def _elements_behind(value: SSAValue) -> Iterator[tuple[SSAValue, tuple[Expr, ...]]]:
    """The elements from which a value is computed, as tensors and indices."""
    for op in _computation_of([value]):
        if isinstance(op, ReadOp):
            yield op.tensor, op.exprs


def _reads_behind_indices(block: Block) -> Iterator[ReadOp]:
    """The reads whose elements choose which other elements are read."""
    for op in block.walk():
        if isinstance(op, ReadOp):
            yield from (o for o in _computation_of(op.index_operands) if isinstance(o, ReadOp))


def _computation_of(values: Iterable[SSAValue]) -> Iterator[Operation]:
    """The operations that values are computed by."""
    pending, seen = [value.owner for value in values], set[Operation]()
    while pending:
        op = pending.pop()
        if isinstance(op, Operation) and op not in seen:
            seen.add(op)
            yield op
            inside = [o for region in op.regions for o in region.walk()]
            pending += [v.owner for o in (op, *inside) for v in o.operands]
