"""A transposition of vectors as shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.backends.c_family.emitter import Emitter, Handlers
from tilework.backends.c_family.forms import Form
from tilework.backends.transposition import square_size, transposed
from tilework.dialects.loop import TransposeOp


def _transpose(e: Emitter, op: TransposeOp) -> None:
    row, column = e.form(op.rows[0]), e.form(op.columns[0])
    size = square_size(len(op.rows), len(op.columns))
    square = Form(row.kind, size)

    def shuffle(a: str, b: str, lanes: Sequence[int]) -> str:
        return e.value(square, e.vectors.shuffled(a, b, lanes))

    vectors = [_resized(e, e.get(r), row, square) for r in op.rows]
    vectors += vectors[-1:] * (size - len(vectors))  # whatever these are, nobody looks at them
    for result, shuffled in zip(op.columns, transposed(vectors, shuffle), strict=False):
        e.set(result, _resized(e, shuffled, square, column))


def _resized(e: Emitter, vector: str, form: Form, wanted: Form) -> str:
    """The first lanes of a vector, or these and more that hold anything."""
    if form == wanted:
        return vector
    assert form.lanes is not None and wanted.lanes is not None
    picked = [lane if lane < form.lanes else -1 for lane in range(wanted.lanes)]
    return e.value(wanted, e.vectors.shuffled(vector, vector, picked))


TRANSPOSE_HANDLERS: Handlers = {TransposeOp: _transpose}
