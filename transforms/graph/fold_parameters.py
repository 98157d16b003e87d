"""Compute once, when the module is compiled, what hangs on parameters only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of, graphs_of, is_returned
from tilework.analysis.parameters import PREPARE, graph_functions, is_splat, known_in
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.control import ControlOp
from tilework.dialects.graph.size import SizeOp
from tilework.dialects.graph.structure import DefineParameterOp, FusedOp, ParameterOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class FoldParameters(TileworkPass):
    """Move computations whose leaves are all parameters and constants into @prepare, whose results are new parameters.

        func.func @main(%x: ...) {            func.func @main(%x: ...) {
          %w = graph.parameter @w               %v = graph.parameter @w.neg
          %v = graph.neg %w                     %y = graph.dense %x, %v
          %y = graph.dense %x, %v      ->     func.func @prepare() {
                                                %w = graph.parameter @w
                                                %v = graph.neg %w
                                                graph.define_parameter @w.neg, %v

    No bytes are read here: @prepare is run when the module is compiled. A constant becomes a parameter too, except one
    number repeated, which stays for kernels to hold. A new parameter is named after the first parameter in its
    computation and the last operator. A scan names parameters inside that it was given from outside. May be run again
    at any time: definitions that nothing reads any more go.

    This is an algorithm and no pattern: which values become parameters depends on all that reads them in any graph of
    the module, and @prepare holds each computation once, whoever needs it.
    """

    name = "graph-fold-parameters"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        functions = graph_functions(op)
        preparation = _Preparation(op)
        for function in functions:
            graphs = graphs_of(function)
            for graph in graphs:
                _fold(graph, known_in(graph), preparation)
                for control in [o for o in graph.ops if isinstance(o, ControlOp)]:
                    _name_inside(control)
            for graph in graphs:
                _erase_unused(graph, known_in(graph))
        preparation.finish(_parameters_of(functions))


def _fold(graph: Block, known: set[SSAValue], preparation: _Preparation) -> None:
    """Replace every value that is needed while the module runs, and can be known before, by a parameter."""
    for op in list(graph.ops):
        for value in op.results:
            if value not in known or isinstance(op, ParameterOp) or not _is_needed(value, known):
                continue
            if is_splat(op) and not _needs_buffer(value):
                continue
            parameter = ParameterOp(preparation.define(value), value.type)
            parameter.location = op.location
            parameter.result.name_hint = value.name_hint
            graph.insert_op_before(parameter, op)
            value.replace_all_uses_with(parameter.result)
            known.add(parameter.result)


def _needs_buffer(value: SSAValue) -> bool:
    """Whether one number repeated has to lie in memory: where it is a result, what kernels take that do not hold it
    themselves, or what control flow begins with, goes over or asks.

    What it has as a constant it can hold itself.
    """
    if any(isinstance(use.operation, FusedOp | SizeOp | CallOp) for use in value.uses):
        return True
    return is_returned(value) or any(
        use.index < len(use.operation.changing) for use in value.uses if isinstance(use.operation, ControlOp)
    )


def _erase_unused(graph: Block, known: set[SSAValue]) -> None:
    for op in reversed(list(graph.ops)):
        if op.results and all(r in known and not r.uses for r in op.results):
            op.detach()
            op.erase()


def _name_inside(op: ControlOp) -> None:
    """Let bodies of control flow name the parameters, and hold the numbers repeated, that they take as constants."""
    taken = [v for v in op.constants if isinstance(v.owner, ParameterOp) or is_splat(v.owner)]
    kept = [v for v in op.constants if v not in taken]
    for body in op.bodies:
        for argument, value in zip(op.constant_arguments(body), list(op.constants), strict=True):
            if value not in taken:
                continue
            assert isinstance(value.owner, Operation)
            inside = value.owner.clone()
            Rewriter.insert_op(inside, InsertPoint.at_start(body))
            argument.replace_all_uses_with(inside.results[0])
            body.erase_arg(argument)
    op.keep_constants(kept)


def _is_needed(value: SSAValue, known: set[SSAValue]) -> bool:
    """Whether something reads the value that is not itself known beforehand."""
    return any(not use.operation.results or use.operation.results[0] not in known for use in value.uses)


def _parameters_of(functions: Iterable[FuncOp]) -> set[str]:
    ops = (op for function in functions for op in function.walk())
    return {op.sym_name.data for op in ops if isinstance(op, ParameterOp)}


class _Preparation:
    """The function @prepare, there or not yet."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._function = next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == PREPARE), None)
        parameters = (op for op in module.walk() if isinstance(op, ParameterOp | DefineParameterOp))
        self._names = UniqueNames((op.sym_name.data for op in parameters), separator=".")
        self._by_name: dict[str, SSAValue] = {}
        """Parameters at hand in @prepare, read there or defined there."""
        self._copies: dict[SSAValue, SSAValue] = {}
        """Values of other functions that @prepare computes too."""
        self._stems: dict[SSAValue, str] = {}
        """For every value in @prepare, the name of the parameter that its computation begins with."""
        for op in self._block().ops if self._function else ():
            self._note(op)

    def define(self, value: OpResult) -> str:
        """Compute `value` in @prepare, and make it a parameter; its name."""
        for op in _computation_of(value, done=self._copies):
            self._copy(op)
        result, made = self._copies[value], value.owner
        name = self._names.fresh(self._stems[result] + (f".{made.label}" if isinstance(made, GraphOp) else ""))
        definition = DefineParameterOp(name, result)
        definition.location = made.location
        self._append(definition)
        return name

    def finish(self, needed: set[str]) -> None:
        """Drop the definitions of parameters that are not needed, and what only they needed."""
        if self._function is None:
            return
        for op in reversed(list(self._block().ops)):
            dead = op.sym_name.data not in needed if isinstance(op, DefineParameterOp) else not _is_used(op)
            if dead and not isinstance(op, ReturnOp):
                op.detach()
                op.erase()
        if isinstance(self._block().first_op, ReturnOp):
            self._function.detach()
            self._function.erase()

    def _copy(self, op: Operation) -> None:
        if isinstance(op, ParameterOp) and op.sym_name.data in self._by_name:
            self._copies[op.result] = self._by_name[op.sym_name.data]
            return
        self._append(op.clone(self._copies))  # which enters the results into `_copies`

    def _append(self, op: Operation) -> None:
        block = self._block()
        last = block.last_op
        assert last is not None
        block.insert_op_before(op, last)
        self._note(op)

    def _note(self, op: Operation) -> None:
        """Remember what an operation of @prepare makes."""
        match op:
            case DefineParameterOp():
                self._by_name[op.sym_name.data] = op.value
            case ParameterOp():
                self._by_name[op.sym_name.data] = op.result
                self._stems[op.result] = op.sym_name.data
            case _:
                stem = self._stems[op.operands[0]] if op.operands else "constant"
                self._stems.update(dict.fromkeys(op.results, stem))

    def _block(self) -> Block:
        if self._function is None:
            self._function = FuncOp(PREPARE, ([], []), Region(Block([ReturnOp()])))
            self._module.body.block.add_op(self._function)
        return body_of(self._function)


def _is_used(op: Operation) -> bool:
    return any(result.uses for result in op.results)


def _computation_of(value: SSAValue, done: dict[SSAValue, SSAValue]) -> Iterable[Operation]:
    """The operations that `value` needs and that are not done yet, each after those that it needs itself."""
    pending: list[tuple[Operation, bool]] = [(_operation(value), False)]
    while pending:
        op, operands_ready = pending.pop()
        if op.results[0] in done:
            continue
        if operands_ready or not op.operands:
            yield op
            continue
        pending.append((op, True))
        pending += [(_operation(operand), False) for operand in reversed(op.operands)]


def _operation(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner
