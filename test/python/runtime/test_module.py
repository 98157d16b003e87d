"""Modules: what they take and return, shapes with symbols, several threads. The code is written by hand."""

import threading
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.arrays import ALIGNMENT, aligned_empty
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.manifest import Manifest, TensorSpec
from tilework.runtime.module import Module
from tilework.runtime.shapes import InputShapes
from tilework.runtime.threads import get_num_threads, set_num_threads
from tilework.targets.cpu.host import host_target

SIGNATURE = "ptr %inputs, ptr %outputs, ptr %parameters, ptr %arena, ptr %symbols, i32 %num_threads"

# y[i] = a[i] + b[i] + w[0], through a copy of a in the arena; fails check 7 where N is 13.
ADD = f"""
define i32 @tilework_main({SIGNATURE}) {{
entry:
  %a = load ptr, ptr %inputs
  %b.at = getelementptr ptr, ptr %inputs, i64 1
  %b = load ptr, ptr %b.at
  %y = load ptr, ptr %outputs
  %w.at = load ptr, ptr %parameters
  %w = load float, ptr %w.at, align 64
  %n = load i64, ptr %symbols
  %bad = icmp eq i64 %n, 13
  %none = icmp eq i64 %n, 0
  br i1 %bad, label %fail, label %check
check:
  br i1 %none, label %done, label %copy
copy:
  %bytes = mul i64 %n, 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 64 %arena, ptr %a, i64 %bytes, i1 false)
  br label %loop
loop:
  %i = phi i64 [0, %copy], [%next, %loop]
  %a.i = getelementptr float, ptr %arena, i64 %i
  %b.i = getelementptr float, ptr %b, i64 %i
  %y.i = getelementptr float, ptr %y, i64 %i
  %va = load float, ptr %a.i
  %vb = load float, ptr %b.i
  %s = fadd float %va, %vb
  %t = fadd float %s, %w
  store float %t, ptr %y.i
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 0
fail:
  ret i32 7
}}
"""


def add_module(**changes: object) -> Module:
    fields: dict[str, object] = dict(
        target=str(host_target()),
        inputs=(TensorSpec("a", "float32", ("N",)), TensorSpec("b", "float32", ("N",))),
        outputs=(TensorSpec("y", "float32", ("N",)),),
        parameters=(TensorSpec("w", "float32", (1,)),),
        symbols=("N",),
        arena_bytes="4 * N",
        kernels=1,
        messages={7: "N = 13 is unlucky: use 12"},
    )
    manifest = Manifest(**{**fields, **changes})
    return Module(manifest, [compile_ir(ADD, host_target())], {"w": np.array([0.5], np.float32)})


@pytest.fixture(scope="module")
def add() -> Module:
    return add_module()


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_inputs_by_position_and_by_name(add: Module):
    assert add(f32(1, 2), f32(3, 4)).tolist() == [4.5, 6.5]
    assert add.run({"b": f32(3, 4), "a": f32(1, 2)})["y"].tolist() == [4.5, 6.5]
    assert repr(add) == "Module(a: float32 (N,), b: float32 (N,)) -> (y: float32 (N,))"


def test_inputs_by_name_in_a_call(add: Module):
    assert add(f32(1, 2), b=f32(3, 4)).tolist() == add(b=f32(3, 4), a=f32(1, 2)).tolist() == [4.5, 6.5]
    with pytest.raises(UsageError, match="input 'a' is given twice: in its place and by name"):
        add(f32(1), a=f32(1))
    with pytest.raises(UsageError, match="'b' is missing, 'c' is unknown: the module takes 2 inputs"):
        add(f32(1), c=f32(1))
    with pytest.raises(UsageError, match="the module takes 2 inputs .*; 3 given without a name"):
        add(f32(1), f32(1), f32(1), b=f32(1))


def test_notebooks_show_a_table_of_inputs_and_outputs(add: Module):
    html = add._repr_html_()
    for row in ("<td>input</td><td>a</td><td>float32</td><td>(N,)</td>", "<td>output</td><td>y</td>"):
        assert row in html


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 3])
def test_every_extent_uses_one_module(add: Module, n: int):
    a = np.arange(n, dtype=np.float32)
    assert np.array_equal(add(a, a), 2 * a + np.float32(0.5))


