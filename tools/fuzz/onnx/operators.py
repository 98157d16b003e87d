"""Operators of tensors, drawn for a graph: each function adds nodes, or nothing where no value suits it."""

from __future__ import annotations

from tilework.tools.fuzz.onnx.graphs import BOOL, DATA, FLOAT, INT64, Graph, Type

NUMBERS = (FLOAT, INT64)


def is_matrix_like(type_: Type) -> bool:
    """Whether values are numbers with an axis at least."""
    return type_.element in NUMBERS and 1 <= len(type_.dims) <= 3


def elementwise(g: Graph) -> None:
    """A sum, a difference, a product or an extreme of values that are of one shape, or one of them a scalar."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is None:
        return
    type_ = g.values[x]
    y = g.any(lambda t: t == type_ or (t.element == type_.element and not t.dims)) or x
    op = g.draw.choice(["Add", "Sub", "Mul", "Max", "Min"])
    g.small(g.emit(op, g.draw.choice([[x, y], [y, x]]), type_))


def unary(g: Graph) -> None:
    """A function of each element."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is not None:
        g.emit(g.draw.choice(["Neg", "Abs", "Sign", "Identity"]), [x], g.values[x])


def cast(g: Graph) -> None:
    """The same numbers as another type."""
    x = g.any(lambda t: True)
    assert x is not None
    to = g.draw.choice([FLOAT, INT64])
    g.emit("Cast", [x], Type(to, g.values[x].dims), to=to)


