"""Which plugins there are, and the folders in which Tilework looks for its parts: its own, and those of plugins.

A plugin is a Python package with folders of the same names as Tilework's: a pass lies in `transforms/<level>/`, a rule
in `rules/<family>/`, a back end in `backends/<name>/`. It needs no list and no registration. Installed packages name
themselves under the entry point group `tilework.plugins`, others are named by `load_plugin`, or by the environment
variable TILEWORK_PLUGINS with the system's separator of paths between them.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from tilework.algebra.errors import TileworkError, UsageError

GROUP = "tilework.plugins"
"""The group of entry points that name plugins."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Plugin:
    """A package that has been imported. root: its folder."""

    name: str
    root: Path

    @property
    def given(self) -> str:
        """What another process can import it by, whatever is on its path."""
        return self.name if "." in self.name else str(self.root)


@dataclass(frozen=True)
class Folder:
    """A folder with Python files, and the name under which these are imported."""

    module: str
    path: Path

    def folders(self) -> list[Folder]:
        """The folders inside, by name."""
        inside = sorted(path for path in self.path.iterdir() if path.is_dir() and path.name.isidentifier())
        return [Folder(f"{self.module}.{path.name}", path) for path in inside if path.name != "__pycache__"]

    def modules(self) -> list[str]:
        """The names of the modules that lie in it, folders not among them."""
        return sorted(path.stem for path in self.path.glob("*.py") if path.stem != "__init__")

    def load(self, name: str) -> ModuleType:
        """Import a module that lies in it. Raises as `import_part` does."""
        return import_part(f"{self.module}.{name}")


_TREE = Plugin("tilework", Path(__file__).parents[1])
_given: dict[str, Plugin] = {}
"""The plugins of `load_plugin`, by name."""


def load_plugin(given: str | Path) -> None:
    """Use a plugin in this process: a package by its module's name, or the path of its folder.

    A text with a separator of paths in it, such as "./mine", is a path. Raises TileworkError, in one line, for what is
    no package or cannot be imported.
    """
    if not isinstance(given, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f"a plugin is named by a module or a path, not by a value of type {type(given).__name__}")
    plugin = _imported(str(given.resolve()) if isinstance(given, Path) else given)
    known = {known.name: known for known in plugins()}.get(plugin.name, plugin)
    if known.root != plugin.root:
        raise TileworkError(f"plugin '{given}' is called '{plugin.name}', as is the one in {known.root}: rename one")
    if plugin not in _found():
        _given[plugin.name] = plugin


@contextmanager
def plugins_until_end() -> Generator[None]:
    """Forget at the end of the block the plugins that `load_plugin` was given inside: what a command line asks for."""
    before = dict(_given)
    try:
        yield
    finally:
        _given.clear()
        _given.update(before)


def plugins() -> tuple[Plugin, ...]:
    """The plugins that are installed or that the environment names, then those that this process has been given."""
    return (*_found(), *_given.values())


def child_environment() -> dict[str, str]:
    """The environment for a process that shall have the same plugins."""
    named = [*_named_in_environment(), *(plugin.given for plugin in _given.values())]
    return {**os.environ, "TILEWORK_PLUGINS": os.pathsep.join(named)}


def folders_of(part: str) -> tuple[Folder, ...]:
    """The folder of that name, such as "rules/cpu", in the tree and in every plugin, where they have one."""
    return _folders_in((_TREE, *plugins()), part)


def tree_folders(part: str) -> tuple[Folder, ...]:
    """The folder of the tree alone. Artefacts ask this way, since they run without a look at plugins."""
    return _folders_in((_TREE,), part)


@cache
def _folders_in(packages: tuple[Plugin, ...], part: str) -> tuple[Folder, ...]:
    found = (Folder(f"{package.name}.{part.replace('/', '.')}", package.root / part) for package in packages)
    return tuple(folder for folder in found if folder.path.is_dir())


def import_part(module: str) -> ModuleType:
    """Import a module of the tree or of a plugin. Raises TileworkError for one of a plugin that cannot be imported."""
    try:
        return importlib.import_module(module)
    except TileworkError:
        raise
    except (Exception, SystemExit) as error:  # a plugin may do anything when it is imported
        if module.startswith(f"{_TREE.name}."):
            raise
        raise TileworkError(f"plugin module {module} cannot be imported: {one_line(error)}") from error


def member_of(module: ModuleType, name: str) -> Any:
    """What a module calls by that name. Raises TileworkError where it has nothing of the kind."""
    if not hasattr(module, name):
        raise TileworkError(f"{module.__name__} must define '{name}'")
    return getattr(module, name)


def by_name(what: str, found: Iterable[tuple[str, Found]], place: Callable[[Found], str]) -> dict[str, Found]:
    """What was found, by name. Raises TileworkError that names both places where two have one name."""
    named: dict[str, Found] = {}
    for name, value in found:
        if name in named:
            raise TileworkError(
                f"there are two {what} called '{name}', in {place(named[name])} and in {place(value)}: rename one"
            )
        named[name] = value
    return named


@cache
def _found() -> tuple[Plugin, ...]:
    """The plugins of entry points and of the environment, each once."""
    installed = sorted(point.value for point in entry_points(group=GROUP))
    return tuple(dict.fromkeys(_imported(given) for given in (*installed, *_named_in_environment())))


def _named_in_environment() -> list[str]:
    return [given for given in os.environ.get("TILEWORK_PLUGINS", "").split(os.pathsep) if given]


def _imported(given: str) -> Plugin:
    try:
        module = _module_at(Path(given).resolve()) if _is_path(given) else importlib.import_module(given)
    except TileworkError:
        raise
    except (Exception, SystemExit) as error:  # a plugin may do anything when it is imported
        hint = f"; the folder is given as ./{given}" if not _is_path(given) and Path(given).is_dir() else ""
        raise TileworkError(f"plugin '{given}' cannot be imported: {one_line(error)}{hint}") from error
    if not hasattr(module, "__path__"):
        raise _no_package(given)
    return Plugin(module.__name__, Path(next(iter(module.__path__))).resolve())


def one_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _no_package(given: object) -> TileworkError:
    return TileworkError(f"plugin '{given}' is one file: a plugin is a package, with folders such as rules/cpu")


def _is_path(given: str) -> bool:
    return Path(given).name != given or given.endswith(".py")


def _module_at(path: Path) -> ModuleType:
    """Import the package of a folder under the folder's name, wherever it lies."""
    start = path / "__init__.py"
    if path.suffix == ".py":
        raise _no_package(path)
    if not start.is_file():
        raise TileworkError(f"plugin '{path}' is no package: there is no {start}")
    known = sys.modules.get(path.name)
    if known is not None and Path(str(known.__file__)).resolve() == start:
        return known
    if known is not None or path.name in sys.stdlib_module_names:
        raise TileworkError(f"plugin '{path}' is called '{path.name}', as is another module of Python: rename it")
    spec = importlib.util.spec_from_file_location(path.name, start, submodule_search_locations=[str(path)])
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.name]
        raise
    return module
