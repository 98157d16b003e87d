"""What a loop kernel means: it is translated once, for known symbols, into functions over arrays, and these are run.

Loops that carry no dependence run all their iterations at once, as a dimension of numpy arrays; conditions become
masks. Everything else runs in program order. Local buffers and scratch hold NaN until they are written, and so do the
outputs that share no memory with an input. An access out of bounds is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.intrinsics import written_buffers
from tilework.dialects import arith
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import (
    ApplyOp,
    BarrierOp,
    BytesOp,
    CallOp,
    ForOp,
    IfOp,
    IntrinsicOp,
    KernelOp,
    LoadOp,
    PrefetchOp,
    StoreOp,
    TransposeOp,
    YieldOp,
)
from tilework.dialects.scalar_meaning import element_dtype, meaning_of, multiply_add
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.interpreters.buffers import (
    Buffer,
    Overlaps,
    allocate,
    check_memref,
    memref_dtype,
    overlaps,
    packed,
    poison,
    reinterpret_operands,
    unpack_to,
    wrap,
)
from tilework.interpreters.independence import Dependences
from tilework.interpreters.loop_access import Access, Frame, Mask, Names, OrderMatters, along
from tilework.interpreters.loop_plan import Mode, plan_loops
from tilework.interpreters.loop_regions import region_accesses, regions_step
from tilework.interpreters.symbols import bind_symbols
from tilework.interpreters.threads import watch_of

Step: TypeAlias = Callable[[Frame, Mask], None]
"""One operation, translated."""


def run_loop_kernel(
    kernel: KernelOp,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    scratch: Sequence[Array] | None = None,
    symbols: Sequence[int] | None = None,
    *,
    poisoned: bool = True,
) -> None:
    """Run a kernel; outputs are written in place. Scratch is allocated and symbols are told by the shapes if absent.

    Outputs are `poisoned` first: a kernel owes all their elements. One that adds to what is there asks for False.
    Raises UsageError where arrays do not fit and CompileError for an access out of bounds.
    """
    values = _symbol_values(kernel, [*inputs, *outputs], symbols)
    buffers = [wrap(a) for a in (*inputs, *outputs)]
    lent = _scratch(kernel, scratch, values)
    LoopProgram(kernel, values, overlaps([*buffers, *lent])).run([*buffers, *lent], poisoned=poisoned)


def run_loop_sample(
    kernel: KernelOp, inputs: Sequence[Array], outputs: Sequence[Array], iterations: int = 3
) -> list[Array]:
    """Run a few iterations only of the outer independent loops, first and last included: big kernels in little time.

    Says for every output which elements were computed; the others hold no result.
    """
    values = _symbol_values(kernel, [*inputs, *outputs], None)
    tracked = [wrap(a).tracked() for a in outputs]
    buffers = [*map(wrap, inputs), *tracked, *_scratch(kernel, None, values)]
    LoopProgram(kernel, values, overlaps(buffers), iterations).run(buffers)
    return [b.written_array for b in tracked]


class LoopProgram:
    """A kernel translated for given values of its symbols; it may be run many times.

    With `iterations`, outer independent loops run that many of their iterations only.
    """

    def __init__(
        self,
        kernel: KernelOp,
        symbols: Sequence[int],
        shared: Overlaps | None = None,
        iterations: int | None = None,
    ):
        self.kernel = kernel
        self._shared = shared or Overlaps({}, identical=True)
        self._iterations = iterations
        arguments = kernel.body.block.args
        same: dict[SSAValue, SSAValue] = {arguments[j]: arguments[i] for j, i in self._shared.earlier.items()}
        values: dict[SSAValue, int] = dict(zip(kernel.symbol_values, symbols, strict=True))
        self._facts = Dependences(kernel, values, same, self._shared.identical)
        self._symbols = symbols
        self._translate(overlaps=not self._shared.earlier)

    def _translate(self, *, overlaps: bool) -> None:
        kernel = self.kernel
        self._plan = plan_loops(kernel, self._facts, sampled=self._iterations is not None, overlaps=overlaps)
        self._rank = self._plan.rank
        slots: dict[SSAValue, int] = {}
        for op in kernel.walk():
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
                slots[value] = len(slots)
        axes: dict[SSAValue, int] = {
            loop.index: self._plan.positions[loop] for loop, m in self._plan.modes.items() if m is Mode.AXIS
        }
        self._names = Names(slots, axes, self._rank)
        self._watch = watch_of(kernel, self._names)
        self._lead: dict[SSAValue, int] = {}
        self._packed: list[tuple[int, int]] = []
        self._body = self._block(kernel.body.block)

    def run(self, buffers: Sequence[Buffer], *, poisoned: bool = True) -> None:
        """Run on inputs, outputs and scratch. Scratch is poisoned first, and outputs that share no memory."""
        if self._plan.overlapping and not poisoned:
            self._translate(overlaps=False)
        try:
            self._run(buffers, poisoned)
        except OrderMatters:
            self._translate(overlaps=False)
            self._run(buffers, poisoned)

    def _run(self, buffers: Sequence[Buffer], poisoned: bool) -> None:
        frame = Frame(len(self._names.slots), self._rank)
        for argument, value in zip(self.kernel.body.block.args, [*buffers, *self._symbols], strict=True):
            if isinstance(value, Buffer):
                check_memref(value, argument.type, f"@{self.kernel.sym_name.data}: argument {argument.index}")
            frame.values[self._names.slots[argument]] = value
        shared = {*self._shared.earlier, *self._shared.earlier.values()}
        inputs, outputs, _, _ = self.kernel.group_sizes
        for i, buffer in enumerate(buffers):
            if i >= inputs + outputs or (poisoned and i >= inputs and i not in shared):
                buffer.array[...] = poison(buffer.dtype)
        with np.errstate(all="ignore"):
            self._body(frame, None)
        for source, target in self._packed:
            unpack_to(frame.values[source], frame.values[target])

    # -- translation

    def _index(self, e: Expr) -> Callable[[list[Any]], Any]:
        return self._names.index(self._facts.resolve(e))

    def _block(self, block: Block) -> Step:
        steps = [self._operation(op) for op in block.ops if not isinstance(op, YieldOp | PrefetchOp)]

        def run(frame: Frame, mask: Mask) -> None:
            for step in steps:
                step(frame, mask)

        return steps[0] if len(steps) == 1 else run

    def _operation(self, op: Operation) -> Step:
        match op:
            case ForOp():
                return self._for(op)
            case IfOp():
                return self._if(op)
            case LoadOp() | StoreOp() | IntrinsicOp() | CallOp():
                return self._touching(op)
            case memref.AllocaOp():
                return self._alloca(op)
            case memref.ReinterpretCastOp():
                return self._reinterpret(op)
            case memref.CastOp():
                self._lead[op.results[0]] = self._lead.get(op.operands[0], 0)
                return self._pure(op, _itself)
            case BytesOp():
                return self._bytes(op)
            case BarrierOp():
                return _nothing if self._watch is None else self._watch.barrier
            case ApplyOp():
                return self._apply(op)
            case TransposeOp():
                return self._transpose(op)
            case arith.ConstantOp():
                return self._constant(op)
            case _:
                return self._pure(op, _vector_meaning(op) or meaning_of(op))

    def _pure(self, op: Operation, meaning: Callable[..., Any]) -> Step:
        sources = [self._names.slots[operand] for operand in op.operands]
        target = self._names.slots[op.results[0]]

        def run(frame: Frame, mask: Mask) -> None:
            frame.values[target] = meaning(*[frame.values[s] for s in sources])

        return run

    def _constant(self, op: arith.ConstantOp) -> Step:
        value = meaning_of(op)()
        if np.ndim(value):
            value = value.reshape(*[1] * self._rank, -1)
        return self._pure(op, lambda: value)

    def _apply(self, op: ApplyOp) -> Step:
        value, target = self._index(op.value), self._names.slots[op.result]

        def run(frame: Frame, mask: Mask) -> None:
            frame.values[target] = value(frame.values)

        return run

    def _call(self, op: CallOp) -> Step:
        """A kernel that is launched, on the buffers and sizes that there are when it is."""
        called = SymbolTable.lookup_symbol(self.kernel, op.callee)
        if not isinstance(called, KernelOp):
            raise CompileError(f"there is no kernel @{op.kernel_name} to launch", op)
        places = [self._names.slots[value] for value in op.arguments]
        count = sum(called.group_sizes[:3])

        def run(frame: Frame, mask: Mask) -> None:
            buffers = [frame.values[place] for place in places[:count]]
            symbols = [int(frame.values[place]) for place in places[count:]]
            LoopProgram(called, symbols, overlaps(buffers)).run(buffers, poisoned=False)

        return run

    def _transpose(self, op: TransposeOp) -> Step:
        """Lanes are the last dimension of a vector's array, which has one of them where all are equal."""
        sources = [self._names.slots[row] for row in op.rows]
        targets = [self._names.slots[column] for column in op.columns]

        def run(frame: Frame, mask: Mask) -> None:
            rows = np.broadcast_arrays(*[frame.values[s] for s in sources], np.empty(len(targets)))[:-1]
            matrix = np.stack(rows, axis=-1)
            for lane, target in enumerate(targets):
                frame.values[target] = matrix[..., lane, :]

        return run

    # -- memory

    def _touching(self, op: LoadOp | StoreOp | IntrinsicOp | CallOp) -> Step:
        match op:
            case LoadOp():
                return self._load(op)
            case StoreOp():
                return self._store(op)
            case CallOp():
                return self._call(op)
            case _:
                return self._parts(op)

    def _access(self, op: LoadOp | StoreOp) -> Access:
        subscripts = [self._facts.resolve(e) for e in op.exprs]
        lanes = [None if e is None else self._facts.resolve(e) for e in (op.lane_first, op.lane_count)]
        return Access(op, subscripts, lanes, self._names, self._lead.get(op.memref, 0))

    def _load(self, op: LoadOp) -> Step:
        access, target = self._access(op), self._names.slots[op.result]
        copied = not self._is_used_before_stores(op)

        def run(frame: Frame, mask: Mask) -> None:
            value = access.load(frame, mask)
            frame.values[target] = value.copy() if copied else value

        return run if self._watch is None else self._watch.watched(access, run)

    def _is_used_before_stores(self, load: LoadOp) -> bool:
        """Whether a load may share the memory: nothing changes it before the last use."""
        users = {use.operation for use in load.result.uses}
        op = load.next_op
        while users and op is not None and not op.regions:
            users.discard(op)
            if written_buffers(op):
                break
            op = op.next_op
        return not users

    def _store(self, op: StoreOp) -> Step:
        access, source = self._access(op), self._names.slots[op.value]
        overlapping = op in self._plan.overlapping

        def run(frame: Frame, mask: Mask) -> None:
            access.store(frame, mask, frame.values[source], overlapping=overlapping)

        return run if self._watch is None else self._watch.watched(access, run)

    def _parts(self, op: IntrinsicOp) -> Step:
        positions = [self._facts.resolve(part.position) for part in op.buffer_regions]
        leads = [self._lead.get(part.memref, 0) for part in op.buffer_regions]
        parts = region_accesses(op, positions, self._names, leads)
        step = regions_step(op, parts)
        return step if self._watch is None else self._watch.watched_parts(op, parts, step)

    def _alloca(self, op: memref.AllocaOp) -> Step:
        lead = self._plan.axes_around(op)
        self._lead[op.memref] = lead
        shape, dtype, target = op.memref.type.get_shape(), memref_dtype(op.memref.type), self._names.slots[op.memref]
        if DYNAMIC_INDEX in shape:
            raise CompileError(f"a local buffer has a constant size, not {op.memref.type}", op)

        def run(frame: Frame, mask: Mask) -> None:
            frame.values[target] = allocate((*frame.extent[:lead], *shape), dtype)

        return run

    def _reinterpret(self, op: memref.ReinterpretCastOp) -> Step:
        lead = self._lead.get(op.source, 0)
        self._lead[op.result] = lead
        source, target = self._names.slots[op.source], self._names.slots[op.result]
        [offset], sizes, strides = ([self._index(e) for e in group] for group in reinterpret_operands(op))

        def run(frame: Frame, mask: Mask) -> None:
            old: Buffer = frame.values[source]
            values = frame.values
            frame.values[target] = old.view(
                offset(values),
                (*old.shape[:lead], *(size(values) for size in sizes)),
                (*old.strides[:lead], *(stride(values) for stride in strides)),
            )

        return run

    def _bytes(self, op: BytesOp) -> Step:
        """The memory of 4-bit integers, which has a byte for each of them here, as it is elsewhere."""
        source, target = self._names.slots[op.source], self._names.slots[op.result]
        self._packed += [(source, target)] if any(isinstance(use.operation, StoreOp) for use in op.result.uses) else []

        def run(frame: Frame, mask: Mask) -> None:
            frame.values[target] = packed(frame.values[source])

        return run

    # -- control

    def _for(self, op: ForOp) -> Step:
        body = self._block(op.body.block)
        lower, upper = self._index(op.lower), self._index(op.upper)
        slot, mode, position = self._names.slots[op.index], self._plan.modes[op], self._plan.positions[op]

        def at_once(frame: Frame, mask: Mask) -> None:
            first, last = lower(frame.values), upper(frame.values)
            low, high = int(np.min(first)), int(np.max(last))
            if high <= low:
                return
            index = along(position, self._rank, np.arange(low, high))
            frame.first[position], frame.extent[position], frame.values[slot] = low, high - low, index
            if not (isinstance(first, int) and isinstance(last, int)):
                mask = _narrowed(mask, (first <= index) & (index < last))
            if mask is not False:
                body(frame, mask)

        def one_by_one(frame: Frame, mask: Mask) -> None:
            first, last = lower(frame.values), upper(frame.values)
            uniform = isinstance(first, int) and isinstance(last, int)
            for i in self._iterations_of(int(np.min(first)), int(np.max(last)), mode):
                inside = mask if uniform else _narrowed(mask, (first <= i) & (i < last))
                frame.values[slot] = i
                if inside is not False:
                    body(frame, inside)

        run = at_once if mode is Mode.AXIS else one_by_one
        return run if self._watch is None else self._watch.begun(op, run)

    def _iterations_of(self, first: int, last: int, mode: Mode) -> Sequence[int]:
        iterations = range(first, last)
        if mode is Mode.SAMPLED and self._iterations is not None and len(iterations) > self._iterations:
            return [iterations[int(i)] for i in np.linspace(0, len(iterations) - 1, self._iterations)]
        return iterations[::-1] if mode is Mode.BACKWARDS else iterations

    def _if(self, op: IfOp) -> Step:
        conditions = [(self._index(p.expr), p.kind) for p in op.conditions]
        then_body = self._branch(op.then_body.blocks, op)
        else_body = self._branch(op.else_body.blocks, op)
        targets = [self._names.slots[value] for value in op.outputs]

        def run(frame: Frame, mask: Mask) -> None:
            holds: Any = True
            for value, kind in conditions:
                v = value(frame.values)
                holds = holds & (v >= 0 if kind == ">=" else v == 0)
            chosen = then_body(frame, _narrowed(mask, holds))
            others = else_body(frame, _narrowed(mask, np.logical_not(holds)))
            for target, a, b in zip(targets, chosen or others or [], others or chosen or [], strict=True):
                frame.values[target] = np.where(holds, a, b)

        return run

    def _branch(self, blocks: Sequence[Block], op: IfOp) -> Callable[[Frame, Mask], list[Any] | None]:
        """A region of a loop.if: what it yields, or None where it is not run."""
        if not blocks:
            return lambda frame, mask: None
        body, last = self._block(blocks[0]), blocks[0].last_op
        yielded = [self._names.slots[v] for v in last.values] if isinstance(last, YieldOp) else []

        def run(frame: Frame, mask: Mask) -> list[Any] | None:
            if mask is False:
                return None
            body(frame, mask)
            return [frame.values[slot] for slot in yielded]

        return run


