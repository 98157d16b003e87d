"""Memory scopes: the memories in which buffers may live, from far to near."""

from __future__ import annotations

SCOPES = {"global": 0, "shared": 1, "warp": 2, "local": 3, "register": 3}
"""The scopes that every machine has a word for, with their rank: how many kinds of threads each is private to.

`register` asks for constant subscripts once loops are unrolled. A tag may follow the others: `local.weights`.
"""

PRIVATE = 3
"""The rank of scopes that belong to one thread, such as the registers of a machine that intrinsics work on."""


SHARED = "shared"
"""The scope of what the threads of a block share."""


def untagged(scope: str | None) -> str | None:
    """A scope without its tag. None stands for the host's memory, or that of a kernel's arguments."""
    return None if scope is None else scope.partition(".")[0]


def rank_of(scope: str) -> int:
    """The rank of a scope, whatever its tag. What is none of `SCOPES` are registers that intrinsics work on."""
    return SCOPES.get(scope.partition(".")[0], PRIVATE)


def is_private(scope: str | None) -> bool:
    """Whether every thread has the buffers of a scope for itself."""
    return scope is not None and rank_of(scope) == PRIVATE


def is_of_intrinsics(scope: str | None) -> bool:
    """Whether a scope is a machine's own, whose buffers nothing but intrinsics touches. None stands for the host's."""
    return scope is not None and scope.partition(".")[0] not in SCOPES


def has_no_addresses(scope: str | None) -> bool:
    """Whether buffers of a scope are registers, so that subscripts have to be constants where code is emitted."""
    return scope == "register" or is_of_intrinsics(scope)
