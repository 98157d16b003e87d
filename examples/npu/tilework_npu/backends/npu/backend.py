"""The back end for the toy: loops are run, and what their instructions do then is written down, one in a line."""

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.accesses import root_buffer
from tilework.backends.base import Backend
from tilework.dialects.loop import ForOp, IntrinsicOp, KernelOp
from tilework.dialects.support.diagnostics import name_of
from tilework.targets import Target


class NpuBackend(Backend):
    """A kernel is a list of instructions, as in `npu.dot 2:8 0:16 1:128,32`.

    What a part of an argument is: its number, the element where it begins, and how far apart rows of a matrix are.
    """

    kind = "npu"
    hosts = False
    text_file = "npu.txt"
    formats: ClassVar = {"npu": lambda module, target: code(module)}

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        known = isinstance(op, ForOp | IntrinsicOp | ReinterpretCastOp)
        return None if known else f"the toy has no instruction for '{name_of(op)}'"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return code(module).encode()


def code(module: ModuleOp) -> str:
    """The instructions of the one kernel of a module."""
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp) and not op.is_declaration]
    numbers = {argument: i for i, argument in enumerate(kernel.body.block.args)}
    return "".join(f"{line}\n" for line in lines(kernel.body.block, numbers, {}))


def lines(block: Block, numbers: dict[SSAValue, int], indices: dict[SSAValue, int]) -> Iterator[str]:
    for op in block.ops:
        if isinstance(op, ForOp):
            for i in range(op.lower.evaluate(indices), op.upper.evaluate(indices)):
                yield from lines(op.body.block, numbers, {**indices, op.index: i})
        elif isinstance(op, IntrinsicOp):
            parts = [
                (numbers[root_buffer(p.memref)], p.position.evaluate(indices), p.strides) for p in op.buffer_regions
            ]
            words = [f"{number}:{start}" + "".join(f",{s}" for s in strides[:-1]) for number, start, strides in parts]
            yield " ".join((op.intrinsic, *words))
