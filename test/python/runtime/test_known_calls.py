"""Calls like the last two: what native code takes for such a call, and what is left to Python."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime import known_calls
from tilework.runtime import module as modules
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import Linked
from tilework.runtime.devices.llvm.workers import UNLIKE
from tilework.runtime.known_calls import KnownCalls, numpy_is_known
from tilework.runtime.manifest import Manifest, TensorSpec
from tilework.runtime.module import Module
from tilework.targets.cpu.host import host_target

# A copy of the input, N rows of w[0] bytes; fails check 3 where the first byte is 3.
COPY = """
define i32 @tilework_main(ptr %inputs, ptr %outputs, ptr %parameters, ptr %arena, ptr %symbols, i32 %threads) {
  %x = load ptr, ptr %inputs
  %y = load ptr, ptr %outputs
  %w.at = load ptr, ptr %parameters
  %w = load i64, ptr %w.at
  %rows = load i64, ptr %symbols
  %size = mul i64 %rows, %w
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %size, i1 false)
  %first = load i8, ptr %x
  %bad = icmp eq i8 %first, 3
  %status = select i1 %bad, i32 3, i32 0
  ret i32 %status
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def copy_module(dtype: str = "float32", columns: int = 4) -> Module:
    shape = ("N", columns)
    manifest = Manifest(
        str(host_target()),
        (TensorSpec("x", dtype, shape),),
        (TensorSpec("y", dtype, shape),),
        (TensorSpec("w", "int64", (1,)),),
        ("N",),
        messages={3: "it begins with 3"},
    )
    itemsize = np.dtype(getattr(ml_dtypes, dtype, dtype)).itemsize
    return Module(manifest, [compile_ir(COPY, host_target())], {"w": np.array([columns * itemsize])})


def known(module: Module) -> KnownCalls | None:
    return module._known  # pyright: ignore[reportPrivateUsage]


def rows(n: int, columns: int = 4) -> Any:
    return np.arange(1, 1 + n * columns, dtype=np.float32).reshape(n, columns)


def test_third_call_is_known_and_results_are_fresh():
    module, x = copy_module(), rows(3)
    assert numpy_is_known()
    results = [module(x)]
    assert known(module) is None
    results += [module(x) for _ in range(3)]
    assert known(module) is not None
    results.append(module.run({"x": x + 1})["y"])
    for result, expected in zip(results, [x, x, x, x, x + 1], strict=True):
        np.testing.assert_array_equal(result, expected)
    assert len({result.ctypes.data for result in results}) == len(results)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (rows(5), rows(5)),
        (rows(1), rows(1)),
        (rows(6)[::2], rows(6)[::2]),
        (rows(3)[::-1], rows(3)[::-1]),
        (np.asfortranarray(rows(3)), rows(3)),
        (rows(3).view(np.recarray), rows(3)),
        (np.frombuffer(bytes(1) + rows(3).tobytes(), np.float32, 12, 1).reshape(3, 4), rows(3)),
    ],
)
def test_other_arrays_are_read_as_ever(given: Any, expected: Any):
    module = copy_module()
    for _ in range(3):
        module(rows(3))
    for _ in range(3):
        np.testing.assert_array_equal(module(given), expected)
        np.testing.assert_array_equal(module(rows(3)), rows(3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (rows(3).astype(np.float64), "input 'x' is float64, the module takes float32"),
        (rows(3).astype(">f4"), "input 'x' is >f4, the module takes float32"),
        (rows(3, 5), r"input 'x' has shape \(3, 5\)"),
        (rows(3)[0], "input 'x' has 1 dimensions"),
        (None, "input 'x' is a NoneType"),
        ([1.0], "input 'x' is a list"),
    ],
)
def test_what_is_refused_stays_refused(given: Any, message: str):
    module = copy_module()
    for _ in range(3):
        module(rows(3))
    for _ in range(2):
        with pytest.raises(UsageError, match=message):
            module(given)
    np.testing.assert_array_equal(module(rows(3)), rows(3))


def test_read_only_input_may_be_known():
    module, x = copy_module(), rows(3)
    x.flags.writeable = False
    for _ in range(3):
        np.testing.assert_array_equal(module(x), x)
    assert known(module) is not None


def test_failed_check_of_a_known_call():
    module, x = copy_module("uint8"), np.full((2, 4), 7, np.uint8)
    for _ in range(3):
        module(x)
    x[0, 0] = 3
    with pytest.raises(TileworkError, match="it begins with 3"):
        module(x)


def test_sizes_that_change_with_every_call_are_never_known():
    module = copy_module()
    for n in (2, 3, 2, 3, 4, 5):
        np.testing.assert_array_equal(module(rows(n)), rows(n))
        assert known(module) is None
    module(rows(5))
    assert known(module) is not None
    module(rows(6))
    assert known(module) is None


