"""What was measured of processors: how fast they are, and from where on something pays on them.

`Machine()` is what holds for a processor of which nothing else is known, and `BY_NAME` and `BY_FEATURE` say what is
different on some: to add one, measure what is different on it, and write that down here. Rules read
`target.machine.<theme>.<fact>`. Where a fact does not say on what it was measured, that was on servers: AMD's Zen 4 and
Zen 5, and Intel's Xeons since Sapphire Rapids, with second caches of 1 and 2 MB.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from tilework.targets.base import Measured


@dataclass(frozen=True)
class Bandwidth:
    """How many bytes a core moves each cycle while the others take their share."""

    second: float = 32.0
    """A core moves so many to and from its second cache."""
    shared: float = 16.0
    """So many come from the cache that cores share, of what is read again and was asked for beforehand."""
    kept: float = 16.0
    """So many come from the same cache, of what kernels have written there."""
    piecewise: float = 8.0
    """So many come from the same cache in short pieces, which nobody asks for beforehand."""
    staying: float = 8.0
    """So many come from the same cache, of weights that are still there from the run before."""
    memory: float = 5.0
    """So many come from memory."""
    exchange: float = 2.5
    """So many come from another core, of what that one has just written."""


@dataclass(frozen=True)
class Core:
    """What instructions on vectors cost, in cycles or in places for instructions."""

    issue: float = 2.0
    """A core is taken to start so many multiply-adds of vectors, and as many loads, each cycle. On one that starts
    fewer of them, tiles that were chosen for two keep it busy as well."""
    multiplies_per_cycle: float = 0.0
    """So many multiply-adds of vectors are done each cycle beside the loads of what they multiply, measured with tiles
    of 14 x 2 vectors; 0 where loads take nothing from them, so that as many are done as the core can start."""
    halves_widest: bool = False
    """Whether an instruction on the widest vectors takes two halves of them one after the other."""
    latency: float = 4.0
    """So many cycles pass until a multiply-add may use the result of the one before."""
    chains: int = 4
    """So many vectors are computed or summed side by side: each operation on one waits for the operation before."""
    window: int = 96
    """So many multiply-adds of straight-line code, those of the next tiles among them, wait in a core at a time."""
    felt_load: float = 0.07
    """So many cycles of loading one vector show although multiply-adds hide the rest, where an instruction multiplies
    with what it loads."""
    issued_load: float = 0.15
    """So many cycles a load takes from multiply-adds where it is an instruction of its own: it is little on a core that
    nobody shares, and a quarter on one where another thread loads as well."""
    overlap: float = 3 / 16
    """The part of one work that shows beside another, as long one that is done at the same time."""
    lane_slots: float = 1.5
    """A lane that is loaded or stored by itself takes the places of so many loads."""
    stride_slots: float = 2.0
    """A vector whose lanes are a few elements apart takes so many loads for each element of that distance."""
    lanes_per_cycle: int = 2
    """So many lanes are loaded or stored each cycle, one by one."""
    chosen_lane: float = 3.0
    """So many cycles each lane of a sum takes where lanes are computed one by one, since a condition differs between
    them."""
    transposed: float = 2.0
    """So many cycles it takes to transpose one of several vectors of results in registers."""
    crossing: float = 1.05
    """Loads of a tile that begins or ends inside of blocks take so many times as long, since they come from two places
    in turns."""
    store_slots: float = 2.0
    """A store of a vector takes the places of so many loads."""
    narrow_per_cycle: float = 2.0
    """So many instructions on less than the widest vector start each cycle."""
    unforwarded: float = 25.0
    """So many cycles a load waits that reads together what several stores under masks have just written."""
    masked_update: float = 3.0
    """So many cycles it takes longer to load lanes that were stored under a mask."""
    decoded: int = 4096
    """So many instructions are kept as the core runs them; those of longer straight-line code are decoded each time."""
    decoded_per_cycle: float = 2.0
    """So many instructions on vectors are decoded each cycle."""
    jump: float = 1.0
    """So many cycles an iteration of a loop takes besides its body."""
    entry: float = 5.0
    """So many cycles it takes to begin and to end a loop."""
    guard: float = 2.0
    """So many cycles it takes to ask a condition that is as often true as it is not."""
    steps_per_cycle: int = 2
    """So many shifts and the like of whole vectors are done each cycle, also where multiply-adds take two halves of a
    vector one after the other: such a core has more places for shifts."""


@dataclass(frozen=True)
class Caches:
    """How caches keep what they are given."""

    sets: int = 64
    """Lines are assigned to so many places of the nearest cache by their address."""
    spare_ways: int = 2
    """So many lines of each place are wanted for something else than what a loop reads in turn."""
    crowded: float = 3.0
    """A load whose line was driven out of the nearest cache takes so many times as long."""
    near_share: float = 3 / 4
    """This part of the second cache stays while more goes through it."""
    weights_again_share: float = 7 / 8
    """Weights that are read again and again in order, with little else in between, stay in the second cache up to this
    part of it: 1.6 MB of 2 MB stayed, 2.4 MB did not."""
    block_share: float = 4 / 5
    """A block that a core works on alone may fill this part of the second cache."""
    stored_share: float = 1 / 2
    """What is stored and soon loaded again stays in the nearest cache up to this part of it, beside as much of what it
    is made of."""
    windows_share: float = 1 / 4
    """Sums over windows may fill this part of the second cache before they are read, beside weights that are read again
    for each such part."""
    written_share: float = 1 / 2
    """What kernels have just written may take this part of the last cache."""
    weights_share: float = 3 / 8
    """Weights stay in the last cache from run to run up to this part of it: others use it as well, and algorithms make
    weights larger."""
    weights_most: int = 32 << 20
    """The most bytes of weights that stay near: of a larger last cache, cores have parts that a virtual machine does
    not see."""
    streamed_share: float = 1 / 4
    """What is only read streams out of the last cache without being asked for up to this part of it."""
    waits: tuple[float, float, float] = (5.0, 25.0, 100.0)
    """So many cycles pass until a piece comes that nothing has fetched ahead: from the second cache, from the one that
    cores share, from memory. Several are on their way at a time, so that it is less than one alone would take. It was
    measured where rows far apart are read in turn, on Zen 4."""
    far_bytes: int = 2 << 10
    """Rows that are so many bytes apart, and more, lie on pages of their own, where nothing is fetched ahead."""
    streams: int = 2
    """Operands that are used once come from memory as so many streams: a core reads ahead to the end of a page, and the
    streams come to the ends of theirs in turns."""


@dataclass(frozen=True)
class Prefetching:
    """When it pays to ask for what will be read."""

    reads_ahead: bool = False
    """Whether the core keeps up with reading alone, so that requests only take the place of loads."""
    ahead_bytes: int = 8 << 10
    """What is read so many bytes later is asked for: a core reads somewhat less in the time that memory takes to
    answer."""
    least_bytes: int = 128 << 10
    """Operands of fewer bytes are not asked for, since they stay near the core."""
    most_loads: float = 0.7
    """Requests slow a tile that has more loads and requests than this for each multiply-add, as a Zen 3 showed."""
    word_streams: int = 2
    """So many streams of packed weights come a bit faster than one."""


@dataclass(frozen=True)
class Buffers:
    """How many bytes buffers may take: they are on the stack, and are meant to stay in a cache.

    They are bytes and no shares of the second cache: a stack has the same room on every machine, and what was best
    beside second caches of 1 and 2 MB is a different share of each.
    """

    block: int = 248 << 10
    """Those of a block of Winograd's or Strassen's algorithm."""
    large_block: int = 448 << 10
    """The same where a block of more rows reads weights or tiles less often."""
    largest_block: int = 784 << 10
    """The same where a block of more rows reads nothing that another core wrote: a stack has no room for more."""
    panel: int = 192 << 10
    """A copied panel of a matrix; it also stays in the second cache."""
    part: int = 96 << 10
    """What is computed just before it is read, and should be found in a near cache."""
    summed_part: int = 256 << 10
    """The same of sums over windows."""
    rows: int = 256 << 10
    """The stages of a block of rows, where more rows are worth more than staying in the nearest cache: they multiply a
    matrix that is read once for all of them, or only rows make lanes."""
    largest_rows: int = 768 << 10
    """The same where they do not stay near, as of one long row: a stack has no room for more."""
    results: int = 256
    """So many results along each side of a tall product are computed of a block of terms before they are added up."""


@dataclass(frozen=True)
class Work:
    """From how much work on something pays, and what unevenly shared work costs."""

    of_a_core: int = 1 << 17
    """So many multiply-adds take longer than it takes to start a thread for them."""
    tasks_per_core: int = 4
    """The parallel iterations for each core with which an uneven end costs little."""
    uneven: float = 1.05
    """A core may have so many times its share of rows; beyond that, kernels of their own, of which all cores have the
    same, are better."""
    same_reading: float = 1.05
    """Reading so many times as much makes no difference."""
    run_bytes: int = 4 << 10
    """So many bytes of the results of one core lie side by side at least, so that they are a stream."""
    repeated: float = 1.5
    """A row may be computed so many times, on average, for the windows of several blocks of rows."""
    panel_passes: int = 4
    """So many tiles read a copied panel at least: copying it takes about as long as one of them."""
    tile_rest: float = 0.992
    """The part of what a tile that leaves a rest computes that counts beside a tile that leaves none."""
    straight_rest: float = 0.9
    """The same of tiles of straight-line code: windows of the rest are computed after all others, so that rows of
    padded copies do not stay near."""
    half_lines: float = 0.88
    """The same of a tile whose rows do not end where lines of the caches do: each of these lines is written twice."""
    block_rows: int = 64
    """A block of more rows saves nothing."""
    row_piece: int = 32
    """Summing vectors of a row pays from so many elements on that follow each other."""
    integers_in_row: tuple[tuple[int, int], ...] = ((8, 32), (16, 32), (32, 64), (64, 64))
    """For each width of integers, from so many of them on LLVM's own vectors of a row are faster than tiles."""
    ragged_rows: float = 0.02
    """A last block of rows that begins among the rows of the one before costs this part of all rows."""
    terms: int = 384
    """In a block of so many terms of a sum, setting a tile to zero and adding it up takes no time."""
    least_steps: int = 16
    """A block of terms has so many steps of the longest axis, however many terms there are along the others."""
    least_terms: int = 256
    """A block of a tall product has so many terms even where operands are so wide that not all of it stays near."""
    tiles_again: int = 6
    """So many products with a weight of Winograd's algorithm pay for reading it again for every block of tiles."""
    images_again: float = 1.25
    """So many times as much may be read where blocks are of fewer images, which stay nearer."""
    transformed_filters: int = 128
    """Beside so many filters, transforming a block of tiles once more costs little: cores can share that many more."""


