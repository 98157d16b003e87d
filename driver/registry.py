"""Which passes there are: found by file, imported when first used.

A pass lives in `transforms/<level>/<file>.py` under the name `<level>-<file>` or `<file>`, or in `lowering/<file>.py`
under the name `<file>`, underscores turned into dashes; in a plugin as in the tree. A file holds a pass if it says
`name = "<that name>"`, in a class that is called after the file; the other files there are helpers. A new pass needs no
list.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache, partial
from types import ModuleType

from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes

from tilework.algebra.errors import TileworkError
from tilework.driver.pipeline_text import PassFactory
from tilework.driver.upstream_passes import Canonicalize
from tilework.plugins.packages import Folder, by_name, folders_of, import_part
from tilework.transforms.base import TileworkPass

PASS = re.compile(r'^class (\w+)\((?:\w+Pass\b[^)]*)\):\n(?:(?:    .*)?\n)*?    name = "([^"]+)"', re.MULTILINE)
"""A class of passes with its name, as `transforms/` and `lowering/` write them."""


def tilework_passes() -> dict[str, PassFactory]:
    """Our own passes and those of plugins by name, each as a function that imports its class."""
    return {name: partial(load_pass, module, name) for name, module in _pass_modules().items()}


def all_passes() -> dict[str, PassFactory]:
    """Our own passes and xDSL's, some of which are our own kinds of them; and what applies one pattern alone."""
    ours: dict[str, PassFactory] = {
        "canonicalize": lambda: Canonicalize,
        "apply-pattern": _apply_pattern,
        "apply-pdl": _apply_pdl,
    }
    return {**get_all_passes(), **ours, **tilework_passes()}


def _apply_pattern() -> type[ModulePass]:
    from tilework.driver.apply_pattern import ApplyPattern  # which asks for the passes

    return ApplyPattern


def _apply_pdl() -> type[ModulePass]:
    from tilework.driver.apply_pdl import ApplyPdl  # which takes a while to import, with xDSL's interpreter

    return ApplyPdl


def load_pass(module_name: str, name: str) -> type[TileworkPass]:
    """Import the class of the pass `name` from its module."""
    module = import_part(module_name)
    found = [value for value in _pass_types(module) if value.name == name]
    if len(found) != 1:
        raise TileworkError(f"{module_name} must hold one TileworkPass named '{name}', it holds {len(found)}")
    stem = module_name.rpartition(".")[2]
    if found[0].__name__.lower() != stem.replace("_", ""):
        wanted = "".join(word.capitalize() for word in stem.split("_"))
        raise TileworkError(
            f"{module_name} holds the pass '{name}' in a class {found[0].__name__}: file, class and name must agree; "
            f"call the class {wanted}"
        )
    return found[0]


def _pass_types(module: ModuleType) -> Iterator[type[TileworkPass]]:
    """The passes that `module` itself defines."""
    for _, value in inspect.getmembers(module, inspect.isclass):
        if issubclass(value, TileworkPass) and value.__module__ == module.__name__:
            yield value


def _pass_modules() -> dict[str, str]:
    """The name of the module of each pass, by the pass's name. Raises TileworkError where a plugin's name is taken."""
    return _modules_in(folders_of("transforms"), folders_of("lowering"))


@cache
def _modules_in(transforms: tuple[Folder, ...], lowering: tuple[Folder, ...]) -> dict[str, str]:
    found = [pass_ for folder in lowering for pass_ in _passes_in(folder, prefix="")]
    for level in (level for folder in transforms for level in folder.folders()):
        found += _passes_in(level, prefix=f"{level.path.name}-")
    return by_name("passes", sorted(found), str)


def _passes_in(folder: Folder, prefix: str) -> Iterator[tuple[str, str]]:
    for file in folder.modules():
        stem, text = file.replace("_", "-"), (folder.path / f"{file}.py").read_text(encoding="utf-8")
        names = {f"{prefix}{stem}", stem}
        yield from ((name, f"{folder.module}.{file}") for name in names if f'    name = "{name}"' in text)
        for class_name, name in PASS.findall(text):
            if name not in names:
                expected = " or ".join(f"'{known}'" for known in sorted(names))
                raise TileworkError(
                    f"{folder.module}.{file} holds a pass {class_name} named '{name}': file, class and name must "
                    f"agree; a pass of this file is named {expected}"
                )
