"""The program that a loop kernel is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Compound, Expr, ExprLike, Key, const, maximum, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.accesses import buffer_dims, memory_space, root_buffer, strides_of
from tilework.analysis.lanes import is_lane_mask
from tilework.analysis.sizes import bits_of
from tilework.dialects import arith, loop
from tilework.dialects.loop.annotations import AUTO_UNROLL_MAX_STEP, USED_DIMS, USED_STRIDES
from tilework.dialects.support.index_attr import DimsAttr
from tilework.tuning.features.forms import form_of
from tilework.tuning.features.operations import kind_of
from tilework.tuning.features.program import Access, Body, Buffer, Clause, Form, Loop, Program
from tilework.tuning.features.program import Operation as Counted


def read_program(kernel: loop.KernelOp) -> Program:
    """The bodies of a nest. Symbols go by their names, every loop begins at 0."""
    names = dict(zip(kernel.symbol_values, (s.data for s in kernel.symbols), strict=True))
    reader = _Reader({value: var(name) for value, name in names.items()}, frozenset(names.values()))
    reader.block(kernel.body.block, (), ())
    return Program(tuple(reader.bodies), tuple(reader.buffers.values()))


@dataclass
class _Reader:
    """Walks a nest; `values` are what indices are, as expressions over those of loops that begin at 0."""

    values: dict[Key, ExprLike]
    symbols: frozenset[str]
    indices: set[Key] = field(default_factory=set[Key])
    bodies: list[Body] = field(default_factory=list[Body])
    buffers: dict[SSAValue, Buffer] = field(default_factory=dict[SSAValue, Buffer])
    masks: dict[SSAValue, Clause] = field(default_factory=dict[SSAValue, Clause])
    """What truth values stand for."""

    def block(self, block: Block, loops: tuple[Loop, ...], clauses: tuple[Clause, ...]) -> None:
        """Read what a block holds."""
        body = Body(loops, clauses)
        self.masks.clear()
        for op in block.ops:
            match op:
                case loop.ForOp():
                    self.loop(op, loops, clauses)
                case loop.IfOp() if not op.outputs:
                    self.condition(op, loops, clauses)
                case memref.AllocaOp():
                    self.buffers[op.memref] = self.local(op, loops)
                case _:
                    self.straight(op, body, ())
        if body.accesses:
            _pair_updates(body)
            self.bodies.append(body)

    # -- loops and conditions

    def loop(self, op: loop.ForOp, loops: tuple[Loop, ...], clauses: tuple[Clause, ...]) -> None:
        """Read a loop."""
        starts = _arguments("max", op.lower.substitute(self.values))
        fixed = [start for start in starts if self.over_symbols(start)]
        first = maximum(*fixed) if fixed else op.lower.substitute(self.values)
        index = var(op.index)
        self.indices.add(op.index)
        ends = [end - first for end in _arguments("min", op.upper.substitute(self.values))]
        own = [end for end in ends if self.over_symbols(end)]
        limits = [end for end in ends if end not in own]
        later = [start - first for start in starts if fixed and start not in fixed]
        conditions = [*(limit - index - 1 for limit in limits), *(index - start for start in later)]
        kind, name = op.kind.data, op.axis.data
        inner = Loop(op.index, name, kind, tuple(own), self.forms(limits), self.forms(conditions), _unroll_limit(op))
        self.values[op.index] = first + index
        self.block(op.body.block, (*loops, inner), clauses)

    def over_symbols(self, e: Expr) -> bool:
        """Whether an expression depends on no index."""
        return set(e.variables()) <= self.symbols

    def forms(self, exprs: Iterable[Expr]) -> tuple[Form, ...]:
        """Expressions taken apart."""
        return tuple(form_of(e, self.indices, self.symbols) for e in exprs)

    def condition(self, op: loop.IfOp, loops: tuple[Loop, ...], clauses: tuple[Clause, ...]) -> None:
        """Read what is done under a condition, and what is done else."""
        self.block(op.then_body.block, loops, (*clauses, self.clause(op.conditions)))
        if op.else_body.blocks:
            self.block(op.else_body.block, loops, (*clauses, self.clause(op.conditions, fails=True)))

    def clause(self, conditions: Iterable[Predicate], fails: bool = False) -> Clause:
        """Conditions over the loops around."""
        listed = [p.substitute(self.values) for p in conditions]
        return Clause(self.forms(p.expr for p in listed), tuple(p.kind == "==" for p in listed), fails)

    # -- straight-line code

    def straight(self, op: Operation, body: Body, where: tuple[Clause, ...]) -> None:
        """Read an operation of a body, and of the choices in it."""
        match op:
            case loop.LoadOp() | loop.StoreOp():
                body.accesses.append(self.access(op, where))
            case loop.IfOp() if is_lane_mask(op):
                self.masks[op.results[0]] = self.clause(op.conditions)
            case loop.IfOp():
                for region, fails in ((op.then_body, False), (op.else_body, True)):
                    inside = (*where, self.clause(op.conditions, fails))
                    for inner in region.block.ops:
                        self.straight(inner, body, inside)
            case _:
                kind = kind_of(op)
                choosing = self.masks.get(op.cond) if isinstance(op, arith.SelectOp) else None
                if kind is not None:
                    body.operations.append(Counted(kind, where, choosing))

    def access(self, op: loop.LoadOp | loop.StoreOp, where: tuple[Clause, ...]) -> Access:
        """Read a load or store."""
        subscripts = self.forms(e.substitute(self.values) for e in op.exprs)
        return Access(self.buffer(op.memref), subscripts, isinstance(op, loop.StoreOp), where)

    # -- buffers

    def buffer(self, value: SSAValue) -> Buffer:
        """The buffer that an access reaches."""
        root = root_buffer(value)
        if root not in self.buffers:
            dims, strides = self.over_names(buffer_dims(root)), self.over_names(strides_of(root))
            self.buffers[root] = Buffer(_name(root), bits_of(root.type) // 8, dims, strides)
        return self.buffers[root]

    def local(self, op: memref.AllocaOp, loops: tuple[Loop, ...]) -> Buffer:
        """A buffer that a loop allocates."""
        dims, strides = self.over_names(buffer_dims(op.memref)), self.over_names(strides_of(op.memref))
        used, apart = op.attributes.get(USED_DIMS), op.attributes.get(USED_STRIDES)
        if isinstance(used, DimsAttr) and isinstance(apart, DimsAttr):
            dims, strides = used.data, apart.data
        return Buffer(_name(op.memref), bits_of(op.memref.type) // 8, dims, strides, memory_space(op.memref), loops)

    def over_names(self, exprs: Sequence[Expr]) -> tuple[Expr, ...]:
        """Expressions over the names of symbols."""
        return tuple(e.substitute(self.values) for e in exprs)


def _name(buffer: SSAValue) -> str:
    return buffer.name_hint or (f"arg{buffer.index}" if isinstance(buffer, BlockArgument) else "?")


def _arguments(kind: str, e: Expr) -> Sequence[Expr]:
    """Expressions of which the least ("min"), or the greatest ("max"), is `e`."""
    match e.terms:
        case ((Compound() as atom, 1),) if atom.kind == kind:
            return [a + e.offset for a in atom.args]
        case _:
            return [e]


def _unroll_limit(op: loop.ForOp) -> Expr | None:
    """How many statements loops inside may be as straight-line code, where the schedule says that."""
    match op.attributes.get(AUTO_UNROLL_MAX_STEP):
        case IntegerAttr(value=number):
            return const(number.data)
        case DimsAttr(data=(limit,)):
            return limit
        case _:
            return None


def _pair_updates(body: Body) -> None:
    """Note the stores to an element that the body loads before."""
    for store in (a for a in body.accesses if a.stores):
        for load in (a for a in body.accesses if not a.stores and a.buffer is store.buffer):
            if load.subscripts == store.subscripts:
                body.updates[load] = store
