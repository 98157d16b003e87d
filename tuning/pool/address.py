"""Addresses of pools: `tcp://HOST:PORT` on this machine alone, `tls://HOST:PORT` from anywhere."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from tilework.algebra.errors import UsageError

PORT = 8786
"""Where a pool listens unless it is told otherwise."""


@dataclass(frozen=True)
class PoolAddress:
    """Where a pool is. certificates: the folder with those of this end, for a pool with TLS."""

    host: str
    port: int
    certificates: Path | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'tls' if self.certificates else 'tcp'}://{host}:{self.port}"


def pool_address(text: object, certificates: object = None) -> PoolAddress:
    """Read an address. Raises UsageError for what is none, and for one that TLS must protect and does not."""
    if not isinstance(text, str):
        raise UsageError(f"a pool is named by its address, as in tcp://127.0.0.1:{PORT}, not by {text!r}")
    scheme, host, port = _parts(text)
    if scheme == "tls" and certificates is None:
        raise UsageError(f"{text} needs certificates: say in which folder they are (tls=, on the command line --tls)")
    if scheme == "tcp" and certificates is not None:
        raise UsageError(f"{text} speaks no TLS and needs no certificates: leave them out, or write tls://")
    return protected(PoolAddress(host, port, None if certificates is None else Path(str(certificates))))


def protected(address: PoolAddress) -> PoolAddress:
    """The address. Raises UsageError where other machines reach it and TLS does not protect it."""
    if address.certificates is None and not _is_loopback(address.host):
        raise UsageError(
            f"other machines can reach {address.host}, and whoever reaches a pool runs code in it: protect it with TLS "
            "(tilework pool certificates, then --tls), or stay on 127.0.0.1"
        )
    return address


def _parts(text: str) -> tuple[str, str, int]:
    wrong = f"'{text}' is no address of a pool: write tcp://127.0.0.1:{PORT}, or tls:// with certificates"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise UsageError(wrong) from None
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or port is None or parts.path or parts.query:
        raise UsageError(wrong)
    return parts.scheme, parts.hostname, port


def _is_loopback(host: str) -> bool:
    """Whether all that the name stands for is this machine alone. Raises UsageError for a name that nobody knows."""
    try:
        found = socket.getaddrinfo(host, None)
    except OSError:
        raise UsageError(f"there is no machine called '{host}'") from None
    return all(ip_address(str(place[0]).partition("%")[0]).is_loopback for *_, place in found)
