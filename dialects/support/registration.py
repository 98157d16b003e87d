"""Which dialects there are: found by file, imported when first used.

A dialect is a file or folder `dialects/<name>`, or `dialects/isa/<name>` for what one machine's units do, that says
`Dialect("<name>"`; the value is a `Dialect` of that name at the top of the module. A new dialect needs no list.

A plugin brings dialects of its own in the same way. Operations that it has in the files of a folder `dialects/<name>`,
where `<name>` is a dialect of the tree, belong to that dialect.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from inspect import isabstract, isclass

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect, Operation

from tilework.plugins.packages import Folder, by_name, folders_of


def tilework_dialects() -> dict[str, Callable[[], Dialect]]:
    """Our own dialects by name, each as a function that imports it."""
    return {name: partial(load_dialect, name) for name in dialect_modules()}


def load_dialect(name: str) -> Dialect:
    """Import our dialect `name`, with the operations that plugins add to it."""
    module = importlib.import_module(dialect_modules()[name])
    found = [value for value in vars(module).values() if isinstance(value, Dialect) and value.name == name]
    if len(found) != 1:
        raise ImportError(f"{module.__name__} must hold one Dialect named '{name}', it holds {len(found)}")
    added = _added_operations(name)
    if not added:
        return found[0]
    operations = [*found[0].operations, *added]
    named = by_name("operations", ((op.name, op) for op in operations), lambda op: op.__module__)
    return Dialect(name, [*named.values()], [*found[0].attributes])


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context in which every dialect of ours and of xDSL is registered and none is loaded."""
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


def _added_operations(dialect: str) -> list[type[Operation]]:
    """The operations that plugins have in folders of a dialect that is not theirs."""
    home = dialect_modules()[dialect]
    return _operations_in(dialect, tuple(f for f in folders_of(f"dialects/{dialect}") if f.module != home))


@cache
def _operations_in(dialect: str, folders: tuple[Folder, ...]) -> list[type[Operation]]:
    found: list[type[Operation]] = []
    for module in (folder.load(name) for folder in folders for name in folder.modules()):
        for member in vars(module).values():
            if isclass(member) and issubclass(member, Operation) and not isabstract(member):
                if member.__module__ == module.__name__ and member.name.startswith(f"{dialect}."):
                    found.append(member)
    return found
