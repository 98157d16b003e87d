"""Loops and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Block, BlockArgument, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.algebra.parse import parse_expr
from tilework.algebra.predicate import Predicate
from tilework.dialects.loop.common import (
    INDEX,
    resolve,
    verify_positions,
)
from tilework.dialects.support.index_attr import (
    LoopIndexAttr,
    LoopWhenAttr,
    ParserTokens,
    over_values,
    parse_predicate_list,
    print_with_operands,
    to_operands,
)
from tilework.dialects.support.names import identifier


class Kind(StrEnum):
    """How the iterations of a loop run."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    BLOCK_X = "blockIdx.x"
    BLOCK_Y = "blockIdx.y"
    BLOCK_Z = "blockIdx.z"
    THREAD_X = "threadIdx.x"
    THREAD_Y = "threadIdx.y"
    THREAD_Z = "threadIdx.z"
    VIRTUAL = "vthread"


BLOCKS = (Kind.BLOCK_Z, Kind.BLOCK_Y, Kind.BLOCK_X)
"""Kinds of loops whose iterations are blocks of threads of a device, from the slowest to the fastest dimension."""

BLOCK_THREADS = (Kind.THREAD_Z, Kind.THREAD_Y, Kind.THREAD_X)
"""Kinds of loops whose iterations are the threads of a block."""

DEVICE_THREADS = (*BLOCKS, *BLOCK_THREADS)

THREADS = (*reversed(BLOCKS), *reversed(BLOCK_THREADS), Kind.VIRTUAL)
"""Kinds of loops whose iterations are threads of a device, or virtual ones.

A loop inside another of the same kind deals its iterations out to the same threads, all of which run what is around it;
of virtual threads, each has those of the loop inside to itself.
"""


PARALLEL_WORK = 1 << 15
"""Scalar operations below which starting the threads of a parallel loop costs more than it gains."""


@irdl_attr_definition
class KindAttr(EnumAttribute[Kind], SpacedOpaqueSyntaxAttribute):
    """`#loop<kind parallel>`"""

    name = "loop.kind"


