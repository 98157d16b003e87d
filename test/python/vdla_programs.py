"""Streams for VDLA that multiply matrices in blocks, as a compiler would make them, and the products by numpy."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tilework.runtime.devices.vdla.stream import Alu, Finish, Gemm, Instruction, Load, Loop, MicroOp, Store, Stream
from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import AluOperation, Queue


def machine(options: str = "") -> VdlaTarget:
    """The machine of the paper, with other numbers where options say so."""
    return VdlaTarget.of(parse_target(f"vdla {options}"))


@dataclass(frozen=True)
class Matmul:
    """out[m, n] = lowest bytes of (max(sum over k of inp[m, k] x transpose of wgt[n, k], 0) >> shift), in tiles.

    block: how many tiles of m, n and k a block has; these divide the sizes. inputs: how many buffers there are for
    operands, accumulators: how many for results. biased: whether blocks begin with words from DRAM, not with zeros.
    """

    m: int
    n: int
    k: int
    block: tuple[int, int, int] = (1, 1, 1)
    inputs: int = 1
    accumulators: int = 1
    biased: bool = False
    shift: int = 4


class Layout(NamedTuple):
    """Where operands and results lie in DRAM: in bytes, which are multiples of all tiles."""

    inp: int
    wgt: int
    acc: int
    out: int
    size: int


def layout_of(product: Matmul, target: VdlaTarget) -> Layout:
    """The operands side by side, each beginning at a multiple of the largest tile, with the results behind."""
    align = max(memory.tile_bytes for memory in target.memories.values())
    at, places = 0, list[int]()
    tiles = {"inp": product.m * product.k, "wgt": product.n * product.k}
    results = product.m * product.n
    for name, count in {**tiles, "acc": results * product.biased, "out": results}.items():
        places.append(at)
        at += -(-count * target.memories[name].tile_bytes // align) * align
    return Layout(*places, at)


@dataclass
class _Builder:
    """The instructions so far, and flags that the next one gets."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])

    def add(self, instruction: Instruction, pop: Queue | None = None, push: Queue | None = None):
        pops, pushes = (frozenset([queue] if queue else []) for queue in (pop, push))
        self.instructions.append(replace(instruction, pop=pops, push=pushes))


