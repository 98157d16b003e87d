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
from tilework.dialects.loop import Kind
from tilework.frontends.te.arguments import check_scope, check_text, check_word
from tilework.frontends.te.buffers import Buffer, Store, store_of
from tilework.frontends.te.calls import ExternCall
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.index import Index, IterVar, Range, shape_of, to_index
from tilework.frontends.te.scalar import Scalar, as_condition

KINDS = {"serial": Kind.SERIAL, "parallel": Kind.PARALLEL, "vectorize": Kind.VECTORIZED, "unroll": Kind.UNROLLED}
"""How a loop runs, by TVM's words."""


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


Statement: TypeAlias = Store | For | If | Allocate | ExternCall
Statements: TypeAlias = Sequence[Statement]


@dataclass(frozen=True, eq=False)
class Body:
    """What `ib.get()` gives: all statements."""

    statements: Statements


class BufferVar:
    """A buffer, read and written by an index for each dimension, or by one position: `C[i, j] = A[i * n + j] + 1`."""

    def __init__(self, builder: IRBuilder, buffer: Buffer):
        self.buffer = buffer
        self._builder = builder

    @property
    def dtype(self) -> str:
        """The element type."""
        return self.buffer.dtype

    def __getitem__(self, indices: object) -> Scalar:
        return self.buffer(*self._indices(indices))

    def __setitem__(self, indices: object, value: object) -> None:
        self._builder.append(store_of(self.buffer, self._indices(indices), value))

    def _indices(self, indices: object) -> tuple[object, ...]:
        """One for each dimension: a single one counts the elements of all rows."""
        given = cast("tuple[object, ...]", indices) if isinstance(indices, tuple) else (indices,)
        if len(given) != 1 or self.buffer.ndim == 1:
            return given
        position = Index(to_index(given[0]))
        places = zip(self.buffer.strides, self.buffer.shape, strict=True)
        return tuple(
            position // stride % size if at else position // stride for at, (stride, size) in enumerate(places)
        )


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
    def for_range(
        self, begin: object, end: object, name: str = "i", dtype: str = "int32", kind: str = "serial"
    ) -> Generator[IterVar]:
        """A loop from `begin` on and before `end`. Iterations of a parallel or vectorized one must be independent.

        dtype is TVM's: values of indices are int32.
        """
        check_text(name, "the name of a loop")
        check_word(dtype, ("int32", "int64"), f"for_range of '{name}': unknown dtype of an index")
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

    def emit(self, stmt: object) -> None:
        """Record a statement: a store that `vstore` of a buffer makes, or all of another builder's `get()`."""
        if isinstance(stmt, Body):
            self._open[-1].extend(stmt.statements)
        elif isinstance(stmt, Store | ExternCall):
            self.append(stmt)
        else:
            what = "buffer.vstore(...), te.call_extern(...) or what ib.get() gives"
            raise UsageError(f"emit takes {what}, not a {type(stmt).__name__}")

    def likely(self, expr: object) -> object:
        """The condition itself."""
        return expr

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
