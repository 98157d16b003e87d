"""The primitives that rewrite te, drawn at any moment: of stages as they are, scheduled or made by such a primitive."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue

from tilework.dialects.schedule import Tail
from tilework.dialects.te import ComputeOp, ReadOp
from tilework.tools.fuzz.stages import Drawn, DrawnArgument, DrawnStage, Source

FACTORS = (2, 3, 4, 5, 8, 16)
SCOPES = ("local", "local", "global", "register")


def draw_pad(d: Drawn) -> None:
    """A dimension or a reduce axis becomes longer; not one of an output, but by carelessness."""
    stage = _compute(d)
    if stage is None:
        return
    free = [a for a in stage.plain(d.draw) if a in stage.roots or a in stage.reduce_roots]
    if not d.careless():
        free = [a for a in free if a in stage.reduce or not (stage.is_output or stage.is_whole)]
    if free:
        d.s.pad_to_multiple(d.draw.choice(free), d.draw.choice(FACTORS))


def draw_inline(d: Drawn) -> None:
    """A stage that nothing was asked of is inlined, or seldom any."""
    stages = d.computes
    if not d.careless():
        stages = [s for s in stages if d.readers(s) and not (s.is_whole or s.reduce or s.is_scheduled)]
    if stages:
        stage = d.draw.choice(stages)
        d.s.compute_inline(stage.handle)
        stage.is_inlined = True


def draw_take_back(d: Drawn) -> None:
    """A stage that was inlined is computed after all."""
    inlined = [stage for stage in d.order if stage.is_inlined]
    if inlined:
        stage = d.draw.choice(inlined)
        d.s.compute_root(stage.handle)
        stage.is_inlined = False


def draw_cache_write(d: Drawn) -> None:
    """A cache, in the layout that the axes of the tensor have become; often computed in the copy out of it."""
    stage = _compute(d)
    if stage is None or (not d.careless() and _is_bound(stage)):
        return
    if d.draw.chance(30) and not stage.annotated and not stage.places:
        _draw_layout(d, stage)
    relaid = stage.is_relaid
    spatial = stage.spatial if relaid else stage.roots
    names = [stage.names[a] for a in (*spatial, *stage.reduce_roots)]
    scope = d.draw.choice(SCOPES)
    handle = d.s.cache_write(stage.handle, scope, names)
    cache = d.add(stage, handle, f"{stage.name}.{scope}", len(stage.reduce_roots), stage.reads)
    stage.reads = [cache]
    if relaid:
        stage.handle = d.s.stage_with_axes(stage.name, [stage.names[a] for a in stage.roots])
        stage.roots = list(stage.handle.axes.values())
        stage.leaves, stage.singletons = list(stage.roots), set()
        stage.names = {axis: name for name, axis in stage.handle.axes.items()}
    else:
        stage.leaves = stage.spatial
    stage.reduce_roots, stage.reduce = [], set()
    _draw_place(d, cache, stage, scope)


def _is_bound(stage: DrawnStage) -> bool:
    """Whether something was asked of axes that go into the cache."""
    untouched = all(a in stage.reduce_roots for a in stage.reductions)
    used = stage.annotated | stage.places
    return not untouched or bool(used & stage.reduce) or (stage.is_relaid and bool(used))


def _draw_layout(d: Drawn, stage: DrawnStage) -> None:
    for _ in range(d.draw.choice((1, 2, 3))):
        spatial = [a for a in stage.spatial if a not in stage.singletons]
        kind = d.draw.choice(("split", "split", "fuse", "reorder"))
        if kind == "split" and spatial:
            axis = d.draw.choice(spatial)
            stage.replace([axis], list(d.s.split(axis, d.draw.choice(FACTORS))))
        pairs = list(zip(stage.leaves, stage.leaves[1:], strict=False))
        pairs = [[a, b] for a, b in pairs if a in spatial and b in spatial]
        if kind == "fuse" and pairs:
            axes = d.draw.choice(pairs)
            stage.replace(axes, [d.s.fuse(axes)])
        if kind == "reorder":
            draw_order(d, stage, stage.spatial)


def draw_order(d: Drawn, stage: DrawnStage, axes: list[SSAValue]) -> None:
    """Some leaves in another order, in the places that they hold."""
    places = sorted(map(stage.leaves.index, axes))
    left, order = list(axes), list[SSAValue]()
    while left:
        order.append(left.pop(left.index(d.draw.choice(left))))
    for place, axis in zip(places, order, strict=True):
        stage.leaves[place] = axis
    if order:
        d.s.reorder(order)


def draw_rfactor(d: Drawn) -> None:
    """A reduce axis becomes a dimension of a stage of its own; often computed in the rest."""
    stages = [s for s in d.computes if s.reductions and not (s.annotated | s.places) & s.reduce]
    if not stages:
        return
    stage = d.draw.choice(stages)
    for _ in range(d.draw.choice((1, 1, 2)) if len(stage.reductions) < 2 or d.draw.chance(50) else 0):
        axis = d.draw.choice(stage.reductions)
        tail = d.draw.choice(tuple(Tail)) if d.careless() else Tail.GUARD
        stage.replace([axis], list(d.s.split(axis, d.draw.choice(FACTORS), tail)))
    if d.draw.chance(20):
        draw_order(d, stage, stage.leaves)
    reduction = stage.reductions
    axis = d.draw.choice(reduction)
    at = d.draw.choice((0, -1, len(stage.roots)))
    names = [stage.names[a] for a in stage.roots]
    names.insert(at if at >= 0 else len(names), stage.names[axis])
    names += [stage.names[a] for a in reduction if a is not axis]
    handle, rest = d.s.rfactor(stage.handle, axis, names, at)
    factored = d.add(stage, handle, f"{stage.name}.rf", len(reduction) - 1, stage.reads)
    stage.reads = [factored]
    stage.leaves = [*stage.spatial, rest]
    stage.reduce_roots, stage.reduce = [rest], {rest}
    stage.names[rest] = stage.names[axis]
    _draw_place(d, factored, stage, "local")


def draw_cache_read(d: Drawn) -> None:
    """A copy of what a stage reads, for it and perhaps for others; often computed in the first of them."""
    readers = [s for s in d.order if s.is_compute and s.reads]
    if not readers:
        return
    first = d.draw.choice(readers)
    source = d.draw.choice(first.reads)
    others = [s for s in readers if s is not first and source in s.reads and d.draw.chance(40)]
    chosen = [s for s in d.order if s is first or s in others]
    scope = d.draw.choice(SCOPES)
    names = [f"a{i}" for i in range(source.rank)]
    handle = d.s.cache_read(d.handle_of(source), scope, [s.handle for s in chosen], names)
    copy = d.add(chosen[0], handle, f"{source.name}.{scope}", 0, [source])
    for reader in chosen:
        reader.reads = [copy if s is source else s for s in reader.reads]
    _draw_place(d, copy, chosen[0], scope)


def draw_reindex(d: Drawn) -> None:
    """A copy of what a stage reads, with the stage's own axes; often computed in it."""
    stages = [s for s in d.computes if _read_at_first(d, s)]
    if not stages:
        return
    reader = d.draw.choice(stages)
    read, source = d.draw.choice(_read_at_first(d, reader))
    left, names = sorted({key for e in read.exprs for key in e.variables() if isinstance(key, str)}), list[str]()
    while left:
        names.append(left.pop(left.index(d.draw.choice(left))))
    scope = d.draw.choice(SCOPES)
    handle = d.s.reindex(d.handle_of(source), scope, reader.handle, names)
    copy = d.add(reader, handle, f"{source.name}.{scope}", 0, [source])
    reader.reads = [copy if s is source else s for s in reader.reads]
    _draw_place(d, copy, reader, scope)


