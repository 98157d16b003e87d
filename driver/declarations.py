"""Declarations of kernels: what a caller must know of one whose code lies elsewhere."""

from __future__ import annotations

from xdsl.ir import Region

from tilework.analysis.in_place import in_place_pairs
from tilework.dialects import loop, te
from tilework.dialects.loop.common import buffer_type
from tilework.dialects.support.shapes import dims_of, element_type


def declaration_of(kernel: te.KernelOp | loop.KernelOp) -> loop.KernelOp:
    """A kernel without its body, with the outputs that may overwrite inputs. One at te takes no scratch."""
    declared = _of_tensors(kernel) if isinstance(kernel, te.KernelOp) else _of_loops(kernel)
    declared.attributes |= kernel.attributes
    return declared


def _of_loops(kernel: loop.KernelOp) -> loop.KernelOp:
    inputs, outputs, scratch, _ = kernel.group_sizes
    return loop.KernelOp(
        kernel.sym_name.data,
        (inputs, outputs, scratch),
        kernel.function_type.inputs.data[: len(kernel.dims)],
        [dims.data for dims in kernel.dims],
        [symbol.data for symbol in kernel.symbols],
        Region(),
        in_place_pairs(kernel),
    )


def _of_tensors(kernel: te.KernelOp) -> loop.KernelOp:
    values = [*kernel.body.block.args, *kernel.results_returned]
    groups = (len(kernel.body.block.args), len(kernel.results_returned), 0)
    dims = [dims_of(value.type) for value in values]
    of_values = zip(values, dims, kernel.layouts, strict=True)
    types = [buffer_type(element_type(value.type), sizes, layout) for value, sizes, layout in of_values]
    return loop.KernelOp(kernel.sym_name.data, groups, types, dims, kernel.symbols, Region())
