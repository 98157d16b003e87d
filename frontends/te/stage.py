"""One stage of a schedule: the primitives that are methods of `s[C]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from xdsl.ir import Operation as IROperation
from xdsl.ir import SSAValue

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.schedule import (
    PRAGMAS,
    BindOp,
    CacheReadOp,
    CacheWriteOp,
    ComputeInlineOp,
    ComputeRootOp,
    DecomposeReductionOp,
    DoubleBufferOp,
    EnvThreadsOp,
    FuseOp,
    KnobAttr,
    Number,
    PadToMultipleOp,
    ParallelOp,
    PragmaOp,
    PrefetchOp,
    ReorderOp,
    ReverseComputeAtOp,
    RFactorOp,
    SetScopeOp,
    SetStorePredicateOp,
    SingletonOp,
    SplitOp,
    StorageAlignOp,
    Tail,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.te.intrinsics import library
from tilework.frontends.te.arguments import check_number, check_scope, check_word, kind, listed
from tilework.frontends.te.errors import ScheduleError
from tilework.frontends.te.extents import extent_of, split_extent
from tilework.frontends.te.index import Index, IterVar, Name, Range
from tilework.frontends.te.primitives import Primitives
from tilework.frontends.te.relations import Fuse, IterVarAttr, Relation, Singleton, Split
from tilework.frontends.te.scalar import Test
from tilework.frontends.te.scan import ScanOp
from tilework.frontends.te.tensor import ScheduledOp, StagedOp, Tensor
from tilework.frontends.te.tensor_intrin import TensorIntrin
from tilework.frontends.te.threads import thread_tag, threads_of
from tilework.runtime.devices.c.device import define

_LEAVE_IT_FREE = (CacheReadOp, CacheWriteOp, RFactorOp, ComputeInlineOp, ComputeRootOp, SetScopeOp)
"""The primitives that may name a stage which is inlined."""


_KIND_PRAGMAS = ("parallel", "unroll", "vectorize")
"""Pragmas that are primitives too."""

_IMPORTS = ("import_c", "import_llvm")
"""The pragmas that bring functions of C, by the names of what TVM compiles them to."""

_PARALLEL_HINTS = ("parallel_barrier_when_finish", "parallel_launch_point", "parallel_stride_pattern")
"""Pragmas of TVM about its threads that change nothing here: parallel loops run on threads that are there already."""


class Stage:
    """A compute and how to run it.

    op: what it runs now, with its `axis` and `reduce_axis`; origin_op: what it ran at first. leaf_iter_vars: its loops,
    outermost first; all_iter_vars: those that became others, too. relations: how they did. iter_var_attrs: how the
    loops run, of those for which something was asked. group: the innermost group that it is in. Methods raise
    ScheduleError, with the loop nest as a note, for what cannot be, UsageError for arguments of the wrong kind.
    """

    GroupRoot = 1
    Inline = 2
    Scope = 4

    def __init__(
        self,
        primitives: Primitives,
        op: StagedOp,
        name: str,
        handle: SSAValue | None,
        is_output: bool,
        source_of: Callable[[Tensor], SSAValue],
    ):
        """source_of: the handle of any tensor of the schedule."""
        self.primitives = primitives
        self.op = op
        self.origin_op = op
        self.is_output = is_output
        self._source_of = source_of
        self.name = name
        self.scope = ""
        self.leaf_iter_vars = [*op.axis, *op.reduce_axis]
        self.all_iter_vars = list(self.leaf_iter_vars)
        self.relations: list[Relation] = []
        self.iter_var_attrs: dict[IterVar, IterVarAttr] = {}
        self.group: Any = None
        self.attach_stage: Stage | None = None
        self._handle = handle
        self._kinds: dict[Name, str] = {}
        self._threads: dict[Name, IterVar] = {}
        self._moved_to: dict[Name, str] = {}
        self._launched: set[str] = set()
        self._singletons: set[Name] = set()

    @property
    def is_relaid(self) -> bool:
        """Whether its spatial axes are others, or in another order, than those of its tensor."""
        leaves = [a.key for a in self.spatial_leaves() if a.key not in self._singletons]
        return leaves != [a.key for a in self.op.axis]

    @property
    def is_scheduled(self) -> bool:
        """Whether a primitive says how its axes run, where it is computed, or how its buffer is filled."""
        axes = [self.primitives.handles[a.key] for a in self.all_iter_vars if a.key in self.primitives.handles]
        asked = [use.operation for value in (self._handle, *axes) if value is not None for use in value.uses]
        return any(not isinstance(op, _LEAVE_IT_FREE) for op in asked)

    @property
    def handle(self) -> SSAValue:
        """The stage in the sequence, put there when first needed."""
        if self._handle is None:
            self._handle = self.primitives.stage(self.name, self.op)
        return self._handle

    @property
    def attach_type(self) -> int:
        """The kind of place at which it is computed: a number in capitals of `Stage`; scans have none of their own."""
        handle = self._handle
        if handle is not None and handle in self.primitives.inlined:
            return self.Inline
        return self.GroupRoot if self.attach_ivar is None else self.Scope

    @property
    def attach_ivar(self) -> IterVar | None:
        """The axis of `attach_stage` at which it is computed; None elsewhere."""
        key = None if self._handle is None else self.primitives.attached.get(self._handle)
        if key is None or self.attach_stage is None:
            return None
        return next((axis for axis in self.attach_stage.all_iter_vars if axis.key is key), None)

    # -- axes

    def split(
        self,
        parent: IterVar,
        factor: Number | None = None,
        nparts: Number | None = None,
        tail: Tail | str = Tail.GUARD,
    ) -> tuple[IterVar, IterVar]:
        """An outer and an inner axis in place of one: inner of extent `factor`, or outer of extent `nparts`.

        tail: what happens where the factor does not divide the extent: "guard" as in TVM, "partition", "mask", "shift"
        or "pad".
        """
        value = self._plain_leaf(parent, "split")
        if (factor is None) == (nparts is None):
            raise UsageError(f"split of axis '{parent.name}': give either factor or nparts")
        number = check_number(nparts if factor is None else factor, f"split of axis '{parent.name}'")
        chosen = Tail(check_word(tail, tuple(Tail), f"split of axis '{parent.name}': unknown tail"))
        op = SplitOp(value, number, None, chosen) if nparts is None else SplitOp(value, None, number, chosen)
        self.primitives.add(op)
        [name] = self.primitives.texts([parent])
        parts = split_extent(extent_of(parent), number, by_parts=nparts is not None)
        outer = self._new_axis(f"{name}.outer", parts[0], parent.is_reduce, op.outer)
        inner = self._new_axis(f"{name}.inner", parts[1], parent.is_reduce, op.inner)
        self._replace([parent], [outer, inner])
        self.relations.append(Split(parent, outer, inner, factor, nparts))
        self.primitives.move_attached(parent, inner)
        return outer, inner

    def fuse(self, *args: IterVar) -> IterVar:
        """Adjacent axes as one, the first outermost; of none, a new outermost axis of extent 1."""
        values = [self._plain_leaf(axis, "fuse") for axis in args]
        if not args:
            made = self.primitives.add(SingletonOp(self.handle))
            singleton = self._new_axis("singleton", const(1), False, made.axis)
            self.leaf_iter_vars.insert(0, singleton)
            self._singletons.add(singleton.key)
            self.relations.append(Singleton(singleton))
            return singleton
        if len(args) == 1:
            return args[0]
        if len({a.is_reduce for a in args}) > 1:
            raise self.refusal(f"cannot fuse spatial with reduce axes of stage '{self.name}': {_listed(args)}")
        first = self._place(args[0])
        if [a.key for a in self.leaf_iter_vars[first : first + len(args)]] != [a.key for a in args]:
            raise self.refusal(
                f"axes {_listed(args)} of stage '{self.name}' are not adjacent in this order; reorder first"
            )
        op = self.primitives.add(FuseOp(values))
        extent = product(map(extent_of, args))
        fused = self._new_axis(".".join(self.primitives.texts(args)), extent, args[0].is_reduce, op.fused)
        self._replace(args, [fused])
        self.relations.append(Fuse(args, fused))
        for axis in args:
            self.primitives.move_attached(axis, fused)
        return fused

    def reorder(self, *args: IterVar) -> None:
        """These axes in this order, outermost first, in the places that they hold together."""
        values = [self.leaf(axis, "reorder") for axis in args]
        if len(set(values)) != len(values):
            raise self.refusal(f"reorder of stage '{self.name}' names an axis twice: {_listed(args)}")
        if values:
            self.primitives.add(ReorderOp(values))
        for place, axis in zip(sorted(map(self._place, args)), args, strict=True):
            self.leaf_iter_vars[place] = axis

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: Number, y_factor: Number
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Split two axes and put the tile inside: x outer, y outer, x inner, y inner."""
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    # -- how an axis runs

    def vectorize(self, var: IterVar) -> None:
        """The axis becomes vector lanes."""
        self._annotate(var, "vectorized", VectorizeOp(self._spatial_leaf(var, "vectorized")))
        self._attr(var).iter_type = IterVar.Vectorized

    def parallel(self, var: IterVar) -> None:
        """The iterations run on several threads."""
        self._annotate(var, "parallel", ParallelOp(self._spatial_leaf(var, "parallel")))
        self._attr(var).iter_type = IterVar.Parallelized

    def unroll(self, var: IterVar) -> None:
        """The iterations become straight-line code."""
        self._annotate(var, "unrolled", UnrollOp(self._plain_leaf(var, "unroll")))
        self._attr(var).iter_type = IterVar.Unrolled

    def bind(self, ivar: IterVar, thread_ivar: IterVar) -> None:
        """Each iteration is a thread of that axis of a device; te.thread_axis makes thread axes.

        Threads of "vthread" and "cthread" are virtual: all machines have them, and interleave their statements.
        An axis must have as many iterations as its thread axis has threads, where that says how many.
        """
        self.leaf(ivar, "bind")
        tag = thread_tag(thread_ivar, f"bind of axis '{ivar.name}'")
        threads = None if thread_ivar.dom is None else threads_of(thread_ivar, tag, "bind")
        self._annotate(ivar, tag, BindOp(self._plain_leaf(ivar, "bind"), tag, threads))
        self._threads[thread_ivar.key] = ivar
        self._attr(ivar).bind_thread = thread_ivar

    def pragma(self, var: IterVar, pragma_type: str, pragma_value: Number | str | None = None) -> None:
        """A request about the loop of an axis, by a known key.

        "vectorize", "unroll" and "parallel" are the primitives of that name. "import_c" and "import_llvm" define the
        functions of C in a text, which intrinsics call. "parallel_launch_point" and its kin are taken and change
        nothing: parallel loops run on threads that are there already.
        """
        check_word(pragma_type, (*PRAGMAS, *_KIND_PRAGMAS, *_IMPORTS, *_PARALLEL_HINTS), "unknown pragma")
        if pragma_type in _IMPORTS:
            self.leaf(var, "pragma")
            if not isinstance(pragma_value, str):
                raise UsageError(f"pragma '{pragma_type}' takes a text of C, not {kind(pragma_value)}")
            define(pragma_value)
            return
        if pragma_type in _KIND_PRAGMAS:
            getattr(self, pragma_type)(var)
            return
        leaf = self.leaf(var, "pragma")
        self._attr(var).pragma_keys.append(pragma_type)
        self._attr(var).pragma_values.append(pragma_value)
        if pragma_type in _PARALLEL_HINTS:
            return
        number = pragma_value if isinstance(pragma_value, KnobAttr) else integer_of(pragma_value)
        if number is None or (isinstance(number, int) and number < 0):
            raise UsageError(f"pragma '{pragma_type}' takes a number of at least 0")
        number = check_number(number, f"pragma '{pragma_type}'", least=0)
        self.primitives.add(PragmaOp(leaf, pragma_type, number))

    def tensorize(self, var: IterVar, tensor_intrin: TensorIntrin | str) -> None:
        """Everything from that axis inwards is one call of the intrinsic of that name."""
        leaf = self._plain_leaf(var, "tensorize")
        if isinstance(tensor_intrin, TensorIntrin):
            name = self.primitives.declare(tensor_intrin)
        elif isinstance(tensor_intrin, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            name = tensor_intrin
        else:
            what = f"tensorize takes an intrinsic of te.decl_tensor_intrin, or a name, not {kind(tensor_intrin)}"
            raise UsageError(f"{what}; known: {', '.join(library())}")
        self._annotate(var, "tensorized", TensorizeOp(leaf, name))
        self._attr(var).iter_type, self._attr(var).tensor_intrin = IterVar.Tensorized, tensor_intrin

    def prefetch(self, tensor: Tensor, var: IterVar, offset: Number) -> None:
        """At every iteration of the axis, ask the cache for what it reads of the tensor `offset` iterations later."""
        value = self.leaf(var, "prefetch")
        number = check_number(offset, f"prefetch at axis '{var.name}'")
        self.primitives.add(PrefetchOp(self._source_of(tensor), value, number))

    # -- where the stage is computed

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute the stage inside that axis of its consumer, just the part that one iteration needs."""
        self.primitives.check_place(parent, "compute_at")
        if parent is self:
            raise self.refusal(f"stage '{self.name}' cannot be computed at its own axis '{scope.name}'")
        handle = self.handle
        parent.leaf(scope, "compute_at")
        self.primitives.compute_at(handle, scope)
        self.attach_stage = parent

    def compute_inline(self) -> None:
        """Put the stage's expression in place of every read of it."""
        if self.op.reduce_axis:
            raise self.refusal(f"stage '{self.name}' is a reduction and cannot be inlined; use compute_at")
        if self.is_output:
            raise self.refusal(f"stage '{self.name}' is an output of the schedule and cannot be inlined")
        self.primitives.compute_elsewhere(ComputeInlineOp(self.handle))

    def compute_root(self) -> None:
        """Compute the stage in a nest of its own, before all consumers: takes back compute_at."""
        self.primitives.compute_elsewhere(ComputeRootOp(self.handle))

    def reverse_compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute this element-wise consumer inside that axis of its producer."""
        self.primitives.check_place(parent, "reverse_compute_at")
        if parent is self:
            raise self.refusal(f"stage '{self.name}' cannot be computed at its own axis '{scope.name}'")
        handle = self.handle
        self.primitives.compute_elsewhere(ReverseComputeAtOp(handle, parent.leaf(scope, "reverse_compute_at")))

    def decompose_reduction(self, axis: IterVar) -> None:
        """Set the elements to the reducer's identity in a nest of their own, right before that axis."""
        if not self.op.reduce_axis:
            raise self.refusal(f"stage '{self.name}' is no reduction: it has nothing to decompose")
        handle = self.handle
        self.primitives.add(DecomposeReductionOp(handle, self.leaf(axis, "decompose_reduction")))

    def set_store_predicate(self, predicate: object) -> None:
        """Let only one of the threads that share a reduction store: `tx.equal(0)` for a thread axis tx bound here."""
        expr = predicate.predicate.expr if isinstance(predicate, Test) and predicate.predicate.kind == "==" else None
        key, *others = (() if expr is None else expr.variables()) or (None,)
        sign = 0 if expr is None or key is None or others else expr.coefficient(key)
        if expr is None or key not in self._threads or abs(sign) != 1 or not expr.is_affine_in(key):
            raise UsageError(
                f"set_store_predicate of stage '{self.name}' takes tx.equal(0) of a thread axis bound in it"
            )
        number = -expr.offset * sign
        handle = self.handle
        axis = self._threads[key]  # pyright: ignore[reportArgumentType]
        self.primitives.add(SetStorePredicateOp(handle, self.leaf(axis, "set_store_predicate"), number))

    def env_threads(self, threads: IterVar | Sequence[IterVar]) -> None:
        """Launch these threads around a scan, once for all its steps, the first outermost; steps' axes bind to them.

        Each has an extent, as `te.thread_axis((0, 32), "threadIdx.x")` has.
        """
        if not isinstance(self.op, ScanOp):
            raise self.refusal(f"stage '{self.name}' is not a scan: threads around it come from its axes; use bind")
        given = listed(threads)
        if given == []:
            raise UsageError("env_threads takes at least one axis that te.thread_axis makes")
        for thread in cast("list[IterVar]", [threads] if given is None else given):
            tag = thread_tag(thread, "env_threads")
            extent = threads_of(thread, tag, "env_threads")
            if tag in self._launched:
                raise self.refusal(f"{tag} runs around scan '{self.name}' already; a thread axis is launched once")
            self._launched.add(tag)
            self.primitives.add(EnvThreadsOp(self.handle, tag, extent))

    # -- storage

    def set_scope(self, scope: str) -> None:
        """Where the stage's buffer lives: "global", "shared", "warp", "local", "register" or that of an intrinsic."""
        self.scope = check_scope(scope)
        self.primitives.add(SetScopeOp(self.handle, scope))

    def storage_align(self, axis: IterVar, factor: Number, offset: Number) -> None:
        """The stride of an axis of the stage's buffer is a multiple of `factor` plus `offset`, in elements."""
        value = self._known(axis, "storage_align")
        self.primitives.add(
            StorageAlignOp(value, check_number(factor, "storage_align"), check_number(offset, "storage_align", 0))
        )

    def double_buffer(self) -> None:
        """Fill the stage's buffer for the next iteration while this one uses it."""
        self.primitives.add(DoubleBufferOp(self.handle))

    def rolling_buffer(self) -> NoReturn:
        """TVM's name, refused: compute the stage at an axis outside of the overlap, or at the root."""
        instead = "compute the stage at an axis outside of the overlap, or at the root"
        raise UsageError(f"rolling_buffer of stage '{self.name}' is not supported: {instead}")

    def pad_to_multiple(self, axis: IterVar, factor: Number) -> None:
        """Lengthen an axis to a multiple of `factor`."""
        value = self._plain_leaf(axis, "pad_to_multiple")
        self.primitives.add(PadToMultipleOp(value, check_number(factor, "pad_to_multiple")))

    # -- what the schedule uses

    def leaf(self, axis: IterVar, primitive: str) -> SSAValue:
        """The axis in the sequence. Raises ScheduleError unless it is a leaf of this stage."""
        value = self._known(axis, primitive)
        if all(a is not axis for a in self.leaf_iter_vars):
            raise self.refusal(
                f"{primitive}: axis '{axis.name}' of stage '{self.name}' was split or fused; "
                "use one of the axes that came of it"
            )
        return value

    def refusal(self, message: str) -> ScheduleError:
        """The error with the stage's loop nest as a note."""
        error = ScheduleError(message)
        error.add_note(f"the loop nest as it stands:\n{self.nest()}")
        return error

    def nest(self) -> str:
        """The loops, one a line."""
        lines = [f"{self.name}:"]
        texts = self.primitives.texts(self.leaf_iter_vars)
        for depth, (axis, text) in enumerate(zip(self.leaf_iter_vars, texts, strict=True)):
            kind = self._kinds.get(axis.key)
            reduce = " (reduce)" if axis.is_reduce else ""
            lines.append(f"{'  ' * (depth + 1)}for {text}{reduce}{'' if kind is None else f' {kind}'}")
        return "\n".join(lines)

    def spatial_leaves(self) -> list[IterVar]:
        """The leaves that spatial axes have become."""
        return [a for a in self.leaf_iter_vars if not a.is_reduce]

    def reduce_leaves(self) -> list[IterVar]:
        """The leaves that reduce axes have become."""
        return [a for a in self.leaf_iter_vars if a.is_reduce]

    def replace_op(
        self, op: ScheduledOp, kept: Sequence[IterVar], new: Sequence[IterVar], moved_to: str, anew: bool = False
    ) -> None:
        """The stage runs something else from now on, over the `kept` axes and what they have become, and `new` ones.

        Its other axes are those of stage `moved_to`. `anew`: the sequence has another handle of the stage from now on.
        """
        alive = {a.key for a in kept}
        self._moved_to.update({a.key: moved_to for a in self.all_iter_vars if a.key not in alive})
        self.op = op
        self.all_iter_vars = [*kept, *new]
        self.leaf_iter_vars = [*(a for a in self.leaf_iter_vars if a.key in alive), *new]
        if anew:
            old = self.handle
            self._handle = self.primitives.stage(self.name, op)
            self.primitives.renew_attached(old, self._handle)

    # -- plumbing

    def _known(self, axis: object, primitive: str) -> SSAValue:
        """An axis of this stage, leaf or not."""
        if not isinstance(axis, IterVar):
            raise UsageError(f"{primitive} takes axes of stage '{self.name}', not {kind(axis)}")
        if axis.key in self._moved_to:
            raise self.refusal(
                f"{primitive}: axis '{axis.name}' of stage '{self.name}' is now one of '{self._moved_to[axis.key]}'; "
                "schedule that stage's axes"
            )
        _ = self.handle  # the stage's axes are known from now on
        if all(a is not axis for a in self.all_iter_vars):
            raise self.refusal(f"{primitive}: axis '{axis.name}' is not one of stage '{self.name}'")
        return self.primitives.handles[axis.key]

    def _plain_leaf(self, axis: IterVar, primitive: str) -> SSAValue:
        value = self.leaf(axis, primitive)
        if (kind := self._kinds.get(axis.key)) is not None:
            raise self.refusal(f"{primitive}: axis '{axis.name}' of stage '{self.name}' is already {kind}")
        return value

    def _spatial_leaf(self, axis: IterVar, kind: str) -> SSAValue:
        value = self._plain_leaf(axis, kind)
        if axis.is_reduce:
            raise self.refusal(
                f"axis '{axis.name}' of stage '{self.name}' is a reduction and cannot be {kind}: "
                "its iterations write the same element"
            )
        return value

    def _attr(self, axis: IterVar) -> IterVarAttr:
        """How the loop of an axis runs, to be changed."""
        return self.iter_var_attrs.setdefault(axis, IterVarAttr(axis.iter_type))

    def _annotate(self, axis: IterVar, kind: str, op: IROperation) -> None:
        self.primitives.add(op)
        self._kinds[axis.key] = kind

    def _new_axis(self, name: str, extent: Expr, is_reduce: bool, value: SSAValue) -> IterVar:
        axis = IterVar(Range(0, Index(extent)), name, is_reduce)
        self.primitives.handles[axis.key] = value
        self.all_iter_vars.append(axis)
        return axis

    def _replace(self, old: Sequence[IterVar], new: Sequence[IterVar]) -> None:
        at = self._place(old[0])
        self.leaf_iter_vars[at : at + len(old)] = new

    def _place(self, axis: IterVar) -> int:
        return next(i for i, a in enumerate(self.leaf_iter_vars) if a is axis)


def _listed(axes: Sequence[IterVar]) -> str:
    return ", ".join(f"'{a.name}'" for a in axes)
