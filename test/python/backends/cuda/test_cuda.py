"""Code for NVIDIA's devices: ptxas assembles PTX without a stack frame, NVRTC compiles CUDA C. None needs a GPU."""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import subprocess
from decimal import Decimal, localcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from gpu_programs import TENSOR_CORES, by_warps
from onnx import helper
from places import ROOT
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError
from tilework.backends.cuda.far_angles import define_far_angles
from tilework.backends.llvm.text import ModuleText
from tilework.dialects import loop
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.loop import run_loop_kernel
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.cuda.driver import driver
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.device import link as native_link
from tilework.targets import target_to_compile_for
from tilework.tools.bench.gpu.programs import matrix_product
from tilework.tools.bench.networks.catalogue import NETWORKS, SMALL
from tilework.tools.light_models import LIGHT_MODELS, load_light_model
from tilework.tools.opt_tool import main

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
KERNEL = ROOT / "test" / "lowering" / "compile-gpu-kernel.mlir"

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def nvidia_files(pattern: str) -> list[Path]:
    """Files of NVIDIA's wheels."""
    spec = find_spec("nvidia")
    return [
        file for root in (spec.submodule_search_locations or () if spec else ()) for file in Path(root).glob(pattern)
    ]


@pytest.fixture(scope="module")
def ptxas() -> str:
    found = (
        os.environ.get("TILEWORK_PTXAS") or next(map(str, nvidia_files("*/bin/ptxas")), None) or shutil.which("ptxas")
    )
    if found is None:
        pytest.skip("no ptxas: pip install --no-deps nvidia-cuda-nvcc")
    return found


def assemble(ptxas: str, ptx: str, folder: Path) -> None:
    """ptxas takes PTX, and keeps all that a thread has for itself in registers."""
    source = folder / "kernel.ptx"
    source.write_text(ptx)
    [arch] = re.findall(r"^\.target (sm_\w+)", ptx, re.MULTILINE)
    command = [ptxas, "-v", f"-arch={arch}", str(source), "-o", str(folder / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for stack, spilled in re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", done.stderr):
        assert int(stack) == 0 and int(spilled) <= 16, done.stderr


def programs(module: tw.Module) -> list[LaunchProgram]:
    """The kernels of a module on its device."""
    return [LaunchProgram.decode(code) for code in module.device_code["cuda0"].values()]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_cooperative_product(ptxas: str, arch: str, cache: KernelCache, tmp_path: Path):
    function = matrix_product(64, shared=True, target=f"cuda -arch={arch}", cache=cache)
    ptx = LaunchProgram.decode(function.object_code).source
    assert "bar.sync" in ptx or "barrier.sync" in ptx
    assert "ld.shared.f32" in ptx or "ld.shared.v4" in ptx or "ld.shared.b32" in ptx
    assert "ld.global.nc" in ptx, "what is only read is read through the read-only cache"
    assemble(ptxas, ptx, tmp_path)


def products() -> list[onnx.ModelProto]:
    """Layers that are products: of large matrices, of many small ones, convolutions of ResNet."""

    def layer(kind: str, left: tuple[int, ...], right: tuple[int, ...], **attributes: Any) -> onnx.ModelProto:
        ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, d) for n, d in (("a", left), ("b", right))]
        result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
        nodes = [helper.make_node(kind, ["a", "b"], ["z"], **attributes), helper.make_node("Relu", ["z"], ["y"])]
        return helper.make_model(helper.make_graph(nodes, kind, ends, [result]))

    return [
        layer("MatMul", (1024, 1024), (1024, 1024)),
        layer("MatMul", (4096, 4096), (4096, 4096)),
        layer("MatMul", (12, 128, 64), (12, 64, 128)),
        layer("Conv", (1, 3, 224, 224), (64, 3, 7, 7), strides=[2, 2], pads=[3, 3, 3, 3]),
        layer("Conv", (1, 64, 56, 56), (64, 64, 3, 3), pads=[1, 1, 1, 1]),
        layer("Conv", (1, 512, 7, 7), (512, 512, 3, 3), pads=[1, 1, 1, 1]),
    ]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_products_are_tiles_in_registers(arch: str, ptxas: str, cache: KernelCache, tmp_path: Path):
    for model in products():
        [program] = programs(tw.compile(model, target=f"cuda -arch={arch}", cache=cache))
        assert "ld.shared" in program.source and "fma.rn.f32" in program.source
        assemble(ptxas, program.source, tmp_path)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", ["FLOAT16", "BFLOAT16"])
