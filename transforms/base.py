"""What every Tilework pass has in common: an anchor, what is legal after it, and what it does to rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

Legality = Callable[[Operation], str | None]
"""Says why an operation may not stand after a pass, or None where it may."""


@dataclass(frozen=True)
class TileworkPass(ModulePass):
    """A pass anchored on one kind of operation; on a module it runs on each such operation inside.

    A subclass has a `name` that agrees with its file (`transforms/loop/simplify.py` is `loop-simplify`), a docstring
    with `before -> after`, and a `run`. Fields of the dataclass are the pass's options.
    """

    anchor: ClassVar[type[Operation]] = ModuleOp
    legal_after: ClassVar[Legality | None] = None
    numerics: ClassVar[Literal["exact", "reassociates"]] = "exact"

    def run(self, ctx: Context, op: Operation) -> None:
        """Rewrite one `op` of kind `anchor` in place."""
        raise NotImplementedError

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for anchored in list(self.anchored(op)):
            self.run(ctx, anchored)

    @classmethod
    def anchored(cls, root: Operation) -> Iterator[Operation]:
        """`root` itself or the operations of kind `anchor` inside it, outermost only."""
        if isinstance(root, cls.anchor):
            yield root
            return
        for region in root.regions:
            for block in region.blocks:
                for op in block.ops:
                    yield from cls.anchored(op)
