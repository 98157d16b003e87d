"""Plugins: what they bring is found as in the tree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from places import ROOT
from plugin_packages import forgotten, make_plugin  # noqa: F401

import tilework as tw
from tilework import te
from tilework.dialects.support.registration import load_dialect
from tilework.driver.choose_targets import choose_targets
from tilework.driver.kernel_function import kernel_function
from tilework.driver.pool import CompilePool
from tilework.driver.read_program import kernels_of, read_program
from tilework.driver.registry import tilework_passes
from tilework.driver.worker import FailedKernel, KernelJob
from tilework.frontends.onnx import import_onnx
from tilework.lowering.pipelines import loops_of
from tilework.plugins.packages import child_environment, load_plugin, plugins, plugins_until_end
from tilework.rules.registry import algorithms, rules_for
from tilework.runtime.cache import KernelCache, source_hash
from tilework.tools import cli, opt_tool
from tilework.tools.lit_in_process import run_test

EXAMPLE = ROOT / "examples" / "plugin"
PACKAGE = EXAMPLE / "tilework_python"

PASS = """
from dataclasses import dataclass
from xdsl.context import Context
from xdsl.ir import Operation
from tilework.transforms.base import TileworkPass

@dataclass(frozen=True)
class Nothing(TileworkPass):
    name = "NAME"
    def run(self, ctx: Context, op: Operation) -> None: ...
"""


ON_TWO_DEVICES = """
builtin.module attributes {tilework.targets = {host = "llvm", py0 = "python"}} {
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<3x8xf32>) -> tensor<4x3xf32> {
    %a = graph.fused "product" (%x, %w) : (tensor<4x8xf32>, tensor<3x8xf32>) -> (tensor<4x3xf32>)
        attributes {device = "py0"} {
    ^bb0(%p: tensor<4x8xf32>, %q: tensor<3x8xf32>):
      %d = graph.dense %p, %q : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
      graph.yield %d : tensor<4x3xf32>
    }
    %y = graph.relu %a : (tensor<4x3xf32>) -> tensor<4x3xf32>
    func.return %y : tensor<4x3xf32>
  }
}
"""


# ---- The example -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted((EXAMPLE / "test").glob("*.mlir")), ids=lambda file: file.name)
def test_the_example_does_what_its_tests_say(file: Path, tmp_path: Path):
    assert (failure := run_test(file, tmp_path)) is None, failure


def test_the_example_is_short():
    lines = [line for file in PACKAGE.rglob("*.py") for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) < 200


def test_a_schedule_built_for_the_examples_target_runs_in_python(tmp_path: Path):
    load_plugin(PACKAGE)
    x = te.placeholder((5, 7), name="x")
    k = te.reduce_axis((0, 7), name="k")
    sums = te.compute((5,), lambda i: te.sum(x[i, k], axis=k), name="sums")
    y = te.compute((5,), lambda i: te.sqrt(sums[i]) + 1.0, name="y")
    function = tw.build(te.create_schedule(y.op), [x, y], target="python", cache=KernelCache(tmp_path))
    values, result = np.random.default_rng(0).random((5, 7), np.float32), np.zeros(5, np.float32)
    function(values, result)
    np.testing.assert_allclose(result, np.sqrt(values.sum(1)) + 1, rtol=1e-5)
    assert function.object_code.startswith(b"def te_kernel(")


def test_a_model_runs_some_of_its_kernels_in_python(tmp_path: Path):
    """The example's target is a device beside the host; an artefact needs the plugin again."""
    load_plugin(PACKAGE)
    (tmp_path / "two.mlir").write_text(ON_TWO_DEVICES)
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((4, 8), np.float32), rng.standard_normal((3, 8), np.float32)
    model = tw.compile(tmp_path / "two.mlir", cache=KernelCache(tmp_path / "cache"))
    np.testing.assert_allclose(model(x, w), np.maximum(x @ w.T, 0), rtol=1e-5, atol=1e-5)
    model.save(tmp_path / "two.tw")
    np.testing.assert_array_equal(tw.load(tmp_path / "two.tw")(x, w), model(x, w))
    command = [sys.executable, "-m", "tilework.tools.cli", "run", str(tmp_path / "two.tw"), "--random", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "nothing here runs code for targets of kind 'python'" in done.stderr


def test_a_model_is_refused_where_a_target_runs_no_host_function():
    load_plugin(PACKAGE)
    with pytest.raises(tw.TileworkError, match="targets of kind 'python' run kernels and no function @main"):
        tw.compile(snake_model(), target="python")


def test_the_operator_of_the_example_is_imported_and_compiled(tmp_path: Path):
    load_plugin(PACKAGE)
    x = np.linspace(-3, 3, 11, dtype=np.float32)
    module = tw.compile(snake_model(), cache=KernelCache(tmp_path))
    np.testing.assert_allclose(module(x), x + np.sin(2 * x) ** 2 / 2, rtol=1e-5, atol=1e-6)


def test_an_operator_that_nobody_brings_is_unknown():
    with pytest.raises(tw.TileworkError, match="elsewhere.Snake"):
        import_onnx(snake_model("elsewhere"))


def snake_model(domain: str = "audio") -> onnx.ModelProto:
    """One node of an operator that the example brings."""
    node = helper.make_node("Snake", ["x"], ["y"], domain=domain, alpha=2.0)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [11]) for name in ("x", "y")]
    imports = [helper.make_opsetid("", 20), helper.make_opsetid(domain, 1)]
    return helper.make_model(helper.make_graph([node], "snake", values[:1], values[1:]), opset_imports=imports)


