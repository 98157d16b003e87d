"""`tvm.target.Target`: which machine code is for."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.targets import parse_target

_TVMS_OWN = (
    "-device",
    "-keys",
    "-libs",
    "-link-params",
    "-max_num_threads",
    "-model",
    "-runtime",
    "-system-lib",
    "-thread_warp_size",
)
"""Options of TVM that choose among its schedules and libraries, which are not Tilework's."""


@dataclass(frozen=True)
class TargetKind:
    """The first word of a target."""

    name: str

    def __str__(self) -> str:
        return self.name


class Target:
    """A machine by TVM's text, such as "llvm -mcpu=haswell"; "llvm" alone is this machine.

    In a `with` block it is the target of what is built inside. Raises TVMError for one that is not known.
    """

    def __init__(self, target: Any, host: Any = None):
        if isinstance(target, dict):
            raise UsageError('a target is a text here, such as Target("llvm -mcpu=haswell"), not a dictionary')
        text = str(target)
        self.text = " ".join(word for word in text.split() if word.partition("=")[0] not in _TVMS_OWN)
        parse_target(self.text)
        self._tokens: list[Token[Target | None]] = []

    @property
    def kind(self) -> TargetKind:
        """The first word."""
        return TargetKind(self.text.split()[0])

    @property
    def keys(self) -> list[str]:
        """What TVM chooses schedules by."""
        return [self.kind.name, "gpu" if self.kind.name in ("cuda", "opencl") else "cpu"]

    @property
    def max_num_threads(self) -> int:
        """How many threads a block may have, 1 on a processor."""
        return getattr(parse_target(self.text), "max_threads_per_block", 1)

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with` block. Raises TVMError where there is none, unless it may be missing."""
        found = _current.get()
        if found is None and not allow_none:
            raise UsageError("no target: write `with tvm.target.Target(...)` around")
        return found

    def __enter__(self) -> Target:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        _current.reset(self._tokens.pop())

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


_current: ContextVar[Target | None] = ContextVar("tilework_tvm_target", default=None)


def create(target: str) -> Target:
    """A target by its text, as in TVM 0.7."""
    return Target(target)


def cuda(model: str = "unknown", options: str = "") -> Target:
    """A device of NVIDIA."""
    return Target(f"cuda {options}".strip())


def build_config(**config: Any) -> Any:
    """The options of lowering, as in TVM 0.6."""
    from tilework.compat.tvm.transform import PassContext

    return PassContext(config={f"tir.{key}": value for key, value in config.items()})
