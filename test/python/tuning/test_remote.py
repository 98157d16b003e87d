"""`tilework.remote`: programs on a board without Python, and on the device of a pool, do what they do here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

pytest.importorskip("distributed", reason="pools need the extra 'distributed'")
pytest.importorskip("asyncssh", reason="boards need the extra 'distributed'")

import asyncssh
from c_compilers import need_compiler
from onnx_defaults import DEFAULTS, NETWORK, with_defaults
from pools import running
from ssh_boards import BoardServer, board_server

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.function import Function, FunctionInfo
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets.cpu.host import host_target
from tilework.tuning.measuring.outcome import Code, Failure
from tilework.tuning.pool.board_runner import BoardRunner
from tilework.tuning.pool.boards import board_called
from tilework.tuning.pool.executable import Linker
from tilework.tuning.pool.messages import SentWorkload
from tilework.tuning.pool.remote import Remote
from tilework.tuning.pool.shell import BoardLost, Shell

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(9)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardServer]:
    need_compiler("cc")
    with board_server(tmp_path_factory.mktemp("board") / "of") as server:
        yield server


@pytest.fixture(scope="module")
def boards(board: BoardServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that describes the board, and others that do not work."""
    path = tmp_path_factory.mktemp("boards") / "boards.toml"
    stranger = path.with_name("stranger")
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(stranger))
    unknown = path.with_name("no_hosts")
    unknown.write_text("")
    target = str(host_target())
    tables = [
        board.toml("shelf", target, device="arm"),
        board.toml("strange", target, key=str(stranger)),
        board.toml("unknown", target, known_hosts=str(unknown)),
        board.toml("foreign", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"),
        board.toml("unlinked", target, compiler="no-such-compiler"),
        board.toml("off", target).replace(f"port = {board.port}", "port = 1"),
    ]
    path.write_text("".join(tables))
    return path


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running("start", "--devices", "one", "--builders", "0", "--port", "0") as address:
        yield address


@pytest.fixture(scope="module", params=["board", "pool"])
def there(request: pytest.FixtureRequest) -> Iterator[Remote]:
    """Each of the two places."""
    if request.param == "board":
        place = tw.remote("ssh://shelf", boards=request.getfixturevalue("boards"), seconds=20)
    else:
        place = tw.remote(request.getfixturevalue("address"), "one", seconds=20)
    with place:
        yield place


@pytest.fixture(scope="module")
def tools(boards: Path) -> Iterator[tuple[Shell, Linker]]:
    """A shell on the board, and what links programs for it."""
    with Shell(board_called("shelf", boards)) as shell, Linker("cc") as linker:
        yield shell, linker


def row_sums() -> Function:
    """The sums of the rows of a matrix whose sizes only a call tells."""
    n, m = te.var("n"), te.var("m")
    a, k = te.placeholder((n, m), name="A"), te.reduce_axis((0, m), "k")
    b = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s[b].parallel(b.op.axis[0])
    return tw.build(s, [a, b])


@pytest.fixture(scope="module")
def network() -> tw.Module:
    """A convolution and more, with weights that have defaults, for any number of images."""
    return tw.compile(with_defaults(NETWORK, ["n", 3, 8, 8], DEFAULTS), processes=1)


def same(found: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_board_has_no_python(tools: tuple[Shell, Linker]):
    assert tools[0].run("python3 -c 1", 10).status == 127


def test_functions_run_for_all_sizes(there: Remote):
    f = row_sums()
    remote = there.upload(f)
    for shape in ((3, 5), (7, 1), (1, 1), (0, 4), (2, 0), (101, 97)):
        a = RANDOM.standard_normal(shape).astype(np.float32)
        b, expected = np.full(shape[0], 7, np.float32), np.empty(shape[0], np.float32)
        remote(a[:, ::-1], b)
        f(a[:, ::-1], expected)
        np.testing.assert_array_equal(b, expected)
        same(remote.run({"A": a}), f.run({"A": a}))


def test_modules_run_for_all_sizes(there: Remote, network: tw.Module, tmp_path: Path):
    network.save(tmp_path / "network.tw")
    remote = there.upload(tmp_path / "network.tw")
    assert remote.inputs == network.inputs and remote.outputs == network.outputs
    for images in (1, 3, 0):
        x = RANDOM.standard_normal((images, 3, 8, 8)).astype(np.float32)
        np.testing.assert_array_equal(remote(x), network(x))
        same(remote.run({"x": x}), network.run({"x": x}))


def test_programs_do_not_disturb_each_other(there: Remote):
    n = te.var("n")
    a = te.placeholder((n, 3), name="A")
    b = te.compute((n, 3), lambda i, j: a[i, j] * 2, name="B")
    functions = [row_sums(), tw.build(te.create_schedule(b.op), [a, b])]
    remotes = [there.upload(f) for f in functions]
    for _ in range(2):
        for f, remote in zip(functions, remotes, strict=True):
            x = RANDOM.standard_normal((5, 3)).astype(np.float32)
            same(remote.run({"A": x}), f.run({"A": x}))


def test_four_bits_a_number(there: Remote):
    n = te.var("n")
    a = te.placeholder((n,), "int4", name="A")
    b = te.compute((n,), lambda i: (a[i].astype("int8") + 1).astype("int4"), name="B")
    f = tw.build(te.create_schedule(b.op), [a, b])
    remote = there.upload(f)
    for length in (1, 6, 7):
        x = np.arange(length).astype(ml_dtypes.int4)
        same(remote.run({"A": x}), f.run({"A": x}))


def test_times(there: Remote, network: tw.Module):
    f, x = row_sums(), RANDOM.standard_normal((64, 64)).astype(np.float32)
    times = there.upload(f).time_evaluator(number=5, repeat=3)(x, np.empty(64, np.float32))
    assert len(times.results) == 3 and all(0 < seconds < 1 for seconds in times.results)
    assert times.min <= times.median <= max(times.results) and times.min <= times.mean
    longer = there.upload(network).time_evaluator(2)(np.zeros((64, 3, 8, 8), np.float32))
    assert len(longer.results) == 1 and longer.mean > times.min


def test_what_a_program_refuses_is_told(there: Remote, network: tw.Module):
    remote, here = there.upload(network), network
    f, function = row_sums(), there.upload(row_sums())
    x = np.zeros((1, 3, 8, 8), np.float32)
    for wrong in ({"x": x[0]}, {"x": x.astype(np.float64)}):
        with pytest.raises(UsageError) as expected:
            here.run(wrong)
        with pytest.raises(UsageError) as caught:
            remote.run(wrong)
        assert str(caught.value).replace("the program", "the module") == str(expected.value)
    with pytest.raises(UsageError, match="takes"):
        remote.run({"y": x})
    with pytest.raises(UsageError, match=r"the module takes 1 inputs \(x: float32 .*\); 2 given"):
        remote(x, x)
    with pytest.raises(UsageError, match=r"takes 2 arrays \(.*\); 1 given"):
        function(x)
    with pytest.raises(UsageError, match=r"'B' is a list: pass a numpy array for the result"):
        function(np.zeros((2, 2), np.float32), [1, 2])
    with pytest.raises(UsageError, match=r"'B' is float32 \(3,\); the result is float32 \(2,\)"):
        function(np.zeros((2, 2), np.float32), np.zeros(3, np.float32))
    with pytest.raises(UsageError, match="number=0: how often a program is timed is a positive integer"):
        function.time_evaluator(number=0)
    assert f.run({"A": np.ones((2, 2), np.float32)})["B"].tolist() == [2, 2]


def test_a_check_in_the_program_is_told(there: Remote):
    """A subscript that is in the data."""
    nodes = [onnx.helper.make_node("Gather", ["x", "i"], ["y"])]
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4])
    i = onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, [2])
    graph = onnx.helper.make_graph(nodes, "g", [x, i], [onnx.helper.make_empty_tensor_value_info("y")])
    module = tw.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]), processes=1)
    remote = there.upload(module)
    values = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(remote(values, np.array([3, 1])), [3, 1])
    with pytest.raises(TileworkError) as expected:
        module(values, np.array([1, 4]))
    with pytest.raises(TileworkError) as caught:
        remote(values, np.array([1, 4]))
    assert str(caught.value) == str(expected.value)


