"""Operators of topi against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import tilework.compat.tvm as tvm
from tilework.compat.tvm import te, topi

RNG = np.random.default_rng(0)


def run(tensors, arrays, schedule=te.create_schedule):
    """What the last tensor is for arrays of the others."""
    *inputs, output = tensors
    s = schedule(output.op)
    made = tvm.nd.empty(topi.utils.get_const_tuple(output.shape), output.dtype)
    tvm.build(s, [*inputs, output])(*arrays, made)
    return made.numpy()


ONE = [
    (lambda x: topi.exp(x), np.exp),
    (lambda x: topi.negative(x), np.negative),
    (lambda x: topi.sign(x - 0.5), lambda x: np.sign(x - np.float32(0.5))),
    (lambda x: topi.clip(x, 0.2, 0.6), lambda x: np.clip(x, 0.2, 0.6)),
    (lambda x: topi.cast(x * 9, "int32"), lambda x: (x * 9).astype("int32")),
    (lambda x: topi.full_like(x, 2.0), lambda x: np.full_like(x, 2)),
    (lambda x: topi.elemwise_sum([x, x, x]), lambda x: 3 * x),
    (lambda x: topi.sum(x, axis=1), lambda x: x.sum(1)),
    (lambda x: topi.max(x, axis=-1, keepdims=True), lambda x: x.max(-1, keepdims=True)),
    (lambda x: topi.prod(x), lambda x: x.prod()),
    (lambda x: topi.argmax(x, axis=1), lambda x: x.argmax(1)),
    (lambda x: topi.argmin(x), lambda x: x.argmin()),
    (lambda x: topi.transpose(x), np.transpose),
    (lambda x: topi.transpose(topi.expand_dims(x, 0), (1, 0, 2)), lambda x: x[:, None]),
    (lambda x: topi.squeeze(topi.expand_dims(x, 1)), lambda x: x),
    (lambda x: topi.flip(x, axis=1), lambda x: x[:, ::-1]),
    (lambda x: topi.reshape(x, (-1, 5)), lambda x: x.reshape(-1, 5)),
    (lambda x: topi.concatenate([x, x + 1, x], axis=0), lambda x: np.concatenate([x, x + 1, x])),
    (lambda x: topi.stack([x, x], axis=1), lambda x: np.stack([x, x], 1)),
    (lambda x: topi.split(x, 2, axis=1)[1], lambda x: x[:, 5:]),
    (lambda x: topi.split(x, [2, 7], axis=1)[1], lambda x: x[:, 2:7]),
    (lambda x: topi.strided_slice(x, [1, 0], [4, 9], [2, 3]), lambda x: x[1:4:2, 0:9:3]),
    (lambda x: topi.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3))),
    (lambda x: topi.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, 0)),
    (lambda x: topi.where(topi.greater(x, 0.5), x, x * 0), lambda x: np.where(x > 0.5, x, 0)),
    (lambda x: topi.broadcast_to(x, (3, 4, 10)), lambda x: np.broadcast_to(x, (3, 4, 10))),
    (lambda x: topi.matmul(x, x, transp_a=True), lambda x: x.T @ x),
    (lambda x: topi.tensordot(x, x, axes=((0, 1), (0, 1))), lambda x: (x * x).sum()),
    (lambda x: topi.nn.relu(x - 0.5), lambda x: np.maximum(x - np.float32(0.5), 0)),
    (lambda x: topi.nn.leaky_relu(x - 0.5, 0.1), lambda x: np.where(x > 0.5, x - 0.5, 0.1 * (x - 0.5))),
    (lambda x: topi.nn.softmax(x), lambda x: topi.testing.softmax_python(x)),
    (lambda x: topi.nn.softmax(x, axis=0), lambda x: topi.testing.softmax_python(x, 0)),
    (lambda x: topi.nn.log_softmax(x), lambda x: np.log(topi.testing.softmax_python(x))),
    (lambda x: topi.nn.pad(x, (1, 0), (2, 1), 7.0), lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=7)),
    (lambda x: topi.nn.flatten(topi.expand_dims(x, 1)), lambda x: x),
]


@pytest.mark.parametrize("operator, expected", ONE)
def test_operators_of_one_tensor(operator, expected):
    X = te.placeholder((4, 10), name="X")
    x = RNG.random((4, 10), np.float32)
    Y = operator(X)
    inputs = [X] if "full" not in Y.op.name else []
    got = run([*inputs, Y], [x][: len(inputs)])
    right = np.asarray(expected(x))
    assert got.shape == right.shape
    np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "operator, expected",
    [
        (topi.add, np.add),
        (topi.subtract, np.subtract),
        (topi.multiply, np.multiply),
        (topi.divide, np.divide),
        (topi.maximum, np.maximum),
        (topi.minimum, np.minimum),
        (topi.power, np.power),
        (topi.less_equal, np.less_equal),
        (topi.not_equal, np.not_equal),
    ],
)
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((2, 1, 4), (3, 1)), ((), (3,)), ((1, 1), (4,))])
def test_operators_of_two_tensors_broadcast(operator, expected, shapes):
    a, b = (np.asarray(RNG.uniform(0.5, 2, shape), np.float32) for shape in shapes)
    A, B = (te.placeholder(shape, name=name) for shape, name in zip(shapes, "AB", strict=True))
    np.testing.assert_allclose(run([A, B, operator(A, B)], [a, b]), expected(a, b), rtol=1e-5)


@pytest.mark.parametrize(
    "stride, padding, dilation", [(1, 1, 1), (2, "SAME", 1), (1, (0, 1, 1, 2), 1), (1, "VALID", 2)]
)
def test_convolutions(stride, padding, dilation):
    A, W = te.placeholder((1, 4, 9, 8), name="A"), te.placeholder((6, 4, 3, 3), name="W")
    a, w = RNG.random((1, 4, 9, 8), np.float32), RNG.random((6, 4, 3, 3), np.float32)
    spread = np.zeros((6, 4, 2 * dilation + 1, 2 * dilation + 1), np.float32)
    spread[:, :, ::dilation, ::dilation] = w
    expected = topi.testing.conv2d_nchw_python(a, spread, stride, padding)
    got = run([A, W, topi.nn.conv2d_nchw(A, W, stride, padding, dilation)], [a, w])
    np.testing.assert_allclose(got, expected, rtol=1e-4)
    last, hwio = a.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy()
    A, W = te.placeholder(last.shape, name="A"), te.placeholder(hwio.shape, name="W")
    got = run([A, W, topi.nn.conv2d(A, W, stride, padding, dilation, layout="NHWC")], [last, hwio])
    np.testing.assert_allclose(got.transpose(0, 3, 1, 2), expected, rtol=1e-4)


def test_a_depthwise_convolution():
    A, W = te.placeholder((1, 3, 6, 6), name="A"), te.placeholder((3, 2, 3, 3), name="W")
    a, w = RNG.random((1, 3, 6, 6), np.float32), RNG.random((3, 2, 3, 3), np.float32)
    got = run([A, W, topi.nn.depthwise_conv2d_nchw(A, W, 1, 1)], [a, w])
    expected = topi.testing.conv2d_nchw_python(a, w.reshape(6, 1, 3, 3), 1, 1, groups=3)
    np.testing.assert_allclose(got, expected, rtol=1e-4)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_pooling(kind, ceil, counted):
    A = te.placeholder((1, 2, 7, 8), name="A")
    a = RNG.random((1, 2, 7, 8), np.float32)
    P = topi.nn.pool2d(A, (3, 2), (2, 2), (1, 1), (1, 1, 1, 1), kind, ceil, count_include_pad=counted)
    got = run([A, P], [a])
    rows, columns = got.shape[2:]
    for y in range(rows):
        for x in range(columns):
            window = a[0, 0, max(2 * y - 1, 0) : 2 * y + 2, max(2 * x - 1, 0) : 2 * x + 1]
            count = 6 if counted else window.size
            expected = window.max() if kind == "max" else window.sum() / count
            np.testing.assert_allclose(got[0, 0, y, x], expected, rtol=1e-5)


def test_layers_of_products():
    X, W, b = te.placeholder((3, 8), name="X"), te.placeholder((5, 8), name="W"), te.placeholder((5,), name="b")
    x, w, v = RNG.random((3, 8), np.float32), RNG.random((5, 8), np.float32), RNG.random(5, np.float32)
    np.testing.assert_allclose(run([X, W, b, topi.nn.dense(X, W, b)], [x, w, v]), x @ w.T + v, rtol=1e-5)
    P, Q = te.placeholder((2, 3, 4), name="P"), te.placeholder((2, 5, 4), name="Q")
    p, q = RNG.random((2, 3, 4), np.float32), RNG.random((2, 5, 4), np.float32)
    np.testing.assert_allclose(run([P, Q, topi.nn.batch_matmul(P, Q)], [p, q]), p @ q.transpose(0, 2, 1), rtol=1e-5)


def test_schedules_by_rules_become_the_programs_own():
    A = te.placeholder((64, 64), name="A")
    B = topi.nn.relu(A)
    a = RNG.random((64, 64), np.float32) - 0.5
    np.testing.assert_array_equal(run([A, B], [a], topi.generic.schedule_injective), np.maximum(a, 0))
    s = topi.generic.schedule_injective([B])
    assert "vector<" in str(tvm.lower(s, [A, B])), "the rules of the target vectorize"
    s[B].parallel(B.op.axis[0])
    assert "vectorized" not in str(tvm.lower(s, [A, B], simple_mode=True)), "a primitive was said: the schedule is this"


def test_refusals():
    A = te.placeholder((4, 10), name="A")
    for message, action in {
        "^axis 2 of a tensor of 2 dimensions$": lambda: topi.sum(A, axis=2),
        "^squeeze of axis 0, whose extent is 4$": lambda: topi.squeeze(A, 0),
        r"^transpose of 2 dimensions by axes \[0, 0\]$": lambda: topi.transpose(A, (0, 0)),
        "^reshape of 40 elements to 42$": lambda: topi.reshape(A, (6, 7)),
        "^split of 10 elements into 3 equal parts$": lambda: topi.split(A, 3, axis=1),
        "^broadcast_to: 2 dimensions do not broadcast to 1$": lambda: topi.broadcast_to(A, (10,)),
        '^take: mode is "clip" or "fast", not "wrap"$': lambda: topi.take(A, A, mode="wrap"),
        "^conv2d: the layouts are NCHW, NHWC, HWCN, not CHW$": lambda: topi.nn.conv2d(A, A, 1, 1, 1, layout="CHW"),
        "^pool: of 'max' and 'avg', in NCHW or NHWC": lambda: topi.nn.pool(A, 2, 2, 0, "median"),
        "^padding has one, two or four numbers, not 3$": lambda: topi.nn.conv2d_nchw(
            te.placeholder((1, 1, 4, 4)), te.placeholder((1, 1, 3, 3)), 1, (1, 2, 3)
        ),
        "^a number that is known is expected, not n$": lambda: topi.utils.get_const_int(te.var("n")),
    }.items():
        with pytest.raises(tvm.TVMError, match=message):
            action()
