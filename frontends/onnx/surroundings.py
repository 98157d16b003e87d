"""What a node may ask of the graph that it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import onnx

from tilework.frontends.onnx.emitter import Emitter
from tilework.frontends.onnx.values import AnyValue


class Surroundings(Protocol):
    """The graph around a node."""

    def import_graph(self, graph: onnx.GraphProto, inputs: Sequence[AnyValue], emitter: Emitter) -> list[AnyValue]:
        """The outputs of a graph inside of a node for its inputs; its operators are emitted."""
        ...

    def try_graph(self, graph: onnx.GraphProto, emitter: Emitter) -> list[AnyValue] | Exception:
        """The outputs of a graph without inputs, or why it cannot be imported; nothing stays emitted."""
        ...

    def declared_rank(self, name: str) -> int | None:
        """The number of axes that the model declares for a value."""
        ...

    def branch(self, title: str, likely: str, other: str) -> str:
        """Which branch of an If is imported, where nothing says which."""
        ...
