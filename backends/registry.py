"""Which back ends there are: found by folder, imported when one is asked for."""

from __future__ import annotations

from functools import cache
from inspect import isabstract, isclass

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.backends.base import Backend
from tilework.plugins.packages import Folder, by_name, folders_of
from tilework.targets import Target


def backends() -> dict[str, Backend]:
    """All back ends, those of plugins too, by the kind of target that they serve."""
    return _backends_in(folders_of("backends"))


def backend_for(target: Target) -> Backend:
    """The back end for a target. Raises UsageError for one that nothing makes code for."""
    known = backends()
    if target.kind not in known:
        kinds = ", ".join(f"'{kind}'" for kind in sorted(known))
        raise UsageError(f"no back end makes code for targets of kind '{target.kind}'; there are some for {kinds}")
    return known[target.kind]


def backend_writing(format: str) -> Backend:
    """The back end that writes a format of `opt-tool -t`. Raises UsageError for a format that there is not."""
    known = {name: backend for backend in backends().values() for name in backend.formats}
    if format not in known:
        raise UsageError(
            f"-t {format}: unknown format; the formats are {', '.join(['mlir', *known])}"
            f"{did_you_mean(format, ['mlir', *known])}"
        )
    return known[format]


@cache
def _backends_in(roots: tuple[Folder, ...]) -> dict[str, Backend]:
    folders = [folder for root in roots for folder in root.folders() if "backend" in folder.modules()]
    found = [_backend_in(folder) for folder in folders]
    return by_name("back ends", ((backend.kind, backend) for backend in found), lambda b: type(b).__module__)


def _backend_in(folder: Folder) -> Backend:
    module = folder.load("backend")
    members = [m for m in vars(module).values() if isclass(m) and issubclass(m, Backend) and not isabstract(m)]
    own = [member for member in members if member.__module__ == module.__name__]
    if len(own) != 1:
        raise TileworkError(f"{module.__name__} must hold one Backend, it holds {len(own)}")
    return own[0]()
