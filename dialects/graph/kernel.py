"""Operators that the program defines itself, element by element: `graph.kernel`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self, cast

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, ModuleOp, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.predicate import at_least
from tilework.algebra.requirement import Requirement
from tilework.dialects import te
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer, linear_in
from tilework.dialects.graph.kernel_category import kernel_category
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te.bounds import sizes_for_reads
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.dialects.te.builder_inline import inline_kernel, with_sizes
from tilework.dialects.te.intrinsics import declarations_used


@irdl_op_definition
class KernelOp(GraphOp):
    """An operator whose meaning is a te kernel: one of the module that it names, or one that it holds.

        %y = graph.kernel @swish (%x, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>

        %y = graph.kernel (%x, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> {
          te.kernel @swish(%x: tensor<8x?xf32, #graph.dims<[8, N]>>, ...) ...
        }

    A symbol of the kernel is the size that an operand has where the kernel's argument has the symbol. The operator is
    fused as the places at which the kernel reads allow (`kernel_category`), and its stages become a part of the kernel
    that its group makes. A `te.kernel` that operators name is their definition: `graph-inline-kernels` puts it into
    each of them and takes it out of the module, so that it is compiled as a part of groups alone.
    """

    name = "graph.kernel"
    callee = opt_prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), Pure())

    @classmethod
    def holding(
        cls, kernel: te.KernelOp, operands: Sequence[SSAValue], declarations: Sequence[te.IntrinsicOp] = ()
    ) -> Self:
        """The operator that holds this kernel, which is in no module, and intrinsics that are declared for it.

        Raises VerifyException for other operands.
        """
        return cls._made(operands, {}, Region(Block([*declarations, kernel])))

    @classmethod
    def _made(cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute], body: Region) -> Self:
        probe = cls.create(operands=operands, properties=properties, regions=[body])
        try:
            types = probe.infer()
        finally:
            body = probe.detach_region(0)
            probe.drop_all_references()
        return cls.create(operands=operands, properties=properties, result_types=types, regions=[body])

    def on(self, *operands: SSAValue, **properties: Attribute) -> Self:
        return self._made(operands, {**self.properties, **properties}, self.body.clone())

    # -- its kernel

    @property
    def kernel(self) -> te.KernelOp:
        """The kernel that it holds or names. Raises VerifyException where there is none."""
        if self.callee is None:
            return cast(te.KernelOp, self.body.block.last_op)
        name, kernels = self.callee.root_reference.data, _kernels_around(self)
        found = next((kernel for kernel in kernels if kernel.sym_name.data == name), None)
        if found is None:
            there = ", ".join(f"@{kernel.sym_name.data}" for kernel in kernels) or "none"
            remedy = f'write it, or give tilework.compile kernels={{"{name}": ...}}'
            raise VerifyException(f"the module has no te.kernel @{name} (its te kernels: {there}): {remedy}")
        return found

    @property
    def declarations(self) -> list[te.IntrinsicOp]:
        """The intrinsics that the program declares and that its kernel uses."""
        return declarations_used(self.kernel)

    @property
    def label(self) -> str:
        if self.callee is not None:
            return self.callee.root_reference.data
        return self.kernel.sym_name.data

    @property
    def symbols(self) -> dict[str, Expr]:
        """What each symbol of the kernel is. Raises VerifyException for operands that the kernel does not take."""
        kernel = self.kernel
        wanted, given = kernel.function_type.inputs.data, tuple(self.operand_types)
        if len(wanted) != len(given):
            takes = f"te.kernel @{kernel.sym_name.data} takes {len(wanted)} tensor{'' if len(wanted) == 1 else 's'}"
            raise VerifyException(f"{takes}, but the number of operands is {len(given)}")
        for i, (one, other) in enumerate(zip(wanted, given, strict=True)):
            if element_type(one) != element_type(other) or len(dims_of(one)) != len(dims_of(other)):
                raise VerifyException(_refusal(kernel, i, one, other))
        found = _told(wanted, given)
        for i, (one, other) in enumerate(zip(wanted, given, strict=True)):
            for axis, (formal, size) in enumerate(zip(dims_of(one), dims_of(other), strict=True)):
                own = formal.substitute(found)
                if own != size:
                    message = f"{_refusal(kernel, i, one, other)}{_where(formal, found)}"
                    raise SizesDiffer(own, size, message, (i, axis, own))
        return found

    # -- as an operator

    @property
    def category(self) -> Category:
        return kernel_category(self.kernel).whole

    def category_of(self, operand: int) -> Category:
        return kernel_category(self.kernel).arguments[operand]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        sizes: dict[Key, Expr] = {**self.symbols}
        types = self.kernel.function_type.outputs.data
        return [cast("TensorType[Attribute]", with_sizes(type_, sizes)) for type_ in types]

    def requirements(self) -> Iterable[Requirement]:
        symbols = self.symbols
        for size, text in sizes_for_reads(self.kernel).items():
            yield Requirement.of(at_least(size.substitute(symbols), 0), f"{self.title}: {text}")
        for size in (size for type_ in self.infer() for size in dims_of(type_)):
            yield Requirement.of(at_least(size, 0), f"{self.title}: a result would have {size} elements along an axis")

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Sequence[Tensor]:
        return inline_kernel(k, self.kernel, inputs, self.symbols)

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        raise NotImplementedError("the interpreter of te says what a kernel means, and the one of graphs asks it")

    def verify_(self) -> None:
        held = [op for block in self.body.blocks for op in block.ops]
        if self.callee is not None and held:
            raise VerifyException("it names a te.kernel, or holds one, not both")
        kernels = [op for op in held if isinstance(op, te.KernelOp)]
        others = [op for op in held if not isinstance(op, te.KernelOp | te.IntrinsicOp)]
        if self.callee is None and (len(kernels) != 1 or held[-1] is not kernels[0] or others):
            raise VerifyException("it names no te.kernel, so that it has to hold one, behind intrinsics alone")
        super().verify_()

    # -- text

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_optional_symbol_name()
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        return cls.create(
            operands=parser.resolve_operands(operands, type_.inputs.data, pos),
            result_types=type_.outputs.data,
            properties={} if name is None else {"callee": SymbolRefAttr(name)},
            attributes={} if attributes is None else attributes.data,
            regions=[parser.parse_optional_region() or Region()],
        )

    def print(self, printer: Printer) -> None:
        if self.callee is not None:
            printer.print_string(" ")
            printer.print_attribute(self.callee)
        printer.print_string(" (")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
        if self.body.blocks:
            printer.print_string(" ")
            printer.print_region(self.body)


def _kernels_around(op: Operation) -> list[te.KernelOp]:
    """The te kernels of the module that an operation is in."""
    around: Operation | None = op
    while around is not None and not isinstance(around, ModuleOp):
        around = around.parent_op()
    if around is None:
        return []
    return [kernel for kernel in around.ops if isinstance(kernel, te.KernelOp)]


def _told(wanted: Sequence[Attribute], given: Sequence[Attribute]) -> dict[str, Expr]:
    """What sizes of operands say that the symbols in the types of arguments are.

    A symbol that no dimension tells by itself has the name that it has around: what is computed from it is compared.
    """
    found: dict[str, Expr] = {}
    for one, other in zip(wanted, given, strict=True):
        for formal, size in zip(dims_of(one), dims_of(other), strict=True):
            for key in linear_in(formal):
                factor, rest = formal.coefficient(key), size - formal.offset
                if (rest // factor) * factor == rest and (rest.constant or 0) >= 0:
                    found.setdefault(cast(str, key), rest // factor)
    return {**{symbol: var(symbol) for symbol in te.symbols_in(wanted)}, **found}


def _where(formal: Expr, found: Mapping[str, Expr]) -> str:
    """What other sizes have said that the symbols in one are."""
    told = [f"{key} = {found[str(key)]}" for key in formal.variables() if found[str(key)] != var(key)]
    return f" with {', '.join(told)}" if told else ""


def _refusal(kernel: te.KernelOp, operand: int, wanted: Attribute, given: Attribute) -> str:
    return f"operand {operand} is {given}, where te.kernel @{kernel.sym_name.data} takes {wanted}"
