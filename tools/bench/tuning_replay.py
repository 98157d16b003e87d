"""How many trials each explorer needs: searches replayed over recorded trials, and the same searches live.

    python -m tilework.tools.bench.tuning_replay collect FOLDER [--trials 800]
    python -m tilework.tools.bench.tuning_replay replay FOLDER [--trials 200] [--seeds 12] [--json FILE]
    python -m tilework.tools.bench.tuning_replay live FOLDER --kernels gemm [--trials 200] [--seeds 12] [--json FILE]
    python -m tilework.tools.bench.tuning_replay publish FOLDER --json FILE

`collect` measures random candidates of six kernels, each into a file of records, on one thread. `replay` lets explorers
search among these candidates alone: what they propose is the record that is nearest to it. `live` lets them measure
what they propose, and keeps the records in the folder. `publish` writes the table and the plot of `docs/tuning.md` into
a folder, from what `replay` wrote and, where `--live` names it, of what `live` wrote.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilework.api import tune
from tilework.runtime.threads import set_num_threads
from tilework.targets import parse_target
from tilework.tools.bench.tuning_programs import PROGRAMS
from tilework.tools.report.searches_plot import searches_plot
from tilework.tools.report.threads_plot import svg_text
from tilework.tuning.budget import MODEL
from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.registry import explorer_named
from tilework.tuning.models.registry import model_named
from tilework.tuning.programs import kernel_of
from tilework.tuning.ranker import Ranker
from tilework.tuning.records import DEFAULT, Record, read_records
from tilework.tuning.search import BATCH
from tilework.tuning.space import Space
from tilework.tuning.task import Task

KERNELS = ("gemm", "gemm, transposed", "conv 3x3", "depthwise", "softmax", "batched products")
"""What trials are recorded of."""

Searches: TypeAlias = Mapping[str, tuple[str, str | None]]

SEARCHES: Searches = {
    "random": ("random", None),
    "genetic": ("genetic", None),
    "annealing, trees": ("annealing", "trees"),
    "evolutionary, residual": ("evolutionary", "residual"),
}
"""Explorers, each with the model that guides it."""

MARKS = (16, 64, 200)
"""After so many trials the best so far is told."""

NEAR = (0.95, 0.98)
"""Parts of the best speed in the records: how many trials it takes to reach them is told."""


class RecordedSpace(Space):
    """A space of which only what is recorded can be measured. seconds: of each candidate; None for a failure."""

    def __init__(self, space: Space, seconds: Mapping[Candidate, float | None]):
        super().__init__(space.sketches)
        self.seconds = seconds
        self._all = list(seconds)
        self._of = {n: [c for c in self._all if c.sketch == n] for n in range(len(self.sketches))}
        self._values = {n: np.array([c.values for c in of], np.int64) for n, of in self._of.items()}

    def draw(self, rng: Random) -> Candidate:
        return rng.choice(self._all)

    def draw_from(self, sketch: int, rng: Random) -> Candidate | None:
        return rng.choice(self._of[sketch]) if self._of[sketch] else None

    def mutated(self, candidate: Candidate, rng: Random) -> Candidate:
        return self._nearest(super().mutated(candidate, rng), rng)

    def crossed(self, one: Candidate, other: Candidate, rng: Random) -> Candidate:
        return self._nearest(super().crossed(one, other, rng), rng)

    def _nearest(self, candidate: Candidate, rng: Random) -> Candidate:
        """One of the records of a sketch that have most values in common with a candidate, the candidate apart."""
        if candidate in self.seconds:
            return candidate
        distances: NDArray[np.int64] = (self._values[candidate.sketch] != candidate.values).sum(axis=1)
        return self._of[candidate.sketch][int(rng.choice(np.flatnonzero(distances == distances.min())))]


@dataclass(frozen=True)
class Recorded:
    """A kernel with its records."""

    task: Task
    space: RecordedSpace
    default: float
    ranker: Ranker


def recorded(name: str, folder: Path) -> Recorded:
    """The records of a kernel in a folder, whatever compiler made them."""
    records = [r for r in read_records(_file(folder, name)) if r.default_seconds is None]
    kernel = kernel_of(PROGRAMS[name](), None)[0]
    task = Task(kernel, parse_target(records[0].target))
    space = task.space()
    seconds = {c: r.outcome.seconds for r in records if (c := _candidate(space, r)) is not None}
    [default] = [r.outcome.seconds for r in records if r.sketch == DEFAULT]
    assert default is not None
    found = RecordedSpace(space, seconds)
    return Recorded(task, found, default, Ranker(task, found, model_named(MODEL, task.target)))


def _candidate(space: Space, record: Record) -> Candidate | None:
    return None if record.sketch == DEFAULT else space.candidate(record.sketch, record.knobs)


def replay(what: Recorded, explorer: str, model: str | None, seed: int, trials: int) -> list[float]:
    """The best seconds after each trial."""
    rng = Random(seed)
    ranker = None if model is None else what.ranker.untaught(model_named(model, what.task.target))
    search = explorer_named(explorer)(what.space, rng, ranker)
    history: dict[Candidate, float | None] = {}
    curve: list[float] = []
    while len(curve) < trials:
        if ranker is not None:
            ranker.learn(history)
        batch = search.propose(BATCH, history)
        if not batch:
            break
        for candidate in batch:
            history[candidate] = seconds = what.space.seconds[candidate]
            curve.append(min(curve[-1] if curve else float("inf"), float("inf") if seconds is None else seconds))
    return curve[:trials]


def _until(curve: Sequence[float], seconds: float) -> int:
    """After how many trials the best is no slower; one more than there are, where it never is."""
    return next((n for n, best in enumerate(curve, 1) if best <= seconds), len(curve) + 1)


def searched(name: str, folder: Path, explorer: str, model: str | None, seed: int, trials: int) -> list[float]:
    """The best seconds after each trial of a search that runs here, as parts of those of the rule's schedule."""
    records = _file(folder, f"{name}, {explorer}, {seed}")
    tuned = tune(
        PROGRAMS[name](),
        None,
        trials + 1,
        86400,
        records,
        seed,
        explorer=explorer,
        model=MODEL if model is None else model,
    )
    default, *others = (inf if trial.seconds is None else trial.seconds for trial in tuned.trials)
    return list(accumulate((seconds / default for seconds in others), min))


