"""te.gradient: how a tensor changes with those that it is computed from, as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.predicate import Predicate, at_least, equal, less_than
from tilework.frontends.te.arguments import listed
from tilework.frontends.te.derivatives import Read, at, derivative, renamed
from tilework.frontends.te.dtypes import is_float
from tilework.frontends.te.functions import if_then_else
from tilework.frontends.te.index import Index, IterVar, Name, to_index
from tilework.frontends.te.kernel import operations_for
from tilework.frontends.te.reductions import all as all_of
from tilework.frontends.te.reductions import sum as sum_of
from tilework.frontends.te.scalar import Constant, Reduction, Scalar, Test
from tilework.frontends.te.tensor import (
    ComputeOp,
    PlaceholderOp,
    Tensor,
    compute,
    elements_read,
    reduce_axis,
    tensors_of,
)


def gradient(output: Tensor, inputs: Tensor | Sequence[Tensor], head: Tensor | None = None) -> list[Tensor]:
    """The derivatives of a tensor by others that it is computed from.

    Without `head` each has the output's dimensions, and then the input's. head: a tensor whose last dimensions are the
    output's; products with it are summed over these, so that each result has its other dimensions, and then the
    input's. With a head of the output's shape that is the gradient of a number. Computes without a reduction or with a
    sum are taken, which read at indices that are linear in their axes, or come from data; others are refused by name.
    """
    [output] = tensors_of(output, "the output of te.gradient")
    given = listed(inputs)
    wanted = tensors_of([inputs] if given is None else given, "inputs of te.gradient")
    first = _identity(output) if head is None else head
    rank = first.ndim - output.ndim
    if rank < 0 or first.dims[rank:] != output.dims:
        raise UsageError(f"the head of te.gradient ends in the shape of {output}, and is {first}")
    adjoints: dict[Tensor, Tensor] = {output: first}
    lead = first.dims[:rank]
    needed = _leading_to(output, wanted)
    for op in reversed(operations_for([output.op])):
        for tensor in op.outputs:
            if isinstance(op, PlaceholderOp) or tensor not in adjoints or tensor not in needed:
                continue
            if tensor in wanted and not any(t in needed for t in op.input_tensors):
                continue
            for source, part in _parts(tensor, adjoints[tensor], lead, needed):
                adjoints[source] = part if source not in adjoints else adjoints[source] + part
    return [adjoints[tensor] if tensor in adjoints else _zeros(lead, tensor) for tensor in wanted]


def _leading_to(output: Tensor, wanted: Sequence[Tensor]) -> set[Tensor]:
    """The tensors on a way from the wanted ones to the output."""
    found = set(wanted)
    for op in operations_for([output.op]):
        if any(tensor in found for tensor in op.input_tensors):
            found.update(op.outputs)
    return found


def _identity(output: Tensor) -> Tensor:
    rank = output.ndim

    def element(*index: IterVar) -> Scalar | Constant:
        same = [a == b for a, b in zip(index[:rank], index[rank:], strict=True)]
        one, zero = Constant(output.dtype, 1), Constant(output.dtype, 0)
        return if_then_else(all_of(*same), one, zero) if same else one

    return compute((*output.shape, *output.shape), element, "identity")


def _zeros(lead: Sequence[Expr], tensor: Tensor) -> Tensor:
    return compute([*map(Index, lead), *tensor.shape], lambda *_: Constant(tensor.dtype, 0), f"{tensor.name}_grad")


def _parts(tensor: Tensor, adjoint: Tensor, lead: Sequence[Expr], needed: set[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """What a tensor's derivative makes of those of its inputs, read by read."""
    op = tensor.op
    if not isinstance(op, ComputeOp) or op.num_outputs > 1:
        raise UsageError(f"te.gradient: '{op.name}' is no compute of one tensor: it has no derivative here")
    body, where = op.body[0], None
    if isinstance(body, Reduction):
        if body.reduce.kind != "add":
            raise UsageError(f"te.gradient: '{op.name}' is a reduction and no sum: it has no derivative here")
        body, where = body.reduce.operands[0], body.reduce.where
    reads: dict[Read, None] = {(e.tensor, e.indices): None for e in elements_read([body]) if e.tensor in needed}
    found: list[tuple[Tensor, Tensor]] = []
    for read in reads:
        if not is_float(read[0].dtype):
            continue
        change = derivative(body, read)
        if change is not None:
            found.append((read[0], _part(op, adjoint, lead, read, change, where)))
    return found


