"""Kernels with schedules for VDLA, and what becomes of them: functions of operations on units, and streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser


@dataclass(frozen=True)
class Product:
    """y[m, n] = lowest bytes of (max(sum over k of x[m, k] x transpose of w[n, k] + bias[n], 0) >> 4), in tiles.

    tile: how many tiles of m, n and k are on the chip at a time; these divide the sizes. threads: so many virtual
    threads share the columns, or the rows where `by_rows`. once: whether the inputs of a row of tiles are loaded once
    for all columns.
    """

    m: int
    n: int
    k: int
    tile: tuple[int, int, int] = (1, 1, 1)
    threads: int = 1
    by_rows: bool = False
    biased: bool = False
    once: bool = False

    def arguments(self, seed: int = 0) -> list[Any]:
        """Random operands, and a result that is not computed yet."""
        draw = np.random.default_rng(seed)
        x = draw.integers(-128, 128, (self.m, self.k, 16), np.int8)
        w = draw.integers(-128, 128, (self.n, self.k, 16, 16), np.int8)
        bias = [draw.integers(-(1 << 15), 1 << 15, (self.n, 16), np.int32)] if self.biased else []
        return [x, w, *bias, np.full((self.m, self.n, 16), 77, np.int8)]

    def expected(self, x: Any, w: Any, *rest: Any) -> Any:
        """The result by numpy."""
        sums = np.einsum("mkl,nkjl->mnj", x.astype(np.int32), w.astype(np.int32))
        if self.biased:
            sums = sums + rest[0]
        return (np.maximum(sums, 0) >> 4).astype(np.int8)

    def text(self, target: str = "vdla") -> str:
        """The kernel with its schedule."""
        m, n, k = self.m, self.n, self.k
        x, w, sums = f"tensor<{m}x{k}x16xi8>", f"tensor<{n}x{k}x16x16xi8>", f"tensor<{m}x{n}x16xi32>"
        bias = f"tensor<{n}x16xi32>"
        return f"""
        builtin.module attributes {{tilework.targets = "{target}"}} {{
        te.kernel @matmul(%x: {x}, %w: {w}{f", %bias: {bias}" * self.biased}) -> tensor<{m}x{n}x16xi8> {{
          %sum = te.compute "sum" [m: {m}, n: {n}, j: 16] reduce [k: {k}, l: 16] : {sums} {{
            %a = te.read %x[m, k, l] : {x}
            %b = te.read %w[n, k, j, l] : {w}
            %ai = arith.extsi %a : i8 to i32
            %bi = arith.extsi %b : i8 to i32
            %p = arith.muli %ai, %bi : i32
            te.reduce add %p : i32
          }}
          %scaled = te.compute "scaled" [m: {m}, n: {n}, j: 16] : {sums} {{
            %{"s" if not self.biased else "t"} = te.read %sum[m, n, j] : {sums}
            {f"%b = te.read %bias[n, j] : {bias}" if self.biased else ""}
            {"%s = arith.addi %t, %b : i32" if self.biased else ""}
            %zero = arith.constant 0 : i32
            %four = arith.constant 4 : i32
            %positive = arith.maxsi %s, %zero : i32
            %v = arith.shrsi %positive, %four : i32
            te.yield %v : i32
          }}
          %y = te.compute "y" [m: {m}, n: {n}, j: 16] : tensor<{m}x{n}x16xi8> {{
            %s = te.read %scaled[m, n, j] : {sums}
            %v = arith.trunci %s : i32 to i8
            te.yield %v : i8
          }}
          te.return %y : tensor<{m}x{n}x16xi8>
        }}
        {self.schedule()}
        }}"""

    def schedule(self) -> str:
        """The tiles that are on the chip at a time, where they are computed, and by which threads."""
        rows, columns, depth = self.tile
        lines = [
            '%sum, %m, %n, %j, %k, %l = schedule.stage "sum" [m, n, j, k, l]',
            '%scaled, %pm, %pn, %pj = schedule.stage "scaled" [m, n, j]',
            '%y, %ym, %yn, %yj = schedule.stage "y" [m, n, j]',
            "%x = schedule.argument 0",
            "%w = schedule.argument 1",
            'schedule.set_scope %sum "vdla.acc"',
            'schedule.set_scope %scaled "vdla.acc"',
            '%xs, %x0, %x1, %x2 = schedule.cache_read %x "vdla.inp" readers(%sum) [m, k, l]',
            '%ws, %w0, %w1, %w2, %w3 = schedule.cache_read %w "vdla.wgt" readers(%sum) [n, k, j, l]',
        ]
        if self.biased:
            lines += [
                "%b = schedule.argument 2",
                '%bs, %b0, %b1 = schedule.cache_read %b "vdla.acc" readers(%scaled) [n, j]',
            ]
        lines += [f"%ymo, %ymi = schedule.split %ym factor {rows}", f"%yno, %yni = schedule.split %yn factor {columns}"]
        outer = ["%ymo", "%yno"]
        inner = outer[-1]
        if self.threads > 1:
            axis = "%ymo" if self.by_rows else "%yno"
            lines.append(f"{axis}o, %t = schedule.split {axis} factor {self.threads}")
            outer[0 if self.by_rows else 1] += "o"
            lines += [f"schedule.reorder {', '.join(outer)}, %t, %ymi, %yni", 'schedule.bind %t "vthread"']
            inner = "%t"
        else:
            lines.append(f"schedule.reorder {', '.join(outer)}, %ymi, %yni")
        lines += [f"schedule.compute_at %sum, {inner}", f"schedule.compute_at %scaled, {inner}"]
        if self.biased:
            lines.append(f"schedule.compute_at %bs, {inner}")
        lines += [
            f"%ko, %ki = schedule.split %k factor {depth}",
            "schedule.reorder %ko, %m, %n, %ki, %j, %l",
            f"schedule.compute_at %xs, {outer[0] if self.once else '%ko'}",
            "schedule.compute_at %ws, %ko",
            "schedule.tensorize %j @vdla.gemm",
        ]
        return "schedule.sequence @matmul {\n" + "\n".join(lines) + "\n}"


def parse_program(text: str) -> tuple[ModuleOp, func.FuncOp]:
    """A program with one function."""
    module = SourceParser(make_context(), text, "<test>").parse_module()
    assert isinstance(module, ModuleOp)
    module.verify()
    return module, next(op for op in module.ops if isinstance(op, func.FuncOp))
