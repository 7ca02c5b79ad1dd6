"""Odd files, and what becomes of each: the ids, answers or shape that are read, or the words of the error.

The files are made here, byte by byte, as other programs and people make them.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars
import pytest
from PIL import Image

from ordinate.data.cells import text_id
from ordinate.data.comparison_formats import read_comparison_file
from ordinate.data.formats import read_matrix
from ordinate.data.items import Items
from ordinate.data.media import check_shown
from ordinate.errors import InvalidInput


class Odd(NamedTuple):
    """A file, and the outcome: a pattern of the error's words, or what is read."""

    what: str
    name: str
    data: bytes
    outcome: Any


class Error(str):
    """A pattern of the words of an error."""


def parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    polars.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def npy(array: np.ndarray, *, pickles: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickles)
    return file.getvalue()


def npz(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


def zipped(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), "x")  # at a time that is always the same
    return file.getvalue()


def picture(kind: str, mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.effect_noise((40, 30), 80).convert(mode).save(file, kind)
    return file.getvalue()


def bomb() -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")


AB = ("a", "b")
TABLES = [
    Odd("UTF-8 with a byte order mark", "t.csv", "id,text\na,é\nb,y\n".encode("utf-8-sig"), AB),
    Odd(
        "UTF-16 with a mark", "t.csv", "id\na\nb\n".encode("utf-16"), Error("line 1 begins as UTF-16, not UTF-8; save")
    ),
    Odd(
        "UTF-16 without", "t.csv", "id\na\nb\n".encode("utf-16-le"), Error("line 1 holds a NUL byte.*save the file as")
    ),
    Odd("UTF-32", "t.csv", "id\na\nb\n".encode("utf-32"), Error("line 1 begins as UTF-16")),
    Odd(
        "Latin-1", "t.csv", b"id,text\na,caf\xe9\nb,y\n", Error(r"line 2 is not UTF-8 \(byte 0xe9\); save the file as")
    ),
    Odd("Windows line ends", "t.csv", b"id\r\na\r\nb\r\n", AB),
    Odd("old Macintosh line ends", "t.csv", b"id\ra\rb\r", AB),
    Odd("mixed line ends", "t.csv", b"id\r\na\nb\r", AB),
    Odd("no line end at the end", "t.csv", b"id\na\nb", AB),
    Odd("empty lines everywhere", "t.csv", b"\n\nid\n\na\n\n\nb\n\n", AB),
    Odd("quoted cells", "t.csv", b'"id","text"\n"a","x, ""y"""\n"b","two\nlines"\n', AB),
    Odd(
        "a quote that is never closed",
        "t.csv",
        b'id,text\na,"x\nb,y\n',
        Error("row that begins in line 2 cannot be read"),
    ),
    Odd("a quote within a cell", "t.csv", b'id,text\na,"x"y\nb,z\n', Error("line 2 cannot be read")),
    Odd("semicolons", "t.csv", b"id;text\na;x,1\nb;y,2\n", AB),
    Odd("tabs under .csv", "t.csv", b"id\ttext\na\tx\nb\ty\n", AB),
    Odd("the line of Excel that names the separator", "t.csv", b"sep=;\r\nid;text\r\na;x\r\nb;y\r\n", AB),
    Odd("a NUL in a cell", "t.csv", b"id\na\nb\0\n", Error("line 3 holds a NUL byte")),
    Odd("two columns of one name", "t.csv", b"id,text,id\na,x,b\n", Error("columns 1 and 3 are both called 'id'")),
    Odd("a column without a name", "t.csv", b",id\n0,a\n1,b\n", Error("column 1 has no name.*index=False")),
    Odd("a matrix of wins from pandas", "t.csv", b",a,b\na,0,1\nb,2,0\n", AB),
    Odd(
        "such a matrix with an item twice",
        "t.csv",
        b",a,a\na,0,1\na,2,0\n",
        Error("columns 2 and 3 are both called 'a'"),
    ),
    Odd("Excel's empty columns at the end", "t.csv", b"id,text,,\na,x,,\nb,y,,\n", AB),
    Odd("commas at the end of rows", "t.csv", b"id,text\na,x,\nb,y,,,\n", AB),
    Odd("Excel's empty rows at the end", "t.csv", b"id,text\na,x\nb,y\n,\n,\n", AB),
    Odd("empty rows everywhere", "t.csv", b'\nid;text;w\n;\na;x;1\n;;\n"";"";""\nb;y;2\n;;;;\n', AB),
    Odd("a row of spaces", "t.csv", b"id,text\na,x\n , \n", Error("row 2 has an empty id")),
    Odd("an empty row before a wrong one", "t.csv", b"id,text\n,\na,x\n,\n,y\n", Error("row 2 has an empty id")),
    Odd("separators alone", "t.csv", b",,\n,\n", Error("the header line names no column")),
    Odd("an empty cell in a table of one column", "t.csv", b'id\na\n""\n', Error("row 2 has an empty id")),
    Odd(
        "too many cells",
        "t.csv",
        b"id,text\na,x\nb,y,z\n",
        Error(r"row 2 \(line 3\) has 3 cells where the header has 2"),
    ),
    Odd("too few cells", "t.csv", b"id,text\na,x\nb\n", Error(r"row 2 \(line 3\) has 1 cells where the header has 2")),
    Odd("nothing", "t.csv", b"", Error("the file is empty")),
    Odd("spaces only", "t.csv", b" \n \n", Error("the file is empty")),
    Odd("a header only", "t.csv", b"id,text\n", ()),
    Odd("commas only", "t.csv", b",,\n,,\n", Error("the header line names no column")),
    Odd("no header", "t.csv", b"a,x\nb,y\n", Error("no column 'id'; the table has 'a', 'x'")),
    Odd("a header in capitals", "t.csv", b"ID,text\na,x\n", Error("column 'ID' looks like 'id'; rename")),
    Odd("a cell of a million characters", "t.csv", b"id,text\na," + b"x" * 10**6 + b"\nb,y\n", AB),
    Odd(
        "10,000 columns", "t.csv", b"id" + b",".join(b"%d" % n for n in range(10_000)) + b"\n", Error("no column 'id'")
    ),
    Odd("a line break in an id", "t.csv", b'id\n"a\nb"\nc\n', ("a\nb", "c")),
    Odd("a carriage return in an id", "t.csv", b'id\n"a\rb"\nc\n', ("a\rb", "c")),
    Odd("a smiley for an id", "t.csv", "id\n🙂\n👩‍👩‍👧\n".encode(), ("🙂", "👩‍👩‍👧")),
    Odd("marks from right to left in an id", "t.csv", "id\n\u202eba\nab\n".encode(), ("\u202eba", "ab")),
    Odd("characters of no width in an id", "t.csv", "id\na\u200b\na\n".encode(), ("a\u200b", "a")),
    Odd("a composed and a decomposed accent", "t.csv", "id\n\u00e9\ne\u0301\n".encode(), ("\u00e9", "e\u0301")),
    Odd("ids with leading zeros", "t.csv", b"id\n007\n7\n7.0\n", ("007", "7", "7.0")),
    Odd("ids of NaN words", "t.csv", b"id\nnan\nNA\nNULL\n-\n", ("nan", "NA", "NULL", "-")),
    Odd("dates for ids", "t.csv", b"id\n2024-01-31\n31.1.2024\n", ("2024-01-31", "31.1.2024")),
    Odd("spaces around ids", "t.csv", b"id\n a\na \n", (" a", "a ")),
    Odd("an id of spaces", "t.csv", b"id,x\na,1\n  ,2\n", Error("row 2 has an empty id")),
    Odd("an id twice", "t.csv", b"id\na\nb\na\n", Error("id 'a' stands in row 1 and in row 3")),
    Odd("formulas marked as texts", "t.csv", b"id\n'=1+1\n'@x\n", ("=1+1", "@x")),
    Odd("formulas", "t.csv", b"id\n=1+1\n@x\n", ("=1+1", "@x")),
    Odd("Group in capitals", "t.csv", b"id,Group\na,1\nb,1\n", Error("column 'Group' looks like 'group'")),
    Odd(
        "a spreadsheet under .csv",
        "t.csv",
        zipped("xl/workbook.xml"),
        Error("t.csv: this is a ZIP archive or a workbook"),
    ),
    Odd("gzip under .csv", "t.csv", gzip.compress(b"id\na\n"), Error("t.csv: this file is compressed by gzip; unpack")),
    Odd("Parquet under .csv", "t.csv", parquet(id=["a"]), Error("t.csv: this is a Parquet file.*call it .parquet")),
    Odd("an old workbook under .json", "t.json", b"\xd0\xcf\x11\xe0" + bytes(9), Error("a workbook of an old form")),
    Odd("a matrix under .csv", "t.csv", npy(np.ones((2, 2))), Error("call it .npy")),
    Odd("a spreadsheet", "t.ods", zipped("content.xml"), Error(r"unknown suffix '\.ods'; tables are \.csv")),
    Odd("a web page under .csv", "t.csv", b"<!DOCTYPE html>\n<html></html>\n", Error("no column 'id'")),
    Odd("no suffix", "items", b"id\na\n", Error("the name has no suffix; tables are .csv")),
    Odd("a suffix in capitals", "T.CSV", b"id\na\nb\n", AB),
    Odd("spaces and accents in the name", "meine Fotos – Größe.csv", b"id\na\nb\n", AB),
    Odd("a very long name", "x" * 250 + ".csv", b"id\na\nb\n", AB),
    Odd("a formula for a name", "=cmd|calc.csv", b"id\na\nb\n", AB),
    Odd("semicolons under .tsv", "t.tsv", b"id;text\na;x\n", Error("no column 'id'; the table has 'id;text'")),
    Odd("a list of objects", "t.json", b'[{"id": "a"}, {"id": "b", "more": 1}]', AB),
    Odd("numbers for ids", "t.json", b'[{"id": 7}, {"id": 8.0}, {"id": "007"}]', ("7", "8", "007")),
    Odd("a comma at the end", "t.json", b'[{"id": "a"},]', Error("this is no JSON: .*column")),
    Odd("cut JSON", "t.json", b'[{"id": "a"', Error("this is no JSON")),
    Odd("JSON Lines under .json", "t.json", b'{"id": "a"}\n{"id": "b"}\n', Error("as JSON Lines do; call it .jsonl")),
    Odd("5,000 digits", "t.json", b'[{"id": ' + b"9" * 5000 + b"}]", Error("t.json: a whole number has thousands of")),
    Odd("a number", "t.json", b"7", Error("the file must hold a list of objects")),
    Odd("columns instead of rows", "t.json", b'{"id": ["a", "b"]}', Error("the file must hold a list of objects")),
    Odd("a key twice", "t.json", b'[{"id": "a", "id": "b"}]', Error("the key 'id' stands twice")),
    Odd(
        "a list for an id", "t.json", b'[{"id": ["a"]}]', Error("the id in row 1 holds .*a nested value; give one text")
    ),
    Odd("an object for a text", "t.json", b'[{"id": "a", "text": {"x": 1}}]', Error("row 1 of 'text' holds .*nested")),
    Odd("null for an id", "t.json", b'[{"id": "a"}, {"id": null}]', Error("row 2 has an empty id")),
    Odd(
        "half a character", "t.json", b'[{"id": "\\ud800"}]', Error("the id in row 1 holds a character that is no text")
    ),
    Odd(
        "a NUL in a text", "t.json", b'[{"id": "a\\u0000"}]', Error("the id in row 1 holds a character that is no text")
    ),
    Odd("comments", "t.json", b'[{"id": "a"}] // items', Error("this is no JSON: Extra data")),
    Odd("nested too deeply", "t.json", b"[" * 100_000, Error("this JSON is nested too deeply")),
    Odd("JSON Lines with blank lines", "t.jsonl", b'{"id": "a"}\n\n \n{"id": "b"}\n\n', AB),
    Odd("JSON Lines as a list", "t.jsonl", b'[{"id": "a"}]\n', Error("line 1: .*each line must be an object")),
    Odd("a broken line", "t.jsonl", b'{"id": "a"}\n{"id": \n', Error("line 2: this is no JSON")),
    Odd("Windows lines", "t.ndjson", b'{"id": "a"}\r\n{"id": "b"}\r\n', AB),
    Odd("Parquet", "t.parquet", parquet(id=["a", "b"], x=[1.0, None]), AB),
    Odd("numbers with a gap for ids", "t.parquet", parquet(id=[1.0, 2.0], x=[1, 2]), ("1", "2")),
    Odd("a nested column for ids", "t.parquet", parquet(id=[["a"], ["b"]]), Error("the id in row 1 holds .*nested")),
    Odd(
        "a nested column for texts",
        "t.parquet",
        parquet(id=["a"], text=[{"x": 1}]),
        Error("row 1 of 'text' holds .*nested"),
    ),
    Odd("a nested column that is not used", "t.parquet", parquet(id=["a", "b"], x=[[1], [2]]), AB),
    Odd("cut Parquet", "t.parquet", parquet(id=["a"])[:-10], Error("this Parquet file is cut short")),
    Odd("damaged Parquet", "t.parquet", b"PAR1" + bytes(64) + b"PAR1", Error("this Parquet file is damaged")),
    Odd("a text under .parquet", "t.parquet", b"id\na\n", Error("this is no Parquet file")),
]
NUMBERS = [
    Odd("plain", "t.csv", b"id,x\na,1.5\nb,-2e3\n", (1.5, -2000.0)),
    Odd("spaces, a plus sign and a point alone", "t.csv", b"id,x\na, +.5\nb,2. \n", (0.5, 2.0)),
    Odd(
        "decimal commas",
        "t.csv",
        b'id;x\na;"1,5"\n',
        Error("'1,5', which is no number; write the decimals with a point"),
    ),
    Odd(
        "separators of thousands",
        "t.csv",
        b'id,x\na,"1,500"\n',
        Error("'1,500'.*leave out the separators of thousands"),
    ),
    Odd("apostrophes of thousands", "t.csv", b"id,x\na,1'500\n", Error("leave out the separators of thousands")),
    Odd(
        "spaces of thousands", "t.csv", "id,x\na,1\u202f500\n".encode(), Error("leave out the separators of thousands")
    ),
    Odd("underscores", "t.csv", b"id,x\na,1_000\n", Error("'1_000', which is no number")),
    Odd("percent", "t.csv", b"id,x\na,50%\n", Error("'50%', which is no number")),
    Odd("another minus sign", "t.csv", "id,x\na,\u22121\n".encode(), Error("which is no number")),
    Odd("Arabic digits", "t.csv", "id,x\na,٣\n".encode(), Error("which is no number")),
    Odd("hexadecimal", "t.csv", b"id,x\na,0x10\n", Error("'0x10', which is no number")),
    Odd("NaN", "t.csv", b"id,x\na,NaN\n", Error("row 1 of column 'x' is nan; fill it in or leave the item out")),
    Odd("infinity", "t.csv", b"id,x\na,-Infinity\n", Error("row 1 of column 'x' is -inf")),
    Odd("NA", "t.csv", b"id,x\na,NA\n", Error("'NA', which is no number")),
    Odd("a gap", "t.csv", b"id,x\na,1\nb,\n", Error("row 2 of column 'x' is empty")),
    Odd("too large", "t.csv", b"id,x\na,1e999\n", Error("row 1 of column 'x' is inf")),
    Odd("a date", "t.csv", b"id,x\na,2024-01-31\n", Error("'2024-01-31', which is no number")),
    Odd("texts of numbers in JSON", "t.json", b'[{"id": "a", "x": "1.5"}, {"id": "b", "x": 2}]', (1.5, 2.0)),
    Odd("JSON's NaN", "t.json", b'[{"id": "a", "x": NaN}]', Error("row 1 of column 'x' is empty")),
]
MATRICES = [
    Odd("Fortran order", "m.npy", npy(np.asfortranarray(np.ones((3, 2)))), (3, 2)),
    Odd("big-endian", "m.npy", npy(np.ones((3, 2), ">f4")), (3, 2)),
    Odd("no rows", "m.npy", npy(np.ones((0, 2))), (0, 2)),
    Odd(
        "objects", "m.npy", npy(np.array([[None]]), pickles=True), Error("the matrix holds Python objects, not numbers")
    ),
    Odd("cut", "m.npy", npy(np.ones((30, 20)))[:-1], Error("cut short or damaged")),
    Odd("cut in its header", "m.npy", npy(np.ones((3, 2)))[:20], Error("cut short or damaged")),
    Odd(
        "a header that promises too much",
        "m.npy",
        npy(np.ones((3, 2))).replace(b"(3, 2)", b"(9, 9)"),
        Error("cut short"),
    ),
    Odd("complex", "m.npy", npy(np.ones((3, 2)) * 1j), Error("the matrix holds complex128, not numbers")),
    Odd("texts", "m.npy", npy(np.array([["x"]])), Error("the matrix holds <U1, not numbers")),
    Odd("dates", "m.npy", npy(np.array([["2024-01-31"]], "M8[D]")), Error("not numbers")),
    Odd("one axis", "m.npy", npy(np.ones(3)), Error(r"shape \(3,\); for one column, reshape it")),
    Odd("three axes", "m.npy", npy(np.ones((1, 2, 3))), Error(r"shape \(1, 2, 3\)")),
    Odd("an archive", "m.npy", npz(np.ones((3, 2))), Error("this is a .npz archive")),
    Odd("a table", "m.npy", b"1,2\n3,4\n", Error("this is no .npy file")),
    Odd("nothing", "m.npy", b"", Error("the file is empty")),
    Odd("another suffix", "m.csv", npy(np.ones((3, 2))), Error("a feature matrix is a .npy file")),
]
COMPARISONS = [
    Odd("ids for winners", "c.csv", b"left,right,winner\na,b,b\n", [("a", "b", "right")]),
    Odd("sides for winners", "c.csv", b"left,right,winner\na,b,tie\n", [("a", "b", "tie")]),
    Odd(
        "sides in capitals",
        "c.csv",
        b"left,right,winner\na,b,LEFT\n",
        Error("row 1: unknown winner 'LEFT'.*: write 'left'"),
    ),
    Odd(
        "numbers of sides",
        "c.csv",
        b"left,right,winner\na,b,1\n",
        Error("row 1: unknown winner '1'; it is left, right,"),
    ),
    Odd("no winner", "c.csv", b"left,right,winner\na,b,\n", Error("row 1: unknown winner ''")),
    Odd("items called like sides", "c.csv", b"left,right,winner\nright,left,left\n", [("right", "left", "left")]),
    Odd("and winners by id", "c.csv", b"left,right,winner\nright,x,right\na,b,a\n", Error("row 1: .*read two ways")),
    Odd(
        "an item with itself",
        "c.csv",
        b"left,right,winner\na,a,left\n",
        Error("row 1: item 'a' is compared with itself"),
    ),
    Odd(
        "spaces in the header",
        "c.csv",
        b"left, right,winner\na,b,a\n",
        Error("no column 'right'; the table has .*' right'"),
    ),
    Odd("Excel's columns at the end", "c.csv", b"left,right,winner,,\na,b,a,,\n", [("a", "b", "left")]),
    Odd(
        "half a character in a preferred text",
        "c.json",
        b'[{"chosen": "\\ud800", "rejected": "b"}]',
        [(text_id("\ud800"), "b", "left")],
    ),
    Odd("numbers for ids", "c.json", b'[{"left": 1, "right": 2.0, "winner": 2}]', [("1", "2", "right")]),
]
PICTURES = [
    Odd("a PNG called .jpg", "p.jpg", picture("PNG"), None),
    Odd("a picture with rubbish behind it", "p.jpg", picture("JPEG") + b"rubbish", None),
    Odd("TIFF", "p.tif", picture("TIFF"), Error("is a TIFF picture, which browsers do not show")),
    Odd("TIFF called .jpg", "p.jpg", picture("TIFF"), Error("is a TIFF picture")),
    Odd("HEIC", "p.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(90), Error("is a HEIC picture")),
    Odd("JPEG 2000", "p.jp2", picture("JPEG2000"), Error("is a JPEG 2000 picture")),
    Odd("DICOM", "p.dcm", bytes(128) + b"DICM" + bytes(90), Error("is a DICOM picture")),
    Odd("SVG", "p.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", Error("is an SVG drawing")),
    Odd("a page of a captive network", "p.png", b"<html>Please log in</html>", Error("is an HTML page")),
    Odd("nothing", "p.png", b"", Error("is empty")),
    Odd("a cut JPEG", "p.jpg", picture("JPEG")[:-99], Error("is a picture that is cut short or damaged")),
    Odd("a cut PNG", "p.png", picture("PNG")[:-99], Error("is a picture that is cut short or damaged")),
    Odd("a decompression bomb", "p.png", bomb(), Error("is too large a picture")),
    Odd(".DS_Store", ".DS_Store", b"\0\0\0\1Bud1" + bytes(90), Error("is a folder's settings of macOS")),
    Odd("Thumbs.db", "Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(90), Error("is a Windows file")),
    Odd(
        "a Git LFS pointer",
        "p.png",
        b"version https://git-lfs.github.com/spec/v1\n",
        Error("is text, which browsers do"),
    ),
]


def ids(path: Path) -> tuple[str, ...]:
    return tuple(Items.read(path).ids)


def numbers(path: Path) -> tuple[float, ...]:
    return tuple(Items.read(path, feature_columns=["x"]).features[:, 0].tolist())


def shape(path: Path) -> tuple[int, ...]:
    return read_matrix(path).shape


def answers(path: Path) -> list[tuple[str, ...]]:
    return [one[:3] for one in read_comparison_file(path).comparisons]


def shown(path: Path) -> None:
    check_shown("image", path.name, path.parent)


FAMILIES: list[tuple[Callable[[Path], Any], list[Odd]]] = [
    (ids, TABLES),
    (numbers, NUMBERS),
    (shape, MATRICES),
    (answers, COMPARISONS),
    (shown, PICTURES),
]
ROWS = [pytest.param(read, odd, id=f"{read.__name__}-{odd.what}") for read, odds in FAMILIES for odd in odds]


@pytest.mark.parametrize(("read", "odd"), ROWS)
def test_outcome(tmp_path: Path, read: Callable[[Path], Any], odd: Odd) -> None:
    path = tmp_path / odd.name
    path.write_bytes(odd.data)
    if isinstance(odd.outcome, Error):
        with pytest.raises(InvalidInput, match=odd.outcome) as caught:
            read(path)
        assert read is shown or odd.name in str(caught.value), "the error names the file"
    else:
        assert read(path) == odd.outcome
    assert path.read_bytes() == odd.data