def test_outputs_are_fresh_and_aligned(add: Module):
    first, second = (add(f32(1, 2), f32(3, 4)) for _ in range(2))
    assert not np.shares_memory(first, second)
    assert first.ctypes.data % ALIGNMENT == 0


@pytest.mark.parametrize("kind", [bytes, bytearray])  # only the second may be written
def test_strided_and_misaligned_inputs_are_copied(add: Module, kind: type[bytes | bytearray]):
    strided = np.arange(8, dtype=np.float32)[::2]
    misaligned = np.frombuffer(kind(b"\0" + strided.tobytes()), dtype=np.float32, offset=1)
    assert not misaligned.flags.aligned
    assert add(strided, misaligned).tolist() == [0.5, 4.5, 8.5, 12.5]


def test_dlpack_tensors_and_numpy_scalars_are_taken(add: Module):
    class Tensor:
        """Another library's tensor."""

        def __init__(self, array: np.ndarray):
            self.array = array

        def __dlpack__(self, **options: object) -> object:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    assert add(Tensor(f32(1, 2)), f32(3, 4)).tolist() == [4.5, 6.5]
    scalar = Module(
        Manifest(str(host_target()), (TensorSpec("s", "float32", ()),), ()),
        [compile_ir(f"define i32 @tilework_main({SIGNATURE}) {{ ret i32 0 }}", host_target())],
        {},
    )
    assert scalar(np.float32(3)) == ()


def test_out_is_written_in_place(add: Module):
    y = aligned_empty((2,), np.dtype(np.float32))
    assert add.run({"a": f32(1, 2), "b": f32(3, 4)}, out={"y": y})["y"] is y
    assert y.tolist() == [4.5, 6.5]


def test_read_only_inputs_are_taken(add: Module):
    a = f32(1, 2)
    a.flags.writeable = False
    assert add(a, a).tolist() == [2.5, 4.5]


@pytest.mark.parametrize("n", [0, 2])
def test_one_array_may_be_two_inputs_beside_out(add: Module, n: int):
    a, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    assert add.run({"a": a, "b": a}, out={"y": y})["y"] is y
    assert y.tolist() == [2.5] * n


X = np.zeros(2, np.float32)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"a": X}, r"'b' is missing: the module takes 2 inputs \(a: float32 \(N,\); b: float32 \(N,\)\)"),
        ({"a": X, "b": X, "c": X}, "'c' is unknown: the module takes 2 inputs"),
        ({"a": X.astype(np.float64), "b": X}, r"'a' is float64, .* takes float32: convert with a.astype\(np.float32\)"),
        ({"a": X.astype(">f4"), "b": X}, "input 'a' is >f4, the module takes float32"),
        ({"a": [1.0, 2.0], "b": X}, "input 'a' is a list: pass a numpy array or a DLPack tensor"),
        ({"a": X.reshape(1, 2), "b": X}, r"'a' has 2 dimensions, \(1, 2\): the module takes 1, \(N,\)"),
        (
            {"a": X, "b": np.zeros(3, np.float32)},
            "dimension 0 of input 'b' is 3, but N is 2: N = 2 is dimension 0 of input 'a'",
        ),
    ],
)
def test_wrong_inputs_are_explained(add: Module, inputs: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message):
        add.run(inputs)


def test_a_wrong_number_of_inputs_is_explained(add: Module):
    with pytest.raises(UsageError, match=r"takes 2 inputs \(a: float32 \(N,\); b: float32 \(N,\)\); 1 given"):
        add(X)


@pytest.mark.parametrize("error", [BufferError("it is on a GPU"), KeyError("a defect of that library")])
def test_a_tensor_that_cannot_be_imported_is_explained(add: Module, error: Exception):
    class OnDevice:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **options: object) -> object:
            raise error

    with pytest.raises(UsageError, match=f"input 'a' cannot be read through DLPack: .*{error.args[0]}"):
        add(OnDevice(), X)


