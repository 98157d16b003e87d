"""Intrinsics: what instructions of machines compute, declared in the program, and calls of those on scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from string import Template
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FloatAttr,
    FunctionType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import did_you_mean
from tilework.dialects.support.bfloat16 import computes_in_bfloat16
from tilework.dialects.support.call_intrinsic import CallIntrinsic
from tilework.dialects.te.intrinsic_reads import verify_reads
from tilework.dialects.te.reduce import ReduceOp
from tilework.dialects.te.scalars import ReadOp, YieldOp
from tilework.dialects.te.structure import ComputeOp, ReturnOp, verify_names
from tilework.targets.parse import target_kinds

RESULT = "result"
"""What snippets call the result."""

_RESERVED = frozenset({RESULT, "type", "suffix"})

_WANTS = ("accumulates", "buffers", "cost", "multiples", "reset", "snippets", "update", "warp")


@irdl_op_definition
class IntrinsicOp(IRDLOperation):
    """An instruction of a machine: what it computes, what it wants of its buffers, what it costs, how it is written.

    One on scalars has arithmetic for a meaning. `te.call_intrinsic` calls it in bodies, vectors of it are computed lane
    by lane:

        te.intrinsic @saturating_add(%a: i8, %b: i8) -> i8 attributes {cost = 1.0} {
          ...
          te.yield %sum : i8
        }

    One on buffers has a compute for a meaning; `schedule.tensorize` names it:

        te.intrinsic @dot8(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<f32> attributes {accumulates} {
          %y = te.compute "y" [] reduce [k: 8] : tensor<f32> { ... te.reduce add %p : f32 }
          te.return %y : tensor<f32>
        }

    accumulates: a reduction joins what is in the result already, rather than its identity. reset, update: the
    intrinsics that store the identity, and that join a part of the reduction, where loops around run the other parts;
    what accumulates is its own update. buffers: for the arguments and the result a memref type that says the strides, a
    `?` for any (without a layout, rows may lie apart, and elements of a row follow each other), and the scope that
    buffers are to have (without one, memory of any kind). multiples: for the arguments and the result, of what number
    the element at which a part begins is a multiple, as in `array<i64: 8, 1, 1>`; 1 for any. warp: the threads of a
    warp do it together, once. cost: how many additions of vectors it takes the time of, 1 if nothing is said. snippets:
    by the kind of target, the text that a back end writes, or a list of lines. `$name` is an argument there, for
    buffers a pointer, `$result` the result's pointer, `$name_stride0` the first stride of a buffer; a name that begins
    with `_` is a value of the snippet's own. A back end that has neither a snippet nor an emitter writes the meaning of
    one on scalars.
    """

    name = "te.intrinsic"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    names = prop_def(ArrayAttr[StringAttr])
    accumulates = opt_prop_def(UnitAttr)
    reset = opt_prop_def(FlatSymbolRefAttrConstr)
    update = opt_prop_def(FlatSymbolRefAttrConstr)
    buffers = opt_prop_def(ArrayAttr)
    cost = opt_prop_def(FloatAttr)
    multiples = opt_prop_def(DenseArrayBase.constr(i64))
    snippets = opt_prop_def(DictionaryAttr)
    warp = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @property
    def label(self) -> str:
        """The name."""
        return self.sym_name.data

    @property
    def is_on_scalars(self) -> bool:
        """Whether bodies call it; else schedules name it."""
        return not isinstance(self.function_type.outputs.data[0], TensorType)

    @property
    def compute(self) -> ComputeOp:
        """The meaning of one on buffers."""
        return cast(ComputeOp, self.body.block.first_op)

    @property
    def additions(self) -> float:
        """How many additions of vectors it takes the time of."""
        return 1.0 if self.cost is None else self.cost.value.data

    @property
    def wants(self) -> tuple[MemRefType[Attribute], ...]:
        """What the buffers are to be like: those of the arguments, then that of the result."""
        if self.buffers is not None:
            return cast("tuple[MemRefType[Attribute], ...]", self.buffers.data)
        types = cast("Sequence[TensorType[Attribute]]", (*self.function_type.inputs, *self.function_type.outputs))
        return tuple(MemRefType(type_.element_type, type_.get_shape()) for type_ in types)

    @property
    def begins_at(self) -> tuple[int, ...]:
        """The part of each buffer, arguments first, begins at an element that is a multiple of this number."""
        count = len(self.function_type.inputs) + 1
        return (1,) * count if self.multiples is None else self.multiples.get_values()

    @property
    def parameters(self) -> list[str]:
        """What snippets call the arguments."""
        return [name.data for name in self.names.data]

    def snippet(self, kind: str) -> str | None:
        """What back ends for that kind of target write."""
        return self._snippets.get(kind)

    @property
    def _snippets(self) -> dict[str, str]:
        """Every snippet, by the kind of target. Raises VerifyException for what is no text."""
        given: Mapping[str, Attribute] = {} if self.snippets is None else self.snippets.data
        return {kind: "\n".join(_lines(kind, text)) for kind, text in given.items()}

    # -- verification

    def verify_(self) -> None:
        block, outputs = self.body.block, self.function_type.outputs.data
        if tuple(block.arg_types) != self.function_type.inputs.data:
            raise VerifyException("the body's arguments differ from the intrinsic's")
        if len(outputs) != 1:
            raise VerifyException(f"an intrinsic has one result, not {len(outputs)}")
        if len(self.names) != len(block.args):
            raise VerifyException(f"{len(block.args)} arguments have {len(self.names)} names")
        if len(set(self.parameters)) != len(self.parameters) or not _RESERVED.isdisjoint(self.parameters):
            raise VerifyException(f"the arguments need names of their own, none of {', '.join(sorted(_RESERVED))}")
        if not 0 <= self.additions < inf:
            raise VerifyException(f"a cost is a number from 0 on, not {self.additions}")
        if self.is_on_scalars:
            self._verify_scalars()
        else:
            self._verify_buffers()
        self._verify_snippets()

    def _verify_scalars(self) -> None:
        for type_ in (*self.function_type.inputs, *self.function_type.outputs):
            if not isinstance(type_, AnyFloat | IntegerType):
                raise VerifyException(f"an intrinsic is on scalars or on tensors, all of them, not on {type_}")
        for name in ("accumulates", "buffers", "multiples", "reset", "update", "warp"):
            if name in self.properties:
                raise VerifyException(f"'{name}' is for intrinsics on tensors")
        *ops, last = self.body.block.ops
        if not isinstance(last, YieldOp) or tuple(last.values.types) != self.function_type.outputs.data:
            raise VerifyException(f"an intrinsic on scalars ends in te.yield of {self.function_type.outputs.data[0]}")
        _require_arithmetic(ops)

    def _verify_buffers(self) -> None:
        types: Sequence[Attribute] = (*self.function_type.inputs, *self.function_type.outputs)
        for type_ in types:
            if not isinstance(type_, TensorType) or DYNAMIC_INDEX in cast("TensorType[Attribute]", type_).get_shape():
                raise VerifyException(f"an intrinsic is on tensors of known shape or on scalars, not on {type_}")
        ops = list(self.body.block.ops)
        if [type(op) for op in ops] != [ComputeOp, ReturnOp] or list(ops[1].operands) != list(ops[0].results):
            raise VerifyException("the meaning of an intrinsic on tensors is one te.compute, which it returns")
        if (ops[1].operands[0].type,) != self.function_type.outputs.data:
            raise VerifyException(f"{ops[1].operands[0].type} is returned, not {self.function_type.outputs.data[0]}")
        compute = self.compute
        verify_names(compute, set())
        body = [op for op in compute.body.block.ops if op is not compute.terminator and not isinstance(op, ReadOp)]
        _require_arithmetic(body)
        for argument, name in zip(self.body.block.args, self.parameters, strict=True):
            if not argument.uses:
                raise VerifyException(f"argument %{name} is not read")
            verify_reads(compute, argument, name)
        last = compute.terminator
        if isinstance(last, ReduceOp) and (last.kind is None or last.where is not None):
            raise VerifyException("a reduction of an intrinsic has a reducer with a name, and no condition")
        if self.accumulates is not None and not compute.reduction:
            raise VerifyException("what accumulates is a reduction")
        if self.update is not None and (self.accumulates is not None or not compute.reduction):
            raise VerifyException("an 'update' is for a reduction that does not accumulate")
        self._verify_wants()

    def _verify_wants(self) -> None:
        types = (*self.function_type.inputs, *self.function_type.outputs)
        no_memref = next((want for want in self.buffers or () if not isinstance(want, MemRefType)), None)
        if no_memref is not None:
            raise VerifyException(f"what is wanted of a buffer is said by a memref type, not by {no_memref}")
        if len(self.wants) != len(types):
            raise VerifyException(f"'buffers' says what is wanted of {len(self.wants)} of {len(types)} buffers")
        if len(self.begins_at) != len(types) or min(self.begins_at) < 1:
            raise VerifyException(f"'multiples' has a number from 1 on for each of {len(types)} buffers")
        for type_, want in zip(types, self.wants, strict=True):
            tensor = cast("TensorType[Attribute]", type_)
            if (want.get_shape(), want.element_type) != (tensor.get_shape(), tensor.element_type):
                raise VerifyException(f"{want} is wanted for {tensor}: its shape and its elements are to be the same")
            if not isinstance(want.layout, NoneAttr | StridedLayoutAttr):
                raise VerifyException(f"the layout of {want} says no strides")
            if not isinstance(want.memory_space, NoneAttr | StringAttr):
                raise VerifyException(f"the memory space of {want} is no text")
            if isinstance(want.layout, StridedLayoutAttr) and any(
                s is not None and s < 1 for s in want.layout.get_strides()
            ):
                raise VerifyException(f"the strides of {want} are to be at least 1")

    def _verify_snippets(self) -> None:
        for kind, text in self._snippets.items():
            if kind not in (known_kinds := target_kinds()):
                there = f"{', '.join(known_kinds)}{did_you_mean(kind, known_kinds)}"
                raise VerifyException(f"'{kind}' is no kind of targets; there are {there}")
            template = Template(text)
            if not template.is_valid():
                raise VerifyException(f"the snippet for '{kind}' has a '$' that names nothing; '$$' stands for one")
            known = self.placeholders
            for name in template.get_identifiers():
                if name not in known and not name.startswith("_"):
                    listed = ", ".join(f"${n}" for n in known)
                    raise VerifyException(
                        f"the snippet for '{kind}' names ${name}; there are {listed}, and names that begin with '_'"
                    )

    @property
    def placeholders(self) -> list[str]:
        """What snippets may name: arguments and the result; of scalars the type, of buffers the strides too."""
        names = [*self.parameters, RESULT]
        if self.is_on_scalars:
            return [*self.parameters, "type", "suffix", *(f"{name}_type" for name in self.parameters)]
        strides = (f"{n}_stride{d}" for n, w in zip(names, self.wants, strict=True) for d in range(len(w.get_shape())))
        return [*names, *strides]

    # -- text

    @classmethod
    def parse(cls, parser: Parser) -> IntrinsicOp:
        start = parser.pos
        name, inputs, outputs, region, attributes, _, _ = parse_func_op_like(parser, reserved_attr_names=())
        given = {} if attributes is None else dict(attributes.data)
        wants: dict[str, Attribute] = {key: given.pop(key) for key in _WANTS if key in given}
        unknown = next((key for key in given if "." not in key), None)
        if unknown is not None:
            known = ", ".join(_WANTS)
            parser.raise_error(f"te.intrinsic has no '{unknown}'; it has {known}{did_you_mean(unknown, _WANTS)}", start)
        if not region.blocks:
            parser.raise_error("te.intrinsic has a body: what the instruction computes", start)
        type_ = FunctionType.from_lists(list(inputs), list(outputs))
        names = [argument.name_hint or f"arg{argument.index}" for argument in region.block.args]
        properties = {
            "sym_name": StringAttr(name),
            "function_type": type_,
            "names": ArrayAttr(map(StringAttr, names)),
            **wants,
        }
        return cls.create(properties=properties, attributes=given, regions=[region])

    def print(self, printer: Printer) -> None:
        for argument, name in zip(self.body.block.args, self.parameters, strict=True):
            argument.name_hint = name  # the text says the names so
        wants = {key: self.properties[key] for key in _WANTS if key in self.properties}
        attributes: dict[str, Any] = {**self.attributes, **wants}
        print_func_op_like(printer, self.sym_name, self.function_type, self.body, attributes, reserved_attr_names=())


def _lines(kind: str, text: Attribute) -> Iterator[str]:
    """The lines of a snippet: a text, or a list of them."""
    for line in cast("ArrayAttr[Attribute]", text).data if isinstance(text, ArrayAttr) else (text,):
        if not isinstance(line, StringAttr):
            raise VerifyException(f"the snippet for '{kind}' is a text, or a list of lines, not {line}")
        yield line.data


def _require_arithmetic(ops: Sequence[Operation]) -> None:
    for op in ops:
        if op.dialect_name() not in ("arith", "math") or op.regions:
            raise VerifyException(f"the meaning of an intrinsic is made of arith and math, not of {op.name}")
        if computes_in_bfloat16(op):
            raise VerifyException(f"{op.name} computes with bf16: extend the numbers to f32 before")


@irdl_op_definition
class CallIntrinsicOp(CallIntrinsic):
    """What an intrinsic on scalars makes of numbers.

    `%d = te.call_intrinsic @dot4.ui8i8(%x, %w) : (i32, i32) -> i32`
    """

    name = "te.call_intrinsic"
