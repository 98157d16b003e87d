"""What fitted estimators make of rows: compiled, and where that cannot be whole, compiled around what cannot be."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from tilework.algebra.errors import UsageError
from tilework.frontends.sklearn.compiled_transform import Transform, kind_of
from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.programs import Recent
from tilework.frontends.sklearn.stand_in import StandIn, applied_with
from tilework.frontends.sklearn.training_data import SAMPLE, Rows, require_dense
from tilework.frontends.sklearn.untyped import is_exactly
from tilework.runtime.pipelines.columns import as_rows, is_partitioned, without_na

KINDS = 8
"""For so many kinds of rows, those asked for last, programs are kept."""


class Application:
    """The method `transform` of a fitted estimator. `barriers` names what of it stays scikit-learn's, and why."""

    def __init__(self, fitted: Any, engine: Engine, name: str = "", barriers: list[str] | None = None):
        self.barriers: list[str] = [] if barriers is None else barriers
        self._fitted = fitted
        self._engine = engine
        self._name = name
        self._programs = Recent[tuple[Any, ...], Transform | Unsupported](KINDS)
        self._pieces: dict[str, Application] = {}
        self._sequence: list[Application] = []

    def of_rows(self, rows: Any) -> Any:
        """What is made of rows, of a frame of Dask as an array of Dask. Raises ValueError as scikit-learn does."""
        if is_partitioned(rows):
            return self._of_partitions(rows)
        program = self._for(rows)
        return self._apart(rows, program) if isinstance(program, Unsupported) else program.of_rows(rows)

    def _of_partitions(self, rows: Any) -> Any:
        compiled = self._for(without_na(rows.head(SAMPLE, npartitions=-1, compute=True)))
        if isinstance(compiled, Unsupported):
            raise UsageError(f"partitions are transformed by compiled code alone: {compiled}")
        nothing = compiled.of_rows(rows.head(1, npartitions=-1, compute=True))[:0]
        return rows.map_partitions(partial(compiled.of_partition, nothing=nothing), meta=nothing)

    def of_data(self, data: Rows, example: Any) -> Any:
        """What is made of the rows that the estimator is fitted to, which are here.

        example: what it makes of a few of them; None where nobody knows.
        """
        program = self._for(data.frame, example)
        return self._apart(data.frame, program) if isinstance(program, Unsupported) else program.of_data(data)

    def _for(self, rows: Any, example: Any = None) -> Transform | Unsupported:
        """The compiled transform for rows of this kind; why there is none where it cannot be compiled whole."""
        try:
            require_dense(rows)
        except Unsupported as why:
            return why
        rows = as_rows(rows)
        kind = kind_of(rows)
        return self._programs.get(kind) or self._programs.put(kind, self._made_for(rows, example))

    def _made_for(self, rows: Any, example: Any) -> Transform | Unsupported:
        try:
            return Transform.to(self._fitted, rows, self._engine, example)
        except Unsupported as why:
            return why

    def _apart(self, rows: Any, why: Unsupported) -> Any:
        """What the parts of a composition make of rows, each compiled as far as it can be."""
        if is_exactly(self._fitted, Pipeline):
            return self._steps(rows)
        if is_exactly(self._fitted, ColumnTransformer) or is_exactly(self._fitted, FeatureUnion):
            return self._branches(rows)
        made = self._fitted.transform(rows)
        barrier = f"{self._name}: {why}" if self._name else str(why)
        if barrier not in self.barriers:
            self.barriers.append(barrier)
        return made

    def _steps(self, rows: Any) -> Any:
        if self._sequence:
            for piece in self._sequence:
                rows = piece.of_rows(rows)
            return rows
        left = [(name, inner) for name, inner in self._fitted.steps if inner is not None and inner != "passthrough"]
        sequence, most = list[Application](), len(left) - 1  # all of them are refused already
        while left:
            piece, count = self._first_steps(left[:most], rows)
            rows, left = piece.of_rows(rows), left[count:]
            sequence.append(piece)
            most = len(left)
        self._sequence = sequence  # only now: steps that refuse rows leave none behind
        return rows

    def _first_steps(self, left: list[Any], rows: Any) -> tuple[Application, int]:
        """What applies as many of the first of some steps as can be compiled together, but at least one; how many."""
        for count in range(len(left), 1, -1):
            piece = Application(Pipeline(left[:count]), self._engine, self._name, self.barriers)
            if isinstance(piece._for(rows), Transform):
                return piece, count
        return self._piece(*left[0]), 1

    def _branches(self, rows: Any) -> Any:
        own = "transformers_" if is_exactly(self._fitted, ColumnTransformer) else "transformer_list"
        parts: dict[str, StandIn] = {}
        for name, inner, *_ in getattr(self._fitted, own):
            if not isinstance(inner, str):
                parts[name] = StandIn(apply=self._piece(name, inner).of_rows)
        return applied_with(self._fitted, parts, rows)

    def _piece(self, name: str, fitted: Any) -> Application:
        if name not in self._pieces:
            whole = f"{self._name}.{name}" if self._name else name
            self._pieces[name] = Application(fitted, self._engine, whole, self.barriers)
        return self._pieces[name]
