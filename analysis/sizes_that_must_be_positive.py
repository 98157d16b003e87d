"""What a model of symbolic sizes needs of them besides the shapes of its inputs, so that windows fit, for example."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, product
from tilework.algebra.predicate import at_least
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.extend import ExtendOp
from tilework.dialects.graph.gather import INDICES, GatherOp
from tilework.dialects.graph.pooling import AveragePoolOp, MaxPoolOp
from tilework.dialects.graph.regions import RegionOp
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.graph.sizes import RangeOp, SectionOp
from tilework.dialects.graph.top_k import TopKOp
from tilework.dialects.locations import source_name
from tilework.dialects.shapes import dims_of


def sizes_that_must_be_positive(program: Operation) -> dict[Expr, str]:
    """Expressions over symbols that are at least 0 where the model can be run, and what to say otherwise.

    Where sizes are constants the operators' verifiers tell; other operators make no size negative that was not.
    """
    found: dict[Expr, str] = {}
    for op in program.walk():
        for size, text in _sizes(op):
            domain = Domain({key: (0, None) for key in size.variables()})
            if domain.proves(at_least(size, 1)) is not True:
                found.setdefault((size - 1) * _taken(op), text)
    return found


def _taken(op: Operation) -> Expr:
    """How many elements a gather takes, in all steps of scans around it: it asks for nothing where that is 0."""
    if not isinstance(op, GatherOp):
        return const(1)
    around, count = op.parent_op(), product(op.dims(INDICES))
    while around is not None:
        count = count * around.steps if isinstance(around, ScanOp) else count
        around = around.parent_op()
    return count


def _sizes(op: Operation) -> Iterator[tuple[Expr, str]]:
    """What must be positive for one operator, and what to say where it is not."""
    if isinstance(op, ConvOp | MaxPoolOp | AveragePoolOp):
        for axis, dim in list(enumerate(dims_of(op.result.type)))[2:]:
            what = f"dimension {axis} of the result of {_name(op)} would be {dim}"
            yield dim, f"{what}: the window does not fit into the image"
    elif isinstance(op, ExtendOp):
        for axis, (dim, ends) in enumerate(zip(op.dims(0), op.ends(), strict=True)):
            if any(ends):
                what = f"dimension {axis} of the input of {_name(op)} is too short for mode {op.mode.data}"
                yield dim - (op.least(axis) - 1), f"{what}: it takes {op.least(axis)} elements"
    elif isinstance(op, GatherOp | RegionOp):
        for axis in [op.axis.value.data] if isinstance(op, GatherOp) else range(3):
            yield op.dims(0)[axis], f"{_name(op)} has nothing to take elements of: dimension {axis} of its input is 0"
    elif isinstance(op, TopKOp):
        axis, count = op.axis.value.data, op.count.value.data
        what = f"dimension {axis} of the input of {_name(op)} is too short: {count} are taken"
        yield op.dims(0)[axis] - (count - 1), what
    elif isinstance(op, SectionOp):
        yield from _of_section(op)
    elif isinstance(op, RangeOp):
        yield op.count.data[0] + 1, f"{_name(op)} would be of {op.count.data[0]} numbers"


def _name(op: GraphOp) -> str:
    """What a message calls an operator: the model's node that it came from, where there is one."""
    source = source_name(op.location)
    return op.label if source is None else f"node '{source}'"


def _of_section(op: SectionOp) -> Iterator[tuple[Expr, str]]:
    [start], [size], axis = op.start.data, op.size.data, op.axis.value.data
    where = f"dimension {axis} of the input of {_name(op)}, which is {op.dims(0)[axis]}"
    for e in (start, size, op.left):
        yield e + 1, f"{size} elements from {start} on do not lie in {where}"
    if op.whole is not None:
        yield 1 - op.left, f"{size} elements are not all of {where}"
