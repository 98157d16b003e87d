"""Elementary functions over vectors of float, for all back ends: exp, log, tanh, erf, pow, and those of angles.

A function of the C library takes one number, so that a vector of 16 takes sixteen calls of it; these are a few
polynomials on whole vectors, ten times faster, at most two units in the last place from the true value, denormals
included. NaN, infinities, overflow, underflow and
signed zeros come out as in C. They hold with and without fused multiply-add in the target.

Written after W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (range reductions), and
coefficients of the Cephes library and of N. Juffa's public postings (log, erf near 0). exp, erf far from 0, and
functions of angles have minimax polynomials of our own. pow is computed in double; its two polynomials interpolate at
Chebyshev's points. Sines and cosines are computed in double, too; of angles beyond `FAR` by the C library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi

from tilework.backends.float_writer import FloatWriter

_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
"""ln 2 in two parts; the high one has so few bits that its product with an exponent is exact."""
_LOG2_E = 1.44269504088896341
_ROUNDING = 12582912.0
"""1.5 * 2**23: adding it leaves a float's nearest integer in its low bits."""
_BIAS = 127
"""What a float stores of an exponent is so much more."""

_EXP = (1.3820718741e-3, 8.3686765283e-3, 4.1668266058e-2, 1.6666521132e-1, 4.9999994040e-1, 1.0, 1.0)
"""exp x for |x| <= ln 2 / 2, relative error 2**-28.2."""
_TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
_ERF_SMALL = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
_ERF_FROM = 15 / 16
_ERF_LARGE = (
    6.41985343e-6,
    -1.01708662e-4,
    6.36299199e-4,
    -1.75810116e-3,
    6.07592810e-4,
    7.26458803e-3,
    -5.10669127e-3,
    -4.61773500e-2,
    7.22163618e-2,
    1.65616810e-1,
    -5.44822931e-1,
    4.29997206e-1,
)
"""sqrt(1 - erf(x + _ERF_FROM)) for 0.927734375 <= x + _ERF_FROM <= 4: the square is off by 8e-9 at most.
Neighbours may come out in the wrong order, by one unit in the last place."""

_SQRT_HALF = 0.70710678118654752
_LOG2 = (
    0.07553790398013,
    -0.1414478821059,
    0.1449505299982,
    -0.1434903937528,
    0.1587835683251,
    -0.1802710257711,
    0.2061728322675,
    -0.2404543369641,
    0.2885373943787,
    -0.3606736553159,
    0.4808983601762,
    -0.7213475209632,
    1.442695040871,
)
"""log2(1 + x) / x for sqrt 1/2 <= 1 + x <= sqrt 2, relative error 2**-35.6."""
_EXP2 = (1.5461444699e-4, 1.3400428178e-3, 9.6180566785e-3, 5.5503272267e-2, 0.24022650922, 0.6931472067, 1.0)
"""2**x for |x| <= 1/2, relative error 2**-28.5."""

_SIN = (2.7182372415523654e-06, -0.00019839327132783108, 0.008333329362268242, -0.1666666664142641, 1.0)
"""sin(r) / r of r**2 for |r| <= pi / 4, relative error 2**-37."""
_COS = (2.4382721363277967e-05, -0.001388667265993305, 0.04166662007267979, -0.4999999969195778, 1.0)
"""cos r of r**2 for |r| <= pi / 4, relative error 2**-33."""
_QUARTER_HIGH, _QUARTER_LOW = 1.57079631090164184570, 1.58932547735281966916e-08
"""pi / 2 in two parts; the high one has 25 bits, so that its product with a number of 28 bits is exact in double."""
FAR = 2.0**28
"""From where on, in both directions, a quarter of a turn has to be known to more bits than these."""

_HALF_PI_EXCESS = 4.37113883e-8
"""How much the float nearest to pi / 2 exceeds it."""
_ASIN = (4.2166404426e-2, 2.4180775508e-2, 4.5469772071e-2, 7.4953064322e-2, 1.6666752100e-1)
"""(asin(x) / x - 1) / x**2 of x**2 for |x| <= 1 / 2, relative error of the whole 2**-27.6."""
_ATAN = (
    -1.7821441870e-3,
    1.0866271332e-2,
    -3.1093534082e-2,
    5.7878870517e-2,
    -8.3992078900e-2,
    1.0950861126e-1,
    -1.4264014363e-1,
    1.9998529553e-1,
    -3.3333298564e-1,
)
"""(atan(x) / x - 1) / x**2 of x**2 for |x| <= 1, relative error of the whole 2**-28.5."""


