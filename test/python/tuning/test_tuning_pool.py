"""A pool of two workers and a board tunes one kernel; what dies, hangs or is lost costs no record and blocks nobody."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="pools need the extra 'distributed'")
pytest.importorskip("asyncssh", reason="boards need the extra 'distributed'")

from c_compilers import need_compiler
from kernel_faults import FAULTS, code_of
from pools import running
from ssh_boards import BoardServer, board_server
from te_products import kernel_of, matmul

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError, UsageError
from tilework.driver.build_kernel import build_kernel
from tilework.targets.cpu.host import host_target
from tilework.tools.cli import main
from tilework.tuning.measuring.outcome import Code, Failure
from tilework.tuning.pool import client as client_module
from tilework.tuning.pool.address import pool_address
from tilework.tuning.pool.certificates import AUTHORITY, security_with, write_certificates
from tilework.tuning.pool.client import NothingLeft, Pool, WorkerDied
from tilework.tuning.pool.measuring import PoolBuilder, PoolRunner
from tilework.tuning.pool.recent import KEPT, Recent
from tilework.tuning.records import read_records
from tilework.tuning.search import Search
from tilework.tuning.task import Task


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardServer]:
    need_compiler("cc")
    with board_server(tmp_path_factory.mktemp("board") / "of") as server:
        yield server


@pytest.fixture(scope="module")
def address(board: BoardServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A pool whose device cpu0 has three slots, one of them a board."""
    boards = tmp_path_factory.mktemp("boards") / "boards.toml"
    boards.write_text(board.toml("shelf", str(host_target()), device="cpu0"))
    words = ("start", "--devices", "cpu0", "cpu0", "--boards", str(boards), "--builders", "1", "--port", "0")
    with running(*words) as address:
        yield address


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Times of several threads depend on what else runs."""
    before = tw.get_num_threads()
    tw.set_num_threads(1)
    yield
    tw.set_num_threads(before)


@pytest.fixture
def pool(address: str) -> Iterator[Pool]:
    with Pool(pool_address(address)) as pool:
        yield pool
        until = time.monotonic() + 20
        while len(pool.members()) < 4 and time.monotonic() < until:  # those that a test killed are started anew
            time.sleep(0.2)


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(kernel_of(matmul(5, 6, 7)), host_target(), rules=False)


@pytest.fixture(scope="module")
def right(task: Task) -> Code:
    return task.code(*build_kernel(task.text(task.unscheduled), task.entry))


def processes(pool: Pool) -> dict[str, int]:
    """The processes of the workers, by their addresses."""
    return pool._client.run(os.getpid)


def tuned(address: str, path: Path, trials: int, watcher: Once | None = None, n: int = 9):
    """What a search on all slots of the device finds."""
    where = {"pool": address, "device": "cpu0"}
    return tw.tune(matmul(n, n, n), trials=trials, seconds=100, records=path, rules=False, watcher=watcher, **where)


def check_records(path: Path, trials: int) -> None:
    """Every trial has one record, and none says that a connection failed."""
    kept = [record for record in read_records(path) if record.default_seconds is None]
    assert len(kept) == trials
    assert not [r.outcome for r in kept if r.outcome.failure is Failure.CONNECTION]


class Once:
    """Does something at the first trial of a search at which a condition holds."""

    def __init__(self, condition: Callable[[int], bool], action: Callable[[], None]):
        self.condition, self.action, self.done = condition, action, False

    def begin(self, searches: object, weights: object) -> None: ...

    def trial(self, search: Search) -> None:
        if not self.done and self.condition(len(search.trials)):
            self.done = True
            self.action()


# -- working together


def test_workers_and_a_board_tune_a_kernel_together(address: str, board: BoardServer, tmp_path: Path):
    before = len(board.commands)
    result = tuned(address, tmp_path / "records.jsonl", 24, n=64)
    assert len(result.trials) == 24
    check_records(tmp_path / "records.jsonl", 24)
    assert sum("candidate" in command for command in board.commands[before:]) >= 2
    a, b = np.random.default_rng(0).standard_normal((2, 64, 64)).astype(np.float32)
    c = np.empty((64, 64), np.float32)
    result.function(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    assert result.default_seconds is not None and result.best_seconds <= result.default_seconds


def nap(pool: Pool, seconds: float) -> str:
    """Let a slot sleep; gives the worker that did."""
    future = pool._submitted(time.sleep, (seconds,), {"device:cpu0": 1}, None)
    time.sleep(seconds / 2)
    worker, _ = pool._whereabouts(future)
    assert pool._answer(future, 30.0) is None
    return worker


def test_slots_work_at_the_same_time_and_one_task_each(pool: Pool):
    """Three tasks are on three workers; a fourth one waits for its turn, though the builder has nothing to do."""
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(lambda _: nap(pool, 1.0), range(3)))) == 3
        before = time.monotonic()
        list(threads.map(lambda _: nap(pool, 1.0), range(4)))
        assert time.monotonic() - before >= 2.0


def test_builders_compile(pool: Pool, task: Task, right: Code):
    with PoolBuilder(pool, task) as builder:
        (code, outcome, taken), (no_code, refused, _) = builder.build(
            [task.text(task.unscheduled), task.text(task.unscheduled).replace('"add"', '"no such reducer"')], 60.0
        )
        assert (code, outcome) == (right, None) and taken > 0
        assert no_code is None and refused is not None and refused.failure is Failure.ILLEGAL
        [(_, late, _)] = builder.build([task.text(task.unscheduled)], 0.001)
        assert late is not None and late.failure is Failure.BUILD_TIMEOUT


def test_times_of_boards_and_of_machines_can_be_compared(pool: Pool, task: Task, right: Code):
    """Python takes more than a microsecond to call a function; this one takes a twentieth of that."""
    with PoolRunner(pool, "cpu0", task, threads=1) as runner, ThreadPoolExecutor(runner.slots) as threads:
        assert runner.set_reference(right, 30.0).failure is None
        found = list(threads.map(lambda _: runner.measure(right, 30.0).seconds, range(3 * runner.slots)))
    assert None not in found
    assert max(seconds or 0.0 for seconds in found) < min(5e-7, 3 * min(seconds or 0.0 for seconds in found))


@pytest.mark.parametrize("failure", FAULTS)
def test_faults_are_told_apart(pool: Pool, task: Task, right: Code, failure: Failure):
    """Faults happen on all three slots; the next candidate does not notice."""
    with PoolRunner(pool, "cpu0", task, threads=1) as runner, ThreadPoolExecutor(runner.slots) as threads:
        assert runner.set_reference(right, 30.0).failure is None
        wrong = code_of(FAULTS[failure], right)
        outcomes = list(threads.map(lambda _: runner.measure(wrong, seconds=0.5), range(2 * runner.slots)))
        assert {(o.seconds, o.failure) for o in outcomes} == {(None, failure)}
        assert len({o.message for o in outcomes}) <= 2 and all(o.message for o in outcomes)
        after = threads.map(lambda _: runner.measure(right, 30.0), range(runner.slots))
        assert [outcome for outcome in after if outcome.failure] == []


def test_the_first_code_that_runs_is_right_where_there_is_no_other(pool: Pool, task: Task, right: Code):
    with PoolRunner(pool, "cpu0", task, threads=1) as runner:
        assert runner.set_reference(code_of(FAULTS[Failure.RUN], right), 30.0).failure is Failure.RUN
        assert runner.measure(right, 30.0).failure is None
        wrong = code_of(FAULTS[Failure.WRONG_ANSWER], right)
        with ThreadPoolExecutor(3) as threads:
            outcomes = list(threads.map(lambda _: runner.measure(wrong, 5.0), range(6)))
        assert {o.failure for o in outcomes} == {Failure.WRONG_ANSWER}


def test_the_command_tunes_in_a_pool(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, records = tmp_path / "kernel.mlir", tmp_path / "records.jsonl"
    file.write_text(str(te.create_schedule(matmul(4, 5, 6)[-1].op).module()))
    where = ["--pool", address, "--device", "cpu0"]
    assert main(["tune", str(file), *where, "--trials", "2", "--records", str(records)]) == 0
    assert "schedule.sequence @main" in capsys.readouterr().out
    check_records(records, 2)
    assert main(["tune", str(file), "--pool", address, "--device", "cpu"]) == 2
    assert "has no device 'cpu'; did you mean 'cpu0'?" in capsys.readouterr().err


def test_what_was_used_last_is_kept():
    class Thing:
        def close(self) -> None:
            closed.append(self)

    closed: list[Thing] = []
    recent, things = Recent[Thing](), [Thing() for _ in range(KEPT + 1)]
    for i in range(KEPT):
        assert recent.get(str(i), lambda i=i: things[i]) is things[i]
    assert recent.get("0", None) is things[0] and recent.get("new", None) is None
    recent.get("new", lambda: things[KEPT])
    assert closed == [things[1]] and recent.get("1", None) is None
    recent.close()
    assert set(closed) == set(things)


# -- what dies, hangs, is lost


def test_a_worker_that_is_killed_loses_no_record(address: str, pool: Pool, tmp_path: Path):
    pids = processes(pool)
    victim = next(pids[member.address] for member in pool.devices("cpu0") if not member.board)
    kill = Once(lambda trials: trials == 4, lambda: os.kill(victim, signal.SIGKILL))
    result = tuned(address, tmp_path / "records.jsonl", 12, kill)
    assert kill.done and len(result.trials) == 12
    check_records(tmp_path / "records.jsonl", 12)


def test_a_worker_that_does_not_move_is_replaced_and_blocks_nobody(pool: Pool, task: Task, right: Code):
    with PoolRunner(pool, "cpu0", task, threads=1) as runner, ThreadPoolExecutor(8) as threads:
        assert runner.set_reference(right, 30.0).failure is None
        local = [m.address for m in pool.devices("cpu0") if not m.board]
        frozen = processes(pool)[local[0]]
        os.kill(frozen, signal.SIGSTOP)
        before = time.monotonic()
        outcomes = list(threads.map(lambda _: runner.measure(right, 1.0), range(8)))
        assert [outcome for outcome in outcomes if outcome.failure] == []
        assert time.monotonic() - before < 30
    with pytest.raises(ProcessLookupError):
        os.kill(frozen, 0)


def test_the_clock_of_a_task_needs_neither_python_nor_its_lock():
    """The process hangs in C, with the lock that all of Python needs."""
    program = (
        "import ctypes; from tilework.tuning.pool.tasks import watched\nwith watched(0.3): ctypes.PyDLL(None).sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "Timeout" in done.stderr


def test_a_task_that_does_not_come_back_is_given_up(pool: Pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client_module, "LOOK_SECONDS", 0.5)
    with pytest.raises(WorkerDied, match=r"its worker in the pool was ended: a task did not come back within 1 s"):
        pool.on_device("cpu0", time.sleep, 60, seconds=1)  # type: ignore[arg-type]


def test_a_worker_that_cannot_be_ended_is_lost(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Nothing is sent to it any more, and the user is told."""
    monkeypatch.setattr(pool._client, "restart_workers", lambda workers, **_: {workers[0]: "timed out"})
    with pytest.raises(WorkerDied):
        pool.on_device("cpu0", time.sleep, 8, seconds=1)
    [lost] = pool._lost
    assert caplog.messages == [f"{lost} is lost: a task did not come back within 1 s"]
    left = pool._left("device", lambda member: member.device == "cpu0")
    assert left is not None and len(left) == 2 and lost not in left


