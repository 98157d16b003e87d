"""Networks of numbers of 16 bits are computed in numbers of 32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, BytesAttr, DenseIntOrFPElementsAttr, FloatAttr, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import product
from tilework.analysis.functions import body_of
from tilework.analysis.parameters import is_compiled, known_in
from tilework.analysis.program_targets import devices_around, target_of
from tilework.dialects.graph.accumulation import is_half
from tilework.dialects.graph.arguments import ArgMaxOp, ArgMinOp
from tilework.dialects.graph.base import GraphOp, numpy_dtype
from tilework.dialects.graph.broadcast import FmodOp, ModOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.control import ControlOp, sequence_of, yielded_by
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.elementwise import CeilOp, FloorOp, RoundOp
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.graph.logic import EqualOp, LessEqualOp, LessOp
from tilework.dialects.graph.moving import moves
from tilework.dialects.graph.pooling import MaxPoolIndicesOp
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.graph.structure import YieldOp
from tilework.dialects.graph.top_k import TopKOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.interpreters.graph import constant_array
from tilework.transforms.base import TileworkPass

_DECIDES = (
    *(ArgMaxOp, ArgMinOp, MaxPoolIndicesOp, TopKOp),
    *(EqualOp, LessOp, LessEqualOp),
    *(CeilOp, FloorOp, RoundOp, FmodOp, ModOp),
)
"""What makes much of a small difference."""


@dataclass(frozen=True)
class WidenHalfPrecision(TileworkPass):
    """Compute in f32 what a network computes in f16 or bf16, and keep it so between operators.

    func.func @main(%x: tensor<8xf16>) ...        %w = graph.cast %x {to = f32}
      %0 = graph.exp %x : (..f16) -> ..f16   ->   %0 = graph.exp %w : (..f32) -> ..f32
      %1 = graph.neg %0 : (..f16) -> ..f16        %1 = graph.neg %0 : (..f32) -> ..f32
      return %1                                   %y = graph.cast %1 {to = f16}

    Processors multiply numbers of 16 bits no faster than those of 32 where sums are of f32, as they are here: of f16 an
    operator has only that every operand is converted wherever it is read, and that no algorithm for floats applies.
    Values are now converted once: inputs where they come in, results where they leave the function, parameters before
    the first run. What a `graph.cast` of the network makes is still rounded.

    Five things stay narrow. Products, on a target that multiplies such numbers faster. What is moved before anything is
    computed of it; what is moved with such and returned, as keys and values of the words so far are; matrices whose
    numbers are each read for a few products only, for which time goes by until they are there; and what is compared, or
    made an integer: it is rounded first, so that it is decided by the numbers that the function returns.

    This is an algorithm and no pattern: an operator is widened or not by what became of all that it reads, and between
    one step and the next the types of the graph do not fit each other.

    Requires nothing; leaves no other operator on f16 or bf16 but casts.
    """

    name = "graph-widen-half-precision"
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"  # results are less often rounded

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if is_compiled(op):
            _Graph(body_of(op)).widen()


class _Graph:
    """One graph while it is widened, operator by operator."""

    def __init__(self, block: Block):
        self._block, self._known = block, known_in(block)
        self._instead: dict[SSAValue, SSAValue] = {}
        """Values that are no more -> those of f32 in their place."""
        self._casts: dict[SSAValue, SSAValue] = {}
        """Values in the type that they do not have."""
        self._replaced: list[Operation] = []

    def widen(self) -> None:
        """Widen what computes."""
        for op in list(self._block.ops):
            match op:
                case ControlOp():
                    self._control(op)
                case CastOp():
                    self._cast(op)
                case YieldOp():
                    op.operands = [self._wide(v, op) for v in op.operands]
                case GraphOp() if _is_of_halves(op) and not self._stays(op):
                    self._compute(op)
                case _:
                    op.operands = [self._declared(v, op) for v in op.operands]
        for op in reversed(self._replaced):
            op.detach()
            op.erase()

    def _stays(self, op: GraphOp) -> bool:
        """Whether an operator takes the numbers as narrow as the network has them."""
        if isinstance(op, DenseOp | MatmulOp) and _runs_on_halves(op):
            return all(is_half(element_type(v.type)) for v in op.operands)
        if not moves(op):
            return isinstance(op, (*_DECIDES, KernelOp))
        wide = [v in self._instead for v in op.operands if is_half(element_type(v.type))]
        returned = any(isinstance(use.operation, ReturnOp) for use in op.results[0].uses)
        return not any(wide) or (returned and not all(wide))

    def _compute(self, op: GraphOp) -> None:
        wide = [v if self._is_read_once(v, op) else self._wide(v, op) for v in op.operands]
        self._replace(op, type(op).of(*wide, **{name: _widened_number(p) for name, p in op.properties.items()}))

    def _is_read_once(self, value: SSAValue, op: GraphOp) -> bool:
        """Whether an operator reads each number of a matrix for a few products: it waits for these numbers.

        Of a small matrix that can be widened before the first run it does not.
        """
        if not isinstance(op, DenseOp | MatmulOp) or value is not op.operands[1] or value in self._instead:
            return False
        rows = op.dims(0)[:-1] if isinstance(op, DenseOp) else op.dims(0)[-2:-1]
        count = product(dims_of(value.type)).constant or 0
        target = target_of(op)
        stays_near = value in self._known and count * f32.size <= target.core_cache_bytes
        few = target.measured.streamed_rows
        return not stays_near and (product(rows).constant or few + 1) <= few

    def _cast(self, op: CastOp) -> None:
        """A cast of the network makes the type that it names; for a float, of whatever its operand is now."""
        is_float = isinstance(op.to, AnyFloat)
        op.operands = [self._instead.get(op.input, op.input) if is_float else self._declared(op.input, op)]
        if op.input.type == op.result.type:
            op.result.replace_all_uses_with(op.input)
            self._replaced.append(op)

    def _control(self, op: ControlOp) -> None:
        """States, new sequences and what is chosen are wide; what a body goes over, or reads every time, is what it is.

        The type of each is known once the bodies are widened.
        """
        states: Sequence[SSAValue] = op.states if isinstance(op, ScanOp | WhileOp) else ()
        operands = [self._wide(v, op) if v in states else self._instead.get(v, v) for v in op.operands]
        for body in op.bodies:
            self._widen_body(body, operands[len(operands) - len(body.args) :])
        made = yielded_by(op.bodies[0]).values.types
        types = self._results_of(op, made)
        new = type(op).create(
            operands=operands,
            result_types=types,
            properties=op.properties,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        self._replace(op, new)

    def _widen_body(self, body: Block, given: Sequence[SSAValue]) -> None:
        """Widen a graph whose arguments are given these values."""
        inside, narrow = _Graph(body), list(body.args)
        for argument, value in zip(narrow, given, strict=True):
            inside._take(argument, element_type(value.type))
        inside.widen()
        for argument in narrow:
            if argument in inside._instead:
                body.erase_arg(argument)

    def _results_of(self, op: ControlOp, yielded: Sequence[Attribute]) -> Sequence[Attribute]:
        """The types of the results of control flow whose bodies yield these."""
        match op:
            case ScanOp() | WhileOp():
                made = yielded[1:] if isinstance(op, WhileOp) else yielded
                count = len(op.states)
                return [*made[:count], *(sequence_of(type_, op.steps) for type_ in made[count:])]
            case _:
                return yielded

    def _take(self, argument: BlockArgument, element: Attribute) -> None:
        """Let the block take an argument of f32 where it is given one."""
        if element != element_type(argument.type):
            wide = self._block.insert_arg(_widened_type(argument.type), argument.index)
            wide.name_hint = argument.name_hint
            self._instead[argument] = wide

    def _replace(self, old: Operation, new: Operation) -> None:
        new.attributes |= old.attributes
        copy_location(new, old)
        Rewriter.insert_op(new, InsertPoint.before(old))
        for value, instead in zip(old.results, new.results, strict=True):
            instead.name_hint = value.name_hint
            if instead.type == value.type:
                value.replace_all_uses_with(instead)
            else:
                self._instead[value] = instead
        self._replaced.append(old)

    def _wide(self, value: SSAValue, reader: Operation) -> SSAValue:
        """A value for an operator that takes f32 where it took less."""
        if value in self._instead or not is_half(element_type(value.type)):
            return self._instead.get(value, value)
        return self._converted(value, value, f32, reader)

    def _declared(self, value: SSAValue, reader: Operation) -> SSAValue:
        """A value for an operation that takes the type that it had."""
        if value not in self._instead:
            return value
        return self._converted(value, self._instead[value], element_type(value.type), reader)

    def _converted(self, value: SSAValue, source: SSAValue, to: Attribute, reader: Operation) -> SSAValue:
        if value not in self._casts:
            new = _converted(source, to)
            copy_location(new, reader)
            new.results[0].name_hint = value.name_hint
            Rewriter.insert_op(new, InsertPoint.before(reader))
            self._casts[value] = new.results[0]
        return self._casts[value]


def _runs_on_halves(op: GraphOp) -> bool:
    """Whether what runs the products of the program, the host or a device that takes all, multiplies halves faster."""
    takers = [target for target in devices_around(op).values() if target.takes_every_kernel]
    return (takers[0] if takers else target_of(op)).multiplies_halves


def _is_of_halves(op: GraphOp) -> bool:
    return any(is_half(element_type(v.type)) for v in (*op.operands, *op.results))


def _widened_type(type_: Attribute) -> Attribute:
    return tensor_type(dims_of(type_), f32)


def _widened_number(attribute: Attribute) -> Attribute:
    """A property of an operator: bounds and the like have the type of the elements."""
    if not isinstance(attribute, FloatAttr):
        return attribute
    number = cast("FloatAttr[AnyFloat]", attribute)
    return FloatAttr(number.value.data, f32) if is_half(number.type) else number


def _converted(value: SSAValue, to: Attribute) -> Operation:
    """The value as one of elements of type `to`; constants stay constants, for what looks for their numbers."""
    constant = value.owner
    if not isinstance(constant, ConstantOp):
        return CastOp.of(value, to=to)
    assert isinstance(constant.value, DenseIntOrFPElementsAttr)
    numbers = constant_array(constant.value).astype(numpy_dtype(to))
    type_ = cast("TensorType[AnyFloat]", tensor_type(dims_of(value.type), to))
    return ConstantOp(DenseIntOrFPElementsAttr(type_, BytesAttr(numbers.tobytes())))
