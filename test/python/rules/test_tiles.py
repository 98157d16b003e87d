"""Products on matrix tiles: scheduled, interpreted, as machine instructions, and where the system forbids them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework import te
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.loop import run_loop_kernel
from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.devices.llvm.compile import assembly
from tilework.targets import parse_target
from tilework.targets.cpu import host, tiles
from tilework.targets.cpu.host import host_target

RAPIDS = parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids")
ACC = 'memref<512xf32, "amx">'
needs_tiles = pytest.mark.skipif(not host_target().multiplies_tiles, reason="of processors with tiles")

Parse = Callable[[str], ModuleOp]


def product(m: int, n: int, k: int) -> tuple[te.Schedule, list[te.Tensor]]:
    """Rows of A times columns of B, whose rows are in pairs, 16 columns at a time; 2 by 2 tiles at once."""
    A = te.placeholder((m, k), dtype="bfloat16", name="A")
    B = te.placeholder((n // 16, k // 2, 16, 2), dtype="bfloat16", name="B")
    ko, kp, kb = (te.reduce_axis((0, extent), name=name) for name, extent in (("ko", k // 32), ("kp", 16), ("kb", 2)))

    def term(j: Any, i: Any, l: Any) -> Any:  # noqa: E741
        wide = [x.astype("float32") for x in (A[i, 32 * ko + 2 * kp + kb], B[j, 16 * ko + kp, l, kb])]
        return te.sum(wide[0] * wide[1], axis=[ko, kp, kb])

    C = te.compute((n // 16, m, 16), term, name="C")
    D = te.compute((m, n), lambda i, j: C[j // 16, i, j % 16] + 1.0, name="D")
    s = te.create_schedule(D.op)
    local = s.cache_write(C, "amx")
    io, jo, ii, ji = s[D].tile(*s[D].op.axis, 32, 32)
    tile = s[D].fuse(io, jo)
    s[D].parallel(tile)
    for stage in (C, local):
        s[stage].compute_at(s[D], tile)
        j, i, l = s[stage].op.axis  # noqa: E741
        io, ii = s[stage].split(i, factor=16)
        s[stage].reorder(*s[stage].op.reduce_axis[:1], io, j, ii, l, *s[stage].op.reduce_axis[1:])
        s[stage].tensorize(ii, "amx.tile_store" if stage is C else "amx.tile_mulf")
    return s, [A, B, D]


def operands(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small integers, so that sums are exact; and the result."""
    rng = np.random.default_rng(k)
    a, b = (rng.integers(-8, 8, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    pairs = b.reshape(k // 2, 2, n // 16, 16).transpose(2, 0, 3, 1)
    narrow = [np.ascontiguousarray(x.astype(ml_dtypes.bfloat16)) for x in (a, pairs)]
    return narrow[0], narrow[1], a @ b + 1


@needs_tiles
@pytest.mark.parametrize("sizes", [(32, 32, 32), (64, 96, 160)])
def test_products_on_tiles(sizes: tuple[int, int, int], run_te: Callable[..., Any]):
    a, b, expected = operands(*sizes)
    s, args = product(*sizes)
    np.testing.assert_array_equal(run_te(s, args, a, b), expected)


def test_products_on_tiles_are_interpreted(parse_module: Parse):
    a, b, expected = operands(64, 64, 96)
    s, args = product(64, 64, 96)
    text = str(tw.lower(s, args))
    assert text.count("amx.tile_zero") == text.count("amx.tile_mulf") == text.count("amx.tile_store") == 4
    result = np.empty_like(expected)
    run_loop_kernel(kernel_of(parse_module(text)), [a, b], [result])
    np.testing.assert_array_equal(result, expected)


def kernel_of(module: ModuleOp) -> KernelOp:
    (kernel,) = (op for op in module.ops if isinstance(op, KernelOp))
    return kernel


# -- the interpreter


def test_independent_tiles_are_interpreted_at_once_under_a_mask(parse_module: Parse):
    text = """loop.kernel @k ins(%a: memref<2048xbf16>) outs(%y: memref<1024xf32>) {
      loop.for %i = 0 to 4 "i" {
        %acc = memref.alloca() : memref<256xf32, "amx">
        loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
        loop.if [%i - 1 >= 0] {
          loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1]
            from %a[512 * %i] of [16, 32] strides [32, 1], %a[-512 * %i + 1536] of [16, 32] strides [32, 1]
            : memref<256xf32, "amx">, memref<2048xbf16>, memref<2048xbf16>
        }
        loop.intrinsic @amx.tile_store writes %y[256 * %i] of [16, 16] strides [16, 1]
          from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
      }
    }"""
    a = np.arange(2048) % 7
    result = np.empty(1024, np.float32)
    run_loop_kernel(kernel_of(parse_module(text)), [a.astype(ml_dtypes.bfloat16)], [result])
    rows, pairs = a.reshape(4, 16, 32), a.reshape(4, 16, 16, 2)[::-1].transpose(0, 1, 3, 2).reshape(4, 32, 16)
    expected = rows @ pairs * (np.arange(4) > 0)[:, None, None]
    np.testing.assert_array_equal(result.reshape(4, 16, 16), expected)


def test_a_tile_out_of_bounds_is_an_error(parse_module: Parse):
    text = """loop.kernel @k outs(%y: memref<1000xf32>) {
      %acc = memref.alloca() : memref<256xf32, "amx">
      loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
      loop.for %i = 0 to 4 "i" {
        loop.intrinsic @amx.tile_store writes %y[256 * %i] of [16, 16] strides [16, 1]
          from %acc[0] of [16, 16] strides [16, 1] : memref<1000xf32>, memref<256xf32, "amx">
      }
    }"""
    with pytest.raises(
        CompileError, match="in i: a part of %y out of bounds: the buffer has 1000 elements, it spans 256"
    ):
        run_loop_kernel(kernel_of(parse_module(text)), [], [np.empty(1000, np.float32)])


# -- instructions


def kernel(body: str, *, accumulator: str = f"%acc = memref.alloca() : {ACC}") -> str:
    arguments = "ins(%a: memref<4096xbf16>, %b: memref<4096xbf16>) outs(%y: memref<4096xf32>) symbols(%N)"
    return f"loop.kernel @k {arguments} {{ {accumulator}\n{body} }}"


def zero(at: object = 0, stride: int = 16) -> str:
    return f"loop.intrinsic @amx.tile_zero writes %acc[{at}] of [16, 16] strides [{stride}, 1] : {ACC}\n"


def multiply(a: object, b: object, to: object = 0, second: str = "b") -> str:
    types = f"{ACC}, memref<4096xbf16>, memref<4096xbf16>"
    sums = f"%acc[{to}] of [16, 16] strides [16, 1]"
    factors = f"%a[{a}] of [16, 32] strides [32, 1], %{second}[{b}] of [16, 32] strides [32, 1]"
    return f"loop.intrinsic @amx.tile_mulf updates {sums} from {factors} : {types}\n"


def store(to: object = 0, at: object = 0) -> str:
    tile = f"%acc[{at}] of [16, 16] strides [16, 1] : memref<4096xf32>, {ACC}"
    return f"loop.intrinsic @amx.tile_store writes %y[{to}] of [16, 16] strides [64, 1] from {tile}\n"


def instructions(code: str) -> list[str]:
    """Those on tiles, with their registers and where they load from."""
    found = re.findall(r"@llvm\.x86\.(\w+)\((.*)\)", code)
    return [" ".join([name, *re.findall(r"i8 (\d)", arguments)]) for name, arguments in found]


def emitted(parse_module: Parse, body: str, **options: str) -> list[str]:
    return instructions(emit_kernels(parse_module(kernel(body, **options)), RAPIDS))


def test_the_inner_loop_has_tile_instructions_only(parse_module: Parse):
    s, args = product(64, 64, 512)
    text = str(tw.lower(s, args))
    code = emit_kernels(parse_module(text), RAPIDS)
    body = code[code.index("ko.body:") : code.index("ko.end:")]
    load, add = "tileloadd64", "tdpbf16ps"
    expected = [f"{load} 4", f"{load} 5", f"{add} 0 4 5", f"{load} 6", f"{add} 1 4 6", f"{load} 7", f"{add} 2 7 5"]
    assert instructions(body) == [*expected, f"{add} 3 7 6"]
    assert code.count("ldtilecfg") == code.count("tilerelease") == 1  # of the outlined loop, not of the kernel
    blocks = re.split(r"^\.LBB\w+:$", assembly(code, RAPIDS), flags=re.MULTILINE)
    [loop] = [block.partition("\tjne")[0] for block in blocks if "tdpbf16ps" in block]
    used = {line.split()[0] for line in loop.splitlines() if re.match(r"\t\w", line)}
    assert {"tileloadd", "tdpbf16ps"} < used <= {"tileloadd", "tdpbf16ps", "leaq", "addq", "incq", "cmpq"}


def test_factors_stay_in_registers_until_memory_changes(parse_module: Parse):
    again = multiply(0, 0) + multiply(0, 0)
    reloaded = multiply(0, 0) + store() + multiply(0, 0)
    assert emitted(parse_module, again).count("tileloadd64 1") == 1
    assert emitted(parse_module, reloaded).count("tileloadd64 1") == 2
    looped = multiply(0, 0) + 'loop.for %i = 0 to %N "i" { ' + multiply(0, "512 * %i") + "}" + multiply(0, 0)
    assert emitted(parse_module, looped).count("tileloadd64 1") == 3


def test_the_register_of_what_is_wanted_last_is_given_up(parse_module: Parse):
    """One sum leaves seven registers: the seventh column takes that of the first, which is wanted last again."""
    columns = [multiply(0, 512 * i) for i in range(7)]
    rows = [multiply(512, 512 * i) for i in (1, 2, 3, 4, 5, 6, 0)]
    found = emitted(parse_module, "".join([*columns, *rows]))
    loads = [line for line in found if line.startswith("tileloadd64")]
    assert len(loads) == 2 + 7 + 1
    assert loads[7] == loads[1]


def test_one_tile_as_both_factors_has_two_registers(parse_module: Parse):
    found = emitted(parse_module, multiply(0, 0, second="a"))
    assert found == ["ldtilecfg", "tileloadd64 1", "tileloadd64 2", "tdpbf16ps 0 1 2", "tilerelease"]


def test_sums_of_buffers_one_after_the_other_share_registers(parse_module: Parse):
    body = f"%acc = memref.alloca() : {ACC} {zero()} {zero(256)} {store()}"
    found = emitted(parse_module, f'loop.for %i = 0 to 2 "i" {{ {body} }}\n' * 4 + body, accumulator="")
    assert set(found) == {"ldtilecfg", "tilezero 0", "tilezero 1", "tilestored64 0", "tilerelease"}


def test_registers_are_configured_again_behind_a_parallel_loop(parse_module: Parse):
    block = f'loop.for %i = 0 to 2 "i" KIND {{ %acc = memref.alloca() : {ACC} {zero()} {store()} }}\n'
    code = emit_kernels(
        parse_module(kernel(block.replace("KIND", "") + block.replace("KIND", "parallel"), accumulator="")), RAPIDS
    )
    of_kernel = code[code.index("define void @k(") :].partition("\n}")[0]
    assert instructions(of_kernel).count("ldtilecfg") == 2
    assert "call void @llvm.x86.ldtilecfg" in of_kernel.partition("parallel.end:")[0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'loop.for %i = 0 to 2 "i" { ' + zero("256 * %i") + "}",
            "the subscript of tile register %acc is no constant",
        ),
        (zero(0) + zero(8), "tiles of one buffer overlap"),
        (zero(0) + zero(0, 32), "tiles of one buffer overlap"),
        ('loop.for %i = 0 to 2 "i" parallel { ' + zero() + "}", "lives while parallel loop 'i' runs: keep it inside"),
    ],
)
def test_what_is_no_register_is_refused(body: str, message: str, parse_module: Parse):
    with pytest.raises(CompileError, match=message):
        emitted(parse_module, body)


def test_more_sums_than_registers_are_refused(parse_module: Parse):
    wide = 'memref<2048xf32, "amx">'
    body = "".join(zero(256 * i) for i in range(7)).replace(ACC, wide)
    with pytest.raises(CompileError, match="more than 6 sums in tile registers"):
        emitted(parse_module, body, accumulator=f"%acc = memref.alloca() : {wide}")


def test_a_target_without_tiles_is_refused(parse_module: Parse):
    target = parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server")
    with pytest.raises(CompileError, match="@amx.tile_zero needs amx-bf16 and amx-tile, which icelake-server lacks"):
        emit_kernels(parse_module(kernel(zero())), target)


# -- schedules


def test_only_known_intrinsics_tensorize():
    s, args = product(32, 32, 32)
    s[args[-1]].tensorize(s[args[-1]].leaf_iter_vars[-1], "amx.tile_stored")
    with pytest.raises(
        te.ScheduleError, match="no te.intrinsic declares @amx.tile_stored; there are .*did you mean 'amx.tile_store'"
    ):
        tw.lower(s, args)


def test_an_axis_is_annotated_once():
    s, args = product(32, 32, 32)
    axis = s[args[-1]].leaf_iter_vars[-1]
    s[args[-1]].vectorize(axis)
    with pytest.raises(te.ScheduleError, match="already vectorized"):
        s[args[-1]].tensorize(axis, "amx.tile_store")
    tensorized = s[args[-1]].leaf_iter_vars[-2]
    s[args[-1]].tensorize(tensorized, "amx.tile_store")
    with pytest.raises(te.ScheduleError, match="already tensorized"):
        s[args[-1]].unroll(tensorized)


def test_a_stage_is_tensorized_once():
    A = te.placeholder((16, 16), name="A")
    B = te.compute((16, 16), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    for axis in B.op.axis:
        s[B].tensorize(axis, "amx.tile_store")
    with pytest.raises(te.ScheduleError, match="axis 'i' of stage 'B' is tensorized already, with all inside of it"):
        tw.lower(s, [A, B])


def test_an_axis_of_one_iteration_is_not_tensorized():
    A = te.placeholder((1, 16), name="A")
    B = te.compute((1, 16), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].tensorize(B.op.axis[0], "amx.tile_store")
    with pytest.raises(te.ScheduleError, match="its extent is 1, and no constant of 2 or more"):
        tw.lower(s, [A, B])


def test_tile_registers_are_for_tensorized_stages():
    A = te.placeholder((16, 16), name="A")
    B = te.compute((16, 16), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((16, 16), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].set_scope("amx")
    with pytest.raises(te.ScheduleError, match="stage 'B' of scope amx is at the root"):
        tw.lower(s, [A, C])
    s[B].compute_at(s[C], C.op.axis[0])
    with pytest.raises(tw.TileworkError, match='%B of scope "amx" is touched by loops that are not tensorized'):
        tw.lower(s, [A, C])


# -- targets


def test_targets_with_tiles():
    assert RAPIDS.multiplies_tiles
    for options in ("-mcpu=icelake-server", "-mcpu=znver5", "-mcpu=sapphirerapids -mattr=-amx-bf16"):
        assert not parse_target(f"llvm -mtriple=x86_64-linux-gnu {options}").multiplies_tiles


@needs_tiles
def test_without_permission_the_machine_has_no_tiles(monkeypatch: pytest.MonkeyPatch):
    with_tiles = host_target()
    monkeypatch.setattr(tiles, "request_tiles", lambda: -1)
    tiles.tiles_are_permitted.cache_clear()
    host.host_target.cache_clear()
    try:
        without = host_target()
        assert not without.multiplies_tiles and {"-amx-bf16", "-amx-tile"} < set(without.features)
        with pytest.raises(tw.TileworkError, match="uses amx-bf16, amx-tile, which this processor"):
            check_runs_on(with_tiles, without)
    finally:
        monkeypatch.undo()
        tiles.tiles_are_permitted.cache_clear()
        host.host_target.cache_clear()


def test_other_systems_are_not_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles.sys, "platform", "darwin")
    assert not tiles.tiles_are_permitted.__wrapped__()
