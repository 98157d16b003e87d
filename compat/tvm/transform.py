"""`tvm.transform.PassContext`: options of lowering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.compat.tvm.refused import refused

_CHECKS = "tir.instrument_bound_checkers"
_SPEED = (
    "tir.detect_global_barrier",
    "tir.disable_assert",
    "tir.disable_vectorize",
    "tir.noalias",
    "tir.HoistIfThenElse",
    "tir.InjectDoubleBuffer",
    "tir.LoopPartition",
    "tir.UnrollLoop",
    "relay.FuseOps.max_depth",
    "relay.backend.use_auto_scheduler",
)
"""Options that say how to lower what means the same: Tilework's passes decide that by themselves."""


class PassContext:
    """Options for what is lowered inside of a `with` block.

    opt_level, required_pass and disabled_pass are TVM's: Tilework has one pipeline a target. config: what
    "tir.instrument_bound_checkers" asks for is done; options about speed are taken, and Tilework decides; others are
    refused.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[Any] | None = None,
        config: Mapping[str, Any] | None = None,
    ):
        if instruments:
            refused("transform.PassContext(instruments=)", "tilework.compile takes instrumentations=")()
        self.opt_level = opt_level
        self.required_pass = list(required_pass or ())
        self.disabled_pass = list(disabled_pass or ())
        self.config = dict(config or {})
        for key in self.config:
            if key not in (_CHECKS, *_SPEED):
                raise UsageError(f"PassContext: Tilework has no option '{key}'; known: {', '.join((_CHECKS, *_SPEED))}")
        self._token: Token[PassContext | None] | None = None

    @property
    def checks_bounds(self) -> bool:
        """Whether functions check their subscripts as they run."""
        return bool(self.config.get(_CHECKS))

    @staticmethod
    def current() -> PassContext:
        """The innermost context, or one without options."""
        return _current.get() or PassContext()

    def __enter__(self) -> PassContext:
        self._token = _current.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._token is not None
        _current.reset(self._token)


_current: ContextVar[PassContext | None] = ContextVar("tilework_tvm_pass_context", default=None)
