"""Pipelines of scikit-learn, optimized as a whole and compiled.

from tilework import pipelines
model = pipelines.compile(fitted, rows)
model.predict(frame)
model.save("model.tw"); model = pipelines.load("model.tw")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.api import compile as compile_module
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_phase
from tilework.frontends.quoted.function import DataBag, Quoted
from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.importer import import_method, methods_of
from tilework.frontends.sklearn.programs import TO_COMPILE, Recent, tell
from tilework.frontends.sklearn.search import OptimizedSearch
from tilework.frontends.sklearn.transformer import OptimizedTransformer
from tilework.runtime.module import Module
from tilework.runtime.pipelines.lineage_cache import LineageCache
from tilework.runtime.pipelines.model import CompiledPipeline, Method

__all__ = [
    "CompiledPipeline",
    "DataBag",
    "OptimizedSearch",
    "OptimizedTransformer",
    "Quoted",
    "compile",
    "load",
    "optimize",
    "quote",
]


def compile(  # noqa: A001  the name that users of other compilers look for
    fitted: Any, rows: Any, methods: Sequence[str] | None = None, target: str | None = None
) -> CompiledPipeline:
    """Compile a fitted estimator of scikit-learn: what `predict`, `predict_proba` and so on compute.

    rows: a few rows like those that it will be called with, in a frame or an array, which say the types of columns.
    methods: which of its methods; by default all that it has and that are known. target: as `tilework.compile` takes
    it. Raises UsageError that names the step, or the parameter of a step, that is not known.
    """
    if isinstance(fitted, type):
        raise UsageError(f"compile takes a fitted estimator, not the class {fitted.__name__}")
    wanted = methods_of(fitted) if methods is None else list(methods)
    if not wanted:
        raise UsageError(f"{type(fitted).__name__} has no method to compile; is it fitted?")
    made: dict[str, Method] = {}
    for name in wanted:
        try:
            program = import_method(fitted, rows, name)
        except Unsupported as why:
            raise UsageError(f"cannot compile {name} of {type(fitted).__name__}: {why}") from None
        except NotFittedError:
            raise UsageError(f"cannot compile {name} of {type(fitted).__name__}: it is not fitted") from None
        module = None if program.module is None else _compiled(program.module, program.parameters, target)
        made[name] = Method(module, program.interface)
    return CompiledPipeline(made)


def optimize(
    estimator: Any, strict: bool = False, client: Any = None, cache: bool = True
) -> OptimizedSearch | OptimizedTransformer:
    """What stands in for an estimator of scikit-learn that is to be fitted, with its methods and attributes.

    estimator: a `GridSearchCV` or `RandomizedSearchCV`, whose scores follow from sums over the rows of each fold; or a
    transformer, as a `ColumnTransformer`, or a `Pipeline`, whose steps learn in one pass over the rows. Where something
    about it is not known, `fit` is scikit-learn's, and `explain` says why; strict: raise UsageError instead. client: a
    `dask.distributed.Client`, whose workers pass over the rows. cache: whether a search takes the sums of an earlier
    one over the same rows, and keeps its own. Raises UsageError for what is neither.
    """
    if client is not None and not hasattr(client, "gather"):
        raise UsageError(f"optimize(client=...) takes a Client of dask.distributed, not a {type(client).__name__}")
    engine = Engine(_compiled_once, client, _KEPT if cache else None)
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return OptimizedSearch(estimator, engine, strict=strict)
    if isinstance(estimator, Pipeline) or hasattr(estimator, "transform"):
        return OptimizedTransformer(estimator, engine, strict=strict)
    raise UsageError(f"optimize takes a search, a pipeline or a transformer, not a {type(estimator).__name__}")


def load(path: str | PathLike[str]) -> CompiledPipeline:
    """Read what `CompiledPipeline.save` wrote; nothing is compiled. Raises TileworkError for what is no such file."""
    return CompiledPipeline.load(path)


def quote(function: Callable[..., Any]) -> Quoted:
    """A function of tables that is read and compiled, not run, so that all it asks for takes as few passes as can be.

    Its parameters are tables, `DataBag`; it returns numbers, matrices or tables. What it says that is not known is
    refused with its line when it is called. Raises UsageError where its source cannot be read.
    """
    return Quoted(function, _compiled_once)


_MADE = Recent[str, Module](64)
"""The functions on rows that have been compiled in this process, by their text."""


_KEPT = LineageCache()
"""What searches of this process have summed, by the rows and the program."""


def _compiled_once(module: ModuleOp) -> Module:
    tell(TO_COMPILE, module)
    text = str(module)
    return _MADE.get(text) or _MADE.put(text, _compiled(module, {}))


def _compiled(module: ModuleOp, parameters: Any, target: str | None = None) -> Module:
    run_phase("optimize-tables", make_context(), module)
    return compile_module(module, target, dict[str, Array](parameters), precision="strict")
