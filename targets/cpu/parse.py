"""The text form of processors: "llvm", "llvm -mcpu=haswell", "c -mtriple=aarch64-linux-gnu -num-cores=8"."""

from __future__ import annotations

from dataclasses import replace

from tilework.algebra.errors import UsageError
from tilework.targets.cpu.host import host_target
from tilework.targets.cpu.processors import CPU_FEATURES, GENERIC_CPU, architecture_of
from tilework.targets.cpu.target import DEFAULT_CORES, INEXPRESSIBLE, CpuTarget, architecture_in

KINDS = tuple(INEXPRESSIBLE)
"""The words that such a text may begin with."""

_OPTIONS = ("-mtriple", "-mcpu", "-mattr", "-num-cores", "-cache-sizes")


def parse(kind: str, words: list[str], text: str) -> CpuTarget:
    """The processor of a target's text, which is this kind and these options; without any it is this machine's."""
    options = _options(words, text)
    if options.get("-mcpu") == "native" and (other := next(iter(options.keys() & {"-mtriple", "-mattr"}), None)):
        raise UsageError(f"target '{text}': -mcpu=native is this machine as it is, without {other}")
    target = host_target() if _means_host(options) else _named(options)
    return replace(_with_sizes(target, options), kind=kind)


def check_names(target: CpuTarget) -> None:
    """Raise a UsageError for a processor or feature that the kind's code generator does not know."""
    if target.kind == "llvm":  # other kinds write text, which names neither
        from tilework.targets.cpu.llvm_names import check_llvm_names  # here, since few ask LLVM

        check_llvm_names(target)


def _options(words: list[str], text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in _OPTIONS:
            raise UsageError(f"target '{text}': unknown option '{word}'; the options are {', '.join(_OPTIONS)}")
        if not equals or not value:
            raise UsageError(f"target '{text}': option '{key}' needs a value, as in {key}=...")
        if key in options:
            raise UsageError(f"target '{text}': option '{key}' is given twice")
        options[key] = value
    return options


def _means_host(options: dict[str, str]) -> bool:
    return options.get("-mcpu") == "native" or not options.keys() & {"-mtriple", "-mcpu", "-mattr"}


def _named(options: dict[str, str]) -> CpuTarget:
    cpu = options.get("-mcpu")
    triple = options.get("-mtriple") or _triple_for(cpu)
    architecture = architecture_in(triple)
    if cpu is None and architecture not in GENERIC_CPU and "-mattr" not in options:
        raise UsageError(
            f"-mtriple={triple}: the known architectures are {', '.join(GENERIC_CPU)}, not '{architecture}'"
        )
    cpu = cpu or GENERIC_CPU.get(architecture, "generic")
    if cpu in CPU_FEATURES and architecture_of(cpu) != architecture:
        raise UsageError(
            f"-mcpu={cpu} is a processor of {architecture_of(cpu)}, -mtriple={triple} is for {architecture}"
        )
    attributes = options.get("-mattr")
    if cpu not in CPU_FEATURES and attributes is None:
        raise UsageError(
            f"unknown processor '{cpu}' in -mcpu: known are native, {', '.join(CPU_FEATURES)}; "
            f"for another one list its features too, as in -mcpu={cpu} -mattr=+avx2,+fma"
        )
    return CpuTarget("llvm", DEFAULT_CORES, triple, cpu, _features(cpu, attributes))


def _triple_for(cpu: str | None) -> str:
    """This machine's, unless the processor is of another architecture."""
    host = host_target()
    if cpu not in CPU_FEATURES or architecture_of(cpu) == host.architecture:
        return host.triple
    return f"{architecture_of(cpu)}-unknown-linux-gnu"


def _features(cpu: str, attributes: str | None) -> tuple[str, ...]:
    sign_of = dict.fromkeys(CPU_FEATURES.get(cpu, ()), "+")
    for attribute in attributes.split(",") if attributes else ():
        if attribute[:1] not in ("+", "-") or len(attribute) == 1:
            raise UsageError(
                f"-mattr: '{attribute}' lacks a sign; write +{attribute or 'avx2'} to enable it, - to disable it"
            )
        sign_of[attribute[1:]] = attribute[0]
    return tuple(f"{sign}{name}" for name, sign in sorted(sign_of.items()))


def _with_sizes(target: CpuTarget, options: dict[str, str]) -> CpuTarget:
    cores = _positive_ints(options, "-num-cores", 1) or (target.cores,)
    caches = _positive_ints(options, "-cache-sizes", 3) or target.cache_bytes
    l1, l2, l3 = caches
    return replace(target, cores=cores[0], cache_bytes=(l1, l2, l3))


def _positive_ints(options: dict[str, str], key: str, count: int) -> tuple[int, ...] | None:
    text = options.get(key)
    if text is None:
        return None
    words = text.split(",")
    if len(words) != count or not all(word.isdecimal() and int(word) > 0 for word in words):
        wanted = "a positive number" if count == 1 else f"{count} positive numbers separated by commas"
        raise UsageError(f"{key}={text}: expected {wanted}")
    return tuple(map(int, words))
