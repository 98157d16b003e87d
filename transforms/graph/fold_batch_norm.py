"""Turn normalization by fixed numbers, and other scaling and shifting by parameters, into weights and a bias."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.parameters import values_from_parameters
from tilework.dialects.graph.broadcast import AddOp, DivOp, MulOp, SubOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.elementwise import NegOp, SqrtOp
from tilework.dialects.graph.normalization import BatchNormOp
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

AffineOp: TypeAlias = BatchNormOp | MulOp | AddOp | SubOp
"""The operators that can map x to x * factor + shift."""


@dataclass(frozen=True)
class FoldBatchNorm(GraphPatternPass):
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
    numerics: ClassVar = "reassociates"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        return [FoldAffineChain(values_from_parameters(op))]


@dataclass(frozen=True)
class FoldAffineChain(RewritePattern):
    """(x * a + b) * c + d is x * (a * c) + (b * c + d), and conv(x, w) * a is conv(x, w * a), where a is per filter.

    So are chains of any length. One that is as short as what would replace it stays.
    known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp | MulOp | AddOp | SubOp, rewriter: PatternRewriter) -> None:
        chain = _chain_to(op, self.known)
        if not chain:
            return
        producer = _producer_to_scale(chain, self.known)
        scales = producer is None and any(step.factor_dims() is not None for step in chain)
        shifts = any(not isinstance(step.op, MulOp) for step in chain)
        if scales + shifts >= len(chain) and not any(isinstance(step.op, BatchNormOp) for step in chain):
            return
        rewriter.replace(op, [], [_folded(chain, producer, Writer(rewriter, op))])
        for step in chain[-2::-1]:
            rewriter.erase(step.op)
        if producer is not None:
            rewriter.erase(producer)


@dataclass(frozen=True)
class _Step:
    """An operator that computes x * factor + shift, and which of its operands x is."""

    op: AffineOp
    x: int

    def factor_dims(self) -> Sequence[Expr] | None:
        """The dimensions of the factor, None where there is none."""
        match self.op:
            case BatchNormOp():
                return _beside_channels(self.op.scale, self.op)
            case MulOp():
                return dims_of(self.op.operands[1 - self.x].type)
            case AddOp() | SubOp():
                return None


def _affine_step(op: Operation, known: Set[SSAValue]) -> _Step | None:
    """An operator as a step whose factor and shift are known, and x is not; None for another operator."""
    match op:
        case BatchNormOp():
            return _Step(op, 0) if known >= set(op.operands[1:]) and op.input not in known else None
        case MulOp() | AddOp() | SubOp():
            candidates = range(1 if isinstance(op, SubOp) else 2)
            fitting = [i for i in candidates if op.operands[i] not in known and op.operands[i].type == op.result.type]
            return _Step(op, fitting[0]) if len(fitting) == 1 and not known.isdisjoint(op.operands) else None
        case _:
            return None


def _chain_to(last: AffineOp, known: Set[SSAValue]) -> list[_Step]:
    """The longest chain of steps that ends in `last`, in program order; empty where one more step could follow."""
    step = _affine_step(last, known)
    if step is None or _goes_on(last, known):
        return []
    chain = [step]
    while isinstance(before := step.op.operands[step.x].owner, Operation):
        step = _affine_step(before, known)
        if step is None or not _goes_on(before, known):
            break
        chain.append(step)
    return chain[::-1]


def _goes_on(op: Operation, known: Set[SSAValue]) -> bool:
    """Whether the result of `op` is the x of another step, and is read by nothing else."""
    use = op.results[0].get_unique_use()
    step = None if use is None else _affine_step(use.operation, known)
    return use is not None and step is not None and step.x == use.index


def _producer_to_scale(chain: Sequence[_Step], known: Set[SSAValue]) -> ConvOp | DenseOp | None:
    """The operator that makes the x of a chain, if it can take all factors into its weight."""
    root = chain[0].op.operands[chain[0].x]
    producer, factors = root.owner, [dims for step in chain if (dims := step.factor_dims()) is not None]
    if not factors or not isinstance(producer, ConvOp | DenseOp) or producer.weight not in known:
        return None
    if producer.dtype(1) != element_type(root.type):  # bytes, and floats of 16 bits, would no longer hold it
        return None
    return producer if root.has_one_use() and all(_is_per_channel(dims, producer) for dims in factors) else None


