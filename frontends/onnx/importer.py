"""ONNX to the graph dialect, node by node. Shapes are computed by the operators' own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilework.algebra.index_expr import Key
from tilework.analysis.host_symbols import DTYPE, MUST_HOLD, NAME, NEEDS
from tilework.analysis.parameters import DEFAULTS, FIXED_DEFAULTS
from tilework.dialects.graph import BitcastOp
from tilework.dialects.graph.narrow import BYTE, is_narrow, narrow_dtype, stored_in
from tilework.dialects.support.diagnostics import TileworkError
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.frontends.onnx.decisions import Decisions, NeedsConstants
from tilework.frontends.onnx.defined import defining_function
from tilework.frontends.onnx.emitter import Emitter, ssa_name
from tilework.frontends.onnx.folding import can_fold, fold
from tilework.frontends.onnx.functions import called, is_function, opset_of, own_function, standard_function
from tilework.frontends.onnx.given import Given
from tilework.frontends.onnx.kernels import by_kernel
from tilework.frontends.onnx.load import OPSET_OF_OLD_FILES, Source, load_model, to_array
from tilework.frontends.onnx.node import Converter, Node, find_converter
from tilework.frontends.onnx.same_sizes import SameSizes
from tilework.frontends.onnx.standard import check_node
from tilework.frontends.onnx.structure import declared_ranks, ordered_nodes, reads
from tilework.frontends.onnx.structured_inputs import structured
from tilework.frontends.onnx.types import (
    ELEMENT_TYPES,
    Symbols,
    declared_sizes,
    numpy_type,
    type_name,
    value_type,
)
from tilework.frontends.onnx.value_names import kind_name
from tilework.frontends.onnx.values import AnyValue, Array, Known, OptionalValue, Value, ValueSequence
from tilework.plugins.packages import Folder, folders_of

if TYPE_CHECKING:  # a model without kernels of the program's own needs no te
    from tilework.frontends.te.operator import Kernel

OLDEST_OPSET = 1

NOTHING = Given()

FIRST_IR_WITH_DEFAULTS = 4
"""Before, every initializer had to be among the inputs, so that this says nothing."""

DEEPEST = 40
"""How many functions may be taken apart inside of each other."""


@dataclass(frozen=True)
class ImportedModel:
    """A module with `func.func @main`, the arrays of its `graph.parameter`s by symbol name, and the model's name."""

    module: ModuleOp
    parameters: Mapping[str, Array]
    name: str


def import_onnx(
    source: str | Path | bytes | onnx.ModelProto, kernels: Mapping[str, Kernel] | None = None, given: Given = NOTHING
) -> ImportedModel:
    """Read an ONNX model: a path, the bytes of a file, or a ModelProto.

    kernels: what defines operators, by their domains and names (`Node.operator`). given: what the model is imported
    for; inputs whose values that says are none any more, those that are sequences or optionals become their tensors.

    Initializers are constants, also those that IR 3 lists among the inputs; from IR 4 on these are parameters that the
    caller may replace, by name in the function's `tilework.defaults`. Inputs keep their order; their and the outputs'
    names are the attribute `tilework.name`. An output that is a sequence becomes one for each of its elements: of `y`
    these are `y_0`, `y_1`, and so on. Raises TileworkError for a model that cannot be imported,
    DependsOnInputs or a TileworkError made of one where more `given` would help.
    """
    _load_converters(folders_of("frontends/onnx"))
    loaded, decisions = load_model(source), Decisions()
    try:
        return _decided(loaded, decisions, kernels or {}, given)
    except TileworkError:
        for other in decisions.others({*_names_of_defaults(loaded)}):
            with suppress(TileworkError):
                return _decided(loaded, other, kernels or {}, given)
        raise


@cache
def _load_converters(folders: tuple[Folder, ...]) -> None:
    """Import the files that register converters, in the tree and in plugins: a family of operators needs no list."""
    for folder in folders:
        for module in folder.modules():
            if module.startswith(("convert_", "contrib_", "defined_")):
                folder.load(module)


