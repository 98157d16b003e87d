"""Pipelines of scikit-learn, optimized as a whole and compiled.

from tilework import pipelines
model = pipelines.compile(fitted, rows)
model.predict(frame)
model.save("model.tw"); model = pipelines.load("model.tw")
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.api import compile as compile_module
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_phase
from tilework.frontends.sklearn.emitter import Array
from tilework.frontends.sklearn.importer import import_method, methods_of
from tilework.runtime.module import Module
from tilework.runtime.pipelines.model import CompiledPipeline, Method

__all__ = ["CompiledPipeline", "compile", "load"]


def compile(  # noqa: A001  the name that users of other compilers look for
    fitted: Any, rows: Any, methods: Sequence[str] | None = None, target: str | None = None
) -> CompiledPipeline:
    """Compile a fitted estimator of scikit-learn: what `predict`, `predict_proba` and so on compute.

    rows: a few rows like those that it will be called with, in a frame or an array, which say the types of columns.
    methods: which of its methods; by default all that it has and that are known. target: as `tilework.compile` takes
    it. Raises UsageError that names the step, or the parameter of a step, that is not known.
    """
    wanted = methods_of(fitted) if methods is None else list(methods)
    if not wanted:
        raise UsageError(f"{type(fitted).__name__} has no method to compile; is it fitted?")
    made: dict[str, Method] = {}
    for name in wanted:
        program = import_method(fitted, rows, name)
        made[name] = Method(_compiled(program.module, program.parameters, target), program.interface)
    return CompiledPipeline(made)


def load(path: str | PathLike[str]) -> CompiledPipeline:
    """Read what `CompiledPipeline.save` wrote; nothing is compiled. Raises TileworkError for what is no such file."""
    return CompiledPipeline.load(path)


def _compiled(module: ModuleOp, parameters: Any, target: str | None = None) -> Module:
    run_phase("optimize-tables", make_context(), module)
    return compile_module(module, target, dict[str, Array](parameters), precision="strict")
