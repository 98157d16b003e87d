"""The option `--target`, which names the machine of the host or, repeated, those of devices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.analysis.program_targets import HOST

_NAMED = re.compile(r"(\w+)=(.*)")
"""A device's name before its target, in which the first word has no equals sign."""


def add_target_option(parser: Any, help: str) -> None:  # noqa: A002  as argparse calls it
    """Add the option to a parser, or to a group of one."""
    parser.add_argument(
        "--target",
        dest="targets",
        action="append",
        default=[],
        metavar="[DEVICE=]TARGET",
        help=f"{help}; repeated, it names the machines of other devices too",
    )


def targets_by_device(texts: Sequence[str]) -> dict[str, str]:
    """The target of each device that is named; without a name it is the host's. Raises UsageError for one given twice.

    The targets are texts as they are given.
    """
    targets: dict[str, str] = {}
    for text in texts:
        named = _NAMED.fullmatch(text)
        device, target = named.groups() if named else (HOST, text)
        if device in targets:
            raise UsageError(f"--target: the target of '{device}' is given twice")
        targets[device] = target
    return targets
