"""The tuner: it finds schedules by measuring candidates that rules propose and a cost model ranks.

`tilework.tune` is the way in. `template` and `get_config` are for templates as in AutoTVM.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilework.tuning.programs import Tuned
    from tilework.tuning.templates.template import get_config, template

__all__ = ["Tuned", "get_config", "template"]

_HOMES = {"Tuned": "tilework.tuning.programs"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: most of those who import a part of the tuner need no te."""
    if name not in __all__:
        raise AttributeError(f"module 'tilework.tuning' has no attribute '{name}'")
    return getattr(import_module(_HOMES.get(name, "tilework.tuning.templates.template")), name)