def _nothing(frame: Frame, mask: Mask) -> None:
    """Threads that run one after the other wait for nobody."""


def _itself(a: Any) -> Any:
    return a


def _vector_meaning(op: Operation) -> Callable[..., Any] | None:
    """What an operation of the vector dialect computes; None for one of another dialect."""
    match op:
        case vector.BroadcastOp():
            return _itself
        case vector.FMAOp():
            return multiply_add
        case vector.BitcastOp():
            return _bitcast(op)
        case _:
            return None


def _bitcast(op: vector.BitcastOp) -> Callable[[Any], Any]:
    """The lanes' bytes, the first lane's first, as lanes of another width."""
    source: Attribute = op.source.type
    assert isinstance(source, VectorType)
    [lanes], dtype = source.get_shape(), element_dtype(op.result.type)

    def cast(a: Any) -> Any:
        a = np.asarray(a)
        return np.ascontiguousarray(np.broadcast_to(a, (*a.shape[:-1], lanes))).view(dtype)

    return cast


def _narrowed(mask: Mask, holds: Any) -> Mask:
    """The iterations of a mask where a condition holds too: None for all there are, False for none."""
    inside = holds if mask is None else np.logical_and(mask, holds)
    if not np.any(inside):
        return False
    return None if np.all(inside) else inside


