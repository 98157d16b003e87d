"""The structure of te: kernels, the computes in them, what they return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    StridedLayoutAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, BlockArgument, OpResult, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike
from tilework.algebra.parse import parse_expr
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import ParserTokens, TeIndexAttr
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of, scalar_type
from tilework.dialects.te.reduce import ReduceOp
from tilework.dialects.te.scalars import ReadOp, YieldOp, names_used


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel: a dataflow of computes from arguments to results. Its symbols are those in the argument types."""

    name = "te.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, function_type: FunctionType, body: Region):
        super().__init__(properties={"sym_name": StringAttr(name), "function_type": function_type}, regions=[body])

    @property
    def computes(self) -> list[ComputeOp]:
        """The computes in program order."""
        return [op for op in self.body.block.ops if isinstance(op, ComputeOp)]

    def compute(self, stage: str) -> ComputeOp | None:
        """The compute of that name, or None."""
        return next((c for c in self.computes if c.stage.data == stage), None)

    @property
    def results_returned(self) -> Sequence[SSAValue]:
        """The values that `te.return` names."""
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last.values

    @property
    def layouts(self) -> list[StridedLayoutAttr | None]:
        """How arguments and results lie in memory, in order; None for those that have no gaps.

        The discardable attribute `te.layouts` lists them, `strided<...>` or unit for a contiguous one: a kernel that
        reads or writes a slice of a larger buffer has it.
        """
        count, given = len(self.body.block.args) + len(self.results_returned), self._layouts_given
        strided = [a if isinstance(a, StridedLayoutAttr) else None for a in given[:count]]
        return [*strided, *[None] * (count - len(strided))]

    def layout_of(self, tensor: SSAValue) -> StridedLayoutAttr | None:
        """How an argument or result lies in memory; None where it has no gaps, and for all other tensors."""
        given, before = self._layouts_given, len(self.body.block.args)
        if not given:
            return None
        results = [before + use.index for use in tensor.uses if isinstance(use.operation, ReturnOp)]
        places = [tensor.index] if isinstance(tensor, BlockArgument) else sorted(results)
        found = (given[i] for i in places if i < len(given))
        return next((layout for layout in found if isinstance(layout, StridedLayoutAttr)), None)

    @property
    def _layouts_given(self) -> Sequence[Attribute]:
        attribute = self.attributes.get("te.layouts")
        return cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbolic dimensions, in order of first use in the arguments."""
        return symbols_in(self.body.block.arg_types)

    def verify_(self) -> None:
        block = self.body.block
        if tuple(block.arg_types) != self.function_type.inputs.data:
            raise VerifyException("the body's arguments differ from the kernel's inputs")
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException("a kernel ends in te.return")
        if tuple(block.last_op.values.types) != self.function_type.outputs.data:
            raise VerifyException("te.return's types differ from the kernel's results")
        named = (op.properties.get("stage") for op in block.ops)
        names = [name.data for name in named if isinstance(name, StringAttr)]
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise VerifyException(f"two stages are named '{twice}'; names are unique in a kernel")
        symbols = set(self.symbols)
        for compute in self.computes:
            verify_names(compute, symbols)

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name, inputs, outputs, region, attributes, _, _ = parse_func_op_like(parser, reserved_attr_names=())
        op = KernelOp(name, FunctionType.from_lists(list(inputs), list(outputs)), region)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        print_func_op_like(
            printer, self.sym_name, self.function_type, self.body, self.attributes, reserved_attr_names=()
        )


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """One tensor: its element at each point of the spatial axes. `stage` is the name schedules know it by.

    `role` says which part of an algorithm it is, to schedule rules made for that: its name may be another one.
    A compute with several results makes tensors of one shape at once. The extents of reduce axes may depend on the
    spatial axes; an extent below zero counts as zero.
    """

    name = "te.compute"
    stage = prop_def(StringAttr)
    role = opt_prop_def(StringAttr)
    axes = prop_def(ArrayAttr[StringAttr])
    extents = prop_def(TeIndexAttr)
    reduce_axes = prop_def(ArrayAttr[StringAttr])
    reduce_extents = prop_def(TeIndexAttr)
    tensors = var_result_def(TensorType)
    body = region_def("single_block")
    traits = lazy_traits_def(lambda: (HasParent(KernelOp, _intrinsic()),))

    def __init__(
        self,
        stage: str,
        axes: Sequence[tuple[str, ExprLike]],
        reduce_axes: Sequence[tuple[str, ExprLike]],
        result_types: Sequence[Attribute],
        body: Region,
        role: StringAttr | None = None,
    ):
        super().__init__(
            properties={
                "stage": StringAttr(stage),
                "role": role,
                "axes": ArrayAttr(StringAttr(n) for n, _ in axes),
                "extents": TeIndexAttr.of(e for _, e in axes),
                "reduce_axes": ArrayAttr(StringAttr(n) for n, _ in reduce_axes),
                "reduce_extents": TeIndexAttr.of(e for _, e in reduce_axes),
            },
            result_types=[result_types],
            regions=[body],
        )
        for tensor in self.results:
            tensor.name_hint = identifier(stage)

    @property
    def result(self) -> OpResult:
        """The first result, of most computes the only one."""
        return self.results[0]

    @property
    def spatial(self) -> list[tuple[str, Expr]]:
        """Names and extents of the axes of the results."""
        return [(a.data, e) for a, e in zip(self.axes.data, self.extents.data, strict=True)]

    @property
    def reduction(self) -> list[tuple[str, Expr]]:
        """Names and extents of the axes that are combined away; empty where there is no reduction."""
        return [(a.data, e) for a, e in zip(self.reduce_axes.data, self.reduce_extents.data, strict=True)]

    @property
    def terminator(self) -> YieldOp | ReduceOp:
        """`te.yield`, or `te.reduce` of a reduction."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp | ReduceOp)
        return last

    @property
    def reads(self) -> list[ReadOp]:
        """All reads, in conditional regions too."""
        return [op for op in self.body.walk() if isinstance(op, ReadOp)]

    def verify_(self) -> None:
        for names, extents in ((self.axes, self.extents), (self.reduce_axes, self.reduce_extents)):
            if len(names) != len(extents):
                raise VerifyException(f"{len(names)} axes and {len(extents)} extents")
        self._verify_axes([n for n, _ in (*self.spatial, *self.reduction)])
        if not self.results:
            raise VerifyException(f"compute '{self.stage.data}' has no result")
        for tensor in self.results:
            if dims_of(tensor.type) != tuple(e for _, e in self.spatial):
                raise VerifyException(f"axes [{', '.join(str(e) for _, e in self.spatial)}] differ from {tensor.type}")
        last = self.body.block.last_op
        expected = ReduceOp if self.reduction else YieldOp
        if not isinstance(last, expected):
            raise VerifyException(f"compute '{self.stage.data}' ends in {expected.name}")
        if list(last.values.types) != [scalar_type(tensor.type) for tensor in self.results]:
            given, made = (", ".join(map(str, types)) for types in (last.values.types, self.result_types))
            raise VerifyException(f"{last.name} of {given} in a compute of {made}")

    def _verify_axes(self, names: Sequence[str]) -> None:
        if len(set(names)) != len(names):
            raise VerifyException(f"compute '{self.stage.data}' names an axis twice: {', '.join(names)}")
        for name in names:
            if "$" in name:
                raise VerifyException(f"the name of axis '{name}' has a '$', which stands for operands")

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        stage = parser.parse_str_literal()
        role = StringAttr(parser.parse_str_literal()) if parser.parse_optional_keyword("role") else None
        axes = _parse_axes(parser)
        reduce_axes = _parse_axes(parser) if parser.parse_optional_keyword("reduce") else []
        parser.parse_punctuation(":")
        result_types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return ComputeOp(stage, axes, reduce_axes, result_types, parser.parse_region(), role)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.role is not None:
            printer.print_string(" role ")
            printer.print_string_literal(self.role.data)
        printer.print_string(f" [{_axes_text(self.spatial)}]")
        if self.reduction:
            printer.print_string(f" reduce [{_axes_text(self.reduction)}]")
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The results of a kernel or of an intrinsic."""

    name = "te.return"
    values = var_operand_def(TensorType)
    assembly_format = "$values attr-dict `:` type($values)"
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(KernelOp, _intrinsic())))

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


def _intrinsic() -> type[IRDLOperation]:
    from tilework.dialects.te.intrinsic import IntrinsicOp  # which imports this file

    return IntrinsicOp


def symbols_in(types: Iterable[Attribute]) -> tuple[str, ...]:
    """The names of the symbolic dimensions of tensor types, in order of first use."""
    return tuple(dict.fromkeys(cast(str, key) for t in types for dim in dims_of(t) for key in dim.variables()))


def verify_names(compute: ComputeOp, symbols: set[str]) -> None:
    """Check that what a compute names is an axis of its own or one of the kernel's symbols.

    The kernel checks it, once for all: each compute would have to look for symbols in all the arguments.
    """
    spatial, reduction = {n for n, _ in compute.spatial}, {n for n, _ in compute.reduction}
    if clash := (spatial | reduction) & symbols:
        raise CompileError(f"axis '{min(clash)}' has the name of a symbolic dimension", compute)
    for name, extent in compute.reduction:
        unknown = [key for key in extent.variables() if key not in spatial | symbols]
        if unknown:
            raise CompileError(
                f"the extent {extent} of reduce axis '{name}' uses '{unknown[0]}', "
                "which is neither a spatial axis nor a symbol",
                compute,
            )
    known = spatial | reduction | symbols
    for op in compute.body.walk():
        for key in names_used(op):
            if key not in known:
                raise CompileError(
                    f"'{key}' is neither an axis of compute '{compute.stage.data}' nor a symbol; "
                    f"known: {', '.join(sorted(known))}",
                    op,
                )


def _axes_text(axes: Sequence[tuple[str, Expr]]) -> str:
    return ", ".join(f"{n}: {e}" for n, e in axes)


def _parse_axes(parser: Parser) -> list[tuple[str, Expr]]:
    def axis() -> tuple[str, Expr]:
        name = parser.parse_identifier()
        parser.parse_punctuation(":")
        return name, parse_expr(ParserTokens(parser))

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, axis)
