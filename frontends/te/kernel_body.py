"""The body of one compute as te operations; values of statements are written in the same way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import reduce as fold
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Compound, Expr, Var, var
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.dialects import arith
from tilework.dialects.support.names import identifier
from tilework.dialects.te import CallIntrinsicOp, IfThenElseOp, IndexOp, ReadOp, ReduceOp, YieldOp
from tilework.frontends.te.dtypes import is_signed, type_of
from tilework.frontends.te.index import Name
from tilework.frontends.te.scalar import (
    Apply,
    Cast,
    Choice,
    Combination,
    Constant,
    IndexData,
    IntrinsicCall,
    Reduce,
    Reduction,
    Scalar,
    Test,
    walk,
)
from tilework.frontends.te.scalar_ops import Number, ScalarWriter, number_attribute, reducer_name
from tilework.frontends.te.tensor import Element, Tensor, elements_read

INDEX = IndexType()
TRUE, FALSE = Constant("bool", 1), Constant("bool", 0)


class BodyWriter:
    """Writes one compute's body. tensors: the value of every tensor; names: the index for an axis or symbol.

    domain: the ranges of axes and symbols; without them no read is taken to leave its tensor. numbers: the values of
    variables that are data.
    """

    def __init__(
        self,
        stage: str,
        tensors: Mapping[Tensor, SSAValue],
        names: Mapping[Name, Expr],
        domain: Domain | None = None,
        numbers: Mapping[Name, Scalar] | None = None,
    ):
        self.stage = stage
        self.numbers: Mapping[Name, Scalar] = numbers or {}
        self.tensors: Mapping[Tensor, SSAValue] = tensors
        self.names: Mapping[Name, Expr] = names
        self.domain = domain
        self.block = Block()
        self.known: dict[Hashable, SSAValue] = {}
        self.scalars = ScalarWriter(self._insert)

    def write(self, body: list[Scalar]) -> Region:
        """The body that ends in `te.yield`, or of a reduction in `te.reduce`."""
        first = body[0]
        if not isinstance(first, Reduction):
            self.block.add_op(YieldOp([self.value(element) for element in body]))
            return Region(self.block)
        kind, where = first.reduce.kind, first.reduce.where
        operands = [self._reduced(operand, where) for operand in first.reduce.operands]
        mask = None if where is None else self.value(where)
        reducer = combiner(kind) if isinstance(kind, Combination) else reducer_name(kind, first.dtype)
        self.block.add_op(ReduceOp(reducer, operands, mask))
        return Region(self.block)

    def _reduced(self, operand: Scalar, where: Scalar | None) -> SSAValue:
        """A value to be combined; where it takes no part it is not computed if that could read out of bounds."""
        if where is None or not (_depends_on_indices(operand, where) or self._may_leave_bounds([operand])):
            return self.value(operand)
        return self._choose(where, operand, Constant(operand.dtype, 0), operand.dtype)

    def value(self, scalar: Scalar) -> SSAValue:
        """The value, written where it is first needed."""
        key = (scalar.tensor, scalar.indices) if isinstance(scalar, Element) else scalar
        if key not in self.known:
            self.known[key] = self._write(scalar)
        return self.known[key]

    def _write(self, scalar: Scalar) -> SSAValue:
        match scalar:
            case Constant():
                return self.scalars.constant(scalar)
            case Element():
                return self._insert(self._read(scalar))
            case IndexData():
                index = self._insert(self._index_op(self._index(scalar.expr)))
                return self._insert(arith.IndexCastOp(index, type_of(scalar.dtype)))
            case Test():
                return self._choose(scalar, TRUE, FALSE, "bool") if _splits(scalar) else self._computed(scalar)
            case Cast():
                return self.scalars.cast(self.value(scalar.operand), scalar.operand.dtype, scalar.dtype)
            case Choice():
                return self._choice(scalar)
            case Apply():
                operands = [self.value(operand) for operand in scalar.operands]
                return self.scalars.apply(scalar.function, scalar.operands[0].dtype, *operands)
            case IntrinsicCall():
                operands = [self.value(operand) for operand in scalar.operands]
                return self._insert(self._call_op(scalar.intrinsic, operands, scalar.dtype))
            case _:
                raise AssertionError(f"{type(scalar).__name__} inside a body")

    # -- indices

    def _index(self, e: Expr) -> Expr:
        """An index over the kernel's axes, symbols and values."""
        return e.substitute({name: self._name(cast(Name, name)) for name in e.variables()})

    def _name(self, name: Name) -> Expr:
        if name.data is not None:
            return var(self._as_index(name.data))
        if name not in self.names and name in self.numbers:
            return var(self._as_index(self.numbers[name]))
        if name not in self.names:
            raise UsageError(
                f"compute '{self.stage}' uses '{name}', which is neither one of its axes nor a te.var of a shape, "
                "nor one among the arguments"
            )
        return self.names[name]

    def _as_index(self, data: Scalar) -> SSAValue:
        value = self.value(data)
        if not is_signed(data.dtype) and data.dtype != "uint64":
            value = self.scalars.cast(value, data.dtype, "int64")
        index = self._insert(arith.IndexCastOp(value, INDEX))
        index.name_hint = identifier(data.tensor.name) if isinstance(data, Element) else "data"
        return index

    def _predicate(self, test: Test) -> Predicate:
        return Predicate(self._index(test.predicate.expr), test.predicate.kind)

    def _computed(self, test: Test) -> SSAValue:
        """Whether a test holds, by arithmetic on numbers, which unlike a branch can be done in vectors."""
        value = self._number(self._index(test.predicate.expr))
        return self._insert(arith.CmpiOp(value, self._whole(0), "sge" if test.predicate.kind == ">=" else "eq"))

    def _number(self, e: Expr) -> SSAValue:
        """An index as a number: `te.index` of what is linear, arithmetic on the rest."""
        linear = Expr(tuple((atom, factor) for atom, factor in e.terms if isinstance(atom, Var)), e.offset)
        terms = [self._scaled(atom, factor) for atom, factor in e.terms if isinstance(atom, Compound)]
        if linear.terms:
            terms.append(self._insert(self._index_op(linear)))
        elif linear.offset or not terms:
            terms.append(self._whole(linear.offset))
        return fold(lambda a, b: self._insert(arith.AddiOp(a, b)), terms)

    def _scaled(self, atom: Compound, factor: int) -> SSAValue:
        value = self._compound(atom)
        return value if factor == 1 else self._insert(arith.MuliOp(value, self._whole(factor)))

    def _whole(self, number: int) -> SSAValue:
        return self._insert(arith.ConstantOp(IntegerAttr(number, INDEX)))

    def _compound(self, atom: Compound) -> SSAValue:
        first, *rest = [self._number(argument) for argument in atom.args]
        for other in rest:
            if atom.kind == "mod":
                first = self.scalars.floor_remainder(first, other)
            else:
                first = self._insert(_ON_INDICES[atom.kind](first, other))
        return first

    # -- choices

    def _choice(self, choice: Choice) -> SSAValue:
        if (choice.lazy and _needs_laziness(choice)) or self._may_leave_bounds([choice.then, choice.otherwise]):
            return self._choose(choice.condition, choice.then, choice.otherwise, choice.dtype)
        if all(isinstance(c, Test) and _splits(c) for c in conjuncts(choice.condition)):
            return self._choose(choice.condition, choice.then, choice.otherwise, choice.dtype)
        condition, then, otherwise = map(self.value, (choice.condition, choice.then, choice.otherwise))
        return self.scalars.select(condition, then, otherwise)

    def _may_leave_bounds(self, values: Sequence[Scalar]) -> bool:
        """Whether something that is read may lie outside of its tensor, as far as the ranges tell."""
        if self.domain is None:
            return False
        indices = [pair for read in elements_read(values) for pair in zip(read.indices, read.tensor.dims, strict=True)]
        named = [(self._renamed(index), self._renamed(size)) for index, size in indices]
        within = [p for index, size in named for p in (at_least(index, 0), less_than(index, size))]
        return not all(self.domain.proves(p) for p in within)

    def _renamed(self, e: Expr) -> Expr:
        """An index over the kernel's axes and symbols, and over names of data."""
        return e.substitute({name: self.names.get(cast(Name, name), var(name)) for name in e.variables()})

    def _choose(self, condition: Scalar, then: Scalar, otherwise: Scalar, dtype: str) -> SSAValue:
        """Only the value that the condition selects is computed; `te.if_then_else` takes conjunctions of indices."""
        match condition:
            case Apply(function="not"):
                return self._choose(condition.operands[0], otherwise, then, dtype)
            case Apply(function="or"):
                a, b = condition.operands
                neither = Apply("bool", "and", (Apply("bool", "not", (a,)), Apply("bool", "not", (b,))))
                return self._choose(neither, otherwise, then, dtype)
            case _:
                pass
        # indices first: the data that another part reads may be out of bounds where they do not hold
        parts = sorted(conjuncts(condition), key=lambda part: bool(elements_read([part])))
        when = [p for p in parts if isinstance(p, Test)] or [p for p in parts if not _is_compound(p)]
        rest = [p for p in parts if all(p is not w for w in when)]
        if not when:
            when, rest = parts[:1], parts[1:]
        inner = Choice(dtype, _conjunction(rest), then, otherwise, lazy=True) if rest else then
        if _is_compound(when[0]):
            return self._choose(when[0], inner, otherwise, dtype)
        predicates = [self._predicate(p) if isinstance(p, Test) else self._holds(p) for p in when]
        return self._insert(self._if_op(predicates, dtype, self._branch(inner), self._branch(otherwise)))

    def _holds(self, condition: Scalar) -> Predicate:
        """A bool that is data, as a predicate."""
        return self._positive(self.value(condition))

    def _positive(self, condition: SSAValue) -> Predicate:
        number = self.scalars.cast(condition, "bool", "int64")
        return at_least(var(self._insert(arith.IndexCastOp(number, INDEX))), 1)

    def _branch(self, value: Scalar) -> Region:
        outer_block, outer_known = self.block, self.known
        self.block, self.known = Block(), dict(outer_known)
        self.block.add_op(self._yield_op(self.value(value)))
        region = Region(self.block)
        self.block, self.known = outer_block, outer_known
        return region

    # -- the operations of the level

    def _read(self, element: Element) -> Operation:
        return ReadOp(self.tensors[element.tensor], [self._index(e) for e in element.indices])

    def _index_op(self, e: Expr) -> Operation:
        return IndexOp(e)

    def _if_op(self, when: Sequence[Predicate], dtype: str, then: Region, otherwise: Region) -> Operation:
        return IfThenElseOp(when, type_of(dtype), then, otherwise)

    def _yield_op(self, value: SSAValue) -> Operation:
        return YieldOp([value])

    def _call_op(self, intrinsic: str, operands: Sequence[SSAValue], dtype: str) -> Operation:
        return CallIntrinsicOp(intrinsic, operands, type_of(dtype))

    def _insert(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]


