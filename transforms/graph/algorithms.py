"""Which algorithm is expected to be fastest for a kernel, and how long it takes, by the target's rules."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import inf, prod
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.rewriter import Rewriter

from tilework.analysis.group_content import content_of
from tilework.analysis.parameters import parameter_bytes
from tilework.analysis.precision import Precision
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.structure import FusedOp, ParameterOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.rules.algorithms.base import Algorithm, Product
from tilework.rules.registry import algorithms, choose_rule
from tilework.targets import Target
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.te_kernels import build_kernel

WORTH = 0.96
"""The part of the direct sum's time that a faster algorithm may take, and of this one's time one on another level: its
weights are more, and need more memory."""


@dataclass(frozen=True)
class Choice:
    """How many cycles a kernel should take; `algorithm` is None for the direct sum."""

    cycles: float
    algorithm: Algorithm | None = None

    @property
    def levels(self) -> int:
        """How many times weights have become more."""
        return 0 if self.algorithm is None else self.algorithm.levels

    @property
    def price(self) -> float:
        """What to compare: cycles, where those of each level have to be few enough for its weights."""
        return self.cycles / WORTH**self.levels

    def to_json(self) -> dict[str, Any]:
        """The choice as JSON values, for `from_json`."""
        chosen = self.algorithm and {"name": type(self.algorithm).__name__, "options": asdict(self.algorithm)}
        return {"cycles": self.cycles, "algorithm": chosen}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Choice:
        """The choice that `to_json` made these values of."""
        chosen = values["algorithm"]
        return cls(values["cycles"], chosen and algorithms()[chosen["name"]](**chosen["options"]))


def algorithms_for(target: Target, precision: Precision, graph: Block) -> Algorithms:
    """The algorithms for the kernels of a graph, one object for all passes that ask about them.

    What a scan's body reads of weights, it reads every step, whatever else the program has.
    """
    return remembered_algorithms(target.with_weights(parameter_bytes(graph)), precision)


@cache
def remembered_algorithms(target: Target, precision: Precision) -> Algorithms:
    """One for each target, as `with_weights` answers, and precision: what a process has asked once it knows."""
    return Algorithms(target, precision)


@dataclass
class Algorithms:
    """Asks the rules once for every distinct kernel: networks repeat themselves."""

    target: Target
    precision: Precision
    _known: dict[Hashable, Choice] = field(default_factory=dict[Hashable, Choice])

    def best_for(self, group: FusedOp) -> Choice:
        """The fastest algorithm for a group."""
        key = question_of(group)
        if key not in self._known:
            self._known[key] = self._best_for(group)
        return self._known[key]

    def knows(self, question: Hashable) -> bool:
        """Whether it was asked, or told."""
        return question in self._known

    def tell(self, question: Hashable, answer: Choice) -> None:
        """The answer of another `Algorithms` with the same target and precision."""
        self._known[question] = answer

    def _best_for(self, group: FusedOp) -> Choice:
        best = Choice(self._cycles(group))
        product = product_with_parameter(group)
        if product is None:
            return best
        proposed = (a for kind in algorithms().values() for a in kind.proposals(product, self.precision, self.target))
        least = {algorithm: self._least_cycles(algorithm, product) for algorithm in proposed}
        for algorithm in sorted(least, key=lambda algorithm: (algorithm.levels, least[algorithm])):
            if algorithm.levels > best.levels + 1 or Choice(least[algorithm], algorithm).price >= best.price:
                continue  # one level less was not worth it, or another one takes less than this can
            option = Choice(self._cycles_with(algorithm, group), algorithm)
            if option.price < best.price:
                best = option
        return best

    def _least_cycles(self, algorithm: Algorithm, product: Product) -> float:
        """Cycles of nothing but multiplying, or reading weights from memory."""
        preparing = algorithm.transform(product.weight, product)
        type_ = preparing[-1].results[0].type
        _erase(preparing)
        element = element_type(type_)
        assert isinstance(element, FixedBitwidthType)
        weights = prod(e.constant or 1 for e in dims_of(type_))
        multiplying = algorithm.least_cycles(product, weights, self.target)
        return max(multiplying, weights * element.bitwidth / 8 / self.target.memory_speed)

    def _cycles_with(self, algorithm: Algorithm, group: FusedOp) -> float:
        trial = group.clone()
        product = product_with_parameter(trial)
        assert product is not None
        before = self._cycles_before(algorithm, product)
        use_algorithm(product, algorithm)
        cycles = self._cycles(trial, algorithm.BENEFIT)
        trial.erase()
        return before + cycles

    def _cycles_before(self, algorithm: Algorithm, product: Product) -> float:
        """Cycles of the kernel that prepares an argument, if one does."""
        argument = algorithm.argument(product)
        if argument is None:
            return 0.0
        block = product.parent_block()
        assert block is not None
        made = algorithm.prepare(product, block.args[argument])
        cycles = self._cycles(made) if isinstance(made, FusedOp) else 0.0
        made.erase()
        return cycles

    def _cycles(self, group: FusedOp, least_benefit: int = 0) -> float:
        """Infinite where only rules of less benefit match, which are not made for such kernels."""
        kernel = build_kernel(group.label.data, usual_version(group))
        rule, plan = choose_rule(kernel, self.target, parameters_of(group), given_away=True)
        return plan.cycles if rule.BENEFIT >= least_benefit else inf


def parameters_of(group: FusedOp) -> frozenset[int]:
    """The numbers of the operands that are parameters."""
    return frozenset(i for i, v in enumerate(group.inputs) if isinstance(v.owner, ParameterOp))


def question_of(group: FusedOp) -> Hashable:
    """What the fastest algorithm for a group depends on."""
    return content_of(group.body.block), parameters_of(group)


def product_with_parameter(group: FusedOp) -> Product | None:
    """The convolution or layer of a group, if its weight is a parameter that nothing else in the group reads."""
    for product in (o for o in group.body.block.ops if isinstance(o, ConvOp | DenseOp)):
        weight = product.weight
        if isinstance(weight, BlockArgument) and weight.index in parameters_of(group) and weight.has_one_use():
            return product
    return None


def use_algorithm(product: Product, algorithm: Algorithm) -> None:
    """Make a product inside a group take a transformed weight; the group's operand is left as it was."""
    weight, block = product.weight, product.parent_block()
    assert isinstance(weight, BlockArgument) and block is not None
    preparing = algorithm.transform(weight, product)
    transformed = block.insert_arg(preparing[-1].results[0].type, weight.index)
    transformed.name_hint = weight.name_hint
    _erase(preparing)
    computing = algorithm.multiply(product, transformed)
    copy_location(computing, product)
    computing[-1].results[0].name_hint = product.result.name_hint
    Rewriter.replace_op(product, computing)
    block.erase_arg(weight)


def _erase(ops: Sequence[Operation]) -> None:
    for op in reversed(ops):
        op.erase()
