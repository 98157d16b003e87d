"""How far from the direct sum algorithms may be."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.errors import UsageError, did_you_mean

FLOAT_BITS = 32


@dataclass(frozen=True)
class Precision:
    """Which algorithms may be used in place of the direct sum.

    products: how many products along an axis a tile of Winograd's algorithm may have. With 4, results are as accurate
    as a direct sum; with 6 or 7 they are within about 1e-5 of the largest result, or 3e-5 where thousands of channels
    are summed. levels: on how many levels Strassen's algorithm may multiply sums of quarters: errors of small rows are
    those of the large ones that they are added to. numbers: in how many numbers of bfloat16 floats may be split where a
    machine multiplies tiles of those, 0 for not at all: with 2, results are within 4e-6 of the largest; with 3 they are
    closer than a direct sum's. weight_bits: how many bits a weight has to keep: with 24 it is rounded to 18 bits of
    precision, and results are within about 3e-6 of the largest; with 28 to 22 bits; 32 are the float itself.
    least_sum: how many terms a sum needs before its weights may be shorter: from 256 on, the sum's own roundings are
    much more than those of weights to 22 bits. scales_last: whether weights that are quantized in blocks may be applied
    as integers, and scaled once a block is summed, which is as accurate as a direct sum.

    All these algorithms are for finite numbers: they add what lies beside each other, so that an infinity or a NaN
    reaches results that do not depend on it, and makes NaN where a direct sum is infinite.
    """

    products: int
    levels: int
    numbers: int
    weight_bits: int
    least_sum: int
    scales_last: bool


PRECISIONS = {
    "default": Precision(7, levels=2, numbers=2, weight_bits=24, least_sum=1, scales_last=True),
    "strict": Precision(4, levels=0, numbers=3, weight_bits=28, least_sum=256, scales_last=True),
    "direct": Precision(0, levels=0, numbers=0, weight_bits=FLOAT_BITS, least_sum=0, scales_last=False),
}
"""What the option `precision` may be. With "direct", an infinity or a NaN reaches only what depends on it."""


def precision_of(name: str) -> Precision:
    """The entry of PRECISIONS. Raises UsageError for one that there is not."""
    if not isinstance(name, str) or name not in PRECISIONS:  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = did_you_mean(str(name), PRECISIONS)
        raise UsageError(f"unknown precision '{name}': it is one of {', '.join(PRECISIONS)}{hint}")
    return PRECISIONS[name]
