"""Boards for tests: SSH servers on this machine that run commands with a few tools of a shell, and no Python."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import asyncssh

TOOLS = ("sh", "cat", "chmod", "mktemp", "rm", "sleep")
"""All that there is on a board."""


@dataclass
class BoardServer:
    """An SSH server. commands: those that it was given."""

    folder: Path
    port: int = 0
    commands: list[str] = field(default_factory=list)
    server: Any = None
    loop: Any = None
    connections: list[Any] = field(default_factory=list)
    running: set[Any] = field(default_factory=set)
    start: Any = None

    def toml(self, name: str, target: str, **more: str) -> str:
        """The table that describes it."""
        fields = {
            "host": "127.0.0.1",
            "user": "pi",
            "key": str(self.folder / "user"),
            "known_hosts": str(self.folder / "known_hosts"),
            "target": target,
            **more,
        }
        return (
            "\n".join([f"[board.{name}]", f"port = {self.port}", *(f'{k} = "{v}"' for k, v in fields.items())]) + "\n"
        )

    def pull_the_plug(self) -> None:
        """End the server and all that runs, as when the board loses power."""
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)

    def plug_in(self) -> None:
        """Start the server, on the port that it had before."""
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result(10)

    async def _end(self) -> None:
        self.server.close()
        for connection in self.connections:
            connection.abort()
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()


@contextmanager
def board_server(folder: Path) -> Generator[BoardServer]:
    """A board that listens on this machine alone, with a key for itself and one for its user."""
    board = BoardServer(folder)
    tools, home = folder / "bin", folder / "tmp"
    tools.mkdir(parents=True)
    home.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    for name in ("host", "user"):
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(folder / name))
    environment = {"PATH": str(tools), "TMPDIR": str(home)}

    async def run_command(process: asyncssh.SSHServerProcess[bytes]) -> None:
        board.commands.append(process.command or "")
        child = await asyncio.create_subprocess_exec(
            tools / "sh",
            "-c",
            process.command or "",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        board.running.add(child)
        output, errors = await child.communicate(await process.stdin.read())
        board.running.discard(child)
        process.stdout.write(output)
        process.stderr.write(errors)
        status = await child.wait()
        if status < 0:
            process.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            process.exit(status)

    class Server(asyncssh.SSHServer):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            board.connections.append(conn)

    async def serve() -> None:
        public = folder / "authorized"
        public.write_bytes(asyncssh.read_private_key(str(folder / "user")).export_public_key())
        board.server = await asyncssh.listen(
            "127.0.0.1",
            board.port,
            server_host_keys=[str(folder / "host")],
            authorized_client_keys=str(public),
            server_factory=Server,
            process_factory=run_command,
            encoding=None,
        )
        board.port = board.server.get_port()
        host_key = asyncssh.read_private_key(str(folder / "host")).export_public_key().decode()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{board.port} {host_key}")

    board.loop, board.start = asyncio.new_event_loop(), serve
    Thread(target=board.loop.run_forever, daemon=True).start()
    board.plug_in()
    try:
        yield board
    finally:
        board.pull_the_plug()
        board.loop.call_soon_threadsafe(board.loop.stop)
