"""Fits of which some steps stay scikit-learn's: these are barriers, and what stands around them still learns here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from tilework.frontends.sklearn.application import Application
from tilework.frontends.sklearn.emitter import Columns, Emitter, Unsupported, convert
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.learner import fitted_regression
from tilework.frontends.sklearn.one_pass import learned
from tilework.frontends.sklearn.optimized import require_here
from tilework.frontends.sklearn.stand_in import StandIn, fitted_with
from tilework.frontends.sklearn.steps.composed import Branch, branches_of
from tilework.frontends.sklearn.steps.linear import is_learned
from tilework.frontends.sklearn.training_data import Rows, one_target, require_dense
from tilework.frontends.sklearn.untyped import clone, is_exactly
from tilework.runtime.pipelines.columns import is_partitioned


@dataclass(frozen=True)
class Fitted:
    """A fitted clone of an estimator; `made` computes what it makes of the rows that it is fitted to.

    application: what it makes of rows, if it has learned as a whole.
    """

    estimator: Any
    made: Callable[[], Any]
    application: Application | None = None


@dataclass
class Fit:
    """One fit of an estimator: what learns in passes over the rows, and what stays scikit-learn's.

    passes: the names of the steps that learn together, pass by pass. barriers: the names of those that stay
    scikit-learn's, each with the reason. predictor: the name of a last step that scikit-learn fits to what they make.
    """

    engine: Engine
    passes: list[str] = field(default_factory=list[str])
    barriers: list[str] = field(default_factory=list[str])
    predictor: str = ""
    _given: tuple[Any, Rows] | None = None

    def of(self, name: str, estimator: Any, rows: Any, target: Any) -> Fitted:
        """Fit an estimator, in one pass where that can be. Raises what scikit-learn raises."""
        try:
            if is_exactly(estimator, Pipeline) and estimator.memory is not None:
                raise Unsupported("the pipeline is given a memory")
            if is_exactly(estimator, Pipeline) and not hasattr(estimator, "transform"):
                return self._steps(name, estimator, rows, target)
            return self._learned(name, estimator, rows)
        except Unsupported as why:
            require_here(rows, why)
            if is_exactly(estimator, Pipeline) and estimator.memory is None:
                return self._steps(name, estimator, rows, target)
            if is_exactly(estimator, ColumnTransformer) or is_exactly(estimator, FeatureUnion):
                return self._branches(name, estimator, rows, target, why)
            return self._stays(name, estimator, rows, target, why)

    def _rows(self, rows: Any) -> Rows:
        """The rows, with what has been looked up of them already. Raises Unsupported."""
        if self._given is None or self._given[0] is not rows:
            self._given = rows, self.engine.rows(rows)
        return self._given[1]

    def _learned(self, name: str, estimator: Any, rows: Any) -> Fitted:
        """What learns in one pass. Raises Unsupported."""
        data = self._rows(rows)
        fitted, example = learned(estimator, data, self.engine)
        self.passes.append(name)
        application = Application(fitted, self.engine)
        return Fitted(fitted, lambda: application.of_data(data, example), application)

    def _stays(self, name: str, estimator: Any, rows: Any, target: Any, why: Unsupported) -> Fitted:
        """What scikit-learn fits."""
        self.barriers.append(f"{name}: {why}" if name else str(why))
        fitted = clone(estimator)
        if not hasattr(fitted, "transform"):
            return Fitted(fitted.fit(rows, target), lambda: None)
        made = fitted.fit_transform(rows, target)
        return Fitted(fitted, lambda: made)

    def _steps(self, name: str, estimator: Any, rows: Any, target: Any) -> Fitted:
        """One step after the other, as many in a pass as can be."""
        left, done, made = list(estimator.steps), list[Any](), lambda: rows
        while left:
            part = self._first_steps(name, left, made(), target)
            done += part.estimator.steps
            made, left = part.made, left[len(part.estimator.steps) :]
        fitted = clone(estimator)
        fitted.steps = done
        return Fitted(fitted, made)

    def _first_steps(self, name: str, left: list[Any], rows: Any, target: Any) -> Fitted:
        """A pipeline of the first of some steps, at least of one."""
        [(own, inner)] = left[:1]
        if inner is None or isinstance(inner, str):
            return Fitted(Pipeline(left[:1]), lambda: rows)
        if is_learned(left[-1][1]):
            try:
                return self._regression(name, left, rows, target)
            except Unsupported as why:
                require_here(rows, why)
                if len(left) == 1:
                    return self._single(own, self._stays(_joined(name, own), inner, rows, target, why))
        elif not hasattr(left[-1][1], "transform"):
            require_here(rows, Unsupported(f"the fit of {type(left[-1][1]).__name__} is no sum over rows"))
        count = self._known_steps(left, rows)
        if count:
            return self._together(_names(name, left[:count]), Pipeline(left[:count]), rows, target)
        if len(left) == 1 and not hasattr(inner, "transform"):
            if not self.passes:
                why = Unsupported(f"the fit of {type(inner).__name__} is no sum over rows")
                return self._single(own, self._stays(_joined(name, own), inner, rows, target, why))
            self.predictor = _joined(name, own)
            return self._single(own, Fitted(clone(inner).fit(rows, target), lambda: None))
        return self._single(own, self.of(_joined(name, own), inner, rows, target))

    def _single(self, name: str, part: Fitted) -> Fitted:
        return Fitted(Pipeline([(name, part.estimator)]), part.made)

    def _regression(self, name: str, steps: list[Any], rows: Any, target: Any) -> Fitted:
        """Steps that end in a regression, which learn in one pass. Raises Unsupported."""
        if not is_partitioned(rows):
            require_dense(rows)
        data = self.engine.rows_and_target(rows, one_target(target))
        fitted = fitted_regression(Pipeline(steps), data, self.engine)
        self.passes.append(_names(name, steps))
        return Fitted(fitted, lambda: None)

    def _together(self, name: str, estimator: Any, rows: Any, target: Any) -> Fitted:
        """What ought to learn in one pass; scikit-learn fits it where the rows say too little."""
        try:
            return self._learned(name, estimator, rows)
        except Unsupported as why:
            return self._stays(name, estimator, rows, target, why)

    def _known_steps(self, steps: list[Any], rows: Any) -> int:
        """How many of the first of some steps can learn in one pass."""
        try:
            data = self._rows(rows)
            e, x = Emitter(data.dtypes, data, wide=True), Columns(data.keys)
        except Unsupported:
            return 0
        for count, (_, inner) in enumerate(steps):
            try:
                if inner is None or isinstance(inner, str):
                    continue
                if not hasattr(inner, "transform"):
                    return count
                x = convert(e, inner, x)
            except Unsupported:
                return count
        return len(steps)

    def _branches(self, name: str, estimator: Any, rows: Any, target: Any, why: Unsupported) -> Fitted:
        """What stands side by side: those parts that learn so in one pass, each other one by itself."""
        try:
            data = self._rows(rows)
            known, others = _branches(estimator, data)
        except Unsupported as refused:
            return self._stays(name, estimator, rows, target, refused)
        if not known and not others:
            return self._stays(name, estimator, rows, target, why)
        parts = {each.name: StandIn(fit=self._later(_joined(name, each.name), each.inner)) for each in others}
        if known:
            columns = [(str(i), each.inner, [data.keys[k] for k in each.which]) for i, each in enumerate(known)]
            own = _names(name, [(each.name,) for each in known])
            part = self._together(own, ColumnTransformer(columns), rows, target)
            for each, (_, inner, _) in zip(known, part.estimator.transformers_, strict=False):  # behind them: nothing
                parts[each.name] = StandIn(
                    fit=lambda x, _, inner=inner: (inner, Application(inner, self.engine).of_rows(x))
                )
        fitted, made = fitted_with(estimator, parts, rows, target)
        return Fitted(fitted, lambda: made)

    def _later(self, name: str, estimator: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
        """The fit of an estimator to rows that are not there yet."""

        def fit(rows: Any, target: Any) -> tuple[Any, Any]:
            part = self.of(name, estimator, rows, target)
            return part.estimator, part.made()

        return fit

    def explanation(self) -> str:
        """What learns in which pass, and what stays scikit-learn's, and why."""
        if self.predictor and len(self.passes) == 1 and not self.barriers:
            own = self.predictor
            return f"all steps before {own} learn in one pass over the rows; {own} is fitted by scikit-learn"
        if len(self.passes) == 1 and not self.barriers:
            return "all steps learn in one pass over the rows"
        passes = [f"learn in one pass over the rows: {names}" for names in self.passes]
        stays = [f"stays scikit-learn's: {barrier}" for barrier in self.barriers]
        last = [f"{self.predictor} is fitted by scikit-learn"] if self.predictor else []
        return "\n".join([*passes, *stays, *last])


def _branches(estimator: Any, data: Rows) -> tuple[list[Branch], list[Branch]]:
    """The parts of a composition that can learn together in one pass, and the others. Raises Unsupported."""
    e = Emitter(data.dtypes, data, wide=True)
    x = Columns(data.keys)
    known, others = list[Branch](), list[Branch]()
    for branch in branches_of(e, estimator, x):
        if isinstance(branch.inner, str) or not branch.which:
            continue
        try:
            branch.convert(e, x)
            known.append(branch)
        except Unsupported:
            others.append(branch)
    return known, others


def _joined(name: str, own: str) -> str:
    return f"{name}.{own}" if name else own


def _names(name: str, steps: list[Any]) -> str:
    """What some steps of a composition are called together."""
    return ", ".join(_joined(name, own) for own, *_ in steps)
