"""`tilework bench`: what it measures and compares, and what it refuses. No time is asserted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from places import ROOT

from tilework.api import compile
from tilework.runtime.cache import KernelCache
from tilework.targets.cpu.host import first_threads, physical_cores
from tilework.tools.bench import engines, load, measure
from tilework.tools.bench.feeds import random_feeds, relative_error, saved_results
from tilework.tools.bench.operator_engines import read_operator
from tilework.tools.bench.operators import operator_model
from tilework.tools.bench.processes import run_task
from tilework.tools.bench.subject import Subject, SubjectError
from tilework.tools.bench.table import columns, inference_lines
from tilework.tools.cli import main
from tilework.tools.commands.bench import parse_threads

RESULT = {"program": {"flops": 1, "calls": [{"kernel": "k", "source": None, "flops": 1, "bytes": 1}]}}
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def saved_operator(name: str, folder: Path) -> dict[str, str]:
    """An operator as an ONNX file, and compiled."""
    (folder / "model.onnx").write_bytes(operator_model(name).SerializeToString())
    compile(folder / "model.onnx", cache=KernelCache(folder / "cache")).save(folder / "model.tw")
    return {"artefact": str(folder / "model.tw"), "model": str(folder / "model.onnx")}


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bench")
    compile(DIGITS, cache=KernelCache(folder / "cache")).save(folder / "digits.tw")
    return str(folder / "digits.tw")


def test_a_model_beside_another_engine(tmp_path, capsys, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(measure, "BLOCK_SECONDS", 0.001)
    file = tmp_path / "out.json"
    command = ["bench", str(DIGITS), "--threads", "2", "--repeat", "2", "--against", "onnxruntime", "--check"]
    assert main([*command, "--json", str(file)]) == 0
    written = json.loads(file.read_text())
    assert written["load"].keys() == {"busy_cores_before", "busy_cores_after", "load_averages"}
    [result] = written["models"]
    [run] = result["inference"]
    assert run["threads"] == 2 and set(run["engines"]) == {"tilework", "onnxruntime"}
    assert 0 < run["engines"]["onnxruntime"]["difference"] < 1e-5
    assert run["engines"]["tilework"]["milliseconds"]["runs"] >= 2
    assert "  run, 2 threads" in capsys.readouterr().out


def test_an_engine_that_cannot_run_a_model_is_left_out(artefact, tmp_path, monkeypatch):
    """Its own words are the reason. The other engines are measured."""
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(measure, "BLOCK_SECONDS", 0.001)
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    files = {"artefact": artefact, "profiled": None, "model": str(broken), "dims": {}}
    plan = measure.Plan({}, [1], 1, ["onnxruntime"], kernels=False)
    run = measure.measure_inference(files, str(tmp_path), 1, plan)
    assert "milliseconds" in run["engines"]["tilework"] and "calls" not in run
    [said] = [line for line in inference_lines(RESULT, run) if "cannot" in line]
    assert said.startswith("    onnxruntime cannot run it: ") and "broken.onnx" in said


@pytest.mark.parametrize("operator", ["op:depthwise,c=4,hw=10,k=3,stride=2", "op:batch-matmul,batch=2,m=3,n=4,k=5"])
@pytest.mark.parametrize("engine", ["tilework", *engines.YARDSTICKS])
def test_engines_compute_what_the_standard_says(engine, operator, tmp_path):
    """Those that are installed; the convolution is padded on one side alone."""
    if engine in engines.YARDSTICKS and engines.YARDSTICKS[engine].version is None:
        pytest.skip(f"{engine} is not installed")
    files = saved_operator(operator, tmp_path)
    with Subject(engine, **files, dims={}, threads=1) as subject:
        subject.prepared()
        subject.save(str(tmp_path / "results.npz"))
    [got] = saved_results(str(tmp_path / "results.npz"))
    [wanted] = ReferenceEvaluator(files["model"]).run(None, random_feeds(files["artefact"], {}))
    assert relative_error(got, wanted) < 1e-6


def test_an_operator_is_read_as_it_was_made(tmp_path):
    operator = read_operator(saved_operator("op:conv,ic=2,oc=4,hw=6,k=3,stride=2", tmp_path)["model"])
    assert (operator.op_type, operator.inputs) == ("Conv", ("x", "weights"))
    assert operator.weights["weights"].shape == (4, 2, 3, 3)
    assert operator.padding == [(0, 1), (0, 1)] and operator.attributes["strides"] == [2, 2]


def test_engines_of_single_operators_refuse_models():
    with pytest.raises(ValueError, match="for single operators alone"):
        read_operator(str(DIGITS))


def test_the_same_words_of_several_engines_are_one_line():
    times = {"version": "1", "milliseconds": {"median": 1.0}}
    run = {
        "threads": 1,
        "engines": {"tilework": times, "jax": {"error": "no"}, "tvm": {"error": "never"}, "torch": {"error": "no"}},
        "limits": {"flops_per_second": 1e9, "bytes_per_second": 1e9},
    }
    said = [line.strip() for line in inference_lines(RESULT, run) if "cannot" in line]
    assert said == ["jax, torch cannot run it: no", "tvm cannot run it: never"]


def test_a_subject_answers_with_its_error(artefact):
    with (
        Subject("tilework", artefact=artefact, model="", dims={"M": 2}, threads=1) as subject,
        pytest.raises(SubjectError, match="--dim M: there is no symbolic dimension 'M'"),
    ):
        subject.prepared()


def test_a_subject_that_dies_is_quoted(tmp_path, monkeypatch):
    """An engine's library that cannot be loaded does so."""
    dies = tmp_path / "dies"
    dies.write_text("#!/bin/sh\necho first >&2\necho cannot load libjax.so >&2\nexit 3\n")
    dies.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(dies))
    with (
        Subject("jax") as subject,
        pytest.raises(SubjectError, match="^jax ended with status 3: cannot load libjax.so$"),
    ):
        subject.prepared()


