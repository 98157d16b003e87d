"""One step of a recurrent layer: what RNN, GRU and LSTM make of an input and the state before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilework.dialects.graph import AddOp, DenseOp, MulOp, SubOp
from tilework.frontends.onnx.activations import between
from tilework.frontends.onnx.axes import sliced
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Value

State: TypeAlias = "tuple[Value | None, ...]"
"""What a step hands to the next, each [1, batch, hidden], its output first; None stands for zeros."""

Activation: TypeAlias = "Callable[[Node, Value], Value]"

Step: TypeAlias = "Callable[[Layer, Value, State], State]"
"""Makes the state after a step of the products of its input, [1, batch, gates * hidden], and of the state before."""


@dataclass(frozen=True)
class Layer:
    """One direction of a node.

    hidden: the size of its state. recurrence: the weights of the state, [gates * hidden, hidden]. bias: added to the
    product with all of them, [gates * hidden]. peepholes: [3 * hidden]. activations: those that ONNX calls f, g and h.
    clip: how far from 0 sums of inputs and states may be that go into one, where that is given. couples: whether what
    does not enter a cell is what stays in it.
    """

    node: Node
    step: Step
    hidden: int
    recurrence: Value
    bias: Value | None
    peepholes: Value | None
    activations: Sequence[Activation]
    clip: float | None
    couples: bool

    def gates(self, values: Value, first: int, count: int = 1) -> Value:
        """Some gates, which stand behind one another along the last axis."""
        axis = len(value_dims(values)) - 1
        return sliced(self.node, values, {axis: range(first * self.hidden, (first + count) * self.hidden)})

    def product(self, state: Value | None) -> Value | None:
        """The state by all weights, and the bias."""
        if state is None:
            return self.bias
        return self.add(self.node.emit(DenseOp, state, self.recurrence), self.bias)

    def product_of(self, state: Value | None, first: int, count: int) -> Value | None:
        """The state by the weights of some gates."""
        if state is None:
            return None
        rows = range(first * self.hidden, (first + count) * self.hidden)
        return self.node.emit(DenseOp, state, sliced(self.node, self.recurrence, {0: rows}))

    def add(self, a: Value, b: Value | None) -> Value:
        """The sum."""
        return a if b is None else self.node.emit(AddOp, a, b)

    def times(self, a: Value, b: Value | None) -> Value | None:
        """The product, element by element."""
        return None if b is None else self.node.emit(MulOp, a, b)

    def activate(self, number: int, value: Value) -> Value:
        """The result of an activation of sums."""
        clipped = value if self.clip is None else between(self.node, value, -self.clip, self.clip)
        return self.apply(number, clipped)

    def apply(self, number: int, value: Value) -> Value:
        """The result of an activation."""
        return self.node.narrowed(self.activations[number](self.node, self.node.widened(value)))

    def rest(self, share: Value) -> Value:
        """What is left of 1."""
        return self.node.emit(SubOp, self.node.scalar(1.0, share), share)


def rnn_step(layer: Layer, x: Value, state: State) -> State:
    """h' = f(x + R h)."""
    (h,) = state
    return (layer.activate(0, layer.add(x, layer.product(h))),)


def gru_step(layer: Layer, x: Value, state: State) -> State:
    """z, r = f(x + R h); n = g(x + R (r * h)); h' = (1 - z) * n + z * h."""
    (h,) = state
    z, r = _update_and_reset(layer, x, layer.product_of(h, 0, 2))
    n = layer.activate(1, layer.add(layer.gates(x, 2), layer.product_of(layer.times(r, h), 2, 1)))
    return (_mixed(layer, z, n, h),)


def gru_step_of_products(layer: Layer, x: Value, state: State) -> State:
    """n = g(x + r * (R h)), which takes one product a step: `linear_before_reset` of ONNX."""
    (h,) = state
    products = layer.product(h)
    z, r = _update_and_reset(layer, x, None if products is None else layer.gates(products, 0, 2))
    reset = None if products is None else layer.times(r, layer.gates(products, 2))
    return (_mixed(layer, z, layer.activate(1, layer.add(layer.gates(x, 2), reset)), h),)


def _update_and_reset(layer: Layer, x: Value, products: Value | None) -> tuple[Value, Value]:
    both = layer.activate(0, layer.add(layer.gates(x, 0, 2), products))
    return layer.gates(both, 0), layer.gates(both, 1)


def _mixed(layer: Layer, z: Value, new: Value, old: Value | None) -> Value:
    return layer.add(layer.node.emit(MulOp, layer.rest(z), new), layer.times(z, old))


def lstm_step(layer: Layer, x: Value, state: State) -> State:
    """i, o, f, n = x + R h; c' = f(f) * c + f(i) * g(n); h' = f(o) * h(c'). Peepholes add P c to i and f, P c' to o.

    Of coupled gates, the share of c that stays is 1 - f(i). The cell c' is no such sum as a clip bounds, although the
    standard speaks of all activations: onnxruntime and others leave it alone.
    """
    h, c = state
    sums = layer.add(x, layer.product(h))

    def opened(number: int, cell: Value | None) -> Value:
        gate, peepholes = layer.gates(sums, number), layer.peepholes
        seen = None if peepholes is None else layer.times(layer.gates(peepholes, number), cell)
        return layer.activate(0, layer.add(gate, seen))

    entry = opened(0, c)
    cell = layer.node.emit(MulOp, entry, layer.activate(1, layer.gates(sums, 3)))
    if c is not None:
        cell = layer.add(cell, layer.times(layer.rest(entry) if layer.couples else opened(2, c), c))
    return layer.node.emit(MulOp, opened(1, cell), layer.apply(2, cell)), cell
