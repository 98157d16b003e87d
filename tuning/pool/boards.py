"""Boards that are reached over SSH, as a file of TOML describes them.

    [board.kitchen]
    host = "192.168.1.7"
    user = "pi"
    key = "~/.ssh/kitchen"
    known_hosts = "~/.ssh/known_hosts"
    target = "llvm -mcpu=haswell"
    compiler = "cc"

Besides there are `port`, by default 22, and `device`, which is what searches ask for: by default the board's name, and
the same for boards that are alike. The compiler of C links programs for the board; by default it is `cc`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tilework.algebra.errors import TileworkError, did_you_mean
from tilework.targets import Target, parse_target
from tilework.targets.cpu.target import CpuTarget

DEVICE_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NEEDED = ("host", "user", "key", "known_hosts", "target")
_OTHERS = ("port", "device", "compiler")


@dataclass(frozen=True)
class Board:
    """How to reach a board, what its processor is, and which compiler makes programs for it."""

    name: str
    host: str
    port: int
    user: str
    key: str
    known_hosts: str
    target: str
    device: str
    compiler: str

    @property
    def place(self) -> str:
        """The board in messages."""
        return f"board '{self.name}' ({self.user}@{self.host}:{self.port})"


def read_boards(path: Path) -> dict[str, Board]:
    """The boards that a file describes, by name. Raises TileworkError for a file that cannot be read or understood."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TileworkError(f"cannot read {path}, which is to describe boards: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TileworkError(f"{path} is no TOML: {error}") from None
    tables = content.get("board")
    if content.keys() != {"board"} or not isinstance(tables, dict):
        raise TileworkError(f"{path} must hold tables [board.NAME] and nothing else")
    return {name: _board(name, table, path) for name, table in cast("dict[str, object]", tables).items()}


def board_called(name: str, path: Path) -> Board:
    """The board of that name in a file. Raises TileworkError where there is none, and as `read_boards` does."""
    boards = read_boards(path)
    if name not in boards:
        raise TileworkError(f"{path} describes no board '{name}'{did_you_mean(name, boards) or _those(boards)}")
    return boards[name]


def _those(boards: Mapping[str, Board]) -> str:
    return f"; those that it describes: {', '.join(boards) or 'none'}"


def _board(name: str, table: object, path: Path) -> Board:
    where = f"{path}, board '{name}'"
    fields = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    _check_keys(fields, where)
    for key in (*_NEEDED, "device", "compiler"):
        if not isinstance(fields.get(key, ""), str):
            raise TileworkError(f"{where}: {key} = {fields[key]!r} must be a text")
    port, device = fields.get("port", 22), fields.get("device", name)
    if type(port) is not int or not 0 < port < 65536:
        raise TileworkError(f"{where}: port = {port!r} must be a number from 1 to 65535")
    if not DEVICE_NAME.fullmatch(device):
        raise TileworkError(f"{where}: '{device}' cannot name a device: use letters, digits, '_', '.' and '-'")
    target = _target(fields["target"], where)
    if not isinstance(target, CpuTarget) or target.kind != "llvm":
        raise TileworkError(f"{where}: target = '{target}' must be a processor that LLVM has code for")
    key, hosts = (str(_file(fields[key], key, path, where)) for key in ("key", "known_hosts"))
    compiler = fields.get("compiler", "cc")
    return Board(name, fields["host"], port, fields["user"], key, hosts, str(target), device, compiler)


def _target(text: str, where: str) -> Target:
    try:
        return parse_target(text)
    except TileworkError as error:
        raise TileworkError(f"{where}: {error}") from None


def _check_keys(fields: Mapping[str, Any], where: str) -> None:
    for key in fields:
        if key not in (*_NEEDED, *_OTHERS):
            raise TileworkError(f"{where}: there is no key '{key}'{did_you_mean(key, (*_NEEDED, *_OTHERS))}")
    if missing := [key for key in _NEEDED if key not in fields]:
        raise TileworkError(f"{where} lacks {', '.join(missing)}")


def _file(text: str, key: str, path: Path, where: str) -> Path:
    """A file that is named beside the one that names it."""
    file = path.parent.resolve() / Path(text).expanduser()
    if not file.is_file():
        raise TileworkError(f"{where}: {key} = '{text}' is no file")
    return file