def _decided(source: Source, decisions: Decisions, kernels: Mapping[str, Kernel], given: Given) -> ImportedModel:
    """The model, imported from the beginning as often as something is found out about it."""
    while True:
        importer = _Importer(source, decisions, kernels, given)
        try:
            return importer.run()
        except SameSizes as found:
            decisions.equate(found, importer.symbols())
        except NeedsConstants as found:
            decisions.constants |= found.names


def _names_of_defaults(source: Source) -> list[str]:
    """The inputs that have a default, which the caller may replace by the standard."""
    if source.model.ir_version < FIRST_IR_WITH_DEFAULTS:
        return []
    initializers = {tensor.name for tensor in source.model.graph.initializer}
    return [value.name for value in source.model.graph.input if value.name in initializers]


class _Importer:
    """Imports the model's own graph."""

    def __init__(self, source: Source, decisions: Decisions, kernels: Mapping[str, Kernel], given: Given):
        self.source = source
        self.given = given
        self.decisions = decisions
        self.kernels = kernels
        self.graph = source.model.graph
        self.emitter = Emitter(Block())

    def run(self) -> ImportedModel:
        unsupported: list[str] = []
        opset, ranks = _opset(self.source), declared_ranks(self.graph)
        scope = _Scope(self.source, opset, self.emitter, {}, unsupported, ranks, self.decisions, self.kernels)
        nodes = ordered_nodes(self.graph)
        inputs = self._define_inputs(scope)
        scope.define_initializers(self.graph)
        self._define_defaults(scope)
        scope.convert(nodes)
        if unsupported:
            count = f"{len(unsupported)} node(s) use an operator that Tilework does not support"
            raise TileworkError("\n  ".join([f"{count} (opset {scope.opset}):", *unsupported]))
        results, required = self._results(scope), self.emitter.asked_of_data
        told = [DictionaryAttr({k: StringAttr(text) for k, text in self._told(*item)}) for item in results.items()]
        returned = [*map(self._in_memory, results.values()), *(requirement.holds for requirement in required)]
        reasons = [DictionaryAttr({MUST_HOLD: StringAttr(requirement.text)}) for requirement in required]
        self.emitter.block.add_op(func.ReturnOp(*returned))
        function = func.FuncOp(
            "main",
            ([argument.type for argument in self.emitter.block.args], [value.type for value in returned]),
            Region(self.emitter.block),
            arg_attrs=ArrayAttr(inputs) if inputs else None,  # as it is read back from text
            res_attrs=ArrayAttr([*told, *reasons]),
        )
        for kind, names in ((DEFAULTS, self.emitter.defaults), (FIXED_DEFAULTS, self.emitter.fixed_defaults)):
            if names:
                symbols = {name: SymbolRefAttr(symbol) for name, symbol in names.items()}
                function.attributes[kind] = DictionaryAttr(symbols)
        name = self.graph.name or "model"
        return ImportedModel(ModuleOp([function]), self.emitter.parameters, name)

    def _in_memory(self, result: SSAValue) -> SSAValue:
        """A result as the caller gets it: narrow numbers in bytes."""
        if not is_narrow(element_type(result.type)):
            return result
        return self.emitter.insert(BitcastOp.of(result, to=BYTE), "result")

    def _told(self, name: str, result: SSAValue) -> Iterable[tuple[str, str]]:
        """What callers are told about a result."""
        return {NAME: name, **_dtype_told(element_type(result.type))}.items()

    def symbols(self) -> list[Key]:
        """The symbols of the inputs, in order."""
        return [key for argument in self.emitter.block.args for d in dims_of(argument.type) for key in d.variables()]

    def _define_inputs(self, scope: _Scope) -> list[DictionaryAttr]:
        """One argument of @main for every input that is not an initializer; what callers are told about them."""
        symbols, attributes = Symbols(), list[DictionaryAttr]()

        def argument(value: onnx.ValueInfoProto) -> SSAValue:
            made, told = self._argument(value_type(value, symbols), value.name)
            attributes.append(told)
            return made

        initializers = {tensor.name for tensor in self.graph.initializer}
        for value in (value for value in self.graph.input if value.name not in initializers):
            name = value.name
            if name in self.given.values:
                scope.values[name] = Known(self.given.values[name], name)
            elif name in self.given.forms:
                scope.values[name] = structured(name, value.type, self.given.forms[name], argument)
            else:
                scope.values[name] = argument(value)
        return attributes

    def _argument(self, declared: TensorType[Attribute], name: str) -> tuple[SSAValue, DictionaryAttr]:
        """An argument of @main, and what callers are told about it."""
        block = self.emitter.block
        dims = [self.decisions.size_of(d) for d in dims_of(declared)]
        element = element_type(declared)
        argument = block.insert_arg(tensor_type(dims, stored_in(element)), len(block.args))
        argument.name_hint = ssa_name(name)
        self.emitter.inputs[argument] = name
        needs = self.decisions.needs(dims_of(declared))
        told = {NAME: name, **_dtype_told(element), **({NEEDS: needs} if needs else {})}
        attributes = DictionaryAttr({key: StringAttr(text) for key, text in told.items()})
        if not is_narrow(element):
            return argument, attributes
        return self.emitter.insert(BitcastOp.of(argument, to=element), name), attributes

    def _define_defaults(self, scope: _Scope) -> None:
        """Let initializers that the caller may replace be parameters, but for those whose numbers have to be known."""
        for name in _names_of_defaults(self.source):
            value = scope.values[name]
            assert isinstance(value, Known)
            element = ELEMENT_TYPES.get(numpy_type(value.dtype))
            if element is None or is_narrow(element):
                continue
            if name in self.decisions.constants or not value.array.size:
                self.emitter.fix_default(value)
            else:
                scope.values[name] = self.emitter.default(value)

    def _results(self, scope: _Scope) -> dict[str, SSAValue]:
        """What the function returns, by name."""
        results: dict[str, SSAValue] = {}
        for output in self.graph.output:
            for name, value, declared in _tensors(output.name, scope.output(output.name), output.type):
                if name in results:
                    raise TileworkError(f"two outputs are named '{name}'; one is an element of a sequence")
                results[name] = self.emitter.tensor(value)
                _check_declared(name, declared, results[name])
        return results


