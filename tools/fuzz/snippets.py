"""How back ends write a drawn intrinsic: point by point for LLVM, as loops in C."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from tilework.dialects import arith
from tilework.dialects.te.intrinsic import RESULT
from tilework.tools.fuzz.tiles import Tile

Snippets = dict[str, list[str]]

IDENTITIES = {"add": 0.0, "max": float("-inf")}

_LLVM: dict[type[Operation], str] = {arith.AddfOp: "fadd", arith.SubfOp: "fsub", arith.MulfOp: "fmul"}
_C: dict[type[Operation], str] = {arith.AddfOp: "+", arith.SubfOp: "-", arith.MulfOp: "*"}


def written(tile: Tile, names: Sequence[str], accumulates: bool) -> Snippets:
    """The code of the whole, or of what joins a part; `names` are those of the arguments."""
    return {"llvm": list(_Llvm(tile, names).lines(accumulates)), "c": list(_c(tile, names, accumulates))}


def written_reset(tile: Tile) -> Snippets:
    """The code that sets the result to the identity."""
    number = IDENTITIES[tile.reducer or "add"]
    writer = _Llvm(tile, [])
    llvm = [line for point in tile.points() for line in writer.stored(_llvm_number(number), point)]
    loops, index = _c_loops(tile, range(tile.rank))
    return {"llvm": llvm, "c": [f"{loops}${RESULT}[{_c_place(RESULT, index[: tile.rank])}] = {_c_number(number)};"]}


class _Llvm:
    """The instructions of one snippet."""

    def __init__(self, tile: Tile, names: Sequence[str]):
        self.tile = tile
        self.names = names
        self.made = 0

    def lines(self, accumulates: bool) -> Iterator[str]:
        tile = self.tile
        for point in tile.points():
            total = None
            if accumulates:
                address, lines = self.address(RESULT, point)
                total = self.fresh()
                yield from (*lines, f"{total} = load float, ptr {address}, align 4")
            elif tile.is_reduction:
                total = _llvm_number(IDENTITIES[tile.reducer or ""])
            for term in tile.terms():
                lines, value = self.value((*point, *term))
                yield from lines
                if total is None:
                    total = value
                else:
                    lines, total = self.binary(
                        arith.AddfOp if tile.reducer == "add" else arith.MaximumfOp, total, value
                    )
                    yield from lines
            yield from self.stored(total or "", point)

    def stored(self, value: str, point: Sequence[int]) -> Iterator[str]:
        address, lines = self.address(RESULT, point)
        yield from (*lines, f"store float {value}, ptr {address}, align 4")

    def value(self, point: Sequence[int]) -> tuple[list[str], str]:
        lines: list[str] = []

        def read(argument: int) -> str:
            address, found = self.address(self.names[argument], self.tile.arguments[argument].at(point))
            loaded = self.fresh()
            lines.extend([*found, f"{loaded} = load float, ptr {address}, align 4"])
            return loaded

        def binary(kind: type[Operation], a: str, b: str) -> str:
            found, result = self.binary(kind, a, b)
            lines.extend(found)
            return result

        value = self.tile.value(read, _llvm_number, binary)
        return lines, value

    def binary(self, kind: type[Operation], a: str, b: str) -> tuple[list[str], str]:
        result = self.fresh()
        if kind is not arith.MaximumfOp:
            return [f"{result} = {_LLVM[kind]} float {a}, {b}"], result
        larger = self.fresh()
        return [f"{larger} = fcmp ogt float {a}, {b}", f"{result} = select i1 {larger}, float {a}, float {b}"], result

    def address(self, name: str, indices: Sequence[int]) -> tuple[str, list[str]]:
        lines, place = list[str](), "0"
        for dim, index in enumerate(indices):
            step, total = self.fresh(), self.fresh()
            lines += [f"{step} = mul i64 {index}, ${name}_stride{dim}", f"{total} = add i64 {place}, {step}"]
            place = total
        address = self.fresh()
        return address, [*lines, f"{address} = getelementptr float, ptr ${name}, i64 {place}"]

    def fresh(self) -> str:
        self.made += 1
        return f"$_v{self.made}"


def _llvm_number(value: float) -> str:
    return f"0x{struct.pack('>d', value).hex().upper()}"


def _c_number(value: float) -> str:
    return "-__builtin_inff()" if value == float("-inf") else f"{value}f"


def _c_loops(tile: Tile, axes: Sequence[int]) -> tuple[str, list[str]]:
    """The heads of loops along these axes, and the indices of all."""
    index = [f"$_i{axis}" for axis in range(len(tile.extents))]
    return "".join(f"for (int {index[a]} = 0; {index[a]} < {tile.extents[a]}; {index[a]}++) " for a in axes), index


def _c_place(name: str, indices: Sequence[str]) -> str:
    return " + ".join(f"({index}) * ${name}_stride{dim}" for dim, index in enumerate(indices)) or "0"


def _c(tile: Tile, names: Sequence[str], accumulates: bool) -> Iterator[str]:
    around, index = _c_loops(tile, range(tile.rank))
    inside, _ = _c_loops(tile, range(tile.rank, len(tile.extents)))

    def read(argument: int) -> str:
        places = tile.arguments[argument].indices
        texts = [" + ".join(f"{factor} * {index[axis]}" for axis, factor in place.items()) for place in places]
        return f"${names[argument]}[{_c_place(names[argument], texts)}]"

    def binary(kind: type[Operation], a: str, b: str) -> str:
        return f"({a} > {b} ? {a} : {b})" if kind is arith.MaximumfOp else f"({a} {_C[kind]} {b})"

    result = f"${RESULT}[{_c_place(RESULT, index[: tile.rank])}]"
    value = tile.value(read, _c_number, binary)
    if tile.is_reduction:
        joined = binary(arith.AddfOp if tile.reducer == "add" else arith.MaximumfOp, "$_t", value)
        first = result if accumulates else _c_number(IDENTITIES[tile.reducer or ""])
        value = "$_t"
        yield f"{around}{{ float $_t = {first}; {inside}$_t = {joined}; {result} = $_t; }}"
    else:
        yield f"{around}{result} = {value};"
