"""A transposition of vectors as `shufflevector` instructions."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.llvm_types import llvm_type, vector_text
from tilework.backends.transposition import square_size, transposed
from tilework.dialects.loop import TransposeOp
from tilework.dialects.support.shapes import scalar_type


def _transpose(e: Emitter, op: TransposeOp) -> None:
    rows, columns = len(op.rows), len(op.columns)
    size = square_size(rows, columns)
    element = llvm_type(scalar_type(op.rows[0].type), op)
    type_ = vector_text(element, size)

    def shuffle(a: str, b: str, lanes: Sequence[int]) -> str:
        mask = f"<{size} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
        return e.text.value(f"shufflevector {type_} {a}, {type_} {b}, {mask}")

    vectors = [_resized(e, e.get(row), element, columns, size) for row in op.rows] + ["poison"] * (size - rows)
    for column, text in zip(op.columns, transposed(vectors, shuffle), strict=False):
        e.set(column, _resized(e, text, element, size, rows))


def _resized(e: Emitter, vector: str, element: str, lanes: int, wanted: int) -> str:
    """The first lanes of a vector, or these and more that hold anything."""
    if lanes == wanted:
        return vector
    type_ = vector_text(element, lanes)
    picked = [str(lane) if lane < lanes else "poison" for lane in range(wanted)]
    mask = f"<{wanted} x i32> <{', '.join(f'i32 {lane}' for lane in picked)}>"
    return e.text.value(f"shufflevector {type_} {vector}, {type_} poison, {mask}")


TRANSPOSE_HANDLERS: Handlers = {TransposeOp: _transpose}
