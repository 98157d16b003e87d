"""Messages between processes: a line of JSON, and then as many bytes as its "bytes" says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any


def send(stream: IO[bytes], message: Mapping[str, Any], data: bytes = b"") -> None:
    """Write a message for the other process to read."""
    stream.write(json.dumps({**message, "bytes": len(data)}).encode() + b"\n" + data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read what the other process sent, or None where the stream ends before it is whole."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    data = stream.read(message.pop("bytes"))
    return message, data
