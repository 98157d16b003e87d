"""What may be chosen in a template, and what a choice does to a schedule. Names and policies are AutoTVM's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.te.index import IterVar
from tilework.frontends.te.schedule import Schedule
from tilework.frontends.te.tensor import Operation, Tensor

SPLITS = ("factors", "power2", "verbose", "candidate")
ORDERS = ("identity", "all", "interval_all", "candidate")
ANNOTATIONS = ("none", "unroll", "vec", "try_unroll", "try_vec", "try_unroll_vec", "bind_gpu", "bind_gpu_virtual")

BLOCKS = ("blockIdx.z", "blockIdx.y", "blockIdx.x")
THREADS = ("threadIdx.z", "threadIdx.y", "threadIdx.x")


@dataclass(frozen=True)
class Split:
    """The sizes of the parts of an axis, the outermost -1: what is left."""

    size: tuple[int, ...]

    def apply(self, s: Schedule, op: Tensor | Operation, axis: IterVar) -> list[IterVar]:
        """Split the axis; the parts, outermost first."""
        parts: list[IterVar] = []
        for factor in reversed(self.size[1:]):
            axis, inner = s[op].split(axis, factor=factor)
            parts.insert(0, inner)
        return [axis, *parts]


@dataclass(frozen=True)
class Reorder:
    """A permutation of axes."""

    perm: tuple[int, ...]

    def apply(self, s: Schedule, op: Tensor | Operation, axes: Sequence[IterVar]) -> list[IterVar]:
        """Reorder the axes; as they are then."""
        ordered = [axes[at] for at in self.perm]
        if len(ordered) > 1:
            s[op].reorder(*ordered)
        return ordered


@dataclass(frozen=True)
class Annotate:
    """What is done to each axis: "none", "unroll", "vec" or a thread axis."""

    anns: tuple[str, ...]

    def apply(self, s: Schedule, op: Tensor | Operation, axes: Sequence[IterVar]) -> list[IterVar]:
        """Annotate the axes."""
        from tilework.frontends.te import thread_axis

        for axis, annotation in zip(axes, self.anns, strict=True):
            if annotation == "unroll":
                s[op].unroll(axis)
            elif annotation == "vec":
                s[op].vectorize(axis)
            elif annotation != "none":
                s[op].bind(axis, thread_axis(annotation))
        return list(axes)


@dataclass(frozen=True)
class OtherOption:
    """Any value."""

    val: Any


def splits(
    extent: int, policy: str, outputs: int, most: int | None, candidates: Sequence[Sequence[int]]
) -> list[Split]:
    """The ways to split an extent into so many parts. most: the largest innermost one."""
    _check("define_split", policy, SPLITS)
    if policy == "candidate":
        return [Split(tuple(sizes)) for sizes in candidates]
    if policy == "factors":
        factors = [n for n in range(1, extent + 1) if extent % n == 0]
    elif policy == "power2":
        factors = [1 << n for n in range(max(1, extent).bit_length())]
    else:
        factors = list(range(1, extent + 1))
    found: list[Split] = []
    for inner in product(factors, repeat=outputs - 1):
        size = prod(inner)
        fits = extent % size == 0 if policy == "factors" else size <= extent
        if fits and (most is None or not inner or inner[-1] <= most):
            found.append(Split((-1, *inner)))
    return found


def orders(count: int, policy: str, candidates: Sequence[Sequence[int]]) -> list[Reorder]:
    """The orders of so many axes."""
    _check("define_reorder", policy, ORDERS)
    identity = tuple(range(count))
    if policy == "identity":
        return [Reorder(identity)]
    if policy == "candidate":
        return [Reorder(tuple(order)) for order in candidates]
    if policy == "all":
        return [Reorder(order) for order in permutations(identity)]
    intervals = [(a, b) for a in range(count) for b in range(a + 2, count + 1)]
    moved = [(*identity[:a], *order, *identity[b:]) for a, b in intervals for order in permutations(identity[a:b])]
    return [Reorder(order) for order in dict.fromkeys([identity, *moved])]


def annotates(count: int, policy: str) -> list[Annotate]:
    """The ways to annotate so many axes."""
    _check("define_annotate", policy, ANNOTATIONS)
    if policy == "bind_gpu":
        return [Annotate(tuple([*BLOCKS, *THREADS][:count]))]
    if policy == "bind_gpu_virtual":
        return [Annotate(tuple(["vthread"] * count))]
    words = {
        "none": ("none",),
        "unroll": ("unroll",),
        "vec": ("none",),
        "try_unroll": ("none", "unroll"),
        "try_vec": ("none",),
        "try_unroll_vec": ("none", "unroll"),
    }[policy]
    last = {"vec": ("vec",), "try_vec": ("none", "vec"), "try_unroll_vec": (*words, "vec")}.get(policy, words)
    return [Annotate(anns) for anns in product(*[words] * (count - 1), last)] if count else [Annotate(())]


def filtered(found: list[Any], keep: Callable[[Any], bool] | None, name: str) -> list[Any]:
    """What a user's filter keeps. Raises UsageError where it keeps nothing."""
    kept = found if keep is None else [entity for entity in found if keep(entity)]
    if not kept:
        raise UsageError(f"'{name}' has nothing to choose from: loosen its filter, or give other candidates")
    return kept


def _check(what: str, policy: str, known: Sequence[str]) -> None:
    if policy not in known:
        raise UsageError(f"{what}: the policies are {', '.join(known)}, not '{policy}'")
