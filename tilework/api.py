"""compile and load, lower and build: the way from a model or a te schedule to something that can be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.given_values import integer_of, takes
from tilework.module import Module
from tilework.runtime.arrays import aligned
from tilework.runtime.source import Source
from tilework.runtime.threads import get_num_threads

if TYPE_CHECKING:  # the compiler takes 0.3 s to import, and running an artefact needs none of it
    from tilework.driver.instrumentation import Instrumentation
    from tilework.driver.session import Progress
    from tilework.frontends.onnx.given import Given
    from tilework.frontends.te.operator import Kernel
    from tilework.frontends.te.packed_function import PackedFunction
    from tilework.frontends.te.schedule import Schedule
    from tilework.frontends.te.tensor import Argument
    from tilework.frontends.te.text import LoweredModule
    from tilework.runtime.cache import KernelCache
    from tilework.runtime.function import Function
    from tilework.tuning.progress import Watcher
    from tilework.tuning.records import Records


def compile(  # noqa: A001  the name that users of other compilers look for
    model: Any,
    target: str | None = None,
    parameters: Mapping[str, NDArray[Any]] | None = None,
    cache: KernelCache | None = None,
    processes: int | None = None,
    instrumentations: Sequence[Instrumentation] = (),
    progress: Progress | None = None,
    precision: str = "default",
    kernels: Mapping[str, Kernel] | None = None,
    targets: Mapping[str, str] | None = None,
    records: str | PathLike[str] | Records | None = None,
) -> Module:
    """Compile a model to native code.

    model: the path of an ONNX file, its bytes, the open file, an `onnx.ModelProto`; or a module whose function @main is
    the model, or the path of an `.mlir` file with one, with its `parameters`. target: "llvm" for this machine, or as in
    "llvm -mcpu=haswell"; by default what a module itself says, else this machine. Compiled kernels are kept in `cache`
    (by default a folder of the user's). precision: "default" allows algorithms whose results differ by about 1e-5 of
    the largest and in which rows of a product meet, "strict" only those as accurate as a direct sum; both are for
    finite numbers, since an infinity or a NaN may reach results beside those that depend on it. "direct" computes every
    sum directly. kernels: what `tilework.kernel` made of functions of te, for operators of an ONNX model by domain and
    name, as in {"my.ops::Swish": swish}, or for the names in `graph.kernel`s of a module, as in {"swish": swish}.
    progress: is called with a phase, how much of it is done and how much there is; the logger "tilework" is told of
    each phase in any case.
    targets: in place of `target`, those of the host and of devices beside it, by names of one's own, as in
    {"host": "llvm", "npu0": "npu"}; what a device can run is put on it. records: a file that `tilework.tune` wrote:
    kernels for which it has a schedule that is faster than the default get that one; `report` of the module says which.
    An ONNX model in which the rank of a result depends on the values of inputs, or which takes sequences or optionals,
    is compiled at the first call with each of these values: a `SpecializedModule`.
    Raises TileworkError, in one line, for what cannot be compiled.
    """
    from tilework.analysis.precision import precision_of
    from tilework.driver.choose_targets import choose_targets
    from tilework.driver.compile_model import compile_module
    from tilework.driver.garbage import no_cyclic_gc
    from tilework.driver.ir_printer import PrintingOptions, ir_text
    from tilework.driver.pool import CompilePool
    from tilework.driver.session import Session, log_report, logged
    from tilework.frontends.model import read_file, read_model
    from tilework.runtime.cache import cache_for
    from tilework.targets import target_to_compile_for

    precision_of(precision)
    defined = _checked_kernels(kernels)
    _check_options(processes, instrumentations, progress)
    machines = {device: target_to_compile_for(text) for device, text in _given_targets(target, targets).items()}
    model = read_file(model)

    def compile_for(given: Given | None) -> Module:
        module, arrays = read_model(model, parameters, defined, given)
        choose_targets(module, machines)
        program, tuned = ir_text(module, PrintingOptions()), _tuned_in(records)
        with no_cyclic_gc(), CompilePool(processes) as pool:
            session = Session(cache_for(cache), pool, precision, instrumentations, logged(progress), tuned=tuned)
            compiled = compile_module(module, arrays, session)
        del arrays
        prepared = compiled.parameters  # one after the other, so that there are never two copies of all
        own = {name: aligned(prepared.pop(name)) for name in list(prepared)}
        others = {name: array for name, array in compiled.weights.items() if name not in own}
        source = Source(
            program, precision, tuned or {}, compiled.prepare, lambda: read_model(model, parameters, defined, given)[1]
        )
        result = Module(compiled.manifest, compiled.code.host, {**others, **own}, None, compiled.code.devices, source)
        result.report = compiled.report
        log_report(compiled.report)
        return result

    try:
        return compile_for(None)
    except TileworkError as error:
        specialized = _specialized(model, error, compile_for)
        if specialized is None:
            raise
        return specialized


def _specialized(model: Any, error: TileworkError, compile_for: Callable[[Given | None], Module]) -> Module | None:
    """What compiles an ONNX model at its first call, where an error says that it can be compiled for values alone."""
    from tilework.frontends.onnx.given import inputs_to_know

    names = inputs_to_know(error)
    if not names:
        return None
    from tilework.frontends.onnx.declared_inputs import declared_inputs
    from tilework.specialized import SpecializedModule

    specs, structured = declared_inputs(model)
    return SpecializedModule(specs, structured, names, compile_for)


def tune(
    program: Any,
    target: str | None = None,
    trials: int = 64,
    seconds: float = 60.0,
    records: str | PathLike[str] | None = None,
    seed: int = 0,
    rules: bool = True,
    schedule: Schedule | None = None,
    explorer: str = "genetic",
    model: str = "residual",
    precision: str = "default",
    parameters: Mapping[str, NDArray[Any]] | None = None,
    targets: Mapping[str, str] | None = None,
    watcher: Watcher | None = None,
    pool: str | None = None,
    device: str | None = None,
    tls: str | PathLike[str] | None = None,
) -> Any:
    """Search for fast schedules of a te program, or of the kernels of a model, by measuring candidates.

    program: the arguments of a te program in a list, results last, as for `build`, or a template (`tuning.template`)
    called with its arguments: the result is a `tuning.Tuned`. Or a model as `compile` takes it, with `precision`,
    `parameters`, `targets`: the result is a `Module`. trials, seconds: what the search may spend. records: a file of
    trials; the same search goes on where it ends, and `compile(model, records=...)` makes the module again. The first
    trial is the schedule of the target's rules, for a te program without `rules` no schedule; no result is slower.
    schedule: a schedule of the te program with knobs (`te.knob`), which alone are searched then; it is the first trial.
    explorer: "genetic", "random", "grid"; or guided by a `model`, "annealing", "evolutionary". model: "analytic",
    "trees", or both, "residual". watcher: is told of every trial. pool, device, tls: candidates are compiled and run in
    the pool at that address, on all devices of that name, for which the result is compiled unless a target is given;
    else on this machine. tls is the folder with the pool's certificates. Raises UsageError for a te program with
    symbolic sizes, and where the pool has no such device; TileworkError where no candidate could be measured, and where
    no device is left.
    """
    from tilework.tuning.budget import Budget
    from tilework.tuning.progress import Silent
    from tilework.tuning.records import Records
    from tilework.tuning.site import site_for
    from tilework.tuning.templates.template import TemplateProgram

    budget, kept, told = Budget.of(trials, seconds, seed, explorer, model), Records(records), watcher or Silent()
    if isinstance(program, list | tuple | TemplateProgram):
        from tilework.targets import target_to_compile_for
        from tilework.tuning.programs import tune_program

        with site_for(pool, device, tls) as site:
            machine = target_to_compile_for(target or site.target or "host")
            return tune_program(cast("Any", program), schedule, machine, budget, kept, rules, told, site)
    if not rules or schedule is not None:
        given = "rules=False" if not rules else "schedule="
        raise UsageError(f"{given} is for te programs: a model is lowered by the rules")
    from tilework.driver.choose_targets import choose_targets
    from tilework.frontends.model import read_model
    from tilework.targets import target_to_compile_for
    from tilework.tuning.networks import tasks_of_network, tune_all

    module, arrays = read_model(program, parameters, {})
    with site_for(pool, device, tls) as site:
        target = site.target if target is None and not targets else target
        machines = _given_targets(target, targets)
        choose_targets(module, {name: target_to_compile_for(text) for name, text in machines.items()})
        tune_all(tasks_of_network(module, arrays, precision, seed), budget, kept, told, site)
    return compile(program, target, parameters, precision=precision, targets=targets, records=kept)


def load(file: str | PathLike[str] | IO[bytes]) -> Module:
    """Read what `Module.save` wrote, from a path or an open file; nothing is compiled.

    Raises TileworkError for what is no artefact.
    """
    return Module.load(file)


def lower(
    s: Schedule, args: Sequence[Argument], name: str = "main", simple_mode: bool = False, target: str = "llvm"
) -> LoweredModule:
    """The loops of a te schedule; `print` writes them as `.mlir`.

    args: the tensors that the caller gives, results too, and te.vars that are numbers, in order. With `simple_mode` the
    loops are as the schedule says; without, as the backend for the target takes them: partitioned, vectorized; for a
    GPU, as what one thread does. Raises te.ScheduleError for a schedule that is refused, UsageError for arguments that
    are not those of the schedule.
    """
    from tilework.frontends.te import build as te_build

    return te_build.lower(s, args, name, simple_mode, target)


def build(
    s: Schedule,
    args: Sequence[Argument],
    target: str = "llvm",
    name: str = "default_function",
    cache: KernelCache | None = None,
    checked: bool = False,
) -> Function | PackedFunction:
    """Compile a te schedule to a function of arrays: `f(a, b, c)` for `args` [A, B, C], results among them.

    target: "llvm" for this machine, or as in "llvm -mcpu=haswell". The code is kept in `cache`, by default a folder of
    the user's. checked: let the function check what it reads and writes, also where data say where; out of bounds it
    raises TileworkError, at the cost of time. Without, such a read or write is undefined. Raises as `lower` does.
    """
    from tilework.frontends.te import build as te_build

    return te_build.build(s, args, target, name, cache, checked)


def _checked_kernels(given: object) -> Mapping[str, Kernel]:
    if given is None:
        return {}
    from tilework.frontends.te.operator import check_kernels  # te takes 0.1 s to import

    return check_kernels(given)


def _tuned_in(records: str | PathLike[str] | Records | None) -> Mapping[str, str] | None:
    """The schedules that searches ended with, for as many threads as are in use."""
    if records is None:
        return None
    from tilework.tuning.records import Records

    kept = records if isinstance(records, Records) else Records(records)
    return kept.best(get_num_threads())


def _given_targets(target: str | None, targets: object) -> Mapping[str, str]:
    """The target of each device for which one is given."""
    if target is not None and targets:
        raise UsageError('target= is what targets= says of the "host": give one of the two')
    if not isinstance(targets, Mapping | None):
        what = f"targets= takes a dictionary of targets by device, not a {type(targets).__name__}"
        raise UsageError(f'{what}; as in {{"host": "llvm", "npu0": "npu"}}')
    return cast("Mapping[str, str]", targets or {}) if target is None else {"host": target}


def _check_options(processes: object, instrumentations: object, progress: object) -> None:
    from tilework.driver.instrumentation import Instrumentation

    if processes is not None and (integer_of(processes) or 0) < 1:
        raise UsageError(f"processes={processes!r}: the number of processes is a positive integer")
    if not isinstance(instrumentations, list | tuple):
        raise UsageError(f"instrumentations= takes a list, not a {type(instrumentations).__name__}")
    for value in cast("Sequence[object]", instrumentations):
        if not isinstance(value, Instrumentation):
            raise UsageError(f"instrumentations= takes a list of Instrumentations, not of a {type(value).__name__}")
    if progress is not None and not (callable(progress) and takes(progress, 3)):
        raise UsageError(f"progress= takes a function of a text and two numbers, not a {type(progress).__name__}")
