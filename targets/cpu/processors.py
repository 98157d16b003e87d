"""The processors a target may name, and the instruction-set extensions that each brings.

Only extensions that change generated code are listed. Names are LLVM's (`llc -mcpu=help`).
"""

from __future__ import annotations

_V1 = ("cmov", "cx8", "fxsr", "mmx", "sse", "sse2")
_V2 = (*_V1, "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
_ICELAKE = (*_V4, "avx512bitalg", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512vpopcntdq", "gfni")
_ARMV8 = ("neon",)
_ARMV8_2 = (*_ARMV8, "dotprod", "fullfp16", "lse", "rdm")

CPU_FEATURES: dict[str, tuple[str, ...]] = {
    "x86-64": _V1,
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "haswell": _V3,
    "broadwell": _V3,
    "skylake": _V3,
    "alderlake": (*_V3, "avxvnni", "gfni"),
    "skylake-avx512": _V4,
    "cascadelake": (*_V4, "avx512vnni"),
    "icelake-server": _ICELAKE,
    "sapphirerapids": (*_ICELAKE, "amx-bf16", "amx-tile", "avx512bf16", "avx512fp16", "avxvnni"),
    "znver1": _V3,
    "znver2": _V3,
    "znver3": _V3,
    "znver4": (*_ICELAKE, "avx512bf16"),
    "znver5": (*_ICELAKE, "avx512bf16", "avx512vp2intersect", "avxvnni"),
    "cortex-a72": _ARMV8,
    "neoverse-n1": _ARMV8_2,
    "neoverse-v1": (*_ARMV8_2, "bf16", "i8mm", "sve"),
    "apple-m1": _ARMV8_2,
}
"""Processor name -> the extensions it has."""

GENERIC_CPU: dict[str, str] = {"x86_64": "x86-64", "aarch64": "cortex-a72"}
"""Architecture -> the processor meant by a target that names only a triple."""


def architecture_of(cpu: str) -> str:
    """That of a processor in CPU_FEATURES."""
    return "aarch64" if "neon" in CPU_FEATURES[cpu] else "x86_64"


SYSTEM_FEATURES = frozenset(
    "64bit amx-avx512 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 cldemote clflushopt"
    " clwb clzero crc32 enqcmd fsgsbase hreset invpcid kl lwp movdir64b movdiri movrs mwaitx pconfig pku prefetchi"
    " prfchw ptwrite raoint rdpid rdpru rdrnd rdseed rtm serialize sgx sha sha512 shstk sm3 sm4 aes pclmul tsxldtrk"
    " uintr usermsr waitpkg wbnoinvd widekl xsave xsavec xsaveopt xsaves".split()
)
"""Extensions that LLVM never uses unless asked by an intrinsic that Tilework does not emit: no target needs them."""