def _part(
    op: ComputeOp, adjoint: Tensor, lead: Sequence[Expr], read: Read, change: Scalar, where: Scalar | None
) -> Tensor:
    """The sum, over all points of the compute that read an element, of what they add to its derivative."""
    source, indices = read
    left = _Solved.of([*op.axis, *op.reduce_axis], indices, source.dims)
    over = [reduce_axis(tuple(map(Index, _ends(axis))), axis.name) for axis in left.free]
    renames: dict[Name, Expr] = {axis.key: var(new.key) for axis, new in zip(left.free, over, strict=True)}

    def element(*index: IterVar) -> Scalar | Reduction:
        front, place = index[: len(lead)], index[len(lead) :]
        known = {**renames, **{name: var(i.key) for name, i in zip(left.places, place, strict=True)}}
        values = {**known, **{key: e.substitute(known) for key, e in left.values.items()}}
        conditions: list[Scalar] = [Test("bool", Predicate(at(p.expr, values), p.kind)) for p in left.conditions]
        if where is not None:
            conditions.append(renamed(where, values))
        reached = [Index(at(var(axis.key), values)) for axis in op.axis]
        product = adjoint(*front, *reached) * renamed(change, values)
        holds = all_of(*conditions) if conditions else None
        if over:
            return cast(Reduction, sum_of(product, axis=over, where=holds))
        return product if holds is None else if_then_else(holds, product, Constant(product.dtype, 0))

    shape = [*map(Index, lead), *source.shape]
    return compute(shape, element, f"{source.name}_grad")


def _ends(axis: IterVar) -> tuple[Expr, Expr]:
    """From where on and before where an axis runs."""
    assert axis.dom is not None
    first, extent = to_index(axis.dom.min), to_index(axis.dom.extent)
    return first, first + extent


@dataclass
class _Solved:
    """Which axes an element's place tells.

    places: a variable for each index of the element. free: the axes that are left to run over. values: the others, over
    places and those. conditions: what must hold for a point to read the element.
    """

    places: list[Name]
    free: list[IterVar]
    values: dict[Name, Expr] = field(default_factory=dict[Name, Expr])
    conditions: list[Predicate] = field(default_factory=list[Predicate])

    @classmethod
    def of(cls, axes: Sequence[IterVar], indices: Sequence[Expr], dims: Sequence[Expr]) -> _Solved:
        """Solve `index = place` for an axis with a factor of 1 or -1, index by index, those of one axis alone first."""
        solved = cls([Name(f"p{n}") for n in range(len(indices))], list(axes))
        equations = sorted(zip(indices, solved.places, strict=True), key=lambda pair: len(pair[0].terms))
        for index, place in equations:
            solved._solve(index.substitute(solved.values), var(place))
        whole = {place: dim for place, dim in zip(solved.places, dims, strict=True)}
        for axis in axes:
            value = solved.values.get(axis.key)
            first, end = _ends(axis)
            if value is not None and not (first == const(0) and whole.get(cast(Name, value.as_var)) == end):
                solved.conditions += [at_least(value, first), less_than(value, end)]
        return solved

    def _solve(self, index: Expr, place: Expr) -> None:
        for axis in self.free:
            factor = index.coefficient(axis.key)
            data = any(isinstance(key, Name) and key.data is not None for key in index.variables())
            if abs(factor) == 1 and index.is_affine_in(axis.key) and not data:
                rest = index - var(axis.key) * factor
                value = (place - rest) * factor
                self.free.remove(axis)
                self.values = {key: e.substitute({axis.key: value}) for key, e in self.values.items()}
                self.values[axis.key] = value
                return
        self.conditions.append(equal(index, place))
