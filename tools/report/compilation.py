"""What a compilation did, for a page: the graph with its fusion groups, and each kernel at every level.

Operators are followed through the levels by their locations, which every pass keeps: before fusion each gets its number
for a name, and after it each group does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr, TensorType, UnknownLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.analysis.functions import body_of, graphs_of
from tilework.analysis.program_targets import device_of, target_of
from tilework.backends.base import write_module
from tilework.backends.host_signature import find_host
from tilework.backends.registry import backend_for
from tilework.dialects import loop, te
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.locations import source_name
from tilework.dialects.support.shapes import dims_of
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.levels import LARGEST_CONSTANT, lower_by_levels, part_on
from tilework.tools.bench.program import ProgramWatcher
from tilework.transforms.graph.fusion_groups import FusionGroups

SCHEMA = 1
"""Raised when what `explain` returns changes its meaning."""

OPTIONS = PrintingOptions(elide_larger_than=LARGEST_CONSTANT)


@dataclass
class Explanation:
    """What is found out level by level.

    nodes: inputs, groups and single operators of @main, and outputs, each by its number; edges: pairs of numbers.
    apart: neighbours that were not fused, with the reason. texts: of every kernel, by the name of the level.
    """

    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    edges: list[list[int]] = field(default_factory=list[list[int]])
    apart: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    texts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


def explain(module: ModuleOp, precision: str, dims: Mapping[str, int]) -> dict[str, Any]:
    """Lower a graph module, which is consumed, and tell what became of it, as JSON values.

    dims: sizes of the model's symbols, by which operations and bytes are counted; 1 for those it does not name.
    """
    found, watcher, operators = Explanation(), ProgramWatcher(dims), _Operators()
    for level, _ in lower_by_levels(module, [watcher], precision):
        match level:
            case "2-optimized":
                operators.name_all(_main(module))
            case "3-fused":
                _note_graph(found, operators, _main(module))
            case "4-te":
                _note_calls(found, module)
                _note_texts(found, "te", module)
            case "5-schedule":
                _note_texts(found, "schedule", module)
            case "6-loop":
                _note_texts(found, "loop", module)
                _note_code(found, module)
            case _:
                pass
    return {
        "schema": SCHEMA,
        "nodes": found.nodes,
        "edges": found.edges,
        "apart": found.apart,
        "texts": found.texts,
        "program": {"flops": watcher.flops, "calls": _titled(watcher.calls, found), "buffers": watcher.buffers},
    }


def _main(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def _name(op: Operation, name: str) -> None:
    op.location = NameLoc(StringAttr(name), UnknownLoc())


class _Operators:
    """The operators before fusion: the nodes of the model they came from, and why they are not fused."""

    def __init__(self) -> None:
        self._sources: dict[str, str | None] = {}
        self._refusals: list[tuple[str, str, str]] = []

    def name_all(self, main: FuncOp) -> None:
        """Give each operator its number for a name."""
        operators = [op for op in main.walk() if isinstance(op, GraphOp)]
        names = {op: f"operator {number}" for number, op in enumerate(operators)}
        self._sources = {name: source_name(op.location) for op, name in names.items()}
        for graph in graphs_of(main):
            for producer, consumer, reason in FusionGroups(graph).refusals():
                text = f"{producer.title} and {consumer.title}: {reason}"
                self._refusals.append((names[producer], names[consumer], text))
        for op, name in names.items():
            _name(op, name)

    def title(self, op: GraphOp) -> str:
        """What an operator is, and the node of the model that it came from."""
        source = self._sources.get(source_name(op.location) or "")
        return op.label if source is None else f"{op.label} '{source}'"

    def apart(self, nodes: Mapping[str, int]) -> list[dict[str, Any]]:
        """The reasons, of two operators that lie in two nodes; nodes: by the names of the operators inside."""
        pairs = [(nodes.get(a), nodes.get(b), text) for a, b, text in self._refusals]
        return [{"nodes": [a, b], "text": text} for a, b, text in pairs if None not in (a, b) and a != b]


# ---- The graph -------------------------------------------------------------------------------------------------------


def _note_graph(found: Explanation, operators: _Operators, main: FuncOp) -> None:
    body = body_of(main)
    ops = [op for op in body.ops if (op.operands or op.regions) and not isinstance(op, ReturnOp)]  # no parameters
    owners: dict[SSAValue, int] = {}
    for argument, name in zip(body.args, _input_names(main, len(body.args)), strict=True):
        owners[argument] = _add_node(found, "input", name, [_shape(argument)])
    inside: dict[str, int] = {}
    for op in ops:
        members = _members(op)
        label = " + ".join(dict.fromkeys(m.label for m in members)) or op.name
        lines = [f"{operators.title(m)}: {', '.join(map(_shape, m.results))}" for m in members]
        number = _add_node(found, "group" if isinstance(op, FusedOp) else "operator", label, lines)
        inside |= {name: number for m in members if (name := source_name(m.location)) is not None}
        _add_edges(found, owners, op.operands, number)
        owners |= dict.fromkeys(op.results, number)
        _name(op, f"node {number}")
    _note_outputs(found, owners, body)
    found.apart = operators.apart(inside)


def _shape(value: SSAValue) -> str:
    """The dimensions and the type of a tensor's elements, as in "N x 64 f32"."""
    type_ = value.type
    return f"{' x '.join(map(str, dims_of(type_)))} {type_.element_type}" if isa(type_, TensorType) else str(type_)


