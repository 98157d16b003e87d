"""Passes that are sets of rewrite patterns, and the walk that applies them.

A pattern is one of xDSL's: it refuses first, states its algebra, and replaces last, by way of its rewriter or with a
note to it, so that whoever applies it knows that something was done. It is called after its pass and its class:
`MergeIntoConsumer` of `graph-fuse-operators` is `graph-fuse-operators.merge-into-consumer`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from inspect import getclosurevars, isabstract, isclass
from typing import Any, ClassVar, TypeGuard

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import DiagnosticException, ParseError

from tilework.dialects.support.diagnostics import CompileError, TileworkError, UsageError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass


class PatternPass(TileworkPass):
    """A pass that tries each of its patterns once on every operation inside its anchor.

    Its patterns are those that its module defines or imports. A subclass says no more, unless patterns need its options
    or what is known of all of the anchor (`patterns`), or not all operations are looked at, outer ones first
    (`operations`), or one rewrite makes room for the next (`inserted_too`).
    """

    inserted_too: ClassVar[bool] = False
    """Whether patterns are tried on what a pattern inserts, too, before the operations that come next."""

    @classmethod
    def pattern_types(cls) -> list[type[RewritePattern]]:
        """The types of its patterns, in the order of their definitions."""
        return [member for member in vars(sys.modules[cls.__module__]).values() if _is_pattern(member)]

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        """One pattern of each type, with what it needs to know of the anchor `op`, in the order to try them in."""
        return [pattern() for pattern in self.pattern_types()]

    def operations(self, op: Operation) -> Iterable[Operation]:
        """The operations of the anchor `op` to try them on, in order, as they are before any is rewritten."""
        return (inner for region in op.regions for inner in region.walk())

    def run(self, ctx: Context, op: Operation) -> None:
        operations = list(self.operations(op))
        if operations:
            rewrite(operations, self.patterns(op), inserted_too=self.inserted_too)


def _is_pattern(member: object) -> TypeGuard[type[RewritePattern]]:
    if not isclass(member) or isabstract(member) or not issubclass(member, RewritePattern):
        return False
    return not member.__module__.startswith("xdsl.")


def rewrite(operations: Iterable[Operation], patterns: Sequence[RewritePattern], *, inserted_too: bool = False) -> bool:
    """Try patterns once on each operation that is still there when its turn comes; whether any rewrote something.

    What patterns insert is tried with `inserted_too` only, as soon as the operation is done that it was inserted for.
    xDSL's walker would call every pattern for every operation; here a pattern is called for the operations that its
    signature names.
    """
    interested = Interested(patterns)
    todo = [op for op in operations if interested.patterns(op)]
    todo.reverse()
    changed = False
    while todo:
        op = todo.pop()
        inserted: list[Operation] = []
        changed |= try_patterns(op, interested, inserted)
        if inserted_too:
            new = [inner for outer in inserted for inner in outer.walk() if interested.patterns(inner)]
            todo.extend(reversed(new))
    return changed


def try_patterns(op: Operation, interested: Interested, inserted: list[Operation] | None = None) -> bool:
    """Try patterns once on an operation, for as long as it is there; whether any rewrote something.

    What they insert is added to `inserted`.
    """
    changed = False
    for pattern in interested.patterns(op):
        if op.parent is None:  # an earlier rewrite has erased it, or what held it
            break
        rewriter = interested.rewriter_at(op, inserted)
        try:
            pattern.match_and_rewrite(op, rewriter)
        except Exception as error:
            raise _located(error, pattern, op) from error
        if rewriter.has_done_action:
            changed = True
            if (counts := _counts.get()) is not None:
                counts[type(pattern)] += 1
    return changed


_counts: ContextVar[Counter[type[RewritePattern]] | None] = ContextVar("_counts", default=None)


@contextmanager
def counted_rewrites() -> Generator[Counter[type[RewritePattern]]]:
    """Count, inside the `with`, how often a pattern of each type rewrites something."""
    counts = Counter[type[RewritePattern]]()
    token = _counts.set(counts)
    try:
        yield counts
    finally:
        _counts.reset(token)


class PatternFailure(Exception):
    """A defect of a pattern: it threw something that is not the user's to mend, which is the `__cause__`."""

    def __init__(self, pattern: RewritePattern, op: Operation):
        super().__init__(f"{type(pattern).__name__} failed")
        self.pattern = pattern
        self.op = op


def _located(error: Exception, pattern: RewritePattern, op: Operation) -> Exception:
    """What to raise for an error that a pattern threw: it is about the operation unless it names another one."""
    match error:
        case CompileError():
            error.op = error.op or op
            return error
        case UsageError() | ParseError() | MemoryError() | RecursionError() | PatternFailure():
            return error
        case TileworkError() | DiagnosticException():
            return CompileError(str(error), op)
        case _:
            return PatternFailure(pattern, op)


class Interested:
    """The patterns for every type of operation, and one rewriter for all of them, as xDSL's walker has."""

    def __init__(self, patterns: Sequence[RewritePattern]):
        self._rewriter: PatternRewriter | None = None
        self._roots = [(pattern, roots_of(type(pattern))) for pattern in patterns]
        self._by_type: dict[type[Operation], list[RewritePattern]] = {}

    def patterns(self, op: Operation) -> list[RewritePattern]:
        """Those that may match the operation, in order."""
        found = self._by_type.get(type(op))
        if found is None:
            found = [pattern for pattern, roots in self._roots if isinstance(op, roots)]
            self._by_type[type(op)] = found
        return found

    def rewriter_at(self, op: Operation, inserted: list[Operation] | None) -> PatternRewriter:
        """The rewriter in front of an operation, which has done nothing yet.

        What it inserts has the operation's location, unless it has one already, and is added to `inserted`.
        """
        if self._rewriter is None:
            self._rewriter = PatternRewriter(op)
        else:
            self._rewriter.current_operation = op
            self._rewriter.insertion_point = InsertPoint.before(op)
            self._rewriter.has_done_action = False
        noted = [] if inserted is None else [inserted.append]
        self._rewriter.operation_insertion_handler = [lambda new: copy_location(new, op), *noted]
        return self._rewriter


@cache
def roots_of(pattern: type[RewritePattern]) -> Any:
    """What the operations that a pattern can match are instances of: what `op_type_rewrite_pattern` lets through."""
    return getclosurevars(pattern.match_and_rewrite).nonlocals.get("expected_type", Operation)


def pattern_name(owner: str, pattern: type[RewritePattern]) -> str:
    """What a pattern of the pass `owner` is called."""
    words = re.findall(r"[A-Z][a-z]*|\d+", pattern.__name__)
    return f"{owner}.{'-'.join(words).lower()}"
