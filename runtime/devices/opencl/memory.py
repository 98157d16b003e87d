"""Memory of an OpenCL device: it has handles, and host functions compute with addresses, which are made up.

Every allocation has a range of addresses of its own; an address in it is the buffer and how many bytes into it.
"""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import WeakValueDictionary

_REACH = 1 << 40
"""Addresses that each allocation has: more than a device has memory, and 2^22 allocations fit into an integer."""

_numbers = count(1)


class Allocation:
    """A buffer, with addresses of its own for as long as it lives."""

    def __init__(self, buffer: Any):
        self.buffer = buffer
        self.number = next(_numbers)

    @property
    def address(self) -> int:
        """The first of its addresses."""
        return self.number * _REACH


class Addresses:
    """Which buffer an address is in."""

    def __init__(self):
        self._allocations: WeakValueDictionary[int, Allocation] = WeakValueDictionary()

    def add(self, buffer: Any) -> Allocation:
        """Give a buffer addresses, which nothing else has as long as the result lives."""
        allocation = Allocation(buffer)
        self._allocations[allocation.number] = allocation
        return allocation

    def find(self, address: int) -> tuple[Any, int]:
        """The buffer that an address is in, and how many bytes into it."""
        number, offset = divmod(address, _REACH)
        return self._allocations[number].buffer, offset
