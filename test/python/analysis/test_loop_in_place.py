"""in_place_pairs: which inputs and outputs of a kernel may be one buffer."""

import pytest

from tilework.analysis.in_place import in_place_pairs
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser

SQUARE = "ins(%x: memref<8x8xf32>) outs(%y: memref<8x8xf32>)"


def pairs(header: str, body: str) -> list[tuple[int, int]]:
    module = SourceParser(make_context(), f"loop.kernel @k {header} {{ {body} }}", "<test>").parse_module()
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return in_place_pairs(kernel)


def copy(read: str, written: str, loops: str = "i: 8, j: 8", lanes: str = "") -> str:
    """A nest that copies x[read] to y[written]."""
    axes = [axis.split(": ") for axis in loops.split(", ")]
    opening = "".join(f'loop.for %{name} = 0 to {extent} "{name}" {{ ' for name, extent in axes)
    body = f"%v = loop.load %x[{read}] : memref<8x8xf32>{lanes} loop.store %v, %y[{written}] : memref<8x8xf32>{lanes}"
    return opening + body + " }" * len(axes)


@pytest.mark.parametrize(
    "read, written, loops, expected",
    [
        ("%i, %j", "%i, %j", "i: 8, j: 8", True),
        ("%j, %i", "%j, %i", "i: 8, j: 8", True),  # the order of the loops does not matter
        ("%j, %i", "%i, %j", "i: 8, j: 8", False),  # a transpose
        ("%i, 7 - %j", "%i, %j", "i: 8, j: 8", False),  # a reversal
        ("%i, %j", "%i, %j + 1", "i: 8, j: 7", False),  # a shift
        (
            "%i, %j",
            "%i, %j",
            "r: 2, i: 8, j: 8",
            False,
        ),  # every element is written twice: the second time read too late
        ("%i, %j", "%i, %j", "r: 1, i: 8, j: 8", True),
        ("%i, 2 * %k + %l", "%i, 2 * %k + %l", "i: 8, k: 4, l: 2", True),  # tiled
        ("%i, 2 * %k + %l", "%i, 2 * %k + %l", "i: 8, k: 3, l: 3", False),  # tiles overlap
        ("%i, min(5 * %k, 3) + %l", "%i, min(5 * %k, 3) + %l", "i: 8, k: 2, l: 5", False),  # the last moved inwards
        ("%f floordiv 8, %f mod 8", "%f floordiv 8, %f mod 8", "f: 64", False),  # true, but not affine: not proved
    ],
)
def test_one_nest(read: str, written: str, loops: str, expected: bool):
    assert pairs(SQUARE, copy(read, written, loops)) == ([(0, 0)] if expected else [])


def test_all_reads_in_an_earlier_nest():
    """A first nest reduces x, a second one writes y from the sum."""
    assert pairs(
        SQUARE,
        """
        %s = memref.alloca() : memref<1xf32>
        loop.for %i = 0 to 8 "i" {
          %v = loop.load %x[%i, 0] : memref<8x8xf32>
          loop.store %v, %s[0] : memref<1xf32>
        }
        loop.for %i = 0 to 8 "i" {
          %v = loop.load %s[0] : memref<1xf32>
          loop.store %v, %y[0, %i] : memref<8x8xf32>
        }
        """,
    ) == [(0, 0)]


def row_normalisation(order: str, header: str = SQUARE, row: str = "%i") -> str:
    sum_ = f'loop.for %k = 0 to 8 "k" {{ %v = loop.load %x[{row}, %k] : T loop.store %v, %s[0] : memref<1xf32> }}'
    scale = 'loop.for %j = 0 to 8 "j" { %w = loop.load %s[0] : memref<1xf32> loop.store %w, %y[%i, %j] : T }'
    parts = {"sum": sum_, "scale": scale}
    body = " ".join(parts[word] for word in order.split())
    type_ = "memref<?x8xf32>" if "?" in header else "memref<8x8xf32>"
    upper = "%N" if "?" in header else "8"
    return f'%s = memref.alloca() : memref<1xf32> loop.for %i = 0 to {upper} "i" {{ {body} }}'.replace("T", type_)


def test_a_row_is_read_before_it_is_written():
    """A softmax reads x[i, k] for all k, then writes y[i, j] for all j."""
    assert pairs(SQUARE, row_normalisation("sum scale")) == [(0, 0)]
    symbolic = "ins(%x: memref<?x8xf32> [N, 8]) outs(%y: memref<?x8xf32> [N, 8]) symbols(%N)"
    assert pairs(symbolic, row_normalisation("sum scale", symbolic)) == [(0, 0)]


def test_a_row_is_written_before_it_is_read():
    assert pairs(SQUARE, row_normalisation("scale sum")) == []


def test_the_row_above_is_read():
    assert pairs(SQUARE, row_normalisation("sum scale", row="7 - %i")) == []


def test_flat_vectors():
    """Rows of 8 apart, 8 lanes; with 9 lanes a vector reaches into the next row."""
    body = """
      loop.for %i = 0 to 8 "i" {{
        %v = loop.load %x[8 * %i] : memref<72xf32>, vector<{0}xf32>
        loop.store %v, %y[8 * %i] : memref<72xf32>, vector<{0}xf32>
      }}
    """
    header = "ins(%x: memref<72xf32>) outs(%y: memref<72xf32>)"
    assert pairs(header, body.format(8)) == [(0, 0)]
    assert pairs(header, body.format(9)) == []


