"""The loop dialect: imperative programs over buffers. Kernels are loop nests; the host is a function that calls them.

    loop.kernel @dense ins(%x: memref<?x64xf32> [N, 64], %w: memref<32x64xf32>)
                       outs(%y: memref<?x32xf32> [N, 32]) symbols(%N) {
      loop.for %i = 0 to %N "i" parallel {
        loop.for %j = 0 to 2 "j.outer" {
          %acc = memref.alloca() : memref<16xf32, "register">
          ...
          %v = loop.load %acc[%l] : memref<16xf32, "register">
          loop.store %v, %y[%i, 16 * %j + %l] : memref<?x32xf32>

Index arithmetic is written where it is used: bounds, subscripts and conditions are expressions over SSA values of type
`index`. Everything else is `arith`, `math`, `memref` and `vector`. Loops have a name and a kind; unrolling and
vectors stay attributes until the emitter, respectively until `loop-vectorize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilework.algebra.index_expr import Expr, ExprLike, const, to_expr, var
from tilework.algebra.parse import parse_expr
from tilework.algebra.predicate import Predicate
from tilework.dialects.index_attr import (
    DimsAttr,
    LoopIndexAttr,
    LoopWhenAttr,
    ParserTokens,
    over_values,
    parse_expr_list,
    parse_predicate_list,
    print_with_operands,
    to_operands,
)
from tilework.dialects.shapes import element_type

INDEX = IndexType()


class Kind(StrEnum):
    """How the iterations of a loop run."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"