def _exp(ir: FloatWriter, x: str) -> str:
    # Beyond these bounds the result is 0 or infinity all the same; a NaN passes both comparisons unchanged.
    x = ir.select(ir.compare("ogt", x, 89.0), 89.0, x)
    x = ir.select(ir.compare("olt", x, -104.0), -104.0, x)
    fraction, biased = _exp_parts(ir, x, 2 * _BIAS)
    if ir.scales:
        return ir.scale(fraction, ir.integer("sub", biased, ir.bits_of(_ROUNDING) + 2 * _BIAS))
    # Two steps, since 2**exponent itself may be denormal or overflow where the product is not.
    half = ir.integer("ashr", biased, 1)
    rest = ir.integer("sub", biased, half)
    return ir.multiply(ir.multiply(fraction, _power_of_two(ir, half)), _power_of_two(ir, rest))


def _exp_within_range(ir: FloatWriter, x: str) -> str:
    """exp for -87 < x < 88: no bound is checked, the exponent is set in one step."""
    fraction, biased = _exp_parts(ir, x, _BIAS)
    return ir.multiply(fraction, _power_of_two(ir, biased))


def _exp_parts(ir: FloatWriter, x: str, bias: int) -> tuple[str, str]:
    """exp x = fraction * 2**exponent: x = exponent ln 2 + r with |r| <= ln 2 / 2, and a polynomial of r.

    Of the exponent an integer whose low bits are those of exponent + bias.
    """
    shifted = ir.multiply_add(x, _LOG2_E, _ROUNDING + bias)
    rounded = ir.subtract(shifted, _ROUNDING + bias)
    r = ir.multiply_add(rounded, -_LN2_HIGH, x)
    r = ir.multiply_add(rounded, -_LN2_LOW, r)
    return ir.polynomial(r, _EXP), ir.bits(shifted)


def _power_of_two(ir: FloatWriter, biased: str) -> str:
    """2**(n - 127) for an integer whose low nine bits are n."""
    return ir.from_bits(ir.integer("shl", biased, 23))


def _log(ir: FloatWriter, x: str) -> str:
    # x = m 2**e with 2/3 <= m < 4/3; a denormal is scaled up first.
    denormal = ir.compare("olt", x, 2.0**-126)
    scaled = ir.select(denormal, ir.multiply(x, 2.0**23), x)
    bias = ir.select(denormal, -23.0, 0.0)
    bits = ir.bits(scaled)
    exponent = ir.integer("and", ir.integer("sub", bits, ir.bits_of(0.666666667)), -(1 << 23))
    m = ir.subtract(ir.from_bits(ir.integer("sub", bits, exponent)), 1.0)
    e = ir.multiply_add(ir.from_signed(exponent), 2.0**-23, bias)

    # log(1 + m) = m + m**2 p(m); odd and even terms apart, for two shorter chains.
    square = ir.multiply(m, m)
    even = ir.polynomial(square, (-0.130310059, -0.121483512, -0.166846126, -0.249996200))
    odd = ir.polynomial(square, (0.140869141, 0.139814854, 0.200120345))
    p = ir.multiply_add(odd, m, even)
    p = ir.multiply_add(p, m, 0.333331972)
    p = ir.multiply_add(p, m, -0.5)
    tail = ir.multiply_add(e, _LN2_LOW, ir.multiply(p, square))
    result = ir.multiply_add(e, _LN2_HIGH, ir.add(tail, m))

    # log(inf) = inf, log(NaN) = NaN, log(x < 0) = NaN, log(+-0) = -inf
    infinity = float("inf")
    result = ir.select(ir.compare("ult", x, infinity), result, x)
    result = ir.select(ir.compare("ult", x, 0.0), float("nan"), result)
    return ir.select(ir.compare("oeq", x, 0.0), -infinity, result)


def _tanh(ir: FloatWriter, x: str) -> str:
    t = ir.unary("fabs", x)
    # small |x|: t + t**3 p(t**2)
    square = ir.multiply(t, t)
    small = ir.multiply_add(ir.multiply(ir.polynomial(square, _TANH), square), t, t)
    # large |x|: 1 - 2 / (exp(2 t) + 1), which is 1 from 10 on
    bounded = ir.select(ir.compare("ogt", t, 10.0), 10.0, t)
    denominator = ir.add(_exp_within_range(ir, ir.multiply(bounded, 2.0)), 1.0)
    large = ir.subtract(1.0, ir.divide(2.0, denominator))
    return ir.copysign(ir.select(ir.compare("olt", t, 0.625), small, large), x)


