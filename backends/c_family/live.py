"""Which operations of a function are written: C compilers warn of a variable that nobody reads."""

from __future__ import annotations

from xdsl.ir import Block, Operation


def live_operations(block: Block) -> set[Operation]:
    """The operations inside a block that write memory or control what does, and those whose results these read."""
    live: set[Operation] = set()
    _add_live(block, live)
    return live


def _add_live(block: Block, live: set[Operation]) -> None:
    for op in reversed(list(block.ops)):
        only_makes_results = bool(op.results) and not op.regions
        if only_makes_results and not any(use.operation in live for result in op.results for use in result.uses):
            continue
        live.add(op)
        for region in op.regions:
            for inner in region.blocks:
                _add_live(inner, live)