@dataclass
class _Scope:
    """A graph while its nodes are converted: what its names, and those around it, stand for."""

    source: Source
    opset: int
    emitter: Emitter
    values: dict[str, AnyValue]
    unsupported: list[str]
    """The nodes met so far that cannot be converted."""
    ranks: Mapping[str, int]
    """The numbers of axes that the model declares, by the names of values."""
    decisions: Decisions
    kernels: Mapping[str, Kernel]
    """What defines operators that the program brings, by `Node.operator`."""
    calls: tuple[tuple[str, str, str], ...] = ()
    """The functions that it is in, by domain, name and overload."""

    def define_initializers(self, graph: onnx.GraphProto) -> None:
        """Let the initializers of a graph be known arrays."""
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise TileworkError(f"the initializer '{name}' is sparse; Tilework reads dense ones only")
        for tensor in graph.initializer:
            self.values[tensor.name] = Known(to_array(tensor, self.source.folder), tensor.name)

    def convert(self, nodes: Iterable[tuple[str, onnx.NodeProto]]) -> None:
        """Define the outputs of nodes, given with their titles."""
        for title, node in nodes:
            self._convert(title, node)

    def output(self, name: str) -> AnyValue:
        """What an output of the graph stands for."""
        if name not in self.values:
            raise TileworkError(f"the output '{name}' is one that inference does not make")
        return self.values[name]

    def _convert(self, title: str, proto: onnx.NodeProto) -> None:
        """Define the node's outputs, or note that it is not supported; what depends on such a node stays undefined."""
        inputs = [self.values.get(name) for name in proto.input]
        node = Node(proto, title, self.opset, inputs, self.emitter, self.source.folder, self)
        if not (self._is_own(node) or is_function(node, self.source.model.functions)):
            self._note_unsupported(node)
            return
        if missing := [name for name in reads(proto) if name not in self.values]:
            if not self.unsupported:
                raise node.error(f"it reads '{missing[0]}', an output that inference does not make")
            return
        try:
            outputs = self._converted(node) if self._is_own(node) else self._call(node)
        except _Unsupported:
            return
        for name, value in outputs.items():
            self._define(name, value)

    def _is_own(self, node: Node) -> bool:
        """Whether there is a converter for the operator, or it may be computed while importing."""
        return self._converter(node) is not None or (node.is_standard and can_fold(node.op_type))

    def _converter(self, node: Node) -> Converter | None:
        """What converts a node: the program's own kernel for its operator goes before ours."""
        kernel = self.kernels.get(node.operator)
        return find_converter(node) if kernel is None else by_kernel(kernel)

    def _converted(self, node: Node) -> dict[str, AnyValue]:
        """What the node makes, by name: folded where that is possible, else converted."""
        is_ours = node.is_standard and node.operator not in self.kernels
        if is_ours:
            check_node(node)
        made = fold(node) if is_ours else None
        if made is None:
            convert = self._converter(node)
            if convert is None:
                self._note_unsupported(node)
                raise _Unsupported
            made = convert(node)
        values = made if isinstance(made, Sequence) else [made]
        return {name: value for name, value in zip(node.proto.output, values, strict=False) if name}

    def _call(self, node: Node) -> dict[str, AnyValue]:
        """What the function that a node stands for makes of its inputs, by name."""
        function = own_function(node, self.source.model.functions) or defining_function(node)
        if function is None:
            if node.is_standard:
                check_node(node)
            function = standard_function(node)
        if function is None:
            self._note_unsupported(node)
            raise _Unsupported
        key = (function.domain, function.name, function.overload)
        if key in self.calls:
            raise node.error("it is in the function that it calls")
        if len(self.calls) == DEEPEST:
            raise node.error(f"it is in {DEEPEST} functions that call each other")
        graph, opset = called(function, node), opset_of(function, self.opset)
        _check_opset(opset, f"function {function.name}")
        inside = replace(self, opset=opset, values={}, ranks={}, calls=(*self.calls, key))
        try:
            outputs = inside.outputs_of(graph, [value for value in node.inputs if value is not None])
        except TileworkError as error:
            raise TileworkError(f"{node.op_type} '{node.title}': {error}") from error
        return dict(zip(filter(None, node.proto.output), outputs, strict=True))

    def import_graph(self, graph: onnx.GraphProto, inputs: Sequence[AnyValue], emitter: Emitter) -> list[AnyValue]:
        """The outputs of a graph inside of a node."""
        ranks = {**self.ranks, **declared_ranks(graph)}
        inside = replace(self, emitter=emitter, values=dict(self.values), ranks=ranks)
        return inside.outputs_of(graph, inputs)

    def try_graph(self, graph: onnx.GraphProto, emitter: Emitter) -> list[AnyValue] | Exception:
        """The outputs of a graph without inputs, or why it has none; nothing stays emitted, or noted."""
        before = len(self.unsupported)
        try:
            with emitter.undone():
                return self.import_graph(graph, [], emitter)
        except (TileworkError, SameSizes, _Unsupported) as error:
            return error
        finally:
            del self.unsupported[before:]

    def declared_rank(self, name: str) -> int | None:
        """The number of axes that the model declares for a value."""
        return self.ranks.get(name)

    def branch(self, title: str, likely: str, other: str) -> str:
        """Which branch of an If is imported, where nothing says which: the likely one, unless it does not do."""
        return self.decisions.branch(title, likely, other)

    def outputs_of(self, graph: onnx.GraphProto, inputs: Sequence[AnyValue]) -> list[AnyValue]:
        """What a graph in this scope makes of its inputs. Raises _Unsupported."""
        nodes = ordered_nodes(graph, self.values.keys())
        self.values.update((given.name, value) for given, value in zip(graph.input, inputs, strict=True))
        self.define_initializers(graph)
        before = len(self.unsupported)
        self.convert(nodes)
        if len(self.unsupported) > before:
            raise _Unsupported
        return [self.output(output.name) for output in graph.output]

    def _note_unsupported(self, node: Node) -> None:
        proto = node.proto
        operator = ".".join(f"{part}" for part in (proto.domain, node.op_type, proto.overload) if part)
        definition = f'; tilework.compile(..., kernels={{"{node.operator}": ...}}) would define it'
        remedy = "" if node.is_standard else definition
        self.unsupported.append(f"{operator} '{node.title}' of ({node.input_types()}){remedy}")

    def _define(self, name: str, value: AnyValue) -> None:
        if isinstance(value, SSAValue) and value.name_hint is None:
            value.name_hint = ssa_name(name)
        self.values[name] = value


