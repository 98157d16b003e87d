"""`tilework`: compile models, run them, measure them.

A command is a file of `tools/commands/`: its name is the file's, its help the docstring, `add_arguments(parser)` says
what it takes and `run(options)` does it and gives the exit status. A new command needs no list.

Exit status: 0 if all went well, 1 if the model or a file is at fault, 2 if the command line is, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, cast

import tilework.tools.commands as package
from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.tools.arguments import ArgumentParser
from tilework.tools.load_plugins import add_load_plugin, loaded_plugins
from tilework.tools.streams import discard_stdout, stdout_failure, write_stdout


class Command(Protocol):
    """What a module in `tools/commands/` holds."""

    __doc__: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `tilework` with these arguments (the process's where None) and give its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    try:
        status = _run(words)
        write_stdout()
        return status
    except SystemExit as stop:  # argparse has said what is wrong, or printed its help
        return int(stop.code or 0)
    except KeyboardInterrupt:
        print("\ntilework: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output has stopped; nothing more may be written at exit
        discard_stdout()
        return 1
    except Exception as caught:
        error = stdout_failure(caught) or caught
        if debug:
            traceback.print_exception(error)
        print("\n".join(_explain(error)), file=sys.stderr)
        return error.code if isinstance(error, TileworkError) else 1


def command_names() -> list[str]:
    """The commands there are."""
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def _run(words: Sequence[str]) -> int:
    top = _top_parser()
    options = top.parse_args(words)
    if options.command is None:
        top.print_help(sys.stderr)
        return 2
    if options.command not in command_names():
        raise UsageError(_unknown_command(options.command))
    command = _load(options.command)
    parser = ArgumentParser(prog=f"tilework {options.command}", description=command.__doc__)
    parser.add_argument("--debug", action="store_true", help="show Python tracebacks of errors")
    add_load_plugin(parser)
    command.add_arguments(parser)
    with loaded_plugins(options.arguments, parser.prog):
        return command.run(parser.parse_all(options.arguments))


def _top_parser() -> argparse.ArgumentParser:
    names = command_names()
    width = max(map(len, names))
    listing = [f"  {name:{width}}  {_summary(name)}" for name in names]
    parser = ArgumentParser(
        prog="tilework",
        description="Compile ONNX models to native code and run them.",
        usage="tilework [--version] [--debug] COMMAND ...",
        epilog="\n".join(["commands (see tilework COMMAND --help):", *listing]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tilework {version('tilework')}")
    parser.add_argument("--debug", action="store_true", help="show Python tracebacks of errors")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _summary(name: str) -> str:
    """A command's docstring, read without importing it: most need the whole compiler."""
    source = (Path(package.__path__[0]) / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def _load(name: str) -> Command:
    return cast("Command", importlib.import_module(f"{package.__name__}.{name}"))


def _unknown_command(name: str) -> str:
    names = command_names()
    hint = did_you_mean(name, names) or f"; the commands are {', '.join(names)}"
    return f"there is no command '{name}'{hint}"


def _explain(error: Exception) -> list[str]:
    """The lines that tell a user what went wrong, in the first of them everything that matters."""
    from tilework.dialects.support.diagnostics import (
        CompileError,  # here: an error is the only time that xDSL is needed
    )

    if isinstance(error, TileworkError):
        notes = error.notes if isinstance(error, CompileError) else ()
        return [f"tilework: error: {error}{_origin(error)}", *(f"tilework: note: {message}" for message, _ in notes)]
    if isinstance(error, MemoryError):
        return [f"tilework: error: there is not enough memory: {error}"]
    said = str(error).partition("\n")[0]
    hint = "this is a defect of Tilework, not of your model; --debug shows where it happened"
    return [f"tilework: internal error: {type(error).__name__}: {said}", f"tilework: note: {hint}"]


def _origin(error: TileworkError) -> str:
    """Which node of the model, or which place in a file, a compile error is about."""
    from tilework.dialects.support.diagnostics import CompileError
    from tilework.dialects.support.locations import source_name, source_position

    if not isinstance(error, CompileError) or error.op is None:
        return ""
    name, position = source_name(error.op.location), source_position(error.op.location)
    if name is not None:
        return f' (from "{name}")'
    return "" if position is None else f" (at {position})"


if __name__ == "__main__":
    sys.exit(main())
