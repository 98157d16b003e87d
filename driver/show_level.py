"""The text of a compiled program at one level, lowered again from what it was compiled from."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.analysis.program_targets import HOST, target_of
from tilework.backends.base import Backend, write_module
from tilework.backends.registry import backend_for
from tilework.dialects import loop, te
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.levels import LARGEST_CONSTANT, lower_by_levels, part_on
from tilework.runtime.source import Source

LEVELS = {
    "model": "1-graph",
    "graph": "3-fused",
    "te": "4-te",
    "schedule": "5-schedule",
    "loop": "6-loop",
    "host": "7-host",
}
"""What a level is called, and the last step of `lower_by_levels` up to it."""


def show_level(source: Source, level: str, kernel: str | None) -> str:
    """The program at a level of `LEVELS`, or as the back end of its host writes it; of one kernel, where one is named.

    Raises UsageError for a level or a kernel that there is not.
    """
    if not isinstance(level, str):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f'a level is a text such as "te", not a value of type {type(level).__name__}')
    module = SourceParser(make_context(), source.program, "program").parse_module()
    backend = backend_for(target_of(module))
    formats = _text_formats(backend)
    if level not in LEVELS and level not in formats:
        known = (*LEVELS, *formats)
        raise UsageError(f"there is no level '{level}'{did_you_mean(level, known)}; the levels are {', '.join(known)}")
    last = LEVELS.get(level, LEVELS["host"])
    for step, _ in lower_by_levels(module, precision=source.precision, schedules=source.schedules):
        if kernel is not None and step in (last, LEVELS["te"]):
            _keep(kernel, module)
        if step == last:
            break
    else:
        raise UsageError(f"there is no level '{level}' of this model: it was given as kernels, at te or below")
    if level in LEVELS:
        return ir_text(module, PrintingOptions(elide_larger_than=LARGEST_CONSTANT)) + "\n"
    text = write_module(backend, level, part_on(HOST, module))
    assert isinstance(text, str)
    return text


def _text_formats(backend: Backend) -> list[str]:
    """The formats of a back end that are text."""
    return [name for name in backend.formats if name != "obj"]


def _keep(name: str, module: ModuleOp) -> None:
    """Leave of a module only one kernel with its schedule, or one group of a graph."""
    named = [(_name_of(op), op) for op in module.walk()]
    names = [found for found, _ in named if found is not None]
    if name not in names:
        there = ", ".join(dict.fromkeys(names))
        raise UsageError(f"there is no kernel '{name}'{did_you_mean(name, names)}; there are {there or 'none here'}")
    kept = [op.clone() for found, op in named if found == name]
    for op in list(module.ops):
        module.body.block.erase_op(op, safe_erase=False)
    module.body.block.add_ops(kept)


def _name_of(op: Operation) -> str | None:
    """What a kernel, its schedule or a group is called; None for anything else."""
    match op:
        case FusedOp():
            return op.label.data
        case te.KernelOp() | loop.KernelOp():
            return op.sym_name.data
        case SequenceOp():
            return op.kernel_name
        case _:
            return None