BODIES = {
    "hangs": ("br label %again\nagain:\n br label %again", "ran for more than 0.5 s"),
    "dies": ("call void @abort()\n ret void", "died (s"),
}


@pytest.mark.parametrize("fault", BODIES)
def test_a_program_that_fails_is_told_and_the_next_one_runs(there: Remote, fault: str):
    body, told = BODIES[fault]
    text = f"declare void @abort()\ndefine void @bad(ptr %a, ptr %b, i32 %threads) {{\nentry:\n {body}\n}}\n"
    specs = (TensorSpec("A", "float32", (4,)), TensorSpec("B", "float32", (4,)))
    info = FunctionInfo("bad", "bad", specs, (0,), (1,), (), (), str(host_target()))
    there._seconds = 0.5
    with pytest.raises(TileworkError) as caught:
        there.upload(Function(info, compile_ir(text, host_target()))).run({"A": np.zeros(4, np.float32)})
    assert told in str(caught.value).replace("(SIGABRT)", "(signal 6)")
    there._seconds = 20.0
    assert there.upload(row_sums()).run({"A": np.ones((2, 2), np.float32)})["B"].tolist() == [2, 2]


def test_what_is_no_program_is_refused(there: Remote, tmp_path: Path):
    with pytest.raises(UsageError, match="a program to upload is a Module, a Function, or the path .* type int"):
        there.upload(3)  # type: ignore[arg-type]
    with pytest.raises(TileworkError, match=r"cannot read .*none.tw: No such file"):
        there.upload(tmp_path / "none.tw")
    (tmp_path / "junk.tw").write_bytes(b"junk")
    with pytest.raises(TileworkError, match="is not a Tilework artefact"):
        there.upload(tmp_path / "junk.tw")


