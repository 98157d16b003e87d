"""Drop operators that change nothing, and chains of movements that one movement can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from tilework.dialects.graph.canonicalization import PATTERNS
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class RemoveIdentities(GraphPatternPass):
    """Remove dropout, casts to the same type, and movements that leave every element in place; join the others.

        %1 = graph.dropout %0 {ratio = ...}
        %2 = graph.reshape %1 {shape = [2, 6]}         ->     %3 = graph.reshape %0 {shape = [3, 4]}
        %3 = graph.reshape %2 {shape = [3, 4]}

    Additions of -0.0, products with 1 and the second of two equal relus or clips go too. Two transposes become one; one
    that moves only axes of size 1 becomes a reshape, which costs nothing. The patterns are those of `canonicalize`,
    each tried once on every operator.
    Requires nothing; a movement that another one stands for goes where nothing else reads it.
    """

    name = "graph-remove-identities"

    @classmethod
    def pattern_types(cls) -> list[type[RewritePattern]]:
        return [type(pattern) for pattern in PATTERNS]

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        return PATTERNS
