"""The page of a search: for each kernel the best so far, what the model had expected, and the schedule that won."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from itertools import accumulate
from xml.etree.ElementTree import Element

from tilework.tools.report.document import document
from tilework.tools.report.markup import element, figure, label, line, svg, table
from tilework.tools.report.roofline_plot import LogAxis
from tilework.tuning.records import DEFAULT, Record

WIDTH, HEIGHT = 460.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 55.0, 445.0, 15.0, 225.0


def tuning_page(records: Sequence[Record]) -> str:
    """The document for a file of records."""
    kernels: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        kernels.setdefault((record.name, record.kernel), []).append(record)
    content = [element("h1", "Tilework, tuned"), table(*_overview(kernels.values()))]
    for (name, _), of_kernel in kernels.items():
        content += [element("h2", name), *_kernel(of_kernel)]
    return document("Tilework, tuned", content)


def _overview(kernels: Iterable[Sequence[Record]]) -> tuple[list[str], list[list[str]]]:
    head = ["kernel", "trials", "failed", "default ms", "best ms", "gain"]
    rows: list[list[str]] = []
    for records in kernels:
        trials = _trials(records)
        seconds = [s for r in trials if (s := r.outcome.seconds) is not None]
        default = next((r.outcome.seconds for r in trials if r.sketch == DEFAULT), None)
        failed = len(trials) - len(seconds)
        best = min(seconds, default=None)
        gain = "-" if best is None or default is None else f"{default / best:.2f}"
        rows.append([records[0].name, str(len(trials)), str(failed), _ms(default), _ms(best), gain])
    return head, rows


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


def _trials(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.default_seconds is None]


def _kernel(records: Sequence[Record]) -> list[Element]:
    trials = _trials(records)
    timed = [r for r in trials if r.outcome.seconds is not None]
    if not timed:
        return _failures(trials)
    plots = [figure("Milliseconds of each trial, and the best so far.", _curve(trials))]
    predicted = [r for r in timed if r.predicted is not None and r.predicted > 0]
    if len(predicted) > 1:
        caption = "What the model expected, as a part of the best speed, and what was measured."
        plots.append(figure(caption, _expectations(predicted)))
    best = min(timed, key=_seconds)
    default = next((r for r in trials if r.sketch == DEFAULT), best)
    return [*plots, *_failures(trials), *_winner(best, default)]


def _seconds(record: Record) -> float:
    seconds = record.outcome.seconds
    return float("inf") if seconds is None else seconds


def _curve(trials: Sequence[Record]) -> Element:
    """A dot for each trial, and steps of the best so far."""
    finite = [_seconds(r) * 1e3 for r in trials if r.outcome.seconds is not None]
    y = LogAxis(finite, BOTTOM, TOP)
    width = (RIGHT - LEFT) / max(len(trials) - 1, 1)
    parts = _grid(y)
    best = list(accumulate((_seconds(r) * 1e3 for r in trials), min))
    for at, record in enumerate(trials):
        x = LEFT + width * at
        if record.outcome.seconds is not None:
            parts.append(_dot(x, y.at(_seconds(record) * 1e3), record))
        if at and best[at - 1] != float("inf"):
            parts.append(line(x - width, y.at(best[at - 1]), x, y.at(best[at - 1]), "roof"))
            parts.append(line(x, y.at(best[at - 1]), x, y.at(best[at]), "roof"))
    parts.append(label(f"{len(trials)} trials", RIGHT, BOTTOM + 18, "end"))
    return svg(WIDTH, HEIGHT, parts)


def _expectations(records: Sequence[Record]) -> Element:
    least = min(map(_seconds, records))
    measured = [least / _seconds(record) for record in records]
    predicted = [record.predicted or 0.0 for record in records]
    x, y = LogAxis(predicted, LEFT, RIGHT), LogAxis(measured, BOTTOM, TOP)
    dots = [_dot(x.at(p), y.at(m), r) for p, m, r in zip(predicted, measured, records, strict=True)]
    return svg(WIDTH, HEIGHT, [*_grid(y), *dots, label("expected", RIGHT, BOTTOM + 18, "end")])


def _grid(y: LogAxis) -> list[Element]:
    parts: list[Element] = []
    for tick in y.ticks:
        parts += [
            line(LEFT, y.at(tick), RIGHT, y.at(tick), "grid"),
            label(f"{tick:g}", LEFT - 6, y.at(tick) + 4, "end"),
        ]
    return parts


def _dot(x: float, y: float, record: Record) -> Element:
    knobs = ", ".join(f"{name} {value}" for name, value in record.knobs.items())
    told = f"{_ms(record.outcome.seconds)} ms: {record.sketch}; {knobs}"
    return element("circle", element("title", told), cx=x, cy=y, r=3, class_="compute")


def _failures(trials: Sequence[Record]) -> list[Element]:
    failed = [(str(r.outcome.failure), r.outcome.message) for r in trials if r.outcome.failure is not None]
    if not failed:
        return []
    first = dict(reversed(failed))
    rows = [[kind, str(count), first[kind]] for kind, count in Counter(kind for kind, _ in failed).most_common()]
    return [table(["failure", "trials", "the first one's message"], rows)]


def _winner(best: Record, default: Record) -> list[Element]:
    """The schedule, and how it differs from the default's."""
    changed = unified_diff(default.schedule.splitlines(), best.schedule.splitlines(), "default", "best", lineterm="")
    return [
        element("details", element("summary", f"The best schedule: {best.sketch}"), element("pre", best.schedule)),
        element("details", element("summary", "Its difference from the default"), element("pre", "\n".join(changed))),
    ]