# ---- What is found ---------------------------------------------------------------------------------------------------


def test_a_dialect_of_a_plugin(tmp_path: Path):
    text = 'from xdsl.ir import Dialect\nBag = Dialect("sketch", [])\n'
    load_plugin(make_plugin(tmp_path / "with_dialect", {"dialects/sketch.py": text}))
    assert load_dialect("sketch").name == "sketch"


def test_a_rule_for_processors(tmp_path: Path):
    """The one with the highest benefit writes the schedule, wherever it comes from."""
    text = """
from tilework.rules.base import Plan, ScheduleRule

class Plain(ScheduleRule):
    BENEFIT = 1000
    def match(self, kernel, target, parameters): return PlainPlan(kernel, target, parameters)

class PlainPlan(Plan):
    def write(self, s): pass
"""
    plugin = make_plugin(tmp_path / "plain_rule", {"rules/cpu/plain.py": text})

    def names() -> list[str]:
        return [type(rule).__name__ for rule in rules_for("cpu")]

    without = names()
    with plugins_until_end():
        load_plugin(plugin)
        assert names() == ["Plain", *without]
    assert names() == without


def test_a_rule_that_lacks_a_method(tmp_path: Path):
    text = "from tilework.rules.base import ScheduleRule\n\nclass Half(ScheduleRule):\n    BENEFIT = 7\n"
    with plugins_until_end():
        load_plugin(make_plugin(tmp_path / "half_rule", {"rules/cpu/half.py": text}))
        with pytest.raises(tw.TileworkError, match=r"half_rule.rules.cpu.half.Half is no ScheduleRule: it lacks match"):
            rules_for("cpu")


def test_an_algorithm(tmp_path: Path):
    """It is found by its folder, as those of the tree are."""
    text = """
from tilework.rules.algorithms.base import Algorithm

class Never(Algorithm):
    ACCURACY = "It is not used."

    @classmethod
    def proposals(cls, product, precision, target): return ()
    def transform(self, weight, product): return []
    def multiply(self, product, transformed): return []
"""
    without = list(algorithms())
    with plugins_until_end():
        load_plugin(make_plugin(tmp_path / "never_used", {"rules/algorithms/never.py": text}))
        assert set(algorithms()) == {"Never", *without}
    assert list(algorithms()) == without


