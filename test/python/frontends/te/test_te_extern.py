"""te.extern in Python, compiled and compared with numpy."""

import numpy as np
import pytest

import tilework as tw
from tilework import te


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def add_one(ins, outs):
    """Statements for tensors of one dimension."""
    ib = te.ir_builder.create()
    A, B = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    with ib.for_range(0, outs[0].shape[0], name="i") as i:
        B[i] = A[i] + 1
    return ib.get()


def sums(ins, outs):
    """Sums from the first element on, into every output."""
    ib = te.ir_builder.create()
    A, results = ib.buffer_ptr(ins[0]), [ib.buffer_ptr(out) for out in outs]
    total = ib.allocate(A.dtype, 1, name="total", scope="local")
    total[0] = 0
    with ib.for_range(0, outs[0].shape[0], name="i") as i:
        total[0] = total[0] + A[i]
        for result in results:
            result[i] = total[0]
    return ib.get()


# tvm: test_lang_tensor/extern
def test_extern(run_te):
    m = te.size_var("m")
    A = te.placeholder((m,), name="A")
    B = te.extern((m,), [A], add_one, name="B")
    assert tuple(map(str, B.shape)) == ("m",) and B.dtype == "float32"
    assert B.op.input_tensors == [A] and B.op.num_outputs == 1
    s = te.create_schedule(B.op)
    s[B].compute_root()
    s[B].set_scope("global")
    x = integers(7)
    np.testing.assert_array_equal(run_te(s, [A, B], x, shapes=[(7,)]), x + 1)


# tvm: test_lang_tensor/extern_multi_out
def test_extern_multi_out(run_te):
    m = te.size_var("m")
    A = te.placeholder((m,), name="A")
    B = te.compute((m,), lambda i: A[i] * 10, name="B")

    def both(ins, outs):
        ib = te.ir_builder.create()
        a, b, first, second = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, m, name="i") as i:
            first[i] = a[i] + b[i]
            second[i] = first[i] * 2
        return ib.get()

    res = te.extern([A.shape, A.shape], [A, B], both, name="both")
    assert len(res) == 2 and res[1].value_index == 1 and res[0].op is res[1].op
    s = te.create_schedule(res[0].op)
    x = integers(5)
    first, second = run_te(s, [A, *res], x, shapes=[(5,), (5,)])
    np.testing.assert_array_equal(first, x * 11)
    np.testing.assert_array_equal(second, x * 22)
    assert [stage.name for stage in s.stages] == ["B", "both"]


def test_its_inputs_are_scheduled_and_its_results_read(run_te):
    n = 20
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    C = te.extern((n,), B, sums, name="C")
    D = te.compute((n,), lambda i: C[n - 1 - i] + B[i], name="D")
    s = te.create_schedule(D.op)
    for T in (B, D):
        _, inner = s[T].split(T.op.axis[0], factor=8)
        s[T].vectorize(inner)
    x = integers(n)
    np.testing.assert_array_equal(run_te(s, [A, D], x), (2 * x).cumsum()[::-1] + 2 * x)


def test_a_producer_that_repeats_what_it_reads(run_te):
    A = te.placeholder((3,), name="A")
    B = te.compute((4, 3), lambda i, j: A[j], name="B")

    def doubled(ins, outs):
        ib = te.ir_builder.create()
        b, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 4) as i, ib.for_range(0, 3, name="j") as j:
            c[i, j] = b[i, j] * 2
        return ib.get()

    C = te.extern(B.shape, [B], doubled, name="C")
    x = integers(3)
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [A, C], x), np.tile(2 * x, (4, 1)))


