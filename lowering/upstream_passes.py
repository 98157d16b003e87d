"""xDSL's passes that make sense on any operation with regions, not only on a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import region_dce

from tilework.transforms.common_subexpressions import eliminate_common_subexpressions


def canonicalize(ctx: Context, op: Operation) -> None:
    """Apply the canonicalization patterns and folders of all operations inside `op`, and drop what is dead."""
    pattern = GreedyRewritePatternApplier([CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True)
    for region in op.regions:
        PatternRewriteWalker(pattern, post_walk_func=region_dce).rewrite_region(region)


def cse(ctx: Context, op: Operation) -> None:
    """Make equal pure operations inside `op` one."""
    eliminate_common_subexpressions(op)


def eliminate_dead_code(ctx: Context, op: Operation) -> None:
    """Drop pure operations inside `op` that nothing uses."""
    for region in op.regions:
        region_dce(region)


ANY_OP_PASSES: Mapping[str, Callable[[Context, Operation], None]] = {
    "canonicalize": canonicalize,
    "cse": cse,
    "dce": eliminate_dead_code,
}
"""The passes that may run on any operation, by name."""
