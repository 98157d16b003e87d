"""Converters: recurrent layers. The inputs of all steps are multiplied at once, the state at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from xdsl.dialects.builtin import i64

from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.dialects.graph import (
    AddOp,
    CastOp,
    ConcatOp,
    DenseOp,
    LessOp,
    WhereOp,
)
from tilework.frontends.onnx import activations
from tilework.frontends.onnx.axes import sliced
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.recurrent_cells import (
    Activation,
    Layer,
    State,
    Step,
    gru_step,
    gru_step_of_products,
    lstm_step,
    rnn_step,
)
from tilework.frontends.onnx.scans import MOST_UNROLLED, scan
from tilework.frontends.onnx.sizes import repeated
from tilework.frontends.onnx.values import Known, Value


@dataclass(frozen=True)
class _Function:
    """An activation, and what its parameters are where the node does not say so: None for one that has to be given."""

    function: Callable[..., Value]
    parameters: Mapping[str, float | None] = field(default_factory=dict[str, float | None])


ACTIVATIONS = {
    "affine": _Function(activations.affine, {"alpha": 1.0, "beta": 0.0}),
    "elu": _Function(activations.elu, {"alpha": 1.0}),
    "hardsigmoid": _Function(activations.hard_sigmoid, {"alpha": 0.2, "beta": 0.5}),
    "leakyrelu": _Function(activations.leaky_relu, {"alpha": 0.01}),
    "relu": _Function(activations.relu),
    "scaledtanh": _Function(activations.scaled_tanh, {"alpha": None, "beta": None}),
    "sigmoid": _Function(activations.sigmoid),
    "softplus": _Function(activations.softplus),
    "softsign": _Function(activations.softsign),
    "tanh": _Function(activations.tanh),
    "thresholdedrelu": _Function(activations.thresholded_relu, {"alpha": 1.0}),
}
"""The activations by their names in small letters. Parameters default to those of the operators of these names."""

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each walk through the sequence begins at its end."""


@dataclass(frozen=True)
class _Kind:
    """gates: how many; their weights stand behind one another. activations: those of f, g and h where the node names
    none. states: how many values a step hands on."""

    gates: int
    activations: tuple[str, ...]
    states: int
    step: Step


KINDS = {
    "RNN": _Kind(1, ("tanh",), 1, rnn_step),
    "GRU": _Kind(3, ("sigmoid", "tanh"), 1, gru_step),
    "LSTM": _Kind(4, ("sigmoid", "tanh", "tanh"), 2, lstm_step),
}


def recurrent(node: Node) -> Sequence[Value]:
    """The outputs of all steps, [steps, directions, batch, hidden], and the last states, [directions, batch, hidden].

    With layout=1 the batch is the first axis.
    """
    kind, steps = KINDS[node.op_type], _steps(node)
    node = _fitting(node, kind)
    lengths = _lengths(node, steps)
    is_short = steps.constant is not None and steps.constant <= MOST_UNROLLED
    if is_short and lengths is None:
        sequence, ends = _unrolled(node, kind, steps.offset)
    else:
        sequence, ends = _scanned(node, kind, steps, lengths)
    if not _batch_first(node):
        return [sequence, *ends]
    return [node.transposed(sequence, [2, 0, 1, 3]), *(node.transposed(end, [1, 0, 2]) for end in ends)]


for _name in KINDS:
    converter(_name)(recurrent)


def _unrolled(node: Node, kind: _Kind, steps: int) -> tuple[Value, Sequence[Value]]:
    """The outputs and the last states of all directions, each step by operators of its own.

    The first one has no product with states that are zero then, and steps in turn read weights to and fro.
    """
    outputs: dict[tuple[int, int], Value] = {}
    last: list[State] = []
    for direction, backwards in enumerate(_directions(node)):
        order = range(steps)[::-1] if backwards else range(steps)
        states = _walk(node, kind, direction, order)
        outputs |= {(t, direction): _given(state[0]) for t, state in states.items()}
        last.append(states[order[-1]])
    sequence = _stacked(node, [outputs[key] for key in sorted(outputs)])
    _, *dims = value_dims(sequence)
    sequence = node.reshape(sequence, [const(steps), const(len(last)), *dims])
    return sequence, [_stacked(node, [_given(state[i]) for state in last]) for i in range(kind.states)]