def _members(op: Operation) -> list[GraphOp]:
    """The operators in a group or in the body of a scan; else the operator itself."""
    return [m for m in op.walk() if isinstance(m, GraphOp) and m.operands and m.results]


def _note_outputs(found: Explanation, owners: Mapping[SSAValue, int], body: Block) -> None:
    last = body.last_op
    assert isinstance(last, ReturnOp)
    for i, value in enumerate(last.arguments):
        number = _add_node(found, "output", value.name_hint or f"output {i}", [_shape(value)])
        _add_edges(found, owners, [value], number)


def _add_node(found: Explanation, kind: str, label: str, operators: Sequence[str]) -> int:
    number = len(found.nodes)
    found.nodes.append({"id": number, "kind": kind, "label": label, "operators": list(operators), "kernels": []})
    return number


def _add_edges(found: Explanation, owners: Mapping[SSAValue, int], values: Iterable[SSAValue], to: int) -> None:
    found.edges += [[start, to] for start in dict.fromkeys(owners[v] for v in values if v in owners)]


def _input_names(main: FuncOp, count: int) -> list[str]:
    hints = [argument.name_hint for argument in body_of(main).args]
    return [hint or f"input {i}" for i, hint in zip(range(count), hints, strict=True)]


# ---- The kernels -----------------------------------------------------------------------------------------------------


def _note_calls(found: Explanation, module: ModuleOp) -> None:
    """Tell each node which kernels it calls: the calls have the location of the group that they were made of."""
    host = find_host(module)
    assert host is not None
    for op in body_of(host).ops:
        called = [call.kernel_name for call in op.walk() if isinstance(call, loop.CallOp)]
        node = _node_of(source_name(op.location))
        if called and node is not None:
            found.nodes[node]["kernels"] = list(dict.fromkeys([*found.nodes[node]["kernels"], *called]))


def _node_of(name: str | None) -> int | None:
    return int(name.removeprefix("node ")) if name is not None and name.startswith("node ") else None


def _titled(calls: Sequence[dict[str, Any]], found: Explanation) -> list[dict[str, Any]]:
    """The calls, each with its "node", whose label is its source."""
    nodes = [_node_of(call["source"]) for call in calls]
    labels = [None if node is None else found.nodes[node]["label"] for node in nodes]
    return [{**call, "source": label, "node": node} for call, label, node in zip(calls, labels, nodes, strict=True)]


def _note_texts(found: Explanation, level: str, module: ModuleOp) -> None:
    """Note the kernels of a level, or at "schedule" their schedules, by the names of the kernels."""
    for op in module.ops:
        if level == "schedule" and isinstance(op, SequenceOp):
            found.texts[op.kernel_name][level] = ir_text(op, OPTIONS)
        elif level != "schedule" and isinstance(op, te.KernelOp | loop.KernelOp):
            found.texts.setdefault(op.sym_name.data, {})[level] = ir_text(op, OPTIONS)


def _note_code(found: Explanation, module: ModuleOp) -> None:
    """Note what the back ends make of each kernel: assembly, or what a back end writes in its place."""
    for kernel in [op for op in module.ops if isinstance(op, loop.KernelOp)]:
        part = part_on(device_of(kernel), module)
        for op in list(part.ops):
            if isinstance(op, loop.KernelOp | FuncOp) and op.sym_name.data != kernel.sym_name.data:
                part.body.block.erase_op(op, safe_erase=False)
        backend = backend_for(target_of(part))
        written = "asm" if "asm" in backend.formats else next(iter(backend.formats))
        text = write_module(backend, written, part)
        assert isinstance(text, str)
        found.texts[kernel.sym_name.data][written] = text
