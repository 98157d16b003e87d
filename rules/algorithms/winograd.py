"""Winograd's minimal filtering for convolutions: fewer products, of transformed tiles of the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, UnitAttr, f32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.analysis.precision import Precision
from tilework.analysis.sizes import bytes_of
from tilework.dialects.graph.algorithms.winograd import WinogradConvOp, WinogradWeightOp, winograd_tiles
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import PadOp, SliceOp
from tilework.dialects.support.shapes import dims_of
from tilework.rules.algorithms.base import Algorithm, Product, vector_cycles
from tilework.targets import Target


@dataclass(frozen=True)
class Winograd(Algorithm):
    """Tiles of `tile` outputs along each axis of the image. phases: whether they are taken as channels.

    added: so many filters of zeros behind its own, which fill vectors; what they make is cut off. counted: whether
    tiles are counted through.
    """

    ACCURACY: ClassVar[str] = "With small tiles as exact as the direct sum, else within 1e-5 of the largest result."

    tile: int
    phases: bool = False
    added: int = 0
    counted: bool = False

    @classmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterator[Winograd]:
        if not isinstance(product, ConvOp):
            return
        added = -(product.dims(1)[0].constant or 0) % target.lanes(f32.bitwidth)
        is_open = not all(e.is_constant for e in product.dims(0)[-2:])
        for phases in (False, True) if product.strides.get_values()[-1] > 1 else (False,):
            for tile in winograd_tiles(product, precision.products):
                algorithm = cls(tile, phases, added)
                # weights are read for every block of tiles: where they do not stay near, blocks must not end with rows
                counted = is_open and algorithm._weight_bytes(product) > target.near_bytes
                yield replace(algorithm, counted=counted)

    def _weight_bytes(self, product: Product) -> int:
        made = self.transform(product.weight, product)
        size = bytes_of(made[-1].results[0].type)
        for op in reversed(made):
            op.erase()
        return size

    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        if not self.added:
            return [WinogradWeightOp.of(weight, **self._properties(product))]
        rank = len(dims_of(weight.type))
        pads = ints([*[0] * rank, self.added, *[0] * (rank - 1)])
        filled = PadOp.of(weight, pads=pads, value=FloatAttr(0.0, f32))
        return [filled, WinogradWeightOp.of(filled.result, **self._properties(product))]

    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        assert isinstance(product, ConvOp)
        windows = product.windows
        *front, top, left = windows.before
        *behind, bottom, right = windows.after
        # of phases, windows are as long as all phases of the taps
        missing = -windows.kernel[-1] % windows.strides[-1] if self.phases else 0
        properties = {**self._properties(product), "pads": ints([top, left, bottom + missing, right + missing])}
        if self.counted:
            properties["counted"] = UnitAttr()
        if front:
            properties["slices"] = ints([windows.strides[0], windows.dilations[0], *front, *behind])
        result = WinogradConvOp.of(product.input, transformed, **properties)
        if not self.added:
            return [result]
        filters = product.dims(1)[0].constant or 0
        ends = {"axes": ints([1]), "starts": ints([0]), "stops": ints([filters]), "steps": ints([1])}
        return [result, SliceOp.of(result.result, **ends)]

    def _properties(self, product: Product) -> dict[str, Attribute]:
        """What the transform and the product have in common."""
        assert isinstance(product, ConvOp)
        stride = IntegerAttr(product.strides.get_values()[-1], i64)
        phases = {"phases_as_channels": UnitAttr()} if self.phases else {}
        return {"tile": IntegerAttr(self.tile, i64), "stride": stride, **phases}

    def least_cycles(self, product: Product, weights: int, target: Target) -> float:
        batch, _, *slices, height, width = (e.constant or 1 for e in dims_of(product.result.type))
        uses = batch * prod(slices) * -(-height // self.tile) * -(-width // self.tile)
        return vector_cycles(weights * uses, target)
