"""A compiler in a process of its own, as its parent sees it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import IO

from tilework.driver.worker import FailedKernel, Job, Outcome, receive, send
from tilework.plugins.packages import child_environment


class WorkerProcess:
    """A worker process as its parent sees it: `is_alive` until it dies or is killed."""

    def __init__(self):
        self._stderr = _temporary_file()
        # A session of its own: Ctrl-C in the terminal reaches the parent only, which kills the workers.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tilework.driver.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._stderr is None else self._stderr,
            start_new_session=True,
            env=child_environment(),
        )
        self.is_alive = True

    def do(self, job: Job) -> Outcome:
        """Send a job and wait for the outcome; the worker's death is a failure of the job."""
        assert self._process.stdin and self._process.stdout
        try:
            send(self._process.stdin, job)
            outcome = receive(self._process.stdout)
        except OSError:
            outcome = None  # a broken pipe
        except Exception as error:
            self.kill()
            message = f"the answer of the compiler process cannot be read: {error!r}"
            return FailedKernel(job.kernel, message, "Tilework's sources may have been edited meanwhile")
        if outcome is None:
            self.is_alive = False
            return self._death(job)
        return outcome

    def _death(self, job: Job) -> FailedKernel:
        status = self._process.wait()
        cause = f"signal {-status}" if status < 0 else f"exit status {status}"
        return FailedKernel(job.kernel, f"the compiler process died ({cause})", self._last_words())

    def _last_words(self) -> str:
        if self._stderr is None:
            return "what it printed is not known, for want of a folder for temporary files"
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace").strip() or "it printed nothing"

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.is_alive = False
        self._process.kill()
        self._process.wait()


def _temporary_file() -> IO[bytes] | None:
    """None where no folder takes one, as in a container that can only be read."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return None
