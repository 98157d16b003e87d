"""What the stages and axes are of kernels that multiply bytes and compute with the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from xdsl.dialects.builtin import StringAttr, i8, i32
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.dialects import arith
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, IndexOp, KernelOp, ReadOp, ReduceOp, YieldOp
from tilework.rules.base import Packing
from tilework.scheduling.dataflow.inline import inline_computes
from tilework.targets.vdla.target import VdlaTarget


@dataclass(frozen=True)
class Position:
    """An axis of the sums that is no axis of weights: of rows of a matrix, or of places of a window in an image.

    axis: of the product. final: of the result. window: the axis that is summed along inside of a window, if there is
    one, of so many steps that are `dilation` apart.
    """

    axis: str
    final: str
    extent: int
    stride: int = 1
    window: str | None = None
    steps: int = 1
    dilation: int = 1

    def reach(self, count: int, steps: int) -> int:
        """How many places are read for so many sums and steps of the window."""
        return (count - 1) * self.stride + (steps - 1) * self.dilation + 1


@dataclass(frozen=True)
class Stage:
    """A stage that computes with sums. operations: of the ALU, for each. copies: whether it needs them beside its own.

    words: the arguments that it reads, by number, and whether they differ from position to position. planes: how many
    numbers it makes of each.
    """

    name: str
    operations: int
    copies: bool
    words: tuple[tuple[int, bool], ...]
    planes: int = 1


@dataclass(frozen=True)
class ProductForm:
    """A product of bytes. Axes go by their names.

    product, final: the stages that sum, and that store. inlined: those that have no memory of their own. data: the one
    that the product reads, or the number of an argument. is_picked: whether the data that are read lie apart in a row
    of DRAM. weights: the number of their argument; blocks: the packings that it lacks. outputs, channels: axes of the
    product, and how many tiles there are of them; final_outputs: the axes of the result that go from tile to tile and
    inside of one, or the one that does both. planes: the axis of the result along what stages make of each sum, where
    that is more than one number.
    """

    product: str
    final: str
    inlined: tuple[str, ...]
    data: str | int
    is_picked: bool
    weights: int
    blocks: tuple[Packing, ...]
    outputs: str
    output_tiles: int
    channels: str
    channel_tiles: int
    channel_dim: int
    positions: tuple[Position, ...]
    final_outputs: tuple[str, ...]
    planes: str | None
    stages: tuple[Stage, ...]

    @property
    def first_window(self) -> int | None:
        """The first position whose window has several steps."""
        return next((at for at, position in enumerate(self.positions) if position.steps > 1), None)


def product_form(kernel: KernelOp, target: VdlaTarget, parameters: Set[int]) -> ProductForm | None:
    """The form of a kernel; None for one that has another, or sizes that are not known or no whole tiles."""
    copy = kernel.clone()
    products = [c for c in copy.computes if c.reduction]
    if len(products) != 1 or target.batch != 1 or len(copy.results_returned) != 1:
        return None
    [product] = products
    if any(e.constant is None for c in copy.computes for _, e in (*c.spatial, *c.reduction)):
        return None
    if any(len(c.results) != 1 for c in copy.computes):
        return None
    return _Form(copy, product, target, parameters).form()


class _Form:
    """Reads off the form of a copy of a kernel, in which stages are inlined."""

    def __init__(self, kernel: KernelOp, product: ComputeOp, target: VdlaTarget, parameters: Set[int]):
        self.kernel = kernel
        self.product = product
        self.target = target
        self.parameters = parameters

    def form(self) -> ProductForm | None:
        product, kernel = self.product, self.kernel
        computes = list(kernel.computes)
        before, behind = computes[: computes.index(product)], computes[computes.index(product) + 1 :]
        reads = _factors(product)
        if reads is None or not behind or behind[-1].result not in kernel.results_returned:
            return None
        words = [c for c in behind[:-1] if element_type(c.result.type) == i32]
        kept = [c for c in words if c is words[-1] or (c.spatial and c.result.uses.get_length() > 1)]
        source = next((read.tensor.owner for read in reads if _is_data(read, product)), None)
        inlined = [c for c in before if c is not source]
        narrow = [c for c in behind[:-1] if c not in kept]
        names = tuple(c.stage.data for c in (*inlined, *narrow))
        inline_computes(inlined)
        inline_computes(narrow)
        found = _factors(product)
        if found is None:  # more than bytes came in: zeros around an image, where that was taken for the weights
            return None
        data, weights = found if _is_data(found[0], product) else found[::-1]
        axes = self.axes(data, weights)
        stages = self.stages(kept)
        if axes is None or stages is None:
            return None
        return self.whole(names, data, weights, behind[-1], axes, stages)

    def axes(self, data: ReadOp, weights: ReadOp) -> tuple[str, str, int] | None:
        """The axes of outputs and of channels, and the dimension of the data that the latter are."""
        product = self.product
        spatial, summed = dict(product.spatial), dict(product.reduction)
        outputs = {key for e in weights.exprs for key in e.variables()} & {*spatial}
        channels = [at for at, e in enumerate(data.exprs) if e.as_var in summed]
        used = [key for e in data.exprs for key in e.variables() if key in spatial]
        if len(outputs) != 1 or len(channels) != 1 or outputs & {*used} or len(used) != len({*used}):
            return None
        [output], [at] = outputs, channels
        return str(output), str(data.exprs[at].as_var), at

    def whole(
        self,
        inlined: tuple[str, ...],
        data: ReadOp,
        weights: ReadOp,
        final: ComputeOp,
        axes: tuple[str, str, int],
        stages: tuple[Stage, ...],
    ) -> ProductForm | None:
        """The form, once its parts are known to be as they should be."""
        outputs, channels, channel_dim = axes
        product, target = self.product, self.target
        extents = {name: e.offset for name, e in (*product.spatial, *product.reduction)}
        last = self.final_axes(final, outputs)
        if last is None or extents[outputs] % target.block_out or extents[channels] % target.block_in:
            return None
        positions = _positions(product, data, outputs, channels, last.others)
        blocks = self.blocks(weights, outputs, channels, positions)
        source = data.tensor
        if positions is None or blocks is None or not self.is_in_tiles(data, channel_dim):
            return None
        return ProductForm(
            product.stage.data,
            final.stage.data,
            inlined,
            source.index if isinstance(source, BlockArgument) else _stage_of(source),
            _is_picked(source),
            weights.tensor.index if isinstance(weights.tensor, BlockArgument) else -1,
            blocks,
            outputs,
            extents[outputs] // target.block_out,
            channels,
            extents[channels] // target.block_in,
            channel_dim,
            positions,
            last.outputs,
            last.planes,
            stages,
        )

    def is_in_tiles(self, data: ReadOp, channel_dim: int) -> bool:
        """Whether channels of the data lie side by side in DRAM, tile by tile, and bytes are copied as they are."""
        source = data.tensor
        if isinstance(source, BlockArgument):
            return channel_dim == len(data.exprs) - 1 and element_type(source.type) == i8
        stage = source.owner
        if not isinstance(stage, ComputeOp) or len(stage.reads) != 1:
            return False
        [read] = stage.reads
        if not isinstance(read.tensor, BlockArgument) or element_type(read.tensor.type) != i8:
            return False
        channel, size, block = var(stage.spatial[channel_dim][0]), stage.spatial[channel_dim][1], self.target.block_in
        return read.exprs[-1] in (channel % block, channel if size == dims_of(read.tensor.type)[-1] else None)

    def blocks(
        self, weights: ReadOp, outputs: str, channels: str, positions: Sequence[Position] | None
    ) -> tuple[Packing, ...] | None:
        """The packings that make tiles of the weights; None where they neither are in tiles nor may be packed."""
        if positions is None or not isinstance(weights.tensor, BlockArgument):
            return None
        o, c, out, into = var(outputs), var(channels), self.target.block_out, self.target.block_in
        windows = tuple(var(p.window) for p in positions if p.window is not None)
        number = weights.tensor.index
        if weights.exprs == (o // out, c // into, *windows, o % out, c % into):
            return ()
        if weights.exprs == (o, c, *windows) and number in self.parameters:
            return Packing(number, 0, out), Packing(number, 1, into)
        return None

    def stages(self, kept: Sequence[ComputeOp]) -> tuple[Stage, ...] | None:
        """What is computed with the sums, stage by stage, each from the one before."""
        found: list[Stage] = []
        before, planes = self.product, 1
        for stage in kept:
            reads = [read for read in stage.reads if read.tensor is before.result]
            others = [read for read in stage.reads if read.tensor is not before.result]
            more = len(stage.spatial) - len(before.spatial)
            at = tuple(var(name) for name, _ in stage.spatial[more:])
            if not reads or any(read.exprs != at for read in reads) or not all(map(_is_word, others)):
                return None
            planes *= prod(extent.offset for _, extent in stage.spatial[:more])
            operations = sum(type(op) not in _FREE for op in stage.body.block.ops)
            uses = sum(read.result.uses.get_length() for read in reads)
            words = {
                read.tensor.index: len(_names(read)) > 1 for read in others if isinstance(read.tensor, BlockArgument)
            }
            found.append(Stage(stage.stage.data, operations, uses > 1 or more > 0, tuple(words.items()), planes))
            before = stage
        return tuple(found)

    def final_axes(self, final: ComputeOp, outputs: str) -> _FinalAxes | None:
        """The axes of the result; None where it is not the lowest byte of each word before."""
        last = final.terminator
        cut = last.values[0].owner if isinstance(last, YieldOp) else None
        read = cut.input.owner if isinstance(cut, arith.TruncIOp) else None
        if not isinstance(read, ReadOp) or len(final.reads) != 1 or element_type(final.result.type) not in _BYTES:
            return None
        more = len(read.exprs) - len(self.product.spatial)
        planes = [str(e.as_var) for e in read.exprs[:more] if e.as_var is not None]
        others: dict[str, str] = {}
        own: tuple[str, ...] = ()
        sizes = dict(final.spatial)
        for (name, extent), e in zip(self.product.spatial, read.exprs[more:], strict=True):
            if name != outputs:
                others[name] = str(e.as_var) if e.as_var is not None else ""
                if not others[name] and extent != 1:
                    return None
                continue
            inner = final.spatial[-1][0]
            outer = [key for key in e.variables() if key != inner]
            if e == var(inner):
                own = (inner,)
            elif len(outer) == 1 and e == self.target.block_out * var(outer[0]) + var(inner):
                own = (str(outer[0]), inner) if sizes[inner] == self.target.block_out else ()
        if not own or len(planes) != more or more > 1:
            return None
        return _FinalAxes(own, others, planes[0] if planes else None)


class _FinalAxes(NamedTuple):
    """Axes of a result: along the product's outputs, for each of its other axes, and along no axis of it."""

    outputs: tuple[str, ...]
    others: Mapping[str, str]
    planes: str | None


