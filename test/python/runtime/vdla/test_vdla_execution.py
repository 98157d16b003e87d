"""What VDLA's instructions compute: in numpy, against one number after the other."""

from __future__ import annotations

import random

import numpy as np
import pytest
from vdla_programs import Matmul, data_for, machine, matmul

from tilework.algebra.errors import UsageError
from tilework.runtime.devices.vdla.assembly import parse_stream
from tilework.runtime.devices.vdla.encoding import decode, encode
from tilework.runtime.devices.vdla.execution import Chip
from tilework.runtime.devices.vdla.footprint import footprints
from tilework.runtime.devices.vdla.machine import Machine
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import (
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Loop,
    Looped,
    MicroOp,
    Padding,
    Store,
    Stream,
)
from tilework.targets.vdla.units import AluOperation
from tilework.tools.fuzz.vdla.oracle import computed_tiles

SMALL = machine("-batch=2 -block-in=4 -block-out=3 -inp-kib=1 -wgt-kib=1 -acc-kib=2")
DRAM_BYTES = 4096


@pytest.mark.parametrize(
    "product",
    [
        Matmul(1, 1, 1),
        Matmul(8, 4, 6, (2, 2, 3), inputs=2, accumulators=2),
        Matmul(3, 5, 7, biased=True, inputs=3),
        Matmul(4, 4, 16, (4, 4, 16), shift=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("options", ["", "-machine=vta", "-batch=4 -block-in=8 -block-out=32"])
def test_products_of_matrices(product: Matmul, options: str):
    """The stream is run from its bytes, as a machine would get it."""
    target = machine(options)
    data = data_for(product, target)
    simulate(decode(encode(matmul(product, target))), data.dram, target)
    np.testing.assert_array_equal(data.dram[data.start : data.start + len(data.expected)], data.expected)


def random_computation(draw: random.Random, micro_ops: int) -> Looped:
    """It may read a tile that it has just written, write one several times, and run no times."""
    first = draw.randrange(micro_ops)
    end = draw.randint(first, micro_ops)
    outer, inner = (Loop(draw.randint(0, 3), *(draw.randint(0, 2) for _ in range(3))) for _ in range(2))
    if draw.random() < 0.3:
        return Gemm(first, end, outer, inner, reset=draw.random() < 0.2)
    outer, inner = (Loop(loop.count, loop.dst, loop.src) for loop in (outer, inner))
    operation = draw.choice(list(AluOperation))
    immediate = draw.choice([None, draw.randint(-40, 40), draw.randint(-(1 << 15), (1 << 15) - 1)])
    return Alu(first, end, outer, inner, operation=operation, immediate=immediate)


def random_instruction(draw: random.Random) -> Instruction:
    size = {"rows": draw.randint(0, 3), "columns": draw.randint(0, 3), "stride": draw.randint(0, 5)}
    match draw.randrange(3):
        case 0:
            padding = Padding(*(draw.randint(0, 2) for _ in range(4)))
            memory = draw.choice(["inp", "wgt", "acc"])
            return Load(memory, draw.randrange(20), draw.randrange(50), **size, padding=padding)
        case 1:
            return Store(draw.randrange(20), draw.randrange(100), **size)
        case _:
            return random_computation(draw, 4)


@pytest.mark.parametrize("seed", range(60))
def test_each_instruction_against_single_numbers(seed: int):
    draw = random.Random(seed)
    ops = tuple(MicroOp(draw.randrange(6), draw.randrange(6), draw.randrange(6)) for _ in range(4))
    start = [
        Load("uop", 0, 0, 1, 4, 4),
        *(Load(memory, 0, draw.randrange(20), 1, 30, 30) for memory in ("inp", "wgt", "acc")),
    ]
    stream = Stream(ops, (*start, *(random_instruction(draw) for _ in range(12)), Finish()))
    dram = np.random.default_rng(seed).integers(0, 256, DRAM_BYTES).astype(np.uint8)
    plain = Plain(dram.copy())
    touched, findings = footprints(stream, Machine(SMALL, DRAM_BYTES))
    assert not findings
    chip = Chip(SMALL, dram)
    for instruction, footprint in zip(stream.instructions, touched, strict=True):
        chip.run(instruction, footprint)
        plain.run(instruction, dict(enumerate(ops)))
        np.testing.assert_array_equal(dram, plain.dram)
        for (memory, at), tile in plain.tiles.items():
            np.testing.assert_array_equal(chip._tiles[memory][at], tile)


class Plain:
    """The machine SMALL in plain Python: whole numbers in dictionaries, one after the other."""

    def __init__(self, dram: np.ndarray):
        self.dram = dram
        self.tiles: dict[tuple[str, int], list[list[int]]] = {}

    def tile(self, memory: str, at: int) -> list[list[int]]:
        shape = SMALL.memories[memory]
        return self.tiles.setdefault((memory, at), [[0] * shape.columns for _ in range(shape.rows)])

    def run(self, instruction: Instruction, ops: dict[int, MicroOp]):
        match instruction:
            case Load(memory=memory) as load if memory != "uop":
                self.load(load)
            case Store() as store:
                for row in range(store.rows):
                    for column in range(store.columns):
                        words = self.tile("acc", store.sram + row * store.columns + column)
                        narrow = bytes(word & 255 for words in words for word in words)
                        at = (store.dram + row * store.stride + column) * len(narrow)
                        self.dram[at : at + len(narrow)] = list(narrow)
            case Gemm() as gemm:
                for dst, src, wgt in computed_tiles(gemm, ops):
                    self.multiply(dst, src, wgt, gemm.reset)
            case Alu() as alu:
                for dst, src, _ in computed_tiles(alu, ops):
                    self.calculate(alu, dst, src)
            case _:
                pass

    def load(self, load: Load):
        shape, pad = SMALL.memories[load.memory], load.padding
        onto = load.sram
        for row in range(-pad.above, load.rows + pad.below):
            for column in range(-pad.left, load.columns + pad.right):
                tile = self.tile(load.memory, onto)
                onto += 1
                inside = 0 <= row < load.rows and 0 <= column < load.columns
                at = (load.dram + row * load.stride + column) * shape.tile_bytes
                size = shape.element_bits // 8
                for i in range(shape.rows):
                    for j in range(shape.columns):
                        start = at + (i * shape.columns + j) * size
                        word = bytes(self.dram[start : start + size]) if inside else b"\0"
                        tile[i][j] = int.from_bytes(word, "little", signed=True)

    def multiply(self, dst: int, src: int, wgt: int, reset: bool):
        result, inputs, weights = self.tile("acc", dst), self.tile("inp", src), self.tile("wgt", wgt)
        for i, row in enumerate(inputs):
            for j, column in enumerate(weights):
                terms = sum(a * b for a, b in zip(row, column, strict=True))
                result[i][j] = 0 if reset else wrapped(result[i][j] + terms)

    def calculate(self, alu: Alu, dst: int, src: int):
        result, other = self.tile("acc", dst), self.tile("acc", src)
        for i, row in enumerate(result):
            for j, left in enumerate(row):
                right = other[i][j] if alu.immediate is None else alu.immediate
                row[j] = wrapped(combined(alu.operation, left, right))


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def combined(operation: AluOperation, left: int, right: int) -> int:
    match operation:
        case AluOperation.MIN:
            return min(left, right)
        case AluOperation.MAX:
            return max(left, right)
        case AluOperation.ADD:
            return left + right
        case AluOperation.MUL:
            return left * right
        case AluOperation.SHR:
            return left >> min(right, 99) if right >= 0 else left << min(-right, 99)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 1), (0, 2)], [7, 2, 4]),  # one tile adds up several
        ([(2, 2), (1, 2)], [1, 10, 8]),  # one reads what the one before has made of itself
        ([(1, 2), (2, 2)], [1, 6, 8]),
        ([(0, 1), (1, 2), (2, 0)], [3, 6, 7]),
        ([(0, 0), (1, 1)], [2, 4, 4]),
    ],
)
def test_micro_operations_follow_each_other(pairs: list[tuple[int, int]], expected: list[int]):
    """The first three accumulators are 1, 2 and 4 before."""
    ops = "".join(f"uop dst={dst} src={src}\n" for dst, src in pairs)
    text = f"""
{ops}
load.uop rows=1 columns={len(pairs)}
load.acc rows=1 columns=3
alu.add uops=0:{len(pairs)} push=compute->store
store dram=12 rows=1 columns=3 pop=compute->store push=store->compute
finish pop=store->compute
"""
    dram = np.zeros(256, np.uint8)
    dram[:192].view(np.int32)[:] = np.repeat([1, 2, 4], 16)
    simulate(parse_stream(text), dram, machine())
    np.testing.assert_array_equal(dram[192:240], np.repeat(expected, 16))


