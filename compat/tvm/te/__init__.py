"""Tensor expressions: Tilework's own te, which has TVM's names, and TVM's modules of them."""

from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.te import hybrid as _hybrid
from tilework.compat.tvm.te import operation as operation
from tilework.compat.tvm.te import schedule as schedule
from tilework.compat.tvm.te import tensor as tensor
from tilework.compat.tvm.topi.broadcast import add as add
from tilework.compat.tvm.topi.broadcast import multiply as multiply
from tilework.compat.tvm.topi.broadcast import subtract as subtract
from tilework.te import *  # noqa: F403
from tilework.te import ExternOp, gradient

hybrid = _hybrid
"""TVM's module, which has more names than te's of that name."""

HybridOp = ExternOp
"""What a hybrid script makes is an extern here."""


class autodiff:  # noqa: N801  a module of TVM
    """Derivatives."""

    gradient = staticmethod(gradient)


class tag:  # noqa: N801  a module of TVM
    """Tags of computes."""

    from tilework.te import tag_scope

    tag_scope = staticmethod(tag_scope)


_SCHEDULED = "computes do not call tensor intrinsics: s[T].tensorize(axis, intrinsic) in the schedule does"
TensorComputeOp = refused("te.TensorComputeOp", _SCHEDULED)
SpecializedCondition = refused("te.SpecializedCondition", "build a schedule for each case, and choose in Python")
create_prim_func = refused("te.create_prim_func", "TensorIR is not there; a te schedule is lowered by tvm.lower")
trace = refused("te.trace", "make the tensor an output, and look at its array")
