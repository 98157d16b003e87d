"""The buffers of a kernel as memories of tiles: on the chip, and in DRAM."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType, StringAttr, i8, i32
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from tilework.analysis.accesses import memory_space, root_buffer
from tilework.analysis.loop_nest import NoNest, buffer_name
from tilework.dialects.isa.vdla import SCOPE
from tilework.dialects.loop.common import memref_of
from tilework.targets.vdla.target import TileMemory, VdlaTarget

_ELEMENT_TYPES = {8: i8, 32: i32}


class Buffers:
    """What the buffers of a loop kernel are in the function that it becomes."""

    def __init__(self, target: VdlaTarget):
        self._target = target
        self._new: dict[SSAValue, SSAValue] = {}

    def put_argument(self, old: BlockArgument, block: Block, number: int) -> None:
        """Let an argument of the kernel be one of a block; what tiles it holds is known at its first use."""
        new = block.args[number]
        new.name_hint = old.name_hint
        self._new[old] = new

    def put(self, old: SSAValue, new: SSAValue) -> None:
        """Let a buffer of the kernel be that one."""
        self._new[old] = new

    def memory_of(self, buffer: SSAValue) -> TileMemory | None:
        """The memory of the chip that a buffer lies in; None for DRAM."""
        space = memory_space(buffer) or ""
        return self._target.memories.get(space.removeprefix(SCOPE)) if space.startswith(SCOPE) else None

    def on_chip(self, buffer: SSAValue) -> SSAValue:
        """A buffer on the chip."""
        return self._new[buffer]

    def in_dram(self, buffer: SSAValue, memory: str) -> SSAValue:
        """An argument as tiles that a memory takes. Raises NoNest where it holds others."""
        root = root_buffer(buffer)
        new, tiles = self._new[root], self.tiles(root, self._target.memories[memory])
        if new.type != tiles:
            if new.uses:
                raise NoNest(
                    f"{buffer_name(buffer)} is {new.type} elsewhere, and {tiles} here: take an argument for each"
                )
            new = self._new[root] = Rewriter.replace_value_with_new_type(new, tiles)
        return new

    def tiles(self, buffer: SSAValue, memory: TileMemory) -> MemRefType:
        """The type of a buffer as tiles of a memory. Raises NoNest where it does not hold whole ones."""
        type_ = memref_of(buffer)
        shape, element = type_.get_shape(), _ELEMENT_TYPES[memory.element_bits]
        if (
            not _holds(type_.element_type, element)
            or DYNAMIC_INDEX in shape
            or prod(shape) % (memory.rows * memory.columns)
        ):
            raise NoNest(
                f"{buffer_name(buffer)} is {type_}: expected whole tiles of {memory.rows}x{memory.columns}x{element}"
            )
        count = prod(shape) // (memory.rows * memory.columns)
        space = type_.memory_space
        tiled = [count, memory.rows, memory.columns]
        return (
            MemRefType(element, tiled, memory_space=space)
            if isinstance(space, StringAttr)
            else MemRefType(element, tiled)
        )


def _holds(dtype: Attribute, element: IntegerType) -> bool:
    """Whether elements of a buffer are those of a memory, with a sign or without: transfers move bits."""
    return isinstance(dtype, IntegerType) and dtype.bitwidth == element.bitwidth
