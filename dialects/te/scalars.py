"""What the body of a compute is made of besides `arith` and `math`: reads, indices as numbers, lazy choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, Key, to_expr
from tilework.algebra.parse import parse_expr
from tilework.algebra.predicate import Predicate
from tilework.dialects.support.index_attr import TeIndexAttr, TeWhenAttr
from tilework.dialects.support.shapes import dims_of, scalar_type
from tilework.dialects.te.operands import (
    INDEX,
    TeTokens,
    operand_name,
    over_values,
    parse_exprs,
    parse_predicates,
    print_indexed,
    to_operands,
)

if TYPE_CHECKING:
    from tilework.dialects.te.structure import ComputeOp


@irdl_op_definition
class ReadOp(IRDLOperation):
    """One element of a tensor, at indices over the axes of the enclosing compute; out of bounds is undefined.

    A read that is certainly out of bounds is refused. An index may be data: `te.read %x[i, %j]` with a value `%j` of
    type index.
    """

    name = "te.read"
    tensor = operand_def(TensorType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(TeIndexAttr)
    result = result_def()

    def __init__(self, tensor: SSAValue, indices: Sequence[ExprLike]):
        """Indices are expressions over axis names, symbols and SSA values."""
        operands, exprs = to_operands([to_expr(e) for e in indices])
        super().__init__(
            operands=[tensor, operands],
            properties={"indices": TeIndexAttr(exprs)},
            result_types=[scalar_type(tensor.type)],
        )

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The indices over axis names, symbols and SSA values."""
        values = over_values(self.index_operands)
        return tuple(e.substitute(values) for e in self.indices) if values else self.indices.data

    def verify_(self) -> None:
        rank = len(dims_of(self.tensor.type))
        if len(self.indices) != rank:
            raise VerifyException(f"{len(self.indices)} indices into a tensor of rank {rank}")
        if self.result.type != scalar_type(self.tensor.type):
            raise VerifyException(f"a read of {self.tensor.type} gives {scalar_type(self.tensor.type)}")
        verify_operands(self, self.indices.data, len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        tensor = parser.parse_unresolved_operand()
        indices = parse_exprs(parser)
        parser.parse_punctuation(":")
        return ReadOp(parser.resolve_operand(tensor, parser.parse_type()), indices)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        printer.print_string("[")
        print_indexed(printer, ", ".join(map(str, self.indices)), self.index_operands)
        printer.print_string("] : ")
        printer.print_attribute(self.tensor.type)


@irdl_op_definition
class IndexOp(IRDLOperation):
    """An index expression as a number, for `arith`: `%n = te.index i + 1`."""

    name = "te.index"
    index_operands = var_operand_def(IndexType)
    expr = prop_def(TeIndexAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, expr: ExprLike):
        """`expr` is over axis names, symbols and SSA values."""
        operands, exprs = to_operands([to_expr(expr)])
        super().__init__(operands=[operands], properties={"expr": TeIndexAttr(exprs)}, result_types=[INDEX])

    @property
    def value(self) -> Expr:
        """The expression over axis names, symbols and SSA values."""
        return self.expr.data[0].substitute(over_values(self.index_operands))

    def verify_(self) -> None:
        if len(self.expr) != 1:
            raise VerifyException(f"te.index takes one expression, not {len(self.expr)}")
        verify_operands(self, self.expr.data, len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        tokens = TeTokens(parser)
        expr = parse_expr(tokens)
        return IndexOp(expr.substitute(tokens.resolve()))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_indexed(printer, str(self.expr.data[0]), self.index_operands)


@irdl_op_definition
class IfThenElseOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """Lazy choice: only the region that the condition selects is evaluated (TVM's `if_then_else`).

    The condition is a conjunction over axes; a value `%c` of type index in it makes it depend on data.
    """

    name = "te.if_then_else"
    index_operands = var_operand_def(IndexType)
    when = prop_def(TeWhenAttr)
    result = result_def()
    then_body = region_def("single_block")
    else_body = region_def("single_block")

    def __init__(self, when: Sequence[Predicate], result_type: Attribute, then_body: Region, else_body: Region):
        """Conditions are over axis names, symbols and SSA values."""
        operands, predicates = to_operands(list(when))
        super().__init__(
            operands=[operands],
            properties={"when": TeWhenAttr(predicates)},
            result_types=[result_type],
            regions=[then_body, else_body],
        )

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """The conjunction over axis names, symbols and SSA values."""
        values = over_values(self.index_operands)
        return tuple(p.substitute(values) for p in self.when)

    def set_conditions(self, when: Sequence[Predicate]) -> None:
        """Replace the conjunction, in place."""
        self.operands, predicates = to_operands(list(when))
        self.when = TeWhenAttr(predicates)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.te.canonicalization import ConstantChoice  # which imports this file

        return (ConstantChoice(),)

    def verify_(self) -> None:
        for body in (self.then_body, self.else_body):
            last = body.block.last_op
            if not isinstance(last, YieldOp) or last.values.types != (self.result.type,):
                raise VerifyException(f"both regions end in te.yield of {self.result.type}")
        verify_operands(self, [p.expr for p in self.when], len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> IfThenElseOp:
        when = parse_predicates(parser)
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        then_body = parser.parse_region()
        parser.parse_keyword("else")
        return IfThenElseOp(when, result_type, then_body, parser.parse_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(" [")
        print_indexed(printer, ", ".join(map(str, self.when)), self.index_operands)
        printer.print_string("] : ")
        printer.print_attribute(self.result.type)
        printer.print_string(" ")
        printer.print_region(self.then_body)
        printer.print_string(" else ")
        printer.print_region(self.else_body)


def _yield_parents() -> tuple[HasParent, ...]:
    from tilework.dialects.te.intrinsic import IntrinsicOp  # these import this file
    from tilework.dialects.te.reduce import ReduceOp
    from tilework.dialects.te.structure import ComputeOp

    return (IsTerminator(), HasParent(ComputeOp, IfThenElseOp, ReduceOp, IntrinsicOp))  # pyright: ignore[reportReturnType]


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The element's values, one for every result of the compute; or what a region of another operation gives."""

    name = "te.yield"
    values = var_operand_def(AnyFloat | IntegerType)
    assembly_format = "$values attr-dict `:` type($values)"
    traits = lazy_traits_def(_yield_parents)

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


def enclosing_compute(op: Operation) -> ComputeOp | None:
    """The compute in whose body `op` stands."""
    from tilework.dialects.te.structure import ComputeOp  # which imports this file

    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ComputeOp):
        parent = parent.parent_op()
    return parent


def verify_operands(op: Operation, exprs: Sequence[Expr], operands: int) -> None:
    """Check that index expressions stand inside a compute and use all their operands.

    Which other names they may use, the kernel says, which knows its symbols.
    """
    if enclosing_compute(op) is None:
        raise VerifyException(f"{op.name} stands outside a te.compute")
    used = {key for e in exprs for key in e.variables()}
    if any(operand_name(i) not in used for i in range(operands)):
        raise VerifyException(f"{op.name} has {operands} index operands, not all of which its expressions use")


def names_used(op: Operation) -> Sequence[Key]:
    """The names of axes and symbols that the index expressions of an operation use."""
    match op:
        case ReadOp():
            exprs, operands = op.indices.data, len(op.index_operands)
        case IndexOp():
            exprs, operands = op.expr.data, len(op.index_operands)
        case IfThenElseOp():
            exprs, operands = tuple(p.expr for p in op.when), len(op.index_operands)
        case _:
            return ()
    values = {operand_name(i) for i in range(operands)}
    return [key for e in exprs for key in e.variables() if key not in values]
