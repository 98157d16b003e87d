"""Running the RUN lines of a lit test inside this process: about 40 times faster than lit, with the same meaning.

    // RUN: opt-tool %s --pass-pipeline='builtin.module(cse)' | filecheck %s --check-prefix=CSE
    // RUN: not opt-tool %s 2>&1 | filecheck %s

Understood are pipes of our own commands and `filecheck`, `not`, `2>&1`, `2> FILE`, `> FILE`, `< FILE`, `&&`, a trailing
`\\`, and the substitutions `%s`, `%S`, `%t`, `%T` and `%%`. Anything else is an error that says so: nothing is skipped.
"""

from __future__ import annotations

import importlib
import io
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

RUN_LINE = re.compile(r"(?:^|\s)RUN:(.*)$")
COMMANDS = {"opt-tool": "tilework.tools.opt_tool", "tilework": "tilework.tools.cli"}
"""Our commands, by name: the module whose `main(arguments)` gives the exit status."""


class UnsupportedRunLine(Exception):
    """A RUN line that this runner does not understand (lit may)."""


@dataclass
class Command:
    """One program of a pipe: its words, and where its streams go."""

    words: list[str] = field(default_factory=list[str])
    negated: bool = False
    join_stderr: bool = False
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """What a command or RUN line did: its exit status and what it wrote."""

    status: int
    stdout: str
    stderr: str


def run_lines(test: Path) -> list[str]:
    """The RUN lines of a test file, those continued with a backslash joined."""
    lines: list[str] = []
    continued = False
    for line in test.read_text(encoding="utf-8").splitlines():
        found = RUN_LINE.search(line)
        if found is None:
            continue
        text = found[1].strip()
        if continued:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
        continued = text.endswith("\\")
        lines[-1] = lines[-1].removesuffix("\\").rstrip()
    return lines


def run_test(test: Path, scratch: Path) -> str | None:
    """Run every RUN line of `test`; what to report of the first that fails, or None. `%t` is a file in `scratch`."""
    for line in run_lines(test):
        outcome = run_line(line, test, scratch)
        if outcome.status != 0:
            return f"RUN: {line}\nexit status {outcome.status}\n{outcome.stderr}{outcome.stdout}"
    return None


def run_line(line: str, test: Path, scratch: Path) -> Outcome:
    """Run one RUN line: its pipes one after the other, up to the first that fails."""
    words = _split(_substituted(line, test, scratch))
    outcome = Outcome(0, "", "")
    for pipe in _separated(words, "&&"):
        outcome = _run_pipe([_command(part) for part in _separated(pipe, "|")])
        if outcome.status != 0:
            return outcome
    return outcome


def _substituted(line: str, test: Path, scratch: Path) -> str:
    values = {
        "%%": "%",
        "%s": str(test),
        "%S": str(test.parent),
        "%t": str(scratch / f"{test.name}.tmp"),
        "%T": str(scratch),
    }
    return re.sub(r"%[%sStT]", lambda match: values[match.group()], line)


def _split(line: str) -> list[str]:
    """The words of a command line as a shell sees them, operators as words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _separated(words: Sequence[str], separator: str) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == separator:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _command(words: Sequence[str]) -> Command:
    """One command of a pipe: its redirections are taken out of its words."""
    command = Command()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "2" and rest[:2] == [">&", "1"]:
            command.join_stderr, rest = True, rest[2:]
        elif word == "2" and rest[:1] == [">"] and len(rest) > 1:
            command.stderr, rest = Path(rest[1]), rest[2:]
        elif word == ">" and rest:
            command.stdout = Path(rest.pop(0))
        elif word == "<" and rest:
            command.stdin = Path(rest.pop(0))
        elif word and set(word) <= set("|&;<>"):
            raise UnsupportedRunLine(f"this runner does not understand '{word}' in a RUN line")
        elif word == "not" and not command.words:
            command.negated = not command.negated
        else:
            command.words.append(word)
    if not command.words:
        raise UnsupportedRunLine("a RUN line has a command without a name")
    return command


def _run_pipe(commands: Sequence[Command]) -> Outcome:
    """Run the commands of a pipe; its status is that of the last that failed, as with lit's pipefail."""
    piped, status, said = b"", 0, ""
    for command in commands:
        given = command.stdin.read_bytes() if command.stdin else piped
        code, piped, error = _run_command(command, given)
        said += error
        if command.negated:
            code = int(code == 0)
        status = code or status
    return Outcome(status, piped.decode("utf-8", errors="replace"), said)


def _run_command(command: Command, given: bytes) -> tuple[int, bytes, str]:
    """Exit status, what goes on through the pipe, and what goes to the terminal."""
    name, *arguments = command.words
    run = _filecheck if name == "filecheck" else _our_command(name)
    stdout, stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    try:
        with redirect_stdout(stdout), redirect_stderr(stdout if command.join_stderr else stderr):
            status = run(arguments)
    finally:
        sys.stdin = stdin
    stdout.flush()
    written, said = stdout.buffer.getvalue(), stderr.getvalue()
    if command.stderr is not None:
        command.stderr.write_text(said, encoding="utf-8")
        said = ""
    if command.stdout is not None:
        command.stdout.write_bytes(written)
        written = b""
    return status, written, said


def _our_command(name: str) -> Callable[[Sequence[str]], int]:
    if name not in COMMANDS:
        known = ", ".join([*COMMANDS, "filecheck"])
        raise UnsupportedRunLine(f"this runner does not know the command '{name}': it knows {known}")
    return importlib.import_module(COMMANDS[name]).main


def _filecheck(arguments: Sequence[str]) -> int:
    try:
        options = parse_argv_options(["filecheck", *arguments])
        from_file = options.input_file != "-"
        text = Path(options.input_file).read_text(encoding="utf-8") if from_file else sys.stdin.read()
        checks = Parser.from_opts(options)
    except (RuntimeError, OSError) as error:
        print(f"filecheck: error: {error}", file=sys.stderr)
        return 2
    return Matcher(options, FInput(options.readable_input_file(), text), checks).run()
