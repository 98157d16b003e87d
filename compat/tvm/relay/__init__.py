"""Graphs of operators, as programs of `tvm.relay` write them; they become graph modules of Tilework."""

from tilework.compat.tvm.relay import nn as nn
from tilework.compat.tvm.relay import op as op
from tilework.compat.tvm.relay import transform as transform
from tilework.compat.tvm.relay.build_module import GraphExecutorFactory as GraphExecutorFactory
from tilework.compat.tvm.relay.build_module import build as build
from tilework.compat.tvm.relay.expr import Call as Call
from tilework.compat.tvm.relay.expr import Constant as Constant
from tilework.compat.tvm.relay.expr import Expr as Expr
from tilework.compat.tvm.relay.expr import Function as Function
from tilework.compat.tvm.relay.expr import TensorType as TensorType
from tilework.compat.tvm.relay.expr import Tuple as Tuple
from tilework.compat.tvm.relay.expr import TupleGetItem as TupleGetItem
from tilework.compat.tvm.relay.expr import TupleWrapper as TupleWrapper
from tilework.compat.tvm.relay.expr import Var as Var
from tilework.compat.tvm.relay.expr import const as const
from tilework.compat.tvm.relay.expr import var as var
from tilework.compat.tvm.relay.op import *  # noqa: F403
