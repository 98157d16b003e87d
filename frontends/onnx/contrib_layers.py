"""Contrib ops: activations, products and normalizations, with what stands beside them taken in."""

from __future__ import annotations

from tilework.frontends.onnx.contrib import define

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
   Y = PRelu (Z, first)                         # if activation is LeakyRelu
   Y = Clip (Z, first, second)                  # if activation is Clip
   steep = Mul (Z, first)                       # if activation is HardSigmoid
   moved = Add (steep, second)                  # if activation is HardSigmoid
   zero = Constant <value_float = 0.0> ()       # if activation is HardSigmoid
   one = Constant <value_float = 1.0> ()        # if activation is HardSigmoid
   Y = Clip (moved, zero, one)                  # if activation is HardSigmoid
}"""

define(
    """
FusedGemm <alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0, activation, activation_alpha,
           activation_beta> (A, B, C) => (Y) {
   Z = Gemm <alpha: float = @alpha, beta: float = @beta, transA: int = @transA, transB: int = @transB> (A, B, C)
   first = Constant <value_float: float = @activation_alpha> ()    # if activation is LeakyRelu
   first = Constant <value_float: float = @activation_alpha> ()    # if activation is HardSigmoid
   second = Constant <value_float: float = @activation_beta> ()    # if activation is HardSigmoid
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
"""
    + _ACTIVATED
)

# ---- Normalizations --------------------------------------------------------------------------------------------------

for _name, _norm, _inputs, _given in (
    ("SkipLayerNormalization", "LayerNormalization", "gamma, beta", "gamma, beta, bias"),
    ("SkipSimplifiedLayerNormalization", "RMSNormalization", "gamma", "gamma, bias"),
):
    define(f"""
{_name} <epsilon: float = 1e-12> (input, skip, {_given}) => (Y, mean, inverse_deviation, total) {{
   both = Add (input, skip)
   total = Identity (both)                      # if no bias
   total = Add (both, bias)                     # if bias
   Y = {_norm} <axis = -1, epsilon: float = @epsilon> (total, {_inputs})
}}""")

define(
    """
SimplifiedLayerNormalization <axis: int = -1, epsilon: float = 1e-5, stash_type> (X, scale) => (Y) {
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
