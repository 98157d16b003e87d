"""Rows that threads of a block share: how many threads a row has, and how these sum it up together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.analysis.sizes import bytes_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.targets.gpu.target import GpuTarget

THREADS = 256
"""Threads of a block, at most."""

WARP = 32
"""So many threads read elements that lie side by side at once."""

TERMS = 4
"""So many terms a thread sums up by itself, at least, where that leaves a warp for the row."""


@dataclass(frozen=True)
class Shares:
    """So many threads for each row, with numbers along x or along y, and as many rows in a block beside each other."""

    along: str
    threads: int
    beside: int

    @property
    def across(self) -> str:
        """The thread axis along which the rows of a block are numbered."""
        return "y" if self.along == "x" else "x"

    def deal_out(
        self, s: ScheduleBuilder, stage: StageHandle, rows: Sequence[SSAValue], columns: Sequence[SSAValue]
    ) -> SSAValue:
        """Deal the rows of a stage out to blocks, and the elements of a row to its threads; the loop over rows.

        Of a row without columns one thread stores what there is.
        """
        of_rows, of_columns = (list(axes) or [s.singleton(stage)] for axes in (rows, columns))
        s.reorder([*of_rows, *of_columns])
        block, row = s.split(s.fuse(of_rows), self.beside)
        _, thread = s.split(s.fuse(of_columns), self.threads)
        s.bind(block, "blockIdx.x")
        s.bind(row, f"threadIdx.{self.across}")
        s.bind(thread, f"threadIdx.{self.along}")
        return row

    def sum_up(self, s: ScheduleBuilder, sums: StageHandle, summed: Sequence[str], row: SSAValue) -> None:
        """Compute a stage in the loop over rows: its sum by all threads of the row, each by itself at first."""
        s.compute_at(sums, row, "local")
        if summed:
            others = [axis for name, axis in sums.axes.items() if name not in summed]
            turn, thread = s.split(s.fuse([sums.axes[name] for name in summed]), self.threads)
            s.reorder([*others, thread, turn])
            s.bind(thread, f"threadIdx.{self.along}")


def along_memory(terms: int, rows: int, target: GpuTarget) -> Shares:
    """The shares in rows whose elements lie side by side: as many threads as read these at once, more in long ones."""
    most = min(THREADS, target.threads)
    threads = _power_of_two(min(max(terms // TERMS, min(terms, WARP)), most))
    return Shares("x", threads, _power_of_two(min(most // threads, max(rows // target.cores, 1))))


def across_memory(terms: int, target: GpuTarget) -> Shares:
    """The shares in rows that lie side by side: as many rows as are read at once, and a few threads for each."""
    most = min(THREADS, target.threads)
    beside = min(WARP, most)
    return Shares("y", _power_of_two(min(max(terms // TERMS, 1), most // beside)), beside)


def sums_along_memory(stage: ComputeOp) -> bool:
    """Whether a reduction goes along what lies side by side in the largest tensor that it reads."""
    reads = [read for read in stage.reads if read.exprs]
    if not reads:
        return False
    largest = max(reads, key=lambda read: bytes_of(read.tensor.type))
    spatial = {name for name, extent in stage.spatial if extent != 1}
    return spatial.isdisjoint(largest.exprs[-1].variables())


def _power_of_two(number: int) -> int:
    """The largest that is not above a number."""
    return 1 << (number.bit_length() - 1)
