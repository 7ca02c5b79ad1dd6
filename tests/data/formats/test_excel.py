"""Excel workbooks, with files that openpyxl writes as people do."""

import datetime
import io

import pytest

from ordinate.data.formats import excel
from ordinate.errors import InvalidInput

openpyxl = pytest.importorskip("openpyxl")


def book(*rows):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def test_numbers_dates_gaps_and_empty_rows():
    data = book(["id", "score", "when"], ["001", 1.5, datetime.date(2026, 1, 2)], [], [7, None, None], [None, 3])
    assert excel.decode(data) == {
        "id": ["001", 7, None], "score": [1.5, None, 3], "when": ["2026-01-02 00:00:00", None, None],
    }  # fmt: skip


def test_a_text_like_a_formula_is_no_formula():
    data = excel.encode({"id": ["=1+1", "+a"]})
    (sheet,) = openpyxl.load_workbook(io.BytesIO(data)).worksheets
    assert [cell.data_type for cell in sheet["A"]] == ["s", "s", "s"]
    assert excel.decode(data) == {"id": ["=1+1", "+a"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,text\n", "no .xlsx file"),
        (b"PK\3\4 cut", "this workbook is damaged"),
        (book(), "the first sheet is empty"),
        (book(["id", "id"]), "columns 1 and 2 are both called 'id'"),
        (book(["id"], ["a", "b"]), "row 1 has more cells than the header names"),
    ],
    # A workbook holds the time it was made, so as a name it would differ from one process to the next.
    ids=["no workbook", "cut", "empty", "two columns alike", "a long row"],
)
def test_what_is_wrong_is_said(data, message):
    with pytest.raises(InvalidInput, match=message):
        excel.decode(data)


def test_a_matrix_without_a_name_in_its_corner_is_read():
    assert excel.decode(book([None, "a", "b"], ["a", 0, 1], ["b", 2, 0])) == {
        "id": ["a", "b"],
        "a": [0, 2],
        "b": [1, 0],
    }
    with pytest.raises(InvalidInput, match="column 1 has no name"):
        excel.decode(book([None, "a", "b"], ["x", 0, 1], ["b", 2, 0]))


@pytest.mark.parametrize(("value", "message"), [("x" * 40_000, "40,000 characters"), ("a\0", "NUL"), ([1], "no cell")])
def test_what_no_cell_holds_is_refused_by_row(value, message):
    with pytest.raises(InvalidInput, match=f"row 2 holds .*{message}"):
        excel.encode({"id": ["a", value]})