def _read_at_first(d: Drawn, stage: DrawnStage) -> list[tuple[ReadOp, Source]]:
    """What a stage reads as the kernel was written, and reads still."""
    compute = d.s.kernel.compute(stage.name)
    found: list[tuple[ReadOp, Source]] = []
    for read in () if compute is None else compute.reads:
        found += [(read, source) for source in stage.reads if _is_of(read.tensor, source)]
    return found


def _is_of(tensor: SSAValue, source: Source) -> bool:
    """Whether a tensor is an argument, or a stage makes it."""
    if isinstance(tensor, BlockArgument):
        return isinstance(source, DrawnArgument) and source.number == tensor.index
    maker = tensor.owner
    return isinstance(source, DrawnStage) and isinstance(maker, ComputeOp) and maker.stage.data == source.name


def _compute(d: Drawn) -> DrawnStage | None:
    return d.draw.choice(d.computes) if d.computes else None


def _draw_place(d: Drawn, stage: DrawnStage, reader: DrawnStage, scope: str) -> None:
    leaves = [a for a in reader.leaves if not reader.is_inlined]
    if leaves and d.draw.chance(80 if scope == "register" else 50):
        axis = d.draw.choice(leaves)
        d.s.compute_at(stage.handle, axis)
        reader.places.add(axis)
        stage.is_placed = True
