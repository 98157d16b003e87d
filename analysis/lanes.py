"""Whether the iterations of a loop can run side by side, as the lanes of vectors, and what stands against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations_with_replacement
from math import gcd

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntAttr, IntegerAttr, VectorType, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, Key, var
from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import Scope, ends_from, scope_of_block
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, CallIntrinsicOp, ForOp, IfOp, Kind, LoadOp, StoreOp, YieldOp
from tilework.dialects.loop.annotations import MASKED
from tilework.dialects.loop.buffer_regions import BufferRegionsOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import is_narrow


def why_serial(loop: ForOp, scope: Scope) -> str | None:
    """Why a loop that stands in `scope` has no vector form, or None where it has one.

    Raises CompileError where its lanes depend on each other, so that running them side by side would be wrong.
    """
    check = _LaneCheck(loop.index, MASKED in loop.attributes)
    try:
        check.block(loop.body.block, scope_of_block(loop.body.block, scope))
    except _NoVectorForm as refusal:
        return str(refusal)
    return _dependence(loop, check, scope.domain.upper(loop.extent))


def lane_choice(op: Operation) -> LoadOp | None:
    """The load of a conditional that gives what it reads, or else a constant or a value from outside."""
    if not isinstance(op, IfOp) or len(op.outputs) != 1:
        return None
    then, otherwise = list(op.then_body.block.ops), list(op.else_body.block.ops)
    if len(then) != 2 or not isinstance(then[0], LoadOp) or then[1].operands[0] is not then[0].result:
        return None
    return then[0] if all(isinstance(o, arith.ConstantOp | YieldOp) for o in otherwise) else None


def is_lane_mask(op: IfOp) -> bool:
    """Whether a conditional says whether its conditions hold, and does nothing else."""
    return [o.type for o in op.outputs] == [i1] and _only_says(op.then_body, True) and _only_says(op.else_body, False)


def _only_says(arm: Region, truth: bool) -> bool:
    *constants, last = arm.block.ops
    match last.operands[0].owner:
        case arith.ConstantOp(value=IntegerAttr(value=IntAttr(data=number))):
            return bool(number) == truth and all(isinstance(op, arith.ConstantOp) for op in constants)
        case _:
            return False


def lane_subscript(op: LoadOp | StoreOp, index: Key, scope: Scope) -> Expr:
    """The subscript of a one-dimensional access, rewritten where that makes it affine in `index`."""
    (e,) = op.exprs
    return e if e.is_affine_in(index) else scope.domain.simplify(e)


class _NoVectorForm(Exception):
    """The loop stays serial; the message says why."""


def _is_elementwise(op: Operation) -> bool:
    """Whether an operation on scalars is there on vectors too, lane by lane."""
    return op.dialect_name() in ("arith", "math") or isinstance(op, CallIntrinsicOp)


@dataclass
class _LaneCheck:
    """Which values differ between lanes, in one walk; raises _NoVectorForm at what has no vector form."""

    index: SSAValue
    masked: bool
    varying: set[SSAValue] = field(default_factory=set[SSAValue])
    private: set[SSAValue] = field(default_factory=set[SSAValue])
    inner: list[SSAValue] = field(default_factory=list[SSAValue])
    shared: list[tuple[LoadOp | StoreOp, Expr]] = field(default_factory=list[tuple[LoadOp | StoreOp, Expr]])
    some_lanes: bool = False
    """Whether some access stands under a condition that not all lanes pass."""

    def block(self, block: Block, scope: Scope) -> None:
        for op in block.ops:
            self._operation(op, scope)
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner, scope_of_block(inner, scope))
            self._results(op, scope)

    def _operation(self, op: Operation, scope: Scope) -> None:
        if any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results)):
            raise _NoVectorForm("it holds vectors already")
        match op:
            case LoadOp() | StoreOp():
                self._access(op, scope)
            case BufferRegionsOp():
                raise _NoVectorForm("it holds intrinsics on buffers")
            case ForOp():
                self._inner_loop(op)
            case IfOp():
                self._condition(op)
            case memref.AllocaOp():
                self.private.add(op.memref)
            case ApplyOp():
                self._number(op)
            case YieldOp():
                pass
            case _:
                if self.index in op.operands:
                    raise _NoVectorForm(f"{op.name} takes its index as a value")
                if self.varying.intersection(op.operands) and not _is_elementwise(op):
                    raise _NoVectorForm(f"{op.name} has no vector form")

    def _results(self, op: Operation, scope: Scope) -> None:
        match op:
            case LoadOp():
                e = lane_subscript(op, self.index, scope)
                differs = op.memref in self.private or e.coefficient(self.index) != 0
            case IfOp() if self.masked and is_lane_mask(op):
                differs = any(self.index in p.expr.variables() for p in op.conditions)
            case IfOp():
                yields = [b.last_op for r in op.regions for b in r.blocks]
                differs = any(y is not None and self.varying.intersection(y.operands) for y in yields)
            case ApplyOp():
                differs = op.value.coefficient(self.index) != 0
            case _:
                differs = bool(self.varying.intersection(op.operands))
        if differs:
            self.varying.update(op.results)

    def _access(self, op: LoadOp | StoreOp, scope: Scope) -> None:
        if len(op.indices) != 1:
            raise CompileError(f"{op.name} has {len(op.indices)} subscripts: run loop-flatten-storage first", op)
        e = lane_subscript(op, self.index, scope)
        if self.varying.intersection(op.index_operands):
            raise _NoVectorForm(f"a subscript of {_name(op.memref)} is read from memory")
        if not e.is_affine_in(self.index):
            raise _NoVectorForm(f"the subscript of {_text(op.memref, e)} is not affine in its index")
        if op.memref in self.private:
            return
        if root_buffer(op.memref) in self.private:
            raise _NoVectorForm(f"{_name(op.memref)} is a view of a local buffer")
        self.shared.append((op, e))

    def _number(self, op: ApplyOp) -> None:
        if self.varying.intersection(op.index_operands):
            raise _NoVectorForm("an index inside it is read from memory")
        if not op.value.is_affine_in(self.index):
            raise _NoVectorForm(f"the index {_named(op.value)} is not affine in its index")

    def _inner_loop(self, op: ForOp) -> None:
        if op.kind.data is Kind.PARALLEL:
            raise _NoVectorForm(f"loop '{op.axis.data}' inside it is parallel")
        if self.index in op.extent.variables() or self.index in op.lower.variables():
            raise _NoVectorForm(f"the bounds of loop '{op.axis.data}' inside it differ between lanes")
        if self.varying.intersection(op.index_operands):
            raise _NoVectorForm(f"the bounds of loop '{op.axis.data}' inside it are read from memory")
        self.inner.append(op.index)

    def _condition(self, op: IfOp) -> None:
        if self.varying.intersection(op.index_operands):
            raise _NoVectorForm("a condition inside it is read from memory")
        load = lane_choice(op) if self.masked else None
        is_mask = self.masked and is_lane_mask(op) and all(p.expr.is_affine_in(self.index) for p in op.conditions)
        for p in op.conditions:
            if is_mask or self.index not in p.expr.variables():
                continue
            first, last = ends_from(p, self.index)
            chosen = load is not None and (first is not None or last is not None) and self._may_differ(op, load)
            if not chosen and (first is not None or last is None or op.outputs or op.else_body.blocks):
                raise _NoVectorForm(f"the condition {_named(p.expr)} {p.kind} 0 inside it differs between lanes")
            self.some_lanes = True

    def _may_differ(self, op: IfOp, load: LoadOp) -> bool:
        """Whether lanes of a choice may load, each from a place of its own, while others do not."""
        e = load.exprs[0]
        rest = op.else_body.block.last_op
        moves = e.is_affine_in(self.index) and e.coefficient(self.index) != 0 and load.memref not in self.private
        return moves and rest is not None and not is_narrow(load.result.type) and rest.operands[0] not in self.varying


def _dependence(loop: ForOp, check: _LaneCheck, lanes: int | None) -> str | None:
    """Why lanes may not be interleaved, or None; raises CompileError where it is certain that they may not."""
    by_buffer: dict[SSAValue, list[tuple[LoadOp | StoreOp, Expr]]] = {}
    for op, e in check.shared:
        by_buffer.setdefault(root_buffer(op.memref), []).append((op, e))
    for group in by_buffer.values():
        for (a, ea), (b, eb) in combinations_with_replacement(group, 2):
            if not isinstance(a, StoreOp) and not isinstance(b, StoreOp):
                continue
            if a is b and ea.coefficient(loop.index) == 0 and a.operands[0] not in check.varying:
                continue  # one value, stored once instead of once a lane
            meets = _lanes_meet(ea, eb, loop.index, check.inner, lanes)
            if meets and not check.some_lanes:
                raise CompileError(
                    f"loop '{loop.axis.data}' cannot be vectorized: {_text(a.memref, ea)} of one lane is "
                    f"{_text(b.memref, eb)} of another; reduce into separate elements first, or leave the loop serial",
                    loop,
                )
            if meets is not False:
                return f"lanes may depend on each other through {_text(a.memref, ea)} and {_text(b.memref, eb)}"
    return None


def _lanes_meet(a: Expr, b: Expr, index: Key, inner: list[SSAValue], lanes: int | None) -> bool | None:
    """Whether subscripts `a` and `b` of two different lanes are ever equal; None where it is not known.

    Inner loops stand at any two iterations, so their indices count as unknown in `b`.
    """
    c = a.coefficient(index)
    if c != b.coefficient(index):
        return None
    apart = a - b.substitute({key: var(("other", key)) for key in inner})
    g = reduce(gcd, (k for _, k in apart.terms), 0)
    # a at lane p equals b at lane q where c * (q - p) is `apart`, that is: its offset plus some multiple of g
    farthest = 1 if c == 0 else g or abs(apart.offset)
    if lanes is not None:
        farthest = min(farthest, lanes - 1)
    distances = (sign * c * k for k in range(1, farthest + 1) for sign in (1, -1))
    if not any(_congruent(d, apart.offset, g) for d in distances):
        return False
    return None if g else True


def _congruent(x: int, y: int, g: int) -> bool:
    """x == y modulo g; g = 0 for equality."""
    return x == y if g == 0 else (x - y) % g == 0


def _named(e: Expr) -> Expr:
    return e.rename(lambda v: (v.name_hint or "?") if isinstance(v, SSAValue) else v)


def _name(buffer: SSAValue) -> str:
    return f"%{root_buffer(buffer).name_hint or '?'}"


def _text(buffer: SSAValue, e: Expr) -> str:
    return f"{_name(buffer)}[{_named(e)}]"
