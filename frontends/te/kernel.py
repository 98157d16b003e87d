"""Make a `te.kernel` of tensors: find the operations that the results need, in order, and names for everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir import Operation as IROperation

from tilework.algebra.bounds import Domain
from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, const, var
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects import te
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import tensor_type
from tilework.frontends.te.dtypes import element_type_of
from tilework.frontends.te.extern import ExternOp
from tilework.frontends.te.extern_body import ExternWriter
from tilework.frontends.te.index import Name, to_index
from tilework.frontends.te.kernel_body import BodyWriter
from tilework.frontends.te.scan import ScanOp
from tilework.frontends.te.tensor import ComputeOp, Operation, PlaceholderOp, StagedOp, Tensor

_RESERVED = ("min", "max", "floordiv", "mod", "ge", "eq", "reduce")
"""Words of the text of indices, which no axis or symbol can be named by."""


@dataclass
class KernelNames:
    """Names in the text of one kernel: of stages, of arguments, of symbols, and of the axes of each compute."""

    stages: dict[Operation, str] = field(default_factory=dict[Operation, str])
    symbols: dict[Name, str] = field(default_factory=dict[Name, str])
    axes: dict[Name, str] = field(default_factory=dict[Name, str])


def operations_for(outputs: Iterable[Operation]) -> list[Operation]:
    """Every operation that these need, themselves included, each behind those that it reads."""
    ordered: dict[Operation, None] = {}
    path: list[tuple[Operation, list[Tensor]]] = [(op, list(op.input_tensors)) for op in outputs]
    path.reverse()
    while path:
        op, inputs = path[-1]
        if op in ordered:
            path.pop()
        elif inputs:
            below = inputs.pop(0).op
            if below not in ordered:
                path.append((below, list(below.input_tensors)))
        else:
            ordered[op] = None
            path.pop()
    return list(ordered)


def name_everything(operations: Sequence[Operation]) -> KernelNames:
    """Names that the text can hold: letters, digits and underscores, and no two alike in one place."""
    names, stages, symbols = KernelNames(), UniqueNames(), UniqueNames(_RESERVED)
    for op in operations:
        names.stages[op] = stages.fresh(op.name)
        for tensor in op.outputs:
            for dim in tensor.dims:
                for key in dim.variables():
                    assert isinstance(key, Name)
                    if key not in names.symbols:
                        names.symbols[key] = symbols.fresh(identifier(key.text))
    for op in operations:
        if isinstance(op, StagedOp):
            taken = UniqueNames((*_RESERVED, *names.symbols.values()))
            for axis in (*op.axis, *op.reduce_axis):
                names.axes[axis.key] = taken.fresh(identifier(axis.name))
    return names


def build_kernel(
    name: str,
    names: KernelNames,
    arguments: Sequence[Tensor],
    outputs: Sequence[Tensor],
    operations: Sequence[Operation],
    numbers: Mapping[Name, Tensor] | None = None,
) -> te.KernelOp:
    """The kernel from placeholders to computes, with a compute for each of `operations`, which stand in their order.

    numbers: the arguments, without dimensions, that hold the values of variables which are no sizes. Raises UsageError
    for a placeholder that is read but no argument, and for a symbol that no argument's shape tells.
    """
    return _KernelWriter(name, names, numbers or {}).write(arguments, outputs, operations)


class _KernelWriter:
    def __init__(self, name: str, names: KernelNames, numbers: Mapping[Name, Tensor]):
        self.name = name
        self.names = names
        self.numbers = {key: tensor() for key, tensor in numbers.items()}
        self.block = Block()
        self.values: dict[Tensor, SSAValue] = {}
        self.symbols = {key: var(text) for key, text in names.symbols.items()}
        self.first_times: dict[Operation, Expr] = {}

    def write(
        self, arguments: Sequence[Tensor], outputs: Sequence[Tensor], operations: Sequence[Operation]
    ) -> te.KernelOp:
        for tensor in arguments:
            self._argument(tensor)
        states = _states(operations)
        self.first_times = _first_times(operations)
        for op in operations:
            if isinstance(op, PlaceholderOp) and op.outputs[0] not in self.values and op.outputs[0] not in states:
                raise UsageError(f"placeholder '{op.name}' is read but is not among the arguments")
        self._check_symbols(arguments)
        for op in operations:
            match op:
                case ComputeOp():
                    self._compute(op)
                case ScanOp():
                    self._scan(op)
                case ExternOp():
                    self._extern(op)
                case PlaceholderOp() if op.outputs[0] in states:
                    self._append(op, te.StateOp(self._type(op.outputs[0])))
                case _:
                    pass
        results = [self.values[tensor] for tensor in outputs]
        self.block.add_op(te.ReturnOp(results))
        types = FunctionType.from_lists(list(self.block.arg_types), [r.type for r in results])
        return te.KernelOp(self.name, types, Region(self.block))

    def _argument(self, tensor: Tensor) -> None:
        value = self.block.insert_arg(self._type(tensor), len(self.block.args))
        value.name_hint = identifier(self.names.stages.get(tensor.op, tensor.name))
        self.values[tensor] = value

    def _check_symbols(self, arguments: Sequence[Tensor]) -> None:
        told = {key for tensor in arguments for dim in tensor.dims for key in dim.variables()}
        for key, text in self.names.symbols.items():
            if key not in told:
                raise UsageError(f"te.var '{text}' is in no shape of an argument that is read: its value is not known")

    def _compute(self, op: ComputeOp) -> None:
        index_of = dict(self.symbols)
        axes: list[tuple[str, Expr]] = []
        for axis in (*op.axis, *op.reduce_axis):
            assert axis.dom is not None
            name, first, extent = self.names.axes[axis.key], to_index(axis.dom.min), to_index(axis.dom.extent)
            axes.append((name, extent.substitute(index_of)))
            index_of[axis.key] = var(name) + first.substitute(index_of)
        spatial = len(op.axis)
        domain = Domain({key: (0, None) for e in self.symbols.values() for key in e.variables()})
        for i, (name, extent) in enumerate(axes):
            first = self.first_times.get(op, const(0)) if i == 0 else const(0)
            domain.add(name, first.substitute(self.symbols), extent - 1)
        body = BodyWriter(op.name, self.values, index_of, domain, self.numbers).write(op.body)
        types = [self._type(tensor) for tensor in op.outputs]
        self._append(op, te.ComputeOp(self.names.stages[op], axes[:spatial], axes[spatial:], types, body))

    def _scan(self, op: ScanOp) -> None:
        inits, updates, states = (
            [self.values[t] for t in group] for group in (op.init, op.update, op.state_placeholder)
        )
        bounds = [e.substitute(self.symbols) for e in (op.init[0].dims[0], op.state_placeholder[0].dims[0])]
        time, *around = [self.names.axes[axis.key] for axis in op.axis]
        made = te.ScanOp(
            self.names.stages[op], time, (bounds[0], bounds[1]), inits, updates, states, independent=around
        )
        self._append(op, made)

    def _extern(self, op: ExternOp) -> None:
        inputs, types = [self.values[t] for t in op.inputs], [self._type(t) for t in op.outputs]
        symbols = te.symbols_in(self.block.arg_types)
        block = te.buffers_block([v.type for v in inputs], types, symbols)
        buffers: dict[Tensor, SSAValue] = dict(zip((*op.in_buffers, *op.out_buffers), block.args, strict=False))
        for buffer, argument in buffers.items():
            argument.name_hint = identifier(buffer.name)
        values = dict(zip(symbols, block.args[len(buffers) :], strict=True))
        names = {key: var(values[text]) for key, text in self.names.symbols.items()}
        ExternWriter(op.name, block, buffers, names).write_statements(op.body.statements)
        self._append(op, te.ExternOp(self.names.stages[op], inputs, types, symbols, Region(block)))

    def _append(self, op: Operation, made: IROperation) -> None:
        """Append what an operation becomes, located at the user's line."""
        for inner in made.walk():
            inner.location = op.location
        self.block.add_op(made)
        self.values.update(zip(op.outputs, made.results, strict=True))

    def _type(self, tensor: Tensor) -> TensorType[Attribute]:
        dims = [dim.substitute(self.symbols) for dim in tensor.dims]
        return tensor_type(dims, element_type_of(tensor.dtype))


def placeholders(operations: Iterable[Operation]) -> list[Tensor]:
    """The tensors that the caller gives, in order of first use."""
    given = list(operations)
    states = _states(given)
    return [op.outputs[0] for op in given if isinstance(op, PlaceholderOp) and op.outputs[0] not in states]


def _states(operations: Iterable[Operation]) -> set[Tensor]:
    """The placeholders that stand for the states of scans."""
    return {state for op in operations if isinstance(op, ScanOp) for state in op.state_placeholder}


def _first_times(operations: Sequence[Operation]) -> dict[Operation, Expr]:
    """A mapping from each compute that is part of a scan's steps to the first time that it computes."""
    firsts: dict[Operation, Expr] = {}
    for scan in (op for op in operations if isinstance(op, ScanOp)):
        known, updates = set(scan.state_placeholder), {t.op for t in scan.update}
        for op in operations:
            if isinstance(op, ComputeOp) and (op in updates or known.intersection(op.input_tensors)):
                firsts[op] = scan.init[0].dims[0]
                known.update(op.outputs)
    return firsts
