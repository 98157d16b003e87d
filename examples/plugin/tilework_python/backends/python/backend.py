"""The back end for Python: a kernel becomes a function with plain loops over arrays of numpy."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.backends.base import Backend
from tilework.dialects.loop import ForOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.targets import Target

FORMULAS = {
    "arith.addf": "{} + {}",
    "arith.subf": "{} - {}",
    "arith.mulf": "{} * {}",
    "arith.divf": "{} / {}",
    "arith.maximumf": "numpy.maximum({}, {})",
    "arith.minimumf": "numpy.minimum({}, {})",
    "math.exp": "numpy.exp({})",
    "math.sin": "numpy.sin({})",
    "memref.reinterpret_cast": "{}",
}
"""What computes an operation's result from its operands. Elements of an array stay f32, and are rounded as such."""
STATEMENTS = (ForOp, LoadOp, StoreOp, arith.ConstantOp)


class PythonBackend(Backend):
    """Kernels of f32 whose sizes are known."""

    kind = "python"
    text_file = "kernels.py"

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        if not isinstance(around, KernelOp):
            return "Python runs kernels, and no host function"
        known = isinstance(op, STATEMENTS) or op.name in FORMULAS
        return None if known else f"there is no Python for '{name_of(op)}'"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return source(module).encode()

    formats: ClassVar = {"python": lambda module, target: source(module)}


def source(module: ModuleOp) -> str:
    """A function for every kernel of the module. It finds `numpy` and `floats` where it is loaded."""
    kernels = [op for op in module.ops if isinstance(op, KernelOp) and not op.is_declaration]
    return "\n\n".join("\n".join(_Writer().function(kernel)) + "\n" for kernel in kernels)


def _size(buffer: SSAValue, kernel: KernelOp) -> int:
    """How many numbers a buffer holds."""
    type_ = buffer.type
    if not isinstance(type_, MemRefType) or type_.element_type != f32 or -1 in type_.get_shape():
        raise CompileError(f"kernels in Python are of f32 and of known sizes, not of {type_}", kernel)
    return prod(type_.get_shape())


class _Writer:
    """Writes one kernel; every value has a name, or is a number."""

    def __init__(self):
        self._names: dict[SSAValue, str] = {}

    def function(self, kernel: KernelOp) -> Iterator[str]:
        """It takes addresses, and a number of threads, as compiled kernels do."""
        yield f"def {kernel.sym_name.data}({', '.join(map(self._name, kernel.body.block.args))}, threads):"
        for argument in kernel.body.block.args:
            yield f"    {self._name(argument)} = floats({self._name(argument)}, {_size(argument, kernel)})"
        yield from self._block(kernel.body.block)

    def _block(self, block: Block) -> Iterator[str]:
        for op in block.ops:
            for line in self._lines(op):
                yield f"    {line}"

    def _lines(self, op: Operation) -> Iterator[str]:
        match op:
            case ForOp():
                yield f"for {self._name(op.index)} in range({self._index(op.lower)}, {self._index(op.upper)}):"
                yield from self._block(op.body.block)
            case LoadOp():
                yield f"{self._name(op.result)} = {self._name(op.memref)}[{self._index(op.exprs[0])}]"
            case StoreOp():
                yield f"{self._name(op.memref)}[{self._index(op.exprs[0])}] = {self._name(op.value)}"
            case arith.ConstantOp():
                yield f"{self._name(op.result)} = numpy.float32({op.value.value.data!r})"
            case _:
                yield f"{self._name(op.results[0])} = {FORMULAS[op.name].format(*map(self._name, op.operands))}"

    def _name(self, value: SSAValue) -> str:
        return self._names.setdefault(value, f"v{len(self._names)}")

    def _index(self, e: Expr) -> str:
        text = str(e.substitute({value: var(self._name(value)) for value in e.variables()}))
        return text.replace(" floordiv ", " // ").replace(" mod ", " % ")
