"""Random loop nests: interleaving their virtual threads changes no result."""

from __future__ import annotations

import random

import numpy as np
import pytest
from loop_kernels import parse
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.dialects.loop import ForOp, KernelOp, Kind
from tilework.dialects.support.registration import make_context
from tilework.interpreters.loop import run_loop_kernel
from tilework.transforms.loop.inject_virtual_thread import InjectVirtualThread

SIZE = 16


class Threads:
    """Writes a random kernel of which one loop is virtual threads, each with 16 elements of the output.

    Statements read the input, the thread's part of the output, local buffers and values of statements before. Some
    loops and conditions depend on the thread, others do not.
    """

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.threads = self.random.choice([2, 3, 3, 17])

    def text(self) -> str:
        size = SIZE * self.threads
        self.block(["%y"], ["%t"], [], depth=0)
        body = "\n".join(self.lines)
        return (
            f"loop.kernel @f ins(%x: memref<{size}xf32>) outs(%y: memref<{size}xf32>) {{\n"
            f'loop.for %i = 0 to {size} "init" {{\n %v = loop.load %x[{size - 1} - %i] : memref<{size}xf32>\n'
            f" loop.store %v, %y[%i] : memref<{size}xf32>\n}}\n"
            f'loop.for %t = 0 to {self.threads} "t" vthread {{\n{body}\n}}\n}}'
        )

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"%{prefix}{self.names}"

    def block(self, buffers: list[str], indices: list[str], values: list[str], depth: int) -> None:
        """Statements, loops and conditions; what they make is known up to the end of the block."""
        buffers, values = list(buffers), list(values)
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.random()
            if kind < 0.3:
                self.local(buffers)
            elif kind < 0.55 and depth < 3:
                self.loop(buffers, indices, values, depth)
            elif kind < 0.7 and depth < 3:
                self.condition(buffers, indices, values, depth)
            else:
                self.statement(buffers, indices, values)
        self.statement(buffers, indices, values)

    def local(self, buffers: list[str]) -> None:
        """A local buffer whose elements are all set, to the same in every thread."""
        name, index, value = self.fresh("b"), self.fresh("i"), self.fresh("v")
        type_ = f'memref<{SIZE}xf32, "local">'
        self.lines.append(f"{name} = memref.alloca() : {type_}")
        self.lines.append(f'loop.for {index} = 0 to {SIZE} "set" {{')
        self.lines.append(f"{value} = loop.load %x[{index}] : memref<{SIZE * self.threads}xf32>")
        self.lines.append(f"loop.store {value}, {name}[{index}] : {type_}\n}}")
        buffers.append(name)

    def loop(self, buffers: list[str], indices: list[str], values: list[str], depth: int) -> None:
        index = self.fresh("i")
        upper = f"min(3, 3 - {self.random.choice(indices)})" if self.random.random() < 0.2 else "3"
        self.lines.append(f'loop.for {index} = 0 to {upper} "{index[1:]}" {{')
        self.block(buffers, [*indices, index], values, depth + 1)
        self.lines.append("}")

    def condition(self, buffers: list[str], indices: list[str], values: list[str], depth: int) -> None:
        self.lines.append(f"loop.if [{self.random.randint(0, 2)} - {self.random.choice(indices)} >= 0] {{")
        self.block(buffers, indices, values, depth + 1)
        if self.random.random() < 0.5:
            self.lines.append("} else {")
            self.block(buffers, indices, values, depth + 1)
        self.lines.append("}")

    def access(self, buffer: str, indices: list[str]) -> str:
        """An element of a buffer, of the output one of the thread's own."""
        used = self.random.sample(indices[1:], min(len(indices) - 1, 2))
        used += ["%t"] if self.random.random() < 0.3 else []
        e = " + ".join([*(f"{self.random.choice([1, 3, 5])} * {i}" for i in used), str(self.random.randint(0, 3))])
        if buffer.startswith("%b"):
            return f'{buffer}[({e}) mod {SIZE}] : memref<{SIZE}xf32, "local">'
        return f"{buffer}[{SIZE} * %t + ({e}) mod {SIZE}] : memref<{SIZE * self.threads}xf32>"

    def value(self, buffers: list[str], indices: list[str], values: list[str]) -> str:
        if values and self.random.random() < 0.3:
            return self.random.choice(values)
        source = self.random.choice(["%x", *buffers])
        result = self.fresh("v")
        if source == "%x" and self.random.random() < 0.5:
            self.lines.append(f"{result} = loop.load %x[{indices[-1]}] : memref<{SIZE * self.threads}xf32>")
        else:
            self.lines.append(f"{result} = loop.load {self.access(source, indices)}")
        values.append(result)
        return result

    def statement(self, buffers: list[str], indices: list[str], values: list[str]) -> None:
        a, b = (self.value(buffers, indices, values) for _ in range(2))
        result = self.fresh("v")
        self.lines.append(f"{result} = arith.{self.random.choice(['addf', 'subf', 'maximumf'])} {a}, {b} : f32")
        values.append(result)
        self.lines.append(f"loop.store {result}, {self.access(self.random.choice(buffers), indices)}")


def run(kernel: KernelOp, x: np.ndarray) -> np.ndarray:
    """The output for an input of the same size."""
    found = np.zeros(x.shape, np.float32)
    run_loop_kernel(kernel, [x], [found])
    return found


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_interleaving_changes_no_result(first: int):
    shared = 0
    for seed in range(first, first + 20):
        kernel = parse(Threads(seed).text())
        module = kernel.parent_op()
        assert isinstance(module, ModuleOp)
        [loop] = [op for op in kernel.walk() if isinstance(op, ForOp) and op.kind.data is Kind.VIRTUAL]
        threads = loop.upper.offset
        x = np.random.default_rng(seed).integers(-4, 5, SIZE * threads).astype(np.float32)
        before, text = run(kernel, x), str(kernel)
        InjectVirtualThread().apply(make_context(), module)
        verify(module)
        assert "vthread" not in str(kernel)
        np.testing.assert_array_equal(run(kernel, x), before, err_msg=f"seed {seed}:\n{text}\n{kernel}")
        around = [
            op for op in kernel.body.block.ops if isinstance(op, ForOp) and op.axis.data not in ("t", "init", "set")
        ]
        shared += bool(around)
    assert shared > 1  # else no loop was shared by threads
