"""The text form of accelerators: "vdla", "vdla -machine=vta", "vdla -queue=1 -inp-kib=8"."""

from __future__ import annotations

from dataclasses import replace

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.targets.vdla.machines import MACHINES
from tilework.targets.vdla.target import NUMBERS, VdlaTarget, option_of

KINDS = ("vdla",)
"""The word that such a text begins with."""

_MACHINE = "-machine"
_OPTIONS = {option_of(number): number for number in NUMBERS}


def parse(kind: str, words: list[str], text: str) -> VdlaTarget:
    """The accelerator of a target's text: one with a name, and numbers that differ from its own."""
    options = _options(words, text)
    machine = options.pop(_MACHINE, next(iter(MACHINES)))
    if machine not in MACHINES:
        known = ", ".join(MACHINES)
        raise UsageError(f"{_MACHINE}={machine}: the known machines are {known}{did_you_mean(machine, MACHINES)}")
    numbers = {_OPTIONS[key]: _number(key, value) for key, value in options.items()}
    return _checked(replace(MACHINES[machine], kind=kind, **numbers))


def check_names(target: VdlaTarget) -> None:
    """Nothing is to be checked: the name of a machine is known when its text has been read."""


def _options(words: list[str], text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key != _MACHINE and key not in _OPTIONS:
            known = ", ".join((_MACHINE, *_OPTIONS))
            raise UsageError(f"target '{text}': unknown option '{word}'; the options are {known}")
        if not equals or not value:
            raise UsageError(f"target '{text}': option '{key}' needs a value, as in {key}=...")
        if key in options:
            raise UsageError(f"target '{text}': option '{key}' is given twice")
        options[key] = value
    return options


def _number(key: str, value: str) -> int:
    least = 0 if key == "-dram-latency" else 1
    if not (value.isascii() and value.isdecimal()) or int(value) < least:
        raise UsageError(f"{key}={value}: expected a number that is {least} or more")
    return int(value)


def _checked(target: VdlaTarget) -> VdlaTarget:
    """The target. Raises UsageError where a memory has no room for a single tile."""
    for memory in target.memories.values():
        if not memory.depth:
            raise UsageError(
                f"target '{target}': the memory '{memory.name}' has no room for one tile of {memory.tile_bytes} bytes"
            )
    return target
