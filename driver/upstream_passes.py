"""xDSL's passes that make sense on any operation with regions, not only on a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker, RewritePattern
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import RemoveUnusedOperations, region_dce

from tilework.transforms.common_subexpressions import eliminate_common_subexpressions


@dataclass(frozen=True)
class Canonicalize(ModulePass):
    """xDSL's pass of that name, with those options of mlir-opt's that mean something here.

    All operations are looked at again until nothing changes, or `max-iterations` times where that is not negative; from
    the first on, or with `top-down=false` from the last. `region-simplify=disabled` leaves blocks that nothing reaches.
    """

    name = "canonicalize"

    max_iterations: int = -1
    top_down: bool = True
    region_simplify: Literal["normal", "disabled"] = "normal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        canonicalize(self, ctx, op)


def canonicalize(options: Canonicalize, ctx: Context, op: Operation) -> None:
    """Apply the canonicalization patterns and folders of all operations inside `op`, and drop what is dead."""
    patterns: list[RewritePattern] = [RemoveUnusedOperations(), CanonicalizationRewritePattern()]
    endless = options.max_iterations < 0
    walker = PatternRewriteWalker(
        GreedyRewritePatternApplier(patterns, ctx=ctx, folding_enabled=True),
        walk_reverse=not options.top_down,
        apply_recursively=endless,
        post_walk_func=region_dce if options.region_simplify == "normal" else None,
    )
    for region in op.regions:
        for _ in range(1 if endless else options.max_iterations):
            if not walker.rewrite_region(region):
                break


def cse(_: ModulePass, ctx: Context, op: Operation) -> None:
    """Make equal pure operations inside `op` one."""
    eliminate_common_subexpressions(op)


def eliminate_dead_code(_: ModulePass, ctx: Context, op: Operation) -> None:
    """Drop pure operations inside `op` that nothing uses."""
    for region in op.regions:
        region_dce(region)


ANY_OP_PASSES: Mapping[str, Callable[[Any, Context, Operation], None]] = {
    "canonicalize": canonicalize,
    "cse": cse,
    "dce": eliminate_dead_code,
}
"""What these passes, by name, do on any operation."""
