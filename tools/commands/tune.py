"""Search for fast schedules of a model's kernels, and keep what was measured in a file of records."""

from __future__ import annotations

import argparse
from pathlib import Path

from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.precision import PRECISIONS
from tilework.api import tune
from tilework.runtime.threads import set_num_threads
from tilework.tools.files import check_writable
from tilework.tools.model_source import import_model, title_of
from tilework.tools.target_option import add_target_option, targets_by_device
from tilework.tools.tuning_progress import SearchProgress, search_table, shown_search
from tilework.tuning.records import merge_records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework tune`."""
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="an ONNX file, an .mlir file with @main, light:NAME or net:NAME"
    )
    parser.add_argument("--records", metavar="FILE", help="where trials are kept; the same command goes on there")
    parser.add_argument("--trials", type=int, default=500, metavar="N", help="how many in all; by default 500")
    parser.add_argument("--seconds", type=float, default=600.0, metavar="S", help="how long at most; by default 600")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance; by default 0")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that kernels may use; else physical cores")
    parser.add_argument("--precision", default="default", choices=PRECISIONS, help="as for tilework compile")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write the tuned model there, as an artefact")
    parser.add_argument(
        "--merge", nargs="+", metavar="FILE", help="add what these files of records have to --records, and end"
    )
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
    with shown_search(title, options.trials, options.seconds) as progress:
        module = _tuned(options, progress)
    for line in search_table(progress.searches, progress.weights):
        print(line)
    _say_what_was_used(module.report.tuned, module.report.untuned)
    if options.output is not None:
        module.save(options.output)
    return 0


def _tuned(options: argparse.Namespace, progress: SearchProgress):
    imported = import_model(options.model)
    try:
        return tune(
            imported.module,
            None,
            options.trials,
            options.seconds,
            options.records,
            options.seed,
            precision=options.precision,
            parameters=imported.parameters,
            targets=targets_by_device(options.targets),
            watcher=progress,
        )
    except KeyboardInterrupt:
        for line in search_table(progress.searches, progress.weights):
            print(line)
        raise


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
    print(f"{len(tuned)} of {total} kernels have a schedule that is faster than the default: {', '.join(tuned) or 'none'}")
