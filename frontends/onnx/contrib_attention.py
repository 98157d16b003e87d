"""Contrib ops: attention and rotary embedding, by those of the standard."""

from __future__ import annotations

from math import inf

from tilework.algebra.index_expr import const
from tilework.frontends.onnx.defined import DOMAIN, define, defined
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Known

MASKED = """
   over_queries = Constant <value_ints = [1, 2]> ()
   over_heads = Constant <value_ints = [1]> ()
   one_for_each = Constant <value_ints = [-1, 1, 1, 1]> ()
   kept = Unsqueeze (mask, over_queries)                        # if mask rank 2
   kept = Unsqueeze (mask, over_heads)                          # if mask rank 3
   counts = Reshape (mask, one_for_each)                        # if mask rank 1
   count = Cast <to = 7> (counts)                               # if mask rank 1
   first = Constant <value_int = 0> ()                          # if mask rank 1
   step = Constant <value_int = 1> ()                           # if mask rank 1
   place = Range (first, keys, step)                            # if mask rank 1
   kept = Less (place, count)                                   # if mask rank 1
   is_kept = Cast <to = 9> (kept)                               # if mask
   least = Constant <value_float: float = @mask_filter_value> ()   # if mask
   none = Constant <value_float = 0.0> ()                       # if mask
   away = CastLike (least, query)                               # if mask
   nothing = CastLike (none, query)                             # if mask
   added = Where (is_kept, nothing, away)                       # if mask and no attention_bias
   masked = Where (is_kept, nothing, away)                      # if mask and attention_bias
   added = Add (masked, attention_bias)                         # if mask and attention_bias
   added = Identity (attention_bias)                            # if attention_bias and no mask"""
"""What is added to the scores. `mask` is not 0 for the keys that count, or says of each of the batch how many do of its
`keys`."""


def _check_mask(node: Node, i: int) -> None:
    """Refuse masks that are more than a number for each of the batch, as onnxruntime has them for other processors."""
    if node.has(i) and len(node.dims(i)) == 1:
        what = f"its mask has a row, or a number of keys, for each of the batch of {node.dims(0)[0]}"
        node.require_equal(node.dims(i)[0], node.dims(0)[0], what)


def _check_flags(node: Node, *names: str) -> None:
    """Refuse attributes that are neither 0 nor 1."""
    if wrong := [name for name in names if node.attribute(name, 0) not in (0, 1)]:
        raise node.error(f"its {wrong[0]} is 0 or 1, not {node.attribute(wrong[0])}")


def _scale(node: Node) -> str:
    """The factor of the scores as an attribute of the standard's Attention; 0 stands for its default."""
    scale = node.attribute("scale", 0.0)
    if scale < 0:
        raise node.error(f"its scale is not negative, it is not {scale:g}")
    return ", scale: float = @scale" if scale else ""


def _by_heads(name: str, heads: int) -> str:
    """Lines that make [batch, heads, rows, size] of [batch, rows, heads * size]: `name_heads`."""
    return f"""
   {name}_shape = Constant <value_ints = [0, 0, {heads}, -1]> ()
   {name}_rows = Reshape ({name}, {name}_shape)
   {name}_heads = Transpose <perm = [0, 2, 1, 3]> ({name}_rows)"""


@defined("Attention")
def attention(node: Node) -> str:
    """Self-attention with the projections before it; what it has seen is one tensor, of keys and values."""
    _check_mask(node, 3)
    added = "added" if node.has(3) or node.has(5) else ""
    past_key, past_value = ("past_key", "past_value") if node.has(4) else ("", "")
    return f"""
Attention <num_heads, unidirectional, qkv_hidden_sizes, mask_filter_value: float = -10000.0, scale>
          (input, weights, bias, mask, past, attention_bias) => (Y, present) {{
   product = MatMul (input, weights)
   projected = Identity (product)                               # if no bias
   projected = Add (product, bias)                              # if bias
   sizes = Constant <value_ints: ints = @qkv_hidden_sizes> ()   # if qkv_hidden_sizes
   query, key, value = Split <axis = -1> (projected, sizes)     # if qkv_hidden_sizes
   query, key, value = Split <axis = -1, num_outputs = 3> (projected)   # if no qkv_hidden_sizes
   front = Constant <value_ints = [0]> ()
   past_keys, past_values = Split <axis = 0, num_outputs = 2> (past)    # if past
   past_key = Squeeze (past_keys, front)                        # if past
   past_value = Squeeze (past_values, front)                    # if past
   own = Shape <start = 1, end = 2> (input)
   seen = Shape <start = 3, end = 4> (past)                     # if past
   all = Add (own, seen)                                        # if past
   all = Identity (own)                                         # if no past
   keys = Squeeze (all)
{MASKED}
   Y, present_key, present_value = Attention <
      q_num_heads: int = @num_heads, kv_num_heads: int = @num_heads, is_causal: int = @unidirectional
      {_scale(node)}> (query, key, value, {added}, {past_key}, {past_value})
   present_keys = Unsqueeze (present_key, front)
   present_values = Unsqueeze (present_value, front)
   present = Concat <axis = 0> (present_keys, present_values)
}}"""