TWICE = """
// A number twice.
te.intrinsic @mine.twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  te.yield %y : f32
}
"""
TWICE_IN_LLVM = """
def twice(e, op):
    [x] = op.arguments
    e.define(op.result, f"fmul {e.type(x)} {e.get(x)}, splat (float 0x4000000000000000)")

HANDLERS = {"mine.twice": twice}
"""
TWICE_OF_ALL = """te.kernel @k(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] : tensor<64xf32> {
    %v = te.read %x[i] : tensor<64xf32>
    %w = te.call_intrinsic @mine.twice(%v) : (f32) -> f32
    te.yield %w : f32
  }
  te.return %y : tensor<64xf32>
}
"""


def test_an_intrinsic(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What it means lies in the plugin's library, how LLVM writes it in the plugin's emitters."""
    (tmp_path / "k.mlir").write_text(TWICE_OF_ALL)
    files = {"dialects/isa/mine.mlir": TWICE, "backends/llvm/intrinsics/mine.py": TWICE_IN_LLVM}
    folder = make_plugin(tmp_path / "taker", files)
    command = ["--load-plugin", str(folder), str(tmp_path / "k.mlir"), "-p", "compile-kernel", "--target=llvm"]
    assert opt_tool.main([*command, "-t", "llvmir"]) == 0
    assert "fmul <64 x float> %v1, splat (float 0x4000000000000000)" in capsys.readouterr().out
    load_plugin(folder)
    x, y = np.arange(64, dtype=np.float32), np.empty(64, np.float32)
    module = read_program(str(tmp_path / "k.mlir"))
    choose_targets(module, {})
    [kernel] = kernels_of(module).values()
    kernel_function(kernel, KernelCache(tmp_path / "cache"))(x, y)
    np.testing.assert_array_equal(y, 2 * x)


def test_a_pipeline_for_a_family(tmp_path: Path):
    """Without a pipeline of its own, a family's kernels are lowered by the passes of processors."""
    text = "from tilework.lowering.schedule_to_loop import ScheduleToLoop\nLOOPS = (ScheduleToLoop(),)\n"
    load_plugin(PACKAGE)
    assert loops_of("python") == loops_of("cpu")
    load_plugin(make_plugin(tmp_path / "own_loops", {"lowering/pipelines/python.py": text}))
    assert [p.name for p in loops_of("python")] == ["schedule-to-loop"]


def test_a_package_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = PASS.replace("NAME", "graph-found-by-name")
    make_plugin(tmp_path / "outer" / "inner", {"transforms/graph/found_by_name.py": text})
    monkeypatch.syspath_prepend(tmp_path)
    tw.load_plugin("outer.inner")
    assert "graph-found-by-name" in tilework_passes()
    with plugins_until_end():
        load_plugin("outer.inner")
        assert len(plugins()) == 1


def test_plugins_of_a_command_line_are_there_for_that_command(capsys: pytest.CaptureFixture[str]):
    assert opt_tool.main(["--load-plugin", str(PACKAGE), "--list-passes"]) == 0
    assert "graph-cancel-negations" in capsys.readouterr().out
    assert opt_tool.main(["--list-passes"]) == 0
    assert "graph-cancel-negations" not in capsys.readouterr().out and not plugins()


def test_doctor_names_plugins(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["doctor", "--load-plugin", str(PACKAGE)]) == 0
    assert f"tilework_python in {PACKAGE}" in capsys.readouterr().out


def test_plugins_that_are_loaded_again_are_the_same():
    load_plugin(PACKAGE)
    load_plugin(str(PACKAGE))
    assert [plugin.name for plugin in plugins()] == ["tilework_python"]


# ---- Other processes and the cache -----------------------------------------------------------------------------------


def test_workers_load_what_their_parent_has(tmp_path: Path):
    """The operator is known in processes that start now, and was not known in those of before."""
    text = """builtin.module attributes {tilework.targets = "python"} {
      te.kernel @copy(%x: tensor<3xf32>) -> tensor<3xf32> {
        %y = te.compute "y" [i: 3] : tensor<3xf32> {
          %0 = te.read %x[i] : tensor<3xf32>
          te.yield %0 : f32
        }
        te.return %y : tensor<3xf32>
      }
    }"""
    jobs = [KernelJob(text, "copy")] * 6
    with CompilePool(2) as pool:
        assert all(isinstance(outcome, FailedKernel) for outcome in pool.run(jobs))
    load_plugin(PACKAGE)
    with CompilePool(2) as pool:
        outcomes = pool.run(jobs)
    assert not [outcome for outcome in outcomes if isinstance(outcome, FailedKernel)]


def test_a_process_of_the_environment_that_a_parent_gives(tmp_path: Path):
    load_plugin(PACKAGE)
    program = (
        "import json; from tilework.plugins.packages import plugins; print(json.dumps([p.name for p in plugins()]))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=child_environment(), capture_output=True, text=True)
    assert json.loads(done.stdout) == ["tilework_python"], done.stderr


def test_kernels_made_without_a_plugin_or_before_an_edit_are_not_met(tmp_path: Path):
    without = source_hash()
    plugin = make_plugin(tmp_path / "edited", {"rules/cpu/one.py": "x = 1\n"})
    with plugins_until_end():
        load_plugin(plugin)
        before = source_hash()
    assert source_hash() == without != before
    program = f"""
import tilework as tw
from tilework.runtime.cache import source_hash
tw.load_plugin({str(plugin)!r})
print(source_hash())
"""
    hashes = [before]
    for file, text in (("one.py", "x = 1\n"), ("one.py", "x = 2\n"), ("text.c", "")):
        (plugin / "rules" / "cpu" / file).write_text(text)
        hashes.append(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip())
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3


def test_an_artefact_is_loaded_and_run_without_a_look_at_plugins(tmp_path: Path):
    model = tw.compile(ROOT / "examples" / "digits" / "digits.onnx", cache=KernelCache(tmp_path / "cache"))
    model.save(tmp_path / "digits.tw")
    program = f"""
import numpy as np
import tilework as tw
from tilework.plugins import packages
def asked(**_): raise AssertionError("plugins were asked for")
packages.entry_points = asked
m = tw.load({str(tmp_path / "digits.tw")!r})
m(np.zeros((1, 1, 8, 8), np.float32))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- What is wrong with a plugin -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("no_such_plugin", "plugin 'no_such_plugin' cannot be imported: ModuleNotFoundError: No module named"),
        ("json.tool", "plugin 'json.tool' is one file: a plugin is a package, with folders such as rules/cpu"),
        ("./x.py", "x.py' is one file: a plugin is a package, with folders such as rules/cpu"),
        ("./gone", "gone' is no package: there is no "),
    ],
)
def test_what_is_no_package(given: str, message: str, capsys: pytest.CaptureFixture[str]):
    assert opt_tool.main(["--load-plugin", given]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("opt-tool: error: plugin '") and message in line
    assert cli.main(["doctor", "--load-plugin", given]) == 1
    assert message in capsys.readouterr().err


def test_a_folder_without_a_slash_is_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    make_plugin(tmp_path / "here_it_lies", {})
    monkeypatch.chdir(tmp_path)
    assert opt_tool.main(["--load-plugin", "here_it_lies"]) == 1
    assert capsys.readouterr().err.endswith("; the folder is given as ./here_it_lies\n")


def test_a_plugin_that_fails(tmp_path: Path):
    plugin = make_plugin(tmp_path / "failing", {}, "1 / 0")
    with pytest.raises(tw.TileworkError, match="failing' cannot be imported: ZeroDivisionError: division by zero$"):
        load_plugin(plugin)


def test_what_names_no_plugin():
    with pytest.raises(tw.UsageError, match="^a plugin is named by a module or a path, not by a value of type int$"):
        load_plugin(3)  # pyright: ignore[reportArgumentType]


def test_two_plugins_of_one_name(tmp_path: Path):
    load_plugin(make_plugin(tmp_path / "a" / "same", {}))
    with pytest.raises(tw.TileworkError, match="is called 'same', as is another module of Python: rename it"):
        load_plugin(make_plugin(tmp_path / "b" / "same", {}))
