"""What tensors are views of."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.analysis.post_dominators import VIEW
from tilework.dialects.graph.reshape import ReshapeOp


def behind_reshapes(value: SSAValue) -> SSAValue:
    """The tensor that a value is another shape of, or itself."""
    while isinstance(view := value.owner, ReshapeOp) and VIEW in view.attributes:
        value = view.input
    return value
