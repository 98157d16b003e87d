"""Rows that the threads of a block share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.tuning.sketches.gpu.threads import threads_of
from tilework.tuning.sketches.writer import SketchWriter


def deal_out_rows(w: SketchWriter, name: str, rows: Sequence[SSAValue], columns: Sequence[SSAValue]) -> SSAValue:
    """Deal rows of a stage out to blocks, and what is in a row to threads; the loop over rows.

    Of a row without columns one thread stores what there is.
    """
    stage = w.stage(name)
    of_rows, of_columns = (list(axes) or [w.s.singleton(stage)] for axes in (rows, columns))
    w.s.reorder([*of_rows, *of_columns])
    row = w.s.fuse(of_rows)
    _, thread = w.s.split(w.s.fuse(of_columns), threads_of(w, name))
    w.s.bind(row, "blockIdx.x")
    w.s.bind(thread, "threadIdx.x")
    return row
