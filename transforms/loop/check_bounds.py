"""Check subscripts while a kernel runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, const, minimum, to_expr, var
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.analysis.accesses import buffer_dims
from tilework.analysis.domains import Scope, kernel_scope, walk_scoped
from tilework.dialects import arith
from tilework.dialects.loop import INDEX, ApplyOp, ForOp, IfOp, KernelOp, LoadOp, StoreOp, YieldOp
from tilework.dialects.loop.annotations import CHECKS
from tilework.dialects.loop.bounds import access_text, in_loops
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import scalar_type
from tilework.transforms.base import TileworkPass

FIELDS = 3
"""Numbers that are reported of a subscript: whether one was out of bounds, such a one, and the size."""


@dataclass(frozen=True)
class CheckBounds(TileworkPass):
    """Let a kernel load and store within its buffers only, and report each subscript that is out of bounds.

    loop.kernel @take ins(..) outs(%y: ..) {        loop.kernel @take ins(..) outs(%y: .., %report: memref<3xindex>)
      ..                                              attributes {loop.checks = ["in i: load from %x[%j] .."]} {
      %v = loop.load %x[%j] : memref<8xf32>    ->     ..
                                                      %v = loop.if [%j >= 0, -%j + 7 >= 0] -> f32 {
                                                        %a = loop.load %x[%j] : memref<8xf32>
                                                        loop.yield %a : f32
                                                      } else {
                                                        loop.store .. %report[0..2] : that it is so, %j and 8
                                                        loop.yield %zero : f32

    What a load out of bounds gives is 0, and such a store is left out. One more output has three numbers for each
    subscript that is checked, in the order of `loop.checks`: 1 where it was out of bounds and 0 elsewhere, the
    subscript, the size. Subscripts that the loops and conditions around keep within the buffer are not checked.
    This is an algorithm and no pattern: all checks of a kernel report to one output, whose size is how many there are.
    Requires `loop-rewrite-unsafe-select`, without which a load that a choice throws away counts as one.
    """

    name = "loop-check-bounds"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        accesses = [
            (access, scope)
            for access, scope in walk_scoped(op.body.block, kernel_scope(op))
            if isinstance(access, LoadOp | StoreOp)
        ]
        open_ = [(access, [s for s in _subscripts(access) if not s.stays_inside(scope)]) for access, scope in accesses]
        checks = [_Check(access, subscripts) for access, subscripts in open_ if subscripts]
        texts = [s.text(check.access) for check in checks for s in check.subscripts]
        if not texts:
            return
        report = _Report(_added_output(op, FIELDS * len(texts)))
        for check in checks:
            check.guard(report)
        report.clear(op.body.block, FIELDS * len(texts))
        op.attributes[CHECKS] = ArrayAttr(map(StringAttr, texts))


@dataclass(frozen=True)
class _Subscript:
    """One subscript along a dimension of a buffer of this size."""

    value: Expr
    dimension: int
    size: Expr

    @property
    def inside(self) -> tuple[Predicate, Predicate]:
        return at_least(self.value, 0), less_than(self.value, self.size)

    def stays_inside(self, scope: Scope) -> bool:
        return all(scope.proves(p) for p in self.inside)

    def text(self, access: LoadOp | StoreOp) -> str:
        """What is said of it where it is out of bounds, as far as that is known."""
        what = "load from" if isinstance(access, LoadOp) else "store to"
        return f"{in_loops(access)}: {what} {access_text(access)} out of bounds: dimension {self.dimension}"


def _subscripts(access: LoadOp | StoreOp) -> Iterator[_Subscript]:
    """Those of an access; of a vector along the last dimension that of the first lane and that of the last."""
    sizes, indices = buffer_dims(access.memref), access.exprs
    for dimension, (e, size) in enumerate(zip(indices, sizes, strict=True)):
        ends = _ends_of_lanes(access) if dimension == len(sizes) - 1 else [const(0)]
        for lane in ends:
            yield _Subscript(e + lane * access.lane_stride, dimension, size)


def _ends_of_lanes(access: LoadOp | StoreOp) -> list[Expr]:
    """The first and the last lane that are touched."""
    accessed = _accessed(access)
    if not isinstance(accessed, VectorType) or access.lane_stride == 0:
        return [const(0)]
    lanes, count = const(accessed.get_shape()[0]), access.lane_count
    return [to_expr(access.lane_first or 0), (lanes if count is None else minimum(lanes, count)) - 1]


def _accessed(access: LoadOp | StoreOp) -> Attribute:
    return access.result.type if isinstance(access, LoadOp) else access.value.type


@dataclass
class _Report:
    """The output that says which subscripts were out of bounds."""

    buffer: SSAValue
    used: int = 0

    def clear(self, block: Block, size: int) -> None:
        """Let the kernel begin by saying that none was."""
        loop = ForOp(0, size, "clear")
        inside = Builder(InsertPoint.at_end(loop.body.block))
        zero = inside.insert(arith.ConstantOp(IntegerAttr(0, INDEX)))
        inside.insert(StoreOp(zero.result, self.buffer, [var(loop.index)]))
        Builder(InsertPoint.at_start(block)).insert(loop)

    def write(self, build: Builder, subscript: _Subscript) -> None:
        """Say that a subscript is out of bounds."""
        for e in (const(1), subscript.value, subscript.size):
            build.insert(StoreOp(build.insert(ApplyOp(e)).result, self.buffer, [self.used]))
            self.used += 1


@dataclass(frozen=True)
class _Check:
    """An access and those of its subscripts that may be out of bounds."""

    access: LoadOp | StoreOp
    subscripts: Sequence[_Subscript]

    def guard(self, report: _Report) -> None:
        """Replace the access by one under conditions."""
        access, block = self.access, self._block_of_access()
        for subscript in self.subscripts:
            block = Block([self._chosen(list(subscript.inside), block, self._outside(subscript, report))])
            self._end(block)
        if access.lane_first is not None or access.lane_count is not None:
            first, last = _ends_of_lanes(access)
            block = Block([self._chosen([at_least(last, first)], block, self._block_of_access())])
            self._end(block)
        guarded = block.first_op
        assert guarded is not None
        guarded.detach()
        Builder(InsertPoint.before(access)).insert(guarded)
        for inner in guarded.walk():
            copy_location(inner, access)
        if isinstance(access, LoadOp):
            guarded.results[0].name_hint = access.result.name_hint
            access.result.replace_all_uses_with(guarded.results[0])
        access.detach()
        access.erase()

    def _block_of_access(self) -> Block:
        block = Block([self.access.clone()])
        self._end(block)
        return block

    def _outside(self, subscript: _Subscript, report: _Report) -> Block:
        """What is done where a subscript is out of bounds."""
        block = Block()
        build = Builder(InsertPoint.at_end(block))
        report.write(build, subscript)
        if isinstance(self.access, LoadOp):
            build.insert(YieldOp([_zero(build, self.access.result.type)]))
        return block

    def _chosen(self, when: Sequence[Predicate], then: Block, otherwise: Block) -> IfOp:
        types = [self.access.result.type] if isinstance(self.access, LoadOp) else []
        return IfOp(when, Region(then), Region(otherwise), types)

    def _end(self, block: Block) -> None:
        """Let a block give what the operation in it does."""
        if block.last_op is not None and block.last_op.results:
            block.add_op(YieldOp(block.last_op.results))


def _zero(build: Builder, type_: Attribute) -> SSAValue:
    element = scalar_type(type_)
    is_integer = isinstance(element, IntegerType | IndexType)
    number = IntegerAttr(0, cast("IntegerType", element)) if is_integer else FloatAttr(0.0, cast("AnyFloat", element))
    zero = build.insert(arith.ConstantOp(number)).result
    if not isinstance(type_, VectorType):
        return zero
    return build.insert(vector.BroadcastOp(zero, cast("VectorType[Attribute]", type_))).vector


def _added_output(kernel: KernelOp, size: int) -> SSAValue:
    """One more output of a kernel, of so many indices."""
    inputs, outputs, scratch, symbols = kernel.group_sizes
    at, type_ = inputs + outputs, MemRefType(INDEX, [size])
    types, dims = list(kernel.function_type.inputs.data), list(kernel.dims.data)
    types.insert(at, type_)
    dims.insert(at, DimsAttr.of([size]))
    kernel.properties |= {
        "function_type": FunctionType.from_lists(types, []),
        "groups": DenseArrayBase.from_list(i32, [inputs, outputs + 1, scratch, symbols]),
        "dims": ArrayAttr(dims),
    }
    argument = kernel.body.block.insert_arg(type_, at)
    argument.name_hint = "report"
    return argument
