"""Programs of any size, to see how the time of every pass grows with it: graphs, te kernels, and schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser

WIDTH = 24
"""How long the tensors are."""

TENSOR = f"tensor<{WIDTH}xf32>"


def program_of(form: str, size: int) -> ModuleOp:
    """The program of a form with that many parts."""
    return SourceParser(make_context(), FORMS[form](size), form).parse_module()


# -- graphs


def _graph_chain(size: int) -> str:
    """Products one behind another, each with a relu."""
    square = f"tensor<{WIDTH}x{WIDTH}xf32>"
    lines: list[str] = []
    for i in range(size):
        lines.append(f"%w{i} = graph.parameter @w{i} : {square}")
        lines.append(f"%d{i} = graph.dense %x{i}, %w{i} : ({square}, {square}) -> {square}")
        lines.append(f"%x{i + 1} = graph.relu %d{i} : ({square}) -> {square}")
    return _main([("x0", square)], lines, [(f"x{size}", square)])


def _graph_concat(size: int) -> str:
    """A graph that concatenates all parts once."""
    names = ", ".join(f"%x{i}" for i in range(size))
    whole = f"tensor<{size * WIDTH}xf32>"
    types = ", ".join([TENSOR] * size)
    line = f"%y = graph.concat {names} {{axis = 0 : i64}} : ({types}) -> {whole}"
    return _main([(f"x{i}", TENSOR) for i in range(size)], [line], [("y", whole)])


def _graph_split(size: int) -> str:
    """A graph that splits one tensor into as many parts."""
    whole = f"tensor<{size * WIDTH}xf32>"
    lines = [
        f"%y{i} = graph.slice %x {{axes = array<i64: 0>, starts = array<i64: {i * WIDTH}>, "
        f"stops = array<i64: {(i + 1) * WIDTH}>, steps = array<i64: 1>}} : ({whole}) -> {TENSOR}"
        for i in range(size)
    ]
    return _main([("x", whole)], lines, [(f"y{i}", TENSOR) for i in range(size)])


def _main(arguments: list[tuple[str, str]], lines: list[str], results: list[tuple[str, str]]) -> str:
    taken = ", ".join(f'%{n}: {t} {{tilework.name = "{n}"}}' for n, t in arguments)
    given = ", ".join(f'{t} {{tilework.name = "{n}"}}' for n, t in results)
    returned = f"func.return {', '.join(f'%{n}' for n, _ in results)} : {', '.join(t for _, t in results)}"
    return "\n".join([f"func.func @main({taken}) -> ({given}) {{", *lines, returned, "}"])


# -- te kernels


def _te_chain(size: int) -> str:
    """Stages one behind another; each reads two elements of the one before, so that inlining them costs."""
    lengths = [WIDTH + size - i for i in range(size + 1)]
    reads = [[(f"s{i}", lengths[i], 0), (f"s{i}", lengths[i], 1)] for i in range(size)]
    stages = [_stage(f"s{i + 1}", lengths[i + 1], reads[i]) for i in range(size)]
    return _kernel([("s0", _tensor(lengths[0]))], stages, [(f"s{size}", TENSOR)])


def _te_fan_out(size: int) -> str:
    """One stage that all others read; they are returned."""
    stages = [
        _stage("a", WIDTH, [("x", WIDTH, 0), ("x", WIDTH, 0)]),
        *(_stage(f"s{i}", WIDTH, [("a", WIDTH, 0)]) for i in range(size)),
    ]
    return _kernel([("x", TENSOR)], stages, [(f"s{i}", TENSOR) for i in range(size)])


def _te_fan_in(size: int) -> str:
    """One stage that reads all others."""
    stages = [_stage(f"s{i}", WIDTH, [("x", WIDTH, 0), ("x", WIDTH, 0)]) for i in range(size)]
    return _kernel(
        [("x", TENSOR)], [*stages, _stage("y", WIDTH, [(f"s{i}", WIDTH, 0) for i in range(size)])], [("y", TENSOR)]
    )


def _te_inlined(size: int) -> str:
    """A chain whose schedule inlines all stages but the last."""
    names = [f"s{i + 1}" for i in range(size)]
    stages = [_stage(f"s{i + 1}", WIDTH, [(f"s{i}", WIDTH, 0)]) for i in range(size)]
    handles = [f'%{n}, %{n}_i = schedule.stage "{n}" [i]' for n in names]
    inlined = [f"schedule.compute_inline %{n}" for n in names[:-1]]
    return _kernel([("s0", TENSOR)], stages, [(names[-1], TENSOR)], [*handles, *inlined])


def _te_cached(size: int) -> str:
    """A chain whose schedule gives each stage a cache, which is computed inside it."""
    names = [f"s{i + 1}" for i in range(size)]
    stages = [_stage(f"s{i + 1}", WIDTH, [(f"s{i}", WIDTH, 0)]) for i in range(size)]
    primitives = [line for n in names for line in _cached(n)]
    return _kernel([("s0", TENSOR)], stages, [(names[-1], TENSOR)], primitives)


def _cached(name: str) -> list[str]:
    return [
        f'%{name}, %{name}_i = schedule.stage "{name}" [i]',
        f'%{name}_c, %{name}_c_i = schedule.cache_write %{name} "local" [i]',
        f"%{name}_o, %{name}_n = schedule.split %{name}_i factor 8",
        f"schedule.compute_at %{name}_c, %{name}_o",
    ]


def _stage(name: str, length: int, reads: list[tuple[str, int, int]]) -> str:
    """A stage that adds up elements of tensors; each is given with its length, and how far from its own they are."""
    lines = [f'%{name} = te.compute "{name}" [i: {length}] : {_tensor(length)} {{']
    for at, (tensor, whole, distance) in enumerate(reads):
        lines.append(f"%{name}_r{at} = te.read %{tensor}[i + {distance}] : {_tensor(whole)}")
        lines.append(f"%{name}_v{at} = arith.addf %{name}_{f'v{at - 1}' if at else 'r0'}, %{name}_r{at} : f32")
    return "\n".join([*lines, f"te.yield %{name}_v{len(reads) - 1} : f32", "}"])


def _tensor(length: int) -> str:
    return f"tensor<{length}xf32>"


def _kernel(
    arguments: list[tuple[str, str]], stages: list[str], results: list[tuple[str, str]], primitives: Iterable[str] = ()
) -> str:
    taken = ", ".join(f"%{n}: {t}" for n, t in arguments)
    types = ", ".join(t for _, t in results)
    returned = f"te.return {', '.join(f'%{n}' for n, _ in results)} : {types}"
    lines = [f"te.kernel @k({taken}) -> ({types}) {{", *stages, returned, "}"]
    given = list(primitives)
    return "\n".join([*lines, *(("schedule.sequence @k {", *given, "}") if given else ())])


FORMS: Mapping[str, Callable[[int], str]] = {
    "graph-chain": _graph_chain,
    "graph-concat": _graph_concat,
    "graph-split": _graph_split,
    "te-chain": _te_chain,
    "te-fan-out": _te_fan_out,
    "te-fan-in": _te_fan_in,
    "te-inlined": _te_inlined,
    "te-cached": _te_cached,
}