@irdl_op_definition
class ForOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """A loop over `lower, lower + 1, ..., upper - 1`. `axis` is the schedule's name for it.

    `partition` asks `loop-partition` to split the range where a condition inside changes its truth. `when` is for a
    parallel loop: where its conditions do not all hold, one thread runs it, as with `if` in OpenMP.
    """

    name = "loop.for"
    index_operands = var_operand_def(IndexType)
    bounds = prop_def(LoopIndexAttr)
    axis = prop_def(StringAttr)
    kind = prop_def(KindAttr, default_value=KindAttr(Kind.SERIAL))
    partition = opt_prop_def(UnitAttr)
    when = opt_prop_def(LoopWhenAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        lower: ExprLike,
        upper: ExprLike,
        axis: str,
        body: Region | None = None,
        kind: Kind = Kind.SERIAL,
        partition: bool = False,
        when: Sequence[Predicate] = (),
    ):
        """Bounds are expressions over SSA values. Without a body there is an empty one, its argument the index."""
        if body is None:
            body = Region(Block(arg_types=[INDEX]))
            body.block.args[0].name_hint = identifier(axis)
        operands, indexed = _indexed(lower, upper, when)
        super().__init__(
            operands=[operands],
            properties={
                **indexed,
                "axis": StringAttr(axis),
                "kind": KindAttr(kind),
                "partition": UnitAttr() if partition else None,
            },
            regions=[body],
        )

    @property
    def lower(self) -> Expr:
        """The first index, over SSA values."""
        return self._bound(0)

    @property
    def upper(self) -> Expr:
        """One past the last index, over SSA values."""
        return self._bound(1)

    def _bound(self, which: int) -> Expr:
        bound = self.bounds.data[which]  # a constant, nearly always
        return bound if bound.is_constant else bound.substitute(over_values(self.index_operands))

    @property
    def extent(self) -> Expr:
        """upper - lower."""
        lower = self.lower
        is_zero = lower.is_constant and lower.offset == 0  # as nearly all are
        return self.upper if is_zero else self.upper - lower

    @property
    def index(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """Those of `when`, over SSA values."""
        if self.when is None:
            return ()
        values = over_values(self.index_operands)
        return tuple(p.substitute(values) for p in self.when)

    def set_bounds(self, lower: ExprLike, upper: ExprLike, when: Sequence[Predicate] | None = None) -> None:
        """Replace both bounds, and the conditions for several threads if they are given, in place."""
        self.operands, indexed = _indexed(lower, upper, self.conditions if when is None else when)
        self.properties.pop("when", None)
        self.properties |= indexed

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.loop.canonicalization import EmptyRange  # which imports this file

        return (EmptyRange(),)

    def verify_(self) -> None:
        verify_positions([*self.bounds, *(p.expr for p in self.when or ())], len(self.index_operands))
        if self.when is not None and self.kind.data is not Kind.PARALLEL:
            raise VerifyException(f"a loop that is {self.kind.data} has no conditions for several threads")
        if len(self.bounds) != 2:
            raise VerifyException(f"a loop has a lower and an upper bound, not {len(self.bounds)} bounds")
        if tuple(self.body.block.arg_types) != (INDEX,):
            raise VerifyException("a loop's body has one argument, of type index")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        index = parser.parse_argument(expect_type=False).resolve(INDEX)
        parser.parse_punctuation("=")
        unresolved: list[UnresolvedOperand] = []
        lower = parse_expr(ParserTokens(parser, unresolved))
        parser.parse_keyword("to")
        upper = parse_expr(ParserTokens(parser, unresolved))
        axis = parser.parse_str_literal()
        kind = parser.parse_optional_keyword_in(tuple(Kind)) or "serial"
        partition = parser.parse_optional_keyword("partition") is not None
        has_conditions = parser.parse_optional_keyword("when") is not None
        when = parse_predicate_list(parser, unresolved) if has_conditions else ()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        values = over_values(resolve(parser, unresolved))
        body = parser.parse_region((index,))
        when = [p.substitute(values) for p in when]
        op = ForOp(lower.substitute(values), upper.substitute(values), axis, body, Kind(kind), partition, when)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(" = ")
        print_with_operands(printer, str(self.bounds.data[0]), self.index_operands)
        printer.print_string(" to ")
        print_with_operands(printer, str(self.bounds.data[1]), self.index_operands)
        printer.print_string(" ")
        printer.print_string_literal(self.axis.data)
        if self.kind.data is not Kind.SERIAL:
            printer.print_string(f" {self.kind.data}")
        if self.partition is not None:
            printer.print_string(" partition")
        if self.when is not None:
            printer.print_string(" when ")
            _print_conditions(printer, self.when, self.index_operands)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _indexed(
    lower: ExprLike, upper: ExprLike, when: Sequence[Predicate]
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operands of a loop, and the properties that are over them."""
    operands, exprs = to_operands([to_expr(lower), to_expr(upper), *(p.expr for p in when)])
    indexed: dict[str, Attribute] = {"bounds": LoopIndexAttr(exprs[:2])}
    if when:
        indexed["when"] = LoopWhenAttr(tuple(Predicate(e, p.kind) for e, p in zip(exprs[2:], when, strict=True)))
    return operands, indexed


def _print_conditions(printer: Printer, when: LoopWhenAttr, operands: Sequence[SSAValue]) -> None:
    printer.print_string("[")
    print_with_operands(printer, ", ".join(map(str, when)), operands)
    printer.print_string("]")


@irdl_op_definition
class IfOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """Run (or yield from) the first region where all conditions hold, the second elsewhere."""

    name = "loop.if"
    index_operands = var_operand_def(IndexType)
    when = prop_def(LoopWhenAttr)
    outputs = var_result_def()
    then_body = region_def("single_block")
    else_body = region_def()
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        when: Sequence[Predicate],
        then_body: Region,
        else_body: Region | None = None,
        result_types: Sequence[Attribute] = (),
    ):
        operands, predicates = to_operands(tuple(when))
        super().__init__(
            operands=[operands],
            properties={"when": LoopWhenAttr(predicates)},
            result_types=[result_types],
            regions=[then_body, Region() if else_body is None else else_body],
        )

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """The conjunction, over SSA values."""
        values = over_values(self.index_operands)
        return tuple(p.substitute(values) for p in self.when)

    def set_conditions(self, when: Sequence[Predicate]) -> None:
        """Replace the conjunction, in place."""
        operands, predicates = to_operands(tuple(when))
        self.operands = operands
        self.properties["when"] = LoopWhenAttr(predicates)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.loop.canonicalization import ConstantCondition  # which imports this file

        return (ConstantCondition(),)

    def verify_(self) -> None:
        verify_positions([p.expr for p in self.when], len(self.index_operands))
        if not self.outputs:
            return
        for body in (self.then_body, self.else_body):
            last = body.block.last_op if body.blocks else None
            if not isinstance(last, YieldOp) or tuple(last.values.types) != tuple(self.outputs.types):
                raise VerifyException("a loop.if with results has two regions that end in loop.yield of them")

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        unresolved: list[UnresolvedOperand] = []
        when = parse_predicate_list(parser, unresolved)
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            types = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        values = over_values(resolve(parser, unresolved))
        then_body = parser.parse_region()
        else_body = parser.parse_region() if parser.parse_optional_keyword("else") else None
        return IfOp([p.substitute(values) for p in when], then_body, else_body, types)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_conditions(printer, self.when, self.index_operands)
        if self.outputs:
            printer.print_string(" -> ")
            printer.print_list(self.outputs.types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.then_body)
        if self.else_body.blocks:
            printer.print_string(" else ")
            printer.print_region(self.else_body)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The results of a loop.if's region."""

    name = "loop.yield"
    values = var_operand_def()
    assembly_format = "$values attr-dict `:` type($values)"
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(IfOp)))

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])
