"""What the command lines of `opt-tool` and `tilework` have in common: one-line errors, and no flag given in vain."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from tilework.algebra.errors import did_you_mean


class ArgumentParser(argparse.ArgumentParser):
    """argparse's, but wrong usage is one line and exit status 2, and a flag with one value is given once."""

    def __init__(self, **options: Any):
        super().__init__(allow_abbrev=False, **options)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        """One line, where argparse would print all flags first."""
        self.exit(2, f"{self.prog}: error: {message}; see {self.prog} --help\n")

    def parse_all(self, words: Sequence[str], namespace: Any = None, more_flags: Collection[str] = ()) -> Any:
        """The options that `words` ask for. `more_flags` are known elsewhere: meant, perhaps, by a misspelt one."""
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            flag = unknown[0].partition("=")[0]
            hint = did_you_mean(flag, [*self._option_string_actions, *more_flags]) if flag.startswith("-") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options


class _Once(argparse.Action):
    """Keep the value; a second one would hide the first."""

    given = False

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        if self.given and option_string is not None:
            parser.error(f"{'/'.join(self.option_strings)} is given twice")
        self.given = True
        setattr(namespace, self.dest, values)
