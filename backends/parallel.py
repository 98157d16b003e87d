"""How parallel loops are dealt out to threads, whatever a back end writes."""

PIECES = 8
"""Each thread's share of a parallel loop is in so many pieces, which other threads may take over where one is slow or
late. A loop whose order matters for what caches hold, a descending one, is in one piece."""
