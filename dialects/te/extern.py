"""Externs: tensors that statements of the loop level fill."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, MemRefType, StringAttr, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects import loop
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te.scalars import ReadOp
from tilework.dialects.te.scan import ScanOp, StateOp
from tilework.dialects.te.structure import ComputeOp, KernelOp

STATEMENTS = (
    *(loop.ForOp, loop.IfOp, loop.YieldOp, loop.LoadOp, loop.StoreOp, loop.ApplyOp, loop.CallIntrinsicOp),
    memref.AllocaOp,
)
"""What stands in an extern beside operations of `arith` and `math`."""


@irdl_op_definition
class ExternOp(IRDLOperation):
    """Tensors that statements fill: the body is of the loop level, on buffers of the tensors, and stores every element.

        %y = te.extern "sums" ins(%a = %x : tensor<?xf32, #graph.dims<[N]>>)
                              outs(%b : tensor<?xf32, #graph.dims<[N]>>) symbols(%n = N) {
          loop.for %i = 1 to %n "i" { ... loop.load %a[%i] ... loop.store %s, %b[%i] ... }
        }

    Buffers of unknown sizes come with the kernel's symbols, all of them. For a schedule it is one stage without axes,
    which reads its inputs whole. The kinds of loops are the program's word: iterations of a parallel one must not
    depend on each other.
    """

    name = "te.extern"
    stage = prop_def(StringAttr)
    symbols = prop_def(ArrayAttr[StringAttr])
    inputs = var_operand_def(TensorType)
    tensors = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(HasParent(KernelOp), NoTerminator())

    def __init__(
        self,
        stage: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        symbols: Sequence[str],
        body: Region,
    ):
        """The arguments of the body are those of `buffers_block`."""
        super().__init__(
            properties={"stage": StringAttr(stage), "symbols": ArrayAttr(map(StringAttr, symbols))},
            operands=[inputs],
            result_types=[result_types],
            regions=[body],
        )
        for tensor in self.results:
            tensor.name_hint = identifier(stage)

    @property
    def input_buffers(self) -> Sequence[BlockArgument]:
        """The arguments of the body that stand for the inputs."""
        return self.body.block.args[: len(self.inputs)]

    @property
    def output_buffers(self) -> Sequence[BlockArgument]:
        """The arguments of the body that stand for the results."""
        return self.body.block.args[len(self.inputs) :][: len(self.results)]

    @property
    def symbol_values(self) -> Sequence[BlockArgument]:
        """The arguments of the body that stand for the kernel's symbols."""
        return self.body.block.args[len(self.inputs) + len(self.results) :]

    def sizes_of(self, buffer: SSAValue) -> Sequence[Expr] | None:
        """The dimensions of a buffer over the symbols' values; None for an argument that is none."""
        if isinstance(buffer.owner, memref.AllocaOp):
            return [const(size) for size in buffer.owner.memref.type.get_shape()]
        tensors: dict[SSAValue, SSAValue] = dict(
            zip((*self.input_buffers, *self.output_buffers), (*self.inputs, *self.results), strict=True)
        )
        values = {s.data: var(v) for s, v in zip(self.symbols, self.symbol_values, strict=True)}
        return [e.substitute(values) for e in dims_of(tensors[buffer].type)] if buffer in tensors else None

    # -- as a stage: it has no axes and no reads at indices

    @property
    def result(self) -> OpResult:
        """The first result."""
        return self.results[0]

    @property
    def spatial(self) -> list[tuple[str, Expr]]:
        """The spatial axes, of which there are none."""
        return []

    @property
    def reduction(self) -> list[tuple[str, Expr]]:
        """The reduce axes, of which there are none."""
        return []

    @property
    def reads(self) -> list[ReadOp]:
        """None: the inputs are read whole."""
        return []

    # -- checks

    def verify_(self) -> None:
        name, kernel = f"extern '{self.stage.data}'", self.parent_op()
        assert isinstance(kernel, KernelOp)
        if not self.results:
            raise VerifyException(f"{name} has no result")
        given = tuple(s.data for s in self.symbols)
        if given != kernel.symbols:
            listed = [f"[{', '.join(names)}]" for names in (given, kernel.symbols)]
            raise VerifyException(f"{name} names the symbols {listed[0]}; name those of the kernel, {listed[1]}")
        expected = buffers_block(self.inputs.types, self.result_types, given).arg_types
        if tuple(self.body.block.arg_types) != tuple(expected):
            types = ", ".join(map(str, expected))
            raise VerifyException(f"the body of {name} takes the buffers of its tensors and the symbols: {types}")
        if any(isinstance(value.owner, StateOp) for value in self.inputs):
            raise VerifyException(f"{name} takes the state of a scan, known step by step only: take the scan's result")
        for op in self.body.walk():
            self._verify_statement(op, name)

    def _verify_statement(self, op: Operation, name: str) -> None:
        if not isinstance(op, STATEMENTS) and op.name.partition(".")[0] not in ("arith", "math"):
            what = "the body is made of loops, loads, stores, calls of intrinsics, memref.alloca, arith and math"
            raise VerifyException(f"{op.name} in {name}: {what}")
        if isinstance(op, loop.StoreOp) and op.memref in self.input_buffers:
            at = self.input_buffers.index(op.memref)
            raise VerifyException(f"{name} stores into its input {at}: store into outputs and memref.alloca only")
        for value in op.operands:
            if not self.body.block.is_ancestor(_block_of(value)):
                raise VerifyException(f"{op.name} in {name} uses a value from outside: use the body's arguments")

    # -- text

    @classmethod
    def parse(cls, parser: Parser) -> ExternOp:
        stage = parser.parse_str_literal()
        names: list[Parser.UnresolvedArgument] = []
        inputs: list[SSAValue] = []
        result_types: list[Attribute] = []
        symbols: list[str] = []

        def source() -> None:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            inputs.append(parser.resolve_operand(operand, parser.parse_type()))

        def target() -> None:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation(":")
            result_types.append(parser.parse_type())

        def symbol() -> None:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            symbols.append(parser.parse_identifier())

        for word, part in (("ins", source), ("outs", target), ("symbols", symbol)):
            if parser.parse_optional_keyword(word):
                parser.parse_comma_separated_list(parser.Delimiter.PAREN, part)
        types = buffers_block([v.type for v in inputs], result_types, symbols).arg_types
        body = parser.parse_region([n.resolve(t) for n, t in zip(names, types, strict=True)])
        return ExternOp(stage, inputs, result_types, symbols, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.inputs:
            printer.print_string(" ins(")
            printer.print_list(zip(self.input_buffers, self.inputs, strict=True), lambda p: _print_input(printer, *p))
            printer.print_string(")")
        printer.print_string(" outs(")
        printer.print_list(
            zip(self.output_buffers, self.result_types, strict=True), lambda p: _print_typed(printer, *p)
        )
        printer.print_string(")")
        if self.symbols:
            printer.print_string(" symbols(")
            printer.print_list(zip(self.symbol_values, self.symbols, strict=True), lambda p: _print_symbol(printer, *p))
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def buffers_block(inputs: Sequence[Attribute], results: Sequence[Attribute], symbols: Sequence[str]) -> Block:
    """An empty body of an extern: its arguments are buffers of the inputs, of the results, and the symbols' values."""
    return Block(arg_types=[*map(_buffer_type, (*inputs, *results)), *[loop.INDEX] * len(symbols)])


def stages_of(kernel: KernelOp) -> list[ComputeOp | ScanOp | ExternOp]:
    """The computes, scans and externs of a kernel in program order."""
    return [op for op in kernel.body.block.ops if isinstance(op, ComputeOp | ScanOp | ExternOp)]


def externs_of(kernel: KernelOp) -> list[ExternOp]:
    """The externs of a kernel in program order."""
    return [op for op in kernel.body.block.ops if isinstance(op, ExternOp)]


def _buffer_type(type_: Attribute) -> MemRefType[Attribute]:
    shape = [DYNAMIC_INDEX if e.constant is None else e.constant for e in dims_of(type_)]
    return MemRefType(element_type(type_), shape)


def _block_of(value: SSAValue) -> Block:
    if isinstance(value, BlockArgument):
        return value.block
    assert isinstance(value, OpResult)
    block = value.op.parent_block()
    assert block is not None
    return block


def _print_input(printer: Printer, buffer: BlockArgument, tensor: SSAValue) -> None:
    printer.print_ssa_value(buffer)
    printer.print_string(" = ")
    _print_typed(printer, tensor, tensor.type)


def _print_typed(printer: Printer, value: SSAValue, type_: Attribute) -> None:
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(type_)


def _print_symbol(printer: Printer, value: BlockArgument, name: StringAttr) -> None:
    printer.print_ssa_value(value)
    printer.print_string(f" = {name.data}")
