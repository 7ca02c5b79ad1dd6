"""What every format keeps: a table that was written is read back; a failure leaves what was there before."""

import math
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordinate.data.formats import FORMATS, read_columns, write_columns
from ordinate.errors import InvalidInput, MissingExtra, StorageFailed

SUFFIXES = sorted(set(FORMATS) - ({".xlsx"} if find_spec("openpyxl") is None else set()))
TYPED = sorted(set(SUFFIXES) - {".csv", ".tsv"})
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.text(CHARACTERS, min_size=1, max_size=8).filter(str.strip)
TABLES = st.lists(NAMES, min_size=1, max_size=4, unique=True).flatmap(
    lambda names: st.lists(st.tuples(*[st.text(CHARACTERS, max_size=12) for _ in names]), min_size=1, max_size=5).map(
        lambda rows: {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    )
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(table=TABLES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_come_back(suffix: str, table: dict[str, list[str]]) -> None:
    if suffix == ".xlsx":  # which has no empty texts, only empty cells
        table = {name: [value or "-" for value in values] for name, values in table.items()}
    if suffix in (".csv", ".tsv") and len(table) > 1:  # where a row of empty cells is none
        first, *rest = table
        told = list(map(any, zip(*(table[name] for name in rest), strict=True)))
        table[first] = [value or ("" if full else "-") for value, full in zip(table[first], told, strict=True)]
    encoded = FORMATS[suffix].encode(table)
    assert FORMATS[suffix].decode(encoded) == table


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_is_written_and_read(tmp_path: Path, suffix: str) -> None:
    table = {"id": ["001", "b, c", 'say "hi"'], "text": ["line\nbreak", "tab\tand;", "naïve 日本 🙂"]}
    path = tmp_path / f"table{suffix}"
    write_columns(path, table)
    assert read_columns(path) == table
    assert read_columns(str(path)) == table
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", TYPED)
def test_types_are_kept(tmp_path: Path, suffix: str) -> None:
    table: dict[str, list[Any]] = {
        "rank": [1, 2],
        "score": [0.1, -1e-300],
        "note": [None, "x"],
        "empty": [None, None],
        "yes": [True, False],
    }
    write_columns(tmp_path / f"t{suffix}", table)
    back = read_columns(tmp_path / f"t{suffix}")
    assert back == table
    assert [type(value) for value in back["rank"]] == [int, int]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_text_formats_keep_every_digit(tmp_path: Path, suffix: str) -> None:
    write_columns(tmp_path / f"t{suffix}", {"rank": [1, 2], "score": [0.1 + 0.2, -1e-300], "note": [None, "x"]})
    back = read_columns(tmp_path / f"t{suffix}")
    assert back == {"rank": ["1", "2"], "score": ["0.30000000000000004", "-1e-300"], "note": ["", "x"]}


@pytest.mark.parametrize("suffix", sorted({".csv", ".tsv", ".parquet", ".xlsx"} & set(SUFFIXES)))
def test_a_table_of_no_rows_keeps_its_columns(tmp_path: Path, suffix: str) -> None:
    write_columns(tmp_path / f"t{suffix}", {"id": [], "score": []})
    assert read_columns(tmp_path / f"t{suffix}") == {"id": [], "score": []}


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".ndjson"])
def test_nan_becomes_null_in_json(tmp_path: Path, suffix: str) -> None:
    write_columns(tmp_path / f"t{suffix}", {"score": [math.nan, 1.0, math.inf]})
    assert read_columns(tmp_path / f"t{suffix}") == {"score": [None, 1.0, None]}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_refused_by_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.touch()
    with pytest.raises(InvalidInput, match=rf"t{suffix}: the file is empty"):
        read_columns(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_and_a_folder_are_bad_input(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InvalidInput, match=f"there is no file .*absent{suffix}"):
        read_columns(tmp_path / f"absent{suffix}")
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        read_columns(folder)
    with pytest.raises(InvalidInput, match="is a folder"):
        write_columns(folder, {"id": ["a"]})
    with pytest.raises(InvalidInput, match=r"there is no folder .*nowhere"):
        write_columns(tmp_path / "nowhere" / f"t{suffix}", {"id": ["a"]})
    (tmp_path / "plain").touch()
    with pytest.raises(InvalidInput, match="there is no file"):
        read_columns(tmp_path / "plain" / f"t{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_junk_is_bad_input_never_another_error(tmp_path: Path, suffix: str) -> None:
    whole = FORMATS[suffix].encode({"id": ["a", "b"], "score": [1.5, 2.5]})
    for junk in (
        b"\x00\x01\x02",
        b"\xff\xfe\x00",
        b"PAR1PAR1",
        b"PAR1" + bytes(64) + b"PAR1",
        whole[: len(whole) // 2],
    ):
        path = tmp_path / f"t{suffix}"
        path.write_bytes(junk)
        with suppress(InvalidInput):  # not pytest.raises: the first half of a CSV file may well be a CSV file
            read_columns(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_lone_surrogate_is_bad_input(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InvalidInput):
        write_columns(tmp_path / f"t{suffix}", {"id": ["\ud800"]})
    assert os.listdir(tmp_path) == []


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    write_columns(tmp_path / "T.CSV", {"id": ["a"]})
    assert read_columns(tmp_path / "T.CSV") == {"id": ["a"]}


@pytest.mark.parametrize("name", ["table.ods", "table"])
def test_an_unknown_suffix_lists_the_formats(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id\na\n")
    with pytest.raises(InvalidInput, match=r"suffix.*\.csv, \.tsv, \.jsonl, \.ndjson, \.json, \.parquet, \.xlsx"):
        read_columns(tmp_path / name)
    with pytest.raises(InvalidInput, match="suffix"):
        write_columns(tmp_path / name, {"id": ["a"]})
    assert (tmp_path / name).read_text() == "id\na\n"


def test_columns_of_different_lengths_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="different lengths"):
        write_columns(tmp_path / "t.csv", {"a": ["x"], "b": []})


def test_a_name_with_a_nul_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_columns(tmp_path / "a\0b.csv")


def test_parquet_without_polars_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1PAR1")
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ordinate\[parquet\]'"):
        read_columns(tmp_path / "t.parquet")
    with pytest.raises(MissingExtra):
        write_columns(tmp_path / "u.parquet", {"id": ["a"]})


def test_parquet_refuses_a_column_of_mixed_types(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="column 'mixed' holds values of different types"):
        write_columns(tmp_path / "t.parquet", {"mixed": [1, "a"]})


class TestWriting:
    def test_an_old_file_is_replaced_and_keeps_its_permissions(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("old")
        path.chmod(0o640)
        write_columns(path, {"id": ["a"]})
        assert path.read_bytes() == b"id\na\n"
        assert path.stat().st_mode & 0o777 == 0o640

    def test_a_link_keeps_pointing_at_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "real.csv").write_text("old")
        (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
        write_columns(tmp_path / "link.csv", {"id": ["a"]})
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "real.csv").read_bytes() == b"id\na\n"

    @pytest.mark.usefixtures("ordinary_user")
    def test_a_read_only_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "locked"
        folder.mkdir()
        (folder / "t.csv").write_text("old")
        folder.chmod(0o500)
        with pytest.raises(StorageFailed, match=r"could not be written: permission denied; .*choose another"):
            write_columns(folder / "t.csv", {"id": ["a"]})
        folder.chmod(0o700)
        assert os.listdir(folder) == ["t.csv"]
        assert (folder / "t.csv").read_text() == "old"

    @pytest.mark.usefixtures("ordinary_user")
    def test_a_file_that_may_not_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("id\na\n")
        path.chmod(0o000)
        with pytest.raises(StorageFailed, match="could not be read: permission denied") as caught:
            read_columns(path)
        assert caught.value.exit_code == 1

    def test_a_full_disk(self, tiny_disk: Path) -> None:
        write_columns(tiny_disk / "t.csv", {"id": ["a"]})
        with pytest.raises(StorageFailed, match="the disk is full; free some space"):
            write_columns(tiny_disk / "t.csv", {"id": ["x" * 500_000]})
        assert os.listdir(tiny_disk) == ["t.csv"]
        assert (tiny_disk / "t.csv").read_bytes() == b"id\na\n"

    def test_an_interrupt_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(descriptor: int) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_columns(tmp_path / "t.csv", {"id": ["a"]})
        assert os.listdir(tmp_path) == []
