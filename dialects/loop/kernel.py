"""Kernels, and the calls of them on the host."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, var
from tilework.algebra.parse import parse_expr
from tilework.dialects.loop.common import (
    INDEX,
    integers,
    parse_pair,
    resolve,
    static_dims,
    verify_dims,
)
from tilework.dialects.support.index_attr import (
    DimsAttr,
    ParserTokens,
)
from tilework.dialects.tilework import device_of_buffer


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
        sizes = integers(self.groups)
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
        return integers(self.groups)

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
            verify_dims(type_, dims)
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
            dims.append(static_dims(parser, argument.type) if given is None else tuple(given))

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
            in_place = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_pair(parser))
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
            pairs = integers(self.in_place)
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
class CallOp(IRDLOperation):
    """Run a kernel, from the host, on the device in whose memory its buffers are.

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
        sizes = integers(self.groups)
        start = sum(sizes[:i])
        return tuple(self.arguments[start : start + sizes[i]])

    @property
    def device(self) -> str | None:
        """The device in whose memory the buffers are, which runs the kernel; None for the host."""
        return next(iter(self._devices()), None)

    def _devices(self) -> set[str | None]:
        return {device_of_buffer(buffer.type) for buffer in (*self.inputs, *self.outputs, *self.scratch)}

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
        if sum(integers(self.groups)) != len(self.arguments):
            raise VerifyException("the argument groups do not add up to the arguments")
        if len(devices := self._devices()) > 1:
            named = " and ".join(sorted(device or "the host" for device in devices))
            raise VerifyException(f"the buffers of a call are in the memory of one device, not of {named}")
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
        symbols = resolve(parser, groups[3])
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
