"""`tvm.contrib.clang`: functions of C for the pragma "import_llvm". The machine's C compiler is enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilework.compat.tvm.refused import refused


def create_llvm(inputs: str | Sequence[str], output: str | None = None, options: Sequence[str] | None = None) -> str:
    """A text for the pragma "import_llvm": the sources themselves, in C, which are compiled there.

    inputs: sources, or the paths of files. output is TVM's: no file is written. options are refused.
    """
    if options:
        refused("contrib.clang.create_llvm(options=)", "the compiler optimizes for this machine")()
    given = [inputs] if isinstance(inputs, str) else list(inputs)
    return "\n".join(Path(text).read_text(encoding="utf-8") if _is_path(text) else text for text in given)


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith((".c", ".cc", ".cpp"))
