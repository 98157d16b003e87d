"""The files of measurements are tables, and what pages say of them follows from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from results import FOLDER, page_with_results, summary_row, tables_of

VERDICTS = "onnx-node-tests"
"""The file of one verdict for each of ONNX's tests: docs/onnx_support.py makes tables of it."""

FILES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != VERDICTS)


@pytest.mark.parametrize("file", FILES)
def test_every_file_holds_tables(file: str):
    tables = tables_of(file)
    assert tables
    for table in tables.values():
        assert table["about"] and table["rows"]
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}, table["id"]


def test_a_summary_compares_with_the_faster_engine():
    columns = ["network", "one thread", "onnxruntime", "openvino", "two threads", "onnxruntime", "openvino"]
    rows = [["a", "1 ms", "2.0", "4.0", "1 ms", "1.0", "9.0"], ["b", "1 ms", "8.0", "9.0", "1 ms", "4.0", "3.0"]]
    row = summary_row({"machine": "M", "columns": columns, "rows": rows})
    assert row == ["M", "2", "4.00", "2.00", "1.73", "1.00"]


def test_a_page_gets_the_tables_that_it_names(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- results matrix-product: matrix-product-1 -->\nold\n<!-- end -->\nb\n")
    text = page_with_results(page)
    assert "| baseline | 4057 |" in text and "old" not in text and text.endswith("<!-- end -->\nb\n")
    page.write_text("<!-- results matrix-product: none -->\n<!-- end -->\n")
    with pytest.raises(KeyError, match="none"):
        page_with_results(page)
