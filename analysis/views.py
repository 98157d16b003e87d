"""What tensors are views of."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.analysis.post_dominators import VIEW
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.shapes import dims_of


def behind_reshapes(value: SSAValue) -> SSAValue:
    """The tensor that a value is another shape of, or itself."""
    while isinstance(view := value.owner, ReshapeOp) and VIEW in view.attributes:
        value = view.input
    return value


def has_constant_strides(value: SSAValue) -> bool:
    """Whether a part of the tensor lies at distances in memory that are known when it is compiled."""
    return all(d.is_constant for d in dims_of(value.type)[1:])
