"""The layout that splits, fuses and reorders of a stage's spatial axes say: what came of the axes are dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.predicate import Predicate
from tilework.dialects.schedule import SingletonOp, StageOp, StorageAlignOp
from tilework.dialects.support.shapes import element_type, tensor_type
from tilework.dialects.te import ComputeOp
from tilework.dialects.te.cloning import clone_body
from tilework.scheduling.dataflow.bodies import gather_of, guard_reads
from tilework.scheduling.dataflow.earlier_uses import SHAPING, check_tails, made_of, users_before
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.stage_bounds import StageBounds
from tilework.scheduling.state import Axis, Fuse, Singleton, Split, Stage, refuse


def is_another_layout(stage: Stage) -> bool:
    """Whether the stage's spatial axes are others, or in another order, than those of its tensor.

    An axis of one iteration that comes from none does not count as long as it is as it was made.
    """
    singletons = {r.axis for r in stage.relations if isinstance(r, Singleton)}
    return [a for a in stage.leaves if not a.reduce and a not in singletons] != stage.spatial


def layout_primitives(stages: KernelStages, op: Operation, stage: Stage, stage_op: StageOp) -> list[Operation]:
    """What before `op` made the layout. Raises CompileError where something else was asked of the stage's axes.

    Strides of the stage's buffer may have been: they are those of dimensions, which the stage keeps.
    """
    singletons = [user for user in users_before(stages, op, [stage_op.handle]) if isinstance(user, SingletonOp)]
    users = users_before(stages, op, made_of([*stage_op.axes, *(singleton.axis for singleton in singletons)]))
    for user in users:
        if not isinstance(user, (*SHAPING, StorageAlignOp)):
            message = f"cache_write of stage '{stage.name}' comes after {user.name} used its axes"
            refuse(op, stage, f"{message}: only splits, fuses and reorders become a layout; call it first")
    return [*singletons, *(user for user in users if not isinstance(user, StorageAlignOp))]


def relaid(op: Operation, stage: Stage, name: str, b: StageBounds) -> tuple[ComputeOp, ComputeOp]:
    """A stage of that name which computes into the layout, and the stage itself, which copies out of it."""
    if stage.scan is not None and stage.leaves[0] is not stage.spatial[0]:
        what = f"stage '{stage.name}' is part of every step of scan '{stage.scan.name}'"
        refuse(op, stage, f"{what}: axis '{stage.spatial[0]}' is time and stays its first dimension", stage.leaves[0])
    check_tails(op, stage, "a layout", (r for r in stage.relations if isinstance(r, Split)))
    compute, leaves = stage.body, [a for a in stage.leaves if not a.reduce]
    cache = _cache_of(compute, name, leaves, b)
    index = _forward(stage, b)
    indices = [index[leaf] for leaf in leaves]
    return cache, gather_of(cache.results, stage.name, compute.spatial, indices, compute.result_types)


def _cache_of(compute: ComputeOp, name: str, leaves: Sequence[Axis], b: StageBounds) -> ComputeOp:
    """The compute over the leaves; elements that the tensor does not have are left out."""
    names: dict[Key, Expr] = {leaf: var(leaf.name) for leaf in leaves}
    values: dict[Key, Expr] = {n: b.values[n].substitute(names) for n, _ in compute.spatial}
    body = clone_body(compute, values)
    guard_reads(body, [Predicate(g.expr.substitute(names), g.kind) for g in b.guards])
    spatial = [(leaf.name, b.extents[leaf]) for leaf in leaves]
    reduction = [(n, e.substitute(values)) for n, e in compute.reduction]
    types = [tensor_type([e for _, e in spatial], element_type(t)) for t in compute.result_types]
    return ComputeOp(name, spatial, reduction, types, body)


def _forward(stage: Stage, b: StageBounds) -> dict[Axis, Expr]:
    """The index of every axis in terms of the names of the stage's own axes."""
    index: dict[Axis, Expr] = {a: var(a.name) for a in stage.spatial}
    for relation in stage.relations:
        match relation:
            case Singleton():
                index[relation.axis] = const(0)
            case Split():
                factor = b.extents[relation.inner] if b.extents[relation.inner] != 0 else const(1)  # nothing runs then
                index[relation.outer] = index[relation.parent] // factor
                index[relation.inner] = index[relation.parent] % factor
            case Fuse():
                total = const(0)
                for parent in relation.parents:
                    total = total * b.extents[parent] + index[parent]
                index[relation.fused] = total
    return index
