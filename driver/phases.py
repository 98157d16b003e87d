"""The phases of a compilation, by name: what `tw.compile`, `tw.build`, `--dump-levels` and `opt-tool` all run.

A phase is a named pipeline; `PIPELINES` in `lowering/pipelines/__init__.py` lists them in the order in which a program
goes through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilework.algebra.errors import UsageError
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.lowering.pipelines import PIPELINES, loops_of
from tilework.targets import Target


def passes_of(phase: str, **options: str) -> tuple[ModulePass, ...]:
    """The passes of a phase; those that have an option of a name get its value.

    Raises UsageError for an option that none of them has.
    """
    return with_options(PIPELINES[phase], **options)


def kernel_passes(target: Target) -> tuple[ModulePass, ...]:
    """From a kernel at te, with or without a schedule, or at loop, to what a back end for the target takes."""
    return (*passes_of("schedule-kernels"), *loops_of(target.family))


def with_options(passes: Sequence[ModulePass], **options: str) -> tuple[ModulePass, ...]:
    """The passes, those that have an option of a name with its value. Raises UsageError where none of them has it."""
    known = {field.name for pass_ in passes for field in fields(pass_)}
    if unknown := options.keys() - known:
        raise UsageError(f"no pass of {', '.join(p.name for p in passes)} has an option '{min(unknown)}'")
    return tuple(replace(p, **{f.name: options[f.name] for f in fields(p) if f.name in options}) for p in passes)


def run_phase(
    phase: str,
    context: Context,
    module: ModuleOp,
    instrumentations: Sequence[Instrumentation] = (),
    **options: str,
) -> None:
    """Run one phase over a module, in place. Raises what its passes raise, and as `passes_of` does."""
    run_passes(passes_of(phase, **options), context, module, instrumentations)


def run_passes(
    passes: Sequence[ModulePass],
    context: Context,
    module: ModuleOp,
    instrumentations: Sequence[Instrumentation] = (),
) -> None:
    """Run passes over a module, in place. Raises what they raise."""
    PassManager(Pipeline(ModuleOp.name, tuple(passes)), instrumentations).run(context, module)
