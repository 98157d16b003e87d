"""What stands in for native code of a program on tables in tests: the interpreter, which takes no time to begin."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.bag import BagType, table_of
from tilework.frontends.sklearn.engine import Engine
from tilework.interpreters.graph import run_function


class Interpreted:
    """Called as a compiled module is, with arrays block after block."""

    def __init__(self, module: ModuleOp):
        self._module = module
        [self._function] = module.ops

    @property
    def inputs(self) -> list[Any]:
        return []

    @property
    def outputs(self) -> list[Any]:
        return []

    def __call__(self, *arrays: np.ndarray) -> Any:
        given, left = [], iter(arrays)
        for type_ in self._function.function_type.inputs:
            given.append(table_of(type_, left) if isinstance(type_, BagType) else next(left))
        made = run_function(self._module, "main", given, {})
        return made[0] if len(made) == 1 else tuple(made)


INTERPRETED = Engine(Interpreted)  # type: ignore[arg-type]
"""Runs programs so."""
