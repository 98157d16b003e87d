"""Names as C takes them: neither words of C and its dialects, nor functions that compilers or devices know."""

from __future__ import annotations

import re

_KEYWORDS = """
    alignas alignof and asm auto bool break case catch char class compl complex const constant continue default
    delete do double else enum explicit export extern false float for friend global goto half if imaginary inline
    int kernel local long mutable namespace new nullptr operator or private protected public register restrict
    return short signed sizeof static struct switch template this thread throw true try typedef typeid typename
    typeof union unsigned using virtual void volatile while xor linux unix errno stdin stdout stderr NULL EOF main
"""

_FUNCTIONS = """
    abort abs alloca aligned_alloc atexit atof atoi atol bcmp bcopy bsearch bzero calloc clock div execl execle
    execlp execv execve execvp exit fclose ffs ffsl ffsll fflush fopen fork fputc fputs fprintf fread free fscanf
    fwrite getc getchar gettext index isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint
    ispunct isspace isupper isxdigit labs ldiv llabs lldiv longjmp malloc mbstowcs memccpy memchr memcmp memcpy
    memmove mempcpy memset posix_memalign printf putc putchar puts qsort raise rand read realloc remove rename
    rindex scanf setjmp signal snprintf sprintf srand sscanf stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll
    strcpy strcspn strdup strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strpbrk
    strrchr strspn strstr strtod strtof strtok strtol strtoul system time toascii tolower toupper vfprintf vprintf
    vsnprintf vsprintf write
"""

_MATHEMATICS = """
    acos acosh asin asinh atan atan2 atanh cabs cacos carg casin catan cbrt ccos ceil cexp cimag clog conj copysign
    cos cosh cpow cproj creal csin csqrt ctan drem erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod
    frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan
    nearbyint nextafter nexttoward pow pow10 remainder remquo rint round roundeven scalb scalbln scalbn significand
    sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn finite isinf isnan signbit
"""

_DEVICES = """
    INFINITY NAN all any as_double as_float as_int as_long as_type barrier blockDim blockIdx block_number clamp clz
    cross ctz device distance dot event_t fence get_global_id get_group_id get_local_id gridDim host image1d_t image2d_t
    image3d_t length mad mad24 max min mix mul24 normalize pipe popcount ptrdiff_t radians read_only read_write rsqrt
    sampler_t saturate select shared shuffle sign size_t smoothstep step threadIdx thread_number threadgroup uchar uint
    ulong uniform ushort warpSize write_only
"""

_VECTORS = [
    f"{type_}{lanes}"
    for type_ in "char uchar short ushort int uint long ulong float double half".split()
    for lanes in (2, 3, 4, 8, 16)
]

WORDS = frozenset(
    _KEYWORDS.split()
    + _FUNCTIONS.split()
    + _DEVICES.split()
    + _VECTORS
    + [f"{name}{suffix}" for name in _MATHEMATICS.split() for suffix in ("", "f", "l")]
)
"""What an underscore is added to."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")


def c_name(name: str) -> str:
    """The identifier for a symbol: the symbol itself where C allows it, else with other characters by their numbers."""
    text = _NOT_IN_NAMES.sub(lambda m: f"_{ord(m[0]):x}_", name)
    if not text or text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if text in WORDS else text