def test_loads_of_micro_operations_with_zeros_around():
    """Zeros are a micro-operation on the first tiles, where another was before."""
    text = """
uop dst=7 src=0 wgt=0
load.uop rows=1 columns=1
load.uop rows=1 columns=1 pad=0,0,1,0
load.acc rows=1 columns=8
alu.add uops=0:2 imm=1 push=compute->store
store rows=1 columns=8 dram=32 pop=compute->store push=store->compute
finish pop=store->compute
"""
    dram = np.zeros(1024, np.uint8)
    simulate(parse_stream(text), dram, machine())
    results = dram[512:640].reshape(8, 16)
    np.testing.assert_array_equal(results, np.repeat([[1], *[[0]] * 6, [1]], 16, axis=1))


FIXED = np.zeros(64, np.uint8)
FIXED.flags.writeable = False


@pytest.mark.parametrize(
    "dram",
    [np.zeros(64, np.int8), np.zeros((8, 8), np.uint8), np.zeros(64, np.uint8)[::2], FIXED],
    ids=["type", "rank", "gaps", "fixed"],
)
def test_dram_is_bytes_in_a_row(dram: np.ndarray):
    with pytest.raises(UsageError, match="DRAM is bytes in a row that can be written, not u?int8 of the shape"):
        simulate(parse_stream("finish"), dram, machine())
