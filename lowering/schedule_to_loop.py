"""te and schedule become loop nests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, Key, const, maximum, product, var
from tilework.algebra.predicate import Predicate, at_least
from tilework.analysis.program_targets import DEVICE
from tilework.dialects import loop
from tilework.dialects.loop.annotations import (
    ALTERNATING,
    AUTO_UNROLL_MAX_STEP,
    DESCENDING,
    DOUBLE_BUFFER,
    MASKED,
    PREFETCH,
    PREFETCH_SPREAD,
    STORING_THREAD,
    SYMBOL_RANGES,
    TENSORIZE,
    TENSORIZE_TAILS,
    USED_DIMS,
    USED_STRIDES,
    WHOLE,
)
from tilework.dialects.loop.common import buffer_type
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ScanOp
from tilework.dialects.te.annotations import KERNEL_ALTERNATING, KERNEL_DESCENDING
from tilework.lowering.loops.bodies import Bodies, Buffer, Cursor
from tilework.lowering.loops.externs import inline_extern
from tilework.lowering.loops.scans import copy_inits, scratch_of_step, share_memory
from tilework.scheduling.bound_inference import StageBounds, infer_bounds
from tilework.scheduling.open_knobs import NO_OPEN_KNOBS, OpenKnobs
from tilework.scheduling.state import Axis, Prefetch, ScheduleState, Stage, leaves_of, read_schedule, refuse
from tilework.transforms.base import TileworkPass


def _legal(op: Operation) -> str | None:
    level = op.name.partition(".")[0]
    return f"{op.name} is of the {level} level" if level in ("te", "schedule") else None


@dataclass(frozen=True)
class ScheduleToLoop(TileworkPass):
    """Turn every te kernel into a loop nest, as its schedule says.

    te.kernel @k(%x: tensor<64xf32>) ...               loop.kernel @k ins(%x: memref<64xf32>) outs(%y: ...) {
      %y = te.compute "y" [i: 64] ...            ->      loop.for %i = 0 to 4 "i.outer" parallel {
    schedule.sequence @k { split, parallel }               loop.for %i_1 = 0 to 16 "i.inner" {

    This is a lowering and no pattern: a nest is built for a whole kernel, for which bounds of all stages are inferred.
    Requires sequences without primitives that rewrite te (`schedule-apply-dataflow` applies those); a kernel without a
    sequence runs serially, stage by stage. Leaves no te and no schedule operations. Temporaries of stages at the root
    become scratch arguments, those of stages computed at an axis buffers inside that loop.
    """

    name = "schedule-to-loop"
    anchor = ModuleOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        sequences = {s.kernel_name: s for s in op.ops if isinstance(s, SequenceOp)}
        for kernel in [k for k in op.ops if isinstance(k, KernelOp)]:
            sequence = sequences.pop(kernel.sym_name.data, None)
            lowered = lower_kernel(kernel, sequence)
            op.body.block.insert_op_before(lowered, kernel)
            for old in (kernel, sequence):
                if old is not None:
                    old.detach()
                    old.erase()
        for sequence in sequences.values():
            raise CompileError(f"schedule of @{sequence.kernel_name}, but there is no such kernel", sequence)


def lower_kernel(kernel: KernelOp, sequence: SequenceOp | None, knobs: OpenKnobs = NO_OPEN_KNOBS) -> loop.KernelOp:
    """The loop nest of one kernel. Raises CompileError where the schedule is refused, or nothing computes a result.

    Open knobs are symbols of the nest, which computes the same for each of their choices. It says what it would be, and
    nothing is compiled from it: local buffers are as large as any choice needs, and say in attributes what of them is
    used. Raises KnobMustBeSet where loops are not alike for all choices.
    """
    for i, result in enumerate(kernel.results_returned):
        if isinstance(result, BlockArgument):
            raise CompileError(f"result {i} of kernel @{kernel.sym_name.data} is an argument: compute a copy", kernel)
    state = read_schedule(kernel, sequence, knobs)
    return _Emitter(state, infer_bounds(state)).emit()


@dataclass
class _Emitter:
    state: ScheduleState
    bounds: dict[Stage, StageBounds]
    env: dict[Key, Expr] = field(default_factory=dict[Key, Expr])
    buffers: dict[SSAValue, Buffer] = field(default_factory=dict[SSAValue, Buffer])
    cursor: Cursor = field(init=False)

    # -- the kernel

    def emit(self) -> loop.KernelOp:
        kernel, outputs = self.state.kernel, self.state.kernel.results_returned
        at_root = [s for s in self.state.stages.values() if s.attach is None or _has_scratch(s)]
        in_place = self.inits_in_place()
        elsewhere = {*outputs, *in_place}
        scratch = [result for s in at_root for result in s.compute.results if result not in elsewhere]
        inputs = list(kernel.body.block.args)
        values: list[SSAValue] = [*inputs, *outputs, *scratch]
        dims = [self.dims(v) for v in values]
        for value in scratch:
            _check_size(value.name_hint, [e.offset for e in dims_of(value.type) if e.is_constant])
        layouts = [*kernel.layouts, *[None] * len(scratch)]
        types = [
            buffer_type(element_type(v.type), d, layout) for v, d, layout in zip(values, dims, layouts, strict=True)
        ]
        symbols = self.state.symbols
        block = Block(arg_types=[*types, *[loop.INDEX] * len(symbols)])
        for value, argument in zip(values, block.args, strict=False):
            self.buffers.setdefault(value, Buffer([])).memrefs.append(argument)
            argument.name_hint = value.name_hint
        for init, history in in_place.items():
            self.buffers[init] = self.buffers[history]
        for symbol, argument in zip(symbols, block.args[len(values) :], strict=True):
            self.env[symbol] = var(argument)
            argument.name_hint = symbol
        self.cursor = Cursor(block, kernel.location)
        for stage in self.state.stages.values():
            if stage.place is None:
                self.produce(stage)
        lowered = loop.KernelOp(
            kernel.sym_name.data,
            (len(inputs), len(outputs), len(scratch)),
            types,
            dims,
            symbols,
            Region(block),
        )
        if self.state.knobs.choices:
            lowered.attributes[SYMBOL_RANGES] = _ranges(self.state.knobs)
        if DEVICE in kernel.attributes:
            lowered.attributes[DEVICE] = kernel.attributes[DEVICE]
        return lowered

    def inits_in_place(self) -> dict[SSAValue, SSAValue]:
        """The inits that are stored where the histories begin: stages at the root that only their scan reads."""
        scans = [s.compute for s in self.state.stages.values() if isinstance(s.compute, ScanOp)]
        pairs = [pair for scan in scans for pair in zip(scan.inits, scan.histories, strict=True)]
        return {init: history for init, history in pairs if self.is_for_one_scan(init)}

    def is_for_one_scan(self, init: SSAValue) -> bool:
        stage = self.state.of_result.get(init)
        if stage is None or not isinstance(stage.compute, ComputeOp) or len(list(init.uses)) > 1:
            return False
        return stage.attach is None and not _has_scratch(stage) and not stage.padded()

    def dims(self, tensor: SSAValue) -> Sequence[Expr]:
        """The sizes of a tensor's buffer: those of its type, more where the stage is padded, one step's in a scan."""
        stage = self.state.of_result.get(tensor)
        if stage is not None and _has_scratch(stage):
            return [extent for _, extent in self.step_region(stage)]
        if stage is None or not stage.padded():
            return dims_of(tensor.type)
        return [extent for _, extent in self.bounds[stage].region]

    def step_region(self, stage: Stage) -> list[tuple[Expr, Expr]]:
        """What the scratch of a stage in a scan holds."""
        assert stage.scan is not None and isinstance(stage.scan.compute, ScanOp)
        return scratch_of_step(stage.scan.compute, self.bounds[stage].region)

    # -- stages

    def produce(self, stage: Stage) -> None:
        """Emit the nest that fills the stage's buffer, here."""
        with self.cursor.located(stage.compute.location):
            self.produce_here(stage)

    def produce_here(self, stage: Stage) -> None:
        if isinstance(stage.compute, ExternOp):
            inline_extern(stage.compute, self.bodies(stage), self.here)
            return
        if isinstance(stage.compute, ScanOp):
            self.produce_scan(stage, stage.compute)
            return
        if _has_scratch(stage):
            self.place_scratch(stage)
        elif stage.attach is not None and not stage.kept:
            self.allocate(stage)
        if stage.reduction:
            first = stage.init_place
            spatial_inside = [a for a in stage.leaves[first:] if not a.reduce]
            self.nest(stage.leaves[:first], lambda: self.reduce(stage, spatial_inside, stage.leaves[first:]))
        else:
            self.nest(stage.leaves, lambda: self.guarded(stage, stage.leaves, lambda: self.store_value(stage)))

    def produce_scan(self, stage: Stage, scan: ScanOp) -> None:
        """All of a scan, its inits too, inside the threads launched around it."""
        share_memory(scan, self.buffers, self.here)
        launched = stage.launched

        def over_time() -> None:
            copy_inits(scan, self.inits_in_place(), self.bodies(stage), self.here)
            self.nest(stage.leaves[len(launched) :], lambda: None)

        self.nest(launched, over_time)

    def allocate(self, stage: Stage) -> None:
        """Make a buffer for each result that the kernel does not return, of the part that is computed here."""
        scratch = [r for r in stage.compute.results if r not in self.state.kernel.results_returned]
        if not scratch:
            return
        region = self.bounds[stage].region
        order = _loop_order(stage)
        dims = [region[i][1] for i in order]
        if not self.state.knobs.settle(*dims):
            sizes = ", ".join(str(extent) for _, extent in region)
            refuse(
                stage.attach_op,
                stage,
                f"stage '{stage.name}' computed at '{stage.attach}' needs a buffer of [{sizes}], whose size is not "
                "constant; compute it at the root or split the axis",
            )
        shape = list(map(self.state.knobs.most, dims))
        _check_size(stage.name, shape)
        scope = StringAttr(self.state.scope_of(stage))
        layout = _layout(stage, order, shape)
        early = self.double_buffer(stage)
        for result in scratch:
            type_ = MemRefType(element_type(result.type), shape, layout, scope)
            alloca = memref.AllocaOp(operands=[[], []], result_types=[type_], properties={"alignment": None})
            alloca.attributes |= _used_part(dims, _strides(stage, order, dims))
            buffer = self.insert(alloca).results[0]
            if early is not None:
                alloca.attributes[DOUBLE_BUFFER] = UnitAttr()
                alloca.location = early.location
            buffer.name_hint = result.name_hint
            origin = [self.here(start) for start, _ in region]
            self.buffers[result] = Buffer([buffer], origin, order, self.bounds[stage].steps)

    def double_buffer(self, stage: Stage) -> Operation | None:
        """What asks that the stage's buffer be filled one iteration early; None where there is one iteration only."""
        op, axis = stage.double_buffer, stage.attach
        if op is None or axis is None or self.bounds[axis.stage].extents[axis] == 1:
            return None
        if axis.kind is not loop.Kind.SERIAL:
            what = f"stage '{stage.name}' cannot have a double buffer: axis '{axis}' of stage '{axis.stage.name}'"
            refuse(op, axis.stage, f"{what} is {axis.use}; compute it at an axis that runs serially", axis)
        return op

    def place_scratch(self, stage: Stage) -> None:
        """The scratch of a stage in a scan holds what the step at hand needs."""
        region = self.step_region(stage)
        for result in stage.compute.results:
            memrefs = self.buffers[result].memrefs
            self.buffers[result] = Buffer(memrefs, [self.here(start) for start, _ in region], range(len(region)))

    def reduce(self, stage: Stage, spatial: list[Axis], leaves: list[Axis]) -> None:
        """Set the elements to the reducer's identity, then combine."""
        self.nest(spatial, lambda: self.guarded(stage, spatial, lambda: self.store_identity(stage)), attached=False)
        self.nest(leaves, lambda: self.guarded(stage, leaves, lambda: self.update(stage)))

    def nest(self, axes: list[Axis], body: Callable[[], None], attached: bool = True) -> None:
        """Emit loops over the axes, the stages computed at each, and the body innermost."""
        if not axes:
            body()
            return
        axis = axes[0]
        last = self.bounds[axis.stage].last[axis]
        is_cut = axis.partition if (hint := self.partition_hint(axis)) is None else hint > 0
        for_op = loop.ForOp(0, self.here(last) + 1, axis.name, None, axis.kind, is_cut, self.worth_threads(axis))
        if axis.masked:
            for_op.attributes[MASKED] = UnitAttr()
        if axis.intrinsic is not None:
            for_op.attributes[TENSORIZE] = SymbolRefAttr(_intrinsic_for(axis, stores_identity=not attached))
            if _is_partitioned(axis.stage):
                for_op.attributes[TENSORIZE_TAILS] = UnitAttr()
        if attached:
            for_op.attributes |= self.requests(axis)
        self.insert(for_op)
        if axis.kind is loop.Kind.VIRTUAL and axis.annotation is not None:
            for_op.location = axis.annotation.location  # a refusal to interleave is about what asked for threads
        self.env[axis] = var(for_op.index)
        placed = self.placed.get(axis, ()) if attached else ()
        with self.cursor.inside(for_op.body.block):
            for stage in placed:
                if stage.attach is axis:
                    self.produce(stage)
            self.nest(axes[1:], body, attached)
            for stage in placed:
                if stage.after is axis:
                    self.produce(stage)

    def partition_hint(self, axis: Axis) -> int | None:
        """What the schedule says of the places where conditions change: 0 leaves the loop whole, 1 cuts it."""
        hint = axis.pragmas.get("loop_partition_hint")
        return None if hint is None else self.state.knobs.constant(hint)

    @cached_property
    def placed(self) -> Mapping[Axis, Sequence[Stage]]:
        """A mapping from each axis to the stages that are computed right there, in program order."""
        found: dict[Axis, list[Stage]] = {}
        for stage in self.state.stages.values():
            if stage.place is not None:
                found.setdefault(stage.place, []).append(stage)
        return found

    def inside(self, axes: Sequence[Axis]) -> Iterator[Stage]:
        """The stages that are computed at these axes, and those inside of them."""
        for stage in (stage for axis in axes for stage in self.placed.get(axis, ())):
            yield stage
            yield from self.inside(stage.leaves)

    def worth_threads(self, axis: Axis) -> list[Predicate]:
        """Whether there is as much work in a parallel axis as the schedule asks for."""
        least = axis.pragmas.get("parallel_least_work")
        if least is None or axis.kind is not loop.Kind.PARALLEL:
            return []
        leaves = axis.stage.leaves
        inside = {axis.stage, *self.inside(leaves[leaves.index(axis) :])}
        stages = sorted(inside, key=lambda stage: self.state.positions[stage])
        points = sum((_points(s.compute) for s in stages if isinstance(s.compute, ComputeOp)), const(0))
        return [at_least(self.here(points), least)]

    def requests(self, axis: Axis) -> dict[str, Attribute]:
        """What the schedule asks of later passes at this loop."""
        requests: dict[str, Attribute] = {}
        asked_of_kernel = self.state.kernel.attributes if axis.kind is loop.Kind.PARALLEL else {}
        descending = KERNEL_DESCENDING in asked_of_kernel
        if descending:
            requests[DESCENDING] = UnitAttr()
        if KERNEL_ALTERNATING in asked_of_kernel:
            requests[ALTERNATING] = UnitAttr()
        if (steps := axis.pragmas.get("auto_unroll_max_step")) is not None:
            requests[AUTO_UNROLL_MAX_STEP] = IntegerAttr(steps.offset, i64) if steps.is_constant else DimsAttr((steps,))
        if self.partition_hint(axis) == 0:
            requests[WHOLE] = UnitAttr()
        if axis.storing is not None:
            requests[STORING_THREAD] = IntegerAttr(axis.storing, i64)
        for name, spread in ((PREFETCH, False), (PREFETCH_SPREAD, True)):
            asked = [p for p in axis.prefetches if p.spread is spread]
            ahead = [[self.argument(axis, p), -p.offset if descending else p.offset] for p in asked]
            if ahead:
                requests[name] = ArrayAttr(DenseArrayBase.from_list(i64, pair) for pair in ahead)
        return requests

    def argument(self, axis: Axis, prefetch: Prefetch) -> int:
        """The number of the kernel's argument that is to be prefetched."""
        buffer = self.buffers.get(prefetch.tensor)
        memref = None if buffer is None else buffer.memrefs[0]
        if not isinstance(memref, BlockArgument):
            what = f"prefetch at axis '{axis}' of stage '{axis.stage.name}'"
            refuse(
                prefetch.op,
                axis.stage,
                f"{what}: the tensor lives in a buffer made in a loop, near already; prefetch an argument of the "
                "kernel, or a stage at the root",
                axis,
            )
        return memref.index

    def guarded(self, stage: Stage, leaves: list[Axis], body: Callable[[], None]) -> None:
        """Emit the body under the stage's guards; an initialization has none of those on reduce axes."""
        bounds = self.bounds[stage]
        guards = [*bounds.guards, *(bounds.reduce_guards if any(a.reduce for a in leaves) else ())]
        if not guards:
            body()
            return
        _refuse_tails(stage, guards, self.state.knobs)
        inside = Region(Block())
        self.insert(loop.IfOp([self.condition(g) for g in guards], inside))
        with self.cursor.inside(inside.block):
            body()

    # -- elements

    def store_value(self, stage: Stage) -> None:
        self.store(stage, self.bodies(stage).values(stage.body, self.axis_values(stage)))

    def store_identity(self, stage: Stage) -> None:
        self.store(stage, self.bodies(stage).identities(stage.body))

    def update(self, stage: Stage) -> None:
        values = self.axis_values(stage)
        indices = [values[a.name] for a in stage.spatial]
        before = [self.bodies(stage).load(result, indices) for result in stage.compute.results]
        self.store(stage, self.bodies(stage).combined(stage.body, values, before))

    def store(self, stage: Stage, elements: Sequence[SSAValue]) -> None:
        values = self.axis_values(stage)
        for element, result in zip(elements, stage.compute.results, strict=True):
            self.bodies(stage).store(element, result, [values[a.name] for a in stage.spatial])

    def bodies(self, stage: Stage) -> Bodies:
        """Emits scalar bodies of the stage here."""
        b = self.bounds[stage]
        inside = [self.condition(p) for p in b.inside] if b.unsafe_reads else []
        return Bodies(self.cursor, self.buffers, dict.fromkeys(b.unsafe_reads, inside))

    # -- expressions

    def axis_values(self, stage: Stage) -> dict[Key, Expr]:
        """The coordinates of the stage's axes, and the symbols, over SSA values."""
        values: dict[Key, Expr] = {n: self.here(e) for n, e in self.bounds[stage].values.items()}
        return values | {s: self.env[s] for s in self.state.symbols}

    def here(self, e: Expr) -> Expr:
        """An expression over axes and symbols, over the SSA values that stand for them here."""
        return e.substitute(self.env)

    def condition(self, p: Predicate) -> Predicate:
        return p.substitute(self.env)

    def insert(self, op: Operation) -> Operation:
        return self.cursor.insert(op)


def _ranges(knobs: OpenKnobs) -> DictionaryAttr:
    """Between which values open knobs are."""
    return DictionaryAttr({str(s): DenseArrayBase.from_list(i64, ends) for s, ends in knobs.ranges.items()})


def _has_scratch(stage: Stage) -> bool:
    """Whether a stage is computed inside a scan without a place of its own: its buffer is allocated once."""
    requests = (stage.attach_op, stage.scope_op, stage.alignment_op, stage.double_buffer, stage.after)
    return stage.scan is not None and not stage.kept and not any(requests)


def _loop_order(stage: Stage) -> list[int]:
    """The tensor's dimensions in the order of the stage's loops: the innermost, a vector perhaps, is contiguous."""

    def innermost(i: int) -> int:
        return max(stage.leaves.index(a) for a in leaves_of(stage, stage.spatial[i]))

    return sorted(range(len(stage.spatial)), key=innermost)


def _layout(stage: Stage, order: Sequence[int], shape: Sequence[int]) -> StridedLayoutAttr | NoneAttr:
    """The strides of a local buffer whose dimension i is the tensor's dimension `order[i]`, if it is to be aligned."""
    if not stage.alignment:
        return NoneAttr()
    return StridedLayoutAttr([stride.offset for stride in _strides(stage, order, list(map(const, shape)))])


def _strides(stage: Stage, order: Sequence[int], dims: Sequence[Expr]) -> list[Expr]:
    """How many elements apart neighbours along each dimension of a local buffer are, some at multiples plus offsets."""
    strides: list[Expr] = []
    stride = const(1)
    for at, extent in zip(reversed(order), reversed(dims), strict=True):
        if stage.spatial[at] in stage.alignment:
            factor, offset = stage.alignment[stage.spatial[at]]
            stride += (offset - stride) % factor
        strides.insert(0, stride)
        stride *= extent
    return strides


def _used_part(dims: Sequence[Expr], strides: Sequence[Expr]) -> dict[str, Attribute]:
    """The sizes and strides of a local buffer where open knobs decide them."""
    if all(e.is_constant for e in dims):
        return {}
    return {USED_DIMS: DimsAttr(tuple(dims)), USED_STRIDES: DimsAttr(tuple(strides))}


def _check_size(name: str | None, extents: Sequence[int]) -> None:
    if prod(extents) >= 1 << 60:  # so that its bytes, of eight for an element, are counted in 64 bits
        size = " x ".join(map(str, extents))
        raise CompileError(f"the buffer of '{name}' would have {size} elements, more than memory can be")


def _is_partitioned(stage: Stage) -> bool:
    """Whether what a split leaves over gets code of its own."""
    return any(axis.partition for axis in stage.leaves)


def _refuse_tails(stage: Stage, guards: Sequence[Predicate], knobs: OpenKnobs) -> None:
    """Raise CompileError where some iterations of a tensorized nest are left out."""
    at = next((i for i, axis in enumerate(stage.leaves) if axis.intrinsic is not None), None)
    if at is None or _is_partitioned(stage):
        return
    inside: set[Key] = {*stage.leaves[at:]}
    if any(inside.intersection(guard.expr.variables()) for guard in guards):
        knobs.require(*(guard.expr for guard in guards))
        axis = stage.leaves[at]
        what = f"axis '{axis}' of stage '{stage.name}' cannot be tensorized: a split leaves a tail of fewer iterations"
        remedy = (
            "give it tail partition, so that the tail runs as loops, or tail shift or pad, or a factor that divides"
        )
        refuse(axis.annotation, stage, f"{what}; {remedy}", axis)


def _intrinsic_for(axis: Axis, stores_identity: bool) -> str:
    """The intrinsic that a loop from a tensorized axis inwards becomes."""
    declaration = axis.intrinsic
    assert declaration is not None
    is_part = bool(axis.stage.reduction) and axis.stage.leaves.index(axis) >= axis.stage.init_place
    if not is_part or (declaration.accumulates is not None and not stores_identity):
        return declaration.label
    name, what = ("reset", "stores its identity") if stores_identity else ("update", "joins a part of it")
    other = declaration.reset if stores_identity else declaration.update
    if other is None:
        refused = f"axis '{axis}' of stage '{axis.stage.name}' cannot be tensorized as @{declaration.label}"
        message = f"{refused}: loops around run parts of a reduction, and the declaration names no '{name}' that {what}"
        refuse(axis.annotation, axis.stage, message, axis)
    return other.root_reference.data


def _points(compute: ComputeOp) -> Expr:
    """How many there are, at most: where a reduce axis depends on a spatial one, as at the end where it is longer."""
    starts, ends = dict.fromkeys(dict(compute.spatial), const(0)), dict(compute.spatial)
    longest = (maximum(extent.substitute(starts), extent.substitute(ends)) for _, extent in compute.reduction)
    return product([*ends.values(), *longest])
