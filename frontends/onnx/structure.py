"""The shape of an ONNX graph as such: names, order, what is needed. Nothing here knows an operator."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence, Set

import onnx

from tilework.dialects.support.diagnostics import TileworkError

SHOWN = 5
"""How many names a message lists."""


def node_title(node: onnx.NodeProto, index: int) -> str:
    """What messages and locations call a node: its name, or its operator and position."""
    return node.name or f"{node.op_type}_{index}"


def reads(node: onnx.NodeProto) -> list[str]:
    """The names that a node reads, those that graphs inside of it take from around it too."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
            names += _free(graph)
    return names


def _free(graph: onnx.GraphProto) -> list[str]:
    """The names that a graph takes from around it."""
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    wanted = [name for node in graph.node for name in reads(node)] + [value.name for value in graph.output]
    return [name for name in dict.fromkeys(wanted) if name not in own]


def declared_ranks(graph: onnx.GraphProto) -> dict[str, int]:
    """How many axes values have, as far as a graph says so."""
    shapes = {value.name: value.type.tensor_type for value in (*graph.value_info, *graph.output)}
    return {name: len(tensor.shape.dim) for name, tensor in shapes.items() if tensor.HasField("shape")}


def ordered_nodes(graph: onnx.GraphProto, around: Set[str] = frozenset()) -> list[tuple[str, onnx.NodeProto]]:
    """The nodes that the outputs need, each after those it reads, with their titles. Raises TileworkError.

    around: the names that there are outside of the graph.
    """
    titles = [node_title(node, index) for index, node in enumerate(graph.node)]
    producer = _producers(graph, titles)
    given = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    given |= {tensor.values.name for tensor in graph.sparse_initializer} | around
    _check_defined(graph, titles, given | producer.keys())
    order = _topological(graph.node, titles, producer)
    needed = _needed(graph, producer)
    return [(titles[index], graph.node[index]) for index in order if index in needed]


def _producers(graph: onnx.GraphProto, titles: Sequence[str]) -> dict[str, int]:
    """Which node makes a value; every value has one name and every name one value."""
    for what, names in (
        ("input", [value.name for value in graph.input]),
        ("initializer", [tensor.name for tensor in graph.initializer]),
        ("output", [value.name for value in graph.output]),
    ):
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise TileworkError(f"the graph has two {what}s named {_listed(twice)}")
        if "" in names and what != "initializer":
            raise TileworkError(f"{what} {names.index('')} of the graph has no name")
    given = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    producer: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in producer:
                raise TileworkError(f"'{name}' is made twice: by '{titles[producer[name]]}' and by '{titles[index]}'")
            if name in given:
                raise TileworkError(
                    f"'{name}', an input or initializer of the graph, is also made by '{titles[index]}'"
                )
            producer[name] = index
    return producer


def _check_defined(graph: onnx.GraphProto, titles: Sequence[str], defined: set[str]) -> None:
    if not graph.output:
        raise TileworkError("the graph has no outputs")
    if missing := [value.name for value in graph.output if value.name not in defined]:
        raise TileworkError(f"nothing in the graph makes its output {_listed(missing)}")
    for title, node in zip(titles, graph.node, strict=True):
        if missing := [name for name in reads(node) if name not in defined]:
            raise TileworkError(
                f"'{title}' ({node.op_type}) reads {_listed(missing)}, which nothing in the graph makes"
            )


def _topological(nodes: Sequence[onnx.NodeProto], titles: Sequence[str], producer: dict[str, int]) -> list[int]:
    """Indices of nodes so that each stands after those it reads; the given order wherever that is one."""
    waiting = [0] * len(nodes)
    readers: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for source in {producer[name] for name in reads(node) if name in producer}:
            waiting[index] += 1
            readers[source].append(index)
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        cycle = [titles[index] for index, count in enumerate(waiting) if count]
        raise TileworkError(f"the graph has a cycle; it passes through or feeds {_listed(cycle)}")
    return order


def _needed(graph: onnx.GraphProto, producer: dict[str, int]) -> set[int]:
    """The nodes from which an output can be reached."""
    pending = [value.name for value in graph.output]
    needed: set[int] = set()
    while pending:
        index = producer.get(pending.pop())
        if index is not None and index not in needed:
            needed.add(index)
            pending += reads(graph.node[index])
    return needed


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(f"'{name}'" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