@pytest.mark.parametrize(("inputs", "kind"), [(None, "NoneType"), ([X], "list"), (X, "ndarray")])
def test_inputs_that_are_no_dictionary(add: Module, inputs: Any, kind: str):
    with pytest.raises(UsageError, match=f"^inputs is a {kind}: pass a dictionary of arrays by name$"):
        add.run(inputs)


def test_outputs_that_are_no_dictionary(add: Module):
    given: Any = [X]
    with pytest.raises(UsageError, match="^out is a list: pass a dictionary of arrays by name$"):
        add.run({"a": X, "b": X}, out=given)


def test_a_missing_input_is_not_asked_for(add: Module):
    given = defaultdict[str, np.ndarray](lambda: X, {"a": X})
    with pytest.raises(UsageError, match="'b' is missing"):
        add.run(given)
    assert list(given) == ["a"]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ({"z": X}, r"out\['z'\] is no output: the module returns y"),
        ({"y": [0.0, 0.0]}, r"out\['y'\] is a list: pass a numpy array"),
        ({"y": np.zeros(2)}, r"out\['y'\] is float64 \(2,\), the module writes float32 \(2,\)"),
        ({"y": np.zeros(3, np.float32)}, r"out\['y'\] is float32 \(3,\), the module writes float32 \(2,\)"),
        ({"y": np.zeros(4, np.float32)[::2]}, r"out\['y'\] must be a writable, aligned, C-contiguous array"),
        ({"y": X}, r"out\['y'\] overlaps input 'a': pass an array of its own"),
    ],
)
def test_wrong_outputs_are_explained(add: Module, out: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message):
        add.run({"a": X, "b": np.ones(2, np.float32)}, out=out)


def test_a_failed_check_raises_its_message(add: Module):
    with pytest.raises(TileworkError, match="N = 13 is unlucky: use 12"):
        add(np.zeros(13, np.float32), np.zeros(13, np.float32))


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"parameter 'w' is float32 \(1,\), the manifest has w: float32 \(2,\)"):
        add_module(parameters=(TensorSpec("w", "float32", (2,)),))


def test_code_for_another_machine_is_held_but_not_run(add: Module):
    foreign = add_module(target="llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+v")
    with pytest.raises(TileworkError, match="compiled for processor architecture riscv64, this machine has"):
        foreign(X, X)


def test_many_threads_call_one_module(add: Module):
    wrong: list[int] = []

    def call(seed: int) -> None:
        for n in (1 + seed, 5000, 17 + seed):
            a = np.random.default_rng(seed).integers(0, 100, n + (n == 13)).astype(np.float32)
            if not np.array_equal(add(a, a), a + a + np.float32(0.5)):
                wrong.append(seed)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_the_number_of_threads_is_passed_on():
    text = f"""
    define i32 @tilework_main({SIGNATURE}) {{
      %y = load ptr, ptr %outputs
      store i32 %num_threads, ptr %y
      ret i32 0
    }}"""
    manifest = Manifest(str(host_target()), (), (TensorSpec("y", "int32", ()),))
    module = Module(manifest, [compile_ir(text, host_target())], {})
    before = get_num_threads()
    try:
        set_num_threads(3)
        assert module() == 3
    finally:
        set_num_threads(before)


def test_dimensions_that_are_expressions_are_checked():
    specs = (TensorSpec("a", "float32", ("N", "M")), TensorSpec("b", "float32", ("2 * N + M", 4)))
    shapes = InputShapes(specs, ("N", "M"))
    assert shapes.bind([(3, 5), (11, 4)]) == {"N": 3, "M": 5}
    with pytest.raises(UsageError, match="dimension 0 of input 'b' is 12, but 2 . N . M is 11: .*N = 3 is dimension 0"):
        shapes.bind([(3, 5), (12, 4)])
    with pytest.raises(UsageError, match=r"'b' has shape \(11, 5\), .* takes \(2 . N . M, 4\): dimension 1 must be 4"):
        shapes.bind([(3, 5), (11, 5)])


def test_a_symbol_needs_a_dimension_of_its_own():
    with pytest.raises(ValueError, match="symbol 'N' is no input's dimension by itself: a: float32"):
        InputShapes((TensorSpec("a", "float32", ("2 * N",)),), ("N",))
