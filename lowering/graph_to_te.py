"""From a graph to kernels and a host function that calls them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.analysis.bound_symbols import is_unbounded, symbol_binders
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import DIMS, NAME, NEEDS, OUTPUT
from tilework.analysis.parameters import PREPARE, graph_functions
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.lowering.host.blocks import HostBlock, global_name, global_type, located, lower_graph
from tilework.lowering.host.buffers import HostBuffers, plan_placements
from tilework.lowering.host.shapes import HostInput, HostShapes, memref_type
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.te_kernels import KernelTable, declarations_in


def _is_legal(op: Operation) -> str | None:
    if not op.name.startswith("graph."):
        return None
    function = op
    while function is not None and not isinstance(function, func.FuncOp):
        function = function.parent_op()
    if function is not None and function.sym_name.data == PREPARE:
        return None
    return f"{op.name} is left after graph-to-te outside of @{PREPARE}"


@dataclass(frozen=True)
class GraphToTe(TileworkPass):
    """Define every kernel element by element, and turn the function into one that allocates buffers and calls kernels.

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %y = graph.fused "relu" (%x) : ... { graph.relu ... }
          func.return %y : tensor<4xf32>
        }
    ->
        te.kernel @relu(%input: tensor<4xf32>) -> tensor<4xf32> { te.compute "relu" [i0: 4] ... }
        func.func @main(%x: memref<4xf32> {tilework.name = "input0", ...}, %y: memref<4xf32> {tilework.output, ...}) {
          loop.call @relu ins(%x) outs(%y) : memref<4xf32>, memref<4xf32>
          func.return
        }

    Results become further arguments, which the kernels write to; parameters become globals without a value; symbols
    are bound to the inputs' dimensions and checked where they occur again. Operators marked `graph.view` become views
    of buffers. Groups that compute the same share a kernel.
    This is a lowering and no pattern: what the function and its arguments become depends on all that it computes.
    Requires graph-fuse-operators; leaves no graph operation but in @prepare.
    """

    name = "graph-to-te"
    legal_after: ClassVar = staticmethod(_is_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        functions = graph_functions(op)
        if not functions:
            return
        parameters = declare_parameters(functions)
        taken = {*parameters, *(o.sym_name.data for o in op.ops if isinstance(o, func.FuncOp | KernelOp))}
        declared = _declarations(op)
        kernels = KernelTable(UniqueNames(taken))
        hosts = [HostFunction(function, kernels).build() for function in functions]
        block = op.body.block
        block.insert_ops_before([*declared, *parameters.values(), *kernels.made], functions[0])
        for function, host in zip(functions, hosts, strict=True):
            block.insert_op_before(host, function)
            function.detach()
            function.erase()


def _declarations(module: ModuleOp) -> list[IntrinsicOp]:
    """The intrinsics that operators hold, for the module, which need not declare them."""
    there = {o.label for o in module.ops if isinstance(o, IntrinsicOp)}
    return [d.clone() for d in declarations_in(module) if d.label not in there]


def declare_parameters(functions: Sequence[func.FuncOp]) -> dict[str, memref.GlobalOp]:
    """A global without a value for every parameter that is used, by name: their bytes come from the side file."""
    declared: dict[str, memref.GlobalOp] = {}
    for function in functions:
        for op in function.walk():
            if not isinstance(op, ParameterOp) or not op.result.uses:
                continue
            name, type_ = global_name(op), global_type(op)
            known = declared.get(name)
            if known is None:
                declared[name] = memref.GlobalOp.get(StringAttr(name), type_, UnitAttr())
                if name != op.sym_name.data:
                    declared[name].attributes[NAME] = StringAttr(op.sym_name.data)
                copy_location(declared[name], op)
            elif known.type != type_:
                raise CompileError(f"parameter @{name} is {type_} here and {known.type} elsewhere", op)
    return declared


class HostFunction:
    """Writes the host function of one graph function."""

    def __init__(self, function: func.FuncOp, kernels: KernelTable):
        self._function = function
        self._kernels = kernels
        self._graph = body_of(function)
        last = self._graph.last_op
        if not isinstance(last, func.ReturnOp):
            raise CompileError("a graph function ends in func.return", function)
        self._returned = last
        self._inputs = list(self._graph.args)
        outputs = [memref_type(v.type) for v in last.arguments]
        self._block = Block(arg_types=[*(memref_type(v.type) for v in self._inputs), *outputs])

    def build(self) -> func.FuncOp:
        """The function, in no module yet."""
        attributes = [*self._input_attributes(), *self._output_attributes()]
        names = [_text(a, NAME) for a in attributes]
        for argument, name in zip(self._block.args, names, strict=True):
            argument.name_hint = identifier(name)
        at = Builder(InsertPoint.at_end(self._block))
        binders = symbol_binders(self._function)
        returned = self._returned.arguments
        late = {v for v in returned if any(is_unbounded(d, binders) for d in dims_of(v.type))}
        shapes, plan = HostShapes(at), plan_placements(list(self._graph.ops)[:-1], returned, late)
        buffers = HostBuffers(at, shapes, self._block.args[len(self._inputs) :], plan)
        inputs = list(zip(names, self._block.args, self._inputs, strict=False))
        for _, argument, value in inputs:
            buffers.put(value, argument)
        with located(self._block, self._function):
            shapes.bind([HostInput(*each, _text(a, NEEDS)) for each, a in zip(inputs, attributes, strict=False)])
        lower_graph(self._graph, HostBlock(self._block, at, shapes, buffers, self._kernels))
        with located(self._block, self._returned):
            at.insert(func.ReturnOp())
        function = func.FuncOp(
            self._function.sym_name.data,
            (list(self._block.arg_types), []),
            Region(self._block),
            arg_attrs=ArrayAttr(attributes),
        )
        copy_location(function, self._function)
        return function

    # -- what the caller is told about the arguments

    def _input_attributes(self) -> list[DictionaryAttr]:
        given = _attributes(self._function.arg_attrs, len(self._inputs))
        return [
            DictionaryAttr({NAME: StringAttr(f"input{i}"), **own, DIMS: _dims(value)})
            for i, (own, value) in enumerate(zip(given, self._inputs, strict=True))
        ]

    def _output_attributes(self) -> list[DictionaryAttr]:
        values = self._returned.arguments
        given = _attributes(self._function.res_attrs, len(values))
        return [
            DictionaryAttr({NAME: StringAttr(f"output{i}"), **own, OUTPUT: UnitAttr(), DIMS: _dims(value)})
            for i, (own, value) in enumerate(zip(given, values, strict=True))
        ]


def _text(attributes: DictionaryAttr, name: str) -> str:
    text = attributes.data.get(name)
    return text.data if isinstance(text, StringAttr) else ""


def _attributes(given: ArrayAttr[DictionaryAttr] | None, count: int) -> list[dict[str, Attribute]]:
    return [{}] * count if given is None else [dict(own.data) for own in given]


def _dims(value: SSAValue) -> DimsAttr:
    return DimsAttr(dims_of(value.type))
