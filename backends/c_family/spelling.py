"""How one dialect of C writes what others write differently. The printer asks it, and knows no dialect by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilework.backends.c_family.gnu_vectors import GnuVectors
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, Kind


@dataclass(frozen=True)
class Spelling:
    """One dialect of C.

    head: what every file begins with. scalars: the types of kinds. kernel: what stands before the name of a function
    that others call; outlined: before one that its file alone calls; helper: before a small function that is always
    inlined. restrict: says of a pointer that no other one reaches the same memory. local: the declaration of a buffer
    of a function. spaces: the words for memory that has some, by the name of its space; None is that of arguments.
    functions: by kind, the name of a function of the C library, whatever variables are called; builtin: of others. nan,
    infinity: by kind.
    reinterpret: the bits of a value as one of another type; where nothing does that, they are copied. vectors: types of
    vectors, and operations on them. threads: the number of a thread, or of its block, by the kind of the loop over
    them. barrier: the statement at which the threads of a block wait for each other. offset: the type of an argument
    that says how many elements behind what is given a buffer begins; None where a pointer is given. parameter: an
    argument of a kernel that is launched, given its declaration and its number; size: the declaration of a size among
    them; numbers: what follows them. library: functions that the library of the dialect computes well for float.
    """

    head: str
    scalars: Mapping[str, str]
    kernel: str
    outlined: str
    helper: str
    restrict: str
    local: str
    spaces: Mapping[str | None, str]
    functions: Mapping[str, str]
    builtin: str
    nan: Mapping[str, str]
    infinity: Mapping[str, str]
    reinterpret: str | None
    vectors: GnuVectors
    threads: Mapping[Kind, str] = field(default_factory=dict[Kind, str])
    barrier: str = ""
    offset: str | None = None
    parameter: str = "{declaration}"
    size: str = "{type} {name}"
    numbers: tuple[str, ...] = ()
    library: frozenset[str] = frozenset()


_SCALARS = {
    "f32": "float",
    "f64": "double",
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "bool": "bool",
}

_HELPER = "static inline __attribute__((always_inline))"

_HEAD = """\
#include <stdbool.h>
#include <stdint.h>

