"""What is asked of NVIDIA's driver, which a Python object stands for; arrays of devices are taken as they are."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeCuda

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.cuda import device
from tilework.runtime.devices.cuda.driver import Driver
from tilework.runtime.devices.launch_program import LaunchProgram

N = 100


def plus_one(arguments: list[int], blocks: tuple[int, ...], threads: tuple[int, ...]) -> None:
    """What the kernel below does."""
    assert blocks == (4, 1, 1) and threads == (32, 1, 1)
    x, y = ((ctypes.c_float * N).from_address(address) for address in arguments)
    for i in range(N):
        y[i] = x[i] + 1


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    library = FakeCuda({"te_kernel_0": plus_one})
    driver = Driver(library)
    monkeypatch.setattr(device, "driver", lambda: driver)
    return library


@pytest.fixture
def function(cuda: FakeCuda, tmp_path: Path) -> Any:
    a = te.placeholder((N,), name="A")
    b = te.compute((N,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    block, thread = s[b].split(b.op.axis[0], factor=32)
    s[b].bind(block, te.thread_axis("blockIdx.x"))
    s[b].bind(thread, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b], target="cuda", cache=KernelCache(tmp_path))


class OnDevice:
    """An array of another library, by the interface that CUDA's libraries share."""

    def __init__(self, array: Any, **others: Any):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3, **others
        }  # fmt: skip


class Exported(OnDevice):
    """The same by DLPack, whose capsules numpy writes; they are said to be of a device."""

    def __init__(self, array: Any, kind: int = 2):
        self.array, self.kind, self.streams = array, kind, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, stream: int) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_arrays_of_the_host_are_copied(cuda: FakeCuda, function: Any):
    x, y = np.arange(N, dtype=np.float32), np.empty(N, np.float32)
    function(x, y)
    np.testing.assert_array_equal(y, x + 1)
    assert [call for call in cuda.calls if "Memcpy" in call] == ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"]
    assert ".target sm_80" in cuda.sources[0] and not cuda.blocks, "memory is given back"


@pytest.mark.parametrize("kind", [OnDevice, Exported])
def test_arrays_of_the_device_are_not_copied(kind: Any, cuda: FakeCuda, function: Any):
    x, y = np.arange(N, dtype=np.float32), np.empty(N, np.float32)
    given = kind(x), kind(y)
    function(*given)
    np.testing.assert_array_equal(y, x + 1)
    assert not [call for call in cuda.calls if "Mem" in call], "nothing is copied, nor allocated"
    assert cuda.calls[-1] == "cuStreamSynchronize"
    if kind is Exported:
        assert given[0].streams == [7], "what made the array comes first on the stream"


def test_a_stream_on_which_an_array_is_made_is_waited_for(cuda: FakeCuda, function: Any):
    x, y = np.arange(N, dtype=np.float32), np.empty(N, np.float32)
    function(OnDevice(x, stream=2), OnDevice(y, stream=None))
    assert cuda.calls.count("cuStreamSynchronize") == 2
    assert cuda.calls.index("cuStreamSynchronize") < cuda.calls.index("cuLaunchKernel")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (lambda x: OnDevice(x), lambda x: x, "'B' is on the host, and other arrays are on a device"),
        (lambda x: OnDevice(x), lambda x: OnDevice(x), "'B' is written and overlaps 'A'"),
        (lambda x: OnDevice(x[:50]), lambda x: OnDevice(x.copy()), r"\(50,\)"),
        (lambda x: OnDevice(x), lambda x: OnDevice(x[:50].copy()), r"'B' has shape \(50,\), .* writes \(100,\)"),
        (lambda x: OnDevice(x), lambda x: OnDevice(x.astype(np.int32)), "'B' is int32, .* takes float32"),
        (lambda x: OnDevice(x, strides=(8,)), lambda x: OnDevice(x.copy()), r"'A' has strides \(2,\) on its device"),
        (lambda x: Exported(x, 10), lambda x: Exported(x.copy(), 10), "'A' is on another kind of device"),
    ],
)
def test_arrays_that_do_not_fit(a: Any, b: Any, message: str, function: Any):
    x = np.zeros(N, np.float32)
    with pytest.raises(UsageError, match=message):
        function(a(x), b(x))


def test_a_kernel_of_the_host_takes_no_arrays_of_devices(tmp_path: Path):
    a = te.placeholder((N,), name="A")
    b = te.compute((N,), lambda i: a[i] + 1, name="B")
    function = tw.build(te.create_schedule(b.op), [a, b], cache=KernelCache(tmp_path))
    x = np.zeros(N, np.float32)
    with pytest.raises(UsageError, match="takes arrays of the host: copy those of devices there"):
        function(OnDevice(x), OnDevice(x.copy()))


def test_events_say_how_long_the_device_took(cuda: FakeCuda):
    driver = Driver(cuda)
    assert driver.seconds_of(lambda: cuda.calls.append("work")) == 2.5e-3
    assert cuda.calls.count("cuEventDestroy_v2") == 2
    recorded = [call for call in cuda.calls if call in ("cuEventRecord", "work", "cuEventSynchronize")]
    assert recorded == ["cuEventRecord", "work", "cuEventRecord", "cuEventSynchronize"]


def test_work_that_is_repeated_is_a_graph(cuda: FakeCuda):
    driver = Driver(cuda)
    repeated = driver.prepared(lambda: cuda.calls.append("work"))
    repeated()
    repeated()
    assert cuda.calls[-7:] == [
        "cuStreamBeginCapture_v2", "work", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphDestroy",
        "cuGraphLaunch", "cuGraphLaunch",
    ]  # fmt: skip


def test_what_the_driver_refuses_is_said_with_its_words(cuda: FakeCuda):
    driver = Driver(cuda)
    with pytest.raises(TileworkError, match=r"CUDA: cuMemAlloc_v2 fails: out of memory \(2\)"):
        driver.allocate(1 << 31)
    with pytest.raises(TileworkError, match=r"CUDA: cuModuleLoadDataEx fails: invalid ptx \(218\)"):
        driver.load(LaunchProgram("broken", (), (), ()))
