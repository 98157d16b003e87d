"""The simulator runs compiled kernels for a VDLA as a device."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from places import ROOT
from vdla_kernels import Product

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.kernel_function import kernel_function
from tilework.driver.read_program import kernels_of
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.registry import link, open_device
from tilework.runtime.devices.vdla.assembly import parse_stream
from tilework.runtime.devices.vdla.device import VdlaDevice
from tilework.runtime.devices.vdla.encoding import encode
from tilework.runtime.devices.vdla.findings import StreamError
from tilework.runtime.devices.vdla.program import Buffer, Program
from tilework.runtime.function import Function
from tilework.runtime.manifest import DeviceKernel, DeviceUse
from tilework.tools import cli

PRODUCT = Product(4, 4, 4, tile=(2, 2, 2), biased=True)
KERNEL = ROOT / "test" / "lowering" / "compile-vdla-kernel.mlir"


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Function:
    module = SourceParser(make_context(), PRODUCT.text(), "product.mlir").parse_module()
    [kernel] = kernels_of(module).values()
    return kernel_function(kernel, KernelCache(tmp_path_factory.mktemp("kernels")))


def test_a_kernel_is_a_function_of_arrays(function: Function):
    *operands, result = PRODUCT.arguments()
    function(*operands, result)
    np.testing.assert_array_equal(result, PRODUCT.expected(*operands, result))


def test_a_program_is_read_back():
    program = Program(b"stream", (Buffer(0, 64, False), Buffer(256, 3, True)))
    assert Program.decode(program.encode()) == program
    assert program.dram_bytes == 259


def test_a_device_counts_runs_and_tells_what_they_take(function: Function):
    use = DeviceUse("npu", "vdla", (DeviceKernel("te_kernel", 4, 0, "product"),), 0)
    device = open_device(use, {"te_kernel": function.object_code})
    assert isinstance(device, VdlaDevice) and device.report() == []
    arrays = PRODUCT.arguments()
    addresses = (ctypes.c_void_p * 4)(*(array.ctypes.data for array in arrays))
    for _ in range(2):
        device.launch(0, addresses, None)
    np.testing.assert_array_equal(arrays[-1], PRODUCT.expected(*arrays))
    [(label, runs, report)] = device.report()
    assert (label, runs) == ("product", 2) and report.gemm_cycles == 4 * 4 * 4


def test_a_stream_that_is_not_clean_is_an_error():
    """The result of a kernel is never what a race has left."""
    stream = encode(parse_stream("load.inp dram=0 rows=1 columns=1\nfinish\n"))
    kernel = link([Program(stream, (Buffer(0, 16, False),)).encode()], "vdla", "kernel", [])
    data = np.zeros(16, np.uint8)
    with pytest.raises(StreamError, match=r"instruction 0 \(load.inp\) may still run"):
        kernel.code().entry(data.ctypes.data)


def test_the_command_line_runs_a_kernel(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["run", str(KERNEL), "--target=vdla", "--random", "1"]) == 0
    assert "(4, 4, 16)" in capsys.readouterr().out
