"""The statements of a te.extern as operations of the loop level."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import Predicate
from tilework.dialects import loop
from tilework.frontends.te.buffers import Store
from tilework.frontends.te.calls import ExternCall
from tilework.frontends.te.dtypes import element_type_of, type_of
from tilework.frontends.te.index import Name, to_index
from tilework.frontends.te.ir_builder import Allocate, For, If, Statements
from tilework.frontends.te.kernel_body import FALSE, TRUE, BodyWriter, conjuncts
from tilework.frontends.te.scalar import Scalar, Test
from tilework.frontends.te.tensor import Element, Tensor


class ExternWriter(BodyWriter):
    """Writes statements into a block. buffers: the memref of every buffer; names: the index for every symbol."""

    def __init__(self, stage: str, block: Block, buffers: Mapping[Tensor, SSAValue], names: Mapping[Name, Expr]):
        super().__init__(stage, buffers, names)
        self.block = block

    def write_statements(self, statements: Statements) -> None:
        """Append them. Raises UsageError for a variable or a buffer of another block."""
        for statement in statements:
            self.known = {}  # a store may have changed what was read
            match statement:
                case Store():
                    self._store(statement)
                case For():
                    self._for(statement)
                case If():
                    self._if(statement)
                case Allocate():
                    self._allocate(statement)
                case ExternCall():
                    raise UsageError(
                        f"extern '{self.stage}' calls '{statement.name}' of C among statements: call a function of "
                        "Python by te.call_packed, or declare an instruction by te.decl_tensor_intrin"
                    )

    def _store(self, store: Store) -> None:
        value, target = self.value(store.value), self._buffer(store.element.tensor)
        self.block.add_op(loop.StoreOp(value, target, [self._index(e) for e in store.element.indices]))

    def _for(self, statement: For) -> None:
        axis = statement.axis
        assert axis.dom is not None
        first, extent = self._index(to_index(axis.dom.min)), self._index(to_index(axis.dom.extent))
        op = loop.ForOp(first, first + extent, axis.name, None, statement.kind)
        self.block.add_op(op)
        with self._inside(op.body.block):
            self.names = {**self.names, axis.key: var(op.index)}
            self.write_statements(statement.body)

    def _if(self, statement: If) -> None:
        when = self._predicates(statement.condition)
        otherwise = self._region(statement.otherwise) if statement.otherwise else None
        self.block.add_op(loop.IfOp(when, self._region(statement.then), otherwise))

    def _region(self, statements: Statements) -> Region:
        block = Block()
        with self._inside(block):
            self.write_statements(statements)
        return Region(block)

    def _allocate(self, statement: Allocate) -> None:
        buffer = statement.buffer
        shape = [size for dim in buffer.dims if (size := dim.constant) is not None]
        type_ = MemRefType(element_type_of(buffer.dtype), shape, memory_space=StringAttr(statement.scope))
        op = memref.AllocaOp(operands=[[], []], result_types=[type_], properties={"alignment": None})
        op.memref.name_hint = buffer.name
        self.tensors = {**self.tensors, buffer: self._insert(op)}

    def _predicates(self, condition: Scalar) -> list[Predicate]:
        """Those that indices satisfy as they are; any other condition is computed first, no more than it needs."""
        parts = [part for part in conjuncts(condition) if isinstance(part, Test)]
        if len(parts) == len(conjuncts(condition)):
            return [self._predicate(part) for part in parts]
        return [self._positive(self._choose(condition, TRUE, FALSE, "bool"))]

    @contextmanager
    def _inside(self, block: Block) -> Generator[None]:
        """Append to that block; what becomes known in it is forgotten."""
        outer = self.block, self.names, self.tensors
        self.block = block
        yield
        self.block, self.names, self.tensors = outer

    # -- the operations of the level

    def _name(self, name: Name) -> Expr:
        if name.data is None and name not in self.names:
            raise UsageError(
                f"extern '{self.stage}' uses '{name}', which is neither a loop around nor a te.var of a shape"
            )
        return super()._name(name)

    def _buffer(self, tensor: Tensor) -> SSAValue:
        if tensor not in self.tensors:
            raise UsageError(
                f"extern '{self.stage}' uses '{tensor.name}', which is no buffer here: take ins, outs, or allocate it "
                "in this block"
            )
        return self.tensors[tensor]

    def _read(self, element: Element) -> Operation:
        return loop.LoadOp(self._buffer(element.tensor), [self._index(e) for e in element.indices])

    def _index_op(self, e: Expr) -> Operation:
        return loop.ApplyOp(e)

    def _if_op(self, when: Sequence[Predicate], dtype: str, then: Region, otherwise: Region) -> Operation:
        return loop.IfOp(when, then, otherwise, [type_of(dtype)])

    def _yield_op(self, value: SSAValue) -> Operation:
        return loop.YieldOp([value])

    def _call_op(self, intrinsic: str, operands: Sequence[SSAValue], dtype: str) -> Operation:
        return loop.CallIntrinsicOp(intrinsic, operands, type_of(dtype))
