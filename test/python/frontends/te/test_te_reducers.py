"""Reducers of one's own: what a few numbers show to be none is refused, whatever else is taken."""

import inspect

import numpy as np
import pytest

import tilework as tw
from tilework import te

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def use(combine, identity, dtype="float32", elements=lambda value, k: value):
    """A reduction by a reducer named `join`."""
    A, k = te.placeholder((4, 12), dtype, name="A"), te.reduce_axis((0, 12), "k")
    join = te.comm_reducer(combine, identity, name="join")
    return A, te.compute((4,), lambda i: join(elements(A[i, k], k), axis=k), name="B")


def larger(x, y):
    """The larger of two pairs (place, value)."""
    return te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])


def moments(x, y):
    """Count, mean and squared distances from it, of two parts together."""
    count, apart = x[0] + y[0], y[1] - x[1]
    return count, x[1] + apart * y[0] / count, x[2] + y[2] + apart * apart * x[0] * y[0] / count


def exponentials(x, y):
    """The largest exponent, and the sum of the exponentials less that one."""
    most = te.max(x[0], y[0])
    return most, x[1] * te.exp(x[0] - most) + y[1] * te.exp(y[0] - most)


def two_largest(x, y):
    """A reducer of pairs whose first is not the smaller one."""
    return te.max(x[0], y[0]), te.Select(x[0] > y[0], te.max(x[1], y[0]), te.max(x[0], y[1]))


def number(value):
    """An identity that is one number."""
    return lambda dtype: te.const(value, dtype)


def zeros(count):
    """Identities that are 0."""
    return {
        2: lambda a, b: (te.const(0, a), te.const(0, b)),
        3: lambda a, b, c: (te.const(0, a), te.const(0, b), te.const(0, c)),
    }[count]


@pytest.mark.parametrize(
    ("combine", "identity", "dtypes", "message"),
    [
        (
            lambda x, y: y,
            0,
            ("int32",),
            "join(1, 2) is 2 but join(2, 1) is 1: a reducer is commutative, as elements are",
        ),
        (lambda x, y: x + 2 * y + 1, 0, FLOATS, "join(1, 2) is 6 but join(2, 1) is 5: a reducer is commutative"),
        (
            lambda x, y: te.abs(x - y),
            0,
            FLOATS,
            "join(join(1, 1), 2) is 2 but join(1, join(1, 2)) is 0: a reducer is ass",
        ),
        (
            lambda x, y: te.abs(x + y),
            0,
            ("float32", "int16"),
            "join(join(1, 1), -12) is 10 but join(1, join(1, -12)) is",
        ),
        (lambda x, y: (x + y) / 2, 0, FLOATS, "join(join(1, 1), 2) is 1.5 but join(1, join(1, 2)) is 1.25"),
        (
            lambda x, y: x + y,
            1,
            (*FLOATS, *INTEGERS),
            "join(1, 2) is 3: the identity 1 must leave every other value as it",
        ),
        (
            lambda x, y: x * y,
            0,
            (*FLOATS, *INTEGERS),
            "join(0, 1) is 0: the identity 0 must leave every other value as it",
        ),
        (
            lambda x, y: te.max(x, y),
            0,
            (*FLOATS, "int8", "int64"),
            "join(0, -12) is 0: the identity 0 must leave every",
        ),
        (
            lambda x, y: te.max(x, y),
            1,
            ("uint8", "uint64"),
            "join(1, 0) is 1: the identity 1 must leave every other value",
        ),
        (
            lambda x, y: te.min(x, y),
            0,
            (*FLOATS, *INTEGERS),
            "the identity 0 must leave every other value as it is, here",
        ),
        (
            lambda x, y: x + y,
            float("inf"),
            FLOATS,
            "is inf: the identity inf must leave every other value as it is, here",
        ),
        (lambda x, y: x & y, False, ("bool",), "join(False, True) is False: the identity False must leave"),
        (lambda x, y: x ^ y, True, ("bool",), "join(True, False) is True: the identity True must leave"),
    ],
)
def test_no_reducers(combine, identity, dtypes, message):
    for dtype in dtypes:
        with pytest.raises(tw.UsageError) as caught:
            use(combine, number(identity), dtype)
        assert str(caught.value).startswith(f"reducer 'join': {message}") or message in str(caught.value), dtype