def test_kinds_of_loops_and_local_memory(run_te):
    m, n = 6, 16

    def reversed_rows(ins, outs):
        ib = te.ir_builder.create()
        A, B = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, m, name="i", kind="parallel") as i:
            row = ib.allocate("float32", (n,), name="row", scope="local")
            with ib.for_range(0, n, name="j", kind="vectorize") as j:
                row[j] = A[i, j] * 2
            with ib.for_range(0, n // 4, name="k", kind="unroll") as k, ib.for_range(4 * k, 4 * k + 4, name="jj") as jj:
                B[i, jj] = row[n - 1 - jj]
        return ib.get()

    A = te.placeholder((m, n), name="A")
    B = te.extern((m, n), [A], reversed_rows, name="B")
    s = te.create_schedule(B.op)
    x = integers(m, n)
    np.testing.assert_array_equal(run_te(s, [A, B], x), 2 * x[:, ::-1])
    assert 'memref.alloca() : memref<16xf32, "local">' in str(s)


def test_conditions_and_data(run_te):
    """What a condition guards is not read elsewhere, be it of indices or of data."""
    n = 12

    def counted(ins, outs):
        ib = te.ir_builder.create()
        V, places, C = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, n, name="i") as i:
            with ib.if_scope(i < 3):
                C[i] = V[i]
            with ib.else_scope():
                C[i] = te.if_then_else(i != 5, V[i - 3], 0)
            with ib.if_scope(te.all(i > 0, V[i - 1] > 0)):
                C[places[i]] = C[places[i]] + 1
        return ib.get()

    V, places = te.placeholder((n,), name="V"), te.placeholder((n,), "int32", name="places")
    C = te.extern((n,), [V, places], counted, name="C", dtype="float32")
    v, nowhere = integers(n), np.zeros(n, np.int32)
    expected = np.array([v[i] if i < 3 else 0 if i == 5 else v[i - 3] for i in range(n)])
    expected[0] = v[0] + sum(v[i - 1] > 0 for i in range(1, n))
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [V, places, C], v, nowhere), expected)


def test_types(run_te):
    n = 9

    def histogram(ins, outs):
        ib = te.ir_builder.create()
        A, counts, large = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, 4, name="i") as i:
            counts[i] = 0
        with ib.for_range(0, n, name="i") as i:
            counts[A[i]] = counts[A[i]] + 1
            large[i] = A[i] > 1
        return ib.get()

    A = te.placeholder((n,), "uint8", name="A")
    made = te.extern([(4,), (n,)], [A], histogram, name="histogram", dtype=["uint32", "bool"])
    x = np.array([0, 1, 3, 3, 3, 1, 0, 2, 2], np.uint8)
    counts, large = run_te(te.create_schedule(made[0].op), [A, *made], x)
    np.testing.assert_array_equal(counts, [2, 2, 2, 3])
    np.testing.assert_array_equal(large, x > 1)


def test_no_inputs_and_no_dimensions(run_te):
    def seven(ins, outs):
        ib = te.ir_builder.create()
        ib.buffer_ptr(outs[0])[()] = 7
        return ib.get()

    C = te.extern((), [], seven, name="C", dtype="int32")
    assert run_te(te.create_schedule(C.op), [C]) == 7


def test_what_is_read_whole_is_not_inlined_by_itself(run_te):
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    C = te.extern((8,), [B], add_one, name="C")
    D = te.compute((8,), lambda i: C[i] + B[i], name="D")
    E = te.compute((8,), lambda i: D[i] * 2, name="E")
    s = te.create_schedule(E.op)
    te.AutoInlineElemWise(s)
    x = integers(8)
    np.testing.assert_array_equal(run_te(s, [A, E], x), (4 * x + 1) * 2)
    assert str(s).count("schedule.compute_inline") == 1


# -- refusals


@pytest.fixture
def A():
    return te.placeholder((8,), name="A")


def test_arguments_are_refused(A):
    B = te.placeholder((8,), "int32", name="B")
    with pytest.raises(tw.UsageError, match="^extern 'C': its inputs are tensors, not a int$"):
        te.extern((8,), [3], add_one, name="C")
    with pytest.raises(tw.UsageError, match="^extern 'C': inputs of float32, int32; give dtype=$"):
        te.extern((8,), [A, B], add_one, name="C")
    with pytest.raises(tw.UsageError, match="^extern 'C': inputs of no type; give dtype=$"):
        te.extern((8,), [], add_one, name="C")
    with pytest.raises(tw.UsageError, match="^extern 'C': 2 dtypes for 1 shapes$"):
        te.extern((8,), [A], add_one, name="C", dtype=["float32", "int32"])
    with pytest.raises(
        tw.UsageError, match=r"^extern 'C': its function returns ib.get\(\) or call_packed\(...\), not a No"
    ):
        te.extern((8,), [A], lambda ins, outs: None, name="C")


