"""Contrib ops: activations, products and normalizations, with what stands beside them taken in."""

from __future__ import annotations

from tilework.frontends.onnx.defined import define, defined
from tilework.frontends.onnx.node import Node

# ---- Activations -----------------------------------------------------------------------------------------------------

define("""
Gelu (X) => (Y) {
   Y = Gelu (X)
}""")

define("""
BiasGelu (X, bias) => (Y) {
   Z = Add (X, bias)
   Y = Gelu (Z)
}""")

define("""
FastGelu (X, bias) => (Y) {
   Z = Identity (X)                             # if no bias
   Z = Add (X, bias)                            # if bias
   Y = Gelu <approximate = "tanh"> (Z)
}""")

define("""
QuickGelu <alpha: float = 1.702> (X) => (Y) {
   number = Constant <value_float: float = @alpha> ()
   factor = CastLike (number, X)
   scaled = Mul (X, factor)
   gate = Sigmoid (scaled)
   Y = Mul (X, gate)
}""")

# ---- Products --------------------------------------------------------------------------------------------------------

for _name in ("FusedMatMul", "TransposeMatMul"):
    define(f"""
{_name} <transA, transB, alpha: float = 1.0> (A, B) => (Y) {{
   left = Identity (A)                          # if no transA
   left = Einsum <equation = "...ij->...ji"> (A)    # if transA
   right = Identity (B)                         # if no transB
   right = Einsum <equation = "...ij->...ji"> (B)   # if transB
   product = MatMul (left, right)
   number = Constant <value_float: float = @alpha> ()
   factor = CastLike (number, product)
   Y = Mul (product, factor)
}}""")

_ACTIVATED = """
   Y = Identity (Z)                             # if no activation
   Y = Relu (Z)                                 # if activation is Relu
   Y = Tanh (Z)                                 # if activation is Tanh
   Y = Sigmoid (Z)                              # if activation is Sigmoid
}"""

define(
    """
FusedGemm <alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0, activation, activation_alpha,
           activation_beta, activation_gamma> (A, B, C) => (Y) {
   Z = Gemm <alpha: float = @alpha, beta: float = @beta, transA: int = @transA, transB: int = @transB> (A, B, C)
   Y = LeakyRelu <alpha: float = @activation_alpha> (Z)            # if activation is LeakyRelu
   Y = Elu <alpha: float = @activation_alpha> (Z)                  # if activation is Elu
   Y = ThresholdedRelu <alpha: float = @activation_alpha> (Z)      # if activation is ThresholdedRelu
   Y = Selu <alpha: float = @activation_alpha, gamma: float = @activation_gamma> (Z)   # if activation is Selu
   Y = HardSigmoid <alpha: float=@activation_alpha, beta: float=@activation_beta> (Z)  # if activation is HardSigmoid
   Y = Softplus (Z)                             # if activation is Softplus
   Y = Softsign (Z)                             # if activation is Softsign
"""
    + _ACTIVATED
)

define(
    """
FusedConv <auto_pad, dilations, group, kernel_shape, pads, strides, activation, activation_params>
          (X, W, B, sum) => (Y) {
   convolved = Conv <auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = @group,
                     kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides> (X, W, B)
   Z = Identity (convolved)                     # if no sum
   Z = Add (convolved, sum)                     # if sum
   numbers = Constant <value_floats: floats = @activation_params> ()   # if activation_params
   nothing = Constant <value_int = 0> ()                               # if activation_params
   next = Constant <value_int = 1> ()                                  # if activation_params
   first = Gather (numbers, nothing)                                   # if activation_params
   second = Gather (numbers, next)              # if activation is Clip or activation is HardSigmoid
   Y = PRelu (Z, first)                         # if activation is LeakyRelu
   Y = Clip (Z, first, second)                  # if activation is Clip
   steep = Mul (Z, first)                       # if activation is HardSigmoid
   moved = Add (steep, second)                  # if activation is HardSigmoid
   zero = Constant <value_float = 0.0> ()       # if activation is HardSigmoid
   one = Constant <value_float = 1.0> ()        # if activation is HardSigmoid
   Y = Clip (moved, zero, one)                  # if activation is HardSigmoid
"""
    + _ACTIVATED
)

# ---- Normalizations --------------------------------------------------------------------------------------------------


def _skip(node: Node, norm: str, scaled_by: str) -> str:
    """A sum, perhaps with a bias, and its normalization."""
    for own, skip in zip(node.dims(0)[::-1], node.dims(1)[::-1], strict=False):
        if own == 1 and skip != 1:
            raise node.error("what is added to it does not make it larger")
    return f"""
{node.op_type} <epsilon: float = 1e-12> (input, skip, {scaled_by}, bias) => (Y, mean, inverse_deviation, total) {{
   both = Add (input, skip)
   total = Identity (both)                      # if no bias
   total = Add (both, bias)                     # if bias
   Y = {norm} <axis = -1, epsilon: float = @epsilon> (total, {scaled_by})
}}"""


@defined("SkipLayerNormalization")
def skip_layer_normalization(node: Node) -> str:
    """Normalize by the deviation from the mean."""
    return _skip(node, "LayerNormalization", "gamma, beta")


@defined("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(node: Node) -> str:
    """Normalize by the root of the mean of the squares."""
    return _skip(node, "RMSNormalization", "gamma")


define(
    """
SimplifiedLayerNormalization <axis: int = -1, epsilon: float = 1e-5, stash_type> (X, scale) => (Y, inverse_deviation) {
   Y = RMSNormalization <axis: int = @axis, epsilon: float = @epsilon> (X, scale)
}""",
    domain="",
)

define("""
EmbedLayerNormalization <epsilon: float = 1e-12, mask_index_type>
    (ids, segments, words, places, kinds, gamma, beta, mask, positions) => (Y, mask_index, total) {
   word = Gather (words, ids)
   start = Constant <value_ints = [0]> ()       # if no positions
   axis = Constant <value_ints = [0]> ()        # if no positions
   length = Shape <start = 1, end = 2> (ids)    # if no positions
   place = Slice (places, start, length, axis)  # if no positions
   place = Gather (places, positions)           # if positions
   placed = Add (word, place)
   kind = Gather (kinds, segments)              # if kinds and segments
   first = Constant <value_int = 0> ()          # if kinds and no segments
   kind = Gather (kinds, first)                 # if kinds and no segments
   total = Add (placed, kind)                   # if kinds
   total = Identity (placed)                    # if no kinds
   Y = LayerNormalization <axis = -1, epsilon: float = @epsilon> (total, gamma, beta)
   columns = Constant <value_ints = [1]> ()
   counted = Identity (mask)                    # if mask
   nothing = Constant <value = int32 {0}> ()    # if no mask
   counted = Mul (ids, nothing)                 # if no mask
   mask_index = ReduceSum <keepdims = 0> (counted, columns)
}""")
