"""Excel workbooks, with files that openpyxl writes as people do."""

import datetime
import io
import re
import zipfile

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


def changed(old, new):
    """A workbook with other XML in its sheet."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book(["id"], ["a"]))) as whole, zipfile.ZipFile(made, "w") as archive:
        for name in whole.namelist():
            data = whole.read(name)
            assert old in data or not name.endswith("sheet1.xml")
            archive.writestr(name, data.replace(old, new))
    return made.getvalue()


def compressed():
    return book(["id"], *([str(row)] for row in range(1000)))


def test_rows_are_read_whatever_the_file_says_of_its_size():
    data = changed(b'ref="A1:A2"', b'ref="A1"')
    assert excel.decode(data) == {"id": ["a"]}


def test_a_second_sheet_of_the_same_columns_is_refused_and_notes_are_not():
    for first_cell, refused in (("id", True), ("note", False)):
        made = openpyxl.load_workbook(io.BytesIO(book(["id", "x"], ["a", 1])))
        more = made.create_sheet("batch 2")
        more.append([first_cell, "x"])
        more.append(["b", 2])
        file = io.BytesIO()
        made.save(file)
        if refused:
            with pytest.raises(InvalidInput, match="the sheet 'batch 2' has the same columns as the first one"):
                excel.decode(file.getvalue())
        else:
            assert excel.decode(file.getvalue()) == {"id": ["a"], "x": [1]}


@pytest.mark.parametrize("code", ["#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
def test_errors_are_refused_by_row_and_column_and_texts_like_them_are_not(code):
    data = book(["id", "w"], ["a", 1], [], ["b", code])  # openpyxl writes such a text as an error
    with pytest.raises(InvalidInput, match=f"^row 2 of column 'w' holds the error {re.escape(code)}; correct the"):
        excel.decode(data)
    with pytest.raises(InvalidInput, match=f"^the header holds the error {re.escape(code)}; correct the"):
        excel.decode(book(["id", code], ["a", 1]))
    with pytest.raises(InvalidInput, match="row 1 of column '' holds the error #N/A"):
        excel.decode(book(["id"], ["a", "#N/A"]))
    assert excel.decode(excel.encode({"id": [code], code: ["x"]})) == {"id": [code], code: ["x"]}


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
        (changed(b"<sheetData>", b"<sheetData><row r="), "this workbook is damaged"),
        (changed(b'ref="A1:A2"', b'to="A1"'), "this workbook is damaged"),
        (compressed()[:1000] + bytes(50) + compressed()[1050:], "this workbook is damaged"),
    ],
    # A workbook holds the time it was made, so as a name it would differ from one process to the next.
    ids=["no workbook", "cut", "empty", "two columns alike", "a long row", "broken XML", "unknown XML", "broken bytes"],
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
    with pytest.raises(InvalidInput, match="row 1 is called 'x' and column 2 'a'"):
        excel.decode(book([None, "a", "b"], ["x", 0, 1], ["b", 2, 0]))


@pytest.mark.parametrize(
    ("value", "message"), [("x" * 40_000, "40,000 characters"), ("a\0", "NUL"), ({1: 2}.keys(), "no cell")]
)
def test_what_no_cell_holds_is_refused_by_row(value, message):
    with pytest.raises(InvalidInput, match=f"row 2 holds .*{message}"):
        excel.encode({"id": ["a", value]})
