"""What happens to a program whatever it runs on, step by step, each with its why."""

from __future__ import annotations

from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from tilework.lowering.graph_to_te import GraphToTe
from tilework.lowering.tables_to_graph import TablesToGraph
from tilework.lowering.te_to_schedule import TeToSchedule
from tilework.transforms.bag.combine import Combine
from tilework.transforms.bag.fuse_filters import FuseFilters
from tilework.transforms.bag.fuse_folds import FuseFolds
from tilework.transforms.bag.fuse_maps import FuseMaps
from tilework.transforms.bag.prune_columns import PruneColumns
from tilework.transforms.bag.push_aggregates import PushAggregates
from tilework.transforms.bag.push_filters import PushFilters
from tilework.transforms.bag.push_into_folds import PushIntoFolds
from tilework.transforms.bag.push_through_conversion import PushThroughConversion
from tilework.transforms.bag.unnest import Unnest
from tilework.transforms.graph.annotate_views import AnnotateViews
from tilework.transforms.graph.collapse_axes import CollapseAxes
from tilework.transforms.graph.fold_batch_norm import FoldBatchNorm
from tilework.transforms.graph.fold_padding import FoldPadding
from tilework.transforms.graph.fold_parameters import FoldParameters
from tilework.transforms.graph.fuse_operators import FuseOperators
from tilework.transforms.graph.fuse_rows import FuseRows
from tilework.transforms.graph.fuse_tall_products import FuseTallProducts
from tilework.transforms.graph.hoist_elementwise import HoistElementwise
from tilework.transforms.graph.inline_calls import InlineCalls
from tilework.transforms.graph.inline_kernels import InlineKernels
from tilework.transforms.graph.insert_copies import InsertCopies
from tilework.transforms.graph.keep_bytes import KeepBytes
from tilework.transforms.graph.keep_quantized_blocks import KeepQuantizedBlocks
from tilework.transforms.graph.place_kernels import PlaceKernels
from tilework.transforms.graph.place_on_devices import PlaceOnDevices
from tilework.transforms.graph.quantized_products import QuantizedProducts
from tilework.transforms.graph.remove_identities import RemoveIdentities
from tilework.transforms.graph.share_kernels import ShareKernels
from tilework.transforms.graph.space_to_batch import SpaceToBatch
from tilework.transforms.graph.state_requirements import StateRequirements
from tilework.transforms.graph.store_narrow_types import StoreNarrowTypes
from tilework.transforms.graph.transpose_weights import TransposeWeights
from tilework.transforms.graph.widen_half_precision import WidenHalfPrecision
from tilework.transforms.host.insert_waits import InsertWaits
from tilework.transforms.host.update_states import UpdateStates
from tilework.transforms.loop.plan_memory import PlanMemory
from tilework.transforms.matrix.choose_solver import ChooseSolver
from tilework.transforms.matrix.derive_folds import DeriveFolds
from tilework.transforms.matrix.push_products import PushProducts
from tilework.transforms.matrix.split_folds import SplitFolds
from tilework.transforms.matrix.split_statistics import SplitStatistics
from tilework.transforms.schedule.apply_dataflow import ApplyDataflow
from tilework.transforms.te.allow_contraction import AllowContraction
from tilework.transforms.te.compute_inits import ComputeInits
from tilework.transforms.te.expand_powers import ExpandPowers
from tilework.transforms.te.halve_symmetric_products import HalveSymmetricProducts

TRAINING: tuple[ModulePass, ...] = (
    DeriveFolds(),  # the extremes of what a map made do not follow from sums
    ChooseSolver(),
    CommonSubexpressionElimination(),
    DeadCodeElimination(),
    PruneColumns(),  # products with columns that nobody reads are not summed
    SplitStatistics(),  # what is left to compile is one pass over the rows
)

FOLDS: tuple[ModulePass, ...] = (
    DeriveFolds(),
    ChooseSolver(),
    DeadCodeElimination(),  # maps that nobody reads any more are no fold
    SplitFolds(),  # what is left to compile is one pass over the rows
    PruneColumns(),  # what no fold reads is not asked for
)

BAGS: tuple[ModulePass, ...] = (
    Unnest(),
    Combine(),  # early: all others are about combinators
    PushThroughConversion(),
    PushFilters(),
    FuseFilters(),
    FuseMaps(),
    PushIntoFolds(),  # behind it: a fold takes in one map and not one after the other
    FuseFolds(),
    PushAggregates(),  # behind it: where one of the folds of a join needs its pairs, they are made for all
    PushIntoFolds(),  # filters and maps of the tables that are joined
    DeadCodeElimination(),  # maps and filters that folds have taken in
    FuseFolds(),
    PruneColumns(),
)

TABLES: tuple[ModulePass, ...] = (
    PushProducts(),
    TablesToGraph(),
)

GRAPH: tuple[ModulePass, ...] = (
    InlineCalls(),  # first: what all others see is one function where it can be
    InlineKernels(),  # operators are copied, compared and sent to other processes, all that they mean with them
    StateRequirements(),  # early: operators still know the nodes that they come from
    RemoveIdentities(),  # early: what changes nothing hides neighbours from the folds
    StoreNarrowTypes(),  # behind it: casts to the same type convert nothing; before what looks for types
    WidenHalfPrecision(),  # behind it: casts to the type that a value has would round; before what looks for floats
    FoldPadding(),
    KeepBytes(),  # before what multiplies bytes is found
    PlaceOnDevices(),  # behind it: it knows products of bytes; before these get a form for the host
    QuantizedProducts(),  # before what changes dequantized weights, or moves images
    FoldBatchNorm(),  # leaves computations on parameters
    HoistElementwise(),  # the mul and add of a batch norm can go in front of a concat, the norm itself cannot
    FoldBatchNorm(),  # what stands beside convolutions now
    SpaceToBatch(),  # it pads for itself
    TransposeWeights(),
    KeepQuantizedBlocks(),  # behind it: products by weights are layers; before weights become floats
    CommonSubexpressionElimination(),  # what exporters write twice, and what the folds made equal
    FoldParameters(),  # what depends on parameters alone is computed once, at compile time
    AnnotateViews(),  # right before fusion, which leaves views out of the kernels
    FuseTallProducts(),
    FuseRows(),  # first: a softmax is a kernel of its own else
    FuseOperators(),  # it fixes what becomes one kernel
    CollapseAxes(),  # behind fusion: a matter of whole kernels
    ShareKernels(),  # last: what is the same now stays the same
    FoldParameters(),  # the numbers that kernels are given
    PlaceKernels(),  # once it is known which there are
)

SCHEDULE: tuple[ModulePass, ...] = (
    ExpandPowers(),  # before rules, which inline what is cheap
    AllowContraction(),  # before stages are inlined, after which nobody knows who else computes a product
    HalveSymmetricProducts(),
    ComputeInits(),  # rules schedule stages
    TeToSchedule(),  # a kernel that brings its own schedule keeps it
    ApplyDataflow(),  # primitives that rewrite te first: lowering takes only those that shape loops
)

TO_TE: tuple[ModulePass, ...] = (
    InsertCopies(),  # once it is known which kernels there are, and where they run
    GraphToTe(),
)

HOST: tuple[ModulePass, ...] = (
    UpdateStates(),  # before waits, of which copies need some; it asks what kernels are known to allow
    InsertWaits(),
    PlanMemory(),  # last of all: it needs to know every kernel's scratch
)
