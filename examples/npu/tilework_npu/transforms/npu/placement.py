"""What runs on the toy: dense layers of bytes, in tiles of 8 x 8."""

from xdsl.ir import Block, Region
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.structure import YieldOp
from tilework.transforms.graph.placements import Placement


class PlaceDense(Placement):
    """x * w is a group on the device, where both are bytes, and sizes are multiples of 8."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DenseOp, rewriter: PatternRewriter) -> None:
        is_bytes = [str(operand.type.element_type) for operand in op.operands] == ["i8", "i8"]
        if not is_bytes or any(d.constant is None or d.constant % 8 for d in op.dims(1)):
            return
        body = Block(arg_types=op.operand_types)
        body.add_ops([product := DenseOp.of(*body.args), YieldOp(product.results)])
        rewriter.replace(op, self.group("dense", op.operands, Region(body)))
