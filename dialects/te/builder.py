"""Write te kernels in Python, with the words of the field.

    k = KernelBuilder("dense_relu")
    x, w = k.argument(x_type, "x"), k.argument(w_type, "w")
    dense = k.compute("dense", (1, 32), lambda i, j: k.sum((64,), lambda k_: x[i, k_] * w[j, k_]))
    relu = k.compute("relu", (1, 32), lambda i, j: k.max(dense[i, j], 0.0))
    kernel = k.finish([relu])

Axes take the names of the lambda's parameters (a trailing `_` is dropped), as in TVM. Tensors are indexed by index
expressions; the elements are `Scalar`s, whose operators write `arith` and `math` operations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    bf16,
    f16,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, ExprLike, to_expr, var
from tilework.algebra.predicate import Predicate, at_least
from tilework.dialects import arith, loop
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of, scalar_type, tensor_type
from tilework.dialects.te import (
    ComputeOp,
    ExternOp,
    IfThenElseOp,
    IndexOp,
    KernelOp,
    ReadOp,
    ReduceOp,
    ReturnOp,
    ScanOp,
    StateOp,
    YieldOp,
    buffers_block,
    symbols_in,
)
from tilework.dialects.te.builder_scalars import (
    UNARY,
    UNARY_INTEGER,
    IndexLike,
    Reduction,
    Scalar,
    ScalarLike,
    Tensor,
    Writer,
    conversion,
    is_unsigned,
)
from tilework.dialects.te.operands import INDEX
from tilework.dialects.te.reduce import Number

__all__ = ["KernelBuilder", "Reduction", "Scalar", "ScalarLike", "Tensor"]


class KernelBuilder(Writer):
    """Builds one `te.kernel`."""

    def __init__(self, name: str):
        self.name = name
        self.block = Block()
        self._at = Builder(InsertPoint.at_end(self.block))
        self._symbols: set[str] = set()
        self._stages: set[str] = set()

    # -- tensors

    def argument(self, type_: Attribute, name: str) -> Tensor:
        """Append a kernel argument of that tensor type."""
        value = self.block.insert_arg(type_, len(self.block.args))
        value.name_hint = name
        for dim in dims_of(type_):
            self._symbols |= {cast(str, key) for key in dim.variables()}
        return Tensor(value, self)

    def compute(
        self,
        stage: str,
        dims: Sequence[ExprLike],
        body: Callable[..., ScalarLike | Reduction],
        dtype: Attribute | None = None,
        role: str | None = None,
    ) -> Tensor:
        """Append a compute whose element at the axes is `body(*axes)`; `stage` gets a suffix if it is taken.

        `dtype` is needed only where the body is a Python number. `role` says to rules which part of an algorithm it is.
        """
        [tensor] = self.compute_all(stage, dims, body, None if dtype is None else [dtype], role)
        return tensor

    def compute_all(
        self,
        stage: str,
        dims: Sequence[ExprLike],
        body: Callable[..., ScalarLike | Sequence[ScalarLike] | Reduction],
        dtypes: Sequence[Attribute] | None = None,
        role: str | None = None,
    ) -> list[Tensor]:
        """Append a compute of several results: their elements at the axes are `body(*axes)`.

        `dtypes` are needed only where elements are Python numbers. `role` says to rules which part of an algorithm it
        is.
        """
        axes = self._name_axes(body, dims, taken=self._symbols)
        block = Block()
        with self.inside(block):
            element = body(*(var(n) for n, _ in axes))
            if isinstance(element, Reduction):
                taken = self._symbols | {n for n, _ in axes}
                reduce_axes = self._name_axes(element.body, element.extents, taken)
                values = self._reduce(element, [var(n) for n, _ in reduce_axes], dtypes)
            else:
                reduce_axes = []
                values = self._scalars(element, dtypes)
                self.insert(YieldOp([v.value for v in values]))
        types = [tensor_type(dims, v.dtype) for v in values]
        part = None if role is None else StringAttr(role)
        op = ComputeOp(self.unique_stage(stage), axes, reduce_axes, types, Region(block), part)
        self._at.insert(op)
        return [Tensor(result, self) for result in op.results]

    def state(self, dims: Sequence[ExprLike], dtype: Attribute) -> Tensor:
        """What the steps of a scan know of its result, their first axis being time."""
        op = StateOp(tensor_type(dims, dtype))
        self._at.insert(op)
        return Tensor(op.result, self)

    def scan(
        self,
        stage: str,
        inits: Sequence[Tensor],
        updates: Sequence[Tensor],
        states: Sequence[Tensor],
        outputs: Sequence[Tensor] = (),
        axis: str = "t",
        independent: Sequence[str] = (),
    ) -> list[Tensor]:
        """Append a scan of these states, then what each step puts out: the histories, and the outputs of all steps.

        Time starts behind the inits and ends with the states. Axes behind time that are `independent` of it get names.
        """
        first, following, before, out = ([t.value for t in group] for group in (inits, updates, states, outputs))
        bounds = inits[0].dims[0], states[0].dims[0]
        op = ScanOp(self.unique_stage(stage), axis, bounds, first, following, before, out, independent)
        self._at.insert(op)
        return [Tensor(result, self) for result in op.results]

    def extern(
        self,
        stage: str,
        inputs: Sequence[Tensor],
        types: Sequence[Attribute],
        write: Callable[[Sequence[SSAValue], Callable[[Expr], Expr]], None],
    ) -> list[Tensor]:
        """Append tensors of these types that statements of the loop level fill.

        `write(buffers, here)` inserts the statements. It is given buffers of inputs and results, and what makes an
        expression over symbols one over their values.
        """
        symbols = symbols_in(self.block.arg_types)
        block = buffers_block([t.value.type for t in inputs], types, symbols)
        buffers, values = block.args[: len(inputs) + len(types)], block.args[len(inputs) + len(types) :]
        known = {symbol: var(value) for symbol, value in zip(symbols, values, strict=True)}
        names = [*(t.value.name_hint for t in inputs), *[identifier(stage)] * len(types), *symbols]
        for argument, name in zip(block.args, names, strict=True):
            argument.name_hint = name
        with self.inside(block):
            write(buffers, lambda e: e.substitute(known))
        op = ExternOp(self.unique_stage(stage), [t.value for t in inputs], types, symbols, Region(block))
        self._at.insert(op)
        return [Tensor(result, self) for result in op.results]

    def for_each(
        self,
        extents: Sequence[Expr],
        body: Callable[..., None],
        kind: loop.Kind = loop.Kind.SERIAL,
        when: Sequence[Predicate] = (),
    ) -> None:
        """Insert loops in an extern; `body` inserts what they do at their indices.

        The outermost is of that kind; if it is parallel, `when` says where it is worth several threads.
        """

        def nest(*around: Expr) -> None:
            depth = len(around)
            if depth == len(extents):
                body(*around)
                return
            outermost = loop.ForOp(0, extents[0], "i0", kind=kind, when=when)
            each = loop.ForOp(0, extents[depth], f"i{depth}") if depth else outermost
            self.insert(each)
            with self.inside(each.body.block):
                nest(*around, var(each.index))

        nest()

    def finish(self, results: Sequence[Tensor]) -> KernelOp:
        """The kernel that returns these tensors."""
        self._at.insert(ReturnOp([r.value for r in results]))
        types = FunctionType.from_lists(list(self.block.arg_types), [r.value.type for r in results])
        return KernelOp(self.name, types, Region(self.block))

    # -- reductions

    def sum(
        self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike], where: Callable[..., Scalar] | None = None
    ) -> Reduction:
        """The sum over reduce axes of these extents, which may depend on the compute's axes."""
        return Reduction("add", tuple(extents), body, where)

    def reduce_max(
        self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike], where: Callable[..., Scalar] | None = None
    ) -> Reduction:
        """The maximum over reduce axes; NaN wins."""
        return Reduction("max", tuple(extents), body, where)

    def reduce_min(
        self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike], where: Callable[..., Scalar] | None = None
    ) -> Reduction:
        """The minimum over reduce axes; NaN wins."""
        return Reduction("min", tuple(extents), body, where)

    def prod(
        self, extents: Sequence[ExprLike], body: Callable[..., ScalarLike], where: Callable[..., Scalar] | None = None
    ) -> Reduction:
        """The product over reduce axes."""
        return Reduction("mul", tuple(extents), body, where)

    def any(self, extents: Sequence[ExprLike], body: Callable[..., Scalar]) -> Reduction:
        """Whether an i1 holds anywhere."""
        return Reduction("or", tuple(extents), body)

    def all(self, extents: Sequence[ExprLike], body: Callable[..., Scalar]) -> Reduction:
        """Whether an i1 holds everywhere."""
        return Reduction("and", tuple(extents), body)

    def reduce(
        self,
        join: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[ScalarLike]],
        identities: Sequence[tuple[float | int, Attribute]],
        extents: Sequence[ExprLike],
        body: Callable[..., ScalarLike | Sequence[ScalarLike]],
        where: Callable[..., Scalar] | None = None,
    ) -> Reduction:
        """A reduction by `join(a, b)`, commutative and associative, of as many values as there are identities.

        An identity is a number and its element type.
        """
        types = [dtype for _, dtype in identities]
        block = Block(arg_types=[scalar_type(t) for t in (*types, *types)])
        with self.inside(block):
            args = [Scalar(v, self, is_unsigned(t)) for v, t in zip(block.args, (*types, *types), strict=True)]
            joined = self._scalars(join(args[: len(types)], args[len(types) :]), types)
            self.insert(YieldOp([v.value for v in joined]))
        numbers = [_number(value, dtype) for value, dtype in identities]
        return Reduction((numbers, Region(block)), tuple(extents), body, where)

    # -- scalars

    def read(self, tensor: Tensor, indices: Sequence[IndexLike]) -> Scalar:
        """An element of a tensor; an integer scalar among the indices is data."""
        exprs = [var(self.cast(i, INDEX).value) if isinstance(i, Scalar) else i for i in indices]
        return Scalar(self.insert(ReadOp(tensor.value, exprs)).value, self, is_unsigned(tensor.dtype))

    def index(self, e: ExprLike, dtype: Attribute) -> Scalar:
        """An index expression as a number of type `dtype`."""
        number = self.insert(IndexOp(e))
        return self.cast(number if isa(dtype, IntegerType) else self.cast(number, i64), dtype)

    def constant(self, value: float | int, dtype: Attribute) -> Scalar:
        """A number of that element type."""
        return Scalar(self.insert(arith.ConstantOp(_number(value, dtype))).value, self, is_unsigned(dtype))

    def scalar(self, value: ScalarLike, dtype: Attribute | None) -> Scalar:
        """A scalar as it is; a Python number as a constant of type `dtype`."""
        if isinstance(value, Scalar):
            return value
        assert dtype is not None, "a body that is a number needs dtype="
        return self.constant(value, dtype)

    def max(self, a: Scalar, b: ScalarLike) -> Scalar:
        """The larger one; NaN wins."""
        return a.binary("max", b)

    def min(self, a: Scalar, b: ScalarLike) -> Scalar:
        """The smaller one; NaN wins."""
        return a.binary("min", b)

    def power(self, a: Scalar, b: ScalarLike) -> Scalar:
        """`a` to the power `b`."""
        return a.binary("pow", b)

    def call(self, function: str, a: Scalar) -> Scalar:
        """A function of one number, of those in `te_scalars.UNARY`, or on integers in `UNARY_INTEGER`."""
        table = UNARY_INTEGER if a.is_integer else UNARY
        return Scalar(self.insert(table[function](a.value)).value, self, a.unsigned)

    def cast(self, a: Scalar, dtype: Attribute) -> Scalar:
        """The scalar as a number of another type; fractions are cut off, integers wrap around."""
        if dtype == i1:
            return a if a.dtype == i1 else a.compare("ne", 0)
        if {a.dtype, dtype} == {f16, bf16}:  # neither holds all numbers of the other
            a = self.cast(a, f32)
        op = conversion(a.value, a.dtype, dtype)
        return Scalar(a.value if op is None else self.insert(op).value, self, is_unsigned(dtype))

    def select(self, condition: Scalar, a: Scalar, b: ScalarLike) -> Scalar:
        """`a` where the i1 holds, else `b`; both are computed."""
        other = self.scalar(b, a.value.type)
        return Scalar(self.insert(arith.SelectOp(condition.value, a.value, other.value)).value, self, a.unsigned)

    def if_then_else(
        self,
        when: Sequence[Predicate | Scalar],
        then: Callable[[], ScalarLike],
        otherwise: Callable[[], ScalarLike],
        dtype: Attribute,
    ) -> Scalar:
        """Lazy choice: only the chosen value is computed. Conditions are on indices, or scalars of type i1."""
        conditions = [self._predicate(c) if isinstance(c, Scalar) else c for c in when]
        regions: list[Region] = []
        for branch in (then, otherwise):
            block = Block()
            with self.inside(block):
                self.insert(YieldOp([self.scalar(branch(), dtype).value]))
            regions.append(Region(block))
        op = IfThenElseOp(conditions, scalar_type(dtype), *regions)
        return Scalar(self.insert(op).value, self, is_unsigned(dtype))

    # -- plumbing

    def insert(self, op: Operation) -> Scalar:
        """Append an operation to the body being written; its result, if it has one."""
        self._at.insert(op)
        return Scalar(op.results[0], self) if op.results else cast(Scalar, None)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Insert at the end of a block meanwhile."""
        outer, self._at = self._at, Builder(InsertPoint.at_end(block))
        yield
        self._at = outer

    def _predicate(self, condition: Scalar) -> Predicate:
        number = self.cast(self.cast(condition, i64), INDEX)
        return at_least(var(number.value), 1)

    def _scalars(self, element: ScalarLike | Sequence[ScalarLike], dtypes: Sequence[Attribute] | None) -> list[Scalar]:
        elements = [element] if isinstance(element, Scalar | float | int) else list(element)
        types = [None] * len(elements) if dtypes is None else dtypes
        return [self.scalar(e, t) for e, t in zip(elements, types, strict=True)]

    def _reduce(self, reduction: Reduction, axes: Sequence[Expr], dtypes: Sequence[Attribute] | None) -> list[Scalar]:
        """Write the body of a reduction at these reduce axes; the values that are joined."""
        reducer = reduction.reducer
        if not isinstance(reducer, str):
            dtypes = [number.type for number in reducer[0]]
        values = self._scalars(reduction.body(*axes), dtypes)
        where = None if reduction.where is None else reduction.where(*axes).value
        if reducer in ("max", "min") and values[0].kind == "unsigned":
            reducer = f"{reducer}ui"
        self.insert(ReduceOp(reducer, [v.value for v in values], where))
        return values

    def unique_stage(self, stage: str) -> str:
        """The name for a stage that is appended: with a suffix if it is taken."""
        name, n = stage, 0
        while name in self._stages:
            n += 1
            name = f"{stage}.{n}"
        self._stages.add(name)
        return name

    def _name_axes(
        self, body: Callable[..., object], extents: Sequence[ExprLike], taken: set[str]
    ) -> list[tuple[str, ExprLike]]:
        names: list[str] = []
        parameters = list(inspect.signature(body).parameters.values())
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                names += [f"{p.name}{i}" for i in range(len(extents) - len(names))]
            else:
                names.append(p.name.rstrip("_"))
        assert len(names) == len(extents), f"{len(extents)} extents for axes {names}"
        used = set(taken)
        axes: list[tuple[str, ExprLike]] = []
        for name, extent in zip(names, extents, strict=True):
            while name in used:
                name += "_"
            used.add(name)
            axes.append((name, to_expr(extent)))
        return axes


def _number(value: float | int, dtype: Attribute) -> Number:
    """A constant of an element type, its bits those of a signless integer."""
    if isa(dtype, IntegerType):
        return IntegerAttr(int(value), cast(IntegerType, scalar_type(dtype)))
    return FloatAttr(float(value), cast(AnyFloat, dtype))
