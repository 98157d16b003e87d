"""What kernels compute, as something to compare."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.analysis.program_targets import DEVICE
from tilework.dialects.te import KernelOp


def content_of_kernel(kernel: KernelOp) -> Hashable:
    """What a kernel computes, from what it is given: equal where only names differ, the kernel's, its device's or those
    of values.
    """
    said = (item for item in (kernel.properties | kernel.attributes).items() if item[0] not in ("sym_name", DEVICE))
    return frozenset(said), _content(kernel.body, {})


def _content(region: Region, numbers: dict[SSAValue, int]) -> Hashable:
    return tuple(_of_block(block, numbers) for block in region.blocks)


def _of_block(block: Block, numbers: dict[SSAValue, int]) -> Hashable:
    for argument in block.args:
        numbers[argument] = len(numbers)
    return tuple(block.arg_types), tuple(_of_operation(op, numbers) for op in block.ops)


def _of_operation(op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
    operands = tuple(numbers[value] for value in op.operands)
    for result in op.results:
        numbers[result] = len(numbers)
    regions = tuple(_content(region, numbers) for region in op.regions)
    return (
        op.name,
        tuple(op.properties.items()),
        tuple(op.attributes.items()),
        operands,
        tuple(op.result_types),
        regions,
    )
