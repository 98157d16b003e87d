"""`tilework run` and `compile`, and `tw.compile`, on `.mlir` files: one program at every level gives one answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilework as tw
from tilework.tools import cli, opt_tool

GRAPH = """
func.func @main(%x: tensor<6x64xf32>, %w: tensor<32x64xf32>) -> tensor<6x32xf32> {
  %0 = graph.dense %x, %w : (tensor<6x64xf32>, tensor<32x64xf32>) -> tensor<6x32xf32>
  %y = graph.relu %0 : (tensor<6x32xf32>) -> tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
"""
WITH_PARAMETER = """
func.func @main(%x: tensor<6x64xf32>) -> tensor<6x32xf32> {
  %w = graph.parameter @w : tensor<32x64xf32>
  %0 = graph.dense %x, %w : (tensor<6x64xf32>, tensor<32x64xf32>) -> tensor<6x32xf32>
  %y = graph.relu %0 : (tensor<6x32xf32>) -> tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
"""
ROW_SUMS = """
te.kernel @row_sums(%x: tensor<?x5xf32, #graph.dims<[N, 5]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %sums = te.compute "sums" [i: N] reduce [k: 5] : tensor<?xf32, #graph.dims<[N]>> {
    %e = te.read %x[i, k] : tensor<?x5xf32, #graph.dims<[N, 5]>>
    te.reduce add %e : f32
  }
  te.return %sums : tensor<?xf32, #graph.dims<[N]>>
}
"""
SCHEDULE = """
schedule.sequence @dense_relu {
  %relu, %i0, %i1 = schedule.stage "relu" [i0, i1]
  %dense, %i, %j, %k = schedule.stage "dense" [i, j, k]
  schedule.compute_at %dense, %i1
}
"""
SLOW_SUMS = """
schedule.sequence @row_sums {
  %sums, %i, %k = schedule.stage "sums" [i, k]
  %o, %l = schedule.split %k factor 2
}
"""
PIPELINES = {
    "graph": "",
    "fused": "optimize-graph,apply-rules",
    "te": "optimize-graph,apply-rules,lower-to-te",
    "schedule": "optimize-graph,apply-rules,lower-to-te,order-calls,schedule-kernels",
    "loop": "optimize-graph,apply-rules,lower-to-te,order-calls,compile-kernel",
    "host": "optimize-graph,apply-rules,lower-to-te,order-calls,compile-kernel,plan-host",
}
"""How a program comes to each level."""

X = np.random.default_rng(0).standard_normal((6, 64), np.float32)
W = np.random.default_rng(1).standard_normal((32, 64), np.float32)

Tilework = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture
def tilework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tilework:
    """Run `tilework` in a folder with the files above: its status, and the lines that it writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWORK_CACHE", str(tmp_path / "cache"))
    files = {"graph": GRAPH, "parameter": WITH_PARAMETER, "sums": ROW_SUMS, "schedule": SCHEDULE, "slow": SLOW_SUMS}
    for name, text in files.items():
        (tmp_path / f"{name}.mlir").write_text(text)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "w.npy", W)

    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        capsys.readouterr()
        status = cli.main(arguments)
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err.splitlines()

    return run


def lowered(level: str, folder: Path) -> str:
    """The name of a file with GRAPH at a level."""
    name = f"{level}-level.mlir"
    words = ["graph.mlir", "--target=host", "-p", PIPELINES[level], "-o", str(folder / name)]
    assert opt_tool.main(words if PIPELINES[level] else ["graph.mlir", "-o", str(folder / name)]) == 0
    return name


