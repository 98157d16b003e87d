"""The axes of a product's stages as one each of the batch, rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.rules.gpu.product_form import Product


class Axis(NamedTuple):
    """An axis of a stage, and its name."""

    name: str
    value: SSAValue


def grouped(s: ScheduleBuilder, product: Product, axes: Mapping[str, SSAValue]) -> list[Axis]:
    """One axis for each group, in order, given the axes that a stage of the product's shape has, by its names.

    The groups are the axes of the batch, if there are any, of rows, and of columns.
    """
    own = dict(axes)
    if product.grouping is not None:
        halves = s.split(own[product.grouping.axis], product.grouping.count)
        own |= dict(zip(product.grouping.names, halves, strict=True))
        own = {name: own[name] for name in product.extents if name in own}
    groups = [axes for axes in (product.batch, product.rows, product.columns) if axes]
    order = [own[name] for group in groups for name in group]
    if order != [*own.values()]:
        s.reorder(order)
    return [fused(s, [Axis(name, own[name]) for name in group]) for group in groups]


def fused(s: ScheduleBuilder, axes: Sequence[Axis]) -> Axis:
    """Adjacent axes as one."""
    return Axis(joined(axis.name for axis in axes), s.fuse([axis.value for axis in axes]))


def joined(names: Iterable[str]) -> str:
    """The name of an axis that others are fused into."""
    return ".".join(names)
