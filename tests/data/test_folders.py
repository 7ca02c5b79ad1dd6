"""A folder as a table of items."""

from pathlib import Path

import pytest
from PIL import Image

from ordinate.data.folders import list_folder
from ordinate.data.items import Items
from ordinate.errors import InvalidInput


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "sub" / ".hidden").mkdir(parents=True)
    (folder / "__MACOSX").mkdir()
    (folder / "study-pictures").mkdir()
    for name in ("b.jpg", "sub/a.PNG", "sub/.hidden/c.png", "__MACOSX/b.jpg", "study-pictures/w.png", "007", "d.tif"):
        Image.new("RGB", (4, 4)).save(folder / name, {".jpg": "JPEG", ".tif": "TIFF"}.get(Path(name).suffix, "PNG"))
    for name in (".DS_Store", "Thumbs.db", "~$notes.docx", "notes.pdf", "study.db"):
        (folder / name).write_bytes(b"x")
    return folder


def test_files_are_items_by_their_paths(photos: Path) -> None:
    listing = list_folder(photos)
    assert listing.columns == {
        "id": ["007", "b.jpg", "d.tif", "sub/a.PNG"],
        "image": ["007", "b.jpg", "d.tif", "sub/a.PNG"],
    }
    assert listing.ignored == [".DS_Store", "Thumbs.db", "__MACOSX/", "study-pictures/", "sub/.hidden/", "~$notes.docx"]
    assert listing.unknown == ["notes.pdf", "study.db"]
    assert Items.read(photos).content == {"image": ("007", "b.jpg", "d.tif", "sub/a.PNG")}


def test_texts_sounds_and_videos(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ein Text: ü", encoding="utf-8")
    (tmp_path / "b.mp3").write_bytes(b"ID3")
    (tmp_path / "c.mp4").write_bytes(b"\0\0\0\x20ftypisom")
    assert list_folder(tmp_path).columns == {
        "id": ["a.txt", "b.mp3", "c.mp4"],
        "audio": [None, "b.mp3", None],
        "video": [None, None, "c.mp4"],
        "text": ["Ein Text: ü", None, None],
    }


def test_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"has no pictures, sounds, videos, texts \(.txt, .md\) or pages \(.html\)$"):
        list_folder(tmp_path)
    (tmp_path / "a.pdf").touch()
    with pytest.raises(InvalidInput, match=r"it has 1 of other kinds, such as 'a.pdf'"):
        list_folder(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidInput, match=r"a\.txt: line 1 is not UTF-8"):
        list_folder(tmp_path)


def test_texts_in_another_encoding_are_named_together(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"essay {number}.txt").write_bytes("Müller".encode("latin-1"))
    (tmp_path / "good.txt").write_text("Müller", encoding="utf-8")
    (tmp_path / "blank.txt").write_text(" ")
    with pytest.raises(InvalidInput) as refused:
        list_folder(tmp_path)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path}: blank.txt: the file is empty; essay 0.txt: line 1 is not UTF-8 (byte 0xfc); ")
    assert "in a text editor" in said
    assert "spreadsheet" not in said
    assert said.endswith("; and 3 more")


def test_what_to_do_about_documents(tmp_path: Path) -> None:
    for name in ("a.docx", "b.docx"):
        (tmp_path / name).write_bytes(b"PK")
    advice = r"such as 'a\.docx'\. Save documents as plain text \(\.txt, UTF-8\), or their pages as pictures$"
    with pytest.raises(InvalidInput, match=advice):
        list_folder(tmp_path)
