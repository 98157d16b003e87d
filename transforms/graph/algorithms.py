"""The algorithms for a kernel, and how long the target's rules expect each to take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import inf, prod
from typing import Any, ClassVar

from xdsl.dialects.builtin import FixedBitwidthType, FloatAttr, IntegerAttr, UnitAttr, f32, i8, i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilework.analysis.group_content import content_of
from tilework.analysis.parameters import parameter_bytes
from tilework.analysis.precision import FLOAT_BITS, Precision
from tilework.analysis.sizes import bytes_of
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.algorithms.bf16x import Bf16xConvOp, Bf16xDenseOp, Bf16xWeightOp, can_use_bf16x
from tilework.dialects.graph.algorithms.packed_float import (
    PackedFloatDenseOp,
    PackedFloatWeightOp,
    WordFormat,
    can_use_packed_float,
)
from tilework.dialects.graph.algorithms.strassen import (
    StrassenConvOp,
    StrassenDenseOp,
    StrassenWeightOp,
    can_use_strassen,
)
from tilework.dialects.graph.algorithms.winograd import WinogradConvOp, WinogradWeightOp, winograd_tiles
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.movement import PadOp, SliceOp
from tilework.dialects.graph.structure import FusedOp, ParameterOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.rules.registry import choose_rule
from tilework.targets import Target
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.te_kernels import build_kernel
from tilework.transforms.graph.words_of_groups import (
    argument_for_words,
    take_words,
    words_axis,
    words_group,
    words_of,
)

WORTH = 0.96
"""The part of the direct sum's time that a faster algorithm may take, and of this one's time one on another level: its
weights are more, and need more memory."""


Product = ConvOp | DenseOp


@dataclass(frozen=True)
class Winograd:
    """For a convolution, with tiles of so many outputs along each axis; phases: whether they are taken as channels.

    added: so many filters of zeros behind its own, which fill vectors; what they make is cut off. counted: whether
    tiles are counted through. benefit: of the rules made for it, at least.
    """

    tile: int
    phases: bool = False
    added: int = 0
    counted: bool = False
    levels: ClassVar[int] = 1
    benefit: ClassVar[int] = 1

    def transform(self, weight: SSAValue, product: Product) -> Operation:
        """Of its weight; not yet inserted."""
        assert isinstance(product, ConvOp)
        stride = IntegerAttr(product.strides.get_values()[-1], i64)
        phases = {"phases_as_channels": UnitAttr()} if self.phases else {}
        return WinogradWeightOp.of(weight, tile=IntegerAttr(self.tile, i64), stride=stride, **phases)

    def multiply(self, product: Product, transform: Operation, transformed: SSAValue) -> Operation:
        """What computes the product, of the transformed weight; not yet inserted."""
        assert isinstance(product, ConvOp)
        windows = product.windows
        *front, top, left = windows.before
        *behind, bottom, right = windows.after
        # of phases, windows are as long as all phases of the taps
        missing = -windows.kernel[-1] % windows.strides[-1] if self.phases else 0
        properties = {**transform.properties, "pads": ints([top, left, bottom + missing, right + missing])}
        if self.counted:
            properties["counted"] = UnitAttr()
        if front:
            properties["slices"] = ints([windows.strides[0], windows.dilations[0], *front, *behind])
        return WinogradConvOp.of(product.input, transformed, **properties)

    def multiplying(self, product: Product, weights: int, target: Target) -> float:
        """Cycles of multiplying with so many numbers of the transformed weight, at least."""
        batch, _, *slices, height, width = (e.constant or 1 for e in dims_of(product.result.type))
        uses = batch * prod(slices) * -(-height // self.tile) * -(-width // self.tile)
        return _vector_cycles(weights * uses, target)


@dataclass(frozen=True)
class Strassen:
    """For a product of matrices, whose parts are multiplied by the same algorithm on so many levels."""

    levels: int
    added: ClassVar[int] = 0
    benefit: ClassVar[int] = 1

    def transform(self, weight: SSAValue, product: Product) -> Operation:
        """Of its weight; not yet inserted."""
        return StrassenWeightOp.of(weight, levels=IntegerAttr(self.levels, i64))

    def multiply(self, product: Product, transform: Operation, transformed: SSAValue) -> Operation:
        """What computes the product, of the transformed weight; not yet inserted."""
        if isinstance(product, DenseOp):
            return StrassenDenseOp.of(product.input, transformed)
        return StrassenConvOp.of(product.input, transformed, strides=product.strides)

    def multiplying(self, product: Product, weights: int, target: Target) -> float:
        """Cycles of multiplying with so many numbers of the transformed weight, at least."""
        return _vector_cycles(weights * _points(product) // 2**self.levels, target)


@dataclass(frozen=True)
class Words:
    """For a product of bytes, four of which are multiplied at once; apart: words are put together by another kernel."""

    apart: bool = False
    levels: ClassVar[int] = 0
    added: ClassVar[int] = 0
    benefit: ClassVar[int] = 0

    def multiply(self, product: Product, transform: Operation, transformed: SSAValue) -> Operation:
        """What computes the product, of the transformed weight; not yet inserted."""
        take_words(product, self.apart)
        return type(product).of(product.input, transformed, **product.properties, words=UnitAttr())

    def multiplying(self, product: Product, weights: int, target: Target) -> float:
        """Cycles of multiplying with so many numbers of the transformed weight, at least."""
        return _vector_cycles(weights * _points(product), target)


@dataclass(frozen=True)
class Bf16x:
    """For a product of floats, each of which is the sum of so many numbers of bfloat16."""

    numbers: int
    levels: ClassVar[int] = 1
    added: ClassVar[int] = 0
    benefit: ClassVar[int] = 1

    def transform(self, weight: SSAValue, product: Product) -> Operation:
        """Of its weight; not yet inserted."""
        return Bf16xWeightOp.of(weight, numbers=IntegerAttr(self.numbers, i64))

    def multiply(self, product: Product, transform: Operation, transformed: SSAValue) -> Operation:
        """What computes the product, of the transformed weight; not yet inserted."""
        outputs = IntegerAttr(product.dims(1)[0].constant or 0, i64)
        if isinstance(product, DenseOp):
            return Bf16xDenseOp.of(product.input, transformed, outputs=outputs)
        windows = {"strides": product.strides, "pads": product.pads, "dilations": product.dilations}
        return Bf16xConvOp.of(product.input, transformed, **windows, outputs=outputs)

    def multiplying(self, product: Product, weights: int, target: Target) -> float:
        """Cycles of multiplying with so many numbers of the transformed weight, at least."""
        return weights * _points(product) / target.tile_multiplications


@dataclass(frozen=True)
class PackedFloat:
    """For a layer with few rows, whose weights become shorter, and less exact: a level, as if they became more.

    bits: of a weight.
    """

    bits: int
    levels: ClassVar[int] = 1
    added: ClassVar[int] = 0
    benefit: ClassVar[int] = 1

    def transform(self, weight: SSAValue, product: Product) -> Operation:
        """Of its weight; not yet inserted."""
        return PackedFloatWeightOp.of(weight, bits=IntegerAttr(self.bits, i64))

    def multiply(self, product: Product, transform: Operation, transformed: SSAValue) -> Operation:
        """What computes the product, of the transformed weight; not yet inserted."""
        outputs = IntegerAttr(product.dims(1)[0].constant or 0, i64)
        return PackedFloatDenseOp.of(product.input, transformed, outputs=outputs)

    def multiplying(self, product: Product, weights: int, target: Target) -> float:
        """Cycles of multiplying with so many numbers of the transformed weight, at least."""
        format = WordFormat.of(self.bits)
        return _vector_cycles(weights * format.weights // format.words * _points(product), target)


Fast = Winograd | Strassen | Words | Bf16x | PackedFloat
_FAST: dict[str, type[Fast]] = {kind.__name__: kind for kind in (Winograd, Strassen, Words, Bf16x, PackedFloat)}


def _fast_algorithms(product: Product, precision: Precision, target: Target) -> Iterator[Fast]:
    if precision.numbers and target.tile_multiplications and can_use_bf16x(product):
        yield Bf16x(precision.numbers)
    if precision.weight_bits < FLOAT_BITS and isinstance(product, DenseOp) and can_use_packed_float(product):
        is_streamed = bytes_of(product.weight.type) > target.core_cache_bytes  # else it stays, from call to call
        if is_streamed and (product.dims(1)[1].constant or 0) >= precision.least_sum:
            yield PackedFloat(precision.weight_bits)
    if target.dot_bits and (product.dtype(0), product.dtype(1)) == (UNSIGNED_BYTE, i8):
        yield from (Words(apart) for apart in (False, True) if argument_for_words(product, apart) is not None)
    if isinstance(product, ConvOp):
        added = -(product.dims(1)[0].constant or 0) % target.lanes(f32.bitwidth)
        is_open = not all(e.is_constant for e in product.dims(0)[-2:])
        for phases in (False, True) if product.strides.get_values()[-1] > 1 else (False,):
            for tile in winograd_tiles(product, precision.products):
                fast = Winograd(tile, phases, added)
                # weights are read for every block of tiles: where they do not stay near, blocks must not end with rows
                weights, bits = _transformed(product, fast)
                counted = is_open and weights * bits // 8 > target.near_bytes
                yield replace(fast, counted=counted)
    for levels in range(1, precision.levels + 1):
        if can_use_strassen(product, levels):
            yield Strassen(levels)


@dataclass(frozen=True)
class Algorithm:
    """How many cycles it should take; `fast` is None for the direct sum."""

    cycles: float
    fast: Fast | None = None

    @property
    def levels(self) -> int:
        """How many times weights have become more."""
        return 0 if self.fast is None else self.fast.levels

    @property
    def price(self) -> float:
        """What to compare: cycles, where those of each level have to be few enough for its weights."""
        return self.cycles / WORTH**self.levels

    def to_json(self) -> dict[str, Any]:
        """As JSON values, for `from_json`."""
        fast = None if self.fast is None else {"kind": type(self.fast).__name__, **asdict(self.fast)}
        return {"cycles": self.cycles, "fast": fast}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Algorithm:
        """What `to_json` made values of."""
        options = values["fast"]
        fast = options and _FAST[options["kind"]](**{name: v for name, v in options.items() if name != "kind"})
        return cls(values["cycles"], fast)


def _points(product: Product) -> int:
    """With how many of them each number of a weight is multiplied, at least."""
    outputs = product.dims(1)[0].constant or 1
    return prod(e.constant or 1 for e in dims_of(product.result.type)) // outputs


def _vector_cycles(multiplications: int, target: Target) -> float:
    return multiplications / target.lanes(f32.bitwidth) / target.vectors_per_cycle


def algorithms_for(target: Target, precision: Precision, graph: Block) -> Algorithms:
    """For the kernels of a graph; one for all passes that ask: they ask about the same kernels.

    What a scan's body reads of weights, it reads every step, whatever else the program has.
    """
    return remembered_algorithms(target.with_weights(parameter_bytes(graph)), precision)


@cache
def remembered_algorithms(target: Target, precision: Precision) -> Algorithms:
    """One for each target, as `with_weights` answers, and precision: what a process has asked once it knows."""
    return Algorithms(target, precision)


@dataclass
class Algorithms:
    """Asks the rules once for every distinct kernel: networks repeat themselves."""

    target: Target
    precision: Precision
    _known: dict[Hashable, Algorithm] = field(default_factory=dict[Hashable, Algorithm])

    def best_for(self, group: FusedOp) -> Algorithm:
        """The fastest algorithm for a group."""
        key = question_of(group)
        if key not in self._known:
            self._known[key] = self._best_for(group)
        return self._known[key]

    def knows(self, question: Hashable) -> bool:
        """Whether it was asked, or told."""
        return question in self._known

    def tell(self, question: Hashable, answer: Algorithm) -> None:
        """The answer of another `Algorithms` with the same target and precision."""
        self._known[question] = answer

    def _best_for(self, group: FusedOp) -> Algorithm:
        best = Algorithm(self._cycles(group))
        product = product_with_parameter(group)
        if product is None:
            return best
        least = {
            fast: self._least_cycles(fast, product) for fast in _fast_algorithms(product, self.precision, self.target)
        }
        for fast in sorted(least, key=lambda fast: (fast.levels, least[fast])):
            if fast.levels > best.levels + 1 or Algorithm(least[fast], fast).price >= best.price:
                continue  # one level less was not worth it, or another one takes less than this can
            option = Algorithm(self._cycles_with(fast, group), fast)
            if option.price < best.price:
                best = option
        return best

    def _least_cycles(self, fast: Fast, product: Product) -> float:
        """Of nothing but multiplying, or reading weights from memory."""
        weights, bits = _transformed(product, fast)
        multiplying = fast.multiplying(product, weights, self.target)
        return max(multiplying, weights * bits / 8 / self.target.memory_speed)

    def _cycles_with(self, fast: Fast, group: FusedOp) -> float:
        trial = group.clone()
        product = product_with_parameter(trial)
        assert product is not None
        before = self._cycles_apart(product) if isinstance(fast, Words) and fast.apart else 0.0
        use_fast(product, fast)
        cycles = self._cycles(trial, fast.benefit)
        trial.erase()
        return before + cycles

    def _cycles_apart(self, product: Product) -> float:
        """Of the kernel that makes words of what a product multiplies."""
        group = words_group(product.input, words_axis(product, apart=True))
        cycles = self._cycles(group)
        group.erase()
        return cycles

    def _cycles(self, group: FusedOp, least_benefit: int = 0) -> float:
        """Infinite where only rules of less benefit match, which are not made for such kernels."""
        kernel = build_kernel(group.label.data, usual_version(group))
        rule, plan = choose_rule(kernel, self.target, parameters_of(group))
        return plan.cycles if rule.BENEFIT >= least_benefit else inf


def parameters_of(group: FusedOp) -> frozenset[int]:
    """The numbers of the operands that are parameters."""
    return frozenset(i for i, v in enumerate(group.inputs) if isinstance(v.owner, ParameterOp))


def question_of(group: FusedOp) -> Hashable:
    """What the fastest algorithm for a group depends on."""
    return content_of(group.body.block), parameters_of(group)


def product_with_parameter(group: FusedOp) -> Product | None:
    """The convolution or layer of a group, if its weight is a parameter that nothing else in the group reads."""
    for product in (o for o in group.body.block.ops if isinstance(o, ConvOp | DenseOp)):
        weight = product.weight
        if isinstance(weight, BlockArgument) and weight.index in parameters_of(group) and weight.has_one_use():
            return product
    return None


def transform_weight(weight: SSAValue, product: Product, fast: Fast) -> list[Operation]:
    """What makes of a weight for a product that of an algorithm, the last of which has the result; not yet inserted."""
    if isinstance(fast, Words):
        return words_of(weight, 1)
    if not fast.added:
        return [fast.transform(weight, product)]
    rank = len(dims_of(weight.type))
    pads = ints([*[0] * rank, fast.added, *[0] * (rank - 1)])
    filled = PadOp.of(weight, pads=pads, value=FloatAttr(0.0, f32))
    return [filled, fast.transform(filled.result, product)]


def use_fast(product: Product, fast: Fast) -> None:
    """Make a product inside a group take a transformed weight; the group's operand is left as it was."""
    weight, block = product.weight, product.parent_block()
    assert isinstance(weight, BlockArgument) and block is not None
    preparing = transform_weight(weight, product, fast)
    transformed = block.insert_arg(preparing[-1].results[0].type, weight.index)
    transformed.name_hint = weight.name_hint
    computing = [fast.multiply(product, preparing[-1], transformed)]
    _erase(preparing)
    if fast.added:
        filters = product.dims(1)[0].constant or 0
        ends = {"axes": ints([1]), "starts": ints([0]), "stops": ints([filters]), "steps": ints([1])}
        computing.append(SliceOp.of(computing[0].results[0], **ends))
    for op in computing:
        copy_location(op, product)
    computing[-1].results[0].name_hint = product.result.name_hint
    Rewriter.replace_op(product, computing)
    block.erase_arg(weight)


def _transformed(product: Product, fast: Fast) -> tuple[int, int]:
    """How many numbers the transformed weight of a product has, and the bits of each."""
    preparing = transform_weight(product.weight, product, fast)
    type_ = preparing[-1].results[0].type
    _erase(preparing)
    element = element_type(type_)
    assert isinstance(element, FixedBitwidthType)
    return prod(e.constant or 1 for e in dims_of(type_)), element.bitwidth


def _erase(ops: Sequence[Operation]) -> None:
    for op in reversed(ops):
        op.erase()