@irdl_attr_definition
class KindAttr(EnumAttribute[Kind], SpacedOpaqueSyntaxAttribute):
    """`#loop<kind parallel>`"""

    name = "loop.kind"


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel in destination-passing style. Without a body it is the declaration of one compiled before.

    Arguments come in four groups: inputs, outputs, scratch that the caller lends for the call, and symbols (the
    values of symbolic dimensions, of type index). `dims` holds the dimensions of each memref over the symbols' names.
    `in_place` lists pairs (input, output) that may be the same buffer; only a declaration carries it, for a kernel with
    a body the analysis answers.
    """

    name = "loop.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    groups = prop_def(DenseArrayBase)
    symbols = prop_def(ArrayAttr[StringAttr])
    dims = prop_def(ArrayAttr[DimsAttr])
    in_place = opt_prop_def(DenseArrayBase)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(
        self,
        name: str,
        groups: tuple[int, int, int],
        memref_types: Sequence[Attribute],
        dims: Sequence[Sequence[ExprLike]],
        symbols: Sequence[str],
        body: Region,
        in_place: Sequence[tuple[int, int]] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists([*memref_types, *[INDEX] * len(symbols)], []),
                "groups": DenseArrayBase.from_list(i32, [*groups, len(symbols)]),
                "symbols": ArrayAttr(map(StringAttr, symbols)),
                "dims": ArrayAttr(DimsAttr.of(d) for d in dims),
                "in_place": None
                if in_place is None
                else DenseArrayBase.from_list(i64, [i for pair in in_place for i in pair]),
            },
            regions=[body],
        )

    @property
    def is_declaration(self) -> bool:
        """Whether the body lies elsewhere."""
        return not self.body.blocks

    def _group(self, i: int) -> tuple[BlockArgument, ...]:
        sizes = _integers(self.groups)
        start = sum(sizes[:i])
        return tuple(self.body.block.args[start : start + sizes[i]])

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        """The buffers read."""
        return self._group(0)

    @property
    def outputs(self) -> tuple[BlockArgument, ...]:
        """The buffers written."""
        return self._group(1)

    @property
    def scratch(self) -> tuple[BlockArgument, ...]:
        """Buffers of the caller's, undefined before and after."""
        return self._group(2)

    @property
    def symbol_values(self) -> tuple[BlockArgument, ...]:
        """The values of the symbolic dimensions."""
        return self._group(3)

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """How many inputs, outputs, scratch buffers and symbols."""
        return _integers(self.groups)

    def dims_of(self, argument: BlockArgument) -> tuple[Expr, ...]:
        """The dimensions of a memref argument, over the kernel's symbol arguments as SSA values."""
        values = {s.data: var(v) for s, v in zip(self.symbols, self.symbol_values, strict=True)}
        return tuple(e.substitute(values) for e in self.dims.data[argument.index])

    def verify_(self) -> None:
        sizes = self.group_sizes
        if len(sizes) != 4 or sum(sizes) != len(self.function_type.inputs) or sizes[3] != len(self.symbols):
            raise VerifyException("the argument groups do not add up to the arguments")
        memrefs = self.function_type.inputs.data[: sum(sizes[:3])]
        if len(self.dims) != len(memrefs):
            raise VerifyException(f"{len(self.dims)} dims for {len(memrefs)} buffers")
        for type_, dims in zip(memrefs, self.dims, strict=True):
            _verify_dims(type_, dims)
            unknown = {k for e in dims for k in e.variables()} - {s.data for s in self.symbols}
            if unknown:
                raise VerifyException(f"dims name '{min(map(str, unknown))}', which is not among the symbols")
        if self.is_declaration:
            return
        if self.in_place is not None:
            raise VerifyException("in_place is for declarations; of a kernel with a body it is computed")
        if tuple(self.body.block.arg_types) != self.function_type.inputs.data:
            raise VerifyException("the body's arguments differ from the kernel's")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name().data
        arguments: list[Parser.Argument] = []
        dims: list[tuple[Expr, ...]] = []
        groups: list[int] = []

        def buffer() -> None:
            argument = parser.parse_argument()
            arguments.append(argument)
            given = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_expr(ParserTokens(parser))
            )
            dims.append(_static_dims(parser, argument.type) if given is None else tuple(given))

        for word in ("ins", "outs", "scratch"):
            before = len(arguments)
            if parser.parse_optional_keyword(word):
                parser.parse_comma_separated_list(parser.Delimiter.PAREN, buffer)
            groups.append(len(arguments) - before)
        symbols: list[str] = []

        def symbol() -> None:
            argument = parser.parse_argument(expect_type=False).resolve(INDEX)
            arguments.append(argument)
            symbols.append(argument.name.text[1:])

        if parser.parse_optional_keyword("symbols"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, symbol)
        in_place = None
        if parser.parse_optional_keyword("in_place"):
            in_place = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_pair(parser))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_optional_region(arguments)
        op = KernelOp(
            name,
            (groups[0], groups[1], groups[2]),
            [a.type for a in arguments[: sum(groups)]],
            dims,
            symbols,
            Region() if body is None else body,
            in_place,
        )
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        types = self.function_type.inputs.data
        at = 0
        for word, size in zip(("ins", "outs", "scratch"), self.group_sizes[:3], strict=True):
            if size:
                printer.print_string(f" {word}(")
                printer.print_list(range(at, at + size), lambda i: self._print_buffer(printer, i, types[i]))
                printer.print_string(")")
            at += size
        if self.symbols.data:
            printer.print_string(" symbols(")
            printer.print_list(range(len(self.symbols)), lambda i: self._print_symbol(printer, i))
            printer.print_string(")")
        if self.in_place is not None:
            pairs = _integers(self.in_place)
            text = ", ".join(f"{i} -> {o}" for i, o in zip(pairs[::2], pairs[1::2], strict=True))
            printer.print_string(f" in_place [{text}]")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def _print_buffer(self, printer: Printer, i: int, type_: Attribute) -> None:
        if self.is_declaration:
            printer.print_string(f"%arg{i}")
        else:
            printer.print_ssa_value(self.body.block.args[i])
        printer.print_string(": ")
        printer.print_attribute(type_)
        dims = self.dims.data[i].data
        if any(not e.is_constant for e in dims):
            printer.print_string(f" [{', '.join(map(str, dims))}]")

    def _print_symbol(self, printer: Printer, i: int) -> None:
        name = self.symbols.data[i].data
        if not self.is_declaration:
            self.symbol_values[i].name_hint = name
        printer.print_string(f"%{name}") if self.is_declaration else printer.print_ssa_value(self.symbol_values[i])


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over `lower, lower + 1, ..., upper - 1`. `axis` is the schedule's name for it.

    `partition` asks `loop-partition` to split the range where a condition inside changes its truth.
    """

    name = "loop.for"
    index_operands = var_operand_def(IndexType)
    bounds = prop_def(LoopIndexAttr)
    axis = prop_def(StringAttr)
    kind = prop_def(KindAttr, default_value=KindAttr(Kind.SERIAL))
    partition = opt_prop_def(UnitAttr)
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
    ):
        """Bounds are expressions over SSA values. Without a body there is an empty one, its argument the index."""
        operands, bounds = to_operands((to_expr(lower), to_expr(upper)))
        if body is None:
            body = Region(Block(arg_types=[INDEX]))
            body.block.args[0].name_hint = "".join(c if c.isalnum() else "_" for c in axis)
        super().__init__(
            operands=[operands],
            properties={
                "bounds": LoopIndexAttr(bounds),
                "axis": StringAttr(axis),
                "kind": KindAttr(kind),
                "partition": UnitAttr() if partition else None,
            },
            regions=[body],
        )

    @property
    def lower(self) -> Expr:
        """The first index, over SSA values."""
        return self.bounds.data[0].substitute(over_values(self.index_operands))

    @property
    def upper(self) -> Expr:
        """One past the last index, over SSA values."""
        return self.bounds.data[1].substitute(over_values(self.index_operands))

    @property
    def extent(self) -> Expr:
        """upper - lower."""
        return self.upper - self.lower

    @property
    def index(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    def set_bounds(self, lower: ExprLike, upper: ExprLike) -> None:
        """Replace both bounds, in place."""
        operands, bounds = to_operands((to_expr(lower), to_expr(upper)))
        self.operands = operands
        self.properties["bounds"] = LoopIndexAttr(bounds)

    def verify_(self) -> None:
        _verify_positions(self.bounds.data, len(self.index_operands))
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
        attributes = parser.parse_optional_attr_dict_with_keyword()
        values = over_values(_resolve(parser, unresolved))
        body = parser.parse_region((index,))
        op = ForOp(lower.substitute(values), upper.substitute(values), axis, body, Kind(kind), partition)
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
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class IfOp(IRDLOperation):
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

    def verify_(self) -> None:
        _verify_positions([p.expr for p in self.when], len(self.index_operands))
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
        values = over_values(_resolve(parser, unresolved))
        then_body = parser.parse_region()
        else_body = parser.parse_region() if parser.parse_optional_keyword("else") else None
        return IfOp([p.substitute(values) for p in when], then_body, else_body, types)

    def print(self, printer: Printer) -> None:
        printer.print_string(" [")
        print_with_operands(printer, ", ".join(map(str, self.when)), self.index_operands)
        printer.print_string("]")
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


class _AccessOp(IRDLOperation):
    """Subscripts, lane stride and lane count, common to load and store.

    A vector access touches `lanes` elements, `stride` apart along the last dimension, and only the first `count` of
    them where a count is given.
    """

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The subscripts, over SSA values."""
        a = cast(LoadOp | StoreOp, self)
        return tuple(e.substitute(over_values(a.index_operands)) for e in a.indices)

    @property
    def lane_count(self) -> Expr | None:
        """How many lanes are touched, over SSA values; None for all."""
        a = cast(LoadOp | StoreOp, self)
        return None if a.count is None else a.count.data[0].substitute(over_values(a.index_operands))

    @property
    def lane_stride(self) -> int:
        """The distance between lanes in elements of the last dimension; 1 for a scalar access."""
        a = cast(LoadOp | StoreOp, self)
        return 1 if a.stride is None else a.stride.value.data

    def _verify_access(self, memref: SSAValue, accessed: Attribute) -> None:
        a = cast(LoadOp | StoreOp, self)
        buffer = _memref(memref)
        if len(a.indices) != buffer.get_num_dims():
            raise VerifyException(f"{len(a.indices)} subscripts into {buffer}")
        counts = () if a.count is None else a.count.data
        _verify_positions((*a.indices, *counts), len(a.index_operands))
        if element_type(accessed) != buffer.element_type:
            raise VerifyException(f"access of {accessed} to {buffer}")
        if not isinstance(accessed, VectorType) and (a.stride is not None or a.count is not None):
            raise VerifyException("stride and count are for vectors")

    def _print_access(self, printer: Printer, memref: SSAValue) -> None:
        a = cast(LoadOp | StoreOp, self)
        printer.print_ssa_value(memref)
        printer.print_string("[")
        print_with_operands(printer, ", ".join(map(str, a.indices)), a.index_operands)
        printer.print_string("]")
        if a.stride is not None:
            printer.print_string(f" stride {a.stride.value.data}")
        if a.count is not None:
            printer.print_string(" count ")
            print_with_operands(printer, str(a.count.data[0]), a.index_operands)