class _Unsupported(Exception):
    """A graph that a node holds or stands for has nodes that cannot be converted, which are noted."""


def _dtype_told(element: Attribute) -> dict[str, str]:
    """What numpy calls narrow elements, which are bytes in memory."""
    return {DTYPE: narrow_dtype(element).name} if is_narrow(element) else {}


def _opset(source: Source) -> int:
    imports = source.model.opset_import
    without = onnx.defs.onnx_opset_version() if imports else OPSET_OF_OLD_FILES  # of other domains alone
    opset = next((entry.version for entry in imports if entry.domain in ("", "ai.onnx")), without)
    _check_opset(opset, source.title)
    return opset


def _check_opset(opset: int, title: str) -> None:
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST_OPSET <= opset <= newest:
        raise TileworkError(f"{title} uses opset {opset}; Tilework reads opsets {OLDEST_OPSET} to {newest}")


def _tensors(name: str, value: AnyValue, declared: onnx.TypeProto) -> Iterator[tuple[str, Value, onnx.TypeProto]]:
    """The tensors that an output consists of, with their names and what the model declares them as.

    Maps from classes to numbers, one for each row, are a tensor.
    """
    if declared.sequence_type.elem_type.HasField("map_type"):
        declared = onnx.TypeProto()
    said = (declared.WhichOneof("value") or "").removesuffix("_type").replace("_", " ")
    if said and said != kind_name(value).split()[-1]:
        raise TileworkError(f"the model declares output '{name}' as {said}, but its nodes make {kind_name(value)}")
    match value:
        case ValueSequence():
            if not value.values:
                raise TileworkError(f"output '{name}' is a sequence that is empty, so that there is nothing to return")
            for i, element in enumerate(value.values):
                yield from _tensors(f"{name}_{i}", element, declared.sequence_type.elem_type)
        case OptionalValue():
            if value.value is None:
                raise TileworkError(f"output '{name}' is an optional that is empty, so that there is nothing to return")
            yield from _tensors(name, value.value, declared.optional_type.elem_type)
        case _:
            yield name, value, declared


def _check_declared(name: str, type_: onnx.TypeProto, value: SSAValue) -> None:
    """Compare an output with what the model declares: its element type, and its shape where both are numbers."""
    declared = type_.tensor_type
    found = element_type(value.type)
    if declared.elem_type and ELEMENT_TYPES.get(declared.elem_type) != found:
        said = type_name(declared.elem_type)
        raise TileworkError(f"the model declares output '{name}' as {said}, but its nodes make {found}")
    if not declared.HasField("shape"):
        return
    dims = dims_of(value.type)
    sizes = declared_sizes(declared.shape, f"output '{name}'")
    fits = len(sizes) == len(dims) and all(
        n is None or d.constant is None or n == d.constant for n, d in zip(sizes, dims, strict=True)
    )
    if not fits:
        said = ", ".join(d.dim_param or str(d.dim_value) for d in declared.shape.dim)
        found = ", ".join(map(str, dims))
        raise TileworkError(f"the model declares output '{name}' as [{said}], but its nodes make [{found}]")