def test_a_device_that_nobody_has_any_more_is_told(pool: Pool, task: Task, right: Code):
    with PoolRunner(pool, "cpu0", task, threads=1) as runner:
        for member in pool.devices("cpu0"):
            pool._leave_out(member.address, f"{member.place} burns")
        with pytest.raises(NothingLeft, match="has no device 'cpu0' any more: .*burns"):
            runner.measure(right, 1.0)


def test_builders_that_are_gone_are_told(pool: Pool, task: Task, monkeypatch: pytest.MonkeyPatch):
    with PoolBuilder(pool, task) as builder:
        monkeypatch.setattr(pool, "members", list)
        monkeypatch.setattr(client_module, "RETURN_SECONDS", 0.3)
        with pytest.raises(NothingLeft, match="has no builder any more: its workers are gone"):
            builder.build([task.text(task.unscheduled)], 5.0)
    monkeypatch.undo()


def test_a_board_that_loses_power_loses_no_record(address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Another machine brings it to the pool."""

    def has_measured(_: int) -> bool:
        return any("candidate" in command for command in other.commands)

    with board_server(tmp_path / "of") as other:
        boards = tmp_path / "boards.toml"
        boards.write_text(other.toml("window", str(host_target()), device="cpu0"))
        with running("join", address, "--boards", str(boards)):
            result = tuned(address, tmp_path / "records.jsonl", 17, Once(has_measured, other.pull_the_plug))
    assert has_measured(0)
    assert len(result.trials) == 17
    check_records(tmp_path / "records.jsonl", 17)
    assert any("board 'window'" in message and "is lost" in message for message in caplog.messages)


def test_a_pool_that_ends_is_told(task: Task, right: Code, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client_module, "ANSWER_SECONDS", 2.0)
    with running("start", "--devices", "one", "--builders", "0", "--port", "0") as address:
        pool = Pool(pool_address(address))
        runner = PoolRunner(pool, "one", task, threads=1)
        assert runner.measure(right, 5.0).seconds
        with pytest.raises(UsageError, match="compiles nothing: start or join it with --builders 1 or more"):
            PoolBuilder(pool, task)
    with pytest.raises(TileworkError, match="the pool at tcp://127.0.0.1:.* (does not answer|has ended)"):
        runner.measure(right, 5.0)
    pool.close()


# -- what is refused


def test_devices_that_are_not_there_are_refused(pool: Pool, address: str, task: Task):
    with pytest.raises(UsageError) as caught:
        PoolRunner(pool, "gpu", task, threads=1)
    assert str(caught.value) == f"the pool at {address} has no device 'gpu'; there are cpu0"
    with pytest.raises(UsageError, match="needs the name of a device"):
        tw.tune(matmul(4, 4, 4), pool=address)
    with pytest.raises(UsageError, match="device= is about a pool"):
        tw.tune(matmul(4, 4, 4), device="cpu0")


def test_devices_of_one_name_must_be_alike(pool: Pool, monkeypatch: pytest.MonkeyPatch):
    members = pool.members()
    other = [replace(member, target="llvm -mcpu=haswell") for member in members if member.board]
    monkeypatch.setattr(pool, "members", lambda: [*members, *other])
    with pytest.raises(UsageError, match="are not alike, so that their times cannot be compared: llvm .* and llvm "):
        pool.devices("cpu0")


def test_workers_with_other_sources_are_refused(pool: Pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client_module, "source_hash", lambda: "another")
    with pytest.raises(TileworkError, match="runs other sources of Tilework than this machine, or other plugins"):
        pool.devices("cpu0")


def test_code_that_was_changed_on_its_way_is_refused(
    pool: Pool, task: Task, right: Code, monkeypatch: pytest.MonkeyPatch
):
    from tilework.tuning.pool import measuring

    changed = {**measuring.message_of_code(right), "object": b"other code"}
    with PoolRunner(pool, "cpu0", task, threads=1) as runner:
        assert runner.set_reference(right, 30.0).failure is None
        monkeypatch.setattr(measuring, "message_of_code", lambda code: changed)
        outcome = runner.measure(right, 1.0)
    assert outcome.failure is Failure.RUN and "the code that arrived is not the code that was sent" in outcome.message


def test_code_for_another_machine_is_refused(pool: Pool, task: Task, right: Code):
    with PoolRunner(pool, "cpu0", task, threads=1) as runner, ThreadPoolExecutor(3) as threads:
        foreign = replace(right, target="llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")
        outcomes = list(threads.map(lambda _: runner.measure(foreign, 1.0), range(6)))
    assert {o.failure for o in outcomes} == {Failure.RUN}
    assert all("was compiled for processor architecture aarch64" in o.message for o in outcomes)


# -- the command line, and who may use a pool


def test_listing(address: str, capsys: pytest.CaptureFixture[str]):
    assert main(["pool", "list", address]) == 0
    first, head, *rows = capsys.readouterr().out.splitlines()
    assert first == f"pool at {address}: 1 builders"
    assert head.split() == ["device", "where", "tasks", "target"]
    assert len(rows) == 3 and all(row.startswith("cpu0") and "llvm -mtriple" in row for row in rows)
    assert sum("board 'shelf'" in row for row in rows) == 1


def test_a_pool_with_tls_lets_in_who_has_its_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert main(["pool", "certificates", str(tmp_path / "own")]) == 0
    write_certificates(tmp_path / "foreign")
    own = str(tmp_path / "own")
    with running("start", "--tls", own, "--devices", "one", "--builders", "0", "--port", "0") as address:
        assert address.startswith("tls://")
        assert main(["pool", "list", address, "--tls", own]) == 0
        assert "one" in capsys.readouterr().out
        assert main(["pool", "list", address, "--tls", str(tmp_path / "foreign")]) == 1
        assert f"the pool at {address} is not trusted: its certificate and" in capsys.readouterr().err
        monkeypatch.setattr(client_module, "ANSWER_SECONDS", 1.0)
        assert main(["pool", "list", address.replace("tls", "tcp")]) == 1
        assert "no pool answers at" in capsys.readouterr().err
        check_refused_without_certificate(address, tmp_path / "own" / AUTHORITY)


def check_refused_without_certificate(address: str, authority: Path) -> None:
    """A peer that knows the authority and has no certificate is told that one is required."""
    host, port = address.removeprefix("tls://").split(":")
    context = ssl.create_default_context(cafile=str(authority))
    context.check_hostname = False
    with socket.create_connection((host, int(port)), 10) as plain, context.wrap_socket(plain) as peer:
        with pytest.raises(ssl.SSLError, match="certificate required"):
            peer.recv(1)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["start", "--host", "0.0.0.0", "--devices", "a"], 2, "other machines can reach 0.0.0.0"),
        (["start", "--host", "no.such.machine.invalid", "--devices", "a"], 2, "no machine called 'no.such"),
        (["start", "--devices", "a b"], 2, "'a b' cannot name a device"),
        (
            ["start", "--builders", "0"],
            2,
            "there is nothing to bring to a pool: give --devices, --boards or --builders",
        ),
        (["start", "--builders", "-1"], 2, "--builders -1: the number of builders is 0 or more"),
        (["start", "--port", "65536", "--devices", "a"], 2, "a port is a number from 0 to 65535"),
        (["start", "--devices", "a", "--boards", "no.toml"], 1, "cannot read no.toml"),
        (["start", "--devices", "a", "--tls", "nowhere"], 1, "nowhere holds no certificates of a pool"),
        (
            ["join", "tcp://127.0.0.1:8786", "--host", "0.0.0.0", "--devices", "a"],
            2,
            "other machines can reach 0.0.0.0",
        ),
        (["join", "tcp://127.0.0.1:8786"], 2, "there is nothing to bring to a pool"),
        (["join", "127.0.0.1", "--devices", "a"], 2, "'127.0.0.1' is no address of a pool"),
        (["join", "tcp://127.0.0.1:1", "--devices", "a"], 1, "no pool answers at tcp://127.0.0.1:1"),
        (["list", "tcp://127.0.0.1:1"], 1, "no pool answers at tcp://127.0.0.1:1: Connection refused"),
        (["list", "tls://127.0.0.1:1"], 2, "tls://127.0.0.1:1 needs certificates"),
        (["list", "tcp://127.0.0.1:1", "--tls", "x"], 2, "speaks no TLS"),
        (["list", "http://127.0.0.1:1"], 2, "is no address of a pool"),
        (["list", "tcp://127.0.0.1:1/x"], 2, "is no address of a pool"),
        (["list", "tcp://192.0.2.1:8786"], 2, "other machines can reach 192.0.2.1"),
        (["certificates", "/dev/null/x"], 1, "cannot write /dev/null"),
        ([], 2, "ACTION"),
    ],
)
def test_wrong_usage(words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str], monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["pool", *words]) == code
    err = capsys.readouterr().err
    assert told in err and len(err.splitlines()) == 1


def test_a_pool_cannot_start_where_another_one_listens(address: str, capsys: pytest.CaptureFixture[str]):
    port = address.rpartition(":")[2]
    assert main(["pool", "start", "--devices", "a", "--builders", "0", "--port", port]) == 1
    assert "the pool cannot be started: " in capsys.readouterr().err


def test_certificates_are_not_written_twice(tmp_path: Path):
    write_certificates(tmp_path)
    assert security_with(tmp_path).require_encryption
    assert (tmp_path / "key.pem").stat().st_mode & 0o077 == 0
    with pytest.raises(TileworkError, match="is there already: new certificates need a new folder"):
        write_certificates(tmp_path)


def test_without_the_packages_there_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    assert main(["pool", "list"]) == 1
    told = "pools and boards need distributed, asyncssh, which is not installed: pip install 'tilework[distributed]'"
    assert told in capsys.readouterr().err
    for call in (lambda: tw.remote("ssh://x"), lambda: tw.tune(matmul(4, 4, 4), pool="tcp://127.0.0.1:1", device="x")):
        with pytest.raises(TileworkError, match="pip install"):
            call()


def test_the_core_imports_none_of_the_packages():
    program = (
        "import sys, tilework as tw; tw.tune, tw.remote; import tilework.tuning.site\n"
        "print([m for m in ('distributed', 'asyncssh', 'cryptography') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