@pytest.mark.parametrize("dtype", ["bfloat16", "bool", "int8", "float16", "int64"])
def test_other_types(dtype: str):
    module = copy_module(dtype)
    x = rows(3).astype(getattr(ml_dtypes, dtype, dtype))
    for _ in range(4):
        result = module(x)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result, x)
    assert known(module) is not None


def test_large_outputs_begin_at_lines():
    module, x = copy_module(columns=5000), rows(2, 5000)
    for _ in range(4):
        result = module(x)
        assert result.ctypes.data % 64 == 0
        np.testing.assert_array_equal(result, x)


def test_given_output_is_written():
    module, x, y = copy_module(), rows(3), np.zeros((3, 4), np.float32)
    for _ in range(4):
        module(x)
    before = known(module)
    assert module.run({"x": x}, out={"y": y})["y"] is y
    np.testing.assert_array_equal(y, x)
    assert known(module) is before is not None


def test_several_threads():
    module = copy_module(columns=300)

    def run(n: int) -> bool:
        x = rows(1 + n % 3, 300)
        return all(np.array_equal(module(x), x) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(32)))


def test_where_numpy_is_not_known_nothing_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(modules, "numpy_is_known", lambda: False)
    module = copy_module()
    for _ in range(4):
        np.testing.assert_array_equal(module(rows(3)), rows(3))
    assert known(module) is None


def test_numpy_of_another_python_or_another_layout_is_not_known(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr("sys.implementation.name", "pypy")
        assert not numpy_is_known.__wrapped__()
    monkeypatch.setattr(known_calls, "_CLASS_AT", 0)
    assert not numpy_is_known.__wrapped__()


@pytest.mark.parametrize("kind", ["subclass", "memory map", "another dtype object"])
def test_what_only_python_can_look_at_is_never_expected(kind: str, tmp_path: Path):
    x: Any = rows(3).astype(np.int64)
    if kind == "subclass":
        x = x.view(np.recarray)
    elif kind == "memory map":
        mapped = np.memmap(tmp_path / "x", np.int64, "w+", shape=x.shape)
        mapped[...] = x
        x = mapped
    else:
        x = x.astype(np.longlong)
    module = copy_module("int64")
    for _ in range(4):
        np.testing.assert_array_equal(module(x), x)
        assert known(module) is None


def test_no_memory_for_the_outputs_of_the_last_call(monkeypatch: pytest.MonkeyPatch):
    """A smaller call is made, and what is refused is refused for its own reason."""
    module = copy_module(columns=5000)
    for _ in range(3):
        module(rows(2, 5000))
    assert known(module) is not None

    def nothing(*_: object):
        raise TileworkError("there is no memory")

    monkeypatch.setattr(known(module), "_outputs", [(nothing, (), np.dtype("float32"))])
    with pytest.raises(UsageError, match="input 'x' is float64"):
        module(rows(2, 5000).astype(np.float64))
    np.testing.assert_array_equal(module(rows(1, 5000)), rows(1, 5000))
    assert known(module) is None


def test_shapes_in_turns_are_known_once():
    module, made = copy_module(), set[int]()
    for n in (2, 2, 2, 3, 3, 3) * 3:
        np.testing.assert_array_equal(module(rows(n)), rows(n))
        made |= {id(known(module))} - {id(None)}
    assert len(made) == 2


def test_every_dimension_of_every_array_is_looked_at():
    """There are two inputs and an output, each of which is expected to be of another shape."""
    add = "define i32 @main(ptr %x, ptr %y, ptr %p, ptr %a, ptr %s, i32 %n) { ret i32 0 }"
    types = [*[ctypes.c_void_p] * 5, ctypes.c_int32]
    code = Linked([compile_ir(add, host_target())], str(host_target()), "main", types, ctypes.c_int32).code()
    f32, i32 = np.dtype("float32"), np.dtype("int32")
    sizes = copy_module()._sizes.of(((1, 4),))  # pyright: ignore[reportPrivateUsage]
    calls = KnownCalls(code, [((2, 3), f32), ((), i32)], [((4,), f32), ((0, 5), i32)], b"", sizes)
    x, s = np.zeros((2, 3), f32), np.zeros((), i32)
    status, outputs = calls.call([x, s], 0, 1)
    assert (status, [(o.shape, o.dtype) for o in outputs]) == (0, [((4,), f32), ((0, 5), i32)])
    for others in ([x, x], [s, s], [s, x], [x, s.astype(f32)], [x[:1], s], [x[:, :2].copy(), s], [x.T, s], [x, 0]):
        assert calls.call(others, 0, 1)[0] == UNLIKE
