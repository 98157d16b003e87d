"""What the fastest algorithm for a kernel costs: what a worker answers while layouts are searched."""

from __future__ import annotations

from typing import Any

from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.transforms.graph.algorithms import remembered_algorithms
from tilework.transforms.graph.lone_groups import lone_group


def price_group(text: str, kernel_name: str, weight_bytes: int, precision: str) -> dict[str, Any]:
    """The fastest algorithm for the group of a module's text, as `Algorithm.from_json` reads it.

    text: a module as `lone_groups.alone` makes it, which names the target. weight_bytes: of the whole program.
    Raises what the rules raise.
    """
    module = SourceParser(make_context(), text, kernel_name).parse_module()
    machine = target_of(module).with_weights(weight_bytes)
    return remembered_algorithms(machine, precision_of(precision)).best_for(lone_group(module)).to_json()
