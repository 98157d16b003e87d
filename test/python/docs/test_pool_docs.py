"""The blocks of docs/pool.md: its Python runs and prints what stands below it, its commands and its board are taken."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from places import ROOT

pytest.importorskip("distributed", reason="pools need the extra 'distributed'")
pytest.importorskip("asyncssh", reason="boards need the extra 'distributed'")

from c_compilers import need_compiler
from pools import running
from ssh_boards import board_server

from tilework.algebra.errors import TileworkError
from tilework.targets.cpu.host import host_target
from tilework.tools.arguments import ArgumentParser
from tilework.tools.cli import main
from tilework.tools.commands import pool
from tilework.tuning.pool.boards import read_boards
from tilework.tuning.pool.serve import SILENT_SECONDS

PAGE = (ROOT / "docs" / "pool.md").read_text(encoding="utf-8")
PYTHON = re.compile(r"```python\n(?P<code>.*?)```\n(\n```\n(?P<printed>.*?)```\n)?", re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
ADDRESS = "tcp://127.0.0.1:8786"


def test_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    need_compiler("cc")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with (
        board_server(tmp_path / "of") as board,
        running("start", "--devices", "cpu0", "--builders", "2", "--port", "0") as address,
    ):
        Path("boards.toml").write_text(board.toml("kitchen", str(host_target())))
        for block in PYTHON.finditer(PAGE):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(block["code"].replace(ADDRESS, address), names)
            assert printed.getvalue() == (block["printed"] or "")
    assert len(names) > 3


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("tilework pool")])
def test_commands_are_taken(command: str):
    parser = ArgumentParser()
    pool.add_arguments(parser)
    assert parser.parse_all(shlex.split(command)[2:]).action in command


def test_certificates_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    [command] = [c for c in COMMANDS if "certificates" in c]
    assert main(shlex.split(command)[1:]) == 0
    assert (tmp_path / "pool-keys" / "key.pem").is_file()


def test_the_board_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "boards.toml").write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(TileworkError, match="is no file"):
        read_boards(tmp_path / "boards.toml")
    (tmp_path / ".ssh").mkdir()
    for name in ("kitchen", "known_hosts"):
        (tmp_path / ".ssh" / name).touch()
    [board] = read_boards(tmp_path / "boards.toml").values()
    assert (board.device, board.port, board.compiler) == ("pi4", 22, "aarch64-linux-gnu-gcc")
    keys = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`host`.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL))))
    assert {"host", "port", "user", "key", "known_hosts", "target", "compiler", "device"} <= keys


def test_numbers_are_those_of_the_code():
    assert f"after {SILENT_SECONDS} seconds of silence" in PAGE
