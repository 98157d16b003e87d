"""The text form of targets: "llvm", "llvm -mcpu=haswell", "llvm -mtriple=aarch64-linux-gnu -num-cores=8"."""

from __future__ import annotations

from dataclasses import replace

from tilework.algebra.errors import UsageError
from tilework.targets.cpus import CPU_FEATURES, GENERIC_CPU, architecture_of
from tilework.targets.host import host_target
from tilework.targets.target import Target

_OPTIONS = ("-mtriple", "-mcpu", "-mattr", "-num-cores", "-cache-sizes")


def parse_target(text: str) -> Target:
    """The target that a text such as "llvm -mcpu=haswell" names; "llvm" alone is this machine.

    Raises UsageError naming the word that is wrong and the words that would do.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f'a target is a text such as "llvm", not a value of type {type(text).__name__}')
    kind, *words = text.split() or [""]
    if kind not in ("llvm", "c"):
        known = "the known kinds are 'llvm' and 'c', as in \"llvm\" or \"c -mcpu=haswell\""
        raise UsageError(f"unknown target '{kind}': {known}")
    options = _options(words, text)
    if options.get("-mcpu") == "native" and (other := next(iter(options.keys() & {"-mtriple", "-mattr"}), None)):
        raise UsageError(f"target '{text}': -mcpu=native is this machine as it is, without {other}")
    target = _with_sizes(host_target() if _means_host(options) else _named(options), options)
    return target if kind == "llvm" else _in_c(target)


def _in_c(target: Target) -> Target:
    """The machine as C has it: without instructions that C has no words for."""
    features = tuple(feature for feature in target.features if feature[1:] not in _WITHOUT_WORDS)
    return replace(target, name="c", features=features)


_WITHOUT_WORDS = ("amx-bf16", "amx-tile", "avx512vnni", "avxvnni", "i8mm")
"""Extensions that multiply tiles, or bytes."""


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


def _named(options: dict[str, str]) -> Target:
    cpu = options.get("-mcpu")
    triple = options.get("-mtriple") or _triple_for(cpu)
    architecture = Target("llvm", triple, "generic", ()).architecture
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
    return Target("llvm", triple, cpu, _features(cpu, attributes))


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


def _with_sizes(target: Target, options: dict[str, str]) -> Target:
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
