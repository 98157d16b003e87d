"""Streams as bytes and back: 16 for an instruction, 4 for a micro-operation, with the fields that VTA gives them.

The bytes are a header (the letters "VDLA", a version, the number of micro-operations and of instructions, each a little
endian word of 32 bits), the micro-operations, then the instructions. Origins are not kept. Fields are as wide as VTA's
default memories need, so that a machine with larger ones has tiles that no instruction reaches; that is an error.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from tilework.algebra.errors import UsageError
from tilework.runtime.devices.vdla.stream import (
    NO_PADDING,
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Loop,
    Looped,
    MicroOp,
    Padding,
    Queues,
    Store,
    Stream,
)
from tilework.targets.vdla.units import INDEX_BITS, LOADED, PAD_BITS, AluOperation, Queue, Unit

MAGIC = b"VDLA"
VERSION = 1
_HEADER = struct.Struct("<4sIII")
_INSTRUCTION_BYTES = 16
_MICRO_OP_BYTES = 4

Fields = tuple[tuple[str, int], ...]
"""Names and widths, from the lowest bit on."""

_FLAGS: Fields = (("opcode", 3), ("pop_prev", 1), ("pop_next", 1), ("push_prev", 1), ("push_next", 1))
_TRANSFER: Fields = (
    *(*_FLAGS, ("memory", 3), ("sram", 16), ("dram", 32), ("", 6)),
    *(("rows", 16), ("columns", 16), ("stride", 16)),
    *((f"pad.{side}", PAD_BITS) for side in ("above", "below", "left", "right")),
)
_LOOPED: Fields = (
    *(*_FLAGS, ("reset", 1), ("first", 13), ("end", 14), ("outer.count", 14), ("inner.count", 14), ("", 1)),
    *(("outer.dst", 11), ("inner.dst", 11), ("outer.src", 11), ("inner.src", 11)),
)
_GEMM: Fields = (*_LOOPED, ("outer.wgt", 10), ("inner.wgt", 10))
_ALU: Fields = (*_LOOPED, ("operation", 3), ("with_immediate", 1), ("immediate", 16))
_FINISH: Fields = (*_FLAGS, ("", 121))
_LAYOUTS: Mapping[int, Fields] = {0: _TRANSFER, 1: _TRANSFER, 2: _GEMM, 3: _FINISH, 4: _ALU}
"""The code of an operation -> its fields; an empty name is of bits that are zero."""

_MICRO_OP: Fields = (("dst", INDEX_BITS["acc"]), ("src", INDEX_BITS["inp"]), ("wgt", INDEX_BITS["wgt"]))

_MEMORIES = ("uop", "wgt", "inp", "acc", "out")
_OPERATIONS = tuple(AluOperation)

_NEIGHBOURS = {
    Unit.LOAD: {"pop_next": Queue.COMPUTE_TO_LOAD, "push_next": Queue.LOAD_TO_COMPUTE},
    Unit.COMPUTE: {
        "pop_prev": Queue.LOAD_TO_COMPUTE,
        "pop_next": Queue.STORE_TO_COMPUTE,
        "push_prev": Queue.COMPUTE_TO_LOAD,
        "push_next": Queue.COMPUTE_TO_STORE,
    },
    Unit.STORE: {"pop_prev": Queue.COMPUTE_TO_STORE, "push_prev": Queue.STORE_TO_COMPUTE},
}
"""What the flags of an instruction mean on the unit that runs it: units stand in a row, load before compute."""


def encode(stream: Stream) -> bytes:
    """The bytes of a stream. Raises UsageError that names the field that is too narrow for an operand."""
    ops = b"".join(
        _packed(_MICRO_OP, {"dst": op.dst, "src": op.src, "wgt": op.wgt}, f"micro-operation {at}")
        for at, op in enumerate(stream.micro_ops)
    )
    instructions = b"".join(
        _encoded(instruction, stream.describe(at)) for at, instruction in enumerate(stream.instructions)
    )
    return _HEADER.pack(MAGIC, VERSION, len(stream.micro_ops), len(stream.instructions)) + ops + instructions


def _encoded(instruction: Instruction, place: str) -> bytes:
    neighbours = _NEIGHBOURS[instruction.unit]
    values = {
        flag: int(queue in (instruction.pop if flag.startswith("pop") else instruction.push))
        for flag, queue in neighbours.items()
    }
    opcode, operands = _operands(instruction)
    return _packed(_LAYOUTS[opcode], {**values, "opcode": opcode, **operands}, place)


def _operands(instruction: Instruction) -> tuple[int, dict[str, int]]:
    """The code of an operation, and the values of its fields that are not zero."""
    match instruction:
        case Load():
            pad = instruction.padding
            sides = {"above": pad.above, "below": pad.below, "left": pad.left, "right": pad.right}
            values = {**_transfer(instruction), **{f"pad.{side}": count for side, count in sides.items()}}
            return 0, {**values, "memory": _MEMORIES.index(instruction.memory)}
        case Store():
            return 1, {**_transfer(instruction), "memory": _MEMORIES.index("out")}
        case Gemm():
            steps = {"outer.wgt": instruction.outer.wgt, "inner.wgt": instruction.inner.wgt}
            return 2, {**_looped(instruction), **steps, "reset": int(instruction.reset)}
        case Alu():
            value = instruction.immediate
            immediate = {} if value is None else {"with_immediate": 1, "immediate": value & 0xFFFF}
            return 4, {
                **_looped(instruction),
                "operation": _OPERATIONS.index(instruction.operation),
                **immediate,
            }
        case _:
            return 3, {}


def _transfer(instruction: Load | Store) -> dict[str, int]:
    return {name: getattr(instruction, name) for name in ("sram", "dram", "rows", "columns", "stride")}


def _looped(instruction: Looped) -> dict[str, int]:
    values = {"first": instruction.first, "end": instruction.end}
    for name, loop in (("outer", instruction.outer), ("inner", instruction.inner)):
        values |= {f"{name}.count": loop.count, f"{name}.dst": loop.dst, f"{name}.src": loop.src}
    return values


def _packed(layout: Fields, values: Mapping[str, int], place: str) -> bytes:
    """The fields as bytes. Raises UsageError for a value that its field has too few bits for."""
    bits = at = 0
    for name, width in layout:
        value = values.get(name, 0)
        if value >> width:
            raise UsageError(
                f"{place}: {name} is {value}, which does not fit: it has {width} bits, for up to {(1 << width) - 1}"
            )
        bits |= value << at
        at += width
    return bits.to_bytes(at // 8, "little")


def decode(code: bytes) -> Stream:
    """The stream that bytes encode. Raises UsageError for bytes that `encode` does not make, with the place."""
    if len(code) < _HEADER.size or code[:4] != MAGIC:
        raise UsageError(f"these bytes are no stream of VDLA: they do not begin with a header and '{MAGIC.decode()}'")
    _, version, op_count, instruction_count = _HEADER.unpack_from(code)
    if version != VERSION:
        raise UsageError(f"the stream has version {version}, but this reads version {VERSION}")
    expected = _HEADER.size + op_count * _MICRO_OP_BYTES + instruction_count * _INSTRUCTION_BYTES
    if len(code) != expected:
        counts = f"{op_count} micro-operations and {instruction_count} instructions"
        raise UsageError(f"the stream has {len(code)} bytes, but {counts} have {expected}")
    start = _HEADER.size + op_count * _MICRO_OP_BYTES
    op_codes = (code[at : at + _MICRO_OP_BYTES] for at in range(_HEADER.size, start, _MICRO_OP_BYTES))
    codes = (code[at : at + _INSTRUCTION_BYTES] for at in range(start, expected, _INSTRUCTION_BYTES))
    return Stream(
        tuple(MicroOp(**_unpacked(_MICRO_OP, part)) for part in op_codes),
        tuple(_decoded(part, f"instruction {at}") for at, part in enumerate(codes)),
    )


def _decoded(code: bytes, place: str) -> Instruction:
    opcode = code[0] & 7
    if opcode not in _LAYOUTS:
        raise UsageError(f"{place}: there is no operation with the code {opcode}")
    values = _unpacked(_LAYOUTS[opcode], code)
    if values.pop("", 0):
        raise UsageError(f"{place}: a bit is set that belongs to no field")
    try:
        return _instruction(opcode, values)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error


def _unpacked(layout: Fields, code: bytes) -> dict[str, int]:
    bits = int.from_bytes(code, "little")
    values: dict[str, int] = {}
    for name, width in layout:
        values[name] = bits & ((1 << width) - 1)
        bits >>= width
    return values


def _instruction(opcode: int, values: Mapping[str, int]) -> Instruction:
    match opcode:
        case 0 | 1:
            return _transferring(opcode, values)
        case 2 | 4:
            return _looping(opcode, values)
        case _:
            pop, push = _queues(values, Unit.COMPUTE)
            return Finish(pop=pop, push=push)


def _transferring(opcode: int, values: Mapping[str, int]) -> Instruction:
    number = values["memory"]
    memory = _MEMORIES[number] if number < len(_MEMORIES) else f"number {number}"
    sram, dram, rows, columns, stride = (values[name] for name in ("sram", "dram", "rows", "columns", "stride"))
    padding = Padding(*(values[f"pad.{side}"] for side in ("above", "below", "left", "right")))
    if opcode == 0:
        if memory not in LOADED:
            raise UsageError(f"a load does not write the memory {memory}")
        pop, push = _queues(values, Load(memory).unit)
        return Load(memory, sram, dram, rows, columns, stride, padding, pop=pop, push=push)
    if memory != "out" or padding != NO_PADDING:
        raise UsageError("a store reads the memory out, and has no padding")
    pop, push = _queues(values, Unit.STORE)
    return Store(sram, dram, rows, columns, stride, pop=pop, push=push)


def _looping(opcode: int, values: Mapping[str, int]) -> Instruction:
    outer, inner = (
        Loop(*(values.get(f"{name}.{part}", 0) for part in ("count", "dst", "src", "wgt")))
        for name in ("outer", "inner")
    )
    pop, push = _queues(values, Unit.COMPUTE)
    first, end = values["first"], values["end"]
    if opcode == 2:
        return Gemm(first, end, outer, inner, reset=bool(values["reset"]), pop=pop, push=push)
    if values["operation"] >= len(_OPERATIONS):
        raise UsageError(f"the ALU has no operation with the code {values['operation']}")
    if values["reset"]:
        raise UsageError("the flag that resets is set, but the ALU resets nothing")
    if values["immediate"] and not values["with_immediate"]:
        raise UsageError("there is an immediate, but the flag that says so is not set")
    signed = values["immediate"] - (1 << 16 if values["immediate"] >> 15 else 0)
    immediate = signed if values["with_immediate"] else None
    operation = _OPERATIONS[values["operation"]]
    return Alu(first, end, outer, inner, operation=operation, immediate=immediate, pop=pop, push=push)


def _queues(values: Mapping[str, int], unit: Unit) -> tuple[Queues, Queues]:
    """The queues of tokens that the flags name. Raises UsageError for a neighbour that the unit does not have."""
    neighbours = _NEIGHBOURS[unit]
    for flag, _ in _FLAGS[1:]:
        if values[flag] and flag not in neighbours:
            raise UsageError(f"the flag {flag} is set, but the unit '{unit.value}' has no such neighbour")
    chosen = {flag: queue for flag, queue in neighbours.items() if values[flag]}
    pops, pushes = ([queue for flag, queue in chosen.items() if flag.startswith(side)] for side in ("pop", "push"))
    return frozenset(pops), frozenset(pushes)
