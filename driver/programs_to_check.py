"""Programs as the semantic check sees them: what goes in, how to run them, how exact they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    FloatAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.intervals import Interval, interval
from tilework.algebra.requirement import Requirement
from tilework.analysis.data_indices import index_limits
from tilework.analysis.parameters import PREPARE
from tilework.dialects import arith
from tilework.dialects.bag import BagType, Table, tensors_of
from tilework.dialects.graph.base import Array, GraphOp
from tilework.dialects.graph.kernel import KernelOp as GraphKernelOp
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.loop import CallOp, ForOp, InvokeOp
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.loop.annotations import CHECKS
from tilework.dialects.loop.common import memref_of
from tilework.dialects.matrix import MatrixType
from tilework.dialects.scalar_meaning import ROUNDING, element_dtype
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.support.unit_op import UnitOp
from tilework.dialects.te import ComputeOp
from tilework.dialects.te import KernelOp as TeKernelOp
from tilework.dialects.te.intrinsics import copy_with_declarations, declarations_used
from tilework.driver.compare_answers import Answer, is_exact, largest
from tilework.driver.fuzz_data import fuzz_array
from tilework.driver.kernel_function import requirements_of
from tilework.driver.program_data import Data, laid_out, parameters_of, sample_points, thinned
from tilework.driver.table_arguments import as_arguments, codes_in
from tilework.interpreters.buffers import memref_dtype
from tilework.interpreters.graph import evaluate_function
from tilework.interpreters.host import HostSignature, evaluate_host
from tilework.interpreters.loop import run_loop_kernel, run_loop_sample
from tilework.interpreters.te import run_kernel, run_kernel_at
from tilework.interpreters.units import run_units

Spec: TypeAlias = tuple[tuple[Expr, ...], np.dtype[Any]]
"""Dimensions and element type of an array."""

OpT = TypeVar("OpT", bound=Operation)

NETWORK_ROUNDINGS = 4096.0
"""How far whole functions may differ, in units of the error bound: the lengths of their sums are not followed."""


@dataclass
class Program(ABC, Generic[OpT]):
    """One function or kernel, a copy of its own. `text` is what it was printed as."""

    KIND: ClassVar[str]
    name: str
    text: str
    op: OpT
    module: dict[str, Operation] = field(default_factory=dict[str, Operation], repr=False)
    """Copies of what else it needs, by name: kernels, globals, @prepare."""

    @property
    @abstractmethod
    def inputs(self) -> list[Spec]:
        """The types of what goes into the program."""

    @property
    @abstractmethod
    def dims(self) -> list[Expr]:
        """Everything that must not become less than one."""

    @property
    def requirements(self) -> Sequence[Requirement]:
        """What else symbols must be."""
        return ()

    @abstractmethod
    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        """The outputs; of those elements at least that are `wanted`, if that saves work."""

    @property
    def limits(self) -> Mapping[int, Sequence[Expr]]:
        """Inputs that are indices: their numbers are from 0 and below these."""
        return {}

    def work(self, symbols: Mapping[Key, int]) -> float:
        """How many scalar iterations a run takes, roughly."""
        return 0.0

    def in_module(self) -> ModuleOp:
        """A module of copies with the program in it."""
        return ModuleOp([op.clone() for op in (*self.module.values(), self.op)])


class GraphProgram(Program[func.FuncOp]):
    """A function of graph operators, with the parameters that @prepare makes."""

    KIND = "graph function"

    @property
    def inputs(self) -> list[Spec]:
        return [_tensor_spec(t) for type_ in self.op.function_type.inputs for t in tensors_of(type_)]

    @property
    def limits(self) -> Mapping[int, Sequence[Expr]]:
        limits = [limit for type_ in self.op.function_type.inputs for limit in codes_in(type_)]
        return {i: [const(limit)] for i, limit in enumerate(limits) if limit is not None}

    @property
    def dims(self) -> list[Expr]:
        ops = (op for op in self.op.walk() if not isinstance(op.parent_op(), TeKernelOp))  # these have other symbols
        types = (value.type for op in ops for value in op.results)
        return [e for type_ in (*self.op.function_type.inputs, *types) for t in tensors_of(type_) for e in dims_of(t)]

    @property
    def requirements(self) -> Sequence[Requirement]:
        ops = list(self.in_module().walk())  # there the operators find the kernels that they name
        stated = [op.requirement for op in ops if isinstance(op, RequireOp)]
        return [*stated, *(r for op in ops if isinstance(op, GraphOp) for r in op.requirements())]

    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        module = self.in_module()
        used = parameters_of(module, data)
        exact = [is_exact(list(used.values()))]

        def observe(_: object, value: Array | Table) -> None:
            exact[0] = exact[0] and is_exact([*value.values()] if isinstance(value, Mapping) else [value])

        given = as_arguments(self.op.function_type.inputs, data.inputs)
        outputs = evaluate_function(module, self.name, given, used, observe)
        return Answer(outputs, None, exact[0], NETWORK_ROUNDINGS, largest(data.inputs))


class HostProgram(Program[func.FuncOp]):
    """A host function and the kernels it calls."""

    KIND = "host function"

    @property
    def _signature(self) -> HostSignature:
        return HostSignature.of(self.op)

    @property
    def inputs(self) -> list[Spec]:
        return [(self._signature.dims(a), memref_dtype(a.type)) for a in self._signature.inputs]

    @property
    def dims(self) -> list[Expr]:
        own = [e for dims, _ in self.inputs for e in dims]
        symbols = {key for e in own for key in e.variables()}
        kernels = [e for k in self.module.values() if isinstance(k, TeKernelOp) for e in TeProgram("", "", k).dims]
        return own + [e for e in kernels if symbols.issuperset(e.variables())]

    def work(self, symbols: Mapping[Key, int]) -> float:
        total, largest_size = 0.0, max(symbols.values(), default=0)
        for op in self.op.walk():
            kernel = self.module.get(op.kernel_name) if isinstance(op, CallOp) else None
            program = None if kernel is None else program_of(kernel, {})
            if program is not None:  # what the symbols that only a kernel has are is told where it is called
                own = {str(key) for e in program.dims for key in e.variables()}
                total += program.work({**dict.fromkeys(own, largest_size), **symbols})
        return total

    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        module = self.in_module()
        used = parameters_of(module, data)
        outputs = evaluate_host(module, self.name, data.inputs, used)
        exact = is_exact([*used.values(), *data.inputs, *outputs]) and not any(map(_rounds, self.module.values()))
        return Answer(outputs, None, exact, NETWORK_ROUNDINGS, largest(data.inputs))


class TeProgram(Program[TeKernelOp]):
    """A te kernel; that of a schedule is the same."""

    KIND = "te kernel"

    @property
    def inputs(self) -> list[Spec]:
        return [_tensor_spec(t) for t in self.op.function_type.inputs]

    @property
    def dims(self) -> list[Expr]:
        types = [e for dims, _ in self.inputs for e in dims]
        axes = [e for c in self.op.computes for _, e in (*c.spatial, *c.reduction)]
        symbols = set(self.op.symbols)
        return types + [e for e in axes if symbols.issuperset(map(str, e.variables()))]

    @property
    def requirements(self) -> Sequence[Requirement]:
        return requirements_of(self.op)

    @property
    def limits(self) -> Mapping[int, Sequence[Expr]]:
        return index_limits(self.op)

    def work(self, symbols: Mapping[Key, int]) -> float:
        return float(sum(_volume(_largest_extents(c), symbols) for c in self.op.computes))

    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        if self.work(data.symbols) <= data.limit:
            outputs, computed = run_kernel(self.op, data.inputs, data.symbols), None
        else:
            shapes = [_shape(dims_of(v.type), data.symbols) for v in self.op.results_returned]
            computed = [sample_points(shape, wanted[i] if wanted else None) for i, shape in enumerate(shapes)]
            outputs = [self._at(data, i, mask) for i, mask in enumerate(computed)]
        return Answer(
            outputs, computed, not _rounds(self.op) and is_exact(outputs), self._roundings(data), _scale(data)
        )

    def _at(self, data: Data, result: int, mask: Array) -> Array:
        element = cast("TensorType[Attribute]", self.op.results_returned[result].type).element_type
        output = np.zeros(mask.shape, element_dtype(element))
        output[mask] = run_kernel_at(self.op, data.inputs, result, np.argwhere(mask), data.symbols)
        return output

    def _roundings(self, data: Data) -> float:
        sums = [_volume(_largest_extents(c)[len(c.spatial) :], data.symbols) for c in self.op.computes]
        return float(sum(sums) + 16)


class LoopKernelProgram(Program[LoopKernelOp]):
    """A loop kernel, its buffers laid out as it says, and the kernels that it launches."""

    KIND = "loop kernel"

    def _specs(self) -> list[Spec]:
        types = self.op.function_type.inputs.data
        return [(dims.data, memref_dtype(t)) for dims, t in zip(self.op.dims.data, types, strict=False)]

    @property
    def inputs(self) -> list[Spec]:
        return self._specs()[: self.op.group_sizes[0]]

    @property
    def dims(self) -> list[Expr]:
        return [e for dims, _ in self._specs() for e in dims] + [var(s.data) for s in self.op.symbols]

    def work(self, symbols: Mapping[Key, int]) -> float:
        values: dict[Key, int] = {
            v: symbols.get(s.data, 1) for s, v in zip(self.op.symbols, self.op.symbol_values, strict=True)
        }
        return _loop_work(self.op, values)

    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        kernel = self.in_module().body.block.last_op
        assert isinstance(kernel, LoopKernelOp)
        count, outputs_count = self.op.group_sizes[:2]
        specs, types = self._specs(), self.op.function_type.inputs.data
        arrays = [laid_out(a, t) for a, t in zip(data.inputs, types, strict=False)]
        fresh = [
            fuzz_array(_shape(dims, data.symbols), dtype, [data.seed, i])
            for i, (dims, dtype) in enumerate(specs[count : count + outputs_count])
        ]
        outputs = [laid_out(a, t) for a, t in zip(fresh, types[count:], strict=False)]
        computed = None
        if self.work(data.symbols) <= data.limit:
            symbols = [data.symbols[s.data] for s in self.op.symbols]
            run_loop_kernel(kernel, arrays, outputs, symbols=symbols, poisoned=not data.filled)
        else:
            computed = [thinned(mask) for mask in run_loop_sample(kernel, arrays, outputs)]
        if CHECKS in self.op.attributes:  # of which the kernel before the checks has no counterpart
            outputs, computed = outputs[:-1], None if computed is None else computed[:-1]
        chosen = outputs if computed is None else [a[mask] for a, mask in zip(outputs, computed, strict=True)]
        rounds = any(map(_rounds, (self.op, *self.module.values())))
        return Answer(outputs, computed, not rounds and is_exact(chosen), 16.0, _scale(data))


class UnitsProgram(Program[func.FuncOp]):
    """A function of operations on units. All that is in its arguments goes in and comes out."""

    KIND = "function"

    @property
    def inputs(self) -> list[Spec]:
        types = [memref_of(argument) for argument in self.op.args]
        return [(tuple(map(const, type_.get_shape())), memref_dtype(type_)) for type_ in types]

    @property
    def dims(self) -> list[Expr]:
        return [e for dims, _ in self.inputs for e in dims]

    def run(self, data: Data, wanted: Sequence[Array] | None = None) -> Answer:
        arrays = [array.copy() for array in data.inputs]
        run_units(self.op, arrays)
        return Answer(arrays, None, is_exact(arrays), 16.0, _scale(data))


def program_of(op: Operation, siblings: Mapping[str, Operation], known: str | None = None) -> Program[Any] | None:
    """A copy of a function or kernel for the check, with copies of what it needs.

    None for what cannot be run, and for a program whose text is still `known`. `siblings` are the module's symbols.
    """
    kind = _kind(op)
    if kind is None:
        return None
    needed = _needed(op, siblings) if isinstance(op, func.FuncOp | LoopKernelOp) else {}
    text = str(op) + str(needed.get(PREPARE, ""))  # kernels are programs of their own
    if text == known:
        return None
    copies = {symbol_of(declared): declared.clone() for declared in declarations_used(op, *needed.values())}
    return kind(symbol_of(op), text, copy_with_declarations(op), {n: o.clone() for n, o in needed.items()} | copies)


def _kind(op: Operation) -> type[Program[Any]] | None:
    match op:
        case TeKernelOp():
            return TeProgram
        case LoopKernelOp() if not op.is_declaration:
            return LoopKernelProgram
        case func.FuncOp() if not op.is_declaration and op.sym_name.data != PREPARE:
            arguments, results = op.function_type.inputs, op.function_type.outputs
            if results:
                known = all(isinstance(t, TensorType | BagType | MatrixType) for t in (*arguments, *results))
                return GraphProgram if known else None
            if any(isinstance(inner, UnitOp) for inner in op.walk()):
                return UnitsProgram
            buffers = arguments and all(isinstance(t, MemRefType) for t in arguments)
            return HostProgram if buffers else None
        case _:
            return None


def _needed(op: func.FuncOp | LoopKernelOp, siblings: Mapping[str, Operation]) -> dict[str, Operation]:
    called = _called(op, siblings)
    if isinstance(op, LoopKernelOp):
        return {name: sibling for name, sibling in siblings.items() if name in called}
    return {n: s for n, s in siblings.items() if n in called or n == PREPARE or isinstance(s, memref.GlobalOp)}


def _called(op: Operation, siblings: Mapping[str, Operation]) -> set[str]:
    """The functions and kernels that an operation calls, by way of functions too."""
    found: set[str] = set()
    pending = [op]
    while pending:
        calls = [o for o in pending.pop().walk() if isinstance(o, _CALLS) and o.callee is not None]
        names = {call.callee.root_reference.data for call in calls if call.callee is not None} - found
        found |= names
        pending += [siblings[name] for name in names if isinstance(siblings.get(name), func.FuncOp)]
    return found - {symbol_of(op)}


_CALLS = (CallOp, GraphKernelOp, InvokeOp, func.CallOp)


def symbol_of(op: Operation) -> str:
    """The name of a function, kernel or the like; an empty one for another operation."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def _tensor_spec(type_: Attribute) -> Spec:
    return dims_of(type_), element_dtype(cast("TensorType[Attribute]", type_).element_type)


