"""A shell on a board: commands and files over one SSH connection that is kept open. The board needs no Python."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Coroutine
from dataclasses import dataclass
from itertools import count
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar

import asyncssh

from tilework.algebra.errors import TileworkError
from tilework.tuning.pool.boards import Board

CONNECT_SECONDS = 10.0
"""So long a board may take to answer, and to let its user in."""

FILE_SECONDS = 60.0
"""So long a file may take to be copied, and as long again for every 10 MB."""

Result = TypeVar("Result")


class BoardLost(TileworkError):
    """A board does not answer, or does not let its user in."""


@dataclass(frozen=True)
class Done:
    """What a command left. status: -9 where signal 9 ended it."""

    status: int
    output: bytes
    errors: str


class Shell:
    """Runs commands on a board, in a folder that is made when it is first needed and ends with the `with`.

    Every method raises BoardLost where the board does not answer in time; the next call tries again, in a new folder.
    """

    def __init__(self, board: Board):
        self.board = board
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: asyncssh.SSHClientConnection | None = None
        self._folder = self._left_behind = ""
        """Where files are, and where they were when the connection was lost."""

        self._names = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    @property
    def folder(self) -> str:
        """A folder on the board that is the connection's own: what was copied is there as long as this is the same."""
        self._forget_what_ended()
        if not self._folder:
            made = self._ran(f"rm -rf {shlex.quote(self._left_behind)}; mktemp -d", CONNECT_SECONDS)
            self._folder = made.output.decode().strip()
            if made.status != 0 or not self._folder:
                raise BoardLost(f"{self.board.place} has no folder for temporary files: {made.errors}")
        return self._folder

    def new_name(self) -> str:
        """What the files of one user of the folder begin with, so that nobody else's are like them."""
        return f"{next(self._names)}-"

    def discard(self, name: str) -> None:
        """Remove the files whose names begin so, if the board still answers."""
        if self._connection is None or not self._folder:
            return  # the next connection removes the whole folder
        try:
            self.run(f"rm -f {shlex.quote(name)}*", CONNECT_SECONDS)
        except BoardLost:
            pass

    def run(self, command: str, seconds: float) -> Done:
        """Run a command of the board's shell in the folder."""
        return self._ran(f"cd {shlex.quote(self.folder)} && exec {command}", seconds)

    def put(self, name: str, content: bytes) -> None:
        """Write a file in the folder, which may be executed."""
        path = shlex.quote(f"{self.folder}/{name}")
        done = self._ran(f"cat > {path} && chmod 700 {path}", _copying(len(content)), content)
        if done.status != 0:
            raise BoardLost(f"{self.board.place} does not take a file of {len(content)} bytes: {done.errors}")

    def get(self, name: str, size: int) -> bytes:
        """Read a file in the folder, of so many bytes."""
        done = self.run(f"cat {shlex.quote(name)}", _copying(size))
        if done.status != 0 or len(done.output) != size:
            raise BoardLost(f"{self.board.place} does not give a file of {size} bytes: {done.errors}")
        return done.output

    def close(self) -> None:
        """Remove the folder, if the board still answers, and end the connection."""
        if self._loop is None:
            return
        if self._connection is not None and self._folder:
            try:
                self._ran(f"rm -rf {shlex.quote(self._folder)}", CONNECT_SECONDS)
            except BoardLost:
                pass  # it is in a folder for temporary files
        self._drop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop = None

    # -- the connection

    def _ran(self, command: str, seconds: float, content: bytes = b"") -> Done:
        self._forget_what_ended()
        try:
            if self._connection is None:
                self._connection = self._now(self._connected(), 3 * CONNECT_SECONDS)
            return self._now(self._finished(self._connection, command, content, seconds), seconds + CONNECT_SECONDS)
        except (OSError, TimeoutError, asyncssh.Error) as error:
            self._drop()
            raise BoardLost(f"{self.board.place} {_cause(error, seconds)}") from None

    async def _connected(self) -> asyncssh.SSHClientConnection:
        board = self.board
        return await asyncssh.connect(
            board.host,
            board.port,
            username=board.user,
            client_keys=[board.key],
            known_hosts=board.known_hosts,
            agent_path=None,
            preferred_auth="publickey",
            connect_timeout=CONNECT_SECONDS,
            login_timeout=CONNECT_SECONDS,
            keepalive_interval=5,
            keepalive_count_max=2,
        )

    async def _finished(
        self, connection: asyncssh.SSHClientConnection, command: str, content: bytes, seconds: float
    ) -> Done:
        given: dict[str, Any] = {"input": content} if content else {"stdin": asyncssh.DEVNULL}
        done = await connection.run(command, encoding=None, timeout=seconds, **given)
        assert isinstance(done.stdout, bytes) and isinstance(done.stderr, bytes)
        status = done.returncode
        if status is None:
            raise asyncssh.ConnectionLost("the connection ended before the command did")
        errors = done.stderr.decode(errors="replace").strip()
        return Done(128 - status if status > 128 else status, done.stdout, errors)

    def _forget_what_ended(self) -> None:
        """A connection may end while nothing is asked of it, as when the board starts anew."""
        if self._connection is not None and self._connection.is_closed():
            self._drop()

    def _drop(self) -> None:
        """Forget the connection, and with it the folder."""
        if self._connection is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._connection.abort)
        self._connection, self._folder, self._left_behind = None, "", self._folder or self._left_behind

    def _now(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Run a coroutine in the thread of the connection and wait for it, for so long at most."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            Thread(target=self._loop.run_forever, daemon=True).start()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()
            raise


def _copying(size: int) -> float:
    return FILE_SECONDS * (1 + size / 10e6)


def _cause(error: Exception, seconds: float) -> str:
    """What is wrong, and what to do, in words that continue a sentence about the board."""
    match error:
        case asyncssh.HostKeyNotVerifiable():
            return "has a host key that its known_hosts does not know: log in once by hand, and look at the key"
        case asyncssh.PermissionDenied():
            return "does not let the user in with the key that its description names"
        case TimeoutError():
            return f"does not answer within {seconds:.0f} s"
        case asyncssh.KeyImportError() | asyncssh.KeyEncryptionError():
            return f"cannot be logged in to: the key is of no use ({error})"
        case _:
            return f"cannot be reached: {error.strerror or error if isinstance(error, OSError) else error}"
