"""Loop nests become operations of VDLA's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.loop_nest import NoNest, buffer_name, holds, nest_of, only_loop
from tilework.analysis.program_targets import target_of
from tilework.dialects import arith
from tilework.dialects.isa import vdla
from tilework.dialects.loop import ForOp, IfOp, IntrinsicOp, KernelOp, Kind, YieldOp
from tilework.dialects.loop.annotations import DOUBLE_BUFFER
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.te import IntrinsicOp as Declaration
from tilework.lowering.vdla.buffers import Buffers
from tilework.lowering.vdla.computations import emit_computation
from tilework.lowering.vdla.emitter import Emitter
from tilework.lowering.vdla.reads import read_of
from tilework.lowering.vdla.tiles import tile_number
from tilework.lowering.vdla.transfers import emit_load, emit_store
from tilework.lowering.vdla.uniform_ranges import decided_inside, uniform_ranges
from tilework.targets.vdla.target import VdlaTarget
from tilework.transforms.base import TileworkPass


def _legal(op: Operation) -> str | None:
    is_of_loops = op.name.partition(".")[0] == "loop" and op.name != "loop.apply"
    return f"{op.name} is of the loop level" if is_of_loops else None


@dataclass(frozen=True)
class LoopToVdla(TileworkPass):
    """Turn every kernel into a function of operations that VDLA's units run, without tokens.

    loop.kernel @k ins(%x: memref<64xi8>) ..             func.func @k(%x: memref<4x1x16xi8>, ..) {
      %b = memref.alloca() : memref<64xi8, "vdla.inp">     %b = memref.alloca() : memref<4x1x16xi8, "vdla.inp">
      loop.for %i = 0 to 4 "i" {                      ->   vdla.load %x[%c0] to %b[%c0] size [1, 4] stride 4 : ..
        loop.for %l = 0 to 16 "l" { copy %x to %b } }      scf.for %k = .. {
      loop.for %k = .. { loop.intrinsic @vdla.gemm .. }      vdla.gemm %acc[..], %b[%k], %wgt[..] : ..

    Nests that copy whole tiles between DRAM and the chip become transfers, those that compute with accumulators
    operations of the ALU, intrinsics what they are called after; loops around are `scf.for`.
    This is a lowering and no pattern: what an argument's tiles are is known from all that touches it.
    Requires one-dimensional buffers and intrinsics (`loop-tensorize`), and sizes that are known.
    """

    name = "loop-to-vdla"
    anchor = ModuleOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        for kernel in [k for k in op.ops if isinstance(k, KernelOp)]:
            lowered = _Lowering(kernel, VdlaTarget.of(target_of(kernel))).function()
            op.body.block.insert_op_before(lowered, kernel)
            kernel.detach()
            kernel.erase()
        for declaration in [d for d in op.ops if isinstance(d, Declaration)]:
            declaration.detach()
            declaration.erase()


class _Lowering:
    """One kernel, and the function that it becomes.

    known: for the indices of loops around, numbers for which bounds and conditions inside are what they are here.
    reason: why the innermost loop around is no nest.
    """

    def __init__(self, kernel: KernelOp, target: VdlaTarget):
        self.kernel = kernel
        self.target = target
        self.buffers = Buffers(target)
        self.block = Block(arg_types=kernel.body.block.arg_types)
        self.emitter = Emitter(self.block, kernel)
        self.known: dict[SSAValue, Expr] = {}
        self.reason = ""

    def function(self) -> func.FuncOp:
        """The function. Raises CompileError where units do not run what the kernel does."""
        kernel = self.kernel
        if any(kernel.group_sizes[2:]):
            raise CompileError(
                f"@{kernel.sym_name.data} takes scratch or sizes besides inputs and results: compute every stage at an "
                "axis, and fix the sizes",
                kernel,
            )
        for i, old in enumerate(kernel.body.block.args):
            self.buffers.put_argument(old, self.block, i)
        self.statements(kernel.body.block)
        self.emitter.place = kernel
        self.emitter.add(func.ReturnOp())
        type_ = FunctionType.from_lists(list(self.block.arg_types), [])
        function = func.FuncOp(kernel.sym_name.data, type_, Region(self.block))
        copy_location(function, kernel)
        return function

    def statements(self, block: Block) -> None:
        """Append what the operations of a block become."""
        for op in block.ops:
            self.emitter.place = op
            try:
                self.statement(op)
            except NoNest as error:
                raise CompileError(f"no unit runs this: {error}", op) from error

    def statement(self, op: Operation) -> None:
        """Append what an operation becomes. Raises NoNest, with the reason, for what no unit runs."""
        match op:
            case memref.ReinterpretCastOp() | arith.ConstantOp():
                pass  # buffers are asked for their roots, constants for their numbers
            case memref.AllocaOp():
                self.allocate(op)
            case IntrinsicOp():
                self.intrinsic(op)
            case ForOp():
                self.loop(op)
            case IfOp():
                self.condition(op)
            case YieldOp():
                pass
            case _:
                what = f"{op.name} is no intrinsic, and in no nest that copies or computes whole tiles"
                raise NoNest(what + self.reason)

    def allocate(self, op: memref.AllocaOp) -> None:
        memory = self.buffers.memory_of(op.memref)
        if memory is None:
            raise NoNest(f'{op.memref.type} is not on the chip: set the scope to "vdla.inp", "vdla.wgt" or "vdla.acc"')
        tiles = self.buffers.tiles(op.memref, memory)
        new = memref.AllocaOp.get(tiles.element_type, None, tiles.get_shape(), memory_space=tiles.memory_space)
        new.memref.name_hint = op.memref.name_hint
        if DOUBLE_BUFFER in op.attributes:
            new.attributes[DOUBLE_BUFFER] = op.attributes[DOUBLE_BUFFER]
        self.emitter.add(new)
        self.buffers.put(op.memref, new.memref)

    def loop(self, op: ForOp) -> None:
        if op.kind.data is Kind.UNROLLED and decided_inside(op):
            self.loops(op)  # what is read differs from iteration to iteration
            return
        inner = self.decisive(op)
        if inner is not None:
            self.each(inner, op)
            return
        try:
            nest = nest_of(op, self.known)
        except NoNest as error:
            around, self.reason = self.reason, f": {error}"
            self.loops(op)
            self.reason = around
            return
        if min(nest.trips) < 1:
            return
        memory, read = self.buffers.memory_of(nest.store.memref), read_of(nest, self.known)
        if memory is None:
            emit_store(nest, self.buffers, self.emitter)
        elif memory.name != "acc" or (read is not None and self.buffers.memory_of(read.load.memref) is None):
            emit_load(nest, read, memory, self.buffers, self.emitter)
        else:
            emit_computation(nest, self.known, memory, self.buffers, self.emitter)

    def decisive(self, op: ForOp) -> ForOp | None:
        """A loop inside of a nest that is written out and decides what the nest does, as virtual threads do."""
        for loop in (inner for inner in op.body.walk() if isinstance(inner, ForOp) and inner.index not in self.known):
            if loop.kind.data is not Kind.UNROLLED or not decided_inside(loop):
                continue
            for index in range(*self.range_of(loop)):
                try:
                    nest_of(op, {**self.known, loop.index: const(index)})
                except NoNest:
                    continue
                return loop
        return None

    def each(self, loop: ForOp, op: ForOp) -> None:
        """Append what a nest becomes in each iteration of a loop of it: its elements are independent of each other."""
        for index in range(*self.range_of(loop)):
            self.known[loop.index] = self.emitter.values[loop.index] = const(index)
            conditions = (inner for inner in op.walk() if isinstance(inner, IfOp) and not inner.outputs)
            if all(c.else_body.blocks or holds(c, self.known) is not False for c in conditions):
                self.loop(op)
        self.known.pop(loop.index, None)

    def range_of(self, loop: ForOp) -> tuple[int, int]:
        """The first index of a loop, and the one behind its last; nothing where these are not known."""
        lower, upper = (bound.substitute(self.known).constant for bound in (loop.lower, loop.upper))
        return (0, 0) if lower is None or upper is None else (lower, upper)

    def loops(self, op: ForOp) -> None:
        """Append loops around more than one store, or around an intrinsic.

        Products are added in any order, so that of loops around one intrinsic those come first that are written out.
        """
        nest = [op]
        while (inner := only_loop(nest[-1])) is not None:
            nest.append(inner)
        held = [inner for inner in nest[-1].body.block.ops if not isinstance(inner, arith.ConstantOp)]
        if not (len(held) == 1 and isinstance(held[0], IntrinsicOp) and _are_independent(nest)):
            nest = [op]
        self.around(sorted(nest, key=lambda loop: loop.kind.data is not Kind.UNROLLED), nest[-1].body.block)

    def around(self, loops: Sequence[ForOp], block: Block) -> None:
        """Append loops around what a block becomes, in pieces where their indices decide what is done inside."""
        if not loops:
            self.statements(block)
            return
        loop, *inner = loops
        if loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
            kind = loop.kind.data
            raise NoNest(f"loop '{loop.axis.data}' is {kind}, and units run one iteration after the other")
        lower, upper = (bound.substitute(self.known) for bound in (loop.lower, loop.upper))
        first, end = lower.constant, upper.constant
        if first is None or end is None:
            raise NoNest(f"nobody knows how often loop '{loop.axis.data}' runs: from {lower} to {upper}")

        def body(index: Expr) -> None:
            self.emitter.values[loop.index] = index
            self.around(inner, block)

        written_out = loop.kind.data is Kind.UNROLLED or end - first == 1
        for begin, behind in uniform_ranges(loop, first, end, self.known):
            self.known[loop.index] = const(begin)
            self.emitter.loop(begin, behind, loop.axis.data, body, written_out=written_out)
        self.known.pop(loop.index, None)  # for the next piece of a loop around, nothing is known of this one

    def condition(self, op: IfOp) -> None:
        """Append what is done under a condition, if it holds."""
        truth = holds(op, self.known)
        if truth is None or op.outputs:
            conditions = ", ".join(map(str, op.conditions))
            raise NoNest(f"whether [{conditions}] holds is not the same for whole tiles")
        for block in (op.then_body if truth else op.else_body).blocks:
            self.statements(block)

    def intrinsic(self, op: IntrinsicOp) -> None:
        if op.intrinsic not in _INTRINSICS:
            known = ", ".join(f"@{name}" for name in _INTRINSICS)
            raise NoNest(f"@{op.intrinsic} is none of its instructions, which are {known}")
        operands: list[SSAValue] = []
        for part in op.buffer_regions:
            memory = self.buffers.memory_of(part.memref)
            assert memory is not None  # its declaration says so
            elements = memory.rows * memory.columns
            if prod(part.form.shape) != elements or part.last != elements - 1:
                raise NoNest(
                    f"a part of shape {list(part.form.shape)} of {buffer_name(part.memref)} is no tile of the target, "
                    f"which has {memory.rows}x{memory.columns} elements there"
                )
            number = tile_number(part.position, elements, f"a part of {buffer_name(part.memref)}")
            operands += [self.buffers.on_chip(part.memref), self.emitter.index(number)]
        self.emitter.add(_INTRINSICS[op.intrinsic].create(operands=operands))


def _are_independent(loops: Sequence[ForOp]) -> bool:
    """Whether no loop's bounds depend on another one's index."""
    indices = {loop.index for loop in loops}
    return not any(indices & {*loop.lower.variables(), *loop.upper.variables()} for loop in loops)


_INTRINSICS: dict[str, type[vdla.StepsOp]] = {"vdla.gemm": vdla.GemmOp, "vdla.reset": vdla.ResetOp}
"""The operation for each intrinsic, which takes the parts in the same order: the result comes first."""