@dataclass(frozen=True)
class TileUnit:
    """How long a unit takes that multiplies tiles of matrices of bfloat16, measured on a Sapphire Rapids."""

    multiplications_per_cycle: int = 512
    """So many numbers are multiplied each cycle."""
    latency: int = 52
    """So many cycles pass until products can be added to the same tile again."""
    load: int = 20
    """So many cycles loading a tile from the second cache adds to multiplying."""
    start: int = 500
    """So many cycles it takes to prepare the tiles of a core and to give them back."""


@dataclass(frozen=True)
class Machine:
    """All that was measured of one processor, by theme."""

    bandwidth: Bandwidth = Bandwidth()
    core: Core = Core()
    caches: Caches = Caches()
    prefetching: Prefetching = Prefetching()
    buffers: Buffers = Buffers()
    work: Work = Work()
    tiles: TileUnit = TileUnit()
    measured: Measured = Measured(
        streamed_rows=4,
        quantized_rows=64,
        near_row=1 << 15,
        moved_channels=12,
        winograd_products=0.85,
        prefetch_runs=4,
    )


DEFAULT = Machine()

ZEN4 = Machine(
    bandwidth=Bandwidth(staying=16.0),
    core=Core(halves_widest=True),
    prefetching=Prefetching(reads_ahead=True),
)
ZEN5 = Machine(
    bandwidth=Bandwidth(second=64.0, shared=24.0, kept=24.0, piecewise=16.0, staying=16.0, memory=8.0, exchange=4.0),
)
SAPPHIRE_RAPIDS = Machine(
    bandwidth=Bandwidth(second=24.0, kept=7.5, piecewise=7.5, staying=7.5, memory=4.0, exchange=1.5),
    core=Core(multiplies_per_cycle=1.65),  # in C as well; 1.9 and more without loads
)

BY_NAME = {"znver4": ZEN4, "znver5": ZEN5, "znver": DEFAULT}
"""How LLVM's name of a processor begins -> its machine; of several the first holds."""

BY_FEATURE = {"avx512fp16": SAPPHIRE_RAPIDS}
"""An extension that processors not named above have alone -> their machine: a virtual machine may hide the name."""


def machine_of(cpu: str, features: Set[str]) -> Machine:
    """The machine of a processor with these extensions."""
    named = (machine for name, machine in BY_NAME.items() if cpu.startswith(name))
    told = (machine for feature, machine in BY_FEATURE.items() if feature in features)
    return next(named, next(told, DEFAULT))
