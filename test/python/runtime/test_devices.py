"""Programs whose kernels run on several devices: here this process under other names, by the tables that all have."""

from __future__ import annotations

import numpy as np
import pytest
from c_compilers import need_compiler
from programs import for_target
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.program_targets import HOST, set_targets
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.levels import write_levels
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.device import InProcessDevice
from tilework.targets import parse_target

TWO = """
func.func @main(%x: tensor<?x8xf32, #graph.dims<[N, 8]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %w = graph.parameter @w : tensor<4x8xf32>
  %a = graph.fused "first" (%x, %w) : (tensor<?x8xf32, #graph.dims<[N, 8]>>, tensor<4x8xf32>)
      -> (tensor<?x4xf32, #graph.dims<[N, 4]>>) attributes {device = "npu0"} {
  ^bb0(%p: tensor<?x8xf32, #graph.dims<[N, 8]>>, %q: tensor<4x8xf32>):
    %d = graph.dense %p, %q : (tensor<?x8xf32, #graph.dims<[N, 8]>>, tensor<4x8xf32>)
        -> tensor<?x4xf32, #graph.dims<[N, 4]>>
    graph.yield %d : tensor<?x4xf32, #graph.dims<[N, 4]>>
  }
  %b = graph.fused "second" (%a) : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> (tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  ^bb0(%p: tensor<?x4xf32, #graph.dims<[N, 4]>>):
    %d = graph.relu %p : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
    graph.yield %d : tensor<?x4xf32, #graph.dims<[N, 4]>>
  }
  %c = graph.fused "third" (%b, %a) : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[N, 4]>>)
      -> (tensor<?x4xf32, #graph.dims<[N, 4]>>) attributes {device = "npu1"} {
  ^bb0(%p: tensor<?x4xf32, #graph.dims<[N, 4]>>, %q: tensor<?x4xf32, #graph.dims<[N, 4]>>):
    %d = graph.sub %p, %q : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[N, 4]>>)
        -> tensor<?x4xf32, #graph.dims<[N, 4]>>
    graph.yield %d : tensor<?x4xf32, #graph.dims<[N, 4]>>
  }
  func.return %c : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
"""
"""A program of two devices, of which the second reads what the first and the host have made."""

WEIGHT = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)


def program(*devices: str, host: str = "llvm") -> ModuleOp:
    module = SourceParser(make_context(), TWO, "test").parse_module()
    set_targets(module, {HOST: parse_target(host), **dict.fromkeys(devices, parse_target("llvm"))})
    return module


def expected(x: np.ndarray) -> np.ndarray:
    a = x @ WEIGHT.T
    return np.maximum(a, 0) - a


@pytest.fixture(params=["llvm", "c"])
def compiled(request: pytest.FixtureRequest, tmp_path) -> tw.Module:
    if request.param == "c":
        need_compiler("cc")
    module = program("npu0", "npu1", host=request.param)
    return tw.compile(module, parameters={"w": WEIGHT}, cache=KernelCache(tmp_path))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_devices_compute_what_the_host_does(compiled: tw.Module, n: int):
    x = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), expected(x), rtol=1e-5, atol=1e-6)


def test_an_artefact_brings_the_code_of_devices(compiled: tw.Module, tmp_path):
    compiled.save(tmp_path / "m.tw")
    x = np.ones((3, 8), np.float32)
    loaded = tw.load(tmp_path / "m.tw")
    assert [use.name for use in loaded.manifest.devices] == ["npu0", "npu1"]
    np.testing.assert_array_equal(loaded(x), compiled(x))


def test_parameters_are_in_the_memory_of_their_device(compiled: tw.Module):
    assert [(spec.name, spec.device) for spec in compiled.manifest.parameters] == [("w.pack", "npu0")]


def test_what_a_device_raises_is_the_cause_of_the_failure(compiled: tw.Module, monkeypatch: pytest.MonkeyPatch):
    def fail(self, kernel, buffers, symbols):
        raise RuntimeError("out of tokens")

    monkeypatch.setattr(InProcessDevice, "launch", fail)
    with pytest.raises(TileworkError, match="device 'npu0': kernel 'tw_[0-9a-f]*' could not be run: out of tokens"):
        compiled(np.ones((3, 8), np.float32))


def test_a_library_of_c_has_no_devices(compiled: tw.Module, tmp_path):
    with pytest.raises(UsageError, match="a library of C runs on its host alone, this program on 'npu0' too"):
        compiled.save_library(tmp_path / "model")


def test_levels_are_written_for_every_device(tmp_path):
    """The code that people read is in a file of its own for each."""
    module = program("npu0", "npu1", host="c -mcpu=haswell")
    files = {path.name for path in write_levels(module, tmp_path)}
    assert files >= {"8-c.c", "8-npu0-llvm.ll", "8-npu1-llvm.ll"}
    assert "launch(" in (tmp_path / "8-c.c").read_text()
    assert "@third" in (tmp_path / "8-npu1-llvm.ll").read_text()


def test_a_device_without_a_target_is_refused(tmp_path):
    with pytest.raises(TileworkError, match="device 'npu1' is not among the program's targets, which are host, npu0"):
        tw.compile(program("npu0"), parameters={"w": WEIGHT}, cache=KernelCache(tmp_path))


def test_a_program_of_the_host_alone_asks_for_no_device(tmp_path):
    module = for_target(SourceParser(make_context(), TWO, "test").parse_module())
    for op in module.walk():
        op.attributes.pop("device", None)
    alone = tw.compile(module, parameters={"w": WEIGHT}, cache=KernelCache(tmp_path))
    x = np.ones((2, 8), np.float32)
    assert alone.manifest.devices == ()
    np.testing.assert_allclose(alone(x), expected(x), rtol=1e-5, atol=1e-6)
