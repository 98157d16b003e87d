"""Templates that are tuned, by AutoTVM's names, over `tilework.tuning`.

@autotvm.template("matmul")
def matmul(n): ...; cfg = autotvm.get_config(); cfg.define_split("tile_y", y, num_outputs=2); ...; return s, [A, B, C]

task = autotvm.task.create("matmul", args=(512,), target="llvm")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tilework import api
from tilework.algebra.errors import UsageError, did_you_mean
from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.target import Target
from tilework.tuning.templates.config import Config, InstantiationError
from tilework.tuning.templates.template import TemplateProgram, get_config, template_of
from tilework.tuning.templates.template import template as _template

ConfigEntity = ConfigSpace = Config
_templates: dict[str, Callable[..., TemplateProgram]] = {}


def template(task_name: str | Callable[..., Any]) -> Any:
    """Let a function, which returns a schedule and its tensors, be tuned under a name; a decorator.

    Called inside of `ApplyHistoryBest`, or of another template, it is the function itself.
    """
    if callable(task_name):
        return template(task_name.__name__)(task_name)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if task_name in _templates:
            raise UsageError(f"there is a template '{task_name}' already: choose another name")
        _templates[task_name] = _template(function)
        return lambda *args: template_of(function, args)  # pyright: ignore[reportUnknownLambdaType]

    return decorate


register_workload = template


@dataclass(frozen=True)
class Task:
    """A template for arguments, on a target."""

    name: str
    program: TemplateProgram
    target: str

    @property
    def config_space(self) -> Config:
        """What the template defines."""
        config = Config()
        self.program.instantiate(config)
        return config


class task:  # noqa: N801  a module of TVM
    """What is tuned."""

    @staticmethod
    def create(task_name: str, args: Sequence[Any], target: Any, target_host: Any = None) -> Task:
        """A template by name for arguments. Raises TVMError for a name that none has."""
        if task_name not in _templates:
            raise UsageError(f"there is no template '{task_name}'{did_you_mean(task_name, _templates)}")
        return Task(task_name, _templates[task_name](*args), Target(target).text)


class _Tuner:
    """Searches by measuring on this machine."""

    explorer = "random"

    def __init__(self, task: Task, **options: Any):
        self.task = task
        self.best: Any = None

    def tune(
        self, n_trial: int, measure_option: Any = None, early_stopping: Any = None, callbacks: Sequence[Any] = ()
    ) -> Any:
        """Measure so many configurations; the result has the best function and schedule.

        A callback that `callback.log_to_file` makes names a file of records; others are refused.
        """
        files = [one.path for one in callbacks if isinstance(one, _LogToFile)]
        if len(files) != len(callbacks) or len(files) > 1:
            refused("autotvm tuner callbacks", "give callback.log_to_file(path), or none")()
        self.best = api.tune(
            self.task.program,
            self.task.target,
            trials=n_trial,
            seconds=float("1e9"),
            records=files[0] if files else None,
            rules=False,
            explorer=self.explorer,
        )
        return self.best


class RandomTuner(_Tuner):
    """Configurations at random."""


class GridSearchTuner(_Tuner):
    """Configurations one after the other."""

    explorer = "grid"


class GATuner(_Tuner):
    """A genetic algorithm."""

    explorer = "genetic"


class XGBTuner(_Tuner):
    """Configurations that a learned model prefers."""

    explorer = "annealing"


class tuner:  # noqa: N801  a module of TVM
    """The ways to search."""

    RandomTuner = RandomTuner
    GridSearchTuner = GridSearchTuner
    GATuner = GATuner
    XGBTuner = XGBTuner


@dataclass(frozen=True)
class _LogToFile:
    path: str


class callback:  # noqa: N801  a module of TVM
    """What a tuner tells."""

    @staticmethod
    def log_to_file(file_out: str) -> _LogToFile:
        """Trials are kept in a file of records, from which the same search goes on."""
        return _LogToFile(file_out)


def LocalBuilder(**options: Any) -> None:  # noqa: N802  TVM's name
    """Candidates are compiled on this machine; options are TVM's."""


def LocalRunner(**options: Any) -> None:  # noqa: N802
    """Candidates are run on this machine; options are TVM's."""


def measure_option(builder: Any = None, runner: Any = None) -> None:
    """How candidates are measured: on this machine."""


RPCRunner = refused("autotvm.RPCRunner", "tilework.tune(..., pool=, device=) measures on other machines")
apply_history_best = refused(
    "autotvm.apply_history_best", "the tuner's tune() returns the best function; tilework.compile takes records="
)

__all__ = [
    "ConfigEntity",
    "ConfigSpace",
    "GATuner",
    "GridSearchTuner",
    "InstantiationError",
    "LocalBuilder",
    "LocalRunner",
    "RPCRunner",
    "RandomTuner",
    "Task",
    "XGBTuner",
    "apply_history_best",
    "callback",
    "get_config",
    "measure_option",
    "register_workload",
    "task",
    "template",
    "tuner",
]
