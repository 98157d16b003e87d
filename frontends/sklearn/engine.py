"""What programs of estimators are run by: a compiler, and this process or the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilework.frontends.sklearn.emitter import Array
from tilework.frontends.sklearn.programs import Compile
from tilework.frontends.sklearn.training_data import Rows
from tilework.runtime.module import Module
from tilework.runtime.pipelines.cluster import Pass, states_on
from tilework.runtime.pipelines.folding import State, as_state, group_states
from tilework.runtime.pipelines.interface import Part


@dataclass(frozen=True)
class Engine:
    """compile: what makes native code of a module. client: of Dask, whose workers pass over rows; None for here."""

    compile: Compile
    client: Any = None

    def states(
        self, native: Module, data: Rows, parts: tuple[Part, ...], shift: Array, groups: Array, count: int
    ) -> list[State]:
        """What native code tells of each group of rows, from 0 to below a count."""
        if self.client is not None:
            travels = Pass(native, parts, (shift,), count)
            return states_on(self.client, travels, data.frame, data.target, groups)
        return group_states(data.blocks(parts), groups, count, lambda arrays: as_state(native(*arrays, shift)))
