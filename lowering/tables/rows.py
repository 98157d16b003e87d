"""What patterns insert in front of an operation on rows: operators on tensors of their elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects.arith import ConstantOp
from tilework.dialects.bag import BagType, PackOp, bag_of, layout_of
from tilework.dialects.graph import ConcatOp, GatherOp, PositionsOp, ReshapeOp, SectionOp, SizeOp
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.matrix import FromTensorOp, MatrixType, ToTensorOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

Write = Callable[..., Tensor]
"""Appends stages to a kernel, given its builder and its arguments."""

WriteAll = Callable[..., Sequence[Tensor]]
"""Appends stages of several results."""

Place = tuple[int, int]
"""Which argument of a kernel a column lies in, and which column of it."""


class Rows:
    """Inserts operators in front of one that a pattern rewrites."""

    def __init__(self, op: Operation, rewriter: PatternRewriter):
        self._op = op
        self._rewriter = rewriter

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operator; its result."""
        self._rewriter.insert(op)
        return op.results[0]

    def tensor(self, value: SSAValue) -> SSAValue:
        """The elements of a matrix; a tensor as it is."""
        if not isinstance(value.type, MatrixType):
            return value
        owner = value.owner
        return owner.input if isinstance(owner, FromTensorOp) else self.insert(ToTensorOp.of(value))

    def columns(self, tensor: SSAValue, which: Sequence[int]) -> SSAValue:
        """Some columns of a tensor of rows."""
        if list(which) == list(range(dims_of(tensor.type)[1].constant or 0)):
            return tensor
        runs = [self.kernel("columns", [tensor], _section(start, length)) for start, length in _runs(which)]
        return runs[0] if len(runs) == 1 else self.beside(runs)

    def numbers(self, values: Sequence[int]) -> SSAValue:
        """Integers that are known, as a vector."""
        return self.insert(ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(values)]), list(values))))

    def beside(self, tensors: Sequence[SSAValue]) -> SSAValue:
        """The columns of several tensors of the same rows."""
        return self.insert(ConcatOp.of(*tensors, axis=IntegerAttr(1, i64)))

    def column(self, bag: PackOp, name: str) -> SSAValue:
        """One column of a packed bag, as a tensor of one column."""
        tensor, at = place_of(bag, name)
        return self.columns(tensor, [at])

    def packed(self, bag: BagType, columns: Mapping[str, SSAValue]) -> SSAValue:
        """The table of that type with these columns, each a tensor of one column."""
        parts = [[columns[name] for name in part.columns] for part in layout_of(bag)]
        return self.insert(PackOp.holding([p[0] if len(p) == 1 else self.beside(p) for p in parts], bag))

    def vector(self, column: SSAValue) -> SSAValue:
        """A tensor of one column as a vector."""
        return self.insert(ReshapeOp.of(column, shape=DimsAttr(dims_of(column.type)[:1])))

    def at(self, tensor: SSAValue, places: SSAValue) -> SSAValue:
        """The rows with these numbers."""
        return self.insert(GatherOp.of(tensor, places, axis=IntegerAttr(0, i64)))

    def places(self, holds: SSAValue, count: str) -> SSAValue:
        """The numbers of the rows at which a column of truth values holds; `count` is what their number is called."""
        size = dims_of(holds.type)[0]
        found = PositionsOp.of(self.vector(holds))
        self.insert(found)
        told = self.insert(SizeOp(count, found.count, size))
        first, zero = DimsAttr((var(count),)), DimsAttr((const(0),))
        return self.insert(SectionOp.of(found.positions, told, axis=IntegerAttr(0, i64), start=zero, size=first))

    def kernel(self, name: str, operands: Sequence[SSAValue], write: Write) -> SSAValue:
        """An operator that is defined element by element, by what `write` appends to its kernel."""

        def write_all(k: KernelBuilder, *arguments: Tensor) -> Sequence[Tensor]:
            return [write(k, *arguments)]

        return self.kernels(name, operands, write_all)[0]

    def kernels(self, name: str, operands: Sequence[SSAValue], write: WriteAll) -> Sequence[SSAValue]:
        """An operator of several results."""
        k = KernelBuilder(name)
        arguments = [k.argument(value.type, value.name_hint or f"x{i}") for i, value in enumerate(operands)]
        op = KernelOp.holding(k.finish(write(k, *arguments)), operands)
        self.insert(op)
        return op.results

    def done(self, tensor: SSAValue) -> None:
        """Let a tensor take the place of the operation's result."""
        type_ = self._op.results[0].type
        if isinstance(type_, MatrixType):
            self._rewriter.replace(self._op, FromTensorOp.of(tensor, origins=type_.origins))
        else:
            self._rewriter.replace(self._op, [], [tensor])


def place_of(bag: PackOp, column: str) -> tuple[SSAValue, int]:
    """The tensor that a column of a packed bag lies in, and where."""
    for part, tensor in zip(layout_of(bag_of(bag.result)), bag.tensors, strict=True):
        if column in part.columns:
            return tensor, part.columns.index(column)
    raise AssertionError(f"the verifier has seen column {column}")


def places_of(bag: PackOp, columns: Sequence[str]) -> tuple[list[SSAValue], dict[str, Place]]:
    """The tensors of a packed bag that a kernel takes which reads these columns, and where it finds each of them."""
    found = {name: place_of(bag, name) for name in columns}
    tensors = list(dict.fromkeys([tensor for tensor, _ in found.values()] or [bag.tensors[0]]))
    return tensors, {name: (tensors.index(tensor), at) for name, (tensor, at) in found.items()}


def _section(start: int, length: int) -> Write:
    def write(k: KernelBuilder, x: Tensor) -> Tensor:
        def element(n: Expr, j: Expr) -> Scalar:
            return x[n, j + start]

        return k.compute("columns", (x.dims[0], length), element)

    return write


def _runs(which: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the number of columns that follow each other."""
    start = 0
    for i in range(1, len(which) + 1):
        if i == len(which) or which[i] != which[i - 1] + 1:
            yield which[start], i - start
            start = i


def inlined(k: KernelBuilder, body: Block, arguments: Sequence[Scalar]) -> list[Scalar]:
    """What a function makes of these arguments, in the body that is being written."""
    values: dict[SSAValue, SSAValue] = {old: new.value for old, new in zip(body.args, arguments, strict=True)}
    for op in body.ops:
        if op is body.last_op:
            return [Scalar(values[value], k) for value in op.operands]
        k.insert(op.clone(values))
    raise AssertionError("a function has a last operation")
