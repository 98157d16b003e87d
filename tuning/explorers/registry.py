"""The explorers by name: a class in a file of `tuning/explorers/`, of plugins too, is named as its file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.plugins.packages import Folder, folders_of
from tilework.rules.registry import classes_in
from tilework.tuning.explorers.base import Explorer


def explorer_named(name: str) -> type[Explorer]:
    """The class of an explorer. Raises UsageError where there is none of that name."""
    known = _explorers_in(folders_of("tuning/explorers"))
    if name not in known:
        raise UsageError(f"explorer '{name}': they are {', '.join(sorted(known))}{did_you_mean(name, known)}")
    return known[name]


@cache
def _explorers_in(folders: tuple[Folder, ...]) -> Mapping[str, type[Explorer]]:
    return {explorer.__module__.rpartition(".")[2]: explorer for explorer in classes_in(folders, Explorer)}