def matmul(product: Matmul, target: VdlaTarget, layout: Layout | None = None) -> Stream:
    """The stream of a product. Tokens say what is needed for the buffers that there are, and no more."""
    rows, columns, depth = product.block
    layout = layout or layout_of(product, target)
    address = {name: getattr(layout, name) // target.memories[name].tile_bytes for name in ("inp", "wgt", "acc", "out")}
    builder = _Builder()
    ops = [  # one for each row of a block, in each pair of buffers; loops run over columns and terms
        MicroOp(results * rows * columns + row * columns, (operands * rows + row) * depth, operands * columns * depth)
        for results in range(product.accumulators)
        for operands in range(product.inputs)
        for row in range(rows)
    ]
    starts = [MicroOp(results * rows * columns, 0) for results in range(product.accumulators)]
    builder.add(Load("uop", 0, 0, 1, len(ops) + len(starts), len(ops) + len(starts)))
    blocks = [(i, j) for i in range(0, product.m, rows) for j in range(0, product.n, columns)]
    uses = len(blocks) * (product.k // depth)
    use = 0
    for number, (i, j) in enumerate(blocks):
        results = number % product.accumulators
        start, one = results * rows * columns, len(ops) + results
        every = (one, one + 1, Loop(rows, columns), Loop(columns, 1))
        again = Queue.STORE_TO_COMPUTE if number >= product.accumulators else None
        if product.biased:
            builder.add(Load("acc", start, address["acc"] + i * product.n + j, rows, columns, product.n), again)
        else:
            builder.add(Gemm(*every, reset=True), again)
        for k in range(0, product.k, depth):
            operands = use % product.inputs
            builder.add(
                Load("inp", operands * rows * depth, address["inp"] + i * product.k + k, rows, depth, product.k),
                pop=Queue.COMPUTE_TO_LOAD if use >= product.inputs else None,
            )
            builder.add(
                Load("wgt", operands * columns * depth, address["wgt"] + j * product.k + k, columns, depth, product.k),
                push=Queue.LOAD_TO_COMPUTE,
            )
            first = (results * product.inputs + operands) * rows
            builder.add(
                Gemm(first, first + rows, Loop(columns, 1, 0, depth), Loop(depth, 0, 1, 1)),
                pop=Queue.LOAD_TO_COMPUTE,
                push=Queue.COMPUTE_TO_LOAD if use + product.inputs < uses else None,
            )
            use += 1
        builder.add(Alu(*every, operation=AluOperation.MAX, immediate=0))
        builder.add(Alu(*every, operation=AluOperation.SHR, immediate=product.shift), push=Queue.COMPUTE_TO_STORE)
        needed = number + product.accumulators < len(blocks) or number == len(blocks) - 1
        builder.add(
            Store(start, address["out"] + i * product.n + j, rows, columns, product.n),
            pop=Queue.COMPUTE_TO_STORE,
            push=Queue.STORE_TO_COMPUTE if needed else None,
        )
    builder.add(Finish(), pop=Queue.STORE_TO_COMPUTE)
    named = [replace(one, origin=f"line {at + 1}") for at, one in enumerate(builder.instructions)]
    return Stream((*ops, *starts), tuple(named))


def one_after_the_other(first: Stream, second: Stream) -> Stream:
    """Two streams in one: the second begins to load when all that the first stores is in DRAM."""
    stored = Load("uop", pop=frozenset({Queue.STORE_TO_COMPUTE}), push=frozenset({Queue.COMPUTE_TO_LOAD}))
    table, *others = second.instructions
    assert isinstance(table, Load) and table.memory == "uop"
    moved = replace(table, dram=table.dram + len(first.micro_ops))
    between = (stored, Load("inp", pop=frozenset({Queue.COMPUTE_TO_LOAD})))
    instructions = (*first.instructions[:-1], *between, moved, *others)
    return Stream((*first.micro_ops, *second.micro_ops), instructions)


class Data(NamedTuple):
    """DRAM before a run, and what the results should be in it: the part from `start` on."""

    dram: np.ndarray
    start: int
    expected: np.ndarray


def data_for(product: Matmul, target: VdlaTarget, seed: int = 0) -> Data:
    """Random operands in DRAM, and the product by numpy."""
    draw = np.random.default_rng(seed)
    layout = layout_of(product, target)
    batch, terms, outputs = target.batch, target.block_in, target.block_out
    inp = draw.integers(-128, 128, (product.m, product.k, batch, terms), np.int8)
    wgt = draw.integers(-128, 128, (product.n, product.k, outputs, terms), np.int8)
    bias = draw.integers(-99999, 99999, (product.m, product.n, batch, outputs), np.int32) * product.biased
    sums = bias + np.einsum("mkbt,nkot->mnbo", inp.astype(np.int32), wgt.astype(np.int32), dtype=np.int32)
    dram = np.zeros(layout.size, np.uint8)
    operands = ((layout.inp, inp), (layout.wgt, wgt), *([(layout.acc, bias.astype(np.int32))] * product.biased))
    for at, operand in operands:
        dram[at : at + operand.nbytes] = operand.view(np.uint8).ravel()
    scale = np.right_shift if product.shift >= 0 else np.left_shift
    expected = scale(np.maximum(sums, 0), abs(product.shift)).astype(np.int8)
    return Data(dram, layout.out, expected.view(np.uint8).ravel())


def random_matmul(draw: random.Random) -> Matmul:
    """A small product, with blocks and buffers of all sizes."""
    block = tuple(draw.randint(1, 3) for _ in range(3))
    m, n, k = (size * draw.randint(1, 3) for size in block)
    return Matmul(
        *(m, n, k, (block[0], block[1], block[2])),
        inputs=draw.randint(1, 3),
        accumulators=draw.randint(1, 3),
        biased=draw.random() < 0.3,
        shift=draw.randint(-2, 8),
    )


def shuffled(stream: Stream, draw: random.Random) -> Stream:
    """The same programs of units, with their instructions in another order beside each other in the stream."""
    programs = [list(program) for program in stream.programs.values()]
    order = list[int]()
    while any(programs):
        chosen = draw.choice([program for program in programs if program])
        if chosen[0] == len(stream.instructions) - 1 and sum(map(len, programs)) > 1:
            continue  # the finish stays the last
        order.append(chosen.pop(0))
    return replace(stream, instructions=tuple(stream.instructions[at] for at in order))
