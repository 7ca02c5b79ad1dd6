"""The text of a file, which must be UTF-8, with or without a byte order mark. Errors name the line."""

import codecs

from ordinate.errors import InvalidInput

_SAVE_TABLE = "save the file as UTF-8 (in a spreadsheet program: 'CSV UTF-8')"
SAVE_TEXT = "save the file as UTF-8 (in a text editor: 'Save as', with the encoding UTF-8)"

_OTHERS = {
    b"\x1f\x8b": "this file is compressed by gzip; unpack it",
    b"PK\3\4": "this is a ZIP archive or a workbook, whatever its suffix says; unpack it, or call a workbook .xlsx",
    b"\xd0\xcf\x11\xe0": "this is a workbook of an old form, whatever its suffix says; save it as .xlsx or 'CSV UTF-8'",
    b"PAR1": "this is a Parquet file, whatever its suffix says; call it .parquet",
    b"\x93NUMPY": "this is a matrix of numpy.save, whatever its suffix says; call it .npy",
}
"""What files of other kinds begin with."""


def text_of(data: bytes, advice: str = _SAVE_TABLE) -> str:
    """The text, without a byte order mark. Raises InvalidInput on an empty file, another kind or encoding, or a NUL.

    `advice`: how to save the file in the right encoding.
    """
    for start, what in _OTHERS.items():
        if data.startswith(start):
            raise InvalidInput(what)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidInput(f"line 1 begins as UTF-16, not UTF-8; {advice}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise InvalidInput(f"line {_line(data, error.start)} is not UTF-8 (byte 0x{byte:02x}); {advice}") from None
    if "\0" in text:
        raise InvalidInput(f"line {_line(data, data.index(0))} holds a NUL byte, so this is no UTF-8 text; {advice}")
    if not text.strip():
        raise InvalidInput("the file is empty")
    return text


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