def summary(default: float, least: float, curves: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, Any]:
    """The medians over seeds of each search: trials to the rule's speed and to the best, the best at the marks.

    default: the seconds of the rule's schedule; least: those of the best candidate.
    """
    found: dict[str, Any] = {}
    for name, of_seeds in curves.items():
        found[name] = {
            "to rule": median(_until(curve, default) for curve in of_seeds),
            **{f"to {part:.0%}": median(_until(curve, least / part) for curve in of_seeds) for part in NEAR},
            **{f"at {n}": median(least / curve[min(n, len(curve)) - 1] for curve in of_seeds) for n in MARKS},
        }
    return {"rule": least / default, "searches": found, "curves": {t: _thinned(c, least) for t, c in curves.items()}}


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl"


def _collect(folder: Path, kernels: Sequence[str], trials: int) -> None:
    set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for name in kernels:
        tuned = tune(PROGRAMS[name](), trials=trials + 1, seconds=86400, records=_file(folder, name), explorer="random")
        print(f"{name}: {len(tuned.trials)} trials", flush=True)


def _replay(
    folder: Path, kernels: Sequence[str], searches: Searches, seeds: int, trials: int, file: Path | None
) -> None:
    found: dict[str, Any] = {}
    for name in kernels:
        what = recorded(name, folder)
        curves = {
            title: [replay(what, explorer, model, seed, trials) for seed in range(seeds)]
            for title, (explorer, model) in searches.items()
        }
        least = min(s for s in what.space.seconds.values() if s is not None)
        found[name] = summary(what.default, least, curves)
        _tell(name, f"{len(what.space.seconds)} candidates", found, file)