/* A product and a sum are rounded as one number only where it says fma. No function sets errno, and nobody looks at the
   flags of floating-point exceptions. Vectors are passed to functions of this file alone, which are inlined, so that it
   does not matter how processors without such registers pass them. What is read was written before, though not all
   compilers see it. A loop that a compiler does not unroll though it is asked to costs time alone. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNROLLED(count) PRAGMA(clang loop unroll_count(count))
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math")
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define UNROLLED(count) PRAGMA(GCC unroll count)
#endif
#define PRAGMA(text) _Pragma(#text)
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are in memory as little-endian processors have them"
#endif
"""

C11 = Spelling(
    head=_HEAD,
    scalars=_SCALARS,
    kernel="void",
    outlined="static __attribute__((noinline)) void",
    helper=_HELPER,
    restrict="restrict",
    local="{type} {name}[{count}] __attribute__((aligned(64)));",
    spaces={},
    functions={"f32": "__builtin_{}f", "f64": "__builtin_{}"},
    builtin="__builtin_{}",
    nan={"f32": '__builtin_nanf("")', "f64": '__builtin_nan("")'},
    infinity={"f32": "__builtin_inff()", "f64": "__builtin_inf()"},
    reinterpret=None,
    vectors=GnuVectors(_SCALARS, _HELPER),
)
"""C11 with the vectors of GCC and clang."""

_OPENCL_HEAD = """\
/* A product and a sum are rounded as one number only where it says fma. */
#pragma OPENCL FP_CONTRACT OFF
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(count) PRAGMA(unroll count)
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
"""

_OPENCL_SCALARS = {
    "f32": "float",
    "f64": "double",
    **{"i8": "char", "i16": "short", "i32": "int", "i64": "long"},
    **{"u8": "uchar", "u16": "ushort", "u32": "uint", "u64": "ulong"},
    "bool": "bool",
}

OPENCL = Spelling(
    head=_OPENCL_HEAD,
    scalars=_OPENCL_SCALARS,
    kernel="__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void",
    outlined="void",
    helper="static inline",
    restrict="restrict",
    local="{type} {name}[{count}];",
    spaces={None: "__global ", "shared": "__local "},
    functions={"f32": "{}", "f64": "{}"},
    builtin="{}",
    nan={"f32": "nan(0u)", "f64": "nan(0ul)"},
    infinity={"f32": "INFINITY", "f64": "(double)INFINITY"},
    reinterpret="as_{type}({text})",
    vectors=GnuVectors(_OPENCL_SCALARS, "static inline"),
    threads={
        **{kind: f"get_group_id({2 - i})" for i, kind in enumerate(BLOCKS)},
        **{kind: f"get_local_id({2 - i})" for i, kind in enumerate(BLOCK_THREADS)},
    },
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    offset="long",
)
"""OpenCL C 1.2, without vectors."""

_CUDA_HEAD = """\
/* Compile without -use_fast_math, and with -fmad=false: a product and a sum are rounded as one number only where it
   says fma. */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define inline __device__ __forceinline__
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(count) PRAGMA(unroll count)
"""

CUDA = Spelling(
    head=_CUDA_HEAD,
    scalars=_SCALARS,
    kernel='extern "C" __global__ void __launch_bounds__({all})',
    outlined="static __device__ void",
    helper="static inline",
    restrict="__restrict__",
    local="{type} {name}[{count}];",
    spaces={"shared": "__shared__ "},
    functions={"f32": "{}f", "f64": "{}"},
    builtin="{}",
    nan={"f32": "__int_as_float(0x7fc00000)", "f64": "__longlong_as_double(0x7ff8000000000000LL)"},
    infinity={"f32": "__int_as_float(0x7f800000)", "f64": "__longlong_as_double(0x7ff0000000000000LL)"},
    reinterpret=None,
    vectors=GnuVectors(_SCALARS, "static inline"),
    threads={
        **{kind: f"blockIdx.{axis}" for kind, axis in zip(BLOCKS, "zyx", strict=True)},
        **{kind: f"threadIdx.{axis}" for kind, axis in zip(BLOCK_THREADS, "zyx", strict=True)},
    },
    barrier="__syncthreads();",
)
"""CUDA C, without vectors."""

_METAL_HEAD = """\
/* Compile with -fno-fast-math: a product and a sum are rounded as one number only where it says fma, and infinities and
   NaN are what they are. */
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(count) PRAGMA(clang loop unroll_count(count))
"""

METAL = Spelling(
    head=_METAL_HEAD,
    scalars=_OPENCL_SCALARS,
    kernel="[[max_total_threads_per_threadgroup({all})]] kernel void",
    outlined="void",
    helper="static inline",
    restrict="__restrict",
    local="{type} {name}[{count}];",
    spaces={None: "device ", "shared": "threadgroup ", "local": "thread ", "register": "thread "},
    functions={"f32": "{}"},
    builtin="{}",
    nan={"f32": "NAN"},
    infinity={"f32": "INFINITY"},
    reinterpret="as_type<{type}>({text})",
    vectors=GnuVectors(_OPENCL_SCALARS, "static inline"),
    threads={
        **{kind: f"block_number.{axis}" for kind, axis in zip(BLOCKS, "zyx", strict=True)},
        **{kind: f"thread_number.{axis}" for kind, axis in zip(BLOCK_THREADS, "zyx", strict=True)},
    },
    barrier="threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    parameter="{declaration} [[buffer({number})]]",
    size="constant {type} &{name}",
    numbers=(
        "uint3 block_number [[threadgroup_position_in_grid]]",
        "uint3 thread_number [[thread_position_in_threadgroup]]",
    ),
    library=frozenset({"cos", "pow", "sin", "tan"}),
)
"""The Metal shading language, without vectors. It has no double, in which our own functions of angles compute."""