def _scanned(node: Node, kind: _Kind, steps: Expr, lengths: Value | None) -> tuple[Value, Sequence[Value]]:
    """The outputs and the last states of all directions, of any number of steps.

    lengths: of the sequences of the batch, where they are not the number of steps; a step behind the end of one leaves
    its states, and its output is 0.
    """
    outputs: list[Value] = []
    last: list[list[Value]] = []
    for direction, backwards in enumerate(_directions(node)):
        products, layer = _layer(node, kind, direction)
        given = _initial(node, kind, direction)
        states = [_zeros(node, layer) if h is None else node.reshape(h, value_dims(h)[1:]) for h in given]
        over = [products] if lengths is None else [products, node.emitter.range(const(0), steps, 1, node.title)]

        def step(
            inside: Node, states: Sequence[Value], elements: Sequence[Value], layer: Layer = layer
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            here = replace(layer, node=inside)
            following = [_given(state) for state in here.step(here, elements[0], tuple(states))]
            if lengths is None:
                return following, following[:1]
            is_inside = inside.emit(LessOp, elements[1], lengths)
            kept = [inside.emit(WhereOp, is_inside, new, old) for new, old in zip(following, states, strict=True)]
            return kept, [inside.emit(WhereOp, is_inside, following[0], inside.scalar(0.0, following[0]))]

        ends, (sequence,) = scan(node, states, over, step, reverse=backwards)
        _, *dims = value_dims(sequence)
        outputs.append(node.reshape(sequence, [steps, const(1), *dims]))
        last.append([node.reshape(end, [const(1), *dims]) for end in ends])
    return _stacked(node, outputs, axis=1), [_stacked(node, ends) for ends in zip(*last, strict=True)]


def _zeros(node: Node, layer: Layer) -> Value:
    """The state before the first step where none is given."""
    batch = node.dims(0)[not _batch_first(node)]
    return repeated(node, node.scalar(0.0, node.value(0)), [batch, const(layer.hidden)])


def _walk(node: Node, kind: _Kind, direction: int, order: Sequence[int]) -> dict[int, State]:
    """The state after every step of a direction."""
    products, layer = _layer(node, kind, direction)
    state = _initial(node, kind, direction)
    states: dict[int, State] = {}
    for t in order:
        states[t] = state = layer.step(layer, sliced(node, products, {0: range(t, t + 1)}), state)
    return states


def _batch_first(node: Node) -> bool:
    return bool(node.attribute("layout", 0))


def _given(value: Value | None) -> Value:
    assert value is not None  # only before the first step
    return value


def _stacked(node: Node, values: Sequence[Value], axis: int = 0) -> Value:
    """Values behind one another along an axis."""
    return values[0] if len(values) == 1 else node.emit(ConcatOp, *values, axis=int_attr(axis))


def _layer(node: Node, kind: _Kind, direction: int) -> tuple[Value, Layer]:
    """The products of all inputs, [steps, batch, gates * hidden], and what steps need besides."""
    weight, recurrence = (_of_direction(node, i, direction) for i in (1, 2))
    x = node.transposed(node.value(0), [1, 0, 2]) if _batch_first(node) else node.value(0)
    products, bias = node.emit(DenseOp, x, weight), None
    reset_products = node.attribute("linear_before_reset", 0)
    if node.has(3):
        both, rows = _of_direction(node, 3, direction), value_dims(weight)[0].offset
        first, bias = (sliced(node, both, {0: range(start, start + rows)}) for start in (0, rows))
        if not reset_products:  # both are added to the same sums
            first, bias = node.emit(AddOp, first, bias), None
        products = node.emit(AddOp, products, first)
    return products, Layer(
        node,
        step=gru_step_of_products if reset_products else kind.step,
        hidden=value_dims(recurrence)[1].offset,
        recurrence=recurrence,
        bias=bias,
        peepholes=_of_direction(node, 7, direction) if node.has(7) else None,
        activations=_activations(node, kind)[len(kind.activations) * direction :],
        clip=_clip(node),
        couples=bool(node.attribute("input_forget", 0)),
    )


def _of_direction(node: Node, i: int, direction: int) -> Value:
    """The part of weights that belongs to one direction, without the axis that counts them."""
    return node.reshape(_part(node, i, direction, 0), node.dims(i)[1:])


def _initial(node: Node, kind: _Kind, direction: int) -> State:
    """The state before the first step, zeros where it is not given."""
    return tuple(_initial_state(node, i, direction) if node.has(i) else None for i in range(5, 5 + kind.states))


def _initial_state(node: Node, i: int, direction: int) -> Value:
    if not _batch_first(node):
        return _part(node, i, direction, 0)
    batch, _, hidden = node.dims(i)
    return node.reshape(_part(node, i, direction, 1), [const(1), batch, hidden])


def _part(node: Node, i: int, direction: int, axis: int) -> Value:
    only = node.dims(i)[axis] == 1
    return node.value(i) if only else sliced(node, node.value(i), {axis: range(direction, direction + 1)})


def _activations(node: Node, kind: _Kind) -> list[Activation]:
    """Those of all directions, in order. Parameters are handed out in this order to those that take any."""
    names = [name.decode(errors="replace") for name in node.attribute("activations", [])]
    count = len(kind.activations) * len(_directions(node))
    if names and len(names) != count:
        raise node.error(f"{len(kind.activations)} activations a direction are needed, not {len(names)} in all")
    given = {name: iter(node.attribute(f"activation_{name}", [])) for name in ("alpha", "beta")}
    chosen: list[Activation] = []
    for name in names or kind.activations * len(_directions(node)):
        if (known := ACTIVATIONS.get(name.lower())) is None:
            raise node.error(f"activation '{name}' is not known; there are {', '.join(ACTIVATIONS)}")
        parameters = {p: next(given[p], default) for p, default in known.parameters.items()}
        if missing := [p for p, value in parameters.items() if value is None]:
            raise node.error(f"activation '{name}' takes an activation_{missing[0]} that is not given")
        chosen.append(partial(known.function, **parameters))
    return chosen


def _clip(node: Node) -> float | None:
    clip = node.attribute("clip")
    if clip is not None and not clip > 0:
        raise node.error(f"clip is a positive number, not {clip:g}")
    return clip


# ---- What is refused -------------------------------------------------------------------------------------------------


def _directions(node: Node) -> tuple[bool, ...]:
    direction = node.attribute("direction", "forward")
    if direction not in DIRECTIONS:
        raise node.error(f"direction '{direction}' is not known; there are {', '.join(DIRECTIONS)}")
    return DIRECTIONS[direction]


def _steps(node: Node) -> Expr:
    """The length of the sequence."""
    if len(node.dims(0)) != 3:
        raise node.error(f"a sequence of vectors has rank 3, not {len(node.dims(0))}")
    length = node.dims(0)[_batch_first(node)]
    if length == 0:
        raise node.error("its sequence has no steps")
    return length


def _lengths(node: Node, steps: Expr) -> Value | None:
    """How long each sequence of the batch is, as int64 [batch, 1]; None where all are as long as there are steps."""
    if not node.has(4):
        return None
    lengths, batch = node.value(4), node.dims(0)[not _batch_first(node)]
    if isinstance(lengths, Known) and all(to_expr(length) == steps for length in lengths.array.flat):
        return None
    lengths = node.of_dims(lengths, [batch], f"sequence_lens is of shape [{batch}]")
    return node.emit(CastOp, node.reshape(lengths, [batch, const(1)]), to=i64)


def _fitting(node: Node, kind: _Kind) -> Node:
    """The node, whose weights and states are of the shapes they should have; where that is open, it is required."""
    if len(node.dims(2)) != 3:
        raise node.error(f"its recurrent weight has rank 3, not {len(node.dims(2))}")
    found = node.dims(2)[-1]
    hidden = node.attribute("hidden_size", found.constant)
    if hidden is None:
        raise node.error(f"hidden_size is not said, and that of the weight is open, {found}")
    node.require_equal(found, const(hidden), f"hidden_size is that of the weight, {found}")
    fitting: dict[int, Value] = {}
    directions, rows = const(len(_directions(node))), const(kind.gates * hidden)
    batch = node.dims(0)[not _batch_first(node)]
    state = (batch, directions, const(hidden)) if _batch_first(node) else (directions, batch, const(hidden))
    for i, wanted in {
        1: (directions, rows, node.dims(0)[2]),
        2: (directions, rows, const(hidden)),
        3: (directions, rows * 2),
        5: state,
        6: state,
        7: (directions, const(3 * hidden)),
    }.items():
        if node.has(i):
            what = f"input {i} is of shape [{', '.join(map(str, wanted))}]"
            fitting[i] = node.of_dims(node.value(i), wanted, what)
    return node.given(fitting)
