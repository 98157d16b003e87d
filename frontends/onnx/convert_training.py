"""Converters: what optimizers do in one step of training, for any number of tensors, as the standard's formulas say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilework.dialects.graph import AddOp, DivOp, LessOp, MulOp, PowOp, SqrtOp, SubOp, WhereOp
from tilework.dialects.graph.base import GraphOp
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Value

DOMAIN = "ai.onnx.preview.training"

Step = Callable[["Formula", Value, Value, Sequence[Value]], Sequence[Value]]
"""What a tensor and its states become, given its gradient."""


class Formula:
    """A node of an optimizer with arithmetic on numbers of one tensor's type; the rate and the count are inputs."""

    def __init__(self, node: Node, like: Value):
        self._node = node
        self._like = like
        self.rate, self.count = (node.cast(node.value(i), node.dtype_of(like)) for i in (0, 1))

    def attribute(self, name: str, default: float = 0.0) -> Value:
        """A number of the node."""
        return self.number(self._node.attribute(name, default))

    def number(self, number: float) -> Value:
        """A number of the tensor's type."""
        return self._node.scalar(number, self._like)

    def text(self, name: str) -> str:
        """A text of the node."""
        return self._node.attribute(name, "")

    def of(self, op: type[GraphOp], *operands: Value) -> Value:
        """An operator of these operands."""
        return self._node.emit(op, *operands)

    def sum(self, *products: tuple[Value, Value]) -> Value:
        """The sum of two products."""
        one, other = (self.of(MulOp, *factors) for factors in products)
        return self.of(AddOp, one, other)

    def less(self, one: Value, *factors: Value) -> Value:
        """A number less a product."""
        product = factors[0]
        for factor in factors[1:]:
            product = self.of(MulOp, product, factor)
        return self.of(SubOp, one, product)

    def regularized(self, x: Value, gradient: Value) -> Value:
        """The gradient with that of half the squared norm of the tensor."""
        return self.of(AddOp, self.of(MulOp, self.attribute("norm_coefficient"), x), gradient)

    def after_first(self, later: Value, first: Value) -> Value:
        """A number that is another one at the first step, whose count is 0."""
        return self.of(WhereOp, self.of(LessOp, self.number(0), self.count), later, first)


def _adagrad(f: Formula, x: Value, gradient: Value, states: Sequence[Value]) -> Sequence[Value]:
    [squared], one = states, f.number(1)
    rate = f.of(DivOp, f.rate, f.of(AddOp, one, f.of(MulOp, f.count, f.attribute("decay_factor"))))
    gradient = f.regularized(x, gradient)
    squared = f.of(AddOp, squared, f.of(MulOp, gradient, gradient))
    scale = f.of(AddOp, f.of(SqrtOp, squared), f.attribute("epsilon", 1e-6))
    return [f.of(SubOp, x, f.of(DivOp, f.of(MulOp, rate, gradient), scale)), squared]


def _adam(f: Formula, x: Value, gradient: Value, states: Sequence[Value]) -> Sequence[Value]:
    [mean, squared], one = states, f.number(1)
    alpha, beta = f.attribute("alpha", 0.9), f.attribute("beta", 0.999)
    gradient = f.regularized(x, gradient)
    mean = f.sum((alpha, mean), (f.of(SubOp, one, alpha), gradient))
    squared = f.sum((beta, squared), (f.of(SubOp, one, beta), f.of(MulOp, gradient, gradient)))
    scale = f.of(AddOp, f.of(SqrtOp, squared), f.attribute("epsilon", 1e-6))
    rests = [f.of(SubOp, one, f.of(PowOp, factor, f.count)) for factor in (alpha, beta)]
    later = f.of(DivOp, f.of(MulOp, f.rate, f.of(SqrtOp, rests[1])), rests[0])
    rate = f.after_first(later, f.rate)
    new = f.of(SubOp, x, f.of(DivOp, f.of(MulOp, rate, mean), scale))
    return [f.less(new, f.attribute("norm_coefficient_post"), new), mean, squared]


def _momentum(f: Formula, x: Value, gradient: Value, states: Sequence[Value]) -> Sequence[Value]:
    [velocity], alpha = states, f.attribute("alpha")
    gradient = f.regularized(x, gradient)
    beta = f.after_first(f.attribute("beta"), f.number(1))
    velocity = f.sum((alpha, velocity), (beta, gradient))
    step = f.sum((f.number(1), gradient), (alpha, velocity)) if f.text("mode") == "nesterov" else velocity
    return [f.less(x, f.rate, step), velocity]


def _optimizer(name: str, states: int, step: Step) -> None:
    """Register an optimizer that keeps so many states for each tensor."""

    @converter(name, domain=DOMAIN)
    def convert(node: Node) -> Sequence[Value]:
        """Give all tensors, then all gradients, then the states of each kind."""
        kinds, given = 2 + states, len(node.inputs) - 2
        if given < kinds or given % kinds:
            raise node.error(f"behind the rate and the count it takes {kinds} inputs for each tensor")
        count = given // kinds
        made: list[Sequence[Value]] = []
        for i in range(count):
            x, gradient, *own = (node.value(2 + i + kind * count) for kind in range(kinds))
            made.append(step(Formula(node, x), x, gradient, own))
        return [results[kind] for kind in range(1 + states) for results in made]


_optimizer("Adagrad", 1, _adagrad)
_optimizer("Adam", 2, _adam)
_optimizer("Momentum", 1, _momentum)
