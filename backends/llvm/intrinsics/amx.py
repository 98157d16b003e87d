"""Operations on tiles: instructions that name the registers, which LLVM does not choose here.

Sums are in registers for as long as their buffer is used, the first of the eight; the others hold factors. Within
operations that follow each other, a factor is not loaded again while it is in a register, and the register that is
given up is the one whose factor is wanted last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from struct import pack
from typing import NamedTuple, TypeAlias

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from tilework.analysis.accesses import memory_space
from tilework.analysis.domains import loops_around
from tilework.backends.element_types import bytes_of, stored_as
from tilework.backends.llvm.emit_intrinsics import INTRINSICS
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.dialects.loop import ForOp, IntrinsicOp, KernelOp, Kind, LoadOp, PrefetchOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError

ZERO, MULTIPLY, STORE = "amx.tile_zero", "amx.tile_mulf", "amx.tile_store"

SCOPE = "amx"
"""The scope of buffers whose tiles are registers."""

REGISTERS, FACTORS = 8, 2
"""That hold tiles, and how many of them a multiplication needs for what it multiplies."""

ROWS, _ROW_BYTES = 16, 64

_READ_ONLY = (LoadOp, PrefetchOp, memref.AllocaOp)
"""Operations after which memory is what it was before, as it is after those that write registers."""

Numbers: TypeAlias = dict[tuple[SSAValue, int, int], int]
"""The registers of sums, by their buffer, subscript and stride."""


class _Factor(NamedTuple):
    """A register, and whether it has to be loaded first."""

    register: int
    is_loaded: bool


@dataclass
class _Plan:
    """What registers the operations of a block use."""

    sums: Numbers
    factors: dict[Operation, Sequence[_Factor]]

    def sum(self, tile: BufferRegion) -> int:
        return self.sums[_key(tile)]


def _plan(e: Emitter, op: IntrinsicOp) -> _Plan:
    """That of the operation's block; the function has registers for tiles from its beginning."""
    block = op.parent_block()
    assert block is not None
    if ("amx", block) not in e.plans:
        target = e.module.target
        if not target.multiplies_tiles:
            raise CompileError(f"@{op.intrinsic} needs amx-bf16 and amx-tile, which {target.cpu} lacks", op)
        sums = _sums_in(block)
        others = [register for register in range(REGISTERS) if register not in sums.values()]
        e.plans["amx", block] = _Plan(sums, _factors_in(block, others))
    e.module.define_once("tilework.tiles", _configuration)
    e.text.around("call void @llvm.x86.ldtilecfg(ptr @tilework.tiles)", "call void @llvm.x86.tilerelease()")
    return e.plans["amx", block]


def _configuration() -> str:
    """The only palette that there is, all registers of full size: bytes of a row from byte 16, rows from byte 48 on."""
    sizes = pack("<B15x8H16x8B8x", 1, *[_ROW_BYTES] * REGISTERS, *[ROWS] * REGISTERS)
    escaped = "".join(f"\\{byte:02X}" for byte in sizes)
    return f'@tilework.tiles = private unnamed_addr constant [64 x i8] c"{escaped}", align 64\n'


# -- sums


def _sums_in(block: Block) -> Numbers:
    """The registers of all sums that live in a block, for some of its operations or, around it, for all."""
    found: Numbers = {}
    for around, holder in reversed(list(_blocks_around(block))):
        outside = set(found.values())
        places = {op: i for i, op in enumerate(around.ops)}
        at = None if holder is None else places[holder]
        ends: dict[SSAValue, int] = {}
        dead: set[SSAValue] = set()
        for alloca in around.ops:
            if not isinstance(alloca, memref.AllocaOp) or memory_space(alloca.memref) != SCOPE:
                continue
            living = {n for (buffer, *_), n in found.items() if buffer in ends and ends[buffer] > places[alloca]}
            _add_sums(alloca, around, found, outside | living)
            ends[alloca.memref] = max((places[op] for op in _users(alloca, around)), default=0)
            if at is not None and not places[alloca] < at <= ends[alloca.memref]:
                dead.add(alloca.memref)
        found = {key: register for key, register in found.items() if key[0] not in dead}
    return found


def _users(alloca: memref.AllocaOp, block: Block) -> Iterator[Operation]:
    """The operations of a block that use a buffer, or hold some that do."""
    for use in alloca.memref.uses:
        user = block.find_ancestor_op_in_block(use.operation)
        assert user is not None
        yield user


def _add_sums(alloca: memref.AllocaOp, block: Block, found: Numbers, taken: Set[int]) -> None:
    """Registers for the sums of a buffer, none of those that are taken."""
    _refuse_threads(alloca, block)
    free = (register for register in range(REGISTERS - FACTORS) if register not in taken)
    elements: dict[int, tuple[SSAValue, int, int]] = {}
    for op in block.walk():
        if not isinstance(op, IntrinsicOp):
            continue
        for tile in op.buffer_regions:
            if not tile.form.in_register or tile.memref is not alloca.memref:
                continue
            if tile.position.constant is None:
                message = f"the subscript of tile register %{tile.memref.name_hint or '?'} is no constant"
                raise CompileError(f"{message}: run loop-unroll and loop-simplify", op)
            key = _key(tile)
            if key not in found:
                register = next(free, None)
                if register is None:
                    message = f"more than {REGISTERS - FACTORS} sums in tile registers: there are {REGISTERS}"
                    raise CompileError(f"{message}, of which {FACTORS} hold what is multiplied", op)
                found[key] = register
            for row in range(ROWS):
                for element in range(key[1] + row * key[2], key[1] + row * key[2] + tile.form.shape[1]):
                    if elements.setdefault(element, key) != key:
                        raise CompileError(f"@{op.intrinsic}: tiles of one buffer overlap, registers do not", op)