def test_what_boards_cannot_do_is_refused(boards: Path, network: tw.Module):
    a = te.placeholder((4,), name="A")
    i = te.placeholder((4,), "int32", name="I")
    b = te.compute((4,), lambda j: a[i[j]], name="B")
    checked = tw.build(te.create_schedule(b.op), [a, i, b], checked=True)
    with tw.remote("ssh://shelf", "arm", boards=boards) as shelf:
        assert repr(shelf).startswith("Remote(board 'shelf' (pi@127.0.0.1:")
        remote = shelf.upload(network)
        with pytest.raises(UsageError, match="'w' has a default, which cannot be replaced on a board"):
            remote.run({"x": np.zeros((1, 3, 8, 8), np.float32), "w": DEFAULTS["w"]})
        with pytest.raises(UsageError, match="checks subscripts, which boards do not report"):
            shelf.upload(checked)
        counting = onnx.helper.make_graph([onnx.helper.make_node("NonZero", ["x"], ["y"])], "g", [], [])
        counting.input.append(onnx.helper.make_tensor_value_info("x", 1, [4]))
        counting.output.append(onnx.helper.make_empty_tensor_value_info("y"))
        with pytest.raises(UsageError, match="data decide how large outputs are .*: boards have no such outputs yet"):
            shelf.upload(tw.compile(onnx.helper.make_model(counting, ir_version=8)))
        foreign = tw.build(te.create_schedule(b.op), [a, i, b], target="llvm -mtriple=aarch64-linux-gnu")
        with pytest.raises(
            TileworkError, match="board 'shelf' .*: the module was compiled for processor arch.* aarch64"
        ):
            shelf.upload(foreign)


def test_defaults_can_be_replaced_in_a_pool(address: str, network: tw.Module):
    given = {"x": RANDOM.standard_normal((2, 3, 8, 8)).astype(np.float32), "w": DEFAULTS["w"] * 2}
    with tw.remote(address, "one") as there:
        same(there.upload(network).run(given), network.run(given))


