"""What compiling a program results in, before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from tilework.driver.kernels import ProgramCode
from tilework.runtime.compile_report import CompileReport
from tilework.runtime.manifest import Manifest

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class CompiledModel:
    """Pieces of code that together define the manifest's entry, and data that it needs.

    parameters: those that the entry takes. weights: those that callers may replace, or that parameters are computed
    from then. prepare: a module whose @prepare computes parameters from the model's weights; empty where none is.
    """

    code: ProgramCode
    manifest: Manifest
    parameters: dict[str, Array]
    weights: Mapping[str, Array]
    report: CompileReport
    prepare: str
