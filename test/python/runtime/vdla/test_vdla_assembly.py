"""Streams of VDLA as text and as bytes: both read back, and what is wrong with either is said with its place."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from vdla_streams import random_stream

from tilework.algebra.errors import UsageError
from tilework.runtime.devices.vdla.assembly import parse_stream, print_stream
from tilework.runtime.devices.vdla.encoding import decode, encode
from tilework.runtime.devices.vdla.stream import (
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Loop,
    MicroOp,
    Padding,
    Store,
    Stream,
)
from tilework.targets.vdla.units import AluOperation, Queue

TEXT = """\
uop dst=0 src=1 wgt=2
load.uop sram=0 dram=0 rows=1 columns=1 stride=1
load.inp sram=0 dram=4 rows=2 columns=8 stride=32 pad=1,0,0,2 pop=compute->load push=load->compute  # mm.mlir:3
gemm.reset uops=0:1
gemm uops=0:1 outer=2:dst+0,src+8,wgt+8 inner=8:dst+0,src+1,wgt+1 pop=load->compute push=compute->load,compute->store
alu.shr uops=0:1 imm=-3
alu.max uops=0:1
store sram=0 dram=7 rows=1 columns=1 stride=1 pop=compute->store push=store->compute
finish pop=store->compute
"""

STREAM = Stream(
    (MicroOp(0, 1, 2),),
    (
        Load("uop", rows=1, columns=1, stride=1),
        Load(
            *("inp", 0, 4, 2, 8, 32, Padding(above=1, right=2)),
            pop=frozenset({Queue.COMPUTE_TO_LOAD}),
            push=frozenset({Queue.LOAD_TO_COMPUTE}),
            origin="mm.mlir:3",
        ),
        Gemm(0, 1, reset=True),
        Gemm(
            *(0, 1, Loop(2, 0, 8, 8), Loop(8, 0, 1, 1)),
            pop=frozenset({Queue.LOAD_TO_COMPUTE}),
            push=frozenset({Queue.COMPUTE_TO_LOAD, Queue.COMPUTE_TO_STORE}),
        ),
        Alu(0, 1, operation=AluOperation.SHR, immediate=-3),
        Alu(0, 1, operation=AluOperation.MAX),
        Store(
            *(0, 7, 1, 1, 1),
            pop=frozenset({Queue.COMPUTE_TO_STORE}),
            push=frozenset({Queue.STORE_TO_COMPUTE}),
        ),
        Finish(pop=frozenset({Queue.STORE_TO_COMPUTE})),
    ),
)


def without_origins(stream: Stream) -> Stream:
    return replace(stream, instructions=tuple(replace(one, origin="") for one in stream.instructions))


def only(instruction: Instruction) -> Stream:
    return Stream((), (instruction, Finish()))


def test_the_text_of_a_stream():
    assert print_stream(STREAM) == TEXT
    assert parse_stream(TEXT) == STREAM


def test_comments_and_what_may_be_left_out():
    text = "# A comment.\n\n  load.inp   # an   origin\nload.wgt columns=2 rows=1\nfinish\n"
    assert parse_stream(text).instructions == (
        Load("inp", origin="an origin"),
        Load("wgt", rows=1, columns=2),
        Finish(),
    )


@pytest.mark.parametrize("seed", range(20))
def test_random_streams_read_back(seed: int):
    stream = random_stream(seed)
    assert parse_stream(print_stream(stream)) == stream
    assert decode(encode(stream)) == without_origins(stream)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gem uops=0:1", "unknown instruction 'gem'; there are uop, load.inp"),
        ("gem uops=0:1", "did you mean 'gemm'?"),
        ("load.out sram=0", "unknown instruction 'load.out'"),
        ("store rows", "operand 'rows' of store has no value, as in rows=..."),
        ("store rows=1 rows=1", "operand 'rows' of store is given twice"),
        ("store rows=one", "store rows=one: expected a number"),
        ("store rows=-1", "store rows=-1: expected a number"),
        ("store width=1", "unknown operand 'width' of store; the operands are pop, push, sram, dram, rows, columns"),
        ("store pad=1,1,1,1", "unknown operand 'pad' of store"),
        ("gemm imm=1", "unknown operand 'imm' of gemm; the operands are pop, push, uops, outer, inner"),
        ("gemm uops=4", "gemm uops=4: expected two numbers, as in 0:4"),
        ("gemm uops=4:2", "gemm: micro-operations 4:2 end before they begin"),
        ("gemm outer=2", "gemm outer=2: expected a loop, as in 4:dst+1,src+0,wgt+8"),
        ("alu.add imm=x", "alu.add imm=x: expected a number, which may be negative"),
        ("alu.add inner=2:dst+1,src+1,wgt+1", "alu.add: it reads no weights"),
        ("load.inp pad=1", "load.inp pad=1: expected four numbers: above, below, left, right"),
        ("load.inp pop=load->store", "load.inp pop=load->store: expected queues with commas between, of load->compute"),
        ("load.inp pop=store->compute", "load.inp runs on the unit 'load', which pops no store->compute"),
        ("load.acc push=load->compute", "load.acc runs on the unit 'compute', which pushes no load->compute"),
        ("uop dst=1 push=load->compute", "unknown operand 'push' of uop; the operands are dst, src, wgt"),
    ],
)
def test_wrong_lines_are_explained(line: str, message: str):
    with pytest.raises(UsageError) as error:
        parse_stream(f"# first\n{line}\nfinish\n")
    assert str(error.value).startswith("line 2: ") and message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a stream ends with its only finish, but none of 0 instructions finish it"),
        ("finish\nfinish\n", "but instructions 0, 1 of 2 instructions finish it"),
        ("finish\nstore\n", "but instructions 0 of 2 instructions finish it"),
    ],
)
def test_a_stream_ends_with_finish(text: str, message: str):
    with pytest.raises(UsageError) as error:
        parse_stream(text)
    assert message in str(error.value)


def test_numbers_that_no_machine_takes():
    with pytest.raises(UsageError, match="store: rows is -1, but cannot be negative"):
        Store(rows=-1)
    with pytest.raises(UsageError, match="load.inp: padding.left is -2, but cannot be negative"):
        Load("inp", padding=Padding(left=-2))
    for immediate in (1 << 15, -(1 << 15) - 1):
        with pytest.raises(UsageError, match=f"alu.add: the immediate {immediate} does not fit in 16 bits"):
            Alu(0, 1, operation=AluOperation.ADD, immediate=immediate)
    with pytest.raises(UsageError, match="a load writes one of inp, wgt, acc, uop, not 'out'"):
        Load("out")
    with pytest.raises(UsageError, match="micro-operation 1: an index is negative"):
        Stream((MicroOp(0, 0), MicroOp(0, -1)), (Finish(),))
    with pytest.raises(UsageError, match="an origin is words with single spaces between, not 'two\\\\nlines'"):
        Finish(origin="two\nlines")


# ---- Bytes -----------------------------------------------------------------------------------------------------------


def test_the_size_of_the_bytes():
    assert len(encode(STREAM)) == 16 + 4 * 1 + 16 * 8


def test_where_fields_lie():
    """They lie as in VTA: a load has the code 0, then come four flags, then the memory."""
    load = Load("inp", 1, 2, 3, 4, 5, Padding(6, 7, 8, 9), push=frozenset({Queue.LOAD_TO_COMPUTE}))
    low, high = (int.from_bytes(encode(only(load))[at : at + 8], "little") for at in (16, 24))
    assert low == 0 | 1 << 6 | 2 << 7 | 1 << 10 | 2 << 26
    assert high == 3 | 4 << 16 | 5 << 32 | 6 << 48 | 7 << 52 | 8 << 56 | 9 << 60


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (Load("inp", sram=1 << 16), "(load.inp): sram is 65536, which does not fit: it has 16 bits, for up to 65535"),
        (Load("inp", dram=1 << 32, origin="a.mlir:1"), "(load.inp, from a.mlir:1): dram is 4294967296"),
        (Load("inp", padding=Padding(left=16)), "pad.left is 16, which does not fit: it has 4 bits, for up to 15"),
        (Gemm(0, 1 << 14), "end is 16384, which does not fit: it has 14 bits"),
        (Gemm(0, 1, inner=Loop(2, 0, 0, 1 << 10)), "inner.wgt is 1024, which does not fit: it has 10 bits"),
    ],
)
def test_operands_that_do_not_fit(instruction: Instruction, message: str):
    with pytest.raises(UsageError) as error:
        encode(only(instruction))
    assert str(error.value).startswith("instruction 0 ") and message in str(error.value)


def test_a_micro_operation_that_does_not_fit():
    with pytest.raises(UsageError, match="micro-operation 0: wgt is 1024, which does not fit: it has 10 bits"):
        encode(Stream((MicroOp(0, 0, 1 << 10),), (Finish(),)))


def changed(word: int, value: int, instruction: Instruction | None = None) -> bytes:
    """The bytes of a stream with a bit pattern put over one word of 32 bits of its first instruction."""
    code = bytearray(encode(only(instruction or Load("inp"))))
    code[16 + 4 * word : 20 + 4 * word] = value.to_bytes(4, "little")
    return bytes(code)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"", "these bytes are no stream of VDLA"),
        (b"ELF!" + bytes(12), "they do not begin with a header and 'VDLA'"),
        (b"VDLA" + (2).to_bytes(4, "little") + bytes(8), "the stream has version 2, but this reads version 1"),
        (encode(STREAM)[:-1], "has 147 bytes, but 1 micro-operations and 8 instructions have 148"),
        (changed(0, 7), "instruction 0: there is no operation with the code 7"),
        (
            changed(0, 1 << 3 | 2 << 7),
            "instruction 0: the flag pop_prev is set, but the unit 'load' has no such neighbour",
        ),
        (changed(0, 4 << 7), "instruction 0: a load does not write the memory out"),
        (changed(0, 6 << 7), "instruction 0: a load does not write the memory number 6"),
        (changed(1, 1 << 26), "instruction 0: a bit is set that belongs to no field"),
        (changed(0, 1), "instruction 0: a store reads the memory out, and has no padding"),
        (changed(0, 3 | 1 << 8), "instruction 0: a bit is set that belongs to no field"),
        (changed(0, 4 | 1 << 7), "instruction 0: the flag that resets is set, but the ALU resets nothing"),
        (changed(3, 7 << 12, Alu(0, 1, operation=AluOperation.ADD)), "the ALU has no operation with the code 7"),
        (changed(3, 1 << 16, Alu(0, 1, operation=AluOperation.ADD)), "an immediate, but the flag that says so"),
        (changed(0, 2 | 2 << 8), "instruction 0: gemm: micro-operations 2:0 end before they begin"),
    ],
    ids=count(),
)
def test_wrong_bytes_are_explained(code: bytes, message: str):
    with pytest.raises(UsageError) as error:
        decode(code)
    assert message in str(error.value)