# -- boards that do not answer


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("strange", "does not let the user in with the key that its description names"),
        ("unknown", "has a host key that its known_hosts does not know: log in once by hand, and look at the key"),
        ("unlinked", "programs for boards are linked by 'no-such-compiler', which is not there: install it"),
        ("off", "cannot be reached: "),
    ],
)
def test_boards_that_do_not_work_say_why(boards: Path, name: str, told: str):
    with tw.remote(f"ssh://{name}", boards=boards) as place, pytest.raises(TileworkError) as caught:
        place.upload(row_sums()).run({"A": np.ones((2, 2), np.float32)})
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_a_board_that_comes_back_is_used_again(tmp_path: Path):
    """Its files are gone: they are copied anew."""
    need_compiler("cc")
    a = np.ones((2, 2), np.float32)
    with board_server(tmp_path / "of") as first:
        file = tmp_path / "boards.toml"
        file.write_text(first.toml("shelf", str(host_target())))
        with tw.remote("ssh://shelf", boards=file) as there:
            remote = there.upload(row_sums())
            assert remote.run({"A": a})["B"].tolist() == [2, 2]
            first.pull_the_plug()
            with pytest.raises(BoardLost):
                remote.run({"A": a})
            shutil.rmtree(first.folder / "tmp")
            (first.folder / "tmp").mkdir()
            first.plug_in()
            assert remote.run({"A": a})["B"].tolist() == [2, 2]
    assert list((first.folder / "tmp").iterdir()) == []


# -- how a board compares


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint16", "int64", "bool"])
def test_a_board_finds_the_first_wrong_element(tools: tuple[Shell, Linker], dtype: str):
    """Code writes some numbers when other code has written others."""
    numpy_type = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(numpy_type)
    spec = TensorSpec("arg0", dtype, (2, 3))
    wrong = values.copy()
    wrong[1, 1] = 1
    with BoardRunner(*tools, SentWorkload([spec], 0, 4.0, 0), 1) as runner:
        assert runner.set_reference(writing(values), 5.0).failure is None
        assert runner.measure(writing(values), 5.0).failure is None
        outcome = runner.measure(writing(wrong), 5.0)
    assert outcome.failure is Failure.WRONG_ANSWER
    assert outcome.message == "output 0 at [1, 1] is 1 and must be 0"


def writing(values: Array) -> Code:
    """A kernel without inputs that writes these numbers."""
    stores = "".join(
        f" %p{at} = getelementptr i8, ptr %b, i64 {at}\n store i8 {byte}, ptr %p{at}\n"
        for at, byte in enumerate(values.tobytes())
    )
    text = f"define void @te_kernel(ptr %b, i32 %threads) {{\n{stores} ret void\n}}\n"
    return Code(str(host_target()), "te_kernel", compile_ir(text, host_target()), ())


def copying() -> Code:
    """A kernel that copies a float."""
    text = (
        "define void @te_kernel(ptr %a, ptr %b, i32 %threads) {\n"
        " %x = load i32, ptr %a\n store i32 %x, ptr %b\n ret void\n}\n"
    )
    return Code(str(host_target()), "te_kernel", compile_ir(text, host_target()), ())


def test_workloads_on_one_board_do_not_disturb_each_other(tools: tuple[Shell, Linker]):
    spec = TensorSpec("arg0", "float32", (1,))
    workloads = [SentWorkload([spec, spec], 1, 4.0, seed) for seed in (1, 2)]
    with BoardRunner(*tools, workloads[0], 1) as one, BoardRunner(*tools, workloads[1], 1) as other:
        for runner in (one, other):
            assert runner.set_reference(copying(), 5.0).failure is None
        for runner in (one, other):
            assert runner.measure(copying(), 5.0).failure is None
        assert any(name.startswith(one._name) for name in files(tools[0]))
    assert not [name for name in files(tools[0]) if name.startswith((one._name, other._name))]


def files(shell: Shell) -> list[str]:
    """What is in the folder on the board."""
    return shell.run("sh -c 'echo *'", 5.0).output.decode().split()