def test_an_answer_longer_than_a_pipe_holds(tmp_path, monkeypatch):
    """A model with hundreds of calls has such an answer."""
    talks = tmp_path / "talks"
    talks.write_text("""#!/bin/sh\nprintf '{"text": "'\nhead -c 300000 /dev/zero | tr '\\0' x\nprintf '"}'\n""")
    talks.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(talks))
    assert run_task("any")["text"] == "x" * 300000


def test_a_subject_saves_its_results(artefact, tmp_path):
    file = str(tmp_path / "results.npz")
    with Subject("tilework", artefact=artefact, model="", dims={"N": 3}, threads=1) as subject:
        assert subject.prepared().keys() == {"version"}
        assert len(subject.milliseconds(0)) >= 1
        subject.save(file)
    with np.load(file) as saved:
        assert [array.shape for array in saved.values()] == [(3, 10)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--against", "onnxruntim"),
            "--against onnxruntim: there is no engine 'onnxruntim'; did you mean 'onnxruntime'?",
        ),
        (("--against", "absent"), "--against absent: absent is not installed: pip install absent"),
        (("--threads", "0"), '--threads 0: give positive numbers or "all", with commas between them'),
        (("--threads", "1,"), '--threads 1,: give positive numbers or "all", with commas between them'),
        (("--repeat", "0"), "--repeat 0: give a positive number"),
        (("--check", "--against", "none"), "--check compares with other engines: install onnxruntime or absent"),
    ],
)
def test_refused(arguments, message, capsys, monkeypatch):
    absent = engines.Engine("absent", engines.load_tilework)
    known = {"onnxruntime": engines.YARDSTICKS["onnxruntime"], "absent": absent}
    for module in ("tilework.tools.bench.engines", "tilework.tools.commands.bench"):
        monkeypatch.setattr(f"{module}.YARDSTICKS", known)
    assert main(["bench", str(DIGITS), *arguments]) == 2
    assert capsys.readouterr().err == f"tilework: error: {message}\n"


