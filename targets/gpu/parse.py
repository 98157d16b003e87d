"""The text form of devices with blocks of threads: "opencl", "opencl -threads=128", "cuda -arch=sm_90"."""

from __future__ import annotations

from dataclasses import replace

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.targets.gpu.devices import DEVICES, NVIDIA
from tilework.targets.gpu.target import GpuTarget

KINDS = tuple(DEVICES)
"""The words that such texts begin with."""

_NUMBERS = {"-threads": "threads", "-shared-kib": "shared_kib", "-warp": "warp", "-cores": "cores"}


def parse(kind: str, words: list[str], text: str) -> GpuTarget:
    """The device of a target's text: numbers that differ from what nearly every one has, or one of its architecture."""
    device = DEVICES[kind]
    options = [*_NUMBERS, "-arch"] if device.arch else [*_NUMBERS]
    given: dict[str, str | int] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in options:
            raise UsageError(f"target '{text}': unknown option '{word}'; the options are {', '.join(options)}")
        name = _NUMBERS.get(key, "arch")
        if name in given:
            raise UsageError(f"target '{text}': option '{key}' is given twice")
        given[name] = _arch(value, text) if name == "arch" else _number(key, value, text)
    arch = given.get("arch")
    usual = {"cores": NVIDIA[arch]} if isinstance(arch, str) else {}
    return replace(device, **(usual | given))


def _number(key: str, value: str, text: str) -> int:
    if not (value.isascii() and value.isdecimal()) or int(value) < 1:
        raise UsageError(f"target '{text}': {key} needs a number that is 1 or more, as in {key}=64")
    return int(value)


def _arch(value: str, text: str) -> str:
    if value not in NVIDIA:
        hint = did_you_mean(value, NVIDIA) or f"; there are {', '.join(NVIDIA)}"
        raise UsageError(f"target '{text}': there is no architecture '{value}'{hint}")
    return value


def check_names(target: GpuTarget) -> None:
    """Nothing is to be checked: what a text names was looked up."""
