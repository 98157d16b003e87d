"""What programs of estimators are run by: a compiler, and this process or the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.sklearn.emitter import Array
from tilework.frontends.sklearn.partitions import PartitionedRows, PartitionedRowsAndTarget
from tilework.frontends.sklearn.programs import Compile
from tilework.frontends.sklearn.training_data import Rows, RowsAndTarget
from tilework.runtime.module import Module
from tilework.runtime.pipelines.cluster import Pass
from tilework.runtime.pipelines.columns import is_partitioned
from tilework.runtime.pipelines.folding import State, as_state, group_states
from tilework.runtime.pipelines.interface import Part
from tilework.runtime.pipelines.lineage_cache import LineageCache


@dataclass(frozen=True)
class Engine:
    """compile: what makes native code of a module. client: of Dask, whose workers pass over rows; None for here.

    cache: where what is computed from all rows of a search is kept for later ones; None for nowhere.
    """

    compile: Compile
    client: Any = None
    cache: LineageCache | None = None

    def rows(self, given: Any) -> Rows:
        """What something is fitted to. Raises Unsupported, and ValueError for what scikit-learn refuses."""
        return PartitionedRows(given, self._client_for(given)) if is_partitioned(given) else Rows(given)

    def rows_and_target(self, given: Any, target: Any) -> RowsAndTarget:
        """The same with a target of one number for each row."""
        if not is_partitioned(given):
            return RowsAndTarget(given, target, self.cache)
        return PartitionedRowsAndTarget(given, self._client_for(given), target)

    def _client_for(self, given: Any) -> Any:
        if self.client is None:
            raise UsageError("a frame of Dask is given: pipelines.optimize(..., client=Client(...)) says who holds it")
        return self.client

    def states(
        self, native: Module, data: Rows, parts: tuple[Part, ...], shift: Array, groups: Array, count: int
    ) -> list[State]:
        """What native code tells of each group of rows, from 0 to below a count."""
        if self.client is not None:
            return data.states_on(self.client, Pass(native, parts, (shift,), count), groups)
        return group_states(data.blocks(parts), groups, count, lambda arrays: as_state(native(*arrays, shift)))