@pytest.mark.parametrize("level", PIPELINES)
def test_a_program_at_every_level(level: str, tilework: Tilework, tmp_path: Path):
    file = lowered(level, tmp_path)
    x, w, y = ("x", "w", "y") if level in ("graph", "fused") else ("input0", "input1", "output0")
    given = ("--input", f"{x}=x.npy", "--input", f"{w}=w.npy", "--out", "out")
    status, (head, line), _ = tilework("run", file, *given)
    assert status == 0 and head.split() == ["output", "shape", "dtype", "min", "max", "mean"]
    assert line.startswith(f"{y} ")
    np.testing.assert_allclose(np.load(f"out/{y}.npy"), np.maximum(X @ W.T, 0), rtol=1e-4, atol=1e-4)
    status, (said, *_), _ = tilework("compile", file, "-o", "program.tw")
    assert status == 0 and said.startswith("program.tw: ")
    np.testing.assert_allclose(tw.load("program.tw")(X, W), np.maximum(X @ W.T, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("level", ["graph", "te"])
def test_a_schedule_from_a_file_takes_the_place_of_a_rules(level: str, tilework: Tilework, tmp_path: Path):
    """The kernel is compiled anew, once: its code is not that of the rule's schedule."""
    file = lowered(level, tmp_path)
    assert "kernels: 1 generated, 0 from the cache" in tilework("compile", file, "-o", "a.tw")[1]
    scheduled = ("compile", file, "-o", "b.tw", "--schedule", "schedule.mlir")
    assert "kernels: 1 generated, 0 from the cache" in tilework(*scheduled)[1]
    assert "kernels: 0 generated, 1 from the cache" in tilework(*scheduled)[1]
    np.testing.assert_allclose(tw.load("b.tw")(X, W), tw.load("a.tw")(X, W), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("more", [(), ("--schedule", "slow.mlir")])
def test_a_kernel_alone(more: tuple[str, ...], tilework: Tilework):
    np.save("x.npy", X[:, :5])
    assert tilework("run", "sums.mlir", "--input", "x=x.npy", "--out", "out", *more)[0] == 0
    np.testing.assert_allclose(np.load("out/sums.npy"), X[:, :5].sum(1), rtol=1e-5, atol=1e-6)
    status, (_, line), _ = tilework("run", "sums.mlir", "--random", "1", "--dim", "N=3", *more)
    assert status == 0 and line.split()[:2] == ["sums", "(3,)"]


def test_a_kernel_at_loop(tilework: Tilework, tmp_path: Path):
    assert opt_tool.main(["sums.mlir", "--target=host", "-p", "compile-kernel", "-o", "loops.mlir"]) == 0
    np.save("x.npy", X[:, :5])
    assert tilework("run", "loops.mlir", "--input", "x=x.npy", "--out", "out")[0] == 0
    np.testing.assert_allclose(np.load("out/sums.npy"), X[:, :5].sum(1), rtol=1e-5, atol=1e-6)


def test_one_of_several_kernels(tilework: Tilework, tmp_path: Path):
    Path("two.mlir").write_text(ROW_SUMS + ROW_SUMS.replace("@row_sums", "@others").replace("reduce add", "reduce max"))
    np.save("x.npy", X[:, :5])
    assert tilework("run", "two.mlir", "--kernel", "others", "--input", "x=x.npy", "--out", "out")[0] == 0
    np.testing.assert_array_equal(np.load("out/sums.npy"), X[:, :5].max(1))


def test_the_target_of_a_file(tilework: Tilework):
    """It holds unless another one is given."""
    Path("far.mlir").write_text(
        f'module attributes {{tilework.targets = "llvm -mtriple=aarch64-linux-gnu"}} {{{GRAPH}}}'
    )
    assert tw.compile("far.mlir").manifest.target.startswith("llvm -mtriple=aarch64-linux-gnu")
    assert "aarch64" not in tw.compile("far.mlir", target="llvm -mcpu=haswell").manifest.target
    assert tilework("run", "far.mlir", "--random", "1", "--target", "llvm")[0] == 0


def test_compile_in_python(tilework: Tilework):
    model = tw.compile(Path("parameter.mlir"), parameters={"w": W})
    np.testing.assert_allclose(model(X), np.maximum(X @ W.T, 0), rtol=1e-4, atol=1e-4)
    assert [spec.name for spec in model.inputs] == ["x"]
    with pytest.raises(tw.TileworkError, match="^there are no data for @w: give them in Python"):
        tw.compile("parameter.mlir")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("run", "gone.mlir"), 1, "cannot read gone.mlir: No such file or directory"),
        (("run", "bad.mlir"), 1, "bad.mlir:2:8: unknown operation 'graph.rely'; did you mean 'graph.relu'?"),
        (("run", "bytes.mlir"), 1, "cannot read bytes.mlir: it is not text in UTF-8"),
        (
            ("run", "invalid.mlir"),
            1,
            "'graph.relu' op graph.relu makes tensor<4xf32>, not tensor<5xf32> (at invalid.mlir:3:3)",
        ),
        (("run", "empty.mlir"), 1, "there is no program: it would be a function @main, or a kernel"),
        (
            ("run", "other.mlir"),
            1,
            "there is no program: it would be a function @main, or a kernel; its functions are @other",
        ),
        (
            ("run", "parameter.mlir", "--random", "1"),
            1,
            "there are no data for @w: give them in Python, as in tilework.compile(..., parameters={...}), or make "
            "them arguments of @main",
        ),
        (
            ("run", "graph.mlir"),
            2,
            "no value for input 'x: float32 (6, 64)': give --input x=FILE.npy, or --random SEED",
        ),
        (
            ("run", "graph.mlir", "--kernel", "a"),
            2,
            "--kernel a: graph.mlir has a function @main, which is run as a whole",
        ),
        (("run", "two.mlir"), 2, "the program has several kernels: give --kernel and one of row_sums, others"),
        (
            ("run", "two.mlir", "--kernel", "other"),
            2,
            "--kernel other: the program's kernels are row_sums, others; did you mean 'others'?",
        ),
        (
            ("compile", "sums.mlir"),
            1,
            "sums.mlir has kernels and no function @main: an artefact is a whole model; tilework run runs a kernel, "
            "opt-tool -t obj writes its code",
        ),
        (
            ("run", "graph.mlir", "--schedule", "slow.mlir", "--random", "1"),
            1,
            "a schedule is for @row_sums; the program's kernels without loops are @dense_relu (at slow.mlir:2:1)",
        ),
        (
            ("run", "scheduled.mlir", "--schedule", "slow.mlir", "--random", "1"),
            1,
            "there are two schedules for @row_sums: take one out (at slow.mlir:2:1)",
        ),
        (
            ("run", "sums.mlir", "--schedule", "graph.mlir", "--random", "1"),
            1,
            "graph.mlir holds func.func: a file of schedules holds these, te.intrinsic, and nothing else",
        ),
        (
            ("run", "sums.mlir", "--schedule", "empty.mlir", "--random", "1"),
            1,
            "empty.mlir holds no schedule.sequence: a file of schedules holds these, te.intrinsic, and nothing else",
        ),
        (
            ("compile", "host-level.mlir", "--dump-levels", "levels"),
            2,
            "--dump-levels is for a program that begins at the graph; @main of host-level.mlir has buffers",
        ),
        (
            ("compile", "host-level.mlir", "--report", "page.html"),
            2,
            "--report is for a program that begins at the graph; @main of host-level.mlir has buffers",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: tuple[str, ...], status: int, message: str, tilework: Tilework, tmp_path: Path
):
    Path("bad.mlir").write_text(GRAPH.replace("\n", "", 1).replace("dense", "rely"))
    Path("bytes.mlir").write_bytes(b"\xff\xfe")
    Path("invalid.mlir").write_text(
        "\nfunc.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {\n"
        "  %y = graph.relu %x : (tensor<4xf32>) -> tensor<5xf32>\n  func.return %y : tensor<5xf32>\n}\n"
    )
    Path("empty.mlir").write_text("")
    Path("other.mlir").write_text(GRAPH.replace("@main", "@other"))
    Path("two.mlir").write_text(ROW_SUMS + ROW_SUMS.replace("@row_sums", "@others"))
    Path("scheduled.mlir").write_text(ROW_SUMS + SLOW_SUMS)
    if "host-level.mlir" in arguments:
        lowered("host", tmp_path)
    found, _, said = tilework(*arguments)
    assert (found, said[-1]) == (status, f"tilework: error: {message}")
    assert not [line for line in said[:-1] if "passes" not in line and "kernels" not in line]
