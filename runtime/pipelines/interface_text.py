"""Interfaces of programs on tables as JSON, for files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.interface import Input, Interface, Output, Part


def to_json(interface: Interface) -> dict[str, Any]:
    """An interface as what JSON can hold: NaN is one of its numbers here."""
    output = interface.output
    return {
        "keys": interface.keys,
        "named": interface.named,
        "any_order": interface.any_order,
        "parts": [[_input(given) for given in part.inputs] for part in interface.parts],
        "output": {"kind": output.kind, "classes": output.classes, "dtype": output.dtype},
    }


def from_json(text: Any) -> Interface:
    """The interface of which `to_json` made this. Raises KeyError for anything else."""
    output = text["output"]
    return Interface(
        tuple(text["keys"]),
        text["named"],
        tuple(Part(tuple(_read_input(given) for given in part)) for part in text["parts"]),
        Output(output["kind"], tuple(output["classes"]), output["dtype"]),
        text["any_order"],
    )


def _input(given: Input) -> dict[str, Any]:
    found = given.dictionary
    codes = None if found is None else asdict(found)
    return {
        "key": given.key,
        "dtype": given.dtype,
        "dictionary": codes,
        "finite": given.finite,
        "optional": given.optional,
    }


def _read_input(text: Any) -> Input:
    codes = text["dictionary"]
    found = None if codes is None else _dictionary(**codes)
    return Input(text["key"], text["dtype"], found, text["finite"], text["optional"])


def _dictionary(values: list[Any], groups: list[int] | None, **rest: Any) -> Dictionary:
    return Dictionary(tuple(values), groups=None if groups is None else tuple(groups), **rest)
