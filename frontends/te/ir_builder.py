"""te.ir_builder: the statements of a te.extern, recorded as Python runs.

ib = te.ir_builder.create()
A, C = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
with ib.for_range(0, n, name="i") as i:
    C[i] = A[i] + 1
return ib.get()
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.dialects.loop import Kind
from tilework.frontends.te.arguments import check_scope, check_text, check_word
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.index import Index, IterVar, Range, shape_of, to_index
from tilework.frontends.te.scalar import Constant, Scalar, as_condition, as_scalar, cast_to
from tilework.frontends.te.tensor import Element, PlaceholderOp, Tensor, TensorSlice

KINDS = {"serial": Kind.SERIAL, "parallel": Kind.PARALLEL, "vectorize": Kind.VECTORIZED, "unroll": Kind.UNROLLED}
"""How a loop runs, by TVM's words."""


class Buffer(Tensor):
    """Memory of statements: where a tensor lives that te.extern reads or makes, or what they allocate."""

    def __init__(self, name: str, dims: tuple[Expr, ...], dtype: str):
        super().__init__(PlaceholderOp(name, "", None), dims, dtype)


@dataclass(frozen=True, eq=False)
class Store:
    """A value becomes an element of a buffer."""

    element: Element
    value: Scalar


@dataclass(frozen=True, eq=False)
class For:
    """Statements for every value of an axis."""

    axis: IterVar
    kind: Kind
    body: Statements


@dataclass(eq=False)
class If:
    """Statements where a condition holds, and others elsewhere."""

    condition: Scalar
    then: Statements
    otherwise: Statements = ()


@dataclass(frozen=True, eq=False)
class Allocate:
    """A buffer of a scope, for the statements behind in the same block."""

    buffer: Buffer
    scope: str


Statement: TypeAlias = Store | For | If | Allocate
Statements: TypeAlias = Sequence[Statement]


@dataclass(frozen=True, eq=False)
class Body:
    """What `ib.get()` gives: all statements."""

    statements: Statements


class BufferVar:
    """A buffer that is read and written by indices, one for each dimension: `C[i, j] = A[i, j] + 1`."""

    def __init__(self, builder: IRBuilder, buffer: Buffer):
        self.buffer = buffer
        self._builder = builder

    @property
    def dtype(self) -> str:
        """The element type."""
        return self.buffer.dtype

    def __getitem__(self, indices: object) -> Scalar | TensorSlice:
        return self.buffer[indices]

    def __setitem__(self, indices: object, value: object) -> None:
        given = cast("tuple[object, ...]", indices) if isinstance(indices, tuple) else (indices,)
        element = self.buffer(*given)
        assert isinstance(element, Element)
        scalar = as_scalar(value)
        if isinstance(scalar, Constant) and scalar.literal:
            scalar = cast_to(scalar, self.dtype)
        if scalar.dtype != self.dtype:
            raise UsageError(
                f"buffer '{self.buffer.name}' has elements of {self.dtype}, not {scalar.dtype}: convert with astype"
            )
        self._builder.append(Store(element, scalar))


@dataclass
class IRBuilder:
    """Records statements. `te.ir_builder.create()` makes one."""

    _open: list[list[Statement]] = field(default_factory=lambda: [[]])

    def buffer_ptr(self, buffer: Buffer) -> BufferVar:
        """A buffer of te.extern, to be read and written. Raises UsageError for anything else, tensors among it."""
        if not isinstance(buffer, Buffer):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"buffer_ptr takes one of ins and outs of te.extern, not a {type(buffer).__name__}")
        return BufferVar(self, buffer)

    def allocate(self, dtype: object, shape: object, name: str = "buf", scope: str = "global") -> BufferVar:
        """Memory for the statements behind in the same block; its size is constant."""
        check_text(name, "the name of a buffer")
        dims = shape_of(shape)
        if any(dim.constant is None for dim in dims):
            raise UsageError(f"allocate of '{name}': its size is a number, not {' x '.join(map(str, dims))}")
        check_scope(scope)
        buffer = Buffer(name, dims, check_dtype(dtype))
        self.append(Allocate(buffer, scope))
        return BufferVar(self, buffer)

    @contextmanager
    def for_range(self, begin: object, end: object, name: str = "i", kind: str = "serial") -> Generator[IterVar]:
        """A loop from `begin` on and before `end`. Iterations of a parallel or vectorized one must be independent."""
        check_text(name, "the name of a loop")
        check_word(kind, tuple(KINDS), f"for_range of '{name}': unknown kind")
        first = to_index(begin)
        axis = IterVar(Range(Index(first), Index(to_index(end) - first)), name)
        with self._block() as body:
            yield axis
        self.append(For(axis, KINDS[kind], body))

    @contextmanager
    def if_scope(self, cond: object) -> Generator[None]:
        """Statements where a condition holds."""
        condition = as_condition(cond)
        with self._block() as body:
            yield
        self.append(If(condition, body))

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """Statements where the condition of the if_scope right before does not hold."""
        last = self._open[-1][-1] if self._open[-1] else None
        if not isinstance(last, If) or last.otherwise:
            raise UsageError("else_scope stands right behind an if_scope")
        with self._block() as body:
            yield
        last.otherwise = body

    def get(self) -> Body:
        """All statements, what the function given to te.extern returns."""
        if len(self._open) > 1:
            raise UsageError("ib.get() inside a loop or a condition: call it behind them")
        return Body(self._open[0])

    def append(self, statement: Statement) -> None:
        """Record a statement in the block that is open."""
        self._open[-1].append(statement)

    @contextmanager
    def _block(self) -> Generator[list[Statement]]:
        body: list[Statement] = []
        self._open.append(body)
        yield body
        self._open.pop()


def create() -> IRBuilder:
    """A builder without statements."""
    return IRBuilder()
