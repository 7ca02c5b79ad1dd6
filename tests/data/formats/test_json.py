import pytest

from ordinate.data.formats import FORMATS
from ordinate.errors import InvalidInput

lines, whole = FORMATS[".jsonl"].decode, FORMATS[".json"].decode


def test_a_missing_key_is_none() -> None:
    expected = {"id": ["001", "b"], "text": ["x", None], "score": [None, 2]}
    assert lines(b'{"id": "001", "text": "x"}\r\n\n{"id": "b", "score": 2}') == expected
    assert whole(b'\xef\xbb\xbf[{"id": "001", "text": "x"}, {"id": "b", "score": 2}]') == expected


def test_a_line_separator_within_a_string_does_not_end_the_line() -> None:
    assert lines('{"id": "a\u2028b\x85"}\n'.encode()) == {"id": ["a\u2028b\x85"]}


def test_a_list_of_no_rows() -> None:
    assert whole(b"[]") == {}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"id": 1}\n\n{"id": 2', r"line 3: this is no JSON: .* \(column 9\)"),
        (b'{"id": 1}\n["a"]\n', r'line 2: this is \["a"\]; each line must be an object'),
        (b'{"id": 1}\n{"id": 1, "id": 2}', "line 2: the key 'id' stands twice"),
        (b'{"id": 1}\n' + b"[" * 100_000, "line 2: this JSON is nested too deeply"),
        (b'{"id": "caf\xe9"}', "line 1 is not UTF-8"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "line 1: a whole number has thousands of digits"),
    ],
)
def test_lines_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        lines(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'[\n{"id": 1},\n{"id" 2}]', r"no JSON: .*\(line 3, column 7\)"),
        (b'{"id": ["a"]}', "must hold a list of objects"),
        (b'[{"id": 1}, 7]', "row 2 is 7; each row must be an object"),
        (b'[{"id": 1, "id": 2}]', "the key 'id' stands twice"),
    ],
)
def test_list_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        whole(data)


def test_a_value_json_cannot_hold() -> None:
    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        FORMATS[".json"].encode({"id": [{1, 2}]})
