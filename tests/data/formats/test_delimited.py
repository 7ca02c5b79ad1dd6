from typing import Any

import pytest

from ordinate.data.formats import FORMATS
from ordinate.errors import InvalidInput

decode = FORMATS[".csv"].decode


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"id,text\n001,x\n", {"id": ["001"], "text": ["x"]}),
        (b"id;text\n001;a, b\n", {"id": ["001"], "text": ["a, b"]}),
        (b"id\ttext\n001\ta;b, c\n", {"id": ["001"], "text": ["a;b, c"]}),
        (b"\xef\xbb\xbfid,text\na,\xc3\xa9\n", {"id": ["a"], "text": ["é"]}),
        (b"id,text\r\na,x\r\n", {"id": ["a"], "text": ["x"]}),
        (b"id,text\ra,x\r", {"id": ["a"], "text": ["x"]}),
        (b"id,text\na,x", {"id": ["a"], "text": ["x"]}),
        (b"\n\nid,text\n\na,x\n\n", {"id": ["a"], "text": ["x"]}),
        (b'"a;b;c",id\n1,2\n', {"a;b;c": ["1"], "id": ["2"]}),
        (b'id,text\na,"two\nlines, ""quoted"""\n', {"id": ["a"], "text": ['two\nlines, "quoted"']}),
        (b"id\na\n\nb\n", {"id": ["a", "b"]}),
        (b'id,size\na,5" disk\n', {"id": ["a"], "size": ['5" disk']}),
        (b"id,text\n", {"id": [], "text": []}),
        (b"id", {"id": []}),
        (b" id ,x\n a ,1\n", {" id ": [" a "], "x": ["1"]}),
        (b"id,text,,\na,x,,\nb,,,\n", {"id": ["a", "b"], "text": ["x", ""]}),
        (b"id,text\na,x,,\nb,y\n", {"id": ["a", "b"], "text": ["x", "y"]}),
        (b"id,text\na," + b"x" * 200_000, {"id": ["a"], "text": ["x" * 200_000]}),
    ],
)
def test_read(data: bytes, expected: dict[str, list[str]]) -> None:
    assert decode(data) == expected


def test_tsv_is_cut_at_tabs_only() -> None:
    assert FORMATS[".tsv"].decode(b"id;a,b\tx\n1\t2\n") == {"id;a,b": ["1"], "x": ["2"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,text\na,x\nb\n", r"row 2 \(line 3\) has 1 cells where the header has 2; .*comma in double quotes"),
        (b'id,text\na,"x\ny"\n\nb,1,2\n', r"row 2 \(line 5\) has 3 cells"),
        (b"id;text\na;b;c\n", r"semicolon in double quotes"),
        (b"id,text,id\na,x,b\n", "columns 1 and 3 are both called 'id'"),
        (b",a,b\na,0,1\nc,2,0\n", "row 2 is called 'c' and column 3 'b'"),
        (b",a,b\na,0,1\n", "there are 1 rows and 2 columns of counts"),
        (b",id\n0,a\n", r"column 1 has no name in the header line.*index=False"),
        (b"id, ,x\na,,1\n", "column 2 has no name"),
        (b",,\n1,2,3\n", "the header line names no column"),
        (b"id,,\na,,\nb,,x\n", r"row 2 \(line 3\) has 3 cells where the header has 1"),
        (b"id,text\na,caf\xe9\n", r"line 2 is not UTF-8 \(byte 0xe9\); save the file as UTF-8"),
        ("id,text\na,x\n".encode("utf-16"), "line 1 begins as UTF-16, not UTF-8; save the file"),
        ("id,text\na,x\n".encode("utf-16-le"), "line 1 holds a NUL byte"),
        (b"id,text\na,x\nb,\0\n", "line 3 holds a NUL byte"),
        (b'id,text\na,x\nb,"never closed\nc,y\n', "row that begins in line 3 cannot be read.*never closed"),
        (b'id,text\na,"x"y\n', "row that begins in line 2 cannot be read"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"\n \n", "the file is empty"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        decode(data)


def test_a_nul_is_not_written() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        FORMATS[".csv"].encode({"id": ["a\0b"]})


def test_written_as_other_programs_expect() -> None:
    table: dict[str, list[Any]] = {"id": ["a", "b"], "text": ["x, y", None]}
    assert FORMATS[".csv"].encode(table) == b'id,text\na,"x, y"\nb,\n'
    assert FORMATS[".tsv"].encode(table) == b"id\ttext\na\tx, y\nb\t\n"


def test_the_line_by_which_excel_names_the_delimiter_is_no_header() -> None:
    assert FORMATS[".csv"].decode(b"sep=;\r\nid;x\r\na;1\r\n") == {"id": ["a"], "x": ["1"]}
    with pytest.raises(InvalidInput, match="line 3"):
        FORMATS[".csv"].decode(b"sep=;\nid;x\na\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+SUM(A1)", "'+SUM(A1)"),
        ("-x", "'-x"),
        ("@home", "'@home"),
        ("\tx", "'\tx"),
        ("＝1", "'＝1"),
        ("'=1", "''=1"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        ("'-5", "''-5"),
        ("'tis", "'tis"),
        ("a=b", "a=b"),
    ],
)
def test_no_text_is_a_formula_in_a_spreadsheet_program(text: str, written: str) -> None:
    data = FORMATS[".csv"].encode({"id": [text]})
    assert data.decode("utf-8-sig") == f"id\n{written}\n"
    assert decode(data) == {"id": [text]}


def test_numbers_are_written_as_they_are() -> None:
    assert FORMATS[".csv"].encode({"score": [-0.5, 1, -1e-300]}) == b"score\n-0.5\n1\n-1e-300\n"


def test_excel_is_told_the_encoding_where_it_matters() -> None:
    assert FORMATS[".csv"].encode({"id": ["é"]}) == b"\xef\xbb\xbfid\n\xc3\xa9\n"
    assert FORMATS[".csv"].encode({"id": ["e"]}) == b"id\ne\n"
