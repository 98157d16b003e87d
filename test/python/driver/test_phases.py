"""The phases of a compilation: what runs by name, with which options."""

from __future__ import annotations

import pytest

from tilework.algebra.errors import UsageError
from tilework.driver.phases import passes_of


def test_options_go_to_the_passes_that_have_them():
    asked = [p.precision for p in passes_of("apply-rules", precision="strict") if hasattr(p, "precision")]
    assert asked == ["strict", "strict"]


def test_an_option_that_no_pass_has_is_refused():
    with pytest.raises(UsageError, match="no pass of choose-layouts, .* has an option 'precison'"):
        passes_of("apply-rules", precison="strict")
    with pytest.raises(UsageError, match="has an option 'target'"):
        passes_of("compile-kernel", target="llvm")