def _live(folder: Path, kernels: Sequence[str], searches: Searches, seeds: int, trials: int, file: Path | None) -> None:
    set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for name in kernels:
        curves = {
            title: [searched(name, folder, explorer, model, seed, trials) for seed in range(seeds)]
            for title, (explorer, model) in searches.items()
        }
        found[name] = summary(1.0, min(curve[-1] for of_seeds in curves.values() for curve in of_seeds), curves)
        _tell(name, f"{seeds} searches of {trials} trials", found, file)


def _tell(name: str, what: str, found: Mapping[str, Any], file: Path | None) -> None:
    print(f"{name}: {what}; the rule has {found[name]['rule']:.2f} of the best")
    for title, numbers in found[name]["searches"].items():
        print(f"  {title:24}", ", ".join(f"{key} {value:.3g}" for key, value in numbers.items()), flush=True)
    if file is not None:
        file.write_text(json.dumps(found), encoding="utf-8")


def _thinned(curves: Sequence[Sequence[float]], least: float) -> list[float]:
    """The median over seeds of the best so far, as a part of the best of all, after every batch."""
    length = min(map(len, curves))
    return [median(least / curve[n] for curve in curves) for n in range(BATCH - 1, length, BATCH)]


def _publish(folder: Path, file: Path, live: Path | None) -> None:
    found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    tables = [_table("replay", found)]
    if live is not None:
        tables.append(_table("live", json.loads(live.read_text(encoding="utf-8"))))
    (folder / "tuning.json").write_text(json.dumps({"tables": tables}, indent=1) + "\n", encoding="utf-8")
    titles = next(iter(found.values()))["curves"]
    curves = {title: _mean_curve([of["curves"][title] for of in found.values()]) for title in titles}
    (folder / "tuning-searches.svg").write_text(svg_text(searches_plot(curves, BATCH)), encoding="utf-8")


def _table(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """A table of results, as pages show them."""
    rows: list[list[str]] = []
    for kernel, of in found.items():
        for title, numbers in of["searches"].items():
            parts = [f"{numbers[key]:.0f}" for key in ("to rule", "to 95%", "to 98%")]
            rows.append([kernel, title, *parts, *(f"{numbers[f'at {n}']:.3f}" for n in MARKS)])
    columns = ["kernel", "search", "to the rule's speed", "to 95 %", "to 98 %", *(f"after {n}" for n in MARKS)]
    about = "Trials to a speed, and parts of the best speed."
    return {"id": name, "about": about, "columns": columns, "rows": rows}


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """The geometric means over kernels."""
    return [geometric_mean(parts) for parts in zip(*curves, strict=False)]


def main() -> None:
    """Collect records, or replay searches over them."""
    parser = argparse.ArgumentParser(description="how many trials searches take")
    parser.add_argument("command", choices=["collect", "replay", "live", "publish"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", nargs="+", default=KERNELS, choices=KERNELS, metavar="NAME")
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=list(SEARCHES), metavar="NAME")
    parser.add_argument("--trials", type=int, help="by default 800 to collect, 200 to replay")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--live", type=Path, metavar="JSON", help="what live wrote, to publish")
    options = parser.parse_args()
    searches = {name: SEARCHES[name] for name in options.searches}
    given = options.folder, options.kernels, searches, options.seeds, options.trials or 200, options.json
    commands: Mapping[str, Callable[[], None]] = {
        "collect": lambda: _collect(options.folder, options.kernels, options.trials or 800),
        "replay": lambda: _replay(*given),
        "live": lambda: _live(*given),
        "publish": lambda: _publish(options.folder, options.json, options.live),
    }
    commands[options.command]()


if __name__ == "__main__":
    main()
