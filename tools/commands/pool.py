"""Share devices of this and other machines: start a pool, join one, see what it has, make its certificates."""

from __future__ import annotations

import argparse
from pathlib import Path

from tilework.algebra.errors import UsageError
from tilework.targets.cpu.host import physical_cores
from tilework.tuning.pool.address import PORT, PoolAddress, pool_address, protected
from tilework.tuning.pool.boards import DEVICE_NAME, read_boards
from tilework.tuning.pool.extra import need_packages

_HERE = f"tcp://127.0.0.1:{PORT}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework pool`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    start = actions.add_parser("start", help="run a pool with devices of this machine, until Ctrl-C")
    start.add_argument(
        "--host", default="127.0.0.1", help="where to listen; by default where this machine alone reaches"
    )
    start.add_argument("--port", type=int, default=PORT, help=f"by default {PORT}; 0 for any")
    _add_offer(start, builders=physical_cores())
    join = actions.add_parser("join", help="bring devices of this machine to a pool, until Ctrl-C")
    join.add_argument("address", metavar="ADDRESS", help="of the pool, such as tls://192.168.1.2:8786")
    join.add_argument("--host", default="127.0.0.1", help="by which name the pool reaches this machine")
    _add_offer(join, builders=0)
    listing = actions.add_parser("list", help="print the devices of a pool")
    listing.add_argument("address", metavar="ADDRESS", nargs="?", default=_HERE, help=f"by default {_HERE}")
    _add_tls(listing)
    certificates = actions.add_parser("certificates", help="make what protects a pool that other machines reach")
    certificates.add_argument("folder", metavar="DIR", type=Path, help="where to write them")


def _add_offer(parser: argparse.ArgumentParser, builders: int) -> None:
    parser.add_argument(
        "--devices", nargs="+", default=[], metavar="NAME", help="names of this machine's processor, one for each slot"
    )
    parser.add_argument(
        "--boards", type=Path, metavar="FILE", help="a file of TOML that describes boards; see docs/pool.md"
    )
    parser.add_argument(
        "--builders",
        type=int,
        default=builders,
        metavar="N",
        help=f"kernels to compile at a time; by default {builders}",
    )
    _add_tls(parser)


def _add_tls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tls", metavar="DIR", help="the folder with the pool's certificates")


def run(options: argparse.Namespace) -> int:
    """Do what is asked for."""
    need_packages()
    match options.action:
        case "start":
            return _start(options)
        case "join":
            return _join(options)
        case "list":
            return _list(options)
        case _:
            return _certificates(options.folder)


def _start(options: argparse.Namespace) -> int:
    _quieten()
    from tilework.tuning.pool.serve import serve

    if not 0 <= options.port < 65536:
        raise UsageError(f"--port {options.port}: a port is a number from 0 to 65535")
    folder = None if options.tls is None else Path(options.tls)
    serve(protected(PoolAddress(options.host, options.port, folder)), _offer(options), _say_ready)
    return 0


def _join(options: argparse.Namespace) -> int:
    _quieten()
    from tilework.tuning.pool.serve import join

    address = pool_address(options.address, options.tls)
    protected(PoolAddress(options.host, 0, address.certificates))
    join(address, options.host, _offer(options), _say_ready)
    return 0


def _offer(options: argparse.Namespace):
    from tilework.tuning.pool.serve import Offer

    for name in options.devices:
        if not DEVICE_NAME.fullmatch(name):
            raise UsageError(f"'{name}' cannot name a device: use letters, digits, '_', '.' and '-'")
    if options.builders < 0:
        raise UsageError(f"--builders {options.builders}: the number of builders is 0 or more")
    boards = () if options.boards is None else tuple(read_boards(options.boards).values())
    if not options.devices and not boards and not options.builders:
        raise UsageError("there is nothing to bring to a pool: give --devices, --boards or --builders")
    return Offer(tuple(options.devices), boards, options.builders)


def _say_ready(address: PoolAddress) -> None:
    print(f"pool at {address}", flush=True)


def _list(options: argparse.Namespace) -> int:
    address = pool_address(options.address, options.tls)
    from tilework.tuning.pool.client import Pool

    with Pool(address) as pool:
        members = pool.members()
    print(f"pool at {address}: {sum(member.builders for member in members)} builders")
    devices = [member for member in members if member.device]
    rows = [("device", "where", "tasks", "target"), *((m.device, m.place, str(m.busy), m.target) for m in devices)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for *cells, target in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), target]))
    return 0


def _certificates(folder: Path) -> int:
    from tilework.tuning.pool.certificates import DAYS, write_certificates

    write_certificates(folder)
    print(f"{folder} has certificates for {DAYS} days: copy it to the machines of the pool, and to nobody else")
    return 0


def _quieten() -> None:
    """Let Dask, once it is imported, say nothing: what goes wrong with a task is told to those who gave it."""
    import dask.config

    dask.config.set({"logging": {"distributed": "critical"}})
