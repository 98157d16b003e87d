"""A kernel's stages inside of another kernel, which is being built: what a call of it comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, Key, var
from tilework.dialects import loop
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.dialects.te.cloning import clone_body
from tilework.dialects.te.extern import ExternOp, buffers_block
from tilework.dialects.te.scan import ScanOp, StateOp
from tilework.dialects.te.structure import ComputeOp, KernelOp, ReturnOp, symbols_in


def inline_kernel(
    k: KernelBuilder, kernel: KernelOp, inputs: Sequence[Tensor], symbols: Mapping[str, Expr]
) -> list[Tensor]:
    """Append copies of a kernel's stages to `k`; what the kernel returns for these inputs.

    symbols: what each of the kernel's symbols is in `k`. A tensor that the kernel returns though it does not make it,
    or returns twice, is copied, so that every result is a tensor of its own.
    """
    inlining = _Inlining(k, kernel, inputs, symbols)
    for op in kernel.body.block.ops:
        if not isinstance(op, ReturnOp):
            inlining.append(op)
    results: list[Tensor] = []
    for value in kernel.results_returned:
        tensor = Tensor(inlining.values[value], k)
        is_own = tensor not in inputs and tensor not in results
        results.append(tensor if is_own else _copy(k, tensor))
    return results


class _Inlining:
    """What the names and values of a kernel stand for in the one that it becomes a part of."""

    def __init__(self, k: KernelBuilder, kernel: KernelOp, inputs: Sequence[Tensor], symbols: Mapping[str, Expr]):
        self._k = k
        self._around = symbols_in(k.block.arg_types)
        self._axes = _axis_names(kernel, self._around)
        self._sizes: dict[Key, Expr] = {**symbols}
        self._names: dict[Key, Expr] = {**symbols, **{axis: var(name) for axis, name in self._axes.items()}}
        self.values: dict[SSAValue, SSAValue] = dict(
            zip(kernel.body.block.args, (tensor.value for tensor in inputs), strict=True)
        )

    def append(self, op: Operation) -> None:
        """Append the copy of a stage, or of the state of a scan."""
        match op:
            case ComputeOp():
                made: Operation = self._compute(op)
            case ScanOp():
                made = self._scan(op)
            case StateOp():
                made = StateOp(self._type(op.result.type))
            case ExternOp():
                made = self._extern(op)
            case _:
                raise AssertionError(f"{op.name} is no part of a kernel")
        made.location = op.location
        self._k.insert(made)
        for before, after in zip(op.results, made.results, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after

    def _compute(self, op: ComputeOp) -> ComputeOp:
        spatial, reduction = (
            [(self._axes[name], extent.substitute(self._names)) for name, extent in axes]
            for axes in (op.spatial, op.reduction)
        )
        body = clone_body(op, self._names, self.values)
        types = [self._type(type_) for type_ in op.result_types]
        return ComputeOp(self._k.unique_stage(op.stage.data), spatial, reduction, types, body, op.role)

    def _scan(self, op: ScanOp) -> ScanOp:
        groups = [[self.values[v] for v in group] for group in (op.inits, op.updates, op.states, op.outputs)]
        bounds = op.first.substitute(self._sizes), op.last.substitute(self._sizes)
        axis, *independent = (self._axes[name] for name in _axes_of_scan(op))
        inits, updates, states, outputs = groups
        return ScanOp(self._k.unique_stage(op.stage.data), axis, bounds, inits, updates, states, outputs, independent)

    def _extern(self, op: ExternOp) -> ExternOp:
        inputs, types = [self.values[v] for v in op.inputs], [self._type(type_) for type_ in op.result_types]
        block = buffers_block([v.type for v in inputs], types, self._around)
        count = len(inputs) + len(types)
        values: dict[Key, Expr] = {
            name: var(argument) for name, argument in zip(self._around, block.args[count:], strict=True)
        }
        mapped: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args[:count], strict=False))
        for symbol, argument in zip(op.symbols, op.symbol_values, strict=True):
            size = loop.ApplyOp(self._sizes[symbol.data].substitute(values))
            block.add_op(size)
            mapped[argument] = size.result
        for before, after in mapped.items():
            after.name_hint = before.name_hint
        block.add_ops([statement.clone(mapped) for statement in op.body.block.ops])
        return ExternOp(self._k.unique_stage(op.stage.data), inputs, types, self._around, Region(block))

    def _type(self, type_: Attribute) -> Attribute:
        return with_sizes(type_, self._sizes)


def with_sizes(type_: Attribute, sizes: Mapping[Key, Expr]) -> Attribute:
    """A tensor type whose symbols have these values."""
    return tensor_type([d.substitute(sizes) for d in dims_of(type_)], element_type(type_))


def _copy(k: KernelBuilder, tensor: Tensor) -> Tensor:
    return k.compute("copy", tensor.dims, lambda *i: tensor[i])


def _axis_names(kernel: KernelOp, taken: Collection[str]) -> dict[str, str]:
    """For the name of each axis of a kernel one that no symbol in `taken` has, its own where that is possible."""
    names = dict.fromkeys(name for op in kernel.body.block.ops for name in _axes_of(op))
    used = {*taken, *(name for name in names if name not in taken)}
    found: dict[str, str] = {}
    for name in names:
        own = name
        while own in used and (own != name or name in taken):
            own += "_"
        used.add(own)
        found[name] = own
    return found


def _axes_of(op: Operation) -> Iterable[str]:
    match op:
        case ComputeOp():
            return [name for name, _ in (*op.spatial, *op.reduction)]
        case ScanOp():
            return _axes_of_scan(op)
        case _:
            return ()


def _axes_of_scan(op: ScanOp) -> list[str]:
    """Time, and the axes that are independent of it."""
    return [op.axis.data, *(name.data for name in op.independent)]
