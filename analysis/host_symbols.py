"""A host function's attributes, and its indices as expressions over the names of symbolic dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.intervals import interval
from tilework.analysis.accesses import memref_type
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, SymbolOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr

DIMS = "tilework.dims"
"""The attribute of a host function's argument that holds its dimensions over symbols' names."""

NAME = "tilework.name"
"""That which holds the name of an input or output for the caller."""

NEEDS = "tilework.needs"
"""The attribute of an input that takes fewer sizes than it declares; it names the operators that need that."""

DTYPE = "tilework.dtype"
"""What numpy calls the elements of an input or output whose bits its bytes hold."""

OUTPUT = "tilework.output"
"""That of the arguments which are outputs."""

MUST_HOLD = "tilework.must_hold"
"""The attribute of an output, or of a graph function's result, that is a truth value which the caller alone looks at:
where it is false, the call has failed, and the attribute says why."""

ARENA = "tilework.arena"
"""This attribute marks the arguments that are arenas: one for the host, and one in the memory of each device."""

ARENA_BYTES = "tilework.arena_bytes"
"""The attribute of a host function that says how large its arenas are, over the symbols, in their order."""


def parameter_of(global_: memref.GlobalOp) -> str:
    """The parameter that a global without a value holds: that of its name; one on a device says which."""
    named = global_.attributes.get(NAME)
    return named.data if isinstance(named, StringAttr) else global_.sym_name.data


AT_RUN_TIME = "tilework.at_run_time"
"""The attribute of an allocation for a tensor of which data alone decide the size: it is made when the code runs."""

NO_MEMORY = "there is no memory for a tensor of which data decide the size"
"""What is wrong where such an allocation fails."""


class HostSymbols:
    """What the index values of a host function are, over the names in the `tilework.dims` of its arguments."""

    def __init__(self, function: func.FuncOp):
        self.function = function
        attributes = function.arg_attrs
        count = len(function.args)
        self.attributes = [DictionaryAttr({})] * count if attributes is None else list(attributes.data)

    def argument_dims(self, argument: BlockArgument) -> tuple[Expr, ...]:
        """The dimensions of an argument; raises CompileError where a dynamic one has no name."""
        declared = self.attributes[argument.index].data.get(DIMS)
        if isinstance(declared, DimsAttr):
            return tuple(declared)
        shape = memref_type(argument.type).get_shape()
        if DYNAMIC_INDEX in shape:
            raise CompileError(
                f"argument %{argument.name_hint or argument.index} of @{self.function.sym_name.data} has type "
                f"{argument.type} but no {DIMS} attribute that names its dynamic dimensions",
                self.function,
            )
        return tuple(map(const, shape))

    @cached_property
    def named(self) -> Mapping[Key, SymbolOp]:
        """The symbols that the function binds while it runs, by their names, in the order in which it does."""
        return {op.sym_name.data: op for op in self.function.walk() if isinstance(op, SymbolOp)}

    def largest(self, e: Expr) -> Expr | None:
        """What an expression is at most, over what the arguments tell alone; None where nothing is known of that."""
        for key, op in reversed([*self.named.items()]):
            if key in e.variables():
                if op.most is None:
                    return None
                e = interval(e, {key: (const(0), op.most)})[1]
        return e

    def place_of(self, symbol: Key) -> tuple[BlockArgument, int] | None:
        """An argument, and its dimension, that is the symbol itself; None where there is none."""
        for argument, attributes in zip(self.function.args, self.attributes, strict=False):
            declared = attributes.data.get(DIMS)
            for i, e in enumerate(declared if isinstance(declared, DimsAttr) else ()):
                if e.as_var == symbol:
                    return argument, i
        return None

    def expr_of(self, value: SSAValue, user: Operation) -> Expr:
        """An index value as an expression; raises CompileError, pointing at `user`, for one that is none."""
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as number):
                return const(number.value.data)
            case memref.DimOp(source=BlockArgument() as source) as dim:
                at = self.expr_of(dim.index, user).constant
                if at is not None:
                    return self.argument_dims(source)[at]
            case SymbolOp() as named:
                return var(named.sym_name.data)
            case ApplyOp() as apply:
                return apply.value.substitute({v: self.expr_of(v, user) for v in apply.index_operands})
            case _:
                pass
        raise CompileError(f"%{value.name_hint or '?'} is not an expression over the dimensions of arguments", user)

    def dims_of(self, shape: Sequence[int], dynamic: Sequence[SSAValue], user: Operation) -> tuple[Expr, ...]:
        """The dimensions of a buffer of that shape, its dynamic ones given by index values."""
        values = iter(dynamic)
        return tuple(self.expr_of(next(values), user) if d == DYNAMIC_INDEX else const(d) for d in shape)
