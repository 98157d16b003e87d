"""Programs on other machines: `tilework.remote`."""

from __future__ import annotations

from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from tilework.algebra.errors import UsageError
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.tuning.pool.address import pool_address
from tilework.tuning.pool.execution import LoadedProgram
from tilework.tuning.pool.extra import need_packages
from tilework.tuning.pool.programs import Program, opened, program_of
from tilework.tuning.pool.remote_program import RemoteFunction, RemoteModule

BOARDS = "boards.toml"
"""The file that describes boards, unless another one is named."""

SSH = "ssh://"


class Place(Protocol):
    """Where programs can be loaded."""

    def loaded(self, program: Program) -> LoadedProgram:
        """A program, ready to run."""
        ...


def remote(
    address: str,
    device: str | None = None,
    *,
    tls: str | PathLike[str] | None = None,
    boards: str | PathLike[str] = BOARDS,
    seconds: float = 60.0,
) -> Remote:
    """A device of another machine, to which programs can be uploaded, and which runs them.

    address: of a pool, "tcp://127.0.0.1:8786" on this machine or "tls://HOST:PORT" with the folder `tls` of its
    certificates, and then `device` says which of its devices; or a board, "ssh://NAME", which the file `boards`
    describes. seconds: so long a call may take. Raises UsageError for what is no such address or no device there,
    TileworkError where nobody answers.
    """
    need_packages()
    limit = _checked_seconds(seconds)
    if isinstance(address, str) and address.startswith(SSH):  # pyright: ignore[reportUnnecessaryIsInstance]
        return _board(address, device, tls, Path(boards), limit)
    if not isinstance(device, str):
        raise UsageError(f"remote('{address}') needs the name of a device: tilework pool list shows them")
    from tilework.tuning.pool.client import Pool
    from tilework.tuning.pool.pool_device import PoolDevice

    held = ExitStack()
    pool = held.enter_context(Pool(pool_address(address, tls)))
    try:
        return Remote(f"'{device}' of the pool at {pool.address}", PoolDevice(pool, device), held, limit)
    except BaseException:
        held.close()
        raise


def _checked_seconds(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise UsageError(f"seconds={given!r}: the time for a call is a positive number of seconds")
    return float(given)


def _board(address: str, device: str | None, tls: object, file: Path, seconds: float) -> Remote:
    from tilework.tuning.pool.boards import board_called
    from tilework.tuning.pool.device import BoardDevice

    if tls is not None:
        raise UsageError(f"{address} is reached with a key that {file} names: tls= is for pools")
    board = board_called(address.removeprefix(SSH), file)
    if device is not None and device != board.device:
        raise UsageError(f"{board.place} is the device '{board.device}', not '{device}'")
    held = ExitStack()
    there = BoardDevice(board)
    held.callback(there.close)
    return Remote(board.place, there, held, seconds)


class Remote:
    """A device of another machine; it is let go at the end of a `with`, or by `close`."""

    def __init__(self, name: str, place: Place, held: ExitStack, seconds: float):
        self._name, self._place, self._held, self._seconds = name, place, held, seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def __repr__(self) -> str:
        return f"Remote({self._name})"

    def close(self) -> None:
        """Let the device go; nothing that was uploaded can be run any more."""
        self._held.close()

    def upload(self, program: Module | Function | str | PathLike[str]) -> RemoteModule | RemoteFunction:
        """A program on the device: of a Module, a Function, or the path of what `Module.save` wrote.

        Raises UsageError for anything else, TileworkError for what the device cannot run.
        """
        sent = program_of(program)
        here = opened(sent)
        loaded = self._place.loaded(sent)
        self._held.callback(loaded.close)
        if isinstance(here, Module):
            return RemoteModule(here, loaded, self._name, self._seconds)
        return RemoteFunction(here, loaded, self._name, self._seconds)
