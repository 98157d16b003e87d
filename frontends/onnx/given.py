"""What a model is imported for, where its inputs decide about more than numbers: values, and what sequences consist of.

The rank of a result may depend on the value of an input, as on the axes of a reduction. What is imported then is the
model for that value, which is no input any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.algebra.errors import TileworkError
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.frontends.onnx.values import Array
from tilework.runtime.given_inputs import Form

SMALL = 32
"""How many numbers an input may have at most whose value a model is compiled for, where they are no integers."""


@dataclass(frozen=True)
class Given:
    """The values of some inputs, and the forms of sequences and optionals among them, by the names of inputs."""

    values: Mapping[str, Array] = field(default_factory=dict[str, Array])
    forms: Mapping[str, Form] = field(default_factory=dict[str, Form])


class DependsOnInputs(TileworkError):
    """A model cannot be imported as it is, but for certain values of these inputs, or sequences of a certain form."""

    def __init__(self, message: str, names: frozenset[str]):
        super().__init__(message)
        self.names = names


def inputs_to_know(error: BaseException | None) -> frozenset[str]:
    """The inputs of which more has to be known, as an error or one that it was made of says; none for another one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, DependsOnInputs):
            return error.names
        seen.add(id(error))  # an error that is raised again may be its own cause
        error = error.__cause__
    return frozenset()


def arguments_read(value: SSAValue) -> Iterator[BlockArgument]:
    """The arguments of functions that a value is computed from, those that operators around it are given too."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        read = pending.pop()
        if read in seen:
            continue
        seen.add(read)
        if isinstance(read, BlockArgument):
            around = read.block.parent_op()
            pending += around.operands if around is not None else ()
            yield read
        else:
            assert isinstance(read.owner, Operation)
            pending += read.owner.operands


def may_be_known(argument: SSAValue) -> bool:
    """Whether a model may be compiled for each value of an input: integers and truths, or few other numbers."""
    sizes = [d.constant for d in dims_of(argument.type)]
    few = None not in sizes and int(np.prod([n for n in sizes if n is not None])) <= SMALL
    return few or isinstance(element_type(argument.type), IntegerType)
