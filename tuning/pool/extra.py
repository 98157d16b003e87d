"""The packages that pools and boards need, which the core does without."""

from __future__ import annotations

from importlib.util import find_spec

from tilework.algebra.errors import TileworkError

PACKAGES = ("distributed", "asyncssh", "cryptography")


def need_packages() -> None:
    """Raise TileworkError, with what to install, where one of the packages is not there."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        what = f"pools and boards need {', '.join(missing)}, which is not installed"
        raise TileworkError(f"{what}: pip install 'tilework[distributed]'")
