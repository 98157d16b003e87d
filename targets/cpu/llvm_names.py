"""The processors and features that LLVM knows: it warns of others, on stderr, and goes on without them."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.targets.cpu.host import host_target
from tilework.targets.cpu.processors import CPU_FEATURES
from tilework.targets.cpu.target import CpuTarget

_LIST = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""
"""LLVM prints its list to stderr and has no call that gives it: hence a process of its own."""

_NAME = re.compile(r"^  (\S+) +- ", re.MULTILINE)


def check_llvm_names(target: CpuTarget) -> None:
    """Raise a UsageError for a processor or feature that LLVM does not know."""
    if not _is_surely_known(target):
        _check_names(target)


def _is_surely_known(target: CpuTarget) -> bool:
    """Whether the names are this machine's or our own table's: to ask LLVM takes a quarter of a second."""
    host = host_target()
    if (target.cpu, target.features) == (host.cpu, host.features):
        return True
    listed = CPU_FEATURES.get(target.cpu)
    return listed is not None and {feature[1:] for feature in target.features} <= set(listed)


def _check_names(target: CpuTarget) -> None:
    features = {feature[1:] for feature in target.features}
    known_cpus, known_features = _known(target.triple)
    if target.cpu not in known_cpus:
        raise UsageError(f"-mcpu: LLVM knows no processor '{target.cpu}'{did_you_mean(target.cpu, known_cpus)}")
    for feature in sorted(features - known_features):
        raise UsageError(f"-mattr: LLVM knows no feature '{feature}'{did_you_mean(feature, sorted(known_features))}")


@cache
def _known(triple: str) -> tuple[list[str], frozenset[str]]:
    """The processors and the features for a triple; a UsageError for a triple that LLVM has no target for."""
    listing = subprocess.run([sys.executable, "-c", _LIST, triple], capture_output=True, text=True)
    if listing.returncode:
        raise UsageError(f"-mtriple: {listing.stderr.strip().splitlines()[-1]}")
    cpus, _, features = listing.stderr.partition("Available features")
    return _NAME.findall(cpus), frozenset(_NAME.findall(features))
