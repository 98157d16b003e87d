"""The flag `--load-plugin` of `opt-tool` and of every command of `tilework`."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tilework.plugins.packages import load_plugin, plugins_until_end
from tilework.tools.arguments import ArgumentParser


def add_load_plugin(parser: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """Add the flag, which may be repeated."""
    parser.add_argument(
        "--load-plugin",
        dest="plugins",
        action="append",
        default=[],
        metavar="MODULE",
        help="a package with passes, operators, rules or back ends, by its module or by the path of its folder",
    )


@contextmanager
def loaded_plugins(words: Sequence[str], program: str) -> Generator[None]:
    """Load the plugins that a command line names, before all of it is read: they bring what other words mean.

    They are there for the duration of the block. Raises TileworkError for one that cannot be loaded.
    """
    parser = ArgumentParser(prog=program, add_help=False)
    add_load_plugin(parser)
    known, _ = parser.parse_known_args([f"-{word}" if word.startswith("-load-plugin") else word for word in words])
    with plugins_until_end():
        for given in known.plugins:
            load_plugin(given)
        yield
