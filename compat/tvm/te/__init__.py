"""Tensor expressions: Tilework's own te, which has TVM's names, and TVM's modules of them."""

from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.te import hybrid, operation, schedule, tensor
from tilework.te import *  # noqa: F403

create_prim_func = refused("te.create_prim_func", "TensorIR is not there; a te schedule is lowered by tvm.lower")
SpecializedCondition = refused("te.SpecializedCondition", "build a schedule for each case, and choose in Python")
