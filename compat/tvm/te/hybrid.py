"""Hybrid scripts, by TVM's name of the module."""

from tilework.compat.tvm.refused import refused
from tilework.te import hybrid

script = hybrid.script
build = refused("te.hybrid.build", "tvm.build compiles a schedule of what a script makes")
parse = refused("te.hybrid.parse", "te.hybrid.script translates a function when it is called")
HybridModule = refused("te.hybrid.HybridModule", "keep the source of the script")

__all__ = ["HybridModule", "build", "parse", "script"]