define(f"""
QAttention <num_heads, unidirectional, mask_filter_value: float = -10000.0, scale>
    (input, weights, bias, input_scale, weight_scale, mask, input_zero, weight_zero, past) => (Y, present) {{
   x = DequantizeLinear (input, input_scale, input_zero)
   w = DequantizeLinear <axis = 1> (weights, weight_scale, weight_zero)
   Y, present = {DOMAIN}.Attention <num_heads: int = @num_heads, unidirectional: int = @unidirectional,
      mask_filter_value: float = @mask_filter_value, scale: float = @scale> (x, w, bias, mask, past)
}}""")


@defined("MultiHeadAttention")
def multi_head_attention(node: Node) -> str:
    """Attention of projected queries; keys and values are projected as well, or by heads already, as they were when
    they were made."""
    if not (node.has(1) and node.has(2)) or [len(node.dims(i)) for i in range(3)] not in ([3, 3, 3], [3, 4, 4]):
        raise node.error("query, key and value are three tensors, of rank 3, or key and value of rank 4")
    by_heads, heads = len(node.dims(1)) == 4, node.attribute("num_heads", 0)
    if by_heads and node.has(3):
        raise node.error("a bias beside keys and values of rank 4 is not supported")
    if node.attribute("unidirectional", 0):
        keys, queries = node.dims(1)[2 if by_heads else 1], node.dims(0)[1]
        node.require_equal(keys, queries, "unidirectional attention has as many new keys as queries")
    _check_mask(node, 4)
    added = "added" if node.has(4) or node.has(5) else ""
    past_key, past_value = ("past_key", "past_value") if node.has(6) else ("", "")
    key, value = ("key", "value") if by_heads else ("k_heads", "v_heads")
    return f"""
MultiHeadAttention <num_heads, unidirectional, mask_filter_value: float = -10000.0, scale>
    (query, key, value, bias, mask, attention_bias, past_key, past_value) => (Y, present_key, present_value) {{
   together = Constant <value_ints = [0, 0, -1]> ()
   q = Identity (query)                                         # if no bias
   k = Identity (key)                                           # if no bias
   v = Identity (value)                                         # if no bias
   query_size = Shape <start = 2> (query)                       # if bias
   key_size = Shape <start = 2> (key)                           # if bias
   value_size = Shape <start = 2> (value)                       # if bias
   sizes = Concat <axis = 0> (query_size, key_size, value_size) # if bias
   query_bias, key_bias, value_bias = Split <axis = 0> (bias, sizes)    # if bias
   q = Add (query, query_bias)                                  # if bias
   k = Add (key, key_bias)                                      # if bias
   v = Add (value, value_bias)                                  # if bias
{_by_heads("q", heads)}
{"" if by_heads else _by_heads("k", heads) + _by_heads("v", heads)}
   own = Shape <start = 2, end = 3> ({key})
   seen = Shape <start = 2, end = 3> (past_key)                 # if past_key
   all = Add (own, seen)                                        # if past_key
   all = Identity (own)                                         # if no past_key
   keys = Squeeze (all)
{MASKED}
   attended, present_key, present_value = Attention <is_causal: int = @unidirectional{_scale(node)}>
      (q_heads, {key}, {value}, {added}, {past_key}, {past_value})
   rows = Transpose <perm = [0, 2, 1, 3]> (attended)
   Y = Reshape (rows, together)
}}"""