def _is_per_channel(factor: Sequence[Expr], producer: ConvOp | DenseOp) -> bool:
    """Whether a factor that broadcasts to the producer's result is the same all along every axis but the channels'."""
    return all(d == 1 for axis, d in enumerate(_aligned(factor, producer)) if axis != _channel_axis(producer))


def _aligned(factor: Sequence[Expr], producer: ConvOp | DenseOp) -> list[Expr]:
    rank = len(dims_of(producer.result.type))
    return [const(1)] * (rank - len(factor)) + list(factor)


def _channel_axis(producer: ConvOp | DenseOp) -> int:
    return 1 if isinstance(producer, ConvOp) else len(dims_of(producer.result.type)) - 1


def _folded(chain: Sequence[_Step], producer: ConvOp | DenseOp | None, write: Writer) -> SSAValue:
    """What a chain makes, by one multiplication, or a producer with other weights, and one addition."""
    affine, value = _compose(chain, write), chain[0].op.operands[chain[0].x]
    if affine.factor is not None and producer is not None:
        value = _scale_weight(producer, affine.factor, write)
    elif affine.factor is not None:
        value = write.insert(MulOp.of(value, affine.factor))
    return value if affine.shift is None else write.insert(AddOp.of(value, affine.shift))


@dataclass
class _Affine:
    """x * factor + shift; an absent factor is 1, an absent shift 0."""

    factor: SSAValue | None = None
    shift: SSAValue | None = None


def _compose(chain: Sequence[_Step], write: Writer) -> _Affine:
    """The whole chain as one affine map."""
    result = _Affine()
    for step in chain:
        after = _affine_map(step, write)
        if after.factor is not None:  # (x * a + b) * c + d == x * (a * c) + (b * c + d)
            factor, shift = result.factor, result.shift
            result.factor = after.factor if factor is None else write.insert(MulOp.of(factor, after.factor))
            result.shift = None if shift is None else write.insert(MulOp.of(shift, after.factor))
        if after.shift is not None:
            shift = result.shift
            result.shift = after.shift if shift is None else write.insert(AddOp.of(shift, after.shift))
    return result


def _affine_map(step: _Step, write: Writer) -> _Affine:
    op = step.op
    match op:
        case BatchNormOp():
            return _normalization(op, write)
        case MulOp():
            return _Affine(factor=op.operands[1 - step.x])
        case AddOp():
            return _Affine(shift=op.operands[1 - step.x])
        case SubOp():
            return _Affine(shift=write.insert(NegOp.of(op.right)))


def _normalization(op: BatchNormOp, write: Writer) -> _Affine:
    """(x - mean) * f + bias == x * f + (bias - mean * f), where f = scale / sqrt(variance + epsilon)."""
    dtype = op.dtype()
    assert isinstance(dtype, AnyFloat)
    number = DenseIntOrFPElementsAttr.from_list(TensorType(dtype, []), [op.epsilon.value.data])
    epsilon = write.insert(ConstantOp(number))
    deviation = write.insert(SqrtOp.of(write.insert(AddOp.of(op.variance, epsilon))))
    factor = write.insert(DivOp.of(op.scale, deviation))
    shift = write.insert(SubOp.of(op.bias, write.insert(MulOp.of(op.mean, factor))))
    return _Affine(*(write.reshape(vector, _beside_channels(vector, op)) for vector in (factor, shift)))


def _beside_channels(vector: SSAValue, norm: BatchNormOp) -> Sequence[Expr]:
    """The dimensions with which a vector over the channels broadcasts along axis 1 of the normalized tensor."""
    return (*dims_of(vector.type), *[const(1)] * (len(norm.dims(0)) - 2))


def _scale_weight(producer: ConvOp | DenseOp, factor: SSAValue, write: Writer) -> SSAValue:
    """A copy of the producer with the factors multiplied into its weight, along axis 0 of both kinds of weight."""
    rank = len(dims_of(producer.weight.type))
    count = _aligned(dims_of(factor.type), producer)[_channel_axis(producer)]
    factors = write.reshape(factor, (count, *[const(1)] * (rank - 1)))
    weight = write.insert(MulOp.of(producer.weight, factors))
    scaled = producer.clone()
    scaled.operands = [producer.input, weight]
    return write.insert(scaled)
