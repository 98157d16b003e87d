"""te.create_schedule: how to run what was computed, primitive by primitive.

Every method appends its `schedule` operation at once, with the line of the user's program that called it. What the
lowering alone can refuse is refused there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, var
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects import te
from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeRootOp,
    CreateGroupOp,
    KnobAttr,
    RFactorOp,
    knobs_of,
    set_knobs,
)
from tilework.dialects.support.names import identifier
from tilework.dialects.te.reducers import why_not_in_parts
from tilework.frontends.te.arguments import check_flag, check_integer, check_scope, check_text, kind, listed
from tilework.frontends.te.extents import extent_of
from tilework.frontends.te.extern import ExternOp
from tilework.frontends.te.index import Index, IterVar, Name, Range, Var
from tilework.frontends.te.kernel import build_kernel, name_everything, operations_for, placeholders
from tilework.frontends.te.kernel_body import example_against
from tilework.frontends.te.primitives import Primitives
from tilework.frontends.te.scalar import Reduction
from tilework.frontends.te.split_at_calls import calls_in, split_at_calls
from tilework.frontends.te.stage import Stage
from tilework.frontends.te.tensor import (
    Argument,
    ComputeOp,
    NumberVar,
    Operation,
    PlaceholderOp,
    ScheduledOp,
    StagedOp,
    Tensor,
    placeholder,
    tensors_of,
)
from tilework.frontends.te.text import module_text
from tilework.runtime.display import code_html


class KernelProgram(NamedTuple):
    """A kernel with its schedule, the tensors that are its arguments, and those of them that it makes."""

    module: ModuleOp
    arguments: tuple[Tensor, ...]
    makes: tuple[Tensor, ...]


class Schedule:
    """`s[C]` is the stage of tensor C; `print(s)` writes kernel and schedule as `.mlir`.

    by_rules: whether the target's rules schedule it, as long as no primitive does.
    """

    def __init__(self, outputs: Sequence[Operation]):
        self.outputs = list(outputs)
        self.operations = operations_for(outputs)
        self.names = name_everything(self.operations)
        self.primitives = Primitives(self.names, placeholders(self.operations))
        self.stages: list[Stage] = []
        self._stage_of: dict[Operation, Stage] = {}
        self._numbers: dict[Name, Tensor] = {}
        self.by_rules = False
        for op in self.operations:
            if isinstance(op, StagedOp):
                self._new_stage(op, self.names.stages[op])

    def __getitem__(self, key: Tensor | Operation) -> Stage:
        op = key.op if isinstance(key, Tensor) else key
        if not isinstance(op, Operation):
            raise UsageError(f"a stage is that of a tensor or of its operation, not of {kind(key)}")
        stage = self._stage_of.get(op)
        if stage is None:
            known = ", ".join(s.name for s in self.stages)
            what = "is a placeholder and has no stage" if op in self.operations else "is not part of this schedule"
            raise UsageError(f"'{op.name}' {what}; its stages are {known}")
        return stage

    # -- primitives that make stages

    def cache_write(self, tensor: Tensor | Sequence[Tensor], scope: str) -> Tensor | list[Tensor]:
        """Compute the tensor in a buffer of that scope; its own stage becomes the copy out of it.

        Returns the tensor of the cache, whose stage does the computing. Where spatial axes of the stage were split,
        fused or reordered before, the leaves they have become are the dimensions of the cache.
        """
        tensors = tensors_of(tensor, "cache_write")
        if not tensors:
            raise UsageError("cache_write takes a tensor, or all that a compute makes")
        check_scope(scope)
        stage = self[tensors[0]]
        made = stage.origin_op.outputs
        if len(tensors) != len(made) or {id(t) for t in tensors} != {id(t) for t in made}:
            raise UsageError(f"cache_write of stage '{stage.name}' takes all of its {stage.op.num_outputs} tensors")
        cached = self._cache_of(stage, scope)
        return cached.outputs[0] if isinstance(tensor, Tensor) else cached.outputs

    def _cache_of(self, stage: Stage, scope: str) -> ScheduledOp:
        old = stage.op
        relaid = stage.is_relaid
        spatial = stage.spatial_leaves() if relaid else old.axis
        axis = [self._copy(a) for a in spatial]
        reduce_axis = [self._copy(a) for a in old.reduce_axis]
        names = self.primitives.texts([*spatial, *old.reduce_axis])
        op = self.primitives.add(CacheWriteOp(stage.handle, scope, names))
        name = self._fresh_name(f"{stage.name}.{scope}")
        cache = self._scheduled(name, axis, reduce_axis, old.input_tensors, stage.origin_op.outputs)
        self._new_stage(cache, name, before=stage, handle=op.handle, axes=op.axes)
        copy_axis = [self._copy(a) for a in old.axis] if relaid else old.axis
        copy = ScheduledOp(old.name, copy_axis, [], cache.outputs)
        copy.outputs = stage.origin_op.outputs
        if relaid:
            stage.replace_op(copy, [], copy_axis, moved_to=name, anew=True)
        else:
            stage.replace_op(copy, [a for a in stage.all_iter_vars if not a.is_reduce], [], moved_to=name)
        return cache

    def cache_read(
        self, tensor: Tensor, scope: str, readers: Tensor | Operation | Sequence[Tensor | Operation]
    ) -> Tensor:
        """Copy the tensor into a buffer of that scope for the readers, which read the copy; returns its tensor."""
        [tensor] = tensors_of([tensor], "cache_read")
        check_scope(scope)
        given = listed(readers)
        ops = cast("list[Tensor | Operation]", [readers] if given is None else given)
        stages = list(dict.fromkeys(self[op] for op in ops))
        if not stages:
            raise UsageError(f"cache_read of '{tensor.name}' takes at least one reader")
        axis = [IterVar(Range(0, e), f"ax{i}") for i, e in enumerate(tensor.shape)]
        source = self._source(tensor)
        names = [a.name for a in axis]
        op = self.primitives.add(CacheReadOp(source, scope, [s.handle for s in stages], names))
        name = self._fresh_name(f"{self._name_of(tensor)}.{scope}")
        cache = self._scheduled(name, axis, [], [tensor], [tensor])
        self._new_stage(cache, name, before=min(stages, key=self.stages.index), handle=op.handle, axes=op.axes)
        return cache.outputs[0]

    def rfactor(self, tensor: Tensor, axis: IterVar, factor_axis: int = 0) -> Tensor | list[Tensor]:
        """Make a reduce axis a dimension of a new stage, which reduces over the others; returns its tensor.

        The stage of `tensor` then reduces over that dimension: `s[tensor].op.reduce_axis[0]`.
        """
        stage = self[tensor]
        value = stage.leaf(axis, "rfactor")
        factor_axis = check_integer(factor_axis, "factor_axis of rfactor")
        if not axis.is_reduce:
            raise stage.refusal(f"axis '{axis.name}' of stage '{stage.name}' is no reduce axis: rfactor needs one")
        body = stage.origin_op.body if isinstance(stage.origin_op, ComputeOp) else ()
        reduce = body[0].reduce if body and isinstance(body[0], Reduction) else None
        if reduce is not None and (why := example_against(reduce, why_not_in_parts)):
            raise stage.refusal(f"rfactor of stage '{stage.name}' joins parts of its elements by themselves: {why}")
        old = stage.op
        rank = len(old.axis) + 1
        if not -rank <= factor_axis < rank:
            raise stage.refusal(
                f"rfactor of stage '{stage.name}': factor_axis {factor_axis} is not within {rank} dimensions"
            )
        left = [a for a in stage.reduce_leaves() if a is not axis]
        spatial = list(old.axis)
        spatial.insert(factor_axis % rank, axis)
        names = self.primitives.texts([*spatial, *left])
        op = self.primitives.add(RFactorOp(stage.handle, value, factor_axis, names))
        name = self._fresh_name(f"{stage.name}.rf")
        axes = [self._copy(a, is_reduce=False) for a in spatial]
        reduce_axis = [self._copy(a) for a in left]
        factored = self._scheduled(name, axes, reduce_axis, old.input_tensors, stage.origin_op.outputs)
        self._new_stage(factored, name, before=stage, handle=op.handle, axes=op.axes)
        rest = self._copy(axis)
        combined = ScheduledOp(old.name, old.axis, [rest], factored.outputs)
        combined.outputs = stage.origin_op.outputs
        self.primitives.handles[rest.key] = op.rest
        stage.replace_op(combined, [a for a in stage.all_iter_vars if not a.is_reduce], [rest], moved_to=name)
        return factored.outputs[0] if len(factored.outputs) == 1 else factored.outputs

    def create_group(
        self, outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], include_inputs: bool = False
    ) -> Group:
        """The stages from the inputs to the outputs, to be computed at one place together."""
        made = tensors_of(outputs, "outputs of create_group")
        taken = tensors_of(inputs, "inputs of create_group")
        if not made:
            raise UsageError("create_group takes at least one output")
        is_whole = check_flag(include_inputs, "include_inputs of create_group")
        op = CreateGroupOp([self[t].handle for t in made], [self._source(t) for t in taken], is_whole)
        group = Group(self.primitives, self.primitives.add(op).group, self._between(made, taken, is_whole))
        for stage in group.stages:
            if stage.group is None:
                stage.group = group
        return group

    def _between(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], include_inputs: bool) -> list[Stage]:
        """The stages that the outputs need up to the inputs."""
        ends, found = {t.op for t in inputs}, dict[Operation, None]()

        def visit(op: Operation) -> bool:
            """Whether it leads to an input."""
            leads = [visit(tensor.op) for tensor in op.input_tensors] if op not in ends else [True]
            if any(leads) and (op not in ends or include_inputs) and op in self._stage_of:
                found[op] = None
            return any(leads)

        for tensor in outputs:
            visit(self[tensor].op)
        return [stage for stage in self.stages if stage.op in found]

    def normalize(self) -> Schedule:
        """The schedule itself: TVM asks for this before bounds are inferred, where nothing is to be done here."""
        return self

    # -- knobs

    @property
    def knobs(self) -> dict[str, KnobAttr]:
        """The schedule's knobs by name."""
        return knobs_of(self.primitives.sequence)

    def set_knobs(self, **values: int) -> None:
        """Set knobs by name. Raises UsageError for an unknown name or a value that is no choice."""
        numbers = {name: check_integer(value, f"knob '{name}'") for name, value in values.items()}
        set_knobs(self.primitives.sequence, numbers)

    # -- text

    def module(self, name: str = "main", args: Sequence[Argument] | None = None) -> ModuleOp:
        """The kernel and its schedule. args: its tensors in order; by default placeholders and then outputs.

        Sizes that no placeholder has then have one by themselves.
        """
        read, results, numbers = self._signature(name, args)
        if calls := calls_in(self.operations):
            raise UsageError(
                f"'{calls[0].name}' is filled by a function of Python, so that the schedule is several kernels: "
                "tilework.lower shows them"
            )
        kernel = build_kernel(name, self.names, read, results, self.operations, numbers)
        if self.by_rules and not self.primitives.sequence.body.block.ops:
            return ModuleOp([kernel])
        return ModuleOp([*self._declared(), kernel, self.primitives.sequence_for(name, read)])

    def programs(self, name: str, args: Sequence[Argument]) -> list[KernelProgram | ExternOp]:
        """The kernels of the schedule and the calls of functions of Python, as they run; one kernel where none is."""
        read, results, numbers = self._signature(name, args)
        if not calls_in(self.operations):
            tensors, _ = self.arguments(args)
            return [KernelProgram(self.module(name, args), tuple(tensors), tuple(results))]
        found: list[KernelProgram | ExternOp] = []
        for piece in split_at_calls(self.operations, results, lambda op: self[op].attach_type == Stage.Inline):
            if isinstance(piece, ExternOp):
                found.append(piece)
                continue
            taken = [*read, *piece.reads]
            inputs = {tensor.op for op in piece.operations for tensor in op.input_tensors}
            given = [op for op in self.operations if isinstance(op, PlaceholderOp) and op in inputs]
            operations = [op for op in self.operations if op in (*given, *piece.operations)]
            label = f"{name}_{len(found)}"
            kernel = build_kernel(label, self.names, taken, piece.makes, operations, numbers)
            stages = [stage.name for stage in self.stages if stage.origin_op in piece.operations]
            module = ModuleOp([*self._declared(), kernel, self.primitives.sequence_for(label, taken, stages)])
            found.append(KernelProgram(module, (*taken, *piece.makes), piece.makes))
        return found

    def _declared(self) -> list[te.IntrinsicOp]:
        return [d for intrin, text in self.primitives.intrinsics.items() for d in intrin.declarations(text)]

    def _signature(
        self, name: str, args: Sequence[Argument] | None
    ) -> tuple[list[Tensor], list[Tensor], dict[Name, Tensor]]:
        """What a kernel reads and makes, and which of the first are numbers. Raises UsageError for no arguments."""
        if not check_text(name, "the name of a kernel"):
            raise UsageError("the name of a kernel is not empty")
        read = placeholders(self.operations)
        results = [t for op in self.outputs for t in op.outputs]
        if args is None:
            told = {key for tensor in read for dim in tensor.dims for key in dim.variables()}
            untold = [(key, text) for key, text in self.names.symbols.items() if key not in told]
            return [*read, *(placeholder((Index(var(key)),), name=f"{text}_long") for key, text in untold)], results, {}
        given = listed(args)
        if given is None:
            raise UsageError(f"arguments are a list of tensors, not {kind(args)}")
        tensors, numbers = self.arguments(given)
        if len({id(t) for t in tensors}) != len(tensors):
            raise UsageError("an argument is given twice")
        made = {id(t) for t in (*(t for op in self.operations for t in op.outputs), *numbers.values())}
        for tensor in tensors:
            if id(tensor) not in made:
                raise UsageError(f"argument '{tensor.name}' is not part of this schedule")
        missing = [t.name for t in results if all(t is not a for a in tensors)]
        if missing:
            raise UsageError(f"output '{missing[0]}' of the schedule is not among the arguments")
        read = [t for t in tensors if t in read or t in numbers.values()]
        return read, [t for t in tensors if isinstance(t.op, StagedOp)], numbers

    def arguments(self, args: Sequence[object]) -> tuple[list[Tensor], dict[Name, Tensor]]:
        """The tensors that hold arguments, those that are numbers among them; and those of te.vars, which may be sizes.

        Raises UsageError for what is neither a tensor nor a variable.
        """
        held = [self._held(arg) if isinstance(arg, Var) else arg for arg in args]
        tensors = tensors_of([arg.tensor if isinstance(arg, NumberVar) else arg for arg in held], "arguments")
        numbers = {arg.key: self._held(arg) for arg in args if isinstance(arg, Var)}
        return tensors, numbers

    def _held(self, number: Var) -> Tensor:
        """What holds the value of a variable that is an argument."""
        if number.key not in self._numbers:
            self._numbers[number.key] = placeholder((), "int32", number.name)
        return self._numbers[number.key]

    def mlir(self) -> str:
        """Kernel and schedule as `.mlir`, for opt-tool."""
        return module_text(self.module())

    __str__ = mlir

    def _repr_html_(self) -> str:
        return code_html(self.mlir())

    def dim(self, e: Expr) -> Expr:
        """An extent over the names of symbols in the text."""
        return e.substitute({key: var(name) for key, name in self.names.symbols.items()})

    # -- plumbing

    def _scheduled(
        self,
        name: str,
        axis: Sequence[IterVar],
        reduce_axis: Sequence[IterVar],
        inputs: Sequence[Tensor],
        like: Sequence[Tensor],
    ) -> ScheduledOp:
        """What a new stage runs, with tensors over `axis` for each of those that it stands for."""
        op = ScheduledOp(name, axis, reduce_axis, inputs)
        dims = tuple(map(extent_of, axis))
        op.outputs = [Tensor(op, dims, t.dtype, i) for i, t in enumerate(like)]
        return op

    def _copy(self, axis: IterVar, is_reduce: bool | None = None) -> IterVar:
        """An axis of its own with the name that this one has in the text."""
        [name] = self.primitives.texts([axis])
        return IterVar(axis.dom, name, axis.is_reduce if is_reduce is None else is_reduce)

    def _new_stage(
        self,
        op: StagedOp,
        name: str,
        before: Stage | None = None,
        handle: SSAValue | None = None,
        axes: Sequence[SSAValue] = (),
    ) -> None:
        if handle is not None:
            handle.name_hint = identifier(name)
        stage = Stage(self.primitives, op, name, handle, op in self.outputs, self._source)
        self._stage_of[op] = stage
        self.stages.insert(len(self.stages) if before is None else self.stages.index(before), stage)
        for axis, value in zip((*op.axis, *op.reduce_axis), axes, strict=False):
            self.primitives.handles[axis.key] = value
            self.names.axes.setdefault(axis.key, axis.name)

    def _source(self, tensor: Tensor) -> SSAValue:
        """The handle of a stage, or of the argument that a placeholder is."""
        if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"a tensor is expected, not {kind(tensor)}")
        if tensor.op in self._stage_of or tensor.op not in self.operations:
            return self[tensor].handle
        if tensor not in placeholders(self.operations):
            raise UsageError(f"'{tensor.name}' is a state, which only the steps of its scan read: name a stage instead")
        return self.primitives.argument(tensor)

    def _name_of(self, tensor: Tensor) -> str:
        return self[tensor].name if tensor.op in self._stage_of else self.names.stages[tensor.op]

    def _fresh_name(self, name: str) -> str:
        """The name that lowering gives to a stage that a primitive makes."""
        return UniqueNames(stage.name for stage in self.stages).fresh(name)