def _symbol_values(kernel: KernelOp, arrays: Sequence[Array], symbols: Sequence[int] | None) -> list[int]:
    given = kernel.group_sizes
    if len(arrays) != given[0] + given[1]:
        raise UsageError(
            f"@{kernel.sym_name.data} takes {given[0]} inputs and {given[1]} outputs, got {len(arrays)} arrays"
        )
    if symbols is not None:
        return list(symbols)
    dims = [d.data for d in kernel.dims.data[: len(arrays)]]
    names = [f"@{kernel.sym_name.data}: argument {i}" for i in range(len(arrays))]
    bound = bind_symbols(names, dims, [a.shape for a in arrays])
    missing = [s.data for s in kernel.symbols if s.data not in bound]
    if missing:
        raise UsageError(f"@{kernel.sym_name.data}: no argument's shape tells the symbol '{missing[0]}'")
    return [bound[s.data] for s in kernel.symbols]


def _scratch(kernel: KernelOp, scratch: Sequence[Array] | None, symbols: Sequence[int]) -> list[Buffer]:
    if scratch is not None:
        return [wrap(a) for a in scratch]
    values: dict[Key, int] = dict(zip(kernel.symbol_values, symbols, strict=True))
    return [
        allocate([int(e.evaluate(values)) for e in kernel.dims_of(argument)], memref_dtype(argument.type))
        for argument in kernel.scratch
    ]
