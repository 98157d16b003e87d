"""Interfaces of programs on tables as JSON, for files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.interface import Input, Interface, Output, Part
from tilework.runtime.pipelines.sparse import Codes, SparseColumns


def to_json(interface: Interface) -> dict[str, Any]:
    """An interface as what JSON can hold: NaN is one of its numbers here."""
    output = interface.output
    return {
        "keys": interface.keys,
        "named": interface.named,
        "any_order": interface.any_order,
        "parts": [[_input(given) for given in part.inputs] for part in interface.parts],
        "output": {"kind": output.kind, "classes": output.classes, "dtype": output.dtype, "sparse": _sparse(output)},
    }


def from_json(text: Any) -> Interface:
    """The interface of which `to_json` made this. Raises KeyError for anything else."""
    output = text["output"]
    return Interface(
        tuple(text["keys"]),
        text["named"],
        tuple(Part(tuple(_read_input(given) for given in part)) for part in text["parts"]),
        Output(output["kind"], tuple(output["classes"]), output["dtype"], _read_sparse(output["sparse"])),
        text["any_order"],
    )


def _sparse(output: Output) -> dict[str, Any] | None:
    return None if output.sparse is None else asdict(output.sparse)


def _read_sparse(text: Any) -> SparseColumns | None:
    if text is None:
        return None
    codes = tuple(Codes(each["array"], each["place"], tuple(each["columns"])) for each in text["codes"])
    return SparseColumns(text["form"], text["width"], tuple(text["numbers"]), codes)


def _input(given: Input) -> dict[str, Any]:
    found = given.dictionary
    codes = None if found is None else asdict(found)
    return {
        "key": given.key,
        "dtype": given.dtype,
        "dictionary": codes,
        "finite": given.finite,
        "optional": given.optional,
        "missing": given.missing,
    }


def _read_input(text: Any) -> Input:
    codes = text["dictionary"]
    found = None if codes is None else _dictionary(**codes)
    return Input(text["key"], text["dtype"], found, text["finite"], text["optional"], text["missing"])


def _dictionary(values: list[Any], groups: list[int] | None, **rest: Any) -> Dictionary:
    return Dictionary(tuple(values), groups=None if groups is None else tuple(groups), **rest)