def test_threads():
    assert parse_threads("1,3,1") == [1, 3]
    assert parse_threads("all") == [physical_cores()]


class _Recorder:
    """A subject that only notes where it runs."""

    def __init__(self):
        self.stays = []

    def keep_to(self, cores):
        self.stays.append(cores)

    def milliseconds(self, seconds):
        return [1.0]


@pytest.mark.parametrize(
    ("threads", "stays"), [(1, [{0}, {2}, {4}, {0}]), (2, [{0, 2}, {2, 4}, {4, 0}, {0, 2}]), (3, [])]
)
def test_all_go_from_core_to_core(threads, stays, monkeypatch):
    monkeypatch.setattr(measure, "first_threads", lambda: (0, 2, 4))
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    subjects = [_Recorder(), _Recorder()]
    assert measure.take_turns(subjects, 4, threads) == [[1.0] * 4] * 2
    assert [subject.stays for subject in subjects] == [stays, stays]


@pytest.mark.skipif(not first_threads(), reason="this system does not tell on which processors a process may run")
def test_a_subject_stays_where_it_is_told(artefact):
    core = first_threads()[-1]
    with Subject("tilework", artefact=artefact, model="", dims={"N": 3}, threads=1) as subject:
        subject.prepared()
        subject.keep_to({core})
        assert os.sched_getaffinity(subject._process.pid) == {core}


def test_summary():
    assert measure.summary([3.0, 1.0, 2.0, 9.0]) == {"median": 2.5, "least": 1.0, "runs": 4}


def test_call_times():
    """Two calls; what disturbed the second run in its pause shows nowhere."""
    ticks = np.array([[0, 1000, 1500, 4500], [100, 1100, 9999, 12999], [7000, 8000, 8500, 11500]])
    assert measure.call_times(ticks) == [{"start": 0.0, "time": 1.0}, {"start": 1.5, "time": 3.0}]


def test_a_program_without_calls():
    assert measure.call_times(np.zeros((3, 0), np.int64)) == []


def test_relative_error():
    wanted = np.array([4.0, np.nan, 1.0])
    assert relative_error(np.array([4.0, np.nan, 2.0]), wanted) == 0.25
    assert relative_error(np.array([4.0, 0.0, 1.0]), wanted) == np.inf
    assert relative_error(wanted[:2], wanted) == np.inf


def test_columns():
    assert columns([["name", "ms"], ["a", "10.5"], ["b", ""]]) == ["name    ms", "a     10.5", "b"]


def test_busy_cores_are_those_with_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All cores wait for a tenth of the time and for a disk as long; the rest is work."""
    stat = tmp_path / "stat"
    texts = iter(["cpu 100 0 0 100 0 0 0 0 0 0\n", "cpu 180 0 0 110 10 0 0 0 0 0\n"])
    stat.write_text(next(texts))
    monkeypatch.setattr(load.time, "sleep", lambda seconds: stat.write_text(next(texts)))
    monkeypatch.setattr(load.os, "cpu_count", lambda: 2)
    assert load.busy_cores(stat) == 1.6
    assert load.busy_cores(tmp_path / "none") is None


def test_a_busy_machine_is_warned_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(load.os, "cpu_count", lambda: 2)
    load.warn_if_busy(1.6)
    assert capsys.readouterr().err == (
        "tilework: warning: 1.6 of 2 cores are busy with something else: times will be longer, and differ from run to "
        "run\n"
    )
    load.warn_if_busy(0.1)
    load.warn_if_busy(None)
    assert capsys.readouterr().err == ""


def test_what_is_kept_of_the_load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "busy_cores", lambda: 0.5)
    kept = load.load_of_machine(0.25)
    assert (kept["busy_cores_before"], kept["busy_cores_after"], len(kept["load_averages"])) == (0.25, 0.5, 3)
