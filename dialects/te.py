"""The te dialect: for every kernel, what each element of each tensor equals. Nothing here says in which order.

    te.kernel @dense_relu(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x32xf32> {
      %dense = te.compute "dense" [i: 1, j: 32] reduce [k: 64] : tensor<1x32xf32> {
        %a = te.read %x[i, k] : tensor<1x64xf32>
        %b = te.read %w[j, k] : tensor<32x64xf32>
        %p = arith.mulf %a, %b : f32
        te.reduce add %p : f32
      }
      ...
      te.return %relu : tensor<1x32xf32>
    }

Axes are named per compute and appear by name in indices. `te.read` reads an argument or another compute. A reduction
combines `te.reduce`'s operand over the reduce axes with a commutative reducer, starting from its identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FunctionType,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
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
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike
from tilework.algebra.parse import parse_expr
from tilework.algebra.predicate import Predicate
from tilework.dialects.index_attr import (
    ParserTokens,
    TeIndexAttr,
    TeWhenAttr,
    parse_expr_list,
    parse_predicate_list,
)
from tilework.dialects.shapes import dims_of, element_type

REDUCERS = ("add", "mul", "max", "min")
"""Commutative reducers; `max` and `min` propagate NaN."""


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
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbolic dimensions, in order of first use in the arguments."""
        found: dict[str, None] = {}
        for arg in self.body.block.args:
            for dim in dims_of(arg.type):
                for key in dim.variables():
                    found[cast(str, key)] = None
        return tuple(found)

    def verify_(self) -> None:
        block = self.body.block
        if tuple(block.arg_types) != self.function_type.inputs.data:
            raise VerifyException("the body's arguments differ from the kernel's inputs")
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException("a kernel ends in te.return")
        if tuple(block.last_op.values.types) != self.function_type.outputs.data:
            raise VerifyException("te.return's types differ from the kernel's results")
        names = [c.stage.data for c in self.computes]
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise VerifyException(f"two computes are named '{twice}'; names are unique in a kernel")

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
    """One tensor: its element at each point of the spatial axes. `stage` is the name schedules know it by."""

    name = "te.compute"
    stage = prop_def(StringAttr)
    axes = prop_def(ArrayAttr[StringAttr])
    extents = prop_def(TeIndexAttr)
    reduce_axes = prop_def(ArrayAttr[StringAttr])
    reduce_extents = prop_def(TeIndexAttr)
    result = result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(HasParent(KernelOp))

    def __init__(
        self,
        stage: str,
        axes: Sequence[tuple[str, ExprLike]],
        reduce_axes: Sequence[tuple[str, ExprLike]],
        result_type: Attribute,
        body: Region,
    ):
        super().__init__(
            properties={
                "stage": StringAttr(stage),
                "axes": ArrayAttr(StringAttr(n) for n, _ in axes),
                "extents": TeIndexAttr.of(e for _, e in axes),
                "reduce_axes": ArrayAttr(StringAttr(n) for n, _ in reduce_axes),
                "reduce_extents": TeIndexAttr.of(e for _, e in reduce_axes),
            },
            result_types=[result_type],
            regions=[body],
        )
        self.result.name_hint = _identifier(stage)

    @property
    def spatial(self) -> list[tuple[str, Expr]]:
        """Names and extents of the axes of the result."""
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
        names = [n for n, _ in (*self.spatial, *self.reduction)]
        if len(set(names)) != len(names):
            raise VerifyException(f"compute '{self.stage.data}' names an axis twice: {', '.join(names)}")
        kernel = self.parent_op()
        clash = set(names) & set(kernel.symbols) if isinstance(kernel, KernelOp) else set[str]()
        if clash:
            raise VerifyException(f"axis '{min(clash)}' has the name of a symbolic dimension")
        if dims_of(self.result.type) != tuple(e for _, e in self.spatial):
            raise VerifyException(f"axes [{', '.join(str(e) for _, e in self.spatial)}] differ from {self.result.type}")
        last = self.body.block.last_op
        expected = ReduceOp if self.reduction else YieldOp
        if not isinstance(last, expected):
            raise VerifyException(f"compute '{self.stage.data}' ends in {expected.name}")
        if last.value.type != element_type(self.result.type):
            raise VerifyException(f"{last.name} of {last.value.type} in a compute of {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        stage = parser.parse_str_literal()
        axes = _parse_axes(parser)
        reduce_axes = _parse_axes(parser) if parser.parse_optional_keyword("reduce") else []
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        return ComputeOp(stage, axes, reduce_axes, result_type, parser.parse_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" [{_axes_text(self.spatial)}]")
        if self.reduction:
            printer.print_string(f" reduce [{_axes_text(self.reduction)}]")
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class ReadOp(IRDLOperation):
    """One element of a tensor, at indices over the axes of the enclosing compute. Out of bounds is undefined."""

    name = "te.read"
    tensor = operand_def(TensorType)
    indices = prop_def(TeIndexAttr)
    result = result_def()

    def __init__(self, tensor: SSAValue, indices: Sequence[ExprLike]):
        super().__init__(
            operands=[tensor],
            properties={"indices": TeIndexAttr.of(indices)},
            result_types=[element_type(tensor.type)],
        )

    def verify_(self) -> None:
        rank = len(dims_of(self.tensor.type))
        if len(self.indices) != rank:
            raise VerifyException(f"{len(self.indices)} indices into a tensor of rank {rank}")
        compute = enclosing_compute(self)
        if compute is None:
            raise VerifyException("te.read stands outside a te.compute")
        known = known_names(compute)
        for e in self.indices:
            for key in e.variables():
                if key not in known:
                    raise VerifyException(
                        f"'{key}' is neither an axis of compute '{compute.stage.data}' nor a symbol; "
                        f"known: {', '.join(sorted(known))}"
                    )

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        tensor = parser.parse_unresolved_operand()
        indices = parse_expr_list(parser)
        parser.parse_punctuation(":")
        return ReadOp(parser.resolve_operand(tensor, parser.parse_type()), indices)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        printer.print_string(f"[{', '.join(map(str, self.indices))}] : ")
        printer.print_attribute(self.tensor.type)


@irdl_op_definition
class IfThenElseOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """Lazy choice: only the region that the condition selects is evaluated (TVM's `if_then_else`)."""

    name = "te.if_then_else"
    when = prop_def(TeWhenAttr)
    result = result_def()
    then_body = region_def("single_block")
    else_body = region_def("single_block")

    def __init__(self, when: Sequence[Predicate], result_type: Attribute, then_body: Region, else_body: Region):
        super().__init__(
            properties={"when": TeWhenAttr(tuple(when))}, result_types=[result_type], regions=[then_body, else_body]
        )

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.te_canonicalization import ConstantChoice  # which imports this file

        return (ConstantChoice(),)

    def verify_(self) -> None:
        for body in (self.then_body, self.else_body):
            last = body.block.last_op
            if not isinstance(last, YieldOp) or last.value.type != self.result.type:
                raise VerifyException(f"both regions end in te.yield of {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> IfThenElseOp:
        when = parse_predicate_list(parser)
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        then_body = parser.parse_region()
        parser.parse_keyword("else")
        return IfThenElseOp(when, result_type, then_body, parser.parse_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" [{', '.join(map(str, self.when))}] : ")
        printer.print_attribute(self.result.type)
        printer.print_string(" ")
        printer.print_region(self.then_body)
        printer.print_string(" else ")
        printer.print_region(self.else_body)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The element's value."""

    name = "te.yield"
    value = operand_def(AnyFloat | IntegerType)
    assembly_format = "$value attr-dict `:` type($value)"
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(ComputeOp, IfThenElseOp)))

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Combine the value over the reduce axes; the order is left to the schedule."""

    name = "te.reduce"
    kind = prop_def(StringAttr)
    value = operand_def(AnyFloat | IntegerType)
    traits = traits_def(IsTerminator(), HasParent(ComputeOp))

    def __init__(self, kind: str, value: SSAValue):
        super().__init__(operands=[value], properties={"kind": StringAttr(kind)})

    def verify_(self) -> None:
        if self.kind.data not in REDUCERS:
            raise VerifyException(f"unknown reducer '{self.kind.data}'; known: {', '.join(REDUCERS)}")

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        kind = parser.parse_identifier()
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return ReduceOp(kind, parser.resolve_operand(value, parser.parse_type()))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The kernel's results."""

    name = "te.return"
    values = var_operand_def(TensorType)
    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator(), HasParent(KernelOp))

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


def enclosing_compute(op: Operation) -> ComputeOp | None:
    """The compute in whose body `op` stands."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ComputeOp):
        parent = parent.parent_op()
    return parent


def known_names(compute: ComputeOp) -> set[str]:
    """What an index inside `compute` may name: its axes and the kernel's symbols."""
    kernel = compute.parent_op()
    symbols = kernel.symbols if isinstance(kernel, KernelOp) else ()
    return {n for n, _ in (*compute.spatial, *compute.reduction)} | set(symbols)


def _identifier(stage: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in stage)


def _axes_text(axes: Sequence[tuple[str, Expr]]) -> str:
    return ", ".join(f"{n}: {e}" for n, e in axes)


def _parse_axes(parser: Parser) -> list[tuple[str, Expr]]:
    def axis() -> tuple[str, Expr]:
        name = parser.parse_identifier()
        parser.parse_punctuation(":")
        return name, parse_expr(ParserTokens(parser))

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, axis)


TE = Dialect(
    "te",
    [KernelOp, ComputeOp, ReadOp, IfThenElseOp, YieldOp, ReduceOp, ReturnOp],
    [TeIndexAttr, TeWhenAttr],
)