@pytest.mark.parametrize(
    ("combine", "identity", "message"),
    [
        (
            larger,
            zeros(2),
            "join((0, 0), (7, -12)) is (0, 0): the identity (0, 0) must leave every other value as it is",
        ),
        (
            larger,
            lambda i, v: (te.const(-1, i), te.max_value(v)),
            "the identity (-1, 3.40282e+38) must leave every other",
        ),
        (lambda x, y: (x[0] + y[0], x[1] * y[1]), zeros(2), "join((0, 0), (3, 8)) is (3, 0): the identity (0, 0) must"),
        (
            lambda x, y: (x[0] + y[0], y[1]),
            zeros(2),
            "join((1, 2), (2, 4)) is (3, 4) but join((2, 4), (1, 2)) is (3, 2)",
        ),
    ],
)
def test_no_reducers_of_pairs(combine, identity, message):
    with pytest.raises(tw.UsageError) as caught:
        use(combine, identity, elements=lambda value, k: (k, value))
    assert message in str(caught.value)


def test_the_message_names_the_line():
    A, k = te.placeholder((4, 12), name="A"), te.reduce_axis((0, 12), "k")
    mean = te.comm_reducer(lambda x, y: (x + y) / 2, lambda t: te.const(0, t), name="mean")
    message = (
        r"reducer 'mean': mean\(mean\(1, 1\), 2\) is 1.5 but mean\(1, mean\(1, 2\)\) is 1.25: a reducer is associative"
    )
    with pytest.raises(tw.UsageError, match=message) as caught:
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        te.compute((4,), lambda i: mean(A[i, k], axis=k), name="B")
    assert caught.value.__notes__ == [f'File "{__file__}", line {line}']


FOLDS = {
    "squares": (lambda x, y: x + y * y, lambda a: (a * a).sum(1)),
    "differences": (lambda x, y: x - y, lambda a: -a.sum(1)),
}


@pytest.mark.parametrize("name", FOLDS)
def test_what_only_joins_elements_one_by_one(run_te, name):
    """Elements are joined in any order, under a condition too, but not in parts: the interpreter does not, and rfactor
    is refused."""
    combine, expected = FOLDS[name]
    A, k = te.placeholder((4, 12), name="A"), te.reduce_axis((0, 12), "k")
    join = te.comm_reducer(combine, lambda t: te.const(0, t), name="join")
    B = te.compute((4,), lambda i: join(A[i, k], axis=k), name="B")
    C = te.compute((4,), lambda i: join(A[i, k], axis=k, where=k < 7), name="C")
    s = te.create_schedule([B.op, C.op])
    outer, inner = s[B].split(k, factor=5)
    s[B].reorder(inner, outer, *B.op.axis)
    a = np.random.default_rng(0).integers(-3, 4, (4, 12)).astype(np.float32)
    b, c = run_te(s, [A, B, C], a)
    np.testing.assert_array_equal(b, expected(a))
    np.testing.assert_array_equal(c, expected(a[:, :7]))
    with pytest.raises(
        te.ScheduleError, match=r"rfactor of stage 'B' joins parts .*: join\(1, 2\) is .* but join\(2, 1\) is"
    ):
        s.rfactor(B, inner)


