"""What `xdsl-opt` sees of Tilework, through the `xdsl.universe` entry point: our dialects and passes.

None of our names may be one of xDSL's: two owners of a name are an error for every xDSL user in the environment. So
our `arith`, which widens xDSL's, stays out.
"""

from __future__ import annotations

from xdsl.dialects import get_all_dialects
from xdsl.universe import Universe

from tilework.dialects.support.registration import tilework_dialects
from tilework.driver.registry import tilework_passes

TILEWORK_UNIVERSE = Universe(
    all_dialects={name: load for name, load in tilework_dialects().items() if name not in get_all_dialects()},
    all_passes={**tilework_passes()},
)
