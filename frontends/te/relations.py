"""What a schedule has done to the axes of a stage, as `Stage.relations` and `Stage.iter_var_attrs` tell it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilework.dialects.schedule import Number
from tilework.frontends.te.index import IterVar
from tilework.frontends.te.tensor_intrin import TensorIntrin


@dataclass(frozen=True, eq=False)
class Split:
    """One axis became two; of `factor` and `nparts` one is None."""

    parent: IterVar
    outer: IterVar
    inner: IterVar
    factor: Number | None
    nparts: Number | None


@dataclass(frozen=True, eq=False)
class Fuse:
    """Adjacent axes became one, the first outermost."""

    parents: tuple[IterVar, ...]
    fused: IterVar


@dataclass(frozen=True, eq=False)
class Singleton:
    """An axis of extent 1 was added."""

    iter: IterVar


Relation: TypeAlias = Split | Fuse | Singleton


@dataclass(eq=False)
class IterVarAttr:
    """How the loop of an axis runs.

    iter_type: a number of `IterVar`, such as `IterVar.Vectorized`. bind_thread: the thread axis that it is bound to.
    tensor_intrin: what it is tensorized with. pragma_keys, pragma_values: what was asked by `pragma`, in order.
    """

    iter_type: int
    bind_thread: IterVar | None = None
    tensor_intrin: TensorIntrin | str | None = None
    pragma_keys: list[str] = field(default_factory=list[str])
    pragma_values: list[Number | str | None] = field(default_factory=list["Number | str | None"])
