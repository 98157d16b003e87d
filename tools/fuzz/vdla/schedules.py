"""Random schedules of products: tiles of any size, loops in any order, copies anywhere, virtual threads."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.tiles import drawn_order
from tilework.tools.fuzz.vdla.kernels import Kernel


def random_schedule(kernel: Kernel, draw: Draw) -> str:
    """A sequence: legal mostly, since it has what the machine needs."""
    return _Drawn(kernel, draw).text()


class _Drawn:
    """A schedule being drawn, line by line.

    places: the loops at which stages may be computed, outermost first.
    """

    def __init__(self, kernel: Kernel, draw: Draw):
        self.kernel = kernel
        self.draw = draw
        self.lines: list[str] = []
        self.loops = 0

    def text(self) -> str:
        kernel = self.kernel
        names = [name for name, _ in kernel.axes]
        reduction = [name for name, _ in kernel.reduction]
        stages = [f"e{i}" for i in range(len(kernel.stages))]
        self.stage("sum", [*names, "j", *reduction, "l"])
        for stage in stages:
            self.stage(stage, [*names, "j"])
        self.stage("y", [*(names[i] for i in kernel.order), "j"])
        for stage in ("sum", *stages):
            self.add(f'schedule.set_scope %{stage} "vdla.acc"')
        places = self.order_result([names[i] for i in kernel.order])
        place = self.deep(places)
        self.add(f"schedule.compute_at %sum, {place}")
        behind = places[places.index(place) :]
        for stage in stages:
            self.add(f"schedule.compute_at %{stage}, {place if self.draw.chance(80) else self.draw.choice(behind)}")
        steps = self.order_sum(names, reduction)
        around = places[: places.index(place) + 1]
        self.operands([*around, *steps], steps)
        self.words(around)
        return "schedule.sequence @product {\n" + "\n".join(self.lines) + "\n}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def stage(self, name: str, axes: Sequence[str]) -> None:
        handles = ", ".join(f"%{name}_{axis}" for axis in axes)
        self.add(f'%{name}, {handles} = schedule.stage "{name}" [{", ".join(axes)}]')

    def split(self, axis: str, size: int, tails: bool = True) -> tuple[str, str]:
        """Its outer and its inner loop."""
        self.loops += 1
        outer, inner = f"%o{self.loops}", f"%i{self.loops}"
        tail = " tail partition" if tails and self.draw.chance(20) else ""
        self.add(f"{outer}, {inner} = schedule.split {axis} factor {size}{tail}")
        return outer, inner

    def size(self, extent: int) -> int:
        """How much of an axis is on the chip at a time; it divides the extent mostly."""
        divisors = [n for n in range(1, extent + 1) if extent % n == 0]
        return self.draw.choice(divisors if self.draw.chance(75) else range(1, extent + 1))

    def deep(self, places: Sequence[str]) -> str:
        """One of some loops, the innermost mostly."""
        return places[-1] if self.draw.chance(75) else self.draw.choice(places)

    def order_result(self, axes: Sequence[str]) -> list[str]:
        """Split the axes of the result; the loops around a tile."""
        sizes, outer, inner = dict(self.kernel.axes), dict[str, str](), list[str]()
        counts = dict[str, int]()
        for axis in axes:
            size = self.size(sizes[axis])
            outer[axis], inside = self.split(f"%y_{axis}", size)
            counts[axis] = -(-sizes[axis] // size)
            inner.append(inside)
        around = [outer[axis] for axis in drawn_order(axes, self.draw)]
        threads = self.draw.choice((1, 1, 2, 2, 4))
        several = [axis for axis in axes if counts[axis] > 1]
        if threads > 1 and several:
            axis = self.draw.choice([a for a in several if counts[a] % threads == 0] or several)
            at = around.index(outer[axis])
            around[at], thread = self.split(outer[axis], threads, tails=False)
            around.insert(
                len(around) if self.draw.chance(70) else self.draw.choice(range(at + 1, len(around) + 1)), thread
            )
            self.add(f'schedule.bind {thread} "vthread"')
        inner = drawn_order(inner, self.draw) if self.draw.chance(50) else inner
        self.add(f"schedule.reorder {', '.join([*around, *inner, '%y_j'])}")
        self.unroll(inner)
        return around

    def order_sum(self, spatial: Sequence[str], reduction: Sequence[str]) -> list[str]:
        """Split the axes that are combined away, and tensorize; the loops around what is on the chip at a time."""
        sizes = dict(self.kernel.reduction)
        steps, inner = list[str](), [f"%sum_{axis}" for axis in spatial]
        for axis in reduction:
            kind = self.draw.choice(("split", "split", "inside", "outside") if axis == "c" else ("inside", "outside"))
            if kind == "split":
                outer, inside = self.split(f"%sum_{axis}", self.size(sizes[axis]), tails=False)
                steps.append(outer)
                inner.append(inside)
            else:
                (inner if kind == "inside" else steps).append(f"%sum_{axis}")
        steps = drawn_order(steps, self.draw)
        inner = drawn_order(inner, self.draw) if self.draw.chance(60) else inner
        self.add(f"schedule.reorder {', '.join([*steps, *inner, '%sum_j', '%sum_l'])}")
        self.unroll(inner)
        self.add("schedule.tensorize %sum_j @vdla.gemm")
        return steps

    def operands(self, places: Sequence[str], steps: Sequence[str]) -> None:
        """Copies of data and weights, in any of the loops, the innermost step mostly."""
        kernel = self.kernel
        count = len(kernel.positions)
        if kernel.is_padded:
            self.stage("pad", ["c", *(f"q{i}" for i in range(count)), "l"])
            self.add('schedule.set_scope %pad "vdla.inp"')
            data = "%pad"
        else:
            axes = ", ".join(f"d{i}" for i in range(count + 2))
            handles = ", ".join(f"%d{i}" for i in range(count + 2))
            self.add("%x = schedule.argument 0")
            self.add(f'%data, {handles} = schedule.cache_read %x "vdla.inp" readers(%sum) [{axes}]')
            data = "%data"
        rank = len(kernel.reduction) + 3
        axes, handles = (", ".join(f"{mark}w{i}" for i in range(rank)) for mark in ("", "%"))
        self.add("%w = schedule.argument 1")
        self.add(f'%weights, {handles} = schedule.cache_read %w "vdla.wgt" readers(%sum) [{axes}]')
        for copy in (data, "%weights"):
            self.add(f"schedule.compute_at {copy}, {self.deep(places)}")
            if self.draw.chance(15):
                self.add(f"schedule.double_buffer {copy}")

    def words(self, places: Sequence[str]) -> None:
        """Copies of words among the accumulators."""
        readers = [f"%e{i}" for i, stage in enumerate(self.kernel.stages) for _ in stage]
        for name, axes in self.kernel.words:
            number = 2 + [other for other, _ in self.kernel.words].index(name)
            rank = len(axes) + 1
            listed, handles = (", ".join(f"{mark}{name}_{i}" for i in range(rank)) for mark in ("", "%c"))
            self.add(f"%{name} = schedule.argument {number}")
            reader = readers[int(name[1:])]
            self.add(f'%c{name}, {handles} = schedule.cache_read %{name} "vdla.acc" readers({reader}) [{listed}]')
            self.add(f"schedule.compute_at %c{name}, {self.deep(places)}")

    def unroll(self, loops: Sequence[str]) -> None:
        """Write a loop out, seldom."""
        if loops and self.draw.chance(20):
            self.add(f"schedule.unroll {self.draw.choice(loops)}")