def _turned_width(node: Node, i: int) -> int:
    """How much of a head is turned: two elements by each column of the caches, the first of which is input `i`."""
    dims = node.dims(i)
    if len(dims) != 2 or not dims[1].constant:
        raise node.error("its caches of cosines and sines are matrices with a constant number of columns")
    return dims[1].constant * 2


@defined("RotaryEmbedding")
def rotary_embedding(node: Node) -> str:
    """Positions are one for each row, or that of the first. Heads are as wide as two columns of the caches for each."""
    _check_flags(node, "interleaved")
    dims, width = node.dims(0), _turned_width(node, 2)
    heads, turned = node.attribute("num_heads", 0), node.attribute("rotary_embedding_dim", 0)
    if len(node.dims(1)) == 1 and node.dims(1) != (const(1),) or len(node.dims(1)) not in (1, 2):
        raise node.error("its positions are that of the first row, or one for each of a batch of rows")
    if len(dims) == 3 and not heads:
        heads = (dims[2] // width).constant or 0
    return f"""
RotaryEmbedding <interleaved, num_heads, rotary_embedding_dim, scale> (X, positions, cos, sin) => (Y) {{
   zero = Constant <value_int = 0> ()
   one = Constant <value_int = 1> ()
   lengths = Shape <start = {1 if len(dims) == 3 else 2}, end = {2 if len(dims) == 3 else 3}> (X)
   length = Squeeze (lengths)
   steps = Range (zero, length, one)
   row = Add (steps, positions)                                 # if positions rank 1
   batch = Shape <start = 0, end = 1> (X)
   sizes = Concat <axis = 0> (batch, lengths)
   all = Expand (row, sizes)                                    # if positions rank 1
   all = Identity (positions)                                   # if positions rank 2
   Y = RotaryEmbedding <interleaved: int = @interleaved, num_heads = {heads}, rotary_embedding_dim = {turned}>
      (X, cos, sin, all)
}}"""


def _present_rows(node: Node) -> str:
    """How many rows of keys there are afterwards: as before where that is known to be enough, else the new ones too."""
    past = node.dims(3)[2].constant if node.has(3) and len(node.dims(3)) == 4 else None
    total = node.count(6, "total_sequence_length").constant if isinstance(node.value(6), Known) else None
    return "Identity (held)" if past is None or total is None else f"Constant <value_int = {max(past, total)}> ()"


@defined("GroupQueryAttention")
def group_query_attention(node: Node) -> str:
    """Causal; heads of keys and values are fewer than those of queries. What of the batch has been seen ends where the
    number of keys says: new keys go there, and what was behind them is moved behind these. Where data say how
    many there are in all, there are as many rows afterwards as before and new ones together."""
    heads, shared = node.attribute("num_heads", 0), node.attribute("kv_num_heads", 0)
    if heads < 1 or shared < 1:
        raise node.error("num_heads and kv_num_heads are positive")
    _check_flags(node, "do_rotary", "rotary_interleaved")
    if not 0 <= node.attribute("softcap", 0.0) < inf:
        raise node.error(f"its softcap is a number that is not negative, it is not {node.attribute('softcap'):g}")
    if node.has(3) != node.has(4):
        raise node.error("past keys and values come together")
    if any(node.has(i) for i in range(11, len(node.inputs))) or node.attribute("smooth_softmax", 0) > 0:
        raise node.error("inputs behind attention_bias and smooth_softmax are not supported")
    if not node.attribute("causal", 1):
        raise node.error("attention that is not causal is not supported")
    together = heads + 2 * shared if not node.has(1) else heads
    size = (node.dims(0)[-1] // together).constant
    if size is None:
        raise node.error("the size of its heads is a constant")
    turned = node.attribute("do_rotary", 0)
    width = _turned_width(node, 7) if turned else size
    partly = width if width < size else 0
    window = node.attribute("local_window_size", -1)
    query, key = ("turned_query", "turned_key") if turned else ("q", "k")
    near = f"""
   window = Constant <value_int = {window}> ()
   start = Sub (ends, window)
   is_near = Greater (slot, start)
   kept = And (is_before, is_near)"""
    turning = f"""
   at = Identity (positions)                                    # if positions
   at = Identity (place)                                        # if no positions
   turned_query = RotaryEmbedding <interleaved: int = @rotary_interleaved, num_heads = {heads},
                                   rotary_embedding_dim = {partly}> (q, cos, sin, at)
   turned_key = RotaryEmbedding <interleaved: int = @rotary_interleaved, num_heads = {shared},
                                 rotary_embedding_dim = {partly}> (k, cos, sin, at)"""
    return f"""
GroupQueryAttention <num_heads, kv_num_heads, do_rotary, rotary_interleaved, scale, softcap, local_window_size,
                     causal, smooth_softmax, qk_norm_epsilon, k_quant_type, v_quant_type>
    (query, key, value, past_key, past_value, last, total, cos, sin, positions, attention_bias)
    => (Y, present_key, present_value) {{
   sizes = Constant <value_ints = [{heads * size}, {shared * size}, {shared * size}]> ()
   q, k, v = Split <axis = -1> (query, sizes)                   # if no key
   q = Identity (query)                                         # if key
   k = Identity (key)                                           # if key
   v = Identity (value)                                         # if key

   column = Constant <value_ints = [-1, 1]> ()
   zero = Constant <value_int = 0> ()
   one = Constant <value_int = 1> ()
   rows = Shape <start = 1, end = 2> (query)
   row_count = Squeeze (rows)
   seen = Shape <start = 2, end = 3> (past_key)                 # if past_key
   seen_count = Squeeze (seen)                                  # if past_key
   seen_count = Identity (zero)                                 # if no past_key
   last_of_each = Reshape (last, column)
   last_key = Cast <to = 7> (last_of_each)
   key_count = Add (last_key, one)
   old = Sub (key_count, row_count)
   not_negative = Max (old, zero)
   before = Min (not_negative, seen_count)
   row = Range (zero, row_count, one)
   place = Add (before, row)
{turning if turned else ""}
{_by_heads(query, heads)}
{_by_heads(key, shared)}
{_by_heads("v", shared)}

   present_key = Identity ({key}_heads)                         # if no past_key
   present_value = Identity (v_heads)                           # if no past_key
   held = Add (seen_count, row_count)
   all = {_present_rows(node)}
   slot = Range (zero, all, one)
   is_old = Less (slot, before)                                 # if past_key
   moved = Sub (slot, before)                                   # if past_key
   behind = Add (moved, seen_count)                             # if past_key
   newest = Sub (held, one)                                     # if past_key
   new = Min (behind, newest)                                   # if past_key
   source = Where (is_old, slot, new)                           # if past_key
   over_heads = Constant <value_ints = [1]> ()                  # if past_key
   index = Constant <value_ints = [-1]> ()                      # if past_key
   of_heads = Unsqueeze (source, over_heads)                    # if past_key
   whole = Shape <start = 0, end = 2> (past_key)                # if past_key
   alls = Reshape (all, index)                                  # if past_key
   sources_shape = Concat <axis = 0> (whole, alls)              # if past_key
   sources = Expand (of_heads, sources_shape)                   # if past_key
   indices = Unsqueeze (sources, index)                         # if past_key
   all_keys = Concat <axis = 2> (past_key, {key}_heads)         # if past_key
   all_values = Concat <axis = 2> (past_value, v_heads)         # if past_key
   present_key = GatherND <batch_dims = 2> (all_keys, indices)  # if past_key
   present_value = GatherND <batch_dims = 2> (all_values, indices)   # if past_key

   of_places = Constant <value_ints = [1, 3]> ()
   ends = Unsqueeze (place, of_places)
   is_before = LessOrEqual (slot, ends)
{near if window > 0 else "   kept = Identity (is_before)"}
   added = Identity (kept)                                      # if no attention_bias
   nothing = CastLike (zero, query)                             # if attention_bias
   lowest = Constant <value_float = -10000.0> ()                # if attention_bias
   away = CastLike (lowest, query)                              # if attention_bias
   masked = Where (kept, nothing, away)                         # if attention_bias
   added = Add (masked, attention_bias)                         # if attention_bias
   attended = Attention <softcap: float = @softcap{_scale(node)}>
      ({query}_heads, present_key, present_value, added)
   by_row = Transpose <perm = [0, 2, 1, 3]> (attended)
   together = Constant <value_ints = [0, 0, -1]> ()
   Y = Reshape (by_row, together)
}}"""