def conjuncts(condition: Scalar) -> list[Scalar]:
    """The conditions that a conjunction is made of."""
    if isinstance(condition, Apply) and condition.function == "and":
        return [part for operand in condition.operands for part in conjuncts(operand)]
    return [condition]


_ON_INDICES = {"floordiv": arith.FloorDivSIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp, "product": arith.MuliOp}


def _splits(test: Test) -> bool:
    """Whether a test holds from some index on, or up to one: loops can be split there, and ask nothing inside."""
    linear = all(isinstance(atom, Var) for atom, _ in test.predicate.expr.terms)
    return linear and test.predicate.kind == ">="


def _conjunction(parts: list[Scalar]) -> Scalar:
    result = parts[0]
    for part in parts[1:]:
        result = Apply("bool", "and", (result, part))
    return result


def _is_compound(condition: Scalar) -> bool:
    return isinstance(condition, Apply) and condition.function in ("not", "or")


def _needs_laziness(choice: Choice) -> bool:
    """Whether something read may be out of bounds: what a side reads and the condition does not.

    Or what the condition reads, where it tests indices as well.
    """
    condition = [choice.condition]
    read = {(e.tensor, e.indices) for e in elements_read(condition)}
    inside = {(e.tensor, e.indices) for e in elements_read([choice.then, choice.otherwise])}
    return not inside <= read or (bool(read) and any(isinstance(value, Test) for value in walk(condition)))


def _depends_on_indices(operand: Scalar, where: Scalar) -> bool:
    """Whether a condition on what is read tests indices, at which loops can be split, then."""
    return bool(elements_read([operand])) and any(isinstance(value, Test) for value in walk([where]))


def example_against(reduce: Reduce, find: Callable[..., str | None]) -> str | None:
    """What one of the functions of `dialects.te.reducers` finds against a reducer; None for one that has a name."""
    if not isinstance(reduce.kind, Combination):
        return None
    identities, region = combiner(reduce.kind)
    known = [number_attribute(o) if isinstance(o, Constant) else None for o in reduce.operands]
    return find(reduce.kind.name, identities, region.block, known)


def combiner(combination: Combination) -> tuple[list[Number], Region]:
    """The identities and the region of a reducer of the program's own."""
    types = [type_of(v.dtype) for v in combination.left]
    block = Block(arg_types=[*types, *types])
    writer = BodyWriter("reducer", {}, {})
    writer.block = block
    for variable, argument in zip((*combination.left, *combination.right), block.args, strict=True):
        writer.known[variable] = argument
    block.add_op(YieldOp([writer.value(value) for value in combination.combined]))
    return [number_attribute(value) for value in combination.identities], Region(block)