def select(g: Graph) -> None:
    """Elements of one value or another, as a comparison says."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is None:
        return
    type_ = g.values[x]
    y = g.like(type_) or x
    holds = g.emit(g.draw.choice(["Less", "Greater", "Equal"]), [x, y], Type(BOOL, type_.dims))
    g.emit("Where", [holds, y, x], type_)


def reduction(g: Graph) -> None:
    """A sum, or an extreme, along an axis."""
    if (x := g.any(is_matrix_like)) is None:
        return
    type_ = g.values[x]
    axis, keeps = g.draw.choice(range(len(type_.dims))), g.draw.chance(50)
    kept = (1,) if keeps else ()
    dims = (*type_.dims[:axis], *kept, *type_.dims[axis + 1 :])
    op = "ReduceSum" if type_.may_be_empty() else g.draw.choice(["ReduceSum", "ReduceMax", "ReduceMin"])
    g.small(g.emit(op, [x, g.constant([axis])], Type(type_.element, dims), keepdims=int(keeps)))


def transpose(g: Graph) -> None:
    """The axes in the opposite order."""
    if (x := g.any(lambda t: len(t.dims) > 1)) is not None:
        g.emit("Transpose", [x], Type(g.values[x].element, g.values[x].dims[::-1]))


def flatten(g: Graph) -> None:
    """All elements along one axis."""
    if (x := g.any(lambda t: len(t.dims) > 1)) is None:
        return
    dims = g.values[x].dims
    sizes = [d for d in dims if isinstance(d, int)]
    size = 1
    for d in sizes:
        size *= d
    named = sorted(d for d in dims if isinstance(d, str))
    whole = "*".join([*named, *([str(size)] if size != 1 else [])]) if named else size
    g.emit("Reshape", [x, g.constant([-1])], Type(g.values[x].element, (whole,)))


def unsqueeze(g: Graph) -> None:
    """An axis of one element in front, or taken away there."""
    if (x := g.any(lambda t: len(t.dims) < 3)) is None:
        return
    type_ = g.values[x]
    if type_.dims[:1] == (1,) and g.draw.chance(50):
        g.emit("Squeeze", [x, g.constant([0])], Type(type_.element, type_.dims[1:]))
    else:
        g.emit("Unsqueeze", [x, g.constant([0])], Type(type_.element, (1, *type_.dims)))


def concat(g: Graph) -> None:
    """A value twice along its first axis."""
    if (x := g.any(is_matrix_like)) is None:
        return
    type_ = g.values[x]
    size = type_.dims[0]
    doubled = 2 * size if isinstance(size, int) else f"{size}*2"
    if not isinstance(doubled, int) or doubled <= 12:
        y = g.like(type_) or x
        g.emit("Concat", [x, y], Type(type_.element, (doubled, *type_.dims[1:])), axis=0)


def gather(g: Graph) -> None:
    """Elements of the first axis, those that integers name."""
    x = g.any(lambda t: is_matrix_like(t) and isinstance(t.dims[0], int))
    i = g.any(lambda t: t.element == INT64 and len(t.dims) < 2)
    if x is None or i is None:
        return
    table, chosen = g.values[x], g.values[i]
    if len(table.dims) + len(chosen.dims) > 4:
        return
    within = g.emit("Mod", [i, g.constant(table.dims[0])], chosen)
    g.emit("Gather", [x, within], Type(table.element, (*chosen.dims, *table.dims[1:])), axis=0)


def size_of(g: Graph) -> None:
    """A size as a number."""
    if (x := g.any(lambda t: len(t.dims) > 0)) is None:
        return
    shape = g.emit("Shape", [x], Type(INT64, (len(g.values[x].dims),)))
    g.small(g.emit("Gather", [shape, g.constant(0)], Type(INT64, ())))


def told_slice(g: Graph) -> None:
    """A part of the first axis whose bounds are numbers of the model: data, often."""
    x, n = g.any(is_matrix_like), g.any(lambda t: t.element == INT64 and not t.dims)
    if x is None or n is None:
        return
    type_ = g.values[x]
    bound = g.emit("Unsqueeze", [n, g.constant([0])], Type(INT64, (1,)))
    if not g.draw.chance(50):
        bound = g.emit("Max", [bound, g.constant([0])], Type(INT64, (1,)))
    step = g.draw.choice([1, 1, 2, -1])
    ends = [bound, g.constant([100])] if g.draw.chance(50) else [g.constant([0]), bound]
    ends = ends[::-1] if step < 0 else ends
    result = Type(type_.element, (g.names.fresh(DATA), *type_.dims[1:]))
    g.emit("Slice", [x, *ends, g.constant([0]), g.constant([step])], result)


def known_slice(g: Graph) -> None:
    """A part of the first axis."""
    if (x := g.any(lambda t: is_matrix_like(t) and isinstance(t.dims[0], int) and t.dims[0] > 1)) is None:
        return
    type_ = g.values[x]
    assert isinstance(type_.dims[0], int)
    first, step = g.draw.choice([(0, 2), (1, 1)])
    size = len(range(first, type_.dims[0], step))
    ends = [g.constant([number]) for number in (first, 100, 0, step)]
    g.emit("Slice", [x, *ends], Type(type_.element, (size, *type_.dims[1:])))


def counted(g: Graph) -> None:
    """The places of elements that are not 0, or those elements, or the numbers below a number."""
    if (n := g.any(lambda t: t.element in NUMBERS and not t.dims)) is not None and g.draw.chance(40):
        element = g.values[n].element
        zero, step = g.constant(0, element), g.constant(g.draw.choice([1, -1, 2, -3]), element)
        g.emit("Range", g.draw.choice([[zero, n, step], [n, zero, step]]), Type(element, (g.names.fresh(DATA),)))
    elif (x := g.any(is_matrix_like)) is not None:
        places = g.emit("NonZero", [x], Type(INT64, (len(g.values[x].dims), g.names.fresh(DATA))))
        if g.draw.chance(50):
            rows = Type(INT64, g.values[places].dims[::-1])
            found = Type(g.values[x].element, rows.dims[:1])
            g.emit("GatherND", [x, g.emit("Transpose", [places], rows)], found)


def compress(g: Graph) -> None:
    """The elements of a vector that are above 0."""
    if (x := g.any(lambda t: t.element in NUMBERS and len(t.dims) == 1)) is None:
        return
    type_ = g.values[x]
    above = g.emit("Greater", [x, g.constant(0, type_.element)], Type(BOOL, type_.dims))
    g.emit("Compress", [x, above], Type(type_.element, (g.names.fresh(DATA),)), axis=0)


def told_expand(g: Graph) -> None:
    """A row as often as a number says that is no less than 0."""
    x, n = g.any(lambda t: len(t.dims) == 1), g.any(lambda t: t.element == INT64 and not t.dims)
    if x is None or n is None:
        return
    most = g.emit("Max", [n, g.constant(0)], Type(INT64, ()))
    rows = g.emit("Unsqueeze", [most, g.constant([0])], Type(INT64, (1,)))
    sizes = g.emit("Concat", [rows, g.constant([1])], Type(INT64, (2,)), axis=0)
    g.emit("Expand", [x, sizes], Type(g.values[x].element, (g.names.fresh(DATA), *g.values[x].dims)))


def told_shape(g: Graph) -> None:
    """A matrix of a shape with a number that is 0 or -1, or all of its elements along one axis."""
    if (x := g.any(lambda t: len(t.dims) == 2 and not t.may_be_empty())) is None:
        return
    n = g.any(lambda t: t.element == INT64 and not t.dims)
    if n is None:
        return
    type_, one, zero = g.values[x], Type(INT64, (1,)), g.constant([0])
    number = g.emit("Unsqueeze", [n, zero], one)
    special = g.emit("Sub", [g.emit("Mod", [number, g.constant([2])], one), g.constant([1])], one)  # 0 or -1
    if not g.draw.chance(50):
        flat = g.emit("Min", [special, g.constant([-1])], one)
        g.emit("Reshape", [x, flat], Type(type_.element, (g.names.fresh(DATA),)))
        return
    shape = g.emit("Concat", [special, g.constant([0])], Type(INT64, (2,)), axis=0)
    g.emit("Reshape", [x, shape], Type(type_.element, (g.names.fresh(DATA), type_.dims[1])))


def top(g: Graph) -> None:
    """The largest element of each row, and its place."""
    if (x := g.any(lambda t: is_matrix_like(t) and not t.may_be_empty())) is None:
        return
    type_ = g.values[x]
    dims = (*type_.dims[:-1], 1)
    g.emit_all("TopK", [x, g.constant([1])], [Type(type_.element, dims), Type(INT64, dims)], axis=-1)


def product(g: Graph) -> None:
    """A matrix times itself transposed."""
    if (x := g.any(lambda t: t.element == FLOAT and len(t.dims) == 2)) is None:
        return
    dims = g.values[x].dims
    turned = g.emit("Transpose", [x], Type(FLOAT, dims[::-1]))
    g.small(g.emit("MatMul", [x, turned], Type(FLOAT, (dims[0], dims[0]))))


def running_sum(g: Graph) -> None:
    """Sums of all elements up to each one of an axis."""
    if (x := g.any(is_matrix_like)) is None:
        return
    options = {"reverse": int(g.draw.chance(50)), "exclusive": int(g.draw.chance(50))}
    g.small(g.emit("CumSum", [x, g.constant(0)], g.values[x], **options))


OPERATORS = (
    *(elementwise, elementwise, unary, cast, select, reduction, transpose, flatten, unsqueeze, concat, gather),
    *(size_of, told_slice, known_slice, counted, compress, told_expand, told_shape, top, product, running_sum),
)
