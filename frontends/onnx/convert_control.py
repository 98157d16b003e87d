"""Converters: If, Loop and Scan. Where data decide, the running model does; few steps, if known, are unrolled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, minimum, product
from tilework.dialects.graph import ConcatOp, MaxOp
from tilework.dialects.graph.base import numpy_dtype
from tilework.frontends.onnx.axes import from_front
from tilework.frontends.onnx.choices import BRANCHES, choose
from tilework.frontends.onnx.iterations import DataDecide, repeat
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.same_sizes import SameSizes
from tilework.frontends.onnx.scans import MOST_UNROLLED, scan
from tilework.frontends.onnx.sizes import repeated, section
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.truths import Truth
from tilework.frontends.onnx.value_names import kind_name, onnx_name
from tilework.frontends.onnx.values import AnyValue, Known, Value

MOST_STEPS = 2**31 - 1
"""A loop of more is one that ends by its condition."""

_TRUE = np.array(True)


@converter("If")
def if_(node: Node) -> Sequence[AnyValue]:
    """The branch that is taken; where that depends on data, it is the running model that takes one."""
    condition, count = node.value(0), len(node.proto.output)
    if isinstance(condition, Known) and not condition.is_symbolic:
        return node.graph(BRANCHES[not _truth(node, condition)], [], count)
    if isinstance(condition, Known) and not _make_the_same(*map(node.trial, BRANCHES)):
        return node.graph(_branch_of_sizes(node, _truth_of_sizes(node, condition)), [], count)
    if product(value_dims(condition)) != 1:
        raise node.error("its condition is one truth value")
    return choose(node, node.emitter.tensor(node.reshape(condition, [])), count)


def _truth_of_sizes(node: Node, condition: Known) -> Truth:
    if condition.array.size != 1 or not isinstance(condition.array.item(), Truth):
        raise node.error("its condition is one truth value")
    return condition.array.item()


def _make_the_same(*made: Sequence[AnyValue] | Exception) -> bool:
    """Whether both branches can be imported, and make values of the same types."""
    first, second = (None if isinstance(values, Exception) else list(map(_kind, values)) for values in made)
    return first is not None and first == second


def _kind(value: AnyValue) -> object:
    return (value_dims(value), onnx_name(value)) if isinstance(value, SSAValue | Known) else onnx_name(value)


def _branch_of_sizes(node: Node, truth: Truth) -> str:
    """The only branch of two that is imported, where sizes decide which one is taken: others are refused.

    That is the one whose results have as many axes as the model declares; if that is open, the one for most sizes.
    """
    usual, other = ("else_branch", "then_branch") if truth.is_exceptional() else ("then_branch", "else_branch")
    fitness, of_other = (_fitness(node, node.trial(name)) for name in (usual, other))
    taken = node.branch(usual, other) if fitness == of_other else usual if fitness > of_other else other
    refused = other if taken == usual else usual
    what = f"it would take its {refused}, which does not make what its {taken} does, and that alone is compiled"
    for clause in (truth if taken == "then_branch" else ~truth).clauses:
        if len(clause) == 1 and clause[0].kind == "==":
            node.require_equal(clause[0].expr, const(0), what)
        else:
            node.require(what, *clause)
    return taken


def _fitness(node: Node, made: Sequence[AnyValue] | Exception) -> int:
    """How well a branch suits the ranks that the model declares: more than 1 if it does, 1 if that is open."""
    if isinstance(made, SameSizes):  # of its ranks where sizes are those
        return 1
    if isinstance(made, Exception):
        return -1
    ranks = [len(value_dims(v)) if isinstance(v, SSAValue | Known) else None for v in made]
    declared = [(rank, found) for rank, found in zip(node.declared_ranks(), ranks, strict=True) if rank is not None]
    if any(rank != found for rank, found in declared):
        return 0
    return 2 if declared else 1


@converter("Loop")
def loop(node: Node) -> Sequence[AnyValue]:
    """The values after the last iteration, and for what else the body makes one after the other, all of it."""
    try:
        with node.emitter.undone(DataDecide):
            return _counted(node)
    except DataDecide:
        pass
    what = "where it ends depends on data, so that what it works on are tensors"
    states = [node.one_tensor(node.any_value(i), what) for i in range(2, len(node.inputs))]
    goes_on = node.value(1) if node.has(1) else Known(_TRUE, node.title)
    return repeat(node, _limit(node), goes_on, states)


def _limit(node: Node) -> Expr | SSAValue | None:
    """How often the body of a loop is run at most; None where its condition alone ends it."""
    if not node.has(0):
        return None
    value = node.value(0)
    if not isinstance(value, Known):
        most = node.emitter.tensor(node.reshape(node.cast(value, i64), []))
        makes_sequences = len(node.proto.output) > len(node.inputs) - 2
        return size_told(node.emitter, _at_least_none(node, most), None, node.title) if makes_sequences else most
    count = _count(node)
    return None if count.constant is not None and count.constant > MOST_STEPS else count


def _at_least_none(node: Node, number: SSAValue) -> SSAValue:
    return node.emit(MaxOp, number, Known(np.array(0), node.title))


def _counted(node: Node) -> Sequence[AnyValue]:
    """A loop that ends after a number of iterations, or where conditions that are known say so.

    Raises DataDecide for another one.
    """
    for i, value in enumerate(node.inputs[:2]):
        if isinstance(value, SSAValue) and node.emitter.defaults_in(value):
            node.known_array(i, "end")  # it asks for what has a default to be known
    if not (node.has(0) and isinstance(node.value(0), Known)):
        raise DataDecide
    count, states = _count(node), [node.any_value(i) for i in range(2, len(node.inputs))]
    if node.has(1) and not _goes_on(node, node.value(1)):
        count = const(0)
    if count.constant is not None and (count.constant <= MOST_UNROLLED or count.constant > MOST_STEPS):
        return _unrolled(node, count.constant, states)
    try:
        with node.emitter.undone(_EndsAtOnce):
            return _in_steps(node, count, states)
    except _EndsAtOnce:
        pass
    once = minimum(count, 1)
    return _unrolled(node, 1, states) if once == 1 else _in_steps(node, once, states, is_once=True)


class _EndsAtOnce(Exception):
    """The body of a loop says that there is no other iteration."""


def _in_steps(node: Node, count: Expr, states: Sequence[AnyValue], *, is_once: bool = False) -> Sequence[Value]:
    """Iterations that share their operators. Raises _EndsAtOnce for a body that ends a loop unless it `is_once`."""
    tensors = [_scanned(node, state, count) for state in states]

    def step(inside: Node, states: Sequence[Value], elements: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        condition, *values = _iteration(inside, elements[0], states)
        if not _goes_on(inside, condition) and not is_once:
            raise _EndsAtOnce
        made = [_scanned(inside, value, count) for value in values]
        return made[: len(states)], made[len(states) :]

    numbers = node.emitter.range(const(0), count, 1, node.title)
    ends, sequences = scan(node, tensors, [numbers], step)
    return [*ends, *sequences]


def _count(node: Node) -> Expr:
    """How many iterations there are at most."""
    count = node.count(0, "number of iterations")
    return const(max(count.constant, 0)) if count.constant is not None else count


def _scanned(node: Node, value: AnyValue, count: Expr) -> Value:
    """A state, or what a body makes, of a loop whose iterations share their operators."""
    if isinstance(value, SSAValue | Known):
        return value
    most = f"at most {MOST_UNROLLED} iterations, a number known beforehand"
    raise node.error(f"it works on {kind_name(value)}, which takes {most}, not {count}")


def _iteration(node: Node, number: Value, states: Sequence[AnyValue]) -> list[AnyValue]:
    """Whether there is another one, the states, and what else the body makes."""
    return node.graph("body", [number, Known(_TRUE, node.title), *states], len(node.proto.output) + 1)


def _stacked(node: Node, elements: Sequence[AnyValue]) -> Value:
    """Elements one after the other along a new first axis."""
    tensors = [node.one_tensor(v, "what its body makes") for v in elements]
    single = [node.reshape(v, [const(1), *value_dims(v)]) for v in tensors]
    return single[0] if len(single) == 1 else node.emit(ConcatOp, *single, axis=int_attr(0))


def _goes_on(node: Node, condition: AnyValue) -> bool:
    """Whether there is an iteration more."""
    if not isinstance(condition, Known) or condition.is_symbolic:
        raise DataDecide
    return _truth(node, condition)


def _truth(node: Node, condition: Known) -> bool:
    if condition.array.size != 1:
        raise node.error(f"its condition is one truth value, not {condition.array.size}")
    return bool(condition.array.item())


def _unrolled(node: Node, count: int, states: Sequence[AnyValue]) -> Sequence[AnyValue]:
    """Iterations of which each has operators of its own: what is known of one, so of the next."""
    made: list[Sequence[AnyValue]] = []
    for i in range(count):
        if i == MOST_UNROLLED:
            raise node.error(f"it goes on for more than {i} iterations, and would for {count}")
        condition, *values = _iteration(node, Known(np.array(i), node.title), states)
        states, elements = values[: len(states)], values[len(states) :]
        made.append(elements)
        if not _goes_on(node, condition):
            break
    if not made and len(node.proto.output) > len(states):
        return [*states, *_of_no_iteration(node, states)]
    return [*states, *(_stacked(node, elements) for elements in zip(*made, strict=True))]


def _of_no_iteration(node: Node, states: Sequence[AnyValue]) -> list[Value]:
    """What a loop without iterations makes: nothing of what its body would make; sizes that this would tell are 0."""
    with node.emitter.undone():
        _, *values = _iteration(node, Known(np.array(0), node.title), states)
        made = [node.one_tensor(v, "what its body makes") for v in values[len(states) :]]
        types = [(node.dtype_of(v), value_dims(v)) for v in made]
        told = {key for _, dims in types for d in dims for key in d.variables() if node.emitter.is_told(key)}
    unknown = {key: 0 for key in told if not node.emitter.is_told(key)}
    empty: list[Value] = []
    for element, dims in types:
        zero = Known(np.zeros((), numpy_dtype(element)), node.title)
        empty.append(repeated(node, zero, [const(0), *(d.substitute(unknown) for d in dims)]))
    return empty


@converter("Scan", since=9)
def scan_(node: Node) -> Sequence[Value]:
    """The states after the last step, and the new sequences, each along its axis.

    A step for every element of the sequences in the direction that is most theirs; others are reversed before or after.
    """
    count = len(node.inputs) - node.attribute("num_scan_inputs")
    if not 0 <= count < len(node.inputs):
        raise node.error(f"of its {len(node.inputs)} inputs some are sequences, not {len(node.inputs) - count}")
    states, given = ([node.value(i) for i in range(*ends)] for ends in ((0, count), (count, len(node.inputs))))
    made = len(node.proto.output) - count
    axes, new_axes = _of_each(node, "axes", len(given), made)
    directions, new_directions = _of_each(node, "directions", len(given), made)
    if wrong := [number for number in (*directions, *new_directions) if number not in (0, 1)]:
        raise node.error(f"a direction is 0 or 1, not {wrong[0]}")
    reverse = all(directions)

    def step(inside: Node, states: Sequence[Value], elements: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        outputs = inside.graph("body", [*states, *elements], len(node.proto.output))
        values = [inside.one_tensor(v, "what its body makes") for v in outputs]
        return values[: len(states)], values[len(states) :]

    sequences = _of_one_length(node, [_axis_first(node, v, axis) for v, axis in zip(given, axes, strict=True)])
    over = [_turned(node, v, direction != reverse) for v, direction in zip(sequences, directions, strict=True)]
    ends, new = scan(node, states, over, step, reverse=reverse)
    turned = [_turned(node, v, direction != reverse) for v, direction in zip(new, new_directions, strict=True)]
    return [*ends, *(_axis_from_first(node, v, axis) for v, axis in zip(turned, new_axes, strict=True))]


def _of_each(node: Node, what: str, sequences: int, made: int) -> tuple[Sequence[int], Sequence[int]]:
    """The attributes that have a number for each sequence, and for each that is made; 0 where they are absent."""
    found: list[Sequence[int]] = []
    for which, count in (("input", sequences), ("output", made)):
        numbers = node.attribute(f"scan_{which}_{what}", [0] * count)
        if len(numbers) != count:
            raise node.error(f"scan_{which}_{what} has a number for each of {count}, not {len(numbers)}")
        found.append(numbers)
    return found[0], found[1]


def _of_one_length(node: Node, sequences: Sequence[Value]) -> list[Value]:
    """The sequences, which have as many elements each; where that is open, it is required."""
    [steps, *_] = value_dims(sequences[0])
    lengths = ", ".join(str(value_dims(v)[0]) for v in sequences)
    return [node.of_size(v, 0, steps, f"its sequences are of different lengths: {lengths}") for v in sequences]


def _turned(node: Node, sequence: Value, is_turned: bool) -> Value:
    """The sequence, from its end to its beginning if `is_turned`."""
    if not is_turned:
        return sequence
    steps = value_dims(sequence)[0]
    return section(node, sequence, 0, steps - 1, steps, -1)


def _axis_first(node: Node, sequence: Value, axis: int) -> Value:
    """The sequence with this axis in front of the others."""
    rank = len(value_dims(sequence))
    [axis] = from_front(node, [axis], rank)
    return node.transposed(sequence, [axis, *(i for i in range(rank) if i != axis)])


def _axis_from_first(node: Node, sequence: Value, axis: int) -> Value:
    """The sequence with its first axis put there."""
    rank = len(value_dims(sequence))
    [axis] = from_front(node, [axis], rank)
    others = list(range(1, rank))
    return node.transposed(sequence, [*others[:axis], 0, *others[axis:]])
