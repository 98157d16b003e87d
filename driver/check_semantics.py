"""Running the program before and after every pass, and stopping at the first pass that changes an answer.

Every function and kernel is run by the interpreter of its level on small integers; one that refuses them has to refuse
them after the pass, too. Names link versions: a te kernel and the loop kernel that it becomes are called alike, and so
are a graph function and its host function. Where all arithmetic was on small integers and the pass is `exact`, answers
must be equal bit by bit; else they may differ by an error bound from the lengths of the sums. Large kernels are
compared in a sample of their elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.algebra.index_expr import Key
from tilework.analysis.parameters import PREPARE
from tilework.dialects.graph.base import Array
from tilework.dialects.support.diagnostics import CompileError, DataRefused, TileworkError
from tilework.driver.apply_pattern import ApplyPattern
from tilework.driver.compare_answers import Answer, compare
from tilework.driver.fuzz_data import fuzz_array, fuzz_indices, symbol_values
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.program_data import Data, parameters_of
from tilework.driver.programs_to_check import Program, Spec, TeProgram, program_of, symbol_of
from tilework.transforms.base import TileworkPass

MAX_WORK = 2.0**29
"""Scalar iterations of one run, about a second; programs with more are sampled."""


MAX_ELEMENTS = 1 << 29
"""Elements of the largest array that a program is run on: some gigabytes, while they are drawn."""


@dataclass(frozen=True)
class Comparison:
    """One program, before and after one pass: how many numbers were compared, and whether bit by bit."""

    pass_name: str
    program: str
    elements: int
    bitwise: bool


@dataclass
class Report:
    """What was compared, and which programs changed without being compared, and why."""

    comparisons: list[Comparison] = field(default_factory=list[Comparison])
    unchecked: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    @property
    def elements(self) -> int:
        """How many numbers were compared in all."""
        return sum(c.elements for c in self.comparisons)

    def __str__(self) -> str:
        lines = [
            f"{c.pass_name}: {c.program}: {c.elements} elements {'equal' if c.bitwise else 'within the error bound'}"
            for c in self.comparisons
        ]
        return "\n".join([*lines, *(f"{p}: {program}: not compared: {why}" for p, program, why in self.unchecked)])


@dataclass
class _Known:
    """The newest version of a program, what it is run on, its answers, and the te kernel that it came from."""

    program: Program[Any]
    data: list[Data]
    origin: Program[Any] | None
    answers: dict[int, Answer] = field(default_factory=dict[int, Answer])


class SemanticCheck(Instrumentation):
    """Raises a CompileError after the first pass that changes what a function or kernel computes.

    `parameters` are the bytes of a model's parameters by name; those not given are integers. `max_work` is the number
    of scalar iterations up to which a program is run in full. `report` says what was compared.
    """

    def __init__(self, parameters: Mapping[str, Array] | None = None, seed: int = 0, max_work: float = MAX_WORK):
        self.report = Report()
        self._parameters = parameters or {}
        self._seed = seed
        self._max_work = max_work
        self._root: Operation | None = None
        self._known: dict[str, _Known] = {}

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        root = _root(op)
        if root is not self._root:  # another module: nothing is known of it
            self._root, self._known = root, {}
        for name, program in self._programs(op).items():  # new ones, and what was changed between pipelines
            self._keep_prepared(name, root)
            _check_memory(program, _live(op, name))
            self._known[name] = self._first_seen(program)

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        changed = self._programs(op)
        for name, program in changed.items():
            _check_memory(program, _live(op, name))
            known = self._known.get(name)
            if known is None:
                self._known[name] = self._first_seen(program)
            else:
                self._known[name] = self._checked(pass_, known, program, _live(op, name))
        if isinstance(op, ModuleOp):
            here = {symbol_of(child) for child in op.ops}
            self._known = {name: known for name, known in self._known.items() if name in here}

    # -- versions

    def _programs(self, op: Operation) -> dict[str, Program[Any]]:
        """The programs in `op` that are new or differ from what is known."""
        root = _root(op)
        siblings = {symbol_of(child): child for child in root.ops} if isinstance(root, ModuleOp) else {}
        found: dict[str, Program[Any]] = {}
        for child in op.ops if isinstance(op, ModuleOp) else [op]:
            known = self._known.get(symbol_of(child))
            program = program_of(child, siblings, None if known is None else known.program.text)
            if program is not None:
                found[program.name] = program
        return found

    def _first_seen(self, program: Program[Any]) -> _Known:
        return _Known(program, self._data(program), program if isinstance(program, TeProgram) else None)

    def _data(self, program: Program[Any], *, positive: bool = False, filled: bool = False) -> list[Data]:
        data: list[Data] = []
        for case, symbols in enumerate(symbol_values(program.dims, program.requirements)):
            inputs = [
                self._input(program, i, spec, symbols, case, positive=positive) for i, spec in enumerate(program.inputs)
            ]
            data.append(Data(symbols, inputs, self._parameters, self._seed, self._max_work, positive, filled))
        return data

    def _input(
        self, program: Program[Any], i: int, spec: Spec, symbols: Mapping[Key, int], case: int, *, positive: bool
    ) -> Array:
        dims, dtype = spec
        shape, seed = [int(e.evaluate(symbols)) for e in dims], [self._seed, case, i]
        limits = [int(e.evaluate(symbols)) for e in program.limits.get(i, ())]
        if limits:
            return fuzz_indices(shape, dtype, seed, min(limits))
        return fuzz_array(shape, dtype, seed, positive=positive)

    def _keep_prepared(self, name: str, root: Operation) -> None:
        """Before a program is replaced: what its @prepare made, where that was dropped because it has run."""
        known = self._known.get(name)
        dropped = isinstance(root, ModuleOp) and all(symbol_of(child) != PREPARE for child in root.ops)
        if dropped and known is not None and PREPARE in known.program.module:
            made = parameters_of(known.program.in_module(), known.data[0])
            self._parameters = {**self._parameters, **made}

    # -- comparing

    def _checked(self, pass_: ModulePass, known: _Known, program: Program[Any], live: Operation) -> _Known:
        """The new version of a program, once its answers are found to be those of the one before."""
        title = f"{program.KIND} @{program.name}"
        new = _Known(program, known.data, program if isinstance(program, TeProgram) else known.origin)
        if _signature(known.program, known.data) != _signature(program, known.data):
            self.report.unchecked.append((pass_.name, title, "its inputs are not those it had before"))
            return self._first_seen(program)
        exact = not isinstance(pass_, TileworkPass | ApplyPattern) or pass_.numerics == "exact"
        compared, bitwise = self._compare_all(pass_, known, new, exact, live)
        for filled in (False, True):
            if not compared:
                known.data = new.data = self._data(known.program, positive=True, filled=filled)
                known.answers.clear()
                new.answers.clear()
                compared, bitwise = self._compare_all(pass_, known, new, exact, live)
        if not compared and any(a.size for answer in new.answers.values() for a in answer.outputs):
            raise CompileError(
                f"the check of '{pass_.name}' compared no number of {title}: "
                "all are NaN, or samples before and after have none in common",
                live,
            )
        self.report.comparisons.append(Comparison(pass_.name, title, compared, bitwise))
        return new

    def _compare_all(
        self, pass_: ModulePass, known: _Known, new: _Known, exact: bool, live: Operation
    ) -> tuple[int, bool]:
        compared, all_bitwise = 0, True
        for case, data in enumerate(new.data):
            if case == 0 and len(new.data) > 1 and new.program.work(data.symbols) > 8 * self._max_work:
                continue  # the other case, all symbols one, costs less
            found = self._answer(pass_, new, case, live, "after", None)
            reference = self._reference(pass_, known, case, live, found)
            if len(reference.outputs) != len(found.outputs):
                raise CompileError(
                    f"'{pass_.name}' changes how many results {new.program.KIND} @{new.program.name} has: "
                    f"there were {len(reference.outputs)} and are {len(found.outputs)}",
                    live,
                )
            bitwise = exact and reference.exact
            count, difference = compare(reference, found, bitwise=bitwise)
            if difference is not None:
                raise CompileError(
                    f"'{pass_.name}' changes what {new.program.KIND} @{new.program.name} computes: "
                    f"{difference}{_for_symbols(data)}",
                    live,
                )
            compared, all_bitwise = compared + count, all_bitwise and bitwise
        return compared, all_bitwise

    def _reference(self, pass_: ModulePass, known: _Known, case: int, live: Operation, found: Answer) -> Answer:
        """The answer before the pass. Of a sample, the same elements: the te kernel can compute any of them."""
        if found.computed is not None and known.origin is not None:
            origin = _Known(known.origin, known.data, None)
            return self._answer(pass_, origin, case, live, "before", found.computed)
        return self._answer(pass_, known, case, live, "before", None)

    def _answer(
        self, pass_: ModulePass, known: _Known, case: int, live: Operation, when: str, wanted: Sequence[Array] | None
    ) -> Answer:
        if case not in known.answers:
            try:
                with np.errstate(all="ignore"):
                    known.answers[case] = known.program.run(known.data[case], wanted)
            except DataRefused:  # as every version of the program has to
                known.answers[case] = Answer([], None, True, 0.0, 0.0)
            except TileworkError as error:
                title = f"{known.program.KIND} @{known.program.name}"
                where = _for_symbols(known.data[case])
                raise CompileError(f"{when} '{pass_.name}', {title} cannot be run{where}: {error}", live) from error
        return known.answers[case]


def _check_memory(program: Program[Any], live: Operation) -> None:
    """Refuse to run a program on arrays that no memory holds, or hardly any."""
    for op in program.op.walk():
        for value in (*op.results, *(argument for region in op.regions for b in region.blocks for argument in b.args)):
            if isinstance(value.type, ShapedType):
                size = prod(extent for extent in value.type.get_shape() if extent >= 0)
                if size > MAX_ELEMENTS:
                    what = f"{program.KIND} @{program.name} cannot be run to check it"
                    raise CompileError(f"{what}: {value.type} has {size} elements, too many for memory", live)


def _for_symbols(data: Data) -> str:
    return f" for {', '.join(f'{k} = {v}' for k, v in data.symbols.items())}" if data.symbols else ""


def _signature(program: Program[Any], data: Sequence[Data]) -> object:
    symbols = data[0].symbols
    try:
        return [([e.evaluate(symbols) for e in dims], dtype) for dims, dtype in program.inputs]
    except KeyError:  # a symbol that the version before does not have
        return None


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def _live(op: Operation, name: str) -> Operation:
    """The operation of that name in the program itself, for messages."""
    children = op.ops if isinstance(op, ModuleOp) else ()
    return next((child for child in children if symbol_of(child) == name), op)
