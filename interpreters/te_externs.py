"""What the statements of an extern do: they run as a loop kernel on whole arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilework.algebra.index_expr import Key
from tilework.dialects import loop
from tilework.dialects.graph.base import Array
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ExternOp
from tilework.interpreters.loop import run_loop_kernel


def run_extern(extern: ExternOp, inputs: Sequence[Array], outputs: Sequence[Array], symbols: Mapping[Key, int]) -> None:
    """Fill the outputs. Raises CompileError for an access out of bounds."""
    run_loop_kernel(as_loop_kernel(extern), inputs, outputs, symbols=[symbols[s.data] for s in extern.symbols])


def as_loop_kernel(extern: ExternOp) -> loop.KernelOp:
    """A kernel with a copy of the statements for a body."""
    tensors = (*extern.inputs, *extern.results)
    buffers = (*extern.input_buffers, *extern.output_buffers)
    return loop.KernelOp(
        extern.stage.data,
        (len(extern.inputs), len(extern.results), 0),
        [buffer.type for buffer in buffers],
        [dims_of(tensor.type) for tensor in tensors],
        [symbol.data for symbol in extern.symbols],
        extern.body.clone(),
    )