_BYTES = (i8, UNSIGNED_BYTE)

_FREE: tuple[type[Operation], ...] = (ReadOp, YieldOp, IndexOp, arith.ConstantOp, arith.IndexCastOp)


def _names(read: ReadOp) -> set[Any]:
    return {key for e in read.exprs for key in e.variables()}


def _is_word(read: ReadOp) -> bool:
    return isinstance(read.tensor, BlockArgument) and element_type(read.tensor.type) == i32


def _is_picked(source: SSAValue) -> bool:
    """Whether neighbours in the last position of a stage, in tiles already, are none where it reads them."""
    stage = source.owner
    if not isinstance(stage, ComputeOp):
        return False
    [read] = stage.reads
    *_, position, _ = read.exprs
    return any(position.coefficient(key) > 1 for key in position.variables())


def _stage_of(tensor: SSAValue) -> str:
    owner = tensor.owner
    assert isinstance(owner, ComputeOp)
    return owner.stage.data


def _factors(product: ComputeOp) -> tuple[ReadOp, ReadOp] | None:
    """The two bytes whose products are summed in words; None for another reduction."""
    last = product.terminator
    if not isinstance(last, ReduceOp) or last.kind != StringAttr("add"):
        return None
    times = last.values[0].owner if len(last.values) == 1 else None
    if not isinstance(times, arith.MuliOp) or element_type(product.result.type) != i32:
        return None
    reads = [op.input.owner for op in (v.owner for v in times.operands) if isinstance(op, arith.ExtSIOp)]
    bytes_ = [read for read in reads if isinstance(read, ReadOp) and element_type(read.tensor.type) == i8]
    return (bytes_[0], bytes_[1]) if len(bytes_) == 2 and bytes_[0] is not bytes_[1] else None


