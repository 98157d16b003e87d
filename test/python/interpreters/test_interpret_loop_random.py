"""Random loop nests: running iterations at once computes what running them one by one does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from loop_kernels import parse
from xdsl.dialects import memref
from xdsl.ir import Block, SSAValue

from tilework.dialects import arith
from tilework.dialects.loop import ForOp, IfOp, LoadOp, StoreOp, YieldOp
from tilework.dialects.scalar_meaning import evaluate
from tilework.interpreters.loop import LoopProgram, run_loop_kernel
from tilework.interpreters.loop_plan import Mode

SIZE = 64


class Nest:
    """Writes one random kernel over buffers of 64 elements."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def text(self) -> str:
        self.block(["%x", "%y"], [], depth=0)
        self.block(["%x", "%y"], [], depth=0)
        body = "\n".join(self.lines)
        return (
            f"loop.kernel @f ins(%x: memref<{SIZE}xf32>) outs(%y: memref<{SIZE}xf32>) {{\n"
            f'loop.for %i = 0 to {SIZE} "init" {{\n %v = loop.load %x[{SIZE - 1} - %i] : memref<{SIZE}xf32>\n'
            f" loop.store %v, %y[%i] : memref<{SIZE}xf32>\n}}\n{body}\n}}"
        )

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"%{prefix}{self.names}"

    def block(self, buffers: list[str], indices: list[tuple[str, int]], depth: int) -> None:
        if depth == 0 or (depth < 4 and self.random.random() < 0.6):
            self.loop(buffers, indices, depth)
        if depth > 0:
            for _ in range(self.random.randint(1, 2)):
                self.statement(buffers, indices)
        if 0 < depth < 3 and self.random.random() < 0.4:
            self.loop(buffers, indices, depth)

    def loop(self, buffers: list[str], indices: list[tuple[str, int]], depth: int) -> None:
        index, extent = self.fresh("i"), self.random.randint(1, 4)
        upper = (
            f"min({extent}, 4 - {self.random.choice(indices)[0]})" if indices and self.random.random() < 0.2 else extent
        )
        self.lines.append(f'loop.for {index} = 0 to {upper} "{index[1:]}" {{')
        buffers = list(buffers)
        if self.random.random() < 0.4:
            local = self.fresh("t")
            self.lines.append(f'{local} = memref.alloca() : memref<{SIZE}xf32, "local">')
            buffers.append(local)
        self.block(buffers, [*indices, (index, extent)], depth + 1)
        self.lines.append("}")

    def subscript(self, indices: list[tuple[str, int]]) -> str:
        coefficients = [16, 4, 1, 0]
        self.random.shuffle(coefficients)
        terms = [f"{c} * {i}" for (i, _), c in zip(indices, coefficients, strict=False) if c]
        e = " + ".join(terms) or "0"
        kind = self.random.random()
        if kind < 0.15:
            return f"({e}) mod {self.random.choice([3, 7, 16])}"
        if kind < 0.3:
            return f"({e}) floordiv {self.random.choice([2, 4])}"
        return f"min({e}, {self.random.randint(3, 60)})" if kind < 0.4 else e

    def statement(self, buffers: list[str], indices: list[tuple[str, int]]) -> None:
        guarded = self.random.random() < 0.3
        if guarded:
            a, b = (self.random.choice(indices)[0] for _ in range(2))
            self.lines.append(
                f"loop.if [{self.random.randint(0, 4)} - {a} - {self.random.randint(0, 1)} * {b} >= 0] {{"
            )
        type_of = {b: f'memref<{SIZE}xf32, "local">' if b.startswith("%t") else f"memref<{SIZE}xf32>" for b in buffers}
        a, b, c = self.fresh("v"), self.fresh("v"), self.fresh("v")
        first, second = self.random.choice(buffers), self.random.choice(buffers)
        target = self.random.choice([b for b in buffers if b != "%x"])
        self.lines.append(f"{a} = loop.load {first}[{self.subscript(indices)}] : {type_of[first]}")
        self.lines.append(f"{b} = loop.load {second}[{self.subscript(indices)}] : {type_of[second]}")
        self.lines.append(f"{c} = arith.{self.random.choice(['addf', 'subf', 'maximumf'])} {a}, {b} : f32")
        value = c if self.random.random() < 0.8 else a
        self.lines.append(f"loop.store {value}, {target}[{self.subscript(indices)}] : {type_of[target]}")
        if guarded:
            self.lines.append("}")


def run_one_by_one(block: Block, values: dict[SSAValue, Any]) -> None:
    """The plainest interpreter there can be."""
    for op in block.ops:
        match op:
            case ForOp():
                for i in range(op.lower.evaluate(values), op.upper.evaluate(values)):
                    run_one_by_one(op.body.block, {**values, op.index: i})
            case IfOp():
                if all(p.evaluate(values) for p in op.conditions):
                    run_one_by_one(op.then_body.block, values)
            case LoadOp():
                values[op.result] = values[op.memref][op.exprs[0].evaluate(values)]
            case StoreOp():
                values[op.memref][op.exprs[0].evaluate(values)] = values[op.value]
            case memref.AllocaOp():
                values[op.memref] = np.full(SIZE, np.nan, np.float32)
            case YieldOp() | arith.ConstantOp():
                raise AssertionError("not generated")
            case _:
                values[op.results[0]] = evaluate(op, [values[v] for v in op.operands])


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_nests(first: int):
    at_once = 0
    for seed in range(first, first + 20):
        kernel = parse(Nest(seed).text())
        x = np.random.default_rng(seed).integers(-4, 5, SIZE).astype(np.float32)
        expected = np.full(SIZE, np.nan, np.float32)
        with np.errstate(all="ignore"):
            run_one_by_one(kernel.body.block, {kernel.inputs[0]: x, kernel.outputs[0]: expected})
        found = np.zeros(SIZE, np.float32)
        run_loop_kernel(kernel, [x], [found])
        np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}:\n{kernel}")
        plan = LoopProgram(kernel, [])._plan  # pyright: ignore[reportPrivateUsage]
        at_once += sum(m is Mode.AXIS for loop, m in plan.modes.items() if loop.axis.data != "init")
    assert at_once > 10  # else nothing was tried
