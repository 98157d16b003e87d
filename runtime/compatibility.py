"""Whether code for a target can run on this machine: an error that names what is missing, instead of SIGILL."""

from __future__ import annotations

from tilework.algebra.errors import TileworkError
from tilework.targets.cpu.target import CpuTarget


def check_runs_on(target: CpuTarget, host: CpuTarget) -> None:
    """Raise TileworkError unless `host` has the architecture, the system and every extension of `target`."""
    for what, wanted, found in (
        ("processor architecture", target.architecture, host.architecture),
        ("operating system", target.operating_system, host.operating_system),
    ):
        if wanted != found:
            raise TileworkError(f"the module was compiled for {what} {wanted}, this machine has {found}")
    missing = target.missing_features(host)
    if missing:
        raise TileworkError(
            f"the module was compiled for {target.cpu} and uses {', '.join(missing)}, which this processor "
            f"({host.cpu}) lacks: compile it with target='llvm -mcpu={host.cpu}'"
        )