def test_rules_join_no_parts_of_what_only_joins_elements(parse_module, run_kernel_everywhere):
    """A sum of squares and its like, of a whole tensor or of rows, is scheduled without partial results."""
    text = """
te.kernel @k(%x: tensor<64x512xf32>) -> ({result}) {{
  %y = te.compute "y" {axes} : {result} {{
    %v = te.read %x[i, k] : tensor<64x512xf32>
    te.reduce %v from [0.0 : f32] : f32 {{
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %b, %b : f32
      %s = arith.addf %a, %p : f32
      te.yield %s : f32
    }}
  }}
  te.return %y : {result}
}}"""
    x = np.random.default_rng(0).integers(-2, 3, (64, 512)).astype(np.float32)
    for axes, result, expected in (
        ("[] reduce [i: 64, k: 512]", "tensor<f32>", (x * x).sum()),
        ("[i: 64] reduce [k: 512]", "tensor<64xf32>", (x * x).sum(1)),
    ):
        kernel = next(iter(parse_module(text.format(axes=axes, result=result)).ops))
        [found] = run_kernel_everywhere(kernel, [x])
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_identities_that_are_good_enough(dtype):
    """The least number of a type for a maximum, as in TVM; ties with it may go either way."""
    use(lambda x, y: te.max(x, y), te.min_value, dtype)
    use(lambda x, y: te.min(x, y), te.max_value, dtype)
    use(lambda x, y: x + y, number(0), dtype)
    use(lambda x, y: x * y, number(1), dtype)
    place = lambda i, v: (te.const(-1, i), te.min_value(v))  # noqa: E731
    use(larger, place, dtype, lambda value, k: (k, value))


@pytest.mark.parametrize(
    ("combine", "identity", "elements"),
    [
        (lambda x, y: te.max(x, y), number(-1e9), None),
        (lambda x, y: te.max(x, y), number(float("-inf")), None),
        (lambda x, y: te.sqrt(x * x + y * y), number(0), None),  # never negative, like the next one
        (lambda x, y: te.max(te.abs(x), te.abs(y)), number(0), None),
        (lambda x, y: te.log(te.exp(x) + te.exp(y)), number(float("-inf")), None),
        (lambda x, y: x + y - x * y, number(0), None),
        (moments, zeros(3), lambda v, k: (te.const(1.0), v, te.const(0.0))),
        (exponentials, lambda m, s: (te.min_value(m), te.const(0, s)), lambda v, k: (v, te.const(1.0))),
        (exponentials, lambda m, s: (te.const(float("-inf"), m), te.const(0, s)), lambda v, k: (v, te.const(1.0))),
        (two_largest, lambda a, b: (te.min_value(a), te.min_value(b)), lambda v, k: (v, te.min_value("float32"))),
        (lambda x, y: (x[0] + y[0], x[1] + y[1]), zeros(2), lambda v, k: (v, v * v)),
    ],
)
def test_reducers_that_only_round(combine, identity, elements):
    use(combine, identity, elements=elements or (lambda value, k: value))


def test_truth_values():
    for combine, identity in ((lambda x, y: x & y, True), (lambda x, y: x | y, False), (lambda x, y: x ^ y, False)):
        use(combine, number(identity), "bool")


def test_a_reducer_in_text(parse_module):
    text = """
te.kernel @k(%x: tensor<4x8xf32>) -> tensor<4xf32> {{
  %y = te.compute "y" [i: 4] reduce [k: 8] : tensor<4xf32> {{
    %v = te.read %x[i, k] : tensor<4x8xf32>
    te.reduce %v from [{identity} : f32] : f32 {{
    ^bb0(%a: f32, %b: f32):
      %s = arith.{op} %a, %b : f32
      te.yield %s : f32
    }}
  }}
  te.return %y : tensor<4xf32>
}}"""
    parse_module(text.format(identity="1.0", op="mulf"))
    with pytest.raises(tw.TileworkError, match=r"reducer\(0, 1\) is 0: the identity 0 must leave every other value"):
        parse_module(text.format(identity="0.0", op="mulf"))
    parse_module(text.format(identity="1.0", op="divf"))  # one element after the other, in any order
    with pytest.raises(tw.TileworkError, match=r"reducer\(1, 2\) is -1 but reducer\(2, 1\) is 1: a reducer is comm"):
        parse_module(text.format(identity="1.0", op="subf"))
