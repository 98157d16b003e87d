"""`tuning.template`: a function from arguments to a schedule and its tensors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, cast

from tilework.algebra.errors import UsageError
from tilework.dialects.schedule import SequenceOp
from tilework.frontends.te.schedule import Schedule
from tilework.frontends.te.tensor import Tensor
from tilework.tuning.candidate import Candidate
from tilework.tuning.sketches.base import Sketch
from tilework.tuning.space import Knobs, Space
from tilework.tuning.templates.config import Config
from tilework.tuning.templates.entities import Split

Made = tuple[Schedule, Sequence[Tensor]]

_current: ContextVar[Config | None] = ContextVar("tilework_template", default=None)


def get_config() -> Config:
    """The configuration that the running template asks. Raises UsageError outside of a template."""
    config = _current.get()
    if config is None:
        raise UsageError("get_config belongs into a function that tuning.template is applied to")
    return config


def template_of(function: Callable[..., Made], arguments: Sequence[Any]) -> Made:
    """What a template's function makes, in the configuration that is running, else with the first of all choices."""
    if _current.get() is not None:
        return function(*arguments)
    return TemplateProgram(function, tuple(arguments)).instantiate(Config())


def template(function: Callable[..., Made]) -> Callable[..., TemplateProgram]:
    """Make of a function, which returns a schedule and its tensors, what makes programs for `tilework.tune`."""

    def program(*arguments: Any) -> TemplateProgram:
        return TemplateProgram(function, arguments)

    program.__doc__ = function.__doc__
    return program


class TemplateProgram:
    """A template for arguments, such as sizes."""

    def __init__(self, function: Callable[..., Made], arguments: tuple[Any, ...]):
        self.name = getattr(function, "__name__", "template")
        self._function, self._arguments = function, arguments

    def instantiate(self, config: Config) -> Made:
        """The schedule in a configuration. Raises what the function raises, InstantiationError for a refusal."""
        with _running(config):
            made = self._function(*self._arguments)
        match cast("object", made):
            case (Schedule(), list() | tuple()):
                return made
            case _:
                raise UsageError(f"the template {self.name} returns a schedule and a list of tensors, as in AutoTVM")


class TemplateSpace(Space):
    """The configurations of a template; a knob's value is the number of the entity that is chosen."""

    def __init__(self, program: TemplateProgram, sequence: SequenceOp, config: Config):
        super().__init__([Sketch(program.name, sequence)])
        self._program = program
        self._options = config.options

    @cached_property
    def knobs(self) -> tuple[Knobs, ...]:
        """One set: what the template has defined."""
        counts = tuple(tuple(range(len(options))) for options in self._options.values())
        return (Knobs(tuple(self._options), counts, ()),)

    def numbers(self, candidate: Candidate) -> list[float]:
        """What is chosen, as numbers: for each part of a split its size, for all else which choice it is."""
        found: list[float] = []
        for number, options in zip(candidate.values, self._options.values(), strict=True):
            entity = options[number]
            found += map(float, entity.size) if isinstance(entity, Split) else [float(number)]
        return found

    def schedule(self, candidate: Candidate) -> SequenceOp:
        """What the function makes in the candidate's configuration."""
        s, tensors = self._program.instantiate(Config(dict(self.values(candidate))))
        [sequence] = (op for op in s.module("main", list(tensors)).ops if isinstance(op, SequenceOp))
        sequence.detach()
        return sequence


@contextmanager
def _running(config: Config) -> Generator[None]:
    token = _current.set(config)
    try:
        yield
    finally:
        _current.reset(token)
