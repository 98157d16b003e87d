"""How far from the direct sum algorithms may be."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Precision:
    """Which algorithms may be used.

    products: along an axis of a Winograd tile, where windows move by more than one for each of its filters: with 4 it
    is as accurate as the direct sum, with 6 or 7 within about 1e-5 of the largest result, or 3e-5 where thousands of
    channels are summed. levels: on which sums of quarters may be multiplied: the errors of small rows are those of the
    large ones that they are added to, as are NaN and infinities. numbers: of bfloat16 that floats are multiplied in, on
    machines that multiply tiles of those: with 2, results are within 4e-6 of the largest, with 3 closer than those of a
    direct sum; what is infinite makes NaN. weight_bits: of a weight, at least: with 24, it is rounded to 18 bits
    of precision, and results are within about 3e-6 of the largest; with 28, to 22 bits. least_sum: the terms of a sum
    of such products, at least: from 256 on, its own roundings are much more than those of weights to 22 bits.
    """

    products: int
    levels: int
    numbers: int
    weight_bits: int
    least_sum: int


PRECISIONS = {
    "default": Precision(7, levels=2, numbers=2, weight_bits=24, least_sum=1),
    "strict": Precision(4, levels=0, numbers=3, weight_bits=28, least_sum=256),
}


def precision_of(name: str) -> Precision:
    """The entry of PRECISIONS. Raises UsageError for one that there is not."""
    if name not in PRECISIONS:
        hint = did_you_mean(str(name), PRECISIONS)
        raise UsageError(f"unknown precision '{name}': it is {' or '.join(PRECISIONS)}{hint}")
    return PRECISIONS[name]
