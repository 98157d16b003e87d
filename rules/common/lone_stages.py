"""A few stages of a kernel in a kernel of their own, to try something on them that leaves the kernel as it is."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, Region, SSAValue

from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp, ReturnOp


def alone(kernel: KernelOp, stages: Sequence[ComputeOp]) -> KernelOp:
    """A kernel of copies of some stages, given in program order, with the arguments of theirs.

    Whatever else they read is made by stages without a body. A copy of the whole kernel would take as long as the
    kernel is large, at each of its stages that something is tried on.
    """
    block = Block(arg_types=kernel.body.block.arg_types)
    copies = dict[SSAValue, SSAValue](zip(kernel.body.block.args, block.args, strict=True))
    for old, new in zip(kernel.body.block.args, block.args, strict=True):
        new.name_hint = old.name_hint
    for compute in stages:
        for tensor in (read.tensor for read in compute.reads):
            if tensor not in copies:
                stub = _made_elsewhere(tensor, len(copies))
                block.add_op(stub)
                copies[tensor] = stub.result
        block.add_op(compute.clone(copies))
    last = block.last_op
    assert last is not None
    block.add_op(ReturnOp(last.results))
    return KernelOp(kernel.sym_name.data, FunctionType.from_lists(block.arg_types, last.result_types), Region(block))


def _made_elsewhere(tensor: SSAValue, number: int) -> ComputeOp:
    """A stage without a body that stands for what makes a tensor."""
    axes = [(f"d{d}", extent) for d, extent in enumerate(dims_of(tensor.type))]
    return ComputeOp(f"elsewhere.{number}", axes, [], [tensor.type], Region(Block()))
