"""The text form of devices with blocks of threads: "opencl", "opencl -threads=128"."""

from __future__ import annotations

from dataclasses import replace

from tilework.algebra.errors import UsageError
from tilework.targets.gpu.target import GpuTarget

DEVICES = {"opencl": GpuTarget("opencl", cores=1, threads=256, shared_kib=32, warp=1)}
"""By kind, what nearly every device of it has."""

KINDS = tuple(DEVICES)
"""The words that such texts begin with."""

_OPTIONS = {"-threads": "threads", "-shared-kib": "shared_kib", "-warp": "warp"}


def parse(kind: str, words: list[str], text: str) -> GpuTarget:
    """The device of a target's text: numbers that differ from what nearly every one has."""
    numbers: dict[str, int] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in _OPTIONS:
            raise UsageError(f"target '{text}': unknown option '{word}'; the options are {', '.join(_OPTIONS)}")
        if not (value.isascii() and value.isdecimal()) or int(value) < 1:
            raise UsageError(f"target '{text}': {key} needs a number that is 1 or more, as in {key}=64")
        if _OPTIONS[key] in numbers:
            raise UsageError(f"target '{text}': option '{key}' is given twice")
        numbers[_OPTIONS[key]] = int(value)
    return replace(DEVICES[kind], **numbers)


def check_names(target: GpuTarget) -> None:
    """Nothing is to be checked: a text names no machine."""
