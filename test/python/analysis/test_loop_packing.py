"""Packing buffers into an arena: never overlapping while both live, and no larger than it must be in known cases."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tilework.algebra.index_expr import const, var
from tilework.analysis.packing import ALIGNMENT, Lifetime, aligned, pack

N, M = var("N"), var("M")
SIZES = st.one_of(
    st.integers(0, 1000).map(const),
    st.tuples(st.integers(0, 100), st.integers(0, 100)).map(lambda c: N * c[0] + c[1]),
    st.integers(1, 50).map(lambda c: N * M * c + M),
)
LIFETIMES = st.tuples(SIZES, st.integers(0, 9), st.integers(0, 4)).map(lambda t: Lifetime(t[0], t[1], t[1] + t[2]))


@settings(deadline=None)
@given(st.lists(LIFETIMES, max_size=9), st.integers(0, 40), st.integers(0, 40))
def test_no_overlap(lifetimes: list[Lifetime], n: int, m: int):
    packing = pack(lifetimes)
    values = {"N": n, "M": m}
    placed = [(o.evaluate(values), b.size.evaluate(values), b) for o, b in zip(packing.offsets, lifetimes, strict=True)]
    for i, (offset, size, buffer) in enumerate(placed):
        assert offset % ALIGNMENT == 0
        assert offset >= 0 and offset + size <= packing.size.evaluate(values)
        for other_offset, other_size, other in placed[:i]:
            apart = offset + size <= other_offset or other_offset + other_size <= offset
            assert apart or buffer.last < other.first or other.last < buffer.first


def sizes(*lifetimes: tuple[int, int, int]) -> tuple[list[int | None], int | None]:
    packing = pack([Lifetime(const(ALIGNMENT * size), first, last) for size, first, last in lifetimes])
    return [o.constant and o.constant // ALIGNMENT for o in packing.offsets], packing.size.constant


def test_a_chain_alternates_between_two():
    assert sizes((1, 0, 1), (1, 1, 2), (1, 2, 3), (1, 3, 4)) == ([0, 1, 0, 1], 2 * ALIGNMENT)


def test_the_smallest_gap_that_holds_it():
    """At step 1 the buffers of 8 and 6 are gone: one of 4 goes where the one of 6 was."""
    offsets, total = sizes((20, 0, 9), (8, 0, 0), (7, 0, 9), (6, 0, 0), (5, 0, 9), (4, 1, 1))
    assert offsets == [0, 20, 28, 35, 41, 35]
    assert total == 46 * ALIGNMENT


def test_symbolic_sizes_share_and_are_added_up():
    lifetimes = [Lifetime(256 * N, 0, 1), Lifetime(256 * N, 1, 2), Lifetime(128 * N, 2, 3)]
    packing = pack(lifetimes)
    assert packing.offsets == (const(0), 256 * N, const(0))
    assert packing.size == 512 * N


def test_sizes_that_do_not_compare_take_the_larger():
    """1000 bytes and 64 * N: which is larger is known at run time only."""
    packing = pack([Lifetime(64 * N, 0, 0), Lifetime(const(1000), 1, 1)])
    assert packing.offsets == (const(0), const(0))
    assert {packing.size.evaluate({"N": n}) for n in (0, 16, 100)} == {1024, 6400}


def test_nothing():
    assert pack([]).size == 0
    assert aligned(const(0)) == 0
    assert aligned(const(65)) == 128
