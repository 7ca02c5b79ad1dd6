"""The text of a file, which must be UTF-8, with or without a byte order mark. Errors name the line."""

import codecs

from ordinate.errors import InvalidInput

_SAVE = "save the file as UTF-8 (in a spreadsheet program: 'CSV UTF-8')"


def text_of(data: bytes) -> str:
    """The text, without a byte order mark. Raises InvalidInput on an empty file, another encoding, or a NUL."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidInput(f"line 1 begins as UTF-16, not UTF-8; {_SAVE}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise InvalidInput(f"line {_line(data, error.start)} is not UTF-8 (byte 0x{byte:02x}); {_SAVE}") from None
    if "\0" in text:
        raise InvalidInput(f"line {_line(data, data.index(0))} holds a NUL byte, so this is no UTF-8 text; {_SAVE}")
    if not text.strip():
        raise InvalidInput("the file is empty")
    return text


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