def _erf(ir: FloatWriter, x: str) -> str:
    t = ir.unary("fabs", x)
    # small |x|: x + x p(x**2)
    small = ir.multiply_add(ir.polynomial(ir.multiply(x, x), _ERF_SMALL), x, x)
    # large |x|: 1 - p(t)**2, which is 1 from 4 on
    bounded = ir.select(ir.compare("ogt", t, 4.0), 4.0, t)
    s = ir.subtract(bounded, _ERF_FROM)
    odd, even = (ir.polynomial(ir.multiply(s, s), _ERF_LARGE[first::2]) for first in (0, 1))  # two shorter chains
    root = ir.multiply_add(odd, s, even)
    large = ir.subtract(1.0, ir.multiply(root, root))
    return ir.select(ir.compare("olt", t, 0.927734375), small, ir.copysign(large, x))


def _pow(ir: FloatWriter, x: str, y: str) -> str:
    # |x|**y = 2**(y log2 |x|). In double, no result of float overflows or is denormal before it is rounded.
    double, size = ir.in_double(), ir.unary("fabs", x)
    exponent = double.extended(y)
    power = _exp2(double, double.multiply(exponent, _log2(double, double.extended(size))))
    result = ir.select(ir.compare("oeq", size, 1.0), 1.0, ir.rounded(power))  # though y be infinite or NaN

    # A power of x < 0 is a number for whole y alone; for odd y it has the sign of x, which may be -0.
    whole, half_whole = _is_whole(double, exponent), _is_whole(double, double.multiply(exponent, 0.5))
    result = ir.select(whole, ir.select(half_whole, result, ir.copysign(result, x)), result)
    negative = ir.both(ir.compare("olt", x, 0.0), ir.compare("one", size, float("inf")))
    result = ir.select(negative, ir.select(whole, result, float("nan")), result)
    return ir.select(ir.compare("oeq", y, 0.0), 1.0, result)


def _is_whole(ir: FloatWriter, x: str) -> str:
    """Whether a double that was a float is whole; infinities are, NaN is not."""
    size = ir.unary("fabs", x)
    size = ir.select(ir.compare("ogt", size, 2.0**24), 2.0**24, size)  # beyond, all are
    return ir.compare("oeq", ir.subtract(ir.add(size, 2.0**52), 2.0**52), size)


def _log2(ir: FloatWriter, x: str) -> str:
    """log2 of a double x >= 0 that is not denormal; log2 0 = -inf, log2 inf = inf, log2 NaN = NaN."""
    # x = m 2**e with sqrt 1/2 <= m < sqrt 2. The exponent, made positive, becomes a double as low bits of 2**52:
    # few processors convert integers of 64 bits.
    one, bits = ir.bits_of(1.0), ir.bits(x)
    biased = ir.integer("lshr", ir.integer("add", bits, one - ir.bits_of(_SQRT_HALF)), 52)
    e = ir.subtract(ir.from_bits(ir.integer("or", biased, ir.bits_of(2.0**52))), 2.0**52 + 1023)
    m = ir.from_bits(ir.integer("add", ir.integer("sub", bits, ir.integer("shl", biased, 52)), one))
    f = ir.subtract(m, 1.0)
    result = ir.multiply_add(f, _in_two_chains(ir, f, _LOG2), e)
    result = ir.select(ir.compare("olt", x, float("inf")), result, x)
    return ir.select(ir.compare("oeq", x, 0.0), -float("inf"), result)


def _exp2(ir: FloatWriter, x: str) -> str:
    """2**x of a double; beyond |x| = 200 it no longer grows, or falls."""
    x = ir.select(ir.compare("ogt", x, 200.0), 200.0, x)
    x = ir.select(ir.compare("olt", x, -200.0), -200.0, x)
    shifted = ir.add(x, 1.5 * 2.0**52)  # leaves the nearest integer in the low bits
    fraction = _in_two_chains(ir, ir.subtract(x, ir.subtract(shifted, 1.5 * 2.0**52)), _EXP2)
    return ir.from_bits(ir.integer("add", ir.bits(fraction), ir.integer("shl", ir.bits(shifted), 52)))


