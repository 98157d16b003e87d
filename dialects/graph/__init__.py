"""The graph dialect: a dataflow of named operators on whole tensors. One file an operator family."""

from xdsl.ir import Dialect

from tilework.dialects.graph.elementwise import ReluOp
from tilework.dialects.graph.structure import DefineParameterOp, FusedOp, ParameterOp, YieldOp
from tilework.dialects.index_attr import DimsAttr

Graph = Dialect("graph", [ParameterOp, DefineParameterOp, FusedOp, YieldOp, ReluOp], [DimsAttr])