def _refuse_threads(alloca: memref.AllocaOp, block: Block) -> None:
    """A register is one thread's."""
    if any(loop.kind.data is Kind.PARALLEL for loop in loops_around(alloca)):
        return
    for op in block.walk():
        if isinstance(op, ForOp) and op.kind.data is Kind.PARALLEL:
            message = f"a buffer of tile registers lives while parallel loop '{op.axis.data}' runs: keep it inside"
            raise CompileError(message, alloca)


def _key(tile: BufferRegion) -> tuple[SSAValue, int, int]:
    assert tile.position.constant is not None
    return tile.memref, tile.position.constant, tile.strides[0]


def _blocks_around(block: Block) -> Iterator[tuple[Block, Operation | None]]:
    """A block, and those around it in the kernel, each with the operation that holds the one before."""
    yield block, None
    parent = block.parent_op()
    while parent is not None and not isinstance(parent, KernelOp):
        around = parent.parent_block()
        assert around is not None
        yield around, parent
        parent = around.parent_op()


# -- factors


def _factors_in(block: Block, registers: Sequence[int]) -> dict[Operation, Sequence[_Factor]]:
    """For each multiplication of a block, the registers of what it multiplies."""
    found: dict[Operation, Sequence[_Factor]] = {}
    run: list[IntrinsicOp] = []
    for op in block.ops:
        if isinstance(op, IntrinsicOp) and op.intrinsic == MULTIPLY:
            run.append(op)
        elif not _leaves_memory(op):
            found |= _assigned(run, registers)
            run = []
    return found | _assigned(run, registers)


def _leaves_memory(op: Operation) -> bool:
    """Whether memory is behind an operation what it was before."""
    if isinstance(op, IntrinsicOp):
        return op.buffer_regions[0].form.in_register
    return isinstance(op, _READ_ONLY) or op.has_trait(Pure)


def _assigned(run: Sequence[IntrinsicOp], registers: Sequence[int]) -> dict[Operation, Sequence[_Factor]]:
    """The same for multiplications between which memory does not change. No instruction takes one register twice."""
    wanted = [
        tuple((which, t.memref, t.position, t.strides) for which, t in enumerate(op.buffer_regions[1:])) for op in run
    ]
    held: dict[object, int] = {}
    found: dict[Operation, Sequence[_Factor]] = {}
    for i, op in enumerate(run):
        factors: list[_Factor] = []
        for tile in wanted[i]:
            is_loaded = tile not in held
            if is_loaded:
                held[tile] = _free_register(held, registers, wanted[i:])
            factors.append(_Factor(held[tile], is_loaded))
        found[op] = factors
    return found


def _free_register(held: dict[object, int], registers: Sequence[int], wanted: Sequence[Sequence[object]]) -> int:
    """One that holds nothing, or the tile that is wanted last of all; not what is wanted first."""
    free = [register for register in registers if register not in held.values()]
    if free:
        return free[0]
    next_use = {tile: i for i, tiles in reversed(list(enumerate(wanted))) for tile in tiles}
    return held.pop(max(held, key=lambda tile: next_use.get(tile, len(wanted))))


# -- instructions


def _zero(e: Emitter, op: IntrinsicOp) -> None:
    plan, [to] = _plan(e, op), op.buffer_regions
    e.text.line(f"call void @llvm.x86.tilezero(i8 {plan.sum(to)})")


def _multiply(e: Emitter, op: IntrinsicOp) -> None:
    plan, (to, *tiles) = _plan(e, op), op.buffer_regions
    factors = plan.factors[op]
    for tile, (register, is_loaded) in zip(tiles, factors, strict=True):
        if is_loaded:
            e.text.line(f"call void @llvm.x86.tileloadd64(i8 {register}, {_place(e, op, tile)})")
    a, b = (register for register, _ in factors)
    e.text.line(f"call void @llvm.x86.tdpbf16ps(i8 {plan.sum(to)}, i8 {a}, i8 {b})")


def _store(e: Emitter, op: IntrinsicOp) -> None:
    plan, (to, source) = _plan(e, op), op.buffer_regions
    e.text.line(f"call void @llvm.x86.tilestored64(i8 {plan.sum(source)}, {_place(e, op, to)})")


def _place(e: Emitter, op: IntrinsicOp, tile: BufferRegion) -> str:
    """Where a tile is in memory: a pointer, and how many bytes apart rows lie."""
    row_bytes = tile.strides[0] * bytes_of(stored_as(tile.form.element, op), op)
    return f"ptr {INTRINSICS.place(e, op, tile)}, i64 {row_bytes}"


HANDLERS: Mapping[str | type[Operation], Handler] = {ZERO: _zero, MULTIPLY: _multiply, STORE: _store}
