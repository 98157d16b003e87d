"""Names as the text of a module allows them."""

from __future__ import annotations

import re


def identifier(name: str) -> str:
    """The name with everything but ASCII letters, digits and underscores replaced, and x before one that is a number.

    xDSL takes the number away in which the name of a value ends: something is left.
    """
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"x{word}" if re.match(r"_?\d|$", word) else word
