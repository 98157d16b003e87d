"""Convolutions and products of bytes for VDLA as kernels, as the graph level makes them, and what numpy says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tilework.targets.vdla.target import VdlaTarget


@dataclass(frozen=True)
class Layer:
    """A convolution of an image in blocks of channels, whose sums are biased, scaled and cut to bytes.

    size: height and width of the image. pads: rows and columns of zeros before, then behind. epilogue: "clip" shifts
    sums and clips them, "round" rounds them to the nearest even number. packed: whether the weights are in tiles.
    """

    inputs: int
    outputs: int
    size: tuple[int, int]
    window: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    epilogue: str = "clip"
    biased: bool = True
    packed: bool = True
    batch: int = 1
    shift: int = 6

    @property
    def padded(self) -> tuple[int, int]:
        return self.size[0] + self.pads[0] + self.pads[2], self.size[1] + self.pads[1] + self.pads[3]

    @property
    def out(self) -> tuple[int, int]:
        (h, w), (kh, kw), (sh, sw) = self.padded, self.window, self.stride
        return (h - kh) // sh + 1, (w - kw) // sw + 1

    def text(self, target: VdlaTarget) -> str:
        """The kernel, in a module for the target."""
        bi, bo = target.block_in, target.block_out
        n, (h, w), (ph, pw), (oh, ow), (kh, kw) = self.batch, self.size, self.padded, self.out, self.window
        x = f"tensor<{n}x{self.inputs // bi}x{h}x{w}x{bi}xi8>"
        logical, wide = f"tensor<{n}x{self.inputs}x{h}x{w}xi8>", f"tensor<{n}x{self.inputs}x{ph}x{pw}xi8>"
        plain = f"tensor<{self.outputs}x{self.inputs}x{kh}x{kw}xi8>"
        tiles = f"tensor<{self.outputs // bo}x{self.inputs // bi}x{kh}x{kw}x{bo}x{bi}xi8>"
        given = tiles if self.packed else plain
        bias, sums = f"tensor<1x{self.outputs}x1x1xi32>", f"tensor<{n}x{self.outputs}x{oh}x{ow}xi32>"
        narrow = sums.replace("i32", "i8")
        y = f"tensor<{n}x{self.outputs // bo}x{oh}x{ow}x{bo}xi8>"
        (sh, sw), (top, left, _, _) = self.stride, self.pads
        axes = f"[i0: {n}, i1: {self.outputs}, i2: {oh}, i3: {ow}]"
        unpacked = f"""
          %weight = te.compute "unpack.weight" [o: {self.outputs}, i: {self.inputs}, u: {kh}, v: {kw}] : {plain} {{
            %0 = te.read %wb[o floordiv {bo}, i floordiv {bi}, u, v, o mod {bo}, i mod {bi}] : {tiles}
            te.yield %0 : i8
          }}"""
        inside = f"y - {top} >= 0, -y + {h + top - 1} >= 0, x - {left} >= 0, -x + {w + left - 1} >= 0"
        padding = f"""
          %pad = te.compute "pad" [n: {n}, c: {self.inputs}, y: {ph}, x: {pw}] : {wide} {{
            %1 = te.if_then_else [{inside}] : i8 {{
              %2 = te.read %unpack[n, c, y - {top}, x - {left}] : {logical}
              te.yield %2 : i8
            }} else {{
              %3 = arith.constant 0 : i8
              te.yield %3 : i8
            }}
            te.yield %1 : i8
          }}"""
        is_padded = self.padded != self.size
        data, wt = ("%pad", wide) if is_padded else ("%unpack", logical), "%weight" if self.packed else "%wb"
        adding = f"""
          %add = te.compute "add" {axes} : {sums} {{
            %9 = te.read %conv[i0, i1, i2, i3] : {sums}
            %10 = te.read %bias[0, i1, 0, 0] : {bias}
            %11 = arith.addi %9, %10 : i32
            te.yield %11 : i32
          }}"""
        outer = f"n: {n}, o: {self.outputs}, y: {oh}, x: {ow}"
        inner = f"rc: {self.inputs}, ry: {kh}, rx: {kw}"
        source = "%add" if self.biased else "%conv"
        return f"""
        builtin.module attributes {{tilework.targets = "{target}"}} {{
        te.kernel @conv(%xb: {x}, %wb: {given}{f", %bias: {bias}" * self.biased}) -> {y} {{
          %unpack = te.compute "unpack" [i0: {n}, i1: {self.inputs}, i2: {h}, i3: {w}] : {logical} {{
            %0 = te.read %xb[i0, i1 floordiv {bi}, i2, i3, i1 mod {bi}] : {x}
            te.yield %0 : i8
          }}{unpacked * self.packed}{padding * is_padded}
          %conv = te.compute "conv" [{outer}] reduce [{inner}] : {sums} {{
            %4 = te.read {data[0]}[n, rc, {sh} * y + ry, {sw} * x + rx] : {data[1]}
            %5 = te.read {wt}[o, rc, ry, rx] : {plain}
            %6 = arith.extsi %4 : i8 to i32
            %7 = arith.extsi %5 : i8 to i32
            %8 = arith.muli %6, %7 : i32
            te.reduce add %8 : i32
          }}{adding * self.biased}
          %scaled = te.compute "scaled" {axes} : {sums} {{
            %t = te.read {source}[i0, i1, i2, i3] : {sums}
            {self.scaling()}
            %low = arith.constant -128 : i32
            %high = arith.constant 127 : i32
            %cut = arith.maxsi %shifted, %low : i32
            %y = arith.minsi %cut, %high : i32
            te.yield %y : i32
          }}
          %cast = te.compute "cast" {axes} : {narrow} {{
            %12 = te.read %scaled[i0, i1, i2, i3] : {sums}
            %13 = arith.trunci %12 : i32 to i8
            te.yield %13 : i8
          }}
          %pack = te.compute "pack" [i0: {n}, i1: {self.outputs // bo}, i2: {oh}, i3: {ow}, i4: {bo}] : {y} {{
            %14 = te.read %cast[i0, {bo} * i1 + i4, i2, i3] : {narrow}
            te.yield %14 : i8
          }}
          te.return %pack : {y}
        }}
        }}"""

    def scaling(self) -> str:
        """How a sum %t becomes %shifted."""
        by = f"%by = arith.constant {self.shift} : i32"
        if self.epilogue == "clip":
            return f"{by}\n%shifted = arith.shrsi %t, %by : i32"
        return f"""{by}
            %one = arith.constant 1 : i32
            %all = arith.constant 31 : i32
            %half = arith.constant {1 << (self.shift - 1)} : i32
            %whole = arith.shrsi %t, %by : i32
            %next = arith.addi %whole, %one : i32
            %odd = arith.shli %next, %all : i32
            %tie = arith.shrsi %odd, %all : i32
            %up = arith.addi %t, %half : i32
            %nearest = arith.addi %up, %tie : i32
            %shifted = arith.shrsi %nearest, %by : i32"""

    def arguments(self, target: VdlaTarget, seed: int = 0) -> list[Any]:
        """Random operands, and a result that is not computed yet."""
        draw = np.random.default_rng(seed)
        bi, bo = target.block_in, target.block_out
        x = draw.integers(-128, 128, (self.batch, self.inputs // bi, *self.size, bi), np.int8)
        w = draw.integers(-128, 128, (self.outputs // bo, self.inputs // bi, *self.window, bo, bi), np.int8)
        bias = [draw.integers(-(1 << 12), 1 << 12, (1, self.outputs, 1, 1), np.int32)] if self.biased else []
        return [x, w, *bias, np.full((self.batch, self.outputs // bo, *self.out, bo), 77, np.int8)]

    def expected(self, x: Any, w: Any, *rest: Any) -> Any:
        """The result by numpy."""
        (top, left, bottom, right), (sh, sw), (oh, ow) = self.pads, self.stride, self.out
        image = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (top, bottom), (left, right), (0, 0)])
        y = np.zeros((self.batch, w.shape[0], oh, ow, w.shape[4]))
        for u in range(self.window[0]):
            for v in range(self.window[1]):
                part = image[:, :, u : u + sh * (oh - 1) + 1 : sh, v : v + sw * (ow - 1) + 1 : sw]
                y += np.einsum("nkyxl,okjl->noyxj", part, w[:, :, u, v].astype(np.float64), optimize=True)
        sums = y.astype(np.int64)
        if self.biased:
            sums += rest[0].reshape(w.shape[0], 1, 1, w.shape[4])
        if self.epilogue == "clip":
            return np.clip(sums >> self.shift, -128, 127).astype(np.int8)
        return np.clip(np.rint(sums / (1 << self.shift)), -128, 127).astype(np.int8)
