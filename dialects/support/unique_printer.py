"""xDSL's printer, with a name of its own for each value."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.printer import Printer


class UniquePrinter(Printer):
    """A printer that never gives two values in one scope the same name.

    xDSL's numbers the values of each hint: the second "a" is printed as "%a_1", and so is one whose hint is "a_1".
    """

    def print_ssa_value(self, value: SSAValue) -> str:
        """Print a value under a name that no other one has."""
        hint = value.name_hint
        if value not in self._ssa_values and hint is not None:
            names, count = self.ssa_names, self.ssa_names.get(hint, 0)
            name = hint
            while name in names:
                count, name = count + 1, f"{hint}_{max(count, 1)}"
            names[hint] = max(count, 1)
            names[name] = 1
            self._ssa_values[value] = name
        return super().print_ssa_value(value)
