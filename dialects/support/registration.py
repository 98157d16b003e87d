"""Which dialects there are: found by file, imported when first used.

A dialect is a file or folder `dialects/<name>`, or `dialects/isa/<name>` for what one machine's units do, that says
`Dialect("<name>"`; the value is a `Dialect` of that name at the top of the module. A new dialect needs no list.

A plugin brings dialects of its own in the same way. Operations that it has in the files of a folder `dialects/<name>`,
where `<name>` is a dialect of the tree, belong to that dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from inspect import isabstract, isclass
from typing import Any, TypeGuard

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect, Operation

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import Folder, by_name, folders_of, import_part, plugins


def tilework_dialects() -> dict[str, Callable[[], Dialect]]:
    """Our own dialects by name, each as a function that imports it."""
    return {name: partial(load_dialect, name) for name in dialect_modules()}


def load_dialect(name: str) -> Dialect:
    """Import our dialect `name`, with the operations that plugins add to it."""
    return _with_added(name, _added_folders(name))


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context in which every dialect of ours and of xDSL is registered and none is loaded.

    Those that plugins add to are looked at: raises TileworkError where an operation's name is taken.
    """
    for name in dialect_modules() if plugins() else ():
        if _added_folders(name):
            load_dialect(name)
    context = Context(allow_unregistered=allow_unregistered)
    for name, factory in {**get_all_dialects(), **tilework_dialects()}.items():
        context.register_dialect(name, factory)
    return context


def dialect_modules() -> dict[str, str]:
    """The module of each of our dialects and of plugins', by the dialect's name."""
    return _modules_in((*folders_of("dialects"), *folders_of("dialects/isa")))


@cache
def _modules_in(folders: tuple[Folder, ...]) -> dict[str, str]:
    found = [(name, f"{folder.module}.{name}") for folder in folders for name in _dialects_in(folder)]
    return by_name("dialects", sorted(found), str)


def _dialects_in(folder: Folder) -> Iterator[str]:
    files = {inside.path.name: inside.path / "__init__.py" for inside in folder.folders()}
    files |= {name: folder.path / f"{name}.py" for name in folder.modules()}
    for name, file in files.items():
        if file.exists() and re.search(rf"\bDialect\(\s*\"{name}\"", file.read_text(encoding="utf-8")):
            yield name


def _own_dialect(name: str) -> Dialect:
    module = import_part(dialect_modules()[name])
    found = [value for value in vars(module).values() if isinstance(value, Dialect) and value.name == name]
    if len(found) != 1:
        raise TileworkError(f"{module.__name__} must hold one Dialect named '{name}', it holds {len(found)}")
    return found[0]


def _added_folders(dialect: str) -> tuple[Folder, ...]:
    """The folders in which plugins have operations for a dialect that is not theirs."""
    home = dialect_modules()[dialect]
    return tuple(folder for folder in folders_of(f"dialects/{dialect}") if folder.module != home)


@cache
def _with_added(name: str, folders: tuple[Folder, ...]) -> Dialect:
    """The dialect with the operations in the files of further folders."""
    dialect, modules = _own_dialect(name), [folder.load(file) for folder in folders for file in folder.modules()]
    if not modules:
        return dialect
    added = [op for module in modules for op in vars(module).values() if _is_operation(op, name, module.__name__)]
    named = by_name("operations", ((op.name, op) for op in (*dialect.operations, *added)), lambda op: op.__module__)
    return Dialect(name, [*named.values()], [*dialect.attributes])


def _is_operation(value: Any, dialect: str, module: str) -> TypeGuard[type[Operation]]:
    """Whether a value of a module is an operation of a dialect that the module itself defines."""
    if not isclass(value) or not issubclass(value, Operation) or isabstract(value) or value.__module__ != module:
        return False
    return value.name.startswith(f"{dialect}.")