def refused(message, A, write):
    """The error of an extern whose statements `write(ib, a, c)` makes, at once or when it is lowered."""

    def body(ins, outs):
        ib = te.ir_builder.create()
        write(ib, ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]))
        return ib.get()

    with pytest.raises(tw.TileworkError, match=message):
        C = te.extern((8,), [A], body, name="C")
        tw.lower(te.create_schedule(C.op), [A, C])


def test_statements_are_refused(A):
    def store(place, value):
        return lambda ib, a, c: c.__setitem__(place, value(a))

    refused(
        "^buffer 'C' has elements of float32, not int32: convert with astype$",
        A,
        store(0, lambda a: te.const(3, "int32")),
    )
    refused("^index 8 is outside dimension 0 of tensor 'C', which has extent 8$", A, store(8, lambda a: 0))
    refused("^extern 'C' uses 'A', which is no buffer here: take ins, outs, or allocate", A, store(0, lambda a: A[0]))
    refused("extern 'C' stores into its input 0: store into outputs", A, lambda ib, a, c: a.__setitem__(0, 1))
    refused("^buffer_ptr takes one of ins and outs of te.extern, not a Tensor$", A, lambda ib, a, c: ib.buffer_ptr(A))
    n = te.var("n")
    refused("^allocate of 'buf': its size is a number, not n$", A, lambda ib, a, c: ib.allocate("float32", n))
    refused("^unknown scope 'near'; known: global", A, lambda ib, a, c: ib.allocate("float32", 4, scope="near"))
    refused("^extern 'C' uses 'n', which is neither a loop around nor a te.var of a shape$", A, store(n, lambda a: 0))


def test_blocks_are_refused(A):
    def outside(ib, a, c):
        with ib.for_range(0, 8) as i:
            c[i] = a[i]
        c[i] = 0

    def early(ib, a, c):
        with ib.for_range(0, 8):
            ib.get()

    def lonely(ib, a, c):
        with ib.else_scope():
            c[0] = 0

    def threads(ib, a, c):
        with ib.for_range(0, 8, kind="threads"):
            c[0] = 0

    refused("^extern 'C' uses 'i', which is neither a loop around nor a te.var of a shape$", A, outside)
    refused(r"^ib.get\(\) inside a loop or a condition: call it behind them$", A, early)
    refused("^else_scope stands right behind an if_scope$", A, lonely)
    refused("^for_range of 'i': unknown kind 'threads'; known: serial, parallel, vectorize, unroll$", A, threads)


def test_primitives_are_refused(A):
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    C = te.extern((8,), [B], add_one, name="C")
    D = te.compute((8,), lambda i: C[i] * 2, name="D")

    def lowered(change):
        s = te.create_schedule(D.op)
        change(s)
        tw.lower(s, [A, D])

    for change, message in (
        (lambda s: s[B].compute_at(s[D], D.op.axis[0]), "stage 'B' is read whole by extern 'C': it is computed at the"),
        (lambda s: s[B].compute_inline(), "stage 'B' is taken by an extern as a whole and cannot be inlined"),
        (lambda s: s[C].compute_at(s[D], D.op.axis[0]), "extern 'C' runs as a whole, at the root: it takes set_scope"),
        (lambda s: s[C].double_buffer(), "extern 'C' runs as a whole, at the root: it takes set_scope, nothing else"),
        (lambda s: s[C].compute_inline(), "schedule.compute_inline of extern 'C': it takes set_scope, and is not rewr"),
        (lambda s: s.cache_write(C, "local"), "schedule.cache_write of extern 'C': it takes set_scope, and is not"),
        (lambda s: s.cache_read(B, "local", [C]), "schedule.cache_read of extern 'C': it takes set_scope, and is not"),
        (lambda s: s[C].fuse(), "extern 'C' runs as a whole: it takes set_scope, and no axis"),
    ):
        with pytest.raises(tw.TileworkError, match=message):
            lowered(change)