def _is_data(read: ReadOp, product: ComputeOp) -> bool:
    """Whether a factor is no weight: weights move with the second axis of the sums alone."""
    names = [name for name, _ in product.spatial]
    return [name for name in names if name in _names(read)] != names[1:2]


def _positions(
    product: ComputeOp, data: ReadOp, outputs: str, channels: str, finals: Mapping[str, str]
) -> tuple[Position, ...] | None:
    """The axes of the sums but for outputs, in the order of the data's dimensions."""
    spatial, summed = dict(product.spatial), dict(product.reduction)
    found: dict[str, Position] = {}
    for e in data.exprs:
        own = [str(key) for key in e.variables() if key in spatial]
        along = [str(key) for key in e.variables() if key in summed and key != channels]
        if not own and not along:
            continue
        if len(own) != 1 or len(along) > 1:
            return None
        [axis] = own
        position = Position(axis, finals[axis], spatial[axis].offset, e.coefficient(axis))
        if along:
            position = Position(
                axis,
                finals[axis],
                spatial[axis].offset,
                e.coefficient(axis),
                along[0],
                summed[along[0]].offset,
                e.coefficient(along[0]),
            )
        rest: Expr = e - var(axis) * position.stride - (var(along[0]) * position.dilation if along else 0)
        if rest != 0 or position.stride < 1 or position.dilation < 1:
            return None
        found[axis] = position
    windows = {p.window for p in found.values() if p.window is not None}
    if {*summed} != windows | {channels}:
        return None
    idle = {name: e.offset for name, e in product.spatial if name != outputs and name not in found}
    return tuple(found.values()) if all(extent == 1 for extent in idle.values()) else None
