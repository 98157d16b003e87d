"""Which threads of a device, and how many, an axis of `te.thread_axis` stands for."""

from __future__ import annotations

from tilework.algebra.errors import UsageError
from tilework.dialects.loop import THREADS, Kind
from tilework.frontends.te.arguments import kind
from tilework.frontends.te.extents import extent_of
from tilework.frontends.te.index import IterVar

CONTEXT_THREAD = "cthread"
"""TVM's name for a virtual thread that shares no buffer; here threads share just those that are the same for all."""


def thread_tag(thread: object, what: str) -> str:
    """Which threads an axis of te.thread_axis stands for. Raises UsageError for anything else."""
    if not isinstance(thread, IterVar):
        raise UsageError(f"{what} takes axes that te.thread_axis makes, not {kind(thread)}")
    tag = Kind.VIRTUAL if thread.thread_tag == CONTEXT_THREAD else thread.thread_tag
    if tag not in tuple(THREADS):
        known = ", ".join((*THREADS, CONTEXT_THREAD))
        raise UsageError(f"{what}: '{tag or thread.name}' is no thread axis; known: {known}")
    return tag


def threads_of(thread: IterVar, tag: str, what: str) -> int:
    """How many threads an axis of te.thread_axis has. Raises UsageError where it does not say a number."""
    extent = None if thread.dom is None else extent_of(thread).constant
    if extent is None or extent < 1:
        raise UsageError(f'{what} takes numbers of threads, from 1 on: te.thread_axis((0, 32), "{tag}")')
    return extent