def _in_two_chains(ir: FloatWriter, x: str, coefficients: Sequence[float]) -> str:
    """A polynomial of even degree, even and odd powers apart: half as long to wait for."""
    square = ir.multiply(x, x)
    return ir.multiply_add(ir.polynomial(square, coefficients[1::2]), x, ir.polynomial(square, coefficients[::2]))


def _sin(ir: FloatWriter, x: str) -> str:
    double, turns, sine, cosine = _quarter_turns(ir, x)
    return ir.rounded(_signed(double, double.select(double.is_odd(turns), cosine, sine), turns))


def _cos(ir: FloatWriter, x: str) -> str:
    double, turns, sine, cosine = _quarter_turns(ir, x)
    value = double.select(double.is_odd(turns), sine, cosine)
    return ir.rounded(_signed(double, value, double.integer("add", turns, 1)))


def _tan(ir: FloatWriter, x: str) -> str:
    double, turns, sine, cosine = _quarter_turns(ir, x)
    odd = double.is_odd(turns)
    ratio = double.divide(double.select(odd, cosine, sine), double.select(odd, double.negate(sine), cosine))
    return ir.rounded(ratio)


def _quarter_turns(ir: FloatWriter, x: str) -> tuple[FloatWriter, str, str, str]:
    """x = turns pi / 2 + r with |r| <= pi / 4: what writes doubles; the low bits of `turns`, sin r, and cos r."""
    double = ir.in_double()
    wide, rounding = double.extended(x), 1.5 * 2.0**52  # leaves the nearest integer in the low bits
    shifted = double.multiply_add(wide, 2 / pi, rounding)
    whole = double.subtract(shifted, rounding)
    r = double.multiply_add(whole, -_QUARTER_HIGH, wide)
    r = double.multiply_add(whole, -_QUARTER_LOW, r)
    square = double.multiply(r, r)
    sine = double.multiply(double.polynomial(square, _SIN), r)
    return double, double.bits(shifted), sine, double.polynomial(square, _COS)


def _signed(double: FloatWriter, size: str, turns: str) -> str:
    """A double with its sign changed in the third and fourth quarter of a turn."""
    sign = double.integer("shl", double.integer("and", turns, 2), 62)
    return double.from_bits(double.integer("xor", double.bits(size), sign))


def _asin(ir: FloatWriter, x: str) -> str:
    small, arc, is_small = _arcs(ir, x)
    large = ir.subtract(ir.subtract(pi / 2, arc), _HALF_PI_EXCESS)
    return ir.copysign(ir.select(is_small, small, large), x)


def _acos(ir: FloatWriter, x: str) -> str:
    small, arc, is_small = _arcs(ir, x)
    large = ir.select(ir.compare("olt", x, 0.0), ir.subtract(pi, arc), arc)
    return ir.select(is_small, ir.subtract(pi / 2, ir.copysign(small, x)), large)


def _arcs(ir: FloatWriter, x: str) -> tuple[str, str, str]:
    """asin |x| where |x| <= 1 / 2, acos |x| where it is more, and where it is not."""
    t = ir.unary("fabs", x)
    is_small = ir.compare("ole", t, 0.5)
    half = ir.multiply(ir.subtract(1.0, t), 0.5)
    square = ir.select(is_small, ir.multiply(t, t), half)
    root = ir.select(is_small, t, ir.unary("sqrt", half))
    arc = ir.multiply_add(ir.multiply(ir.polynomial(square, _ASIN), square), root, root)
    return arc, ir.multiply(arc, 2.0), is_small


def _atan(ir: FloatWriter, x: str) -> str:
    t = ir.unary("fabs", x)
    is_large = ir.compare("ogt", t, 1.0)
    ratio = ir.select(is_large, ir.divide(1.0, t), t)
    square = ir.multiply(ratio, ratio)
    arc = ir.multiply_add(ir.multiply(ir.polynomial(square, _ATAN), square), ratio, ratio)
    return ir.copysign(ir.select(is_large, ir.subtract(pi / 2, arc), arc), x)


_OF_ONE: dict[str, Callable[[FloatWriter, str], str]] = {
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "erf": _erf,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
}
OF_TWO: dict[str, Callable[[FloatWriter, str, str], str]] = {"pow": _pow}

VECTOR_FUNCTIONS: dict[str, Callable[..., str]] = {**_OF_ONE, **OF_TWO}
"""Name -> what writes its body, given where and the parameters, and returns the value to return."""

OF_LIBM = ("sin", "cos", "tan")
"""Those that call the function of the C library, `sinf` and so on, where some lane is `FAR` from 0."""
