"""What a graph means: functions of graph operators, evaluated in numpy one operator at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import MUST_HOLD
from tilework.analysis.parameters import PREPARE, computation_of, graph_functions, parameters_read
from tilework.dialects import arith
from tilework.dialects.bag import BagType, Table
from tilework.dialects.graph.base import GraphOp, numpy_dtype
from tilework.dialects.graph.choice import IfOp
from tilework.dialects.graph.control import ControlOp
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.graph.size import SizeOp
from tilework.dialects.graph.structure import CopyOp, DefineParameterOp, FusedOp, ParameterOp, YieldOp
from tilework.dialects.matrix import MatrixType
from tilework.dialects.matrix.base import MatrixOp
from tilework.dialects.support.diagnostics import CompileError, DataRefused, TileworkError, UsageError
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.interpreters.symbols import solve_symbols

MOST_RUNS = 100_000
"""How often a graph.while is run: one that is run on other data than it was written for may never end."""

Array: TypeAlias = NDArray[Any]
Observer: TypeAlias = Callable[[SSAValue, Array], None]


def run_function(
    module: ModuleOp,
    name: str,
    inputs: Sequence[Array],
    parameters: Mapping[str, Array],
    observe: Observer | None = None,
) -> list[Array]:
    """The outputs of `func @name`. A value is forgotten after its last use; `observe` sees each one when it is made.

    Raises UsageError where there is no such function, or inputs or parameters do not fit their types, TileworkError
    where something does not hold that must.
    """
    results = evaluate_function(module, name, inputs, parameters, observe)
    function = find_function(module, name)
    assert function is not None
    return held(function.res_attrs, results)


def sizes_told(argument: SSAValue, given: Array | Table) -> list[tuple[Expr, int]]:
    """The dimensions of an argument and what they are."""
    if isinstance(given, Mapping):
        rows = cast("BagType", argument.type).rows
        return [(rows, len(column)) for column in given.values()]
    return list(zip(dims_of(_as_tensor(argument)), given.shape, strict=True))


def held(attributes: ArrayAttr[DictionaryAttr] | None, results: Sequence[Array]) -> list[Array]:
    """The results without those that must hold. Raises TileworkError for one that does not."""
    if attributes is None:
        return list(results)
    kept: list[Array] = []
    for result, attribute in zip(results, attributes, strict=True):
        text = attribute.data.get(MUST_HOLD)
        if not isinstance(text, StringAttr):
            kept.append(result)
        elif not result:
            raise TileworkError(text.data)
    return kept


def evaluate_function(
    module: ModuleOp,
    name: str,
    inputs: Sequence[Array | Table],
    parameters: Mapping[str, Array],
    observe: Observer | None = None,
) -> list[Array]:
    """All results of `func @name`, as `run_function` says, whether or not what must hold does."""
    function = find_function(module, name)
    if function is None:
        raise UsageError(f"the module has no function @{name}")
    block = body_of(function)
    if len(inputs) != len(block.args):
        raise UsageError(f"@{name} takes {len(block.args)} inputs, {len(inputs)} are given")
    for i, (argument, array) in enumerate(zip(block.args, inputs, strict=True)):
        _check_fits(argument, array, f"input {i} of @{name}")
    sizes = [pair for v, x in zip(block.args, inputs, strict=True) for pair in sizes_told(v, x)]
    symbols = solve_symbols(sizes)
    for op in block.ops:
        if isinstance(op, RequireOp) and symbols.keys() >= {*op.requirement.variables()}:
            _check_requirement(op, symbols)
    try:
        return _Evaluation(parameters, observe, symbols).block(block, cast("Sequence[Array]", inputs))
    except RecursionError:
        raise DataRefused(f"@{name} calls itself too often to be interpreted") from None


def _check_requirement(op: RequireOp, symbols: Mapping[Key, int]) -> None:
    """Raise UsageError for sizes for which a function cannot be run."""
    if not op.requirement.evaluate(symbols):
        sizes = ", ".join(f"{name} = {symbols[name]}" for name in op.requirement.variables())
        raise UsageError(f"{op.text.data} ({sizes})")


def prepare_parameters(module: ModuleOp, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Run `@prepare` and return the parameters that `@main` uses: those it defines and those it left alone.

    Each `graph.define_parameter` is evaluated on its own, from what it depends on; nothing else is kept meanwhile.
    """
    prepared = defined_parameters(module, parameters)
    functions = graph_functions(module)
    used = [op.sym_name.data for function in functions for op in function.walk() if isinstance(op, ParameterOp)]
    return {name: prepared[name] if name in prepared else _parameter(parameters, name) for name in used}


