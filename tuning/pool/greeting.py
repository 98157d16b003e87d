"""The first words with a pool, which say at once what is wrong: Dask would try again and again."""

# Dask has few types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import socket
import ssl
from typing import cast

from distributed.security import Security

from tilework.algebra.errors import TileworkError
from tilework.tuning.pool.address import PoolAddress

ANSWER_SECONDS = 10.0
"""So long a pool may take to answer."""


def check_answers(address: PoolAddress, security: Security) -> None:
    """Raise TileworkError where nobody listens, or where the certificates of the two sides do not belong together."""
    try:
        with socket.create_connection((address.host, address.port), ANSWER_SECONDS) as plain:
            if address.certificates is not None:
                _greet(plain, security)
    except ssl.SSLError as error:
        told = f"its certificate and those in {address.certificates} do not belong together ({error.reason})"
        raise TileworkError(f"the pool at {address} is not trusted: {told}") from None
    except OSError as error:
        raise TileworkError(f"no pool answers at {address}: {error.strerror or error}") from None


def _greet(plain: socket.socket, security: Security) -> None:
    arguments = cast("dict[str, object]", security.get_connection_args("client"))  # pyright: ignore[reportUnknownMemberType]
    context = arguments["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    with context.wrap_socket(plain) as peer:
        peer.recv(1)  # it speaks first, unless it does not like our certificate
