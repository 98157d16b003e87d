"""What the fastest algorithm for a kernel costs: what a worker answers while layouts are searched."""

from __future__ import annotations

from typing import Any

from tilework.analysis.precision import precision_of
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.targets import parse_target
from tilework.transforms.graph.algorithms import remembered_algorithms
from tilework.transforms.graph.lone_groups import lone_group


def price_group(text: str, kernel_name: str, target: str, weight_bytes: int, precision: str) -> dict[str, Any]:
    """The fastest algorithm for the group of a module's text, as `Algorithm.from_json` reads it.

    text: a module as `lone_groups.alone` makes it. weight_bytes: of the program that the group is of. Raises what the
    rules raise.
    """
    module = SourceParser(make_context(), text, kernel_name).parse_module()
    machine = parse_target(target).with_weights(weight_bytes)
    return remembered_algorithms(machine, precision_of(precision)).best_for(lone_group(module)).to_json()