@pytest.mark.parametrize(
    ("read", "written", "length", "expected"),
    [
        ("%N * %i + %j", "%N * %i + %j", "%N", True),
        ("%N * %i + %j", "%N * %i + %j", "%N + 1", False),  # rows overlap
        ("%N * %i + %j", "%N * %j + %i", "%N", False),  # a transpose
        ("%N * %i + %N - %j - 1", "%N * %i + %j", "%N", False),  # a reversal
        ("%N * %M * %i + %N * %m + %j", "%N * %M * %i + %N * %m + %j", "%N", True),
        ("%N * %M * %i + %N * %m + %j", "%N * %M * %i + %j * %M + %m", "%N", False),  # of matrices
    ],
)
def test_flat_rows_of_symbolic_length(read: str, written: str, length: str, expected: bool):
    body = f"""
      loop.for %i = 0 to %N "i" {{
        {'loop.for %m = 0 to %M "m" {' if "%m" in read else ""}
        loop.for %j = 0 to {length} "j" {{
          %v = loop.load %x[{read}] : memref<?xf32>
          loop.store %v, %y[{written}] : memref<?xf32>
        }}
        {"}" if "%m" in read else ""}
      }}
    """
    header = "ins(%x: memref<?xf32> [N * M * N]) outs(%y: memref<?xf32> [N * M * N]) symbols(%N, %M)"
    assert pairs(header, body) == ([(0, 0)] if expected else [])


def test_flat_rows_of_symbolic_length_read_before_they_are_written():
    """A softmax does so."""
    body = """
      %s = memref.alloca() : memref<1xf32>
      loop.for %i = 0 to %M "i" {
        loop.for %k = 0 to %N "k" {
          %v = loop.load %x[%N * %i + %k] : memref<?xf32>
          loop.store %v, %s[0] : memref<1xf32>
        }
        loop.for %j = 0 to %N "j" {
          %v = loop.load %s[0] : memref<1xf32>
          loop.store %v, %y[%N * %i + %j] : memref<?xf32>
        }
      }
    """
    header = "ins(%x: memref<?xf32> [M * N]) outs(%y: memref<?xf32> [M * N]) symbols(%M, %N)"
    assert pairs(header, body) == [(0, 0)]
    assert pairs(header, body.replace("%N * %i + %k", "%N * %i + %k + 1")) == []


def test_types_must_agree():
    body = """
      loop.for %i = 0 to 8 "i" {
        %v = loop.load %x[%i, 0] : memref<8x1xf32>
        loop.store %v, %y[%i] : memref<8xf32>
      }
    """
    assert pairs("ins(%x: memref<8x1xf32>) outs(%y: memref<8xf32>)", body) == []


def test_every_pair_is_listed():
    """x0 + x1: either input may be overwritten."""
    body = """
      loop.for %i = 0 to 8 "i" {
        %v = loop.load %x[%i] : memref<8xf32>
        %w = loop.load %z[%i] : memref<8xf32>
        %s = arith.addf %v, %w : f32
        loop.store %s, %y[%i] : memref<8xf32>
      }
    """
    assert pairs("ins(%x: memref<8xf32>, %z: memref<8xf32>) outs(%y: memref<8xf32>)", body) == [(0, 0), (1, 0)]


def test_a_declaration_says_so_itself():
    module = SourceParser(
        make_context(),
        "loop.kernel @k ins(%a: memref<4xf32>, %b: memref<4xf32>) outs(%c: memref<4xf32>) in_place [1 -> 0]",
        "<test>",
    ).parse_module()
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    assert in_place_pairs(kernel) == [(1, 0)]


def test_branches_of_one_loop():
    """The first iteration writes one column, the second another, both of what they read of a third: no branch writes
    what it reads later itself, but the first has written when the second reads. Elements of their own are copied."""

    def rows(column: int) -> str:
        return f"""
        loop.for %i = 0 to 8 "i" {{
          %v = loop.load %x[%i, 0] : memref<8x8xf32>
          loop.store %v, %s[0] : memref<1xf32>
        }}
        loop.for %i = 0 to 8 "i" {{
          %v = loop.load %s[0] : memref<1xf32>
          loop.store %v, %y[%i, {column}] : memref<8x8xf32>
        }}"""

    row = copy("%p, %j", "%p, %j", "j: 8")
    for first, second, expected in ((rows(0), rows(4), []), (row, row, [(0, 0)])):
        choice = f"loop.if [-%p >= 0] {{ {first} }} else {{ {second} }}"
        body = f'%s = memref.alloca() : memref<1xf32> loop.for %p = 0 to 2 "p" {{ {choice} }}'
        assert pairs(SQUARE, body) == expected


def test_what_tiles_touch_is_not_shared():
    """A tile is read as a whole while elements are written; without it, nothing reads %x."""
    header = "ins(%x: memref<512xf32>) outs(%y: memref<512xf32>)"
    assert pairs(header, "") == [(0, 0)]
    tile = """%acc = memref.alloca() : memref<256xf32, "amx">
      loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1]
        from %acc[0] of [16, 16] strides [16, 1] : memref<512xf32>, memref<256xf32, "amx">"""
    assert pairs(header, tile) == []