@pytest.mark.parametrize(("off", "right"), [(1e-6, True), (1e-4, False), (np.nan, False)])
def test_a_board_allows_for_rounding(tools: tuple[Shell, Linker], off: float, right: bool):
    """It allows for as much of the largest number as the workload says; NaN stands for NaN alone."""
    values = np.array([np.nan, np.inf, 1.0, 0.5], np.float32)
    spec = TensorSpec("arg0", "float32", (4,))
    with BoardRunner(*tools, SentWorkload([spec], 0, 16.0, 0), 1) as runner:
        assert runner.set_reference(writing(values), 5.0).failure is None
        outcome = runner.measure(writing(np.float32([np.nan, np.inf, 1.0, 0.5 + off])), 5.0)
    assert (outcome.failure is None) == right


# -- addresses and descriptions


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (dict(address="ssh://none"), "describes no board 'none'; those that it describes: shelf, "),
        (dict(address="ssh://shelv"), "describes no board 'shelv'; did you mean 'shelf'?"),
        (dict(address="ssh://shelf", device="x"), "is the device 'arm', not 'x'"),
        (dict(address="ssh://shelf", tls="x"), "ssh://shelf is reached with a key that"),
        (dict(address="ssh://shelf", seconds=0), "seconds=0: the time for a call is a positive number of seconds"),
        (dict(address="tcp://127.0.0.1:1"), "remote('tcp://127.0.0.1:1') needs the name of a device"),
        (dict(address="tcp://127.0.0.1:1", device="x"), "no pool answers at tcp://127.0.0.1:1: Connection refused"),
        (dict(address="tls://127.0.0.1:1", device="x"), "needs certificates"),
        (dict(address=3, device="x"), "a pool is named by its address, as in tcp://127.0.0.1:8786, not by 3"),
    ],
)
def test_wrong_addresses(boards: Path, call: dict[str, Any], told: str):
    with pytest.raises(TileworkError) as caught:
        tw.remote(**call, boards=boards)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_a_device_that_the_pool_does_not_have(address: str):
    with pytest.raises(UsageError, match="has no device 'onne'; did you mean 'one'?"):
        tw.remote(address, "onne")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"host": None}, "board 'b' lacks host"),
        ({"hosts": "x"}, "there is no key 'hosts'; did you mean 'host'?"),
        ({"user": 3}, "user = 3 must be a text"),
        ({"port": 0}, "port = 0 must be a number from 1 to 65535"),
        ({"port": "22"}, "port = '22' must be a number"),
        ({"device": "a b"}, "'a b' cannot name a device"),
        ({"target": "vdla"}, "must be a processor that LLVM has code for"),
        ({"target": "llvm -mcpu=no-such"}, "board 'b': "),
        ({"key": "nowhere"}, "key = 'nowhere' is no file"),
    ],
)
def test_wrong_descriptions(tmp_path: Path, change: dict[str, Any], told: str):
    (tmp_path / "key").touch()
    fields = {"host": "h", "user": "u", "key": "key", "known_hosts": "key", "target": "llvm", **change}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items() if value is not None]
    (tmp_path / "boards.toml").write_text("\n".join(["[board.b]", *lines]))
    with pytest.raises(TileworkError) as caught:
        tw.remote("ssh://b", boards=tmp_path / "boards.toml")
    assert told in str(caught.value) and "boards.toml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("board = ", "boards.toml is no TOML: "),
        ("[boards.x]\n", "must hold tables [board.NAME] and nothing else"),
        ("board = 3", "must hold tables [board.NAME] and nothing else"),
        ("[board]\nx = 3", "board 'x' lacks host, user, key, known_hosts, target"),
    ],
)
def test_files_that_describe_nothing(tmp_path: Path, text: str, told: str):
    (tmp_path / "boards.toml").write_text(text)
    with pytest.raises(TileworkError) as caught:
        tw.remote("ssh://x", boards=tmp_path / "boards.toml")
    assert told in str(caught.value)


def test_home_and_the_folder_of_the_file_are_looked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "key").touch()
    (tmp_path / "boards.toml").write_text(
        '[board.b]\nhost = "h"\nuser = "u"\nkey = "~/key"\nknown_hosts = "key"\ntarget = "llvm -mcpu=haswell"\n'
    )
    board = board_called("b", tmp_path / "boards.toml")
    assert (board.key, board.known_hosts) == (str(tmp_path / "key"), str(tmp_path / "key"))
    assert (board.port, board.device, board.compiler) == (22, "b", "cc")
