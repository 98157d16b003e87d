"""A transposition of vectors as shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.backends.c_family.emitter import Emitter, Handlers
from tilework.backends.c_family.forms import Form
from tilework.backends.transposition import square_size, transposed
from tilework.dialects.loop import TransposeOp


def _transpose(e: Emitter, op: TransposeOp) -> None:
    row, column = e.form(op.rows[0]), e.form(op.columns[0])
    square = Form(row.kind, square_size(len(op.rows), len(op.columns)))
    shuffles = _Shuffles(e, square)
    vectors = [_resized(e, e.get(r), row, square) for r in op.rows]
    vectors += vectors[-1:] * (square_size(len(op.rows), len(op.columns)) - len(vectors))  # nobody looks at these
    for result, shuffled in zip(op.columns, transposed(vectors, shuffles.add), strict=False):
        if any(use.operation in e.live for use in result.uses):
            e.set(result, _resized(e, shuffles.written(shuffled), square, column))


class _Shuffles:
    """The shuffles of a transposition, of which those are written that some column needs."""

    def __init__(self, e: Emitter, form: Form):
        self.e = e
        self.form = form
        self.steps: dict[str, tuple[str, str, Sequence[int]]] = {}
        self.names: dict[str, str] = {}

    def add(self, a: str, b: str, lanes: Sequence[int]) -> str:
        """Note a shuffle; returns what stands for its result until it is written."""
        step = f"step {len(self.steps)}"
        self.steps[step] = (a, b, lanes)
        return step

    def written(self, vector: str) -> str:
        """The name of a vector, which is written if it is a step, behind those that it is made of."""
        if vector not in self.steps:
            return vector
        if vector not in self.names:
            a, b, lanes = self.steps[vector]
            text = self.e.vectors.shuffled(self.written(a), self.written(b), lanes)
            self.names[vector] = self.e.value(self.form, text)
        return self.names[vector]


def _resized(e: Emitter, vector: str, form: Form, wanted: Form) -> str:
    """The first lanes of a vector, or these and more that hold anything."""
    if form == wanted:
        return vector
    assert form.lanes is not None and wanted.lanes is not None
    picked = [lane if lane < form.lanes else -1 for lane in range(wanted.lanes)]
    return e.value(wanted, e.vectors.shuffled(vector, vector, picked))


TRANSPOSE_HANDLERS: Handlers = {TransposeOp: _transpose}
