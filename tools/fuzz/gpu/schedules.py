"""Random schedules with blocks, threads, virtual threads, shared and local memory; not all of them are legal."""

from __future__ import annotations

from typing import Any

from tilework import te
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.gpu.programs import Program

FACTORS = (1, 2, 3, 4, 8)
THREADS = ("threadIdx.x", "threadIdx.y", "threadIdx.z")


class Scheduler:
    """Schedules one program."""

    def __init__(self, program: Program, draw: Draw):
        self.program, self.draw = program, draw
        self.s: Any = te.create_schedule(program.result.op)
        self.threads = {name: te.thread_axis(name) for name in THREADS}
        self.places: list[tuple[Any, Any]] = []
        """Stages and axes of them at which others may be computed."""

    def schedule(self) -> Any:
        """A schedule of all stages."""
        draw, result = self.draw, self.program.result
        cached = [self.s.cache_write(result, "local")] if draw.chance(40) else []
        stages = [*self.program.inner, *cached]
        readers = cached or [result]
        tiles = [
            self.s.cache_read(tensor, draw.choice(("shared", "local")), readers)
            for tensor in (*self.program.arguments[:-1], *self.program.inner)
            if draw.chance(50) and self._is_read_by(tensor, readers)
        ]
        self.share_out(result, is_root=True)
        for stage in reversed(stages):
            self.place(stage)
        for tile in tiles:
            self.place(tile)
        return self.s

    def _is_read_by(self, tensor: Any, readers: list[Any]) -> bool:
        return all(any(read is tensor for read in reader.op.input_tensors) for reader in readers)

    def share_out(self, tensor: Any, *, is_root: bool) -> None:
        """Split the axes of a stage, and bind parts of them to blocks and threads."""
        draw, stage = self.draw, self.s[tensor]
        names = ["x", "y", "z"]
        outer: list[Any] = []
        inner: list[Any] = []
        for axis in reversed(list(stage.op.axis)):
            name = names.pop(0)
            block, rest = stage.split(axis, factor=draw.choice(FACTORS) * draw.choice(FACTORS))
            thread, rest = stage.split(rest, factor=draw.choice(FACTORS))
            if is_root and draw.chance(90):
                stage.bind(block, te.thread_axis(f"blockIdx.{name}"))
            if draw.chance(20):
                virtual, rest = stage.split(rest, nparts=2)
                stage.bind(virtual, te.thread_axis("vthread"))
                outer.append(virtual)
            if draw.chance(90):
                stage.bind(thread, self.threads[f"threadIdx.{name}"])
            outer += [thread, block] if is_root else [thread]
            inner.append(rest)
            if not is_root:
                outer.append(block)
            self.places += [(tensor, block), (tensor, thread)]
        reduced = self.reduction(tensor)
        stage.reorder(*reversed(outer), *reduced, *reversed(inner))
        if draw.chance(20):
            (stage.unroll if draw.chance(70) else stage.vectorize)(inner[0])

    def reduction(self, tensor: Any) -> list[Any]:
        """The parts of the axes summed over; one of them may be shared among threads."""
        draw, stage = self.draw, self.s[tensor]
        parts: list[Any] = []
        for axis in list(stage.op.reduce_axis):
            outer, inner = stage.split(axis, factor=draw.choice(FACTORS))
            parts += [outer, inner]
            self.places.append((tensor, outer))
            if draw.chance(30):
                stage.bind(draw.choice((outer, inner)), self.threads[draw.choice(THREADS)])
        return parts

    def place(self, tensor: Any) -> None:
        """Compute a stage inside of another one, or by itself, and share its elements out to threads."""
        draw, stage = self.draw, self.s[tensor]
        if draw.chance(10):
            self.share_out(tensor, is_root=True)
            return
        if not stage.scope and draw.chance(60):
            stage.set_scope(draw.choice(("shared", "local")))
        parent, axis = draw.choice(self.places)
        stage.compute_at(self.s[parent], axis)
        if draw.chance(60):
            self.fetch(tensor)
        else:
            self.reduction(tensor)

    def fetch(self, tensor: Any) -> None:
        """Deal the elements of a stage out to all threads of some kinds, whatever its axes are."""
        draw, stage = self.draw, self.s[tensor]
        axes = list(stage.op.axis)
        rest = stage.fuse(*axes) if len(axes) > 1 else axes[0]
        for name in THREADS[: draw.choice((1, 2))]:
            rest, inner = stage.split(rest, factor=draw.choice(FACTORS))
            stage.bind(inner, self.threads[name])
