"""The text form of targets: its first word names a kind, and the family of that kind reads the rest."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from tilework.algebra.errors import TileworkError, UsageError
from tilework.plugins.packages import Folder, by_name, folders_of, member_of, one_line, tree_folders
from tilework.targets.base import Target

HOST = "host"
"""The text that means this machine; `str` of its target says which machine that is."""

_HOST_KIND = "llvm"

EXAMPLE = "llvm -mcpu=haswell"
"""A target that names its machine, for messages and help texts."""


def parse_target(text: str) -> Target:
    """The target that a text such as "llvm -mcpu=haswell" names; "llvm" alone, and "host", are this machine.

    Raises UsageError that names the word that is wrong and the words that would do.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f'a target is a text such as "llvm", not a value of type {type(text).__name__}')
    return _parsed(text)


def target_to_compile_for(text: str) -> Target:
    """Parse a target as `parse_target` does, but raise UsageError, too, for a machine that the kind's code generator
    does not know."""
    target = parse_target(text)
    member_of(_families(folders_of("targets"))[target.kind], "check_names")(target)
    return target


def target_kinds() -> list[str]:
    """The kinds of targets that there are, those of plugins among them: the first words of their texts."""
    return sorted(_families(folders_of("targets")))


@cache
def _parsed(text: str) -> Target:
    kind, *words = text.split() or [""]
    if kind == HOST:
        if words:
            raise UsageError(f"target '{text}': '{HOST}' takes no options; write '{_HOST_KIND} {' '.join(words)}'")
        kind = _HOST_KIND
    family = _families(tree_folders("targets")).get(kind) or _families(folders_of("targets")).get(kind)
    if family is None:
        *most, last = (f"'{name}'" for name in target_kinds())
        known = f"{', '.join(most)} and {last}"
        raise UsageError(f'unknown target \'{kind}\': the known kinds are {known}, as in "{_HOST_KIND}" or "{EXAMPLE}"')
    return _read(family, kind, words, text)


def _read(family: ModuleType, kind: str, words: list[str], text: str) -> Target:
    """What a family reads of a text. Raises TileworkError that names a plugin's file where that fails."""
    try:
        target = member_of(family, "parse")(kind, words, text)
        if not isinstance(target, Target):
            raise TypeError(f"it gives {target!r}, which is no Target")
    except TileworkError:
        raise
    except Exception as error:
        raise TileworkError(f"'parse' of {family.__name__} fails for '{text}': {one_line(error)}") from error
    return target


@cache
def _families(roots: tuple[Folder, ...]) -> dict[str, ModuleType]:
    """Kind -> the module of its family that reads such texts: `parse.py` in the family's folder.

    It has the names of its `KINDS`, a function `parse` that reads a text, and `check_names` that may refuse a target.
    """
    families = [family for root in roots for family in root.folders() if "parse" in family.modules()]
    modules = [family.load("parse") for family in families]
    return by_name(
        "kinds of targets", ((kind, m) for m in modules for kind in member_of(m, "KINDS")), lambda m: m.__name__
    )
