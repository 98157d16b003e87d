"""Write what of the documentation follows from the code.

    python docs/generate.py

dialects.md and passes.md come from docstrings, the syntax of operations from the tests that show it; te-conformance.md
from the tests that say which of TVM's they stand for; the tables of performance.md and onnx-support.md from
docs/results/; pipelines-support.md from what happens when estimators are tried. In the README, what stands behind an
opt-tool command becomes what the command prints; in the pages that show files, what stands behind the name of one
becomes what is in it.
Tests fail where a page is not what this makes.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import chdir
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx_support import support_page as onnx_support_page
from pipelines_support import page as support_page
from results import page_with_results
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect, TypeAttribute
from xdsl.passes import ModulePass

from tilework.dialects.support.registration import dialect_modules, load_dialect
from tilework.driver.pass_manager import Pipeline
from tilework.driver.pass_options import options_of
from tilework.driver.pipeline_text import pipeline_text
from tilework.driver.registry import tilework_passes
from tilework.lowering.pipelines import PIPELINES
from tilework.rules.registry import algorithms
from tilework.tools.lit_in_process import run_line
from tilework.transforms.patterns import PatternPass, pattern_name

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "test" / "dialects"
README = ROOT / "README.md"
SHOWN = re.compile(r"^```sh\n(opt-tool [^\n]*)\n```\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A command with the block behind it: command, language, output."""
SHOWN_FILE = re.compile(r"^`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""The name of a file with the block behind it: name, language, content."""
PAGES_WITH_FILES = (
    "docs/plugins.md",
    "docs/new-backend.md",
    "docs/your-first-rewrite.md",
    "docs/intrinsics.md",
    "docs/new-hardware.md",
)
LEVELS = ("bag", "matrix", "graph", "te", "schedule", "loop")
TVM_NAMES = ROOT / "test" / "te-names.toml"
TVM_TESTS = ROOT / "test" / "te-conformance.toml"
STANDS_FOR = re.compile(r" *(?:#|//) tvm: (.*)")
"""A line that names entries of TVM's tests; it stands above the test."""
TEST_NAME = re.compile(r" *(?:def |[\w.]+ (?:private )?@)(\w+)")
"""The first line of a test: a function, in Python or in .mlir, or a kernel."""
NOTE = "<!-- Written by docs/generate.py from docstrings and tests; edit those. -->"


def dialects_page() -> str:
    """What each level means, and its operations with their syntax."""
    lines = [
        *("# Dialects", "", NOTE, ""),
        "A program is at one of four levels, or on its way from one to the next. Beside our own operations stand those",
        "of `builtin`, `func`, `arith`, `math`, `memref` and `vector`; on accelerators those of `vdla`, in loops of",
        "`scf`. Every operation also has MLIR's generic form.",
    ]
    for dialect in (*LEVELS, "vdla"):
        lines += ["", *_dialect(dialect, load_dialect(dialect))]
    lines += ["", "## Intrinsics of the library", "", "[Intrinsics](intrinsics.md) says how to declare others."]
    for file in sorted((ROOT / "dialects" / "isa").glob("*.mlir")):
        lines += ["", f"`dialects/isa/{file.name}`:", "", *_declared(file.read_text(encoding="utf-8").splitlines())]
    return "\n".join(lines) + "\n"


def passes_page() -> str:
    """Every pass: what it does, an example, its patterns and options; the algorithms, and the named pipelines."""
    passes = {name: load() for name, load in tilework_passes().items()}
    reasons = {name: reason for name, pass_type in passes.items() if (reason := why_no_pattern(pass_type))}
    lines = [
        *("# Passes", "", NOTE, ""),
        "`opt-tool --list-passes` lists these with xDSL's; [opt-tool](opt-tool.md) says how to run them.",
        "`canonicalize`, `cse` and `dce` are xDSL's, with the canonicalizations of our operations.",
        "",
        "A pass is a set of rewrite patterns where its rewrites are local. `opt-tool --list-patterns` lists these with",
        "those of `canonicalize`, and `--apply-pattern NAME[@LINE]` applies one alone. A pass that is none says why:",
        "",
        *(f"- `{name}`: {reason}" for name, reason in reasons.items()),
    ]
    lowerings = [name for name in passes if "-to-" in name]
    sections = {f"On {level}": [n for n in passes if n.startswith(level) and n not in lowerings] for level in LEVELS}
    others = [name for name in passes if name not in (*lowerings, *(n for names in sections.values() for n in names))]
    for title, names in {"Between levels": lowerings, "Algorithms, layouts and schedules": others, **sections}.items():
        lines += ["", f"## {title}"] if names else []
        for name in names:
            lines += ["", *_pass(passes[name])]
    lines += ["", "## Algorithms", ""]
    lines += ["`choose-layouts` and `choose-algorithms` choose between the direct sum of a product and these:", ""]
    for algorithm in algorithms().values():
        module = inspect.getdoc(sys.modules[algorithm.__module__]) or ""
        lines.append(f"- `{algorithm.__name__}`: {' '.join(module.split())} {algorithm.ACCURACY}")
    lines += ["", "## Named pipelines", "", "A name stands for its passes:", ""]
    for name, steps in PIPELINES.items():
        inner = pipeline_text(Pipeline(ModuleOp.name, steps)).removeprefix(f"{ModuleOp.name}(").removesuffix(")")
        lines.append(f"- `{name}`: {', '.join(f'`{step}`' for step in inner.split(','))}")
    return "\n".join(lines) + "\n"


def names_page() -> str:
    """The names of TVM that programs of te use: those that are there, and those that say what to do instead."""
    table = tomllib.loads(TVM_NAMES.read_text(encoding="utf-8"))
    lines = [
        *("# TVM's names", "", NOTE, ""),
        "`import tilework.compat.tvm as tvm` has these names of TVM 0.8; those that are refused say so when they are",
        "used. [From TVM's te](from-tvm-te.md) says how to change a program. `test/te-names.toml` lists the names.",
    ]
    for home, names in table.items():
        refused = {name: why for name in names if (why := why_refused(tvm_name(f"{home}.{name}")))}
        there = [f"`{name}`" for name in names if name not in refused]
        lines += ["", f"## {home}", "", f"{', '.join(there)}"]
        if refused:
            lines += ["", "| refused | instead |", "| --- | --- |"]
            lines += [f"| `{name}` | {instead} |" for name, instead in refused.items()]
    return "\n".join(lines) + "\n"


def why_refused(found: Any) -> str | None:
    """What to do instead of using what is refused; None for what is there."""
    said = re.match(r"TVM's name, refused: (.*)\.$", inspect.getdoc(found) or "")
    return getattr(found, "instead", None) if said is None else said[1]


def tvm_name(path: str) -> Any:
    """What has a name of TVM here, such as `tvm.te.Stage.split`. Raises AttributeError where nothing has."""
    found: Any = import_module("tilework.compat.tvm")
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    return found


def conformance_page() -> str:
    """The tests of TVM's te, each with what stands for it here, or with the reason why nothing does."""
    table = conformance_table()
    here, reasons = counterparts(), table["not_applicable"]
    lines = [
        *("# Conformance with TVM's te", "", NOTE, ""),
        "Every entry is a test of TVM 0.6, or one that 0.8 added; beside it stand the tests here that check the same.",
        "`test/te-conformance.toml` lists the entries, and says how a test names those that it stands for.",
    ]
    for file, names in table["tests"].items():
        lines += ["", f"## {file}", "", "| entry | tested here |", "| --- | --- |"]
        for name in names:
            entry = f"{file}/{name}"
            reason = reasons.get(entry, reasons.get(file))
            why = "open" if reason is None else f"not applicable: {reason}"
            lines.append(f"| {name} | {', '.join(here.get(entry, [why]))} |")
    return "\n".join(lines) + "\n"


def conformance_table() -> dict[str, Any]:
    """`tests`: file -> names; `not_applicable`: entry, or file for all of its entries, -> reason; `open`: entries."""
    return tomllib.loads(TVM_TESTS.read_text(encoding="utf-8"))


def counterparts() -> dict[str, list[str]]:
    """The links to tests, for every entry of TVM's that they name."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "test").glob("**/*")):
        if file.suffix not in (".py", ".mlir") or "Output" in file.parts:
            continue
        for entry, test in stands_for(file.read_text(encoding="utf-8")):
            path = file.relative_to(ROOT).as_posix()
            found.setdefault(entry, []).append(f"[{file.stem}: {test}](../{path})")
    return found


def stands_for(text: str) -> Iterator[tuple[str, str]]:
    """The entries of TVM's that a file of tests names, each with the name of the test below it."""
    entries: list[str] = []
    for line in text.splitlines():
        if named := STANDS_FOR.fullmatch(line):
            entries += named.group(1).split()
        elif entries and (test := TEST_NAME.match(line)):
            yield from ((entry, test.group(1)) for entry in entries)
            entries = []


def readme_page() -> str:
    """The README with the output of its commands as it is now."""

    def refreshed(shown: re.Match[str]) -> str:
        command, language, _ = shown.groups()
        return f"```sh\n{command}\n```\n```{language}\n{output_of(command)}```"

    return SHOWN.sub(refreshed, README.read_text(encoding="utf-8"))


def page_with_files(page: Path) -> str:
    """A page with the files that it shows as they are now."""

    def refreshed(shown: re.Match[str]) -> str:
        name, language, _ = shown.groups()
        return f"`{name}`:\n\n```{language}\n{(ROOT / name).read_text(encoding='utf-8')}```"

    return SHOWN_FILE.sub(refreshed, page.read_text(encoding="utf-8"))


def output_of(command: str) -> str:
    """What `opt-tool ... | sed ...` prints at the root of the repository. opt-tool runs in this process."""
    ours, _, rest = command.partition(" | ")
    with tempfile.TemporaryDirectory() as scratch, chdir(ROOT):
        outcome = run_line(ours, README, Path(scratch))
    if outcome.status != 0:
        raise RuntimeError(f"{command}: {outcome.stderr}")
    if not rest:
        return outcome.stdout
    return subprocess.run(rest, shell=True, input=outcome.stdout, capture_output=True, text=True, check=True).stdout


PAGES = {
    "docs/dialects.md": dialects_page,
    "docs/passes.md": passes_page,
    "docs/te-conformance.md": conformance_page,
    "docs/compat-tvm-names.md": names_page,
    "docs/pipelines-support.md": partial(support_page, NOTE.replace("docstrings and tests", "what is tried")),
    "docs/onnx-support.md": onnx_support_page,
    "docs/performance.md": partial(page_with_results, ROOT / "docs" / "performance.md"),
    "docs/tuning.md": partial(page_with_results, ROOT / "docs" / "tuning.md"),
    "README.md": readme_page,
    **{name: partial(page_with_files, ROOT / name) for name in PAGES_WITH_FILES},
}


def _dialect(level: str, dialect: Dialect) -> Iterator[str]:
    yield f"## {level}"
    yield ""
    yield from _paragraphs(inspect.cleandoc(import_module(dialect_modules()[level]).__doc__ or ""))
    yield "Operations:"
    yield ""
    yield "```mlir"
    for op in dialect.operations:
        yield f"// {_first_paragraph(op)}"
        yield _syntax(op.name, level)
    yield "```"
    yield ""
    for attribute in dialect.attributes:
        sigil = "!" if issubclass(attribute, TypeAttribute) else "#"
        yield f"- `{sigil}{attribute.name}`: {_first_paragraph(attribute)}"


def _declared(lines: Sequence[str]) -> Iterator[str]:
    """What a file of the library says of its intrinsics, meanings left out."""
    yield "```mlir"
    for line in lines:
        if line.startswith(("//", "te.intrinsic")) or not line:
            yield line.removesuffix(" {").removesuffix(" attributes")
    yield "```"


def _pass(pass_type: type[ModulePass]) -> Iterator[str]:
    text = inspect.cleandoc(pass_type.__doc__ or "")
    yield f"### {pass_type.name}"
    yield ""
    yield _first_paragraph(pass_type)
    yield ""
    for example in _examples(text):
        yield "```"
        yield from example
        yield "```"
    yield from _patterns(pass_type)
    for option in options_of(pass_type):
        default = "required" if option.default is None else f"default {option.default}"
        yield f"- option `{option.name}`: {option.type}, {default}"


def _patterns(pass_type: type[ModulePass]) -> Iterator[str]:
    """The rewrite patterns of a pass."""
    for pattern in pass_type.pattern_types() if issubclass(pass_type, PatternPass) else ():
        yield f"- pattern `{pattern_name(pass_type.name, pattern)}`: {_first_paragraph(pattern)}"


def why_no_pattern(pass_type: type[ModulePass]) -> str | None:
    """Why a pass is no set of rewrite patterns, as its docstring says; None where it does not."""
    text = " ".join(inspect.cleandoc(pass_type.__doc__ or "").split())
    found = re.search(r"This is an? \w+ and no pattern: (.*?\.)(?= |$)", text)
    return None if found is None else found.group(1)


def _examples(text: str) -> Iterator[list[str]]:
    """The paragraphs that show before -> after."""
    for paragraph in re.split(r"\n\s*\n", text):
        if "->" in paragraph:
            yield inspect.cleandoc(f"\n{paragraph}").splitlines()


def _paragraphs(text: str) -> Iterator[str]:
    """A docstring as Markdown: indented paragraphs are code."""
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith("    "):
            yield "```mlir"
            yield from inspect.cleandoc(f"\n{paragraph}").splitlines()
            yield "```"
        else:
            yield paragraph
        yield ""


def _first_paragraph(documented: type) -> str:
    """The docstring up to an empty line, an example or a syntax line."""
    lines = inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[0].splitlines()
    prose = [line for line in lines if not line.startswith("`%")]
    return " ".join(prose)


def _syntax(name: str, level: str) -> str:
    """The first line of the level's tests of syntax that has the operation, or its name where none has."""
    for file in sorted((TESTS / level).glob("*ops*.mlir")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if re.search(rf"(^|\s){re.escape(name)}(?![\w.])", line.partition("//")[0]):
                return line.strip()
    return name


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
