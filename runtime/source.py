"""What a module was compiled from: its program before any pass, and how its parameters come from weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import Array, are_equal

if TYPE_CHECKING:  # what runs with prepared parameters alone needs no compiler
    from xdsl.dialects.builtin import ModuleOp

Weights = Callable[[], Mapping[str, Array]]
"""Reads the weights of a model as they were given, by the names of parameters."""


@dataclass(frozen=True)
class Source:
    """What is kept of a program for people who look at its levels, and for saving its weights unprepared.

    program: the text of its module, targets included. precision, schedules: what the compilation was given; schedules
    are texts by `tuning_key`. prepare: the text of a module whose @prepare computes parameters of the code from
    weights. weights: None where only the computed parameters are known.
    """

    program: str
    precision: str = "default"
    schedules: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: str = ""
    weights: Weights | None = None

    def parameters_from(self, weights: Mapping[str, Array]) -> dict[str, Array]:
        """The weights, and all parameters that @prepare computes from them."""
        from tilework.interpreters.graph import defined_parameters

        return {**weights, **defined_parameters(parsed_prepare(self.prepare), weights)}

    def weights_of(self, parameters: Mapping[str, Array]) -> dict[str, Array]:
        """The weights that parameters were computed from, or are.

        Raises TileworkError where they are not known, or are no longer those that the parameters came from.
        """
        if self.weights is None:
            raise TileworkError(
                "the model's own weights are not known, only what was computed from them: the module was loaded from "
                "an artefact that is not compact; compile the model again"
            )
        weights = dict(self.weights())
        computed = self.parameters_from(weights)
        if not are_equal({name: computed[name] for name in parameters if name in computed}, parameters):
            raise TileworkError("the model has changed since it was compiled: compile it again")
        read = self._read()
        return {name: array for name, array in weights.items() if name in parameters or name in read}

    def _read(self) -> Set[str]:
        """The weights that @prepare reads."""
        from tilework.dialects.graph.structure import ParameterOp

        return {op.sym_name.data for op in parsed_prepare(self.prepare).walk() if isinstance(op, ParameterOp)}


def parsed_prepare(text: str) -> ModuleOp:
    """The module whose text is given: it computes parameters."""
    from tilework.dialects.support.registration import make_context
    from tilework.dialects.support.source_parser import SourceParser

    return SourceParser(make_context(), text, "prepare").parse_module()
