"""Features that scikit-learn makes sparse: what of them are numbers, and what are codes, which need no native code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.dialects.bag import OneHotOp
from tilework.dialects.matrix import ColumnsOp, ConcatOp
from tilework.dialects.matrix.base import matrix_of
from tilework.frontends.sklearn.emitter import Emitter
from tilework.runtime.pipelines.interface import Part
from tilework.runtime.pipelines.sparse import NOWHERE, Codes, SparseColumns


@dataclass(frozen=True)
class _Ones:
    """A part that has a one in each row: at the place among `which` of the code in a column of the table."""

    column: str
    which: tuple[int, ...]
    known: int

    def codes(self, e: Emitter, parts: Sequence[Part], first: int) -> Codes:
        """The columns of the result in which these features have their ones, if they begin at column `first`."""
        given = e.inputs[self.column]
        array, place = next((i, p.inputs.index(given)) for i, p in enumerate(parts) if given in p.inputs)
        places = {code: first + i for i, code in enumerate(self.which)}
        return Codes(array, place, (*(places.get(code, NOWHERE) for code in range(self.known)), NOWHERE))


def apart(e: Emitter, value: SSAValue, form: str, parts_of: Sequence[Part]) -> tuple[SSAValue | None, SparseColumns]:
    """The numbers of a matrix, if it has some beside codes, and where they and the ones of the codes stand."""
    numbers, columns, codes, width = list[SSAValue](), list[int](), list[Codes](), 0
    for part in _parts(value):
        if isinstance(part, _Ones):
            codes.append(part.codes(e, parts_of, width))
            width += len(part.which)
        else:
            count = matrix_of(part).columns
            numbers.append(part)
            columns += range(width, width + count)
            width += count
    beside = None if not numbers else numbers[0] if len(numbers) == 1 else e.insert(ConcatOp.of(*numbers))
    return beside, SparseColumns(form, width, tuple(columns), tuple(codes))


def _parts(value: SSAValue) -> Iterator[SSAValue | _Ones]:
    """What stands side by side in a matrix."""
    match value.owner:
        case ConcatOp() as op:
            for inner in op.inputs:
                yield from _parts(inner)
        case OneHotOp() as op:
            yield _Ones(op.column.data, tuple(range(op.known_values)), op.known_values)
        case ColumnsOp(input=inner) as op if isinstance(inner.owner, OneHotOp):
            yield _Ones(inner.owner.column.data, tuple(op.which.get_values()), inner.owner.known_values)
        case _:
            yield value
