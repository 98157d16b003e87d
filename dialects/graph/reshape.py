"""Reshape: the same elements, in row-major order, under other dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.bounds import Domain
from tilework.algebra.exact_division import without_rounding
from tilework.algebra.index_expr import Expr, const, product
from tilework.algebra.predicate import Predicate, equal
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, runtime_shape
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor


@irdl_op_definition
class ReshapeOp(GraphOp):
    """The input's elements under the dimensions `shape`; flatten, squeeze and unsqueeze are this too.

    %y = graph.reshape %x {shape = #graph.dims<[N, 12]>}
        : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>

    With `checked` the numbers of elements may be equal for some sizes only, which are required then. Further operands,
    whose elements are not read, tell symbols in `shape` that the input does not.
    """

    name = "graph.reshape"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    shape = prop_def(DimsAttr)
    checked = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def under(self, shape: DimsAttr, sizes: Sequence[SSAValue] = ()) -> ReshapeOp:
        """The input under other dimensions, which the result of this could have; `sizes` tell symbols in these."""
        condition = elements_equal(self.dims(0), shape.data)
        if condition.constant is not None:
            return ReshapeOp.of(self.input, shape=shape)
        return ReshapeOp.of(self.input, *self.sizes, *sizes, shape=shape, checked=UnitAttr())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.checked is not None:
            self.require_symbols_of_operands(self.shape)
        fits = Requirement.of(elements_equal(self.dims(0), self.shape.data), "")
        if fits.is_never_met() or (self.checked is None and not fits.is_always_met()):
            before, after = product(self.dims(0)), product(self.shape.data)
            shapes = " into ".join(f"[{', '.join(map(str, dims))}]" for dims in (self.dims(0), self.shape.data))
            raise VerifyException(f"cannot reshape {shapes}: {before} elements are not {after}")
        return [tensor_type(self.shape.data, self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        condition = elements_equal(self.dims(0), self.shape.data)
        shapes = " for ".join(f"[{', '.join(map(str, dims))}]" for dims in (self.shape.data, self.dims(0)))
        yield Requirement.of(condition, f"{self.title} would make {shapes}, which has not as many elements")

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, dims = inputs[0], self.shape.data
        if const(0) in dims:  # no element is read, wherever that would be
            nowhere = dims.index(const(0))
            return k.compute("reshape", dims, lambda *i: x[(i[nowhere],) * len(x.dims)])
        return k.compute("reshape", dims, lambda *i: x[reshaped_index(x.dims, dims, i)])

    def evaluate(self, *inputs: Array) -> Array:
        x = inputs[0]
        if self.checked is not None:
            return x.reshape(self.evaluate_dims(self.shape.data, inputs))
        return x.reshape(runtime_shape(self.shape.data, self.dims(0), x.shape))


def elements_equal(source: Sequence[Expr], target: Sequence[Expr]) -> Predicate:
    """The condition that two shapes have equally many elements; sizes that both begin or end with are left out."""
    if const(0) in source and const(0) in target:
        return equal(0, 0)
    old, new = list(source), list(target)
    for end in (0, -1):
        while old and new and old[end] == new[end]:
            old.pop(end)
            new.pop(end)
    return equal(product(old), product(new))


def reshaped_index(source: Sequence[Expr], target: Sequence[Expr], index: Sequence[Expr]) -> tuple[Expr, ...]:
    """Where in a tensor of dimensions `source` the element stands that has `index` under dimensions `target`.

    Axes are matched in groups that hold equally many elements on both sides; only inside a group, indices are
    linearized and taken apart again. So an axis that is kept, symbolic or not, keeps its plain index.
    """
    domain = Domain({i.as_var: (0, d - 1) for i, d in zip(index, target, strict=True)})
    result = [const(0)] * len(source)
    old = [(axis, d) for axis, d in enumerate(source) if d != 1]
    new = [(i, d) for i, d in zip(index, target, strict=True) if d != 1]
    for taken, made in _groups([d for _, d in old], [d for _, d in new]):
        linear = const(0)
        for i, d in new[:made]:
            linear = linear * d + i
        stride = const(1)
        for nth in reversed(range(taken)):
            axis, d = old[nth]
            quotient = linear // stride
            result[axis] = domain.simplify(quotient if nth == 0 else quotient % d)
            stride = stride * d
        old, new = old[taken:], new[made:]
    return tuple(result)


def regroups_open_axes(source: Sequence[Expr], target: Sequence[Expr]) -> bool:
    """Whether indices have to be divided by open sizes, of which only the running program knows that they fit."""
    old, new = ([d for d in dims if d != 1] for dims in (source, target))
    for taken, made in _groups(old, new):
        if min(taken, made) > 1 and product(old[:taken]) != product(new[:made]):
            return True
        old, new = old[taken:], new[made:]
    return False


def _groups(old: Sequence[Expr], new: Sequence[Expr]) -> list[tuple[int, int]]:
    """How many axes on each side hold equally many elements, group by group: the fewest for which this can be seen.

    Where sizes fit, 7 * (H floordiv 7) is H. So it is taken for on one side only: there no group has more elements than
    on the other then, and as the groups have as many together, each of them has.
    """
    for one, other in ((_as_it_is, _as_it_is), (_as_it_is, without_rounding), (without_rounding, _as_it_is)):
        groups = _matched(old, new, one, other)
        if groups is not None:
            return groups
    same = [a == b for a, b in zip(old, new, strict=False)]
    front = same.index(False) if False in same else len(same)
    same = [a == b for a, b in zip(reversed(old[front:]), reversed(new[front:]), strict=False)]
    behind = same.index(False) if False in same else len(same)
    rest = (len(old) - front - behind, len(new) - front - behind)
    return [*[(1, 1)] * front, rest, *[(1, 1)] * behind]


def _as_it_is(size: Expr) -> Expr:
    return size


def _matched(
    old: Sequence[Expr], new: Sequence[Expr], one: Callable[[Expr], Expr], other: Callable[[Expr], Expr]
) -> list[tuple[int, int]] | None:
    """The groups, if there are such; axes of sizes that `one` and `other` make the same hold equally many elements."""
    groups: list[tuple[int, int]] = []
    while old:
        reached = {other(product(new[:made])): made for made in range(1, len(new) + 1)}
        numbers = ((taken, reached.get(one(product(old[:taken])))) for taken in range(1, len(old) + 1))
        found = next(((taken, made) for taken, made in numbers if made is not None), None)
        if found is None:
            return None
        groups.append(found)
        old, new = old[found[0] :], new[found[1] :]
    return groups if not new else None
