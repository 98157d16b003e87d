"""A graph as a module: what `IRModule.from_expr` makes of a function of relay."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.compat.tvm.relay.expr import Function
from tilework.compat.tvm.relay.graph import graph_of


class RelayModule:
    """A graph module and its parameters, or the function that it is made of. As text it is the graph."""

    def __init__(self, graph: ModuleOp, parameters: dict[str, Any], function: Function | None = None):
        self.graph = graph
        self.parameters = parameters
        self.function = function

    @staticmethod
    def of(function: Function) -> RelayModule:
        """The module of a function, of which all variables are inputs."""
        graph, parameters = graph_of(function, {})
        return RelayModule(graph, parameters, function)

    def clone(self) -> RelayModule:
        """A module that passes may change; it is no function of relay any more."""
        return RelayModule(self.graph.clone(), dict(self.parameters))

    def __getitem__(self, name: str) -> Any:
        return self.function if self.function is not None and name == "main" else self.graph

    def astext(self) -> str:
        """The graph as `.mlir`."""
        return str(self.graph)

    __str__ = astext
