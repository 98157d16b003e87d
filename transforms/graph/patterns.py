"""Passes whose rewrite patterns are tried on the operators of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled
from tilework.transforms.patterns import PatternPass


class GraphPatternPass(PatternPass):
    """Its patterns are tried on the operators of every function that kernels are made of, in program order.

    Those of scans count, those inside of kernels do not.
    """

    anchor: ClassVar = FuncOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        assert isinstance(op, FuncOp)
        return [operator for graph in graphs_of(op) for operator in graph.ops] if is_compiled(op) else []
