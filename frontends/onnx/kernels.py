"""Nodes whose operators te kernels of the program's own define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx.node import Converter, Node
from tilework.frontends.onnx.types import require_addressable

if TYPE_CHECKING:  # as in importer.py
    from tilework.frontends.te.operator import Kernel


def by_kernel(kernel: Kernel) -> Converter:
    """The converter for nodes of an operator that this kernel defines: attributes are its keyword arguments."""

    def convert(node: Node) -> Sequence[SSAValue]:
        operands = [node.tensor(i) if node.has(i) else None for i in range(len(node.inputs))]
        types = [None if v is None else cast("TensorType[Attribute]", v.type) for v in operands]
        attributes = {attribute.name: node.attribute(attribute.name) for attribute in node.proto.attribute}
        try:
            made = KernelOp.holding(kernel.lower(types, attributes), [v for v in operands if v is not None])
            for result in made.results:
                require_addressable(cast("TensorType[Attribute]", result.type), "its result")
        except (TileworkError, VerifyException) as error:
            raise node.error(str(error)) from error
        if len(made.results) < len(node.proto.output):
            found = f"kernel {kernel.name} returns {len(made.results)} of them"
            raise node.error(f"the node has {len(node.proto.output)} outputs, but {found}")
        node.emitter.insert(made, node.title)
        return made.results

    return convert