def _shape(dims: Sequence[Expr], symbols: Mapping[Key, int]) -> tuple[int, ...]:
    return tuple(int(e.evaluate(symbols)) for e in dims)


def _volume(extents: Sequence[Expr], symbols: Mapping[Key, int]) -> int:
    return prod(max(0, int(e.evaluate(symbols))) for e in extents)


def _largest_extents(compute: ComputeOp) -> list[Expr]:
    """The extents of the axes; of one that depends on others, the largest that it can be."""
    ranges: dict[Key, Interval] = {n: (const(0), e - 1) for n, e in compute.spatial}
    return [e for _, e in compute.spatial] + [interval(e, ranges)[1] for _, e in compute.reduction]


def _scale(data: Data) -> float:
    return largest(data.inputs)


def _rounds(op: Operation) -> bool:
    """Whether an operation inside makes numbers that are no small integers out of such."""
    for inner in op.walk():
        if isinstance(inner, ROUNDING):
            return True
        if isinstance(inner, arith.ConstantOp) and isinstance(inner.value, FloatAttr):
            value = inner.value.value.data
            if np.isfinite(value) and value != int(value):
                return True
    return False


def _loop_work(op: Operation, values: Mapping[Key, int]) -> float:
    """Iterations of innermost loops; bounds that depend on other loops count as the whole range seen so far."""
    total, deepest = 0.0, True
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                work = _loop_work(inner, values) if inner.regions else 0.0
                total += work
                deepest = deepest and not work
    trips = _trips(op, values) if isinstance(op, ForOp) else 1.0
    own = 1.0 if isinstance(op, ForOp) and deepest else 0.0
    return trips * (total + own)


def _trips(loop: ForOp, values: Mapping[Key, int]) -> float:
    at: dict[Key, int] = {key: values.get(key, 0) for e in (loop.lower, loop.upper) for key in e.variables()}
    return float(max(0, loop.upper.evaluate(at) - loop.lower.evaluate(at)))
