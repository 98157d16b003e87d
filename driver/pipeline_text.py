"""Pipelines as text, in MLIR's grammar: `builtin.module(func.func(cse,graph-x{a=1 b=2,3}),graph-to-te)`.

    pipeline ::= element (`,` element)*
    element  ::= operation-name `(` pipeline? `)` | pass-name (`{` option* `}`)?
    option   ::= key (`=` value (`,` value)*)?          options are separated by spaces
    value    ::= word | "quoted text"

The operation-name `any` is that of all operations that use nothing of what is around them. A bare list stands in a
`builtin.module`. A named pipeline is written like a pass and stands for its passes; an option
of it is given to all of them that have one of that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilework.algebra.errors import did_you_mean
from tilework.dialects.support.diagnostics import UsageError
from tilework.dialects.support.source_parser import unknown_operation
from tilework.driver.pass_manager import ANY, Pipeline
from tilework.driver.pass_options import make_pass, pass_text, pipeline_with_texts

Made = TypeVar("Made")
PassFactory = Callable[[], type[ModulePass]]

SPACE = re.compile(r"\s*")
NAME = re.compile(r"[A-Za-z0-9_][\w.-]*")
VALUE = re.compile(r"\"(?:\\[\"\\]|[^\"\\])*\"|[^\s{},=()\"']+")
ESCAPED = re.compile(r"\\([\"\\])")


class PipelineError(UsageError):
    """A pipeline text that cannot be read: `position` counts characters of `text` from 0."""

    def __init__(self, message: str, text: str, position: int):
        super().__init__(message)
        self.text = text
        self.position = position


def parse_pipeline(
    text: str,
    passes: Mapping[str, PassFactory],
    named: Mapping[str, Sequence[ModulePass]] | None = None,
    operations: Context | None = None,
) -> Pipeline:
    """The pipeline that `text` says, over `builtin.module`.

    `passes` gives the class of every registered pass, `named` the named pipelines, `operations` those that may be
    anchors (any, where it is not given). Raises a PipelineError.
    """
    return _PipelineParser(text, passes, named or {}, operations).parse()


def pipeline_text(pipeline: Pipeline) -> str:
    """A pipeline as text that parses back to it."""
    steps = (pipeline_text(step) if isinstance(step, Pipeline) else pass_text(step) for step in pipeline.steps)
    return f"{pipeline.anchor}({','.join(steps)})"


class _PipelineParser:
    def __init__(
        self,
        text: str,
        passes: Mapping[str, PassFactory],
        named: Mapping[str, Sequence[ModulePass]],
        operations: Context | None,
    ):
        self.text = text
        self.passes = passes
        self.named = named
        self.operations = operations
        self.position = 0

    def parse(self) -> Pipeline:
        steps = self._steps(closed_by="")
        if len(steps) == 1 and isinstance(steps[0], Pipeline) and steps[0].anchor in (ModuleOp.name, ANY):
            return steps[0]
        return Pipeline(ModuleOp.name, steps)

    def _steps(self, closed_by: str) -> tuple[ModulePass | Pipeline, ...]:
        """The elements up to the character `closed_by`, or to the end of the text where that is empty."""
        steps: list[ModulePass | Pipeline] = []
        if self._at(closed_by):
            return ()
        while True:
            steps.extend(self._element())
            if self._at(closed_by):
                return tuple(steps)
            self._expect(",", f"expected ',' or {repr(closed_by) if closed_by else 'the end'} after a pass")

    def _element(self) -> Sequence[ModulePass | Pipeline]:
        start, name = self._match(NAME, "expected the name of a pass or operation")
        if self._accept("("):
            if name != ANY and self.operations is not None and self.operations.get_optional_op(name) is None:
                raise PipelineError(unknown_operation(self.operations, name), self.text, start)
            return (Pipeline(name, self._steps(closed_by=")")),)
        options = self._options() if self._accept("{") else {}
        if name in self.passes:
            return (self._at_start(start, lambda: make_pass(self.passes[name](), options)),)
        if name not in self.named:
            raise PipelineError(self._unknown(name), self.text, start)
        return self._at_start(start, lambda: pipeline_with_texts(name, self.named[name], options))

    def _at_start(self, start: int, make: Callable[[], Made]) -> Made:
        """What `make` makes; the place of its error is where the element starts."""
        try:
            return make()
        except UsageError as error:
            raise PipelineError(str(error), self.text, start) from None

    def _options(self) -> dict[str, list[str]]:
        options: dict[str, list[str]] = {}
        while not self._accept("}"):
            start, key = self._match(NAME, "expected an option or '}'")
            if key in options:
                raise PipelineError(f"option '{key}' is given twice", self.text, start)
            options[key] = []
            more = self._accept("=")
            while more:
                options[key].append(self._value())
                more = self._accept(",")
        return options

    def _value(self) -> str:
        _, word = self._match(VALUE, "expected a value")
        return ESCAPED.sub(r"\1", word[1:-1]) if word.startswith('"') else word

    def _unknown(self, name: str) -> str:
        hint = did_you_mean(name, [*self.passes, *self.named])
        return f"'{name}' does not refer to a registered pass or pipeline{hint}"

    def _match(self, pattern: re.Pattern[str], otherwise: str) -> tuple[int, str]:
        start = self._skip_space()
        found = pattern.match(self.text, start)
        if found is None:
            raise PipelineError(otherwise, self.text, start)
        self.position = found.end()
        return start, found.group()

    def _at(self, character: str) -> bool:
        """Take `character`, or see the end of the text where it is empty."""
        return self._accept(character) if character else self._skip_space() == len(self.text)

    def _accept(self, character: str) -> bool:
        start = self._skip_space()
        if not self.text.startswith(character, start):
            return False
        self.position = start + len(character)
        return True

    def _expect(self, character: str, otherwise: str) -> None:
        if not self._accept(character):
            raise PipelineError(otherwise, self.text, self.position)

    def _skip_space(self) -> int:
        found = SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position
        return self.position
