"""The back end for Python: a kernel becomes a function with plain loops over arrays of f32."""

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.backends.base import Backend
from tilework.dialects.loop import ForOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.targets import Target

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
FORMULAS = {f"arith.{name}f": f"{{}} {sign} {{}}" for name, sign in SIGNS.items()}
FORMULAS |= {f"math.{name}": f"numpy.{name}({{}})" for name in ("cos", "exp", "log", "sin", "sqrt", "tanh")}
FORMULAS |= {"arith.maximumf": "numpy.maximum({}, {})", "memref.reinterpret_cast": "{}"}
"""What computes an operation's result from its operands, which numpy rounds to f32."""


class PythonBackend(Backend):
    """It has words for kernels of f32 whose sizes are known, and for no host function."""

    kind = "python"
    hosts = False
    text_file = "kernels.py"
    formats: ClassVar = {"python": lambda module, target: source(module)}

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        known = isinstance(op, ForOp | LoadOp | StoreOp | ConstantOp) or op.name in FORMULAS
        return None if known else f"there is no Python for '{name_of(op)}'"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return source(module).encode()


def source(module: ModuleOp) -> str:
    """A function for every kernel; `numpy` and `floats` are given where it is loaded."""
    kernels = [op for op in module.ops if isinstance(op, KernelOp) and not op.is_declaration]
    return "\n\n".join("\n".join(_Writer().function(kernel)) + "\n" for kernel in kernels)


class _Writer:
    """Writes one kernel. Every value of it has a name."""

    def __init__(self):
        self.names: dict[SSAValue, str] = {}

    def function(self, kernel: KernelOp) -> Iterator[str]:
        """It takes the addresses of buffers, and a number of threads, as compiled kernels do."""
        buffers = {self.name(argument): argument.type for argument in kernel.body.block.args}
        yield f"def {kernel.sym_name.data}({', '.join(buffers)}, threads):"
        for name, type_ in buffers.items():
            if not isinstance(type_, MemRefType) or type_.element_type != f32 or -1 in type_.get_shape():
                raise CompileError(f"kernels in Python are of f32 and of known sizes, not of {type_}", kernel)
            yield f"    {name} = floats({name}, {prod(type_.get_shape())})"
        yield from self.block(kernel.body.block)

    def block(self, block: Block) -> Iterator[str]:
        return (f"    {line}" for op in block.ops for line in self.lines(op))

    def lines(self, op: Operation) -> Iterator[str]:
        match op:
            case ForOp():
                yield f"for {self.name(op.index)} in range({self.index(op.lower)}, {self.index(op.upper)}):"
                yield from self.block(op.body.block)
            case LoadOp():
                yield f"{self.name(op.result)} = {self.name(op.memref)}[{self.index(op.exprs[0])}]"
            case StoreOp():
                yield f"{self.name(op.memref)}[{self.index(op.exprs[0])}] = {self.name(op.value)}"
            case ConstantOp():
                yield f"{self.name(op.result)} = numpy.float32({op.value.value.data!r})"
            case _:
                yield f"{self.name(op.results[0])} = {FORMULAS[op.name].format(*map(self.name, op.operands))}"

    def name(self, value: SSAValue) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def index(self, e: Expr) -> str:
        text = str(e.substitute({value: var(self.name(value)) for value in e.variables()}))
        return text.replace(" floordiv ", " // ").replace(" mod ", " % ")
