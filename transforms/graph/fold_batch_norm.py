"""Turn normalization by fixed numbers, and other scaling and shifting by parameters, into weights and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, values_from_parameters
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.broadcast import AddOp, DivOp, MulOp, SubOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.elementwise import NegOp, SqrtOp
from tilework.dialects.graph.normalization import BatchNormOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.base import TileworkPass

AffineOp = BatchNormOp | MulOp | AddOp | SubOp
"""The operators that can map x to x * factor + shift."""


@dataclass(frozen=True)
class FoldBatchNorm(TileworkPass):
    """Make one multiplication and one addition of a chain of batch_norm, mul, add and sub by parameters.

        %0 = graph.conv %x, %w                              %f = %scale / sqrt(%variance + epsilon)
        %1 = graph.batch_norm %0, %scale, %bias, ...   ->   %v = graph.mul %w, %f
        %2 = graph.mul %1, %p                               %0 = graph.conv %x, %v'
                                                            %2 = graph.add %0, %shift'

    Behind a convolution or dense layer that nothing else reads, the factor goes into the weight where it is one number
    a channel. Everything here but the last two lines depends on parameters only: graph-fold-parameters moves it into
    @prepare. Requires nothing; leaves no batch_norm whose statistics are parameters.
    """

    name = "graph-fold-batch-norm"
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        known = values_from_parameters(op)
        inputs = {o: i for graph in graphs_of(op) for o in graph.ops if (i := affine_input(o, known)) is not None}
        for last in inputs:
            if not _goes_on(last, inputs):
                _fold(_chain_to(last, inputs), inputs, known)


def affine_input(op: Operation, known: set[SSAValue]) -> int | None:
    """For an operator that computes x * factor + shift with a factor and a shift that are known, which operand x is."""
    match op:
        case BatchNormOp():
            return 0 if known.issuperset(op.operands[1:]) and op.input not in known else None
        case MulOp() | AddOp() | SubOp():
            candidates = range(1 if isinstance(op, SubOp) else 2)
            fitting = [i for i in candidates if op.operands[i] not in known and op.operands[i].type == op.result.type]
            return fitting[0] if len(fitting) == 1 and known.intersection(op.operands) else None
        case _:
            return None


def _goes_on(op: Operation, inputs: dict[Operation, int]) -> bool:
    """Whether the result of `op` is read by the next operator of a chain, and by nothing else."""
    use = op.results[0].get_unique_use()
    return use is not None and inputs.get(use.operation) == use.index


def _chain_to(last: Operation, inputs: dict[Operation, int]) -> list[AffineOp]:
    """The longest chain that ends in `last`, in program order."""
    chain: list[AffineOp] = []
    op: Operation | None = last
    while isinstance(op, AffineOp):
        chain.append(op)
        before = op.operands[inputs[op]].owner
        op = before if isinstance(before, Operation) and before in inputs and _goes_on(before, inputs) else None
    return chain[::-1]


def _fold(chain: Sequence[AffineOp], inputs: dict[Operation, int], known: set[SSAValue]) -> None:
    """Replace a chain, unless it is as short as what would replace it."""
    root, last = chain[0].operands[inputs[chain[0]]], chain[-1]
    write = _Writer(last)
    affine = _compose(chain, inputs, write)
    producer = _producer_to_scale(root, affine.factor, known)
    left = [term for term in (None if producer else affine.factor, affine.shift) if term is not None]
    if len(left) >= len(chain) and not any(isinstance(op, BatchNormOp) for op in chain):
        write.undo()
        return
    value = root
    if affine.factor is not None:
        value = _scale_weight(producer, affine.factor, write) if producer else write.mul(root, affine.factor)
    if affine.shift is not None:
        value = write.add(value, affine.shift)
    last.result.replace_all_uses_with(value)
    for op in (*reversed(chain), *([producer] if producer else [])):
        op.detach()
        op.erase()


def _producer_to_scale(root: SSAValue, factor: SSAValue | None, known: set[SSAValue]) -> ConvOp | DenseOp | None:
    """The operator that makes `root`, if it can take the factor into its weight."""
    producer = root.owner
    if factor is None or not isinstance(producer, ConvOp | DenseOp) or producer.weight not in known:
        return None
    if producer.dtype(1) != element_type(factor.type):  # bytes, and floats of 16 bits, would no longer hold it
        return None
    return producer if root.has_one_use() and _is_per_channel(factor, producer) else None


@dataclass
class _Affine:
    """x * factor + shift; an absent factor is 1, an absent shift 0."""

    factor: SSAValue | None = None
    shift: SSAValue | None = None


def _compose(chain: Sequence[AffineOp], inputs: dict[Operation, int], write: _Writer) -> _Affine:
    """The whole chain as one affine map."""
    result = _Affine()
    for op in chain:
        step = _affine_map(op, inputs[op], write)
        if step.factor is not None:  # (x * a + b) * c + d == x * (a * c) + (b * c + d)
            result.factor = step.factor if result.factor is None else write.mul(result.factor, step.factor)
            result.shift = None if result.shift is None else write.mul(result.shift, step.factor)
        if step.shift is not None:
            result.shift = step.shift if result.shift is None else write.add(result.shift, step.shift)
    return result


def _affine_map(op: AffineOp, x: int, write: _Writer) -> _Affine:
    match op:
        case BatchNormOp():  # (x - mean) * f + bias == x * f + (bias - mean * f), where f = scale / sqrt(variance + e)
            epsilon = write.number(op.epsilon.value.data, op.scale.type)
            factor = write.div(op.scale, write.sqrt(write.add(op.variance, epsilon)))
            shift = write.sub(op.bias, write.mul(op.mean, factor))
            return _Affine(write.beside_channels(factor, op), write.beside_channels(shift, op))
        case MulOp():
            return _Affine(factor=op.operands[1 - x])
        case AddOp():
            return _Affine(shift=op.operands[1 - x])
        case SubOp():
            return _Affine(shift=write.neg(op.right))


def _is_per_channel(factor: SSAValue, producer: ConvOp | DenseOp) -> bool:
    """Whether a factor that broadcasts to the producer's result is the same all along every axis but the channels'."""
    dims = _aligned(factor, producer)
    return all(d == 1 for axis, d in enumerate(dims) if axis != _channel_axis(producer))


def _aligned(factor: SSAValue, producer: ConvOp | DenseOp) -> list[Expr]:
    rank = len(dims_of(producer.result.type))
    dims = dims_of(factor.type)
    return [const(1)] * (rank - len(dims)) + list(dims)


def _channel_axis(producer: ConvOp | DenseOp) -> int:
    return 1 if isinstance(producer, ConvOp) else len(dims_of(producer.result.type)) - 1


def _scale_weight(producer: ConvOp | DenseOp, factor: SSAValue, write: _Writer) -> SSAValue:
    """A copy of the producer with the factors multiplied into its weight, along axis 0 of both kinds of weight."""
    rank = len(dims_of(producer.weight.type))
    count = _aligned(factor, producer)[_channel_axis(producer)]
    weight = write.mul(producer.weight, write.reshape(factor, (count, *[const(1)] * (rank - 1))))
    scaled = producer.clone()
    scaled.operands = [producer.input, weight]
    return write.insert(scaled)


class _Writer:
    """Writes operators in front of one operation, with its location."""

    def __init__(self, before: Operation):
        self._before = before
        self._written: list[Operation] = []

    def insert(self, op: Operation) -> SSAValue:
        block = self._before.parent_block()
        assert block is not None
        block.insert_op_before(op, self._before)
        self._written.append(op)
        return op.results[0]

    def undo(self) -> None:
        """Take back everything."""
        for op in reversed(self._written):
            op.detach()
            op.erase()

    def _op(self, op: GraphOp) -> SSAValue:
        op.location = self._before.location
        return self.insert(op)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._op(AddOp.of(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._op(SubOp.of(a, b))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._op(MulOp.of(a, b))

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._op(DivOp.of(a, b))

    def neg(self, x: SSAValue) -> SSAValue:
        return self._op(NegOp.of(x))

    def sqrt(self, x: SSAValue) -> SSAValue:
        return self._op(SqrtOp.of(x))

    def reshape(self, x: SSAValue, dims: Sequence[Expr]) -> SSAValue:
        return x if dims_of(x.type) == tuple(dims) else self._op(ReshapeOp.of(x, shape=DimsAttr(tuple(dims))))

    def beside_channels(self, vector: SSAValue, norm: BatchNormOp) -> SSAValue:
        """A vector over the channels so that it broadcasts along axis 1 of the normalized tensor."""
        return self.reshape(vector, (*dims_of(vector.type), *[const(1)] * (len(norm.dims(0)) - 2)))

    def number(self, value: float, like: Attribute) -> SSAValue:
        """A scalar of the element type of the tensor type `like`."""
        assert isa(like, TensorType[AnyFloat])
        constant = ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(like.element_type, []), [value]))
        constant.location = self._before.location
        return self.insert(constant)
