"""The algorithms for a kernel, and how long the target's rules expect each to take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.structure import FusedOp, ParameterOp
from tilework.dialects.graph.winograd import WinogradConvOp, WinogradWeightOp, winograd_tiles
from tilework.dialects.locations import copy_location
from tilework.lowering.te_kernels import build_kernel, content_of
from tilework.rules.registry import choose_rule
from tilework.targets.target import Target

PRODUCTS = {"default": 6, "strict": 4}
"""How many products along an axis a Winograd tile may take at each precision, where windows move by more than one for
each of its filters: as accurate as the direct sum with 4, within about 1e-5 of the largest result with 6."""


def products_for(precision: str) -> int:
    """The entry of PRODUCTS. Raises UsageError for a precision that there is not."""
    if precision not in PRODUCTS:
        hint = did_you_mean(str(precision), PRODUCTS)
        raise UsageError(f"unknown precision '{precision}': it is {' or '.join(PRODUCTS)}{hint}")
    return PRODUCTS[precision]


@dataclass(frozen=True)
class Algorithm:
    """The direct sum, or with a `tile` Winograd's algorithm for so many outputs, and how many cycles it should take."""

    cycles: float
    tile: int | None = None


@cache
def algorithms_for(target: Target, products: int) -> Algorithms:
    """One for all passes that ask: they ask about the same kernels."""
    return Algorithms(target, products)


@dataclass
class Algorithms:
    """Asks the rules once for every distinct kernel: networks repeat themselves. `products` as in PRODUCTS."""

    target: Target
    products: int
    _known: dict[Hashable, Algorithm] = field(default_factory=dict[Hashable, Algorithm])

    def best_for(self, group: FusedOp) -> Algorithm:
        """The fastest algorithm for a group."""
        key = (content_of(group.body.block), parameters_of(group))
        if key not in self._known:
            self._known[key] = min(self._options(group), key=lambda option: option.cycles)
        return self._known[key]

    def _options(self, group: FusedOp) -> Iterator[Algorithm]:
        """The direct sum first."""
        yield Algorithm(self._cycles(group))
        conv = conv_of_parameter(group)
        for tile in () if conv is None else winograd_tiles(conv, self.products):
            trial = group.clone()
            copy = conv_of_parameter(trial)
            assert copy is not None
            use_winograd(copy, tile)
            yield Algorithm(self._cycles(trial), tile)
            trial.erase()

    def _cycles(self, group: FusedOp) -> float:
        kernel = build_kernel(group.label.data, group)
        return choose_rule(kernel, self.target).cycles(kernel, self.target, parameters_of(group))


def parameters_of(group: FusedOp) -> frozenset[int]:
    """The numbers of the operands that are parameters."""
    return frozenset(i for i, v in enumerate(group.inputs) if isinstance(v.owner, ParameterOp))


def conv_of_parameter(group: FusedOp) -> ConvOp | None:
    """The convolution of a group, if its weight is a parameter."""
    for conv in (o for o in group.body.block.ops if isinstance(o, ConvOp)):
        if isinstance(conv.weight, BlockArgument) and conv.weight.index in parameters_of(group):
            return conv
    return None


def winograd_weight(weight: SSAValue, conv: ConvOp, tile: int) -> WinogradWeightOp:
    """The weight of a convolution, transformed; not yet inserted."""
    stride = conv.strides.get_values()[0]
    return WinogradWeightOp.of(weight, tile=IntegerAttr(tile, i64), stride=IntegerAttr(stride, i64))


def use_winograd(conv: ConvOp, tile: int) -> None:
    """Make a convolution inside a group take a transformed weight; the group's operand is left as it was."""
    weight, block = conv.weight, conv.parent_block()
    assert isinstance(weight, BlockArgument) and block is not None
    transform = winograd_weight(weight, conv, tile)
    transformed = block.insert_arg(transform.result.type, weight.index)
    transformed.name_hint = weight.name_hint
    transform.erase()
    winograd = WinogradConvOp.of(conv.input, transformed, **transform.properties, pads=conv.pads)
    copy_location(winograd, conv)
    winograd.result.name_hint = conv.result.name_hint
    Rewriter.replace_op(conv, winograd)
    block.erase_arg(weight)
