"""The body of a vectorized loop on vectors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Compound, Expr, const, maximum, minimum
from tilework.algebra.predicate import Predicate, at_least
from tilework.analysis.domains import ends_from
from tilework.analysis.lanes import is_lane_mask, lane_choice
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, LoadOp, StoreOp, YieldOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import set_access


class VectorBody:
    """Rewrites the body of a loop in place, so that it stands for all iterations at once.

    Values that differ between lanes become vectors; those that do not stay scalar and are broadcast where they meet a
    vector. The loop's index stands for its lower bound afterwards. Requires that `why_serial` finds nothing, and
    subscripts that are affine in the index.
    """

    def __init__(self, loop: ForOp, lanes: int):
        self.body = loop.body.block
        self.index = loop.index
        self.lower = loop.lower
        self.lanes = lanes
        self.vectors: dict[SSAValue, SSAValue] = {}
        self.private: dict[SSAValue, SSAValue] = {}
        self.broadcasts: dict[tuple[SSAValue, Block], SSAValue] = {}
        self.replaced: list[Operation] = []

    def rewrite(self, count: Expr | None) -> None:
        """Rewrite the body of the loop; only the first `count` lanes run, all for None."""
        self._block(self.body, count)
        for op in reversed(self.replaced):
            op.detach()
            op.erase()

    def _block(self, block: Block, count: Expr | None) -> None:
        for op in list(block.ops):
            if self._operation(op, count):
                self.replaced.append(op)

    def _operation(self, op: Operation, count: Expr | None) -> bool:
        """Rewrite one operation; True where new ones replace it."""
        match op:
            case LoadOp():
                return self._load(op, count)
            case StoreOp():
                return self._store(op, count)
            case memref.AllocaOp():
                return self._allocate(op)
            case ForOp():
                self._block(op.body.block, count)
                return False
            case IfOp():
                return self._condition(op, count)
            case YieldOp():
                return False
            case ApplyOp():
                return self._number(op)
            case _:
                return self._elementwise(op)

    # -- memory

    def _load(self, op: LoadOp, count: Expr | None) -> bool:
        buffer, e, stride = self._place(op)
        if stride == 0:
            set_access(op, [e])
            return False
        new = LoadOp(buffer, [e], self._vector_type(op.result.type), stride, self._counted(op, count))
        new.result.name_hint = op.result.name_hint
        self._insert(new, op)
        self.vectors[op.result] = new.result
        return True

    def _store(self, op: StoreOp, count: Expr | None) -> bool:
        buffer, e, stride = self._place(op)
        if stride == 0:
            set_access(op, [e])
            return False
        self._insert(StoreOp(self._vector(op.value, op), buffer, [e], stride, self._counted(op, count)), op)
        return True

    def _place(self, op: LoadOp | StoreOp) -> tuple[SSAValue, Expr, int]:
        """Buffer, subscript of the first lane, and elements between lanes; 0 for an access common to all lanes."""
        (e,) = op.exprs
        assert e.is_affine_in(self.index), f"{op.memref.name_hint}[{e}] has no distance between lanes"
        first, stride = e.substitute({self.index: self.lower}), e.coefficient(self.index)
        if op.memref in self.private:
            # element i of lane l is at lanes * i + l
            return self.private[op.memref], self.lanes * first, self.lanes * stride + 1
        return op.memref, first, stride

    def _counted(self, op: LoadOp | StoreOp, count: Expr | None) -> Expr | None:
        """How many lanes an access touches: all, where every lane has its own element, which lets it be a register."""
        return None if op.memref in self.private else count

    def _allocate(self, op: memref.AllocaOp) -> bool:
        """Give every lane a copy of a local buffer, elements of the same index side by side."""
        type_ = op.memref.type
        [size] = type_.get_shape()
        new_type = MemRefType(type_.element_type, [size * self.lanes], memory_space=type_.memory_space)
        new = memref.AllocaOp(operands=[[], []], result_types=[new_type], properties={"alignment": op.alignment})
        new.memref.name_hint = op.memref.name_hint
        self._insert(new, op)
        self.private[op.memref] = new.memref
        return True

    # -- values

    def _number(self, op: ApplyOp) -> bool:
        """The number of the first lane, and how far from it the others are."""
        step = op.value.coefficient(self.index)
        if step == 0:
            return False
        first = ApplyOp(op.value.substitute({self.index: self.lower}))
        type_ = VectorType(IndexType(), [self.lanes])
        broadcast = vector.BroadcastOp(first.result, type_)
        apart = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [step * i for i in range(self.lanes)]))
        numbers = arith.AddiOp(broadcast.vector, apart.result)
        for new in (first, broadcast, apart, numbers):
            self._insert(new, op)
        self.vectors[op.result] = numbers.result
        return True

    def _elementwise(self, op: Operation) -> bool:
        if not any(operand in self.vectors for operand in op.operands):
            return False
        new = type(op).create(
            operands=[self._vector(operand, op) for operand in op.operands],
            result_types=[self._vector_type(result.type) for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
        )
        self._insert(new, op)
        for old_result, new_result in zip(op.results, new.results, strict=True):
            new_result.name_hint = old_result.name_hint
            self.vectors[old_result] = new_result
        return True

    def _vector(self, value: SSAValue, at: Operation) -> SSAValue:
        """The vector that stands for a value; one that is common to all lanes is broadcast in front of `at`."""
        if value in self.vectors:
            return self.vectors[value]
        block = at.parent_block()
        assert block is not None
        if (value, block) not in self.broadcasts:
            broadcast = vector.BroadcastOp(value, self._vector_type(value.type))
            broadcast.vector.name_hint = value.name_hint
            self._insert(broadcast, at)
            self.broadcasts[value, block] = broadcast.vector
        return self.broadcasts[value, block]

    def _vector_type(self, element: Attribute) -> VectorType[Attribute]:
        return VectorType(element, [self.lanes])

    # -- conditions

    def _condition(self, op: IfOp, count: Expr | None) -> bool:
        load = lane_choice(op)  # of a masked loop: `why_serial` finds fault with others
        if load is not None and any(self.index in p.expr.variables() for p in op.conditions):
            return self._choice(op, load, count)
        if is_lane_mask(op) and any(self.index in p.expr.variables() for p in op.conditions):
            return self._mask(op)
        conditions, count = self._lane_conditions(op.conditions, count)
        for body in op.regions:
            for block in body.blocks:
                self._block(block, count)
        if conditions != op.conditions:
            op.set_conditions(conditions)
        yields = [block.last_op for body in op.regions for block in body.blocks]
        differs = [
            any(isinstance(y, YieldOp) and y.values[i] in self.vectors for y in yields) for i in range(len(op.outputs))
        ]
        if not any(differs):
            return False
        self._vector_results(op, [y for y in yields if isinstance(y, YieldOp)], differs)
        return True

    def _choice(self, op: IfOp, load: LoadOp, count: Expr | None) -> bool:
        """Lanes that pass the conditions load, the others have what is in the other arm."""
        shared = [p for p in op.conditions if self.index not in p.expr.variables()]
        ends = [ends_from(p, self.index) for p in op.conditions if p not in shared]
        first = maximum(0, *(first - self.lower for first, _ in ends if first is not None))
        lanes = const(self.lanes) if count is None else count
        end = minimum(*(last + 1 - self.lower for _, last in ends if last is not None), lanes)
        otherwise = op.else_body.block
        for constant in list(otherwise.ops)[:-1]:
            constant.detach()
            self._insert(constant, op)
        buffer, e, stride = self._place(load)
        rest, type_ = _yield_of(otherwise).values[0], self._vector_type(load.result.type)
        masked = LoadOp(buffer, [e], type_, stride, end, None if first == const(0) else first, rest)
        masked.result.name_hint = load.result.name_hint
        if not shared:
            self._insert(masked, op)
            self.vectors[op.outputs[0]] = masked.result
            return True
        self._insert(masked, load)
        self.vectors[load.result] = masked.result
        self.replaced.append(load)
        op.set_conditions(shared)
        self._vector_results(op, [_yield_of(op.then_body.block), _yield_of(otherwise)], [True])
        return True

    def _mask(self, op: IfOp) -> bool:
        """Whether the conditions hold, for each lane."""
        masks = [self._passing(p, op) for p in op.conditions]
        while len(masks) > 1:
            both = arith.AndIOp(masks.pop(), masks.pop())
            self._insert(both, op)
            masks.append(both.result)
        self.vectors[op.outputs[0]] = masks[0]
        return True

    def _passing(self, p: Predicate, op: IfOp) -> SSAValue:
        """Whether one condition holds, for each lane."""
        number = ApplyOp(p.expr)
        self._insert(number, op)
        if self._number(number):
            self.replaced.append(number)
        numbers = self._vector(number.result, op)
        type_ = VectorType(IndexType(), [self.lanes])
        zeros = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [0] * self.lanes))
        passing = arith.CmpiOp(numbers, zeros, "sge" if p.kind == ">=" else "eq")
        for new in (zeros, passing):
            self._insert(new, op)
        return passing.result

    def _lane_conditions(
        self, conditions: Sequence[Predicate], count: Expr | None
    ) -> tuple[tuple[Predicate, ...], Expr | None]:
        """The conditions that all lanes share, and how many lanes, the first ones, pass the others."""
        shared = [p for p in conditions if self.index not in p.expr.variables()]
        ends = [ends_from(p, self.index)[1] for p in conditions if p not in shared]
        if not ends:
            return tuple(shared), count
        passing = minimum(
            *(last + 1 - self.lower for last in ends if last is not None), self.lanes if count is None else count
        )
        return (*shared, *some_lane(passing)), passing

    def _vector_results(self, op: IfOp, yields: Sequence[YieldOp], differs: Sequence[bool]) -> None:
        """Rebuild a conditional of which some results differ between lanes."""
        for y in yields:
            values = [self._vector(v, y) if d else v for v, d in zip(y.values, differs, strict=True)]
            self._insert(YieldOp(values), y)
            y.detach()
            y.erase()
        types = [self._vector_type(r.type) if d else r.type for r, d in zip(op.outputs, differs, strict=True)]
        bodies: list[Region] = [op.detach_region(region) for region in list(op.regions)]
        new = IfOp(op.conditions, bodies[0], bodies[1], types)
        self._insert(new, op)
        for old_result, new_result, d in zip(op.outputs, new.outputs, differs, strict=True):
            new_result.name_hint = old_result.name_hint
            if d:
                self.vectors[old_result] = new_result
            else:
                old_result.replace_all_uses_with(new_result)

    def _insert(self, new: Operation, before: Operation) -> None:
        copy_location(new, before)
        block = before.parent_block()
        assert block is not None
        block.insert_op_before(new, before)


def _yield_of(block: Block) -> YieldOp:
    last = block.last_op
    assert isinstance(last, YieldOp)
    return last


def some_lane(count: Expr) -> tuple[Predicate, ...]:
    """The conditions under which `count` is 1 or more."""
    atom = count.terms[0][0] if len(count.terms) == 1 and count.terms[0][1] == 1 and not count.offset else None
    ends = atom.args if isinstance(atom, Compound) and atom.kind == "min" else (count,)
    return tuple(p for p in (at_least(end, 1) for end in ends) if p.constant is not True)
