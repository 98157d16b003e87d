"""Streams as text, a line for each micro-operation and each instruction, and back.

    uop dst=0 src=0 wgt=0
    load.inp sram=0 dram=4 rows=2 columns=8 stride=32 pad=1,0,0,1 push=load->compute  # matmul.mlir:3
    gemm uops=0:1 outer=2:dst+0,src+8,wgt+8 inner=8:dst+0,src+1,wgt+1 pop=load->compute
    alu.max uops=0:1 imm=0
    store sram=0 dram=0 rows=1 columns=1 stride=1
    finish

Operands that are left out are zero, or a loop that runs once, or no tokens. Behind # stands the origin of an
instruction; a line with nothing before # is a comment, which is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.runtime.devices.vdla.stream import (
    NO_PADDING,
    NO_QUEUES,
    ONCE,
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
from tilework.targets.vdla.units import LOADED, AluOperation, Queue

Read = TypeVar("Read")


def print_stream(stream: Stream) -> str:
    """The text of a stream; `parse_stream` reads an equal one from it."""
    lines = [f"uop dst={op.dst} src={op.src} wgt={op.wgt}" for op in stream.micro_ops]
    return "".join(f"{line}\n" for line in (*lines, *map(print_instruction, stream.instructions)))


def print_instruction(instruction: Instruction) -> str:
    """The line of one instruction."""
    operands = {
        key: text
        for key, text in (
            *_operands(instruction).items(),
            ("pop", _queues_text(instruction.pop)),
            ("push", _queues_text(instruction.push)),
        )
        if text
    }
    words = (instruction.mnemonic, *(f"{key}={text}" for key, text in operands.items()))
    return " ".join(words) + (f"  # {instruction.origin}" if instruction.origin else "")


def _operands(instruction: Instruction) -> Mapping[str, str]:
    """The operands that an instruction has of its own; an empty text is left out."""
    match instruction:
        case Load() | Store():
            numbers = {key: str(getattr(instruction, key)) for key in _TRANSFER}
            padding = instruction.padding if isinstance(instruction, Load) else NO_PADDING
            sides = (padding.above, padding.below, padding.left, padding.right)
            return {**numbers, "pad": ",".join(map(str, sides)) if any(sides) else ""}
        case Looped():
            immediate = instruction.immediate if isinstance(instruction, Alu) else None
            return {
                "uops": f"{instruction.first}:{instruction.end}",
                "outer": _loop_text(instruction.outer),
                "inner": _loop_text(instruction.inner),
                "imm": "" if immediate is None else str(immediate),
            }
        case _:
            return {}


def _loop_text(loop: Loop) -> str:
    return "" if loop == ONCE else f"{loop.count}:dst+{loop.dst},src+{loop.src},wgt+{loop.wgt}"


def _queues_text(queues: Queues) -> str:
    return ",".join(queue.value for queue in Queue if queue in queues)


def parse_stream(text: str) -> Stream:
    """The stream that a text describes. Raises UsageError that names the line that is wrong, and what it may be."""
    micro_ops: list[MicroOp] = []
    instructions: list[Instruction] = []
    for number, line in enumerate(text.splitlines(), start=1):
        code, _, origin = line.partition("#")
        words = code.split()
        if not words:
            continue
        try:
            read = _line(words[0], words[1:], " ".join(origin.split()))
        except UsageError as error:
            raise UsageError(f"line {number}: {error}") from error
        if isinstance(read, MicroOp):
            micro_ops.append(read)
        else:
            instructions.append(read)
    return Stream(tuple(micro_ops), tuple(instructions))


def _line(mnemonic: str, words: list[str], origin: str) -> MicroOp | Instruction:
    if mnemonic not in _READERS:
        known = ", ".join(_READERS)
        raise UsageError(f"unknown instruction '{mnemonic}'; there are {known}{did_you_mean(mnemonic, _READERS)}")
    operands = _Operands(mnemonic, words)
    read = _READERS[mnemonic](operands, {} if mnemonic == "uop" else _common(operands, origin))
    operands.check_all_read()
    return read


class _Operands:
    """The operands of a line, and which of them have been asked for."""

    def __init__(self, mnemonic: str, words: list[str]):
        self._mnemonic = mnemonic
        self._asked: list[str] = []
        self._texts: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not value:
                raise UsageError(f"operand '{word}' of {mnemonic} has no value, as in {key}=...")
            if key in self._texts:
                raise UsageError(f"operand '{key}' of {mnemonic} is given twice")
            self._texts[key] = value

    def ask(self, key: str, read: Callable[[str], Read | None], expected: str, default: Read) -> Read:
        """The value of an operand; a UsageError that says what was expected for a text that is not read."""
        self._asked.append(key)
        if key not in self._texts:
            return default
        value = read(self._texts[key])
        if value is None:
            raise UsageError(f"{self._mnemonic} {key}={self._texts[key]}: expected {expected}")
        return value

    def number(self, key: str) -> int:
        """A number, which is zero where it is not given."""
        return self.ask(key, _number, "a number", 0)

    def check_all_read(self):
        """Refuse operands that nobody asked for."""
        for key in self._texts:
            if key not in self._asked:
                known = f"the operands are {', '.join(self._asked)}"
                raise UsageError(f"unknown operand '{key}' of {self._mnemonic}; {known}")


def _common(operands: _Operands, origin: str) -> dict[str, Any]:
    names = ", ".join(queue.value for queue in Queue)
    expected = f"queues with commas between, of {names}"
    return {
        "pop": operands.ask("pop", _queues, expected, NO_QUEUES),
        "push": operands.ask("push", _queues, expected, NO_QUEUES),
        "origin": origin,
    }


_TRANSFER = ("sram", "dram", "rows", "columns", "stride")


def _transfer(operands: _Operands) -> dict[str, int]:
    return {key: operands.number(key) for key in _TRANSFER}


def _looped(operands: _Operands) -> dict[str, Any]:
    first, end = operands.ask("uops", _range, "two numbers, as in 0:4", (0, 0))
    expected = "a loop, as in 4:dst+1,src+0,wgt+8"
    loops = {key: operands.ask(key, _loop, expected, ONCE) for key in ("outer", "inner")}
    return {"first": first, "end": end, **loops}


def _load_reader(memory: str) -> Callable[[_Operands, dict[str, Any]], Instruction]:
    def read(operands: _Operands, common: dict[str, Any]) -> Instruction:
        padding = operands.ask("pad", _padding, "four numbers: above, below, left, right", NO_PADDING)
        return Load(memory, **_transfer(operands), padding=padding, **common)

    return read


def _alu_reader(operation: AluOperation) -> Callable[[_Operands, dict[str, Any]], Instruction]:
    def read(operands: _Operands, common: dict[str, Any]) -> Instruction:
        immediate = operands.ask("imm", _signed, "a number, which may be negative", None)
        return Alu(**_looped(operands), operation=operation, immediate=immediate, **common)

    return read


_READERS: Mapping[str, Callable[[_Operands, dict[str, Any]], MicroOp | Instruction]] = {
    "uop": lambda operands, _: MicroOp(operands.number("dst"), operands.number("src"), operands.number("wgt")),
    **{f"load.{memory}": _load_reader(memory) for memory in LOADED},
    "gemm": lambda operands, common: Gemm(**_looped(operands), **common),
    "gemm.reset": lambda operands, common: Gemm(**_looped(operands), reset=True, **common),
    **{f"alu.{operation.value}": _alu_reader(operation) for operation in AluOperation},
    "store": lambda operands, common: Store(**_transfer(operands), **common),
    "finish": lambda _, common: Finish(**common),
}
"""The first word of a line -> what reads the rest of it."""


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]+", text) else None


def _signed(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else None


def _range(text: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"([0-9]+):([0-9]+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _loop(text: str) -> Loop | None:
    found = re.fullmatch(r"([0-9]+):dst\+([0-9]+),src\+([0-9]+),wgt\+([0-9]+)", text)
    return Loop(*map(int, found.groups())) if found else None


def _padding(text: str) -> Padding | None:
    found = re.fullmatch(r"([0-9]+),([0-9]+),([0-9]+),([0-9]+)", text)
    return Padding(*map(int, found.groups())) if found else None


def _queues(text: str) -> Queues | None:
    named = {queue.value: queue for queue in Queue}
    words = text.split(",")
    return frozenset(named[word] for word in words) if named.keys() >= set(words) else None
