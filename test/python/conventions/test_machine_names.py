"""What a machine is called and how large its caches are is said by families of targets, and by what is made for one.

All else asks a target for what it has. A file that names an instruction set works for that one alone, and nobody who
adds a machine finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from places import ROOT

from tilework.targets import EXAMPLE

FAMILIES = sorted(folder.parent.name for folder in (ROOT / "targets").glob("*/__init__.py"))
FREE = (
    *(
        "targets/",
        *(
            f"{level}/{family}/"
            for family in FAMILIES
            for level in ("rules", "transforms", "lowering", "tools/bench", "tools/fuzz")
        ),
    ),
    *("backends/", "lowering/pipelines", *(f"lowering/loop_to_{family}" for family in FAMILIES)),
    *("dialects/isa/", "runtime/devices/", "compat/tvm/topi/", "examples/narrow_gemm.py", "test/", "docs/"),
)
"""How the paths begin of files that are made for some machines, or speak of them to readers."""

MEASURING = frozenset({"tools/bench/meters.py"})
"""Files that measure machines, with arrays that no cache holds."""

NAMES = {
    "instruction set": r"avx[a-z0-9]*|sse[0-9.]*|amx|neon|vnni|sve2?|fma[34]|i8mm|f16c",
    "processor": r"znver[0-9]*|zen ?[0-9]|haswell|broadwell|skylake|alderlake|cascadelake|icelake|[a-z]*[ _]?rapids"
    r"|xeon|epyc|intel|amd|cortex|neoverse|apple-m[0-9]|raspberry",
    "architecture": r"x86|amd64|aarch64|arm64|armv[0-9]|riscv[0-9]*",
    "accelerator": r"vdla|vta",
}
"""What is named -> its names; a digit or an underscore may follow one, or stand in front of it, a letter may not."""

_COUNT = re.compile(r"\b\d+ ?<< ?[123]0\b|\b\d+ ?\* ?1024\b|\b\d+ ?[kKMG]i?B\b")
_LEVEL = re.compile(r"\bcache_(bytes|sizes)\b *\[")


def named(text: str) -> set[str]:
    """What a text names of machines, as "processor haswell". The example of a target in help texts does not count."""
    text = text.replace(EXAMPLE, "").lower()
    return {
        f"{what} {name}"
        for what, names in NAMES.items()
        for name in re.findall(rf"(?<![a-z])(?:{names})(?![a-z])", text)
    }


def cache_sizes(text: str) -> Iterator[str]:
    """The lines that say how large a cache is: by a number of bytes beside the word, or by asking for one level."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        beside = " ".join(lines[at : at + 3])
        if _LEVEL.search(line) or (_COUNT.search(line) and re.search(r"\bcaches?\b", beside, re.IGNORECASE)):
            yield line.strip()


def files() -> list[str]:
    """The Python files that are for every machine."""
    folders = [ROOT / "examples", *(package.parent for package in ROOT.glob("*/__init__.py"))]
    paths = sorted(path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.py"))
    return [path for path in paths if not path.startswith(FREE)]


def content(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", files())
def test_what_is_for_every_machine_names_none(path: str):
    assert not named(content(path))
    assert bool(list(cache_sizes(content(path)))) == (path in MEASURING)


@pytest.mark.parametrize("family", FAMILIES)
def test_rules_measure_nothing_themselves(family: str):
    """How many bytes stay near is said in `targets/<family>/machines.py`, where all that was measured stands."""
    for file in (ROOT / "rules" / family).glob("*.py"):
        assert not _COUNT.search(file.read_text(encoding="utf-8")), file.name


def test_exceptions_are_there():
    assert set(files()) >= MEASURING


def test_families_are_found():
    assert "cpu" in FAMILIES and "rules/cpu/costs.py" not in files() and "rules/base.py" in files()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('target.has("avx512vnni")', {"instruction set avx512vnni"}),
        ("_emit_amx(op)", {"instruction set amx"}),
        ("# as on a Sapphire Rapids", {"processor sapphire rapids"}),
        ("is_rapids", {"processor is_rapids"}),
        ('if target.cpu == "znver4":', {"processor znver4"}),
        ('architecture == "x86_64"', {"architecture x86"}),
        ('"llvm -mcpu=haswell", "llvm"', set[str]()),
        ('"llvm -mcpu=skylake"', {"processor skylake"}),
        ("the arm of a select; neonate; lanes", set[str]()),
    ],
)
def test_the_check_for_names(text: str, found: set[str]):
    assert named(text) == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('NEAR = 32 << 10\n"""What stays in the nearest cache."""', 1),
        ("x <= target.cache_bytes[1]", 1),
        ("# rows of 48 KiB stay in a cache", 1),
        ("x <= target.core_cache_bytes", 0),
        ('LARGE = 1 << 20\n"""So many elements are many."""', 0),
    ],
)
def test_the_check_for_sizes(text: str, count: int):
    assert len(list(cache_sizes(text))) == count
