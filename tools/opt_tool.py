"""`opt-tool`: parse `.mlir` text, check it, run passes over it, print it. The conventions are mlir-opt's.

Exit status: 0 if all went well, 1 if the program was refused, 2 if the command line was wrong.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.utils.exceptions import ParseError

from tilework.dialects.support.diagnostics import TileworkError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.driver.apply_pattern import ApplyPattern
from tilework.driver.pass_manager import InternalError
from tilework.driver.pipeline_text import PipelineError
from tilework.driver.registry import all_passes
from tilework.lowering.pipelines import PIPELINES
from tilework.tools.diagnostics_printer import Diagnostic, diagnostic_about, diagnostics_of, format_diagnostics
from tilework.tools.expected_diagnostics import expected_diagnostics, unmet
from tilework.tools.list_passes import pass_description, pass_listing, pattern_listing
from tilework.tools.load_plugins import loaded_plugins
from tilework.tools.opt_options import Options, parse_options
from tilework.tools.process_module import ModuleProcessor, Output
from tilework.tools.streams import discard_stdout, write_stdout

DEFECT = "this is a defect of the compiler, not of your program; --debug shows where it happened"
SPLIT_LINE = re.compile(r"^// -----[^\S\n]*$", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `opt-tool` with these arguments (the process's where None) and give its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with loaded_plugins(words, "opt-tool"):
            return _run_with_plugins(words)
    except SystemExit as stop:  # argparse has said what is wrong, or printed its help
        return int(stop.code or 0)
    except TileworkError as error:  # about a plugin
        print(f"opt-tool: error: {error}", file=sys.stderr)
        return error.code


def _run_with_plugins(words: Sequence[str]) -> int:
    passes = [name for name in all_passes() if name != ApplyPattern.name]  # for which there is a flag of its own
    options = parse_options(words, [*passes, *PIPELINES])
    try:
        return _run(options)
    except TileworkError as error:
        _show_traceback(error, options)
        print(f"opt-tool: error: {error}", file=sys.stderr)
        if isinstance(error, PipelineError):
            print(f"  {error.text}\n  {' ' * error.position}^", file=sys.stderr)
        return error.code
    except BrokenPipeError:  # whoever read the output has stopped; nothing more may be written at exit
        discard_stdout()
        return 1
    except KeyboardInterrupt:
        return 130


def _run(options: Options) -> int:
    if options.list_passes is not None:
        write_stdout(pass_description(options.list_passes) if options.list_passes else pass_listing())
        return 0
    if options.list_patterns:
        write_stdout(pattern_listing())
        return 0
    if options.show_dialects:
        write_stdout("\n".join(["Available Dialects:", *sorted(make_context().registered_dialect_names), ""]))
        return 0
    file = "<stdin>" if options.input == "-" else options.input
    text = _read(options.input)
    processor = ModuleProcessor(options, file)
    chunks = list(split_input(text)) if options.split_input_file else [text]
    results = [_process(chunk, processor) for chunk in chunks]
    problems = [problem for result in results for problem in result.problems(options, file)]
    if problems:
        sys.stderr.write(format_diagnostics(problems, {file: text}, options.mlir_print_op_on_diagnostic))
    if options.timing:
        timing = processor.timing
        sys.stderr.write(timing.report() if options.output_format == "text" else timing.as_json())
    if options.statistics:
        sys.stderr.write(processor.statistics.report())
    outputs = [result.output for result in results if result.output is not None]
    failed = any(problem.severity == "error" for problem in problems)
    if outputs and not (failed and options.output != "-"):
        _write(options.output, outputs)
    return 1 if failed else 0


@dataclass(frozen=True)
class _Result:
    """What became of one chunk of the input: its output where there is one, and what was reported."""

    text: str
    output: Output | None
    diagnostics: list[Diagnostic]

    def problems(self, options: Options, file: str) -> list[Diagnostic]:
        """What to tell the user: the diagnostics, or how they differ from those that the text expects."""
        if not options.verify_diagnostics:
            return self.diagnostics
        return unmet(expected_diagnostics(self.text, file), self.diagnostics)


def _process(text: str, processor: ModuleProcessor) -> _Result:
    try:
        return _Result(text, processor.process(text), [])
    except UsageError:  # of the command line, not of this text
        raise
    except Exception as error:
        _show_traceback(error, processor.options)
        return _Result(text, None, _explain(error))


def _explain(error: Exception) -> list[Diagnostic]:
    match error:
        case ParseError() | TileworkError():
            return diagnostics_of(error)
        case MemoryError():
            return [Diagnostic("error", f"there is not enough memory: {error}")]
        case RecursionError():
            return [Diagnostic("error", "operations are nested too deeply to be read or printed")]
        case InternalError():
            return [diagnostic_about("error", str(error), error.op), Diagnostic("note", DEFECT)]
        case _:
            return [Diagnostic("error", f"internal error: {type(error).__name__}: {error}"), Diagnostic("note", DEFECT)]


def _show_traceback(error: Exception, options: Options) -> None:
    if options.debug:
        traceback.print_exception(error)


def _read(name: str) -> str:
    try:
        raw = sys.stdin.read().encode() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise TileworkError(f"cannot open input file '{name}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TileworkError(f"cannot read input file '{name}': it is not text in UTF-8") from error


def split_input(text: str) -> Iterator[str]:
    """The parts of `text` between `// -----` lines, each behind blanks so that its places are those in the file."""
    end = 0
    for start, end in zip(
        [0, *(marker.end() for marker in SPLIT_LINE.finditer(text))],
        [*(marker.start() for marker in SPLIT_LINE.finditer(text)), len(text)],
        strict=True,
    ):
        yield re.sub(r"[^\n]", " ", text[:start]) + text[start:end]


def _write(name: str, outputs: Sequence[Output]) -> None:
    """Write the outputs; those of several chunks are separated as the input was."""
    texts = [output for output in outputs if isinstance(output, str)]
    data = b"".join(output for output in outputs if isinstance(output, bytes)) or "// -----\n".join(texts).encode()
    if name == "-":
        write_stdout(data.decode("utf-8") if texts else data)
        return
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise TileworkError(f"cannot open output file '{name}': {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(main())
