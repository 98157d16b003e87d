"""Random functions of operations on units, in loops, without tokens."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

INP, WGT, ACC = 6, 4, 5
"""How many tiles each buffer has."""

_TYPES = {
    "x": f"memref<{INP * 4}x1x16xi8>",
    "w": f"memref<{WGT * 4}x16x16xi8>",
    "a": f"memref<{ACC * 4}x1x16xi32>",
    "y": f"memref<{ACC * 4}x1x16xi8>",
    "inp": f'memref<{INP}x1x16xi8, "vdla.inp">',
    "wgt": f'memref<{WGT}x16x16xi8, "vdla.wgt">',
    "acc": f'memref<{ACC}x1x16xi32, "vdla.acc">',
}


class RandomFunction:
    """The text of a function, which begins with loads of all that is on the chip."""

    def __init__(self, seed: int, target: str = "vdla"):
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        for kind, count in (("load x inp", INP), ("load w wgt", WGT), ("load a acc", ACC)):
            _, source, memory = kind.split()
            self.load(source, memory, [], count, whole=True)
        self.block([], self.draw.randint(2, 4))
        arguments = ", ".join(f"%{name}: {_TYPES[name]}" for name in "xway")
        buffers = "\n".join(f"%{name} = memref.alloca() : {_TYPES[name]}" for name in ("inp", "wgt", "acc"))
        body = "\n".join(self.lines)
        numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(4))
        self.text = f"""builtin.module attributes {{tilework.targets = "{target}"}} {{
        func.func @f({arguments}) {{
        {numbers}
        {buffers}
        {body}
        func.return
        }} }}"""

    def arguments(self) -> list[Any]:
        """Random operands, and results that are not computed yet."""
        draw = np.random.default_rng(0)
        return [
            draw.integers(-128, 128, (INP * 4, 1, 16), np.int8),
            draw.integers(-128, 128, (WGT * 4, 16, 16), np.int8),
            draw.integers(-(1 << 20), 1 << 20, (ACC * 4, 1, 16), np.int32),
            np.zeros((ACC * 4, 1, 16), np.int8),
        ]

    def block(self, indices: list[tuple[str, int]], count: int) -> None:
        """Some operations and loops."""
        for _ in range(count):
            if len(indices) < 3 and self.draw.random() < 0.4:
                name, trip = f"i{self.names}", self.draw.randint(0 if indices else 1, 3)
                self.names += 1
                self.lines.append(f"scf.for %{name} = %c0 to %c{trip} step %c1 {{")
                self.block([*indices, (name, trip)], self.draw.randint(1, 4))
                self.lines.append("}")
            else:
                self.operation(indices)

    def operation(self, indices: list[tuple[str, int]]) -> None:
        """One operation, whose subscripts move with the loops around."""
        kind = self.draw.choice(["inp", "wgt", "acc", "gemm", "gemm", "reset", "alu", "store", "store"])
        match kind:
            case "inp":
                self.load("x", "inp", indices, self.draw.randint(1, 3))
            case "wgt":
                self.load("w", "wgt", indices, self.draw.randint(1, 2))
            case "acc":
                self.load("a", "acc", indices, self.draw.randint(1, 3))
            case "gemm":
                count = self.draw.randint(1, 2)
                acc, inp, wgt = (self.at(indices, size - count) for size in (ACC, INP, WGT))
                types = ", ".join(_TYPES[name] for name in ("acc", "inp", "wgt"))
                self.lines.append(f"vdla.gemm %acc[{acc}], %inp[{inp}], %wgt[{wgt}] inner [{count}, 1, 1, 1] : {types}")
            case "reset":
                self.lines.append(f"vdla.reset %acc[{self.at(indices, ACC - 2)}] inner [2, 1] : {_TYPES['acc']}")
            case "alu":
                self.lines.append(f'vdla.alu "shr" %acc[{self.at(indices, ACC - 1)}] imm 1 : {_TYPES["acc"]}')
            case _:
                count = self.draw.randint(1, 2)
                acc, y = self.at(indices, ACC - count), self.at(indices, ACC * 4 - count)
                self.lines.append(
                    f"vdla.store %acc[{acc}] to %y[{y}] size [1, {count}] stride 1 : {_TYPES['acc']} to {_TYPES['y']}"
                )

    def load(
        self, source: str, memory: str, indices: list[tuple[str, int]], count: int, *, whole: bool = False
    ) -> None:
        """A load of some tiles, or of all of a buffer."""
        room = {"inp": INP, "wgt": WGT, "acc": ACC}[memory]
        start, at = self.at(indices, room * 4 - count), self.at([], 0) if whole else self.at(indices, room - count)
        types = f"{_TYPES[source]} to {_TYPES[memory]}"
        self.lines.append(f"vdla.load %{source}[{start}] to %{memory}[{at}] size [1, {count}] stride 1 : {types}")

    def at(self, indices: list[tuple[str, int]], most: int) -> str:
        """A value between zero and `most`, whatever the loops around are at."""
        terms: list[str] = []
        for name, trip in indices:
            factor = self.draw.choice([0, 0, 1, 2])
            if factor and factor * max(trip - 1, 0) <= most:
                terms.append(f"{factor} * %{name}")
                most -= factor * max(trip - 1, 0)
        terms.append(str(self.draw.randint(0, most)))
        name = f"at{self.names}"
        self.names += 1
        self.lines.append(f"%{name} = loop.apply {' + '.join(terms)}")
        return f"%{name}"
