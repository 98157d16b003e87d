"""Discardable attributes by which a schedule asks later passes for something, or a pass tells the caller something.

| attribute | on | asks |
| --- | --- | --- |
| `loop.alternating` | `loop.for` that is parallel | backends: as `loop.descending`, every second time |
| `loop.auto_unroll_max_step` | `loop.for` | `loop-unroll`: unroll small loops inside |
| `loop.checks` | `loop.kernel` | the caller: of the last output, what is wrong where a subscript is out of bounds |
| `loop.descending` | `loop.for` that is parallel | backends: each thread runs its last iteration first |
| `loop.double_buffer` | `memref.alloca` | `loop-inject-double-buffer`: fill it for the next iteration early |
| `loop.mapped` | `loop.kernel` | the interpreter: its loops over threads are what all threads do together |
| `loop.masked` | `loop.for` that is vectorized | `loop-vectorize`: load under a mask what only some lanes load |
| `loop.prefetch` | `loop.for` | `loop-inject-prefetch`: `[array<i64: argument, iterations ahead>, ...]` |
| `loop.prefetch_spread` | `loop.for` | the same, evenly over the iterations of the loops inside |
| `loop.storing_thread` | `loop.for` over threads | that thread alone stores what the loop reduces |
| `loop.symbol_ranges` | `loop.kernel` | all: `{symbol = array<i64: least, greatest>}` for symbols that are no sizes |
| `loop.tensorize` | `loop.for` | `loop-tensorize`: make the nest the intrinsic of that name |
| `loop.tensorize_tails` | `loop.for` with the former | `loop-tensorize`: leave what was cut off as loops |
| `loop.used_dims`, `loop.used_strides` | `memref.alloca` | who counts: what of it is used, as open knobs say |
| `loop.whole` | `loop.for` | `loop-partition`: cut loops inside, not this one |
| `loop.unroll_factor` | `loop.for` | backends: so many iterations without a jump, each loading behind the one before |
"""

ALTERNATING = "loop.alternating"
CHECKS = "loop.checks"
DESCENDING = "loop.descending"
DOUBLE_BUFFER = "loop.double_buffer"
MAPPED = "loop.mapped"
MASKED = "loop.masked"
PREFETCH = "loop.prefetch"
PREFETCH_SPREAD = "loop.prefetch_spread"
STORING_THREAD = "loop.storing_thread"
SYMBOL_RANGES = "loop.symbol_ranges"
TENSORIZE = "loop.tensorize"
TENSORIZE_TAILS = "loop.tensorize_tails"
USED_DIMS = "loop.used_dims"
USED_STRIDES = "loop.used_strides"
UNROLL_FACTOR = "loop.unroll_factor"
WHOLE = "loop.whole"
AUTO_UNROLL_MAX_STEP = "loop.auto_unroll_max_step"
