"""Search for fast schedules of a model's kernels, and keep what was measured in a file of records."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.precision import PRECISIONS
from tilework.analysis.program_targets import HOST
from tilework.api import tune
from tilework.driver.choose_targets import choose_targets
from tilework.driver.read_program import level_of
from tilework.frontends.onnx.importer import ImportedModel
from tilework.frontends.te.text import module_text
from tilework.runtime.module import Module
from tilework.runtime.threads import set_num_threads
from tilework.targets import target_to_compile_for
from tilework.tools.files import check_writable
from tilework.tools.model_source import import_model, title_of
from tilework.tools.target_option import add_target_option, targets_by_device
from tilework.tools.tuning_progress import SearchProgress, search_table, shown_search
from tilework.tuning.budget import EXPLORER, MODEL, Budget
from tilework.tuning.measuring.base import Site
from tilework.tuning.networks import tasks_of_kernels, tune_all
from tilework.tuning.records import Records, merge_records
from tilework.tuning.site import site_for
from tilework.tuning.text import schedule_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework tune`."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="an ONNX file, an .mlir file, light:NAME or net:NAME")
    parser.add_argument("--records", metavar="FILE", help="where trials are kept; the same command goes on there")
    parser.add_argument("--trials", type=int, default=500, metavar="N", help="how many in all; by default 500")
    parser.add_argument("--seconds", type=float, default=600.0, metavar="S", help="how long at most; by default 600")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance; by default 0")
    parser.add_argument("--explorer", default=EXPLORER, help=f"what chooses candidates; by default {EXPLORER}")
    parser.add_argument("--cost-model", dest="model_name", default=MODEL, help=f"what ranks them; by default {MODEL}")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that kernels may use; else physical cores")
    parser.add_argument("--precision", default="default", choices=PRECISIONS, help="as for tilework compile")
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        help="write there the tuned model, as an artefact; of kernels without @main, the module with their schedules",
    )
    parser.add_argument(
        "--sketches", action="store_true", help="print the schedules with knobs that are searched, and measure nothing"
    )
    parser.add_argument(
        "--merge", nargs="+", metavar="FILE", help="add what these files of records have to --records, and end"
    )
    parser.add_argument("--pool", metavar="ADDRESS", help="compile and run candidates in a pool; see docs/pool.md")
    parser.add_argument("--device", metavar="NAME", help="of the pool: what runs candidates, and is tuned for")
    parser.add_argument("--tls", metavar="DIR", help="the folder with the pool's certificates")
    add_target_option(parser, 'what to tune for; by default what an .mlir file says, else "llvm"')


def run(options: argparse.Namespace) -> int:
    """Tune, print a table of kernels, perhaps write the artefact; or merge records."""
    if options.merge is not None:
        return _merge(options)
    if options.model is None:
        raise UsageError("give the model to tune, or --merge and files of records")
    if options.output is not None:
        check_writable(Path(options.output))
    if options.threads is not None:
        set_num_threads(options.threads)
    title = title_of(options.model)
    imported = import_model(options.model)
    if level_of(imported.module) == "kernels":
        return _tune_kernels(options, imported.module, title)
    with shown_search(title, options.trials, options.seconds) as progress:
        module = _tuned(options, imported, progress)
    for line in search_table(progress.searches, progress.weights):
        print(line)
    if module.report is not None:
        _say_what_was_used(module.report.tuned, module.report.untuned)
    if options.output is not None:
        module.save(options.output)
    return 0


def _tuned(options: argparse.Namespace, imported: ImportedModel, progress: SearchProgress) -> Module:
    return tune(
        imported.module,
        None,
        options.trials,
        options.seconds,
        options.records,
        options.seed,
        explorer=options.explorer,
        model=options.model_name,
        precision=options.precision,
        parameters=imported.parameters,
        targets=targets_by_device(options.targets),
        watcher=progress,
        pool=options.pool,
        device=options.device,
        tls=options.tls,
    )


def _tune_kernels(options: argparse.Namespace, module: ModuleOp, title: str) -> int:
    """Print, or with -o write, the kernels with the schedules that were found, or with --sketches those to search."""
    with site_for(options.pool, options.device, options.tls) as site:
        return _tune_kernels_on(site, options, module, title)


def _tune_kernels_on(site: Site, options: argparse.Namespace, module: ModuleOp, title: str) -> int:
    targets = targets_by_device(options.targets) or ({HOST: site.target} if site.target else {})
    choose_targets(module, {device: target_to_compile_for(text) for device, text in targets.items()})
    tasks = tasks_of_kernels(module, options.seed)
    if options.sketches:
        for task in tasks:
            for sketch in task.space().sketches:
                print(f"// {sketch.name}\n{schedule_text(sketch.sequence)}")
        return 0
    chosen = options.explorer, options.model_name
    budget = Budget.of(options.trials, options.seconds, options.seed, *chosen)
    with shown_search(title, options.trials, options.seconds) as progress:
        searches = tune_all(tasks, budget, Records(options.records), progress, site)
    for line in search_table(searches, list(tasks.values())):
        print(line, file=sys.stderr)
    for search in searches:
        if search.winner is not None:
            if search.task.own is not None:
                search.task.own.detach()
            module.body.block.insert_op_after(search.winner.schedule.clone(), search.task.kernel)
    if options.output is None:
        print(module_text(module), end="")
    else:
        Path(options.output).write_text(module_text(module), encoding="utf-8")
    return 0


def _merge(options: argparse.Namespace) -> int:
    if options.records is None:
        raise UsageError("--merge adds to the file of --records: give one")
    files = [Path(file) for file in options.merge]
    if missing := [file for file in files if not file.exists()]:
        raise TileworkError(f"cannot read {missing[0]}: there is no such file")
    count = merge_records(files, Path(options.records))
    print(f"{count} record{'' if count == 1 else 's'} added to {options.records}")
    return 0


def _say_what_was_used(tuned: list[str], untuned: list[str]) -> None:
    total = len(tuned) + len(untuned)
    names = ", ".join(tuned) or "none"
    print(f"{len(tuned)} of {total} kernels have a schedule that is faster than the default: {names}")