class Group:
    """Stages that are placed together."""

    def __init__(self, primitives: Primitives, handle: SSAValue, stages: Sequence[Stage]):
        self.primitives = primitives
        self.handle = handle
        self.stages = list(stages)

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute the group inside that axis of its consumer."""
        self.primitives.check_place(parent, "compute_at of a group")
        parent.leaf(scope, "compute_at")
        self.primitives.compute_at(self.handle, scope)

    def compute_root(self) -> None:
        """Compute the group in nests of its own."""
        self.primitives.compute_elsewhere(ComputeRootOp(self.handle))


def check_schedule(value: object) -> None:
    """Raise UsageError for what is no schedule."""
    if not isinstance(value, Schedule):
        raise UsageError(f"a schedule is expected, not {kind(value)}: te.create_schedule makes one")


def schedule_by_rules(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Schedule:
    """A schedule that the rules of the target make when it is built, as long as no primitive is said of it."""
    schedule = create_schedule(ops)
    schedule.by_rules = True
    return schedule


def create_schedule(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Schedule:
    """The schedule that runs what these outputs need, stage by stage, until primitives change it."""
    given = listed(ops)
    outputs: dict[StagedOp, None] = {}
    for value in [ops] if given is None else given:
        op = value.op if isinstance(value, Tensor) else value
        if not isinstance(op, Operation):
            raise UsageError(f"create_schedule takes computes or their tensors, not {kind(value)}")
        if not isinstance(op, StagedOp):
            raise UsageError(f"'{op.name}' is a placeholder: a schedule is of computes")
        outputs[op] = None
    if not outputs:
        raise UsageError("create_schedule needs an output")
    return Schedule(list(outputs))


def knob(name: str, choices: Sequence[int], chosen: int | None = None) -> KnobAttr:
    """A number that a tuner may choose; by default the first choice."""
    check_text(name, "the name of a knob")
    given = [*choices] if isinstance(choices, range) else listed(choices)
    if not given:
        what = "none" if given == [] else kind(choices)
        raise UsageError(f"knob '{name}' takes a list of numbers to choose from, not {what}")
    numbers = [check_integer(choice, f"a choice of knob '{name}'") for choice in given]
    if len(set(numbers)) != len(numbers):
        raise UsageError(f"knob '{name}' lists a choice twice: {', '.join(map(str, numbers))}")
    number = numbers[0] if chosen is None else check_integer(chosen, f"the choice of knob '{name}'")
    if number not in numbers:
        raise UsageError(f"knob '{name}' cannot be {number}; its choices are {', '.join(map(str, numbers))}")
    return KnobAttr.of(name, numbers, number)
