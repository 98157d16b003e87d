"""Let a block ask for what it shares in the next iteration before it uses what it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NoReturn

from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.analysis.accesses import memory_space, root_buffer
from tilework.analysis.domains import loops_around
from tilework.analysis.launches import written_in
from tilework.analysis.liveness import top_level
from tilework.dialects.loop import BarrierOp, ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.annotations import DOUBLE_BUFFER
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.memory_scopes import SHARED, untagged
from tilework.transforms.loop.dead_code import erase_unused
from tilework.transforms.loop.rewriting import constant_trip, rewrite_indices
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class PipelineFetches(PatternPass):
    """Fetch what fills shared buffers marked `loop.double_buffer` for the next iteration, before this one uses them.

                                                    %r = memref.alloca() : memref<4xf32, "register">
                                                    %r[%j] = %x[8 * %j + %t], for all %j
    loop.for %k = 0 to 8 "k" {                      loop.for %k = 0 to 8 "k" {
      loop.barrier                                    loop.barrier
      loop.for %j = 0 to 4 "j" {                      %s[8 * %j + %t] = %r[%j], for all %j
        %s[8 * %j + %t] = %x[32 * %k + 8 * %j + %t] ->  loop.if [6 - %k >= 0] {
      }                                                 %r[%j] = %x[32 * %k + 32 + 8 * %j + %t], for all %j
      loop.barrier                                    }
      use %s                                          loop.barrier
    }                                                 use %s

    Each thread keeps in registers what it has asked for, so that memory answers while all of them compute; the buffer
    needs no second half. Refuses a buffer that is not filled by one statement of a serial loop, from memory which that
    loop leaves alone, and used in the same loop. Requires what one thread does (`loop-map-threads`), with barriers, and
    accesses with one subscript (`loop-flatten-storage`); leaves none of these marks.
    """

    name = "loop-pipeline-fetches"
    anchor = KernelOp


class FetchEarly(RewritePattern):
    """What fills a shared buffer in a loop is loaded one iteration before it is stored."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        if DOUBLE_BUFFER in op.attributes and untagged(memory_space(op.memref)) == SHARED:
            _Fetch(op).pipeline(rewriter)


class _Fetch:
    """A shared buffer, the operations that fill it, the one store among them, and the loop around these and all uses.

    fill: right in the loop's body, in order; the last one stores, and those before make what it uses.
    """

    def __init__(self, alloca: memref.AllocaOp):
        self.alloca = alloca
        self.name = f"buffer %{alloca.memref.name_hint or '?'}"
        self.store, loads = self.accesses()
        self.loop = self.common_loop(loads)
        self.fill = self.filling()
        self.around = list(loops_around(self.store, self.loop))[::-1]
        self.check(loads)

    def refuse(self, why: str) -> NoReturn:
        raise CompileError(f"{self.name} cannot be a double buffer: it {why}", self.alloca)

    def accesses(self) -> tuple[StoreOp, list[LoadOp]]:
        """The one store to the buffer, and all loads of it."""
        users = [use.operation for use in self.alloca.memref.uses]
        stores = [user for user in users if isinstance(user, StoreOp)]
        loads = [user for user in users if isinstance(user, LoadOp)]
        if len(stores) != 1 or len(stores) + len(loads) != len(users):
            self.refuse("is filled in several places; let one statement fill it")
        return stores[0], loads

    def common_loop(self, loads: list[LoadOp]) -> ForOp:
        """The innermost serial loop around the store and all loads."""
        for loop in loops_around(self.store):
            if loop.kind.data is Kind.SERIAL and loads and all(loop.is_ancestor(load) for load in loads):
                return loop
        self.refuse("is not filled and used in one serial loop; compute it at an axis that runs serially")

    def filling(self) -> list[Operation]:
        """The statement that stores, and what in the loop's body makes the values that it uses."""
        body = self.loop.body.block
        needed = {top_level(self.store, body)}
        for op in reversed(list(body.ops)):
            users = {top_level(use.operation, body) for result in op.results for use in result.uses}
            if users & needed:
                needed.add(op)
        return [op for op in body.ops if op in needed]

    def check(self, loads: list[LoadOp]) -> None:
        """Whether what fills the buffer may be loaded one iteration earlier."""
        inside = [op for filling in self.fill for op in filling.walk()]
        written = written_in(self.loop)
        if any(load in inside for load in loads):
            self.refuse("is read by what fills it; let one statement fill it and another one use it")
        if sum(isinstance(op, StoreOp | BarrierOp) for op in inside) > 1:
            self.refuse("is filled together with other memory; compute the other stage elsewhere")
        if any(isinstance(op, LoadOp) and root_buffer(op.memref) in written for op in inside):
            self.refuse("is filled from memory that the same loop writes; compute that memory outside the loop")
        if any(constant_trip(loop) is None for loop in self.around):
            self.refuse("is filled by a loop of which it is not known how often it runs; split it by a factor")

    def pipeline(self, rewriter: PatternRewriter) -> None:
        """Rewrite the loop."""
        del self.alloca.attributes[DOUBLE_BUFFER]
        registers = rewriter.insert(self.registers(), InsertPoint.before(self.loop)).memref
        lower, upper, index = self.loop.lower, self.loop.upper, var(self.loop.index)
        first, following = self.loading(registers, lower), self.loading(registers, index + 1)
        runs = at_least(upper - lower, 1)
        rewriter.insert(first if runs.constant else self.where(runs, first), InsertPoint.before(self.loop))
        self.take(registers)
        guarded = self.where(less_than(index + 1, upper), following)
        rewriter.insert(guarded, InsertPoint.after(self.fill[-1]))

    def registers(self) -> memref.AllocaOp:
        """An element for each time that a thread stores."""
        count = reduce(lambda n, loop: n * (constant_trip(loop) or 1), self.around, 1)
        element = self.alloca.memref.type.element_type
        registers = memref.AllocaOp.get(element, shape=[count], memory_space=StringAttr("register"))
        registers.memref.name_hint = f"{self.alloca.memref.name_hint or 'buffer'}_next"
        copy_location(registers, self.alloca)
        return registers

    def loading(self, registers: SSAValue, iteration: Expr) -> list[Operation]:
        """What fills the buffer, storing into registers instead what an iteration of the loop stores."""
        values: dict[SSAValue, SSAValue] = {}
        block = Block([op.clone(values) for op in self.fill])
        for op in block.walk():
            rewrite_indices(op, lambda e: e.substitute({self.loop.index: iteration}))
        [store] = [op for op in block.walk() if isinstance(op, StoreOp)]
        around = [*loops_around(store)][::-1]
        moved = StoreOp(store.value, registers, [_number(around)])
        copy_location(moved, store)
        Rewriter.replace_op(store, moved)
        copies = list(block.ops)
        for op in copies:
            op.detach()
        return copies

    def take(self, registers: SSAValue) -> None:
        """Let the buffer be filled from registers."""
        load = LoadOp(registers, [_number(self.around)])
        copy_location(load, self.store)
        Rewriter.insert_op(load, InsertPoint.before(self.store))
        self.store.operands[0] = load.result
        for op in reversed(self.fill):
            erase_unused(op)

    def where(self, condition: Predicate, ops: list[Operation]) -> IfOp:
        """Put operations under a condition."""
        guard = IfOp([condition], Region(Block(ops)))
        copy_location(guard, self.store)
        return guard


def _number(loops: list[ForOp]) -> Expr:
    """The number of an iteration of loops inside each other, counted from 0."""
    number = const(0)
    for loop in loops:
        number = number * (constant_trip(loop) or 1) + (var(loop.index) - loop.lower)
    return number
