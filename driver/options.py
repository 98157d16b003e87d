"""Options of whole pipelines."""

from __future__ import annotations

from dataclasses import fields, replace

from xdsl.passes import ModulePass


def with_options(pipeline: tuple[ModulePass, ...], **options: str) -> tuple[ModulePass, ...]:
    """The pipeline with passes that have options of these names given these values."""
    return tuple(replace(p, **{f.name: options[f.name] for f in fields(p) if f.name in options}) for p in pipeline)