def defined_parameters(module: ModuleOp, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The parameters that `@prepare` defines, computed one after the other from those given."""
    return {op.sym_name.data: _evaluate_slice(op.value, parameters) for op in _definitions(module)}


def _definitions(module: ModuleOp) -> list[DefineParameterOp]:
    prepare = find_function(module, PREPARE)
    return [] if prepare is None else [op for op in body_of(prepare).ops if isinstance(op, DefineParameterOp)]


def prepare_anew(module: ModuleOp, parameters: Mapping[str, Array], changed: Set[str]) -> dict[str, Array]:
    """Those parameters that `@prepare` defines from others that have changed."""
    return {
        op.sym_name.data: _evaluate_slice(op.value, parameters)
        for op in _definitions(module)
        if not changed.isdisjoint(parameters_read(op.value))
    }


def find_function(module: ModuleOp, name: str) -> func.FuncOp | None:
    """The module's function of that name, or None."""
    return next((op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name), None)


def _evaluate_slice(value: SSAValue, parameters: Mapping[str, Array]) -> Array:
    """The value, from the operations it depends on and no others."""
    evaluation = _Evaluation(parameters, None, {})
    evaluation.run(computation_of(value), kept=[value])
    return np.asarray(evaluation.values[value])


class _Evaluation:
    """The values of one block while it is evaluated; symbols: what inputs, and operators that count, tell of sizes."""

    def __init__(self, parameters: Mapping[str, Array], observe: Observer | None, symbols: Mapping[Key, int]):
        self.parameters = parameters
        self.observe = observe
        self.symbols = dict(symbols)
        self.values: dict[SSAValue, Array] = {}

    def block(self, block: Block, arguments: Sequence[Array]) -> list[Array]:
        """What the block's terminator hands out."""
        last = block.last_op
        if not isinstance(last, func.ReturnOp | YieldOp):
            raise CompileError("a graph ends in func.return or graph.yield", last)
        for argument, array in zip(block.args, arguments, strict=True):
            self._define(argument, array)
        self.run([op for op in block.ops if op is not last], kept=last.operands)
        return [self.values[value] for value in last.operands]

    def run(self, ops: Sequence[Operation], kept: Iterable[SSAValue]) -> None:
        """Evaluate operations in order; afterwards the values of `kept` are there."""
        uses = Counter(operand for op in ops for operand in op.operands)
        uses.update(kept)
        for op in ops:
            for result, array in zip(op.results, self._evaluate(op), strict=True):
                self._define(result, array)
                if not uses[result]:
                    del self.values[result]
            for operand in op.operands:
                uses[operand] -= 1
                if not uses[operand]:
                    del self.values[operand]

    def _define(self, value: SSAValue, array: Array) -> None:
        self.values[value] = array
        if self.observe is not None:
            self.observe(value, array)

    def _evaluate(self, op: Operation) -> Sequence[Array]:
        operands = [self.values[operand] for operand in op.operands]
        if isinstance(op, ReshapeOp) and all(self.symbols.keys() >= {*d.variables()} for d in op.shape.data):
            return [operands[0].reshape([int(d.evaluate(self.symbols)) for d in op.shape.data])]
        if isinstance(op, RequireOp):
            _check_requirement(op, self.symbols)
            return []
        if isinstance(op, SizeOp):
            return [self._size(op, int(operands[0]))]
        if isinstance(op, KernelOp):  # models without such operators are compiled without the interpreter of te
            from tilework.interpreters.te import run_kernel

            return run_kernel(op.kernel, operands, self._sizes_of(op))
        if isinstance(op, GraphOp | MatrixOp):
            with np.errstate(all="ignore"):  # infinities and NaN are values like any other
                made = op.evaluate(*operands)
            single = isinstance(made, np.ndarray | np.generic | Mapping)
            return [cast("Array", made)] if single else cast("Sequence[Array]", made)
        if isinstance(op, CopyOp):
            return operands
        if isinstance(op, FusedOp):
            return self._inside().block(op.body.block, operands)
        if isinstance(op, ControlOp | func.CallOp):
            return self._control(op, operands)
        if isinstance(op, ParameterOp):
            array = _parameter(self.parameters, op.sym_name.data)
            _check_fits(op.result, array, f"parameter @{op.sym_name.data}")
            return [array]
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
            return [constant_array(op.value)]
        raise CompileError(f"the graph interpreter does not know '{op.name}'", op)

    def _control(self, op: ControlOp | func.CallOp, operands: Sequence[Array]) -> Sequence[Array]:
        match op:
            case func.CallOp():
                return self._call(op, operands)
            case ScanOp():
                return self._scan(op, operands)
            case IfOp():
                return self._inside().block(op.bodies[0 if operands[0] else 1], operands[1:])
            case WhileOp():
                return self._while(op, operands)
            case _:
                raise CompileError(f"the graph interpreter does not know '{op.name}'", op)

    def _call(self, op: func.CallOp, operands: Sequence[Array]) -> Sequence[Array]:
        """Another function, which sees the sizes that its arguments tell."""
        function = SymbolTable.lookup_symbol(op, op.callee)
        assert isinstance(function, func.FuncOp)
        block = body_of(function)
        symbols = solve_symbols([pair for v, x in zip(block.args, operands, strict=True) for pair in sizes_told(v, x)])
        return _Evaluation(self.parameters, self.observe, symbols).block(block, operands)

    def _size(self, op: SizeOp, number: int) -> Array:
        """Bind a symbol. Raises TileworkError for a number that is no such size."""
        if number < 0 or (op.most is not None and number > op.most.evaluate(self.symbols)):
            raise DataRefused(op.refusal)
        self.symbols[op.symbol.data] = number
        return np.zeros(number, bool)

    def _inside(self) -> _Evaluation:
        return _Evaluation(self.parameters, self.observe, self.symbols)

    def _sizes_of(self, op: KernelOp) -> dict[Key, int]:
        """The values of a kernel's symbols that the inputs of the function tell."""
        told = ((name, size) for name, size in op.symbols.items() if self.symbols.keys() >= {*size.variables()})
        return {name: int(size.evaluate(self.symbols)) for name, size in told}

    def _scan(self, op: ScanOp, operands: Sequence[Array]) -> Sequence[Array]:
        """A step after the other; nothing is known of the elements of no step but their number."""
        count, end = len(op.states), len(op.states) + len(op.sequences)
        states, sequences, constants = operands[:count], operands[count:end], operands[end:]
        steps = range(len(sequences[0]))
        made: dict[int, Sequence[Array]] = {}
        for t in reversed(steps) if op.reverse else steps:
            yielded = self._inside().block(op.body.block, [*states, *(s[t] for s in sequences), *constants])
            states, made[t] = yielded[:count], yielded[count:]
        return [*states, *_sequences(op, [made[t] for t in steps], self.symbols)]

    def _while(self, op: WhileOp, operands: Sequence[Array]) -> Sequence[Array]:
        """A run after the other, as long as the condition holds and there are no more than the limit says."""
        count = 1 + len(op.states)
        again, states, constants = operands[0], operands[1:count], operands[count:]
        most = None if op.most is None else int(op.most.evaluate(self.symbols))
        made: list[Sequence[Array]] = []
        while again and len(made) != most:
            if len(made) == MOST_RUNS:
                raise DataRefused(f"a loop runs more than {MOST_RUNS} times, too often to be interpreted")
            again, *yielded = self._inside().block(op.body.block, [*states, *constants])
            states = yielded[: len(op.states)]
            made.append(yielded[len(op.states) :])
        if op.count is not None:
            self.symbols[op.count.data] = len(made)
        return [*states, *_sequences(op, made, self.symbols)]


def _sequences(op: ScanOp | WhileOp, made: Sequence[Sequence[Array]], symbols: Mapping[Key, int]) -> list[Array]:
    """New sequences of what was made step by step."""
    if not made:
        return [_without_elements(v, symbols) for v in op.new_sequences]
    return [np.stack(elements) for elements in zip(*made, strict=True)]


def _without_elements(sequence: SSAValue, symbols: Mapping[Key, int]) -> Array:
    """A sequence of no step; where its other sizes are not known, they are 0."""
    type_ = cast("TensorType[Attribute]", sequence.type)
    sizes = [d.evaluate(symbols) if symbols.keys() >= {*d.variables()} else 0 for d in dims_of(type_)[1:]]
    return np.zeros([0, *map(int, sizes)], numpy_dtype(type_.element_type))


def constant_array(value: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a `dense<...>`."""
    dtype = numpy_dtype(value.get_element_type())
    array = np.array(value.get_values(), dtype)
    shape = value.get_shape()
    return np.broadcast_to(array.reshape(()), shape) if array.size == 1 else array.reshape(shape)


def _parameter(parameters: Mapping[str, Array], name: str) -> Array:
    if name not in parameters:
        raise UsageError(f"there is no parameter @{name}")
    return parameters[name]


def _check_fits(value: SSAValue, array: Array | Table, what: str) -> None:
    """Compare an array with the constant dimensions and the element type of a value, or a table with its columns."""
    if isinstance(value.type, BagType):
        given = [*cast("Table", array)]
        if given != [*value.type.columns]:
            raise UsageError(f"{what} has the columns {', '.join(value.type.columns)}, not {', '.join(given)}")
        return
    assert not isinstance(array, Mapping)
    type_ = _as_tensor(value)
    dims = dims_of(type_)
    fits = len(dims) == array.ndim and all(d.constant in (None, n) for d, n in zip(dims, array.shape, strict=True))
    dtype = numpy_dtype(element_type(type_))
    if not fits or array.dtype != dtype:
        expected = f"{dtype}[{', '.join(map(str, dims))}]"
        raise UsageError(f"{what} is {expected}, not {array.dtype}[{', '.join(map(str, array.shape))}]")


def _as_tensor(value: SSAValue) -> Attribute:
    """The type of the tensor that a matrix is, or that the value has."""
    return value.type.tensor if isinstance(value.type, MatrixType) else value.type
