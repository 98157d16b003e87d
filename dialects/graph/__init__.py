"""The graph dialect: a dataflow of named operators on whole tensors. One file an operator family."""

from xdsl.ir import Dialect

from tilework.dialects.graph.algorithms.bf16x import Bf16xConvOp, Bf16xDenseOp, Bf16xWeightOp
from tilework.dialects.graph.algorithms.block_quantized import BlockQuantizedDenseOp, BlockQuantizedWeightOp
from tilework.dialects.graph.algorithms.packed_float import PackedFloatDenseOp, PackedFloatWeightOp
from tilework.dialects.graph.algorithms.strassen import StrassenConvOp, StrassenDenseOp, StrassenWeightOp
from tilework.dialects.graph.algorithms.winograd import WinogradConvOp, WinogradWeightOp
from tilework.dialects.graph.arguments import ArgMaxOp, ArgMinOp
from tilework.dialects.graph.bit_serial import BitSerialConvOp, BitSerialDenseOp, BitsOp
from tilework.dialects.graph.bits import BitcastOp, DecodeOp, EncodeOp
from tilework.dialects.graph.broadcast import (
    AddOp,
    DivOp,
    FmodOp,
    IntegerPowOp,
    MaxOp,
    MinOp,
    ModOp,
    MulOp,
    PowOp,
    PReluOp,
    SubOp,
)
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.choice import IfOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.dequantize import DequantizeOp
from tilework.dialects.graph.elementwise import (
    AbsOp,
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    CeilOp,
    ClipOp,
    CoshOp,
    CosOp,
    DropoutOp,
    EluOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LeakyReluOp,
    LogOp,
    NegOp,
    ReluOp,
    RoundOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    TanhOp,
    TanOp,
)
from tilework.dialects.graph.extend import ExtendOp
from tilework.dialects.graph.gather import GatherOp
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.graph.layout import BytesOp, PackOp, UnpackOp, WordsOp
from tilework.dialects.graph.logic import (
    AndOp,
    EqualOp,
    LessEqualOp,
    LessOp,
    NotOp,
    OrOp,
    ShiftLeftOp,
    ShiftRightOp,
    WhereOp,
    XorOp,
)
from tilework.dialects.graph.movement import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.normalization import BatchNormOp, LogSoftmaxOp, LrnOp, SoftmaxOp
from tilework.dialects.graph.pooling import AveragePoolOp, MaxPoolIndicesOp, MaxPoolOp
from tilework.dialects.graph.positions import PositionsOp
from tilework.dialects.graph.reduction import ReduceMaxOp, ReduceMeanOp, ReduceMinOp, ReduceProdOp, ReduceSumOp
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.resize import ResizeOp
from tilework.dialects.graph.roi_align import RoiAlignOp
from tilework.dialects.graph.roi_pool import RoiPoolOp
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.graph.scatter import ScatterOp
from tilework.dialects.graph.size import SizeOp
from tilework.dialects.graph.sizes import RangeOp, SectionOp
from tilework.dialects.graph.structure import CopyOp, DefineParameterOp, FusedOp, ParameterOp, YieldOp
from tilework.dialects.graph.suppression import SuppressOp
from tilework.dialects.graph.top_k import TopKOp
from tilework.dialects.support.index_attr import DimsAttr, GraphWhenAttr, WidthsAttr

STRUCTURE = [RequireOp, ParameterOp, DefineParameterOp, FusedOp, CopyOp, SizeOp, IfOp, WhileOp, ScanOp, YieldOp]

OPERATORS = [
    *(AbsOp, CeilOp, ClipOp, CosOp, DropoutOp, EluOp, ErfOp, ExpOp, FloorOp, LeakyReluOp, LogOp, NegOp),
    *(ReluOp, RoundOp, SigmoidOp, SignOp, SinOp, SqrtOp, TanhOp, CastOp),
    *(BitcastOp, DecodeOp, EncodeOp),
    *(AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp, CoshOp, SinhOp, TanOp),
    *(AddOp, DivOp, FmodOp, MaxOp, MinOp, ModOp, MulOp, PowOp, IntegerPowOp, PReluOp, SubOp),
    *(EqualOp, LessOp, LessEqualOp, AndOp, OrOp, XorOp, NotOp, ShiftLeftOp, ShiftRightOp, WhereOp),
    *(ConvOp, AveragePoolOp, MaxPoolOp, MaxPoolIndicesOp, DenseOp, MatmulOp),
    *(BatchNormOp, LrnOp, SoftmaxOp, LogSoftmaxOp),
    *(ReshapeOp, TransposeOp, ConcatOp, SliceOp, SectionOp, PadOp, BroadcastOp, RangeOp),
    *(ReduceMaxOp, ReduceMeanOp, ReduceMinOp, ReduceProdOp, ReduceSumOp, ArgMaxOp, ArgMinOp),
    *(KernelOp, ExtendOp, GatherOp, ScatterOp, ResizeOp, RoiAlignOp, RoiPoolOp, TopKOp, PositionsOp, SuppressOp),
    *(
        PackOp,
        UnpackOp,
        WordsOp,
        BytesOp,
        WinogradWeightOp,
        WinogradConvOp,
        StrassenWeightOp,
        StrassenConvOp,
        StrassenDenseOp,
    ),
    *(BitsOp, BitSerialConvOp, BitSerialDenseOp),
    *(DequantizeOp, BlockQuantizedWeightOp, BlockQuantizedDenseOp),
    *(Bf16xWeightOp, Bf16xConvOp, Bf16xDenseOp, PackedFloatWeightOp, PackedFloatDenseOp),
]

Graph = Dialect("graph", [*STRUCTURE, *OPERATORS], [DimsAttr, GraphWhenAttr, WidthsAttr])
