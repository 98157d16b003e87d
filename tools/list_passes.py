"""What `opt-tool` lists: every pass with its anchor, what it does, and its options with their defaults; and every
rewrite pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import cleandoc, getdoc
from typing import Any

from xdsl.passes import ModulePass

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.driver.apply_pattern import ApplyPattern
from tilework.driver.apply_pdl import ApplyPdl
from tilework.driver.pass_manager import anchor_name, runs_on_any
from tilework.driver.pass_options import options_of, pass_text
from tilework.driver.patterns import all_patterns
from tilework.driver.registry import all_passes, tilework_passes
from tilework.driver.upstream_passes import ANY_OP_PASSES
from tilework.lowering.pipelines import PIPELINES


def pass_listing() -> str:
    """The listing: our passes and the general ones in full, xDSL's other passes and the named pipelines by name."""
    everything = all_passes()
    in_full = [*tilework_passes(), *ANY_OP_PASSES, ApplyPattern.name, ApplyPdl.name]
    lines = ["Passes:"]
    for name in in_full:
        lines += _entry(everything[name]())
    lines += ["", "Named pipelines:", *_wrapped(PIPELINES)]
    lines += ["", "Passes of xDSL:", *_wrapped(name for name in everything if name not in in_full)]
    return "\n".join(lines) + "\n"


def pass_description(name: str) -> str:
    """All that is known of one pass, or the passes of a named pipeline. Raises UsageError for another name."""
    if name in PIPELINES:
        return f"{name} = {','.join(map(pass_text, PIPELINES[name]))}\n"
    everything = all_passes()
    if name not in everything:
        hint = did_you_mean(name, [*everything, *PIPELINES])
        raise UsageError(f"--list-passes: '{name}' does not refer to a registered pass or pipeline{hint}")
    described = ANY_OP_PASSES.get(name, everything[name]())
    more = (getdoc(described) or "").splitlines()[1:]
    lines = [*_entry(everything[name]()), *(f"  {line}".rstrip() for line in more)]
    return "\n".join(lines) + "\n"


def pattern_listing() -> str:
    """The listing: every rewrite pattern by name, with what it does."""
    entries = [f"  {name:<56} {_first_paragraph(listed.pattern)}" for name, listed in all_patterns().items()]
    return "\n".join(["Rewrite patterns:", *entries]) + "\n"


def _entry(pass_type: type[ModulePass]) -> Iterator[str]:
    anchor = "any operation" if runs_on_any(pass_type) else anchor_name(pass_type)
    yield f"  {pass_type.name:<32} [{anchor}] {summary(pass_type)}"
    for option in options_of(pass_type):
        default = "required" if option.default is None else f"default {option.default}"
        yield f"      {option.name}: {option.type} ({default})"


def summary(pass_type: type[ModulePass]) -> str:
    """The first line of the pass's docstring."""
    return _summary(ANY_OP_PASSES.get(pass_type.name, pass_type))


def _summary(described: Any) -> str:
    lines = (described.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def _first_paragraph(described: Any) -> str:
    return " ".join(cleandoc(described.__doc__ or "").partition("\n\n")[0].split())


def _wrapped(names: Iterable[str]) -> list[str]:
    return [f"  {name}" for name in sorted(names)] or ["  none"]
