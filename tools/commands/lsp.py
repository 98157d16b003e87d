"""Answer an editor's questions about `.mlir` files: a language server on stdin and stdout."""

from __future__ import annotations

import argparse

from tilework.algebra.errors import TileworkError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework lsp`."""
    parser.add_argument("--stdio", action="store_true", help="talk on stdin and stdout, as it always does")


def run(options: argparse.Namespace) -> int:
    """Serve until the editor ends it. Raises TileworkError where the packages that it needs are not installed."""
    try:
        from tilework.tools.lsp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise TileworkError("the language server needs pygls: pip install 'tilework[lsp]'") from None
    make_server().start_io()
    return 0