Subscripts: TypeAlias = Sequence[ExprLike]


def _access_properties(
    indices: Subscripts, stride: int | None, count: ExprLike | None
) -> tuple[list[SSAValue], dict[str, Attribute | None]]:
    exprs = [to_expr(e) for e in indices]
    operands, mapped = to_operands([*exprs, *([] if count is None else [to_expr(count)])])
    return operands, {
        "indices": LoopIndexAttr(mapped[: len(exprs)]),
        "stride": None if stride is None or stride == 1 else IntegerAttr(stride, i64),
        "count": None if count is None else LoopIndexAttr(mapped[len(exprs) :]),
    }


@irdl_op_definition
class LoadOp(_AccessOp):
    """Read one element, or a vector of elements."""

    name = "loop.load"
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    stride = opt_prop_def(IntegerAttr)
    count = opt_prop_def(LoopIndexAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        memref: SSAValue,
        indices: Subscripts,
        result_type: Attribute | None = None,
        stride: int | None = None,
        count: ExprLike | None = None,
    ):
        """Subscripts are expressions over SSA values; without a result type the access is scalar."""
        operands, properties = _access_properties(indices, stride, count)
        super().__init__(
            operands=[memref, operands],
            properties=properties,
            result_types=[result_type or element_type(memref.type)],
        )

    def verify_(self) -> None:
        self._verify_access(self.memref, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        memref, indices, stride, count = _parse_access(parser)
        parser.parse_punctuation(":")
        value = parser.resolve_operand(memref, parser.parse_type())
        vector = parser.parse_type() if parser.parse_optional_punctuation(",") else None
        return LoadOp(value, indices, vector, stride, count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self._print_access(printer, self.memref)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)
        if isinstance(self.result.type, VectorType):
            printer.print_string(", ")
            printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(_AccessOp):
    """Write one element, or a vector of elements."""

    name = "loop.store"
    value = operand_def()
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    stride = opt_prop_def(IntegerAttr)
    count = opt_prop_def(LoopIndexAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        indices: Subscripts,
        stride: int | None = None,
        count: ExprLike | None = None,
    ):
        """Subscripts are expressions over SSA values."""
        operands, properties = _access_properties(indices, stride, count)
        super().__init__(operands=[value, memref, operands], properties=properties)

    def verify_(self) -> None:
        self._verify_access(self.memref, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        memref, indices, stride, count = _parse_access(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        stored = parser.parse_type() if parser.parse_optional_punctuation(",") else element_type(type_)
        return StoreOp(
            parser.resolve_operand(value, stored),
            parser.resolve_operand(memref, type_),
            indices,
            stride,
            count,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        self._print_access(printer, self.memref)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)
        if isinstance(self.value.type, VectorType):
            printer.print_string(", ")
            printer.print_attribute(self.value.type)


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """An index expression as a value, for operations of other dialects: sizes and offsets on the host."""

    name = "loop.apply"
    index_operands = var_operand_def(IndexType)
    expr = prop_def(LoopIndexAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, expr: ExprLike):
        operands, exprs = to_operands((to_expr(expr),))
        super().__init__(operands=[operands], properties={"expr": LoopIndexAttr(exprs)}, result_types=[INDEX])

    @property
    def value(self) -> Expr:
        """The expression, over SSA values."""
        return self.expr.data[0].substitute(over_values(self.index_operands))

    def verify_(self) -> None:
        _verify_positions(self.expr.data, len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        unresolved: list[UnresolvedOperand] = []
        expr = parse_expr(ParserTokens(parser, unresolved))
        return ApplyOp(expr.substitute(over_values(_resolve(parser, unresolved))))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_with_operands(printer, str(self.expr.data[0]), self.index_operands)


@irdl_op_definition
class CallOp(IRDLOperation):
    """On the host: run a kernel.

    loop.call @dense ins(%x, %w) outs(%y) symbols(%n) : memref<...>, memref<...>, memref<...>
    """

    name = "loop.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    groups = prop_def(DenseArrayBase)
    arguments = var_operand_def()

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        scratch: Sequence[SSAValue] = (),
        symbols: Sequence[SSAValue] = (),
    ):
        sizes = [len(inputs), len(outputs), len(scratch), len(symbols)]
        super().__init__(
            operands=[[*inputs, *outputs, *scratch, *symbols]],
            properties={"callee": SymbolRefAttr(callee), "groups": DenseArrayBase.from_list(i32, sizes)},
        )

    def _group(self, i: int) -> tuple[SSAValue, ...]:
        sizes = _integers(self.groups)
        start = sum(sizes[:i])
        return tuple(self.arguments[start : start + sizes[i]])

    @property
    def kernel_name(self) -> str:
        """The name of the kernel called."""
        return self.callee.root_reference.data

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The buffers read."""
        return self._group(0)

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        """The buffers written."""
        return self._group(1)

    @property
    def scratch(self) -> tuple[SSAValue, ...]:
        """Buffers lent for the call."""
        return self._group(2)

    @property
    def symbol_values(self) -> tuple[SSAValue, ...]:
        """The values of the kernel's symbols."""
        return self._group(3)

    def verify_(self) -> None:
        if sum(_integers(self.groups)) != len(self.arguments):
            raise VerifyException("the argument groups do not add up to the arguments")
        for value in self.symbol_values:
            if value.type != INDEX:
                raise VerifyException(f"a symbol is an index, not {value.type}")

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        name = parser.parse_symbol_name().data
        groups: list[list[UnresolvedOperand]] = []
        for word in ("ins", "outs", "scratch", "symbols"):
            present = parser.parse_optional_keyword(word)
            listed = (
                parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
                if present
                else []
            )
            groups.append(listed)
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        buffers = [o for g in groups[:3] for o in g]
        values = parser.resolve_operands(buffers, types, parser.pos)
        symbols = _resolve(parser, groups[3])
        a, b = len(groups[0]), len(groups[0]) + len(groups[1])
        return CallOp(name, values[:a], values[a:b], values[b:], symbols)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name)
        for word, values in zip(
            ("ins", "outs", "scratch", "symbols"),
            (self.inputs, self.outputs, self.scratch, self.symbol_values),
            strict=True,
        ):
            if values:
                printer.print_string(f" {word}(")
                printer.print_list(values, printer.print_ssa_value)
                printer.print_string(")")
        buffers = (*self.inputs, *self.outputs, *self.scratch)
        if buffers:
            printer.print_string(" : ")
            printer.print_list([b.type for b in buffers], printer.print_attribute)


def _integers(array: DenseArrayBase) -> tuple[int, ...]:
    return cast(tuple[int, ...], cast(Any, array).get_values())


def _memref(value: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(value.type, MemRefType)
    return cast("MemRefType[Attribute]", value.type)


def _verify_positions(exprs: Sequence[Expr], operands: int) -> None:
    used = {k for e in exprs for k in e.variables()}
    expected = {f"d{i}" for i in range(operands)}
    if used != expected:
        raise VerifyException(f"expressions use {sorted(map(str, used))} where the operands are {sorted(expected)}")


def _verify_dims(type_: Attribute, dims: DimsAttr) -> None:
    if not isinstance(type_, MemRefType):
        raise VerifyException(f"expected a memref, got {type_}")
    shape = type_.get_shape()
    fits = len(shape) == len(dims) and all(
        e.constant is None if s == DYNAMIC_INDEX else e == s for s, e in zip(shape, dims, strict=True)
    )
    if not fits:
        raise VerifyException(f"dims [{', '.join(map(str, dims))}] do not fit {type_}")


def _static_dims(parser: Parser, type_: Attribute) -> tuple[Expr, ...]:
    if not isinstance(type_, MemRefType):
        parser.raise_error(f"expected a memref, got {type_}")
    if DYNAMIC_INDEX in type_.get_shape():
        parser.raise_error(f"{type_} has dynamic dimensions: expected their expressions, as in [N, 64]")
    return tuple(map(const, type_.get_shape()))


def _resolve(parser: Parser, unresolved: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    return [parser.resolve_operand(u, INDEX) for u in unresolved]


def _parse_pair(parser: Parser) -> tuple[int, int]:
    first = parser.parse_integer()
    parser.parse_punctuation("->")
    return first, parser.parse_integer()


def _parse_access(parser: Parser) -> tuple[UnresolvedOperand, list[Expr], int | None, Expr | None]:
    memref = parser.parse_unresolved_operand()
    unresolved: list[UnresolvedOperand] = []
    indices = parse_expr_list(parser, unresolved)
    stride = parser.parse_integer() if parser.parse_optional_keyword("stride") else None
    count = parse_expr(ParserTokens(parser, unresolved)) if parser.parse_optional_keyword("count") else None
    values = over_values(_resolve(parser, unresolved))
    return memref, [e.substitute(values) for e in indices], stride, None if count is None else count.substitute(values)


Loop = Dialect(
    "loop",
    [KernelOp, ForOp, IfOp, YieldOp, LoadOp, StoreOp, ApplyOp, CallOp],
    [KindAttr, LoopIndexAttr, LoopWhenAttr],
)
