"""A graph of ONNX while it is drawn: its nodes, and the types of the values that a new node may read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tilework.tools.fuzz.draw import Draw

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

DATA = "k"
"""How the names of sizes begin that data tell, and that may be 0."""


@dataclass(frozen=True)
class Type:
    """An element type and dimensions: numbers, or names, which are equal where the sizes are."""

    element: int
    dims: tuple[int | str, ...]

    def may_be_empty(self) -> bool:
        """Whether data may decide that there is no element."""
        return any(isinstance(d, str) and DATA in d for d in self.dims)


@dataclass
class Names:
    """Numbers the names of a model, and holds what all of its graphs share."""

    numbers: count[int] = field(default_factory=count)
    functions: list[onnx.FunctionProto] = field(default_factory=list[onnx.FunctionProto])

    def fresh(self, prefix: str = "v") -> str:
        """A name that no other value has."""
        return f"{prefix}{next(self.numbers)}"


@dataclass
class Graph:
    """Nodes, and what they may read: own values and, in a body, those around it."""

    draw: Draw
    names: Names
    depth: int = 0
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    values: dict[str, Type] = field(default_factory=dict[str, Type])
    outside: frozenset[str] = frozenset()
    """The sizes that are known around a body; a result of it has no others."""

    def inside(self, closed: bool = False) -> Graph:
        """A body in this graph, which reads what is around it unless it is `closed`."""
        return Graph(self.draw, self.names, self.depth + 1, [], {} if closed else {**self.values}, self.sizes())

    def sizes(self) -> frozenset[str]:
        """The names of sizes that values have."""
        return frozenset(d for t in self.values.values() for d in t.dims if isinstance(d, str))

    def fits_outside(self, name: str) -> bool:
        """Whether a value has no size that is told in this body only."""
        return all(isinstance(d, int) or d in self.outside for d in self.values[name].dims)

    def argument(self, type_: Type, prefix: str = "v") -> str:
        """A value that is given, by its new name."""
        name = self.names.fresh(prefix)
        self.values[name] = type_
        return name

    def emit(self, op: str, inputs: Sequence[str], type_: Type, **attributes: Any) -> str:
        """The result of a new node."""
        return self.emit_all(op, inputs, [type_], **attributes)[0]

    def emit_all(self, op: str, inputs: Sequence[str], types: Iterable[Type], **attributes: Any) -> list[str]:
        """The results of a new node."""
        results = [self.argument(type_) for type_ in types]
        self.nodes.append(helper.make_node(op, inputs, results, **attributes))
        return results

    def constant(self, number: Any, element: int = INT64) -> str:
        """A number, or a list of them."""
        array = np.array(number, helper.tensor_dtype_to_np_dtype(element))
        return self.emit("Constant", [], Type(element, array.shape), value=numpy_helper.from_array(array))

    def unread(self, number: int) -> str:
        """An integer that no other node reads, as it is not small."""
        name = self.constant(number)
        del self.values[name]
        return name

    def any(self, holds: Callable[[Type], bool]) -> str | None:
        """One of the values whose type is so; None where there is none."""
        found = [name for name, type_ in self.values.items() if holds(type_)]
        return self.draw.choice(found) if found else None

    def like(self, type_: Type) -> str | None:
        """A value of that type, one of the later ones most often."""
        found = [name for name, other in self.values.items() if other == type_]
        return self.draw.choice(found[-3:] if self.draw.chance(70) else found) if found else None

    def like_but_for_a_size(self, name: str) -> str | None:
        """A value like another one that has other sizes along some axes."""
        type_ = self.values[name]
        return self.any(lambda t: t != type_ and t.element == type_.element and len(t.dims) == len(type_.dims))

    def small(self, name: str) -> str:
        """The numbers of a value, cut off so that all that is computed of them is exact."""
        type_ = self.values[name]
        limits = [self.constant(end, type_.element) for end in (-9, 9)]
        return self.emit("Clip", [name, *limits], type_)

    def graph(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> onnx.GraphProto:
        """The graph as ONNX holds it."""
        given = [helper.make_tensor_value_info(v, self.values[v].element, self._declared(v)) for v in inputs]
        return helper.make_graph(self.nodes, name, given, [helper.make_empty_tensor_value_info(v) for v in outputs])

    def _declared(self, name: str) -> list[int | str | None]:
        return [d if isinstance(d, int) or d.isupper() else None for d in self.values[name].dims]