def test_products_of_halves_are_multiplied_by_warps(
    dtype: str, arch: str, ptxas: str, cache: KernelCache, tmp_path: Path
):
    """Whatever the layout of the weights; elements that lie side by side are fetched side by side."""
    of = getattr(onnx.TensorProto, dtype)
    ends = [helper.make_tensor_value_info(name, of, [1024, 1024]) for name in "aby"]
    nodes = [helper.make_node("MatMul", ["a", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    model = helper.make_model(helper.make_graph(nodes, "halves", ends[:2], ends[2:]))
    found = [program.source for program in programs(tw.compile(model, target=f"cuda -arch={arch}", cache=cache))]
    assert any("mma.sync" in source for source in found)
    for source in found:
        assemble(ptxas, source, tmp_path)


@pytest.mark.parametrize("name", ["lstm_35", "encoder", "dcgan", "resnet18_qdq"])
def test_kernels_of_networks_are_assembled(name: str, ptxas: str, cache: KernelCache, tmp_path: Path):
    for program in programs(tw.compile(NETWORKS[name](**SMALL[name]), target="cuda", cache=cache)):
        assemble(ptxas, program.source, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_all_nine_graphs_are_assembled(name: str, ptxas: str, cache: KernelCache, tmp_path: Path):
    for program in programs(tw.compile(load_light_model(name), target="cuda", cache=cache)):
        assemble(ptxas, program.source, tmp_path)


def test_nvrtc_compiles_cuda_c(capsys: pytest.CaptureFixture[str]):
    libraries = nvidia_files("*/lib/libnvrtc.so*")
    if not libraries:
        pytest.skip("no NVRTC: pip install --no-deps nvidia-cuda-nvrtc")
    assert main([str(KERNEL), "-p", "compile-gpu-kernel", "--target=cuda", "-t", "cuda"]) == 0
    nvrtc, program, source = ctypes.CDLL(str(min(libraries))), ctypes.c_void_p(), capsys.readouterr().out.encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_80", b"-fmad=false")
    failed = nvrtc.nvrtcCompileProgram(program, 2, options)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert not failed, log.value.decode()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", TENSOR_CORES)
def test_warps_multiply_from_shared_memory(dtype: str, arch: str, ptxas: str, cache: KernelCache, tmp_path: Path):
    """A warp loads a tile of each factor once, and keeps sums in registers from one step to the next."""
    schedule, arguments = by_warps(128, dtype)
    function = tw.build(schedule, arguments, target=f"cuda -arch={arch}", cache=cache)
    source = LaunchProgram.decode(function.object_code).source
    assert source.count("mma.sync") == 2 * 8 and source.count("ldmatrix") == 2 * 4
    assemble(ptxas, source, tmp_path)


def test_tensor_cores_of_older_devices_are_refused(cache: KernelCache):
    schedule, arguments = by_warps(64, "float16")
    with pytest.raises(te.ScheduleError, match=r"@mma.f16 needs a device from sm_80 on, not sm_75"):
        tw.build(schedule, arguments, target="cuda -arch=sm_75", cache=cache)


def test_other_devices_have_no_tensor_cores(cache: KernelCache):
    schedule, arguments = by_warps(64, "float16")
    with pytest.raises(te.ScheduleError, match=r"an instruction for @mma"):
        tw.build(schedule, arguments, target="opencl -warp=32", cache=cache)


@pytest.mark.parametrize("dtype", TENSOR_CORES)
def test_warps_compute_what_te_says(dtype: str):
    """The interpreter lets the first thread of a warp stand for all, and finds the races of what a warp touches."""
    schedule, arguments = by_warps(64, dtype)
    module = tw.lower(schedule, arguments, target="cuda").module
    rng, of = np.random.default_rng(0), np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    a, b = (rng.integers(-4, 5, (64, 64)).astype(of) for _ in "ab")
    wanted = a.astype(np.float32) @ b.astype(np.float32)

    def run(program: ModuleOp) -> Any:
        kernel = next(op for op in program.ops if isinstance(op, loop.KernelOp))
        c = np.full((64, 64), np.nan, np.float32)
        run_loop_kernel(kernel, [a, b], [c])
        return c

    np.testing.assert_array_equal(run(module), wanted)
    barriers = sum(isinstance(op, loop.BarrierOp) for op in module.walk())
    assert barriers == 3
    for number in range(barriers):
        planted = module.clone()
        Rewriter.erase_op([op for op in planted.walk() if isinstance(op, loop.BarrierOp)][number])
        with pytest.raises(CompileError, match="threads of a block race"):
            run(planted)


def elementwise(function: Any, dtype: str) -> tuple[te.Schedule, list[te.Tensor]]:
    a = te.placeholder((8,), dtype, name="A")
    b = te.compute((8,), lambda i: function(a[i]), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [a, b]


def test_a_function_without_code_is_refused_before_llvm_sees_it():
    """LLVM would end the process."""
    with pytest.raises(te.ScheduleError, match="there is no 'math.exp' on f64 for NVIDIA's devices yet"):
        tw.build(*elementwise(te.exp, "float64"), target="cuda")


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_are_assembled(name: str, ptxas: str, cache: KernelCache, tmp_path: Path):
    function = tw.build(*elementwise(getattr(te, name), "float32"), target="cuda", cache=cache)
    assemble(ptxas, LaunchProgram.decode(function.object_code).source, tmp_path)


@pytest.mark.parametrize("name", ["sinf", "cosf", "tanf"])
def test_angles_far_from_zero(name: str):
    """The code for devices, run by this processor: three units in the last place of a float, infinities no numbers."""
    text = ModuleText(target_to_compile_for("llvm"))
    text.declare(name, f"declare float @{name}(float)")
    text.declare("sinf", "declare float @sinf(float)")
    define_far_angles(text)
    export = f"""define void @run(ptr %x, ptr %y) {{
  %a = load float, ptr %x, align 4
  %b = call float @{name}(float %a)
  store float %b, ptr %y, align 4
  ret void
}}
"""
    text.define("run", export)
    code = native_link([compile_ir(str(text), text.target)], "llvm", "run", [ctypes.c_void_p] * 2, None).code()
    rng = np.random.default_rng(0)
    far = np.exp2(rng.uniform(28, 128, 300)).astype(np.float32) * rng.choice([-1, 1], 300).astype(np.float32)
    y = np.empty(1, np.float32)
    for x in (*far, np.float32(2**28), np.finfo(np.float32).max):
        with localcontext(prec=110):
            wanted = getattr(math, name[:3])(float(Decimal(float(x)) % (2 * PI)))
        given = np.array([x], np.float32)
        code.entry(given.ctypes.data, y.ctypes.data)
        assert abs(y[0] - wanted) <= 3 * np.spacing(np.float32(abs(wanted))), x
    for x in (np.inf, -np.inf, np.nan):
        given = np.array([x], np.float32)
        code.entry(given.ctypes.data, y.ctypes.data)
        assert np.isnan(y[0])


def test_a_machine_without_a_driver_says_so(cache: KernelCache):
    try:
        driver()
    except TileworkError as error:
        assert "this machine has no driver for NVIDIA's devices" in str(error)
    else:
        pytest.skip("this machine has a driver")
    compiled = tw.compile(DIGITS, target="cuda", cache=cache)
    with pytest.raises(TileworkError, match="this machine has no driver for NVIDIA's devices"):
        compiled(np.zeros((1, 1, 8, 8), np.float32))
