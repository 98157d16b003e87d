"""A warp of 32 threads that runs LLVM IR without branches, step by step: what PTX's manual says of `mma.sync`.

Values are arrays with a number for each thread; pointers into shared memory and to a thread's own are byte offsets.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

LANES = np.arange(32)
GROUP, PLACE = LANES // 4, LANES % 4
BYTES = {"i16": 2, "half": 2, "float": 4, "i32": 4}


class Warp:
    """shared: the memory of each buffer by its name, as bytes."""

    def __init__(self, shared: dict[str, Any]):
        self.shared = shared
        self.own: dict[str, Any] = {}
        self.values: dict[str, Any] = {}

    def run(self, function: str) -> None:
        """Run the lines of a function."""
        for line in function.splitlines():
            name, _, instruction = line.strip().rpartition(" = ") if " = " in line else ("", "", line.strip())
            if instruction.startswith(("define", "entry", "}", "ret", "br ")) or instruction.endswith(":"):
                continue
            result = self.step(instruction)
            if name:
                self.values[name] = result

    def step(self, text: str) -> Any:
        """One instruction."""
        kind = text.split()[0]
        if kind in ("and", "lshr", "shl", "add", "mul"):
            a, b = (self.number(word) for word in text.split("i32 ")[1].split(", "))
            return {"and": a & b, "lshr": a >> b, "shl": a << b, "add": a + b, "mul": a * b}[kind]
        if kind == "alloca":
            count = int(re.findall(r"\[(\d+) x float\]", text)[0])
            self.own[f"own{len(self.own)}"] = memory = np.zeros((32, count), np.float32)
            return memory, np.zeros(32, int)
        if kind == "getelementptr":
            element, pointer, index = re.findall(
                r"(?:inbounds )?(\w+), ptr(?: addrspace\(3\))? (\S+), \w+ (\S+)$", text
            )[0]
            memory, at = self.pointer(pointer)
            return memory, at + BYTES[element] * self.number(index)
        if kind == "load":
            memory, at = self.pointer(re.findall(r"ptr (\S+),", text)[0])
            return memory[LANES, at // 4].copy()
        if kind == "store":
            value, pointer = re.findall(r"store float (\S+), ptr(?: addrspace\(3\))? (\S+),", text)[0]
            memory, at = self.pointer(pointer)
            number = np.float32(0) if value == "0.0" else self.values[value]
            if memory.ndim == 2:
                memory[LANES, at // 4] = number
            else:
                memory.view(np.float32)[at // 4] = number
            return None
        if kind == "extractvalue":
            value, at = re.findall(r"(%\S+), (\d+)$", text)[0]
            return self.values[value][int(at)]
        if kind == "bitcast":
            return self.values[re.findall(r"bitcast i32 (\S+) to", text)[0]]
        return self.call(text)

    def call(self, text: str) -> Any:
        """An intrinsic of NVIDIA's devices."""
        if "sreg" in text:
            return LANES if "tid.x" in text else np.zeros(32, int)
        if "bar.warp" in text:
            return None
        arguments = re.findall(r"(%[\w.]+|@[\w.]+)", text.partition("@llvm")[2])
        if "ldmatrix" in text:
            memory, at = self.pointer(arguments[-1])
            return self.matrices(memory.view(np.uint16), at // 2, turned=".trans" in text)
        assert ".mma.m16n8k16.row.col." in text, text
        kind = "half" if "f32.f32" in text else "bfloat"
        *factors, c0, c1, c2, c3 = (self.values[a] for a in arguments if a.startswith("%"))
        return self.multiplied(kind, factors[:4], factors[4:], [c0, c1, c2, c3])

    def matrices(self, halves: Any, at: Any, *, turned: bool) -> list[Any]:
        """`ldmatrix`: thread 8 * i + r says where row r of matrix i begins; each thread gets two neighbours of each."""
        found: list[Any] = []
        for i in range(4):
            matrix = np.stack([halves[start : start + 8] for start in at[8 * i : 8 * i + 8]]).astype(np.uint32)
            matrix = matrix.T if turned else matrix
            found.append(matrix[GROUP, 2 * PLACE] | matrix[GROUP, 2 * PLACE + 1] << 16)
        return found

    def multiplied(self, kind: str, left: list[Any], right: list[Any], sums: list[Any]) -> list[Any]:
        """`mma.sync.aligned.m16n8k16.row.col`, with the fragments of PTX's manual."""
        a, b, c = np.zeros((16, 16)), np.zeros((16, 8)), np.zeros((16, 8))
        for register, (row, column) in enumerate(((0, 0), (8, 0), (0, 8), (8, 8))):
            for half in range(2):
                a[GROUP + row, 2 * PLACE + column + half] = _number(left[register], half, kind)
        for register, row in enumerate((0, 8)):
            for half in range(2):
                b[2 * PLACE + row + half, GROUP] = _number(right[register], half, kind)
        places = [(GROUP + 8 * (i // 2), 2 * PLACE + i % 2) for i in range(4)]
        for place, number in zip(places, sums, strict=True):
            c[place] = number
        c = c + a @ b
        return [c[place].astype(np.float32) for place in places]

    def pointer(self, name: str) -> tuple[Any, Any]:
        """The memory that a pointer is into, and the offset in it."""
        if name.startswith("@"):
            return self.shared[name[1:]], np.zeros(32, int)
        return self.values[name]

    def number(self, word: str) -> Any:
        """An integer."""
        return self.values[word] if word.startswith("%") else int(word)


def _number(word: Any, half: int, kind: str) -> Any:
    """One of the two numbers of 16 bits in a word."""
    bits = (word >> np.uint32(16 * half)).astype(np.uint16)
    return bits.view(np.float16) if kind == "half" else (bits.astype(np.uint32) << 16).view(np.float32)
