"""Bad input, one row or more per kind: the exit code, one line that says what to do, and the study as it was."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ordinate.__main__ import main

COMMAND = [sys.executable, "-m", "ordinate"]


class Row(NamedTuple):
    """Files to write first, the command line, and phrases of the one line on standard error."""

    name: str
    files: Mapping[str, str | bytes | np.ndarray]
    line: str
    phrases: tuple[str, ...]
    code: int = 2


CREATE = "create new.db --items bad.csv"
MATRIX = "create new.db --items items.csv --features bad.npy"
COLUMNS = "create new.db --items bad.csv --feature-columns sharpness"
ADD = "add-items study.db --items bad.csv"
IMPORT = "import study.db bad.csv"
RECORDED = "simulate recorded --items items.csv --comparisons good.csv --seeds 1 --budget 1"
GOOD = {"good.csv": "left,right,winner\na,b,left\nb,c,left\nc,d,left\nd,a,left\na,c,left\nb,d,left\n"}
SYNTHETIC = "simulate synthetic --n 5 --d 2 --seeds 1 --budget 2"

ITEM_TABLES = [
    Row("missing file", {}, CREATE, ("bad.csv", "no file")),
    Row("a folder", {"folder.csv/x": ""}, "create new.db --items folder.csv", ("folder.csv", "folder")),
    Row("unknown suffix", {"bad.xls": "id\na\n"}, "create new.db --items bad.xls", (".xls", ".csv")),
    Row("no column of ids", {"bad.csv": "name\na\nb\n"}, CREATE, ("bad.csv", "'id'", "'name'")),
    Row("wrong id column", {"bad.csv": "id\na\nb\n"}, f"{CREATE} --id-column key", ("'key'", "'id'")),
    Row("wrong feature column", {"bad.csv": "id,sharp\na,1\nb,2\n"}, COLUMNS, ("'sharpness'", "'sharp'")),
    Row("duplicate id", {"bad.csv": "id\na\nb\na\n"}, CREATE, ("'a'", "row 1", "row 3")),
    Row("empty id", {"bad.csv": "id,text\na,x\n,y\n"}, CREATE, ("row 2", "empty id")),
    Row("empty group", {"bad.csv": "id,group\na,1\nb,\n"}, CREATE, ("row 2", "group")),
    Row("NaN", {"bad.csv": "id,sharpness\na,1\nb,nan\n"}, COLUMNS, ("row 2", "sharpness", "nan")),
    Row("infinite", {"bad.csv": "id,sharpness\na,1\nb,-inf\n"}, COLUMNS, ("row 2", "sharpness", "inf")),
    Row("empty number", {"bad.csv": "id,sharpness\na,1\nb,\n"}, COLUMNS, ("row 2", "sharpness", "empty")),
    Row("text for a number", {"bad.csv": "id,sharpness\na,1\nb,high\n"}, COLUMNS, ("row 2", "sharpness", "'high'")),
    Row("ragged rows", {"bad.csv": "id,text\na,x\nb,y,z\n"}, CREATE, ("bad.csv", "3")),
    Row("wrong encoding", {"bad.csv": "id,text\na,caf\xe9\nb,y\n".encode("latin-1")}, CREATE, ("bad.csv", "UTF-8")),
    Row("UTF-16", {"bad.csv": "id\na\nb\n".encode("utf-16")}, CREATE, ("bad.csv", "UTF-8")),
    Row("empty file", {"bad.csv": ""}, CREATE, ("bad.csv", "empty")),
    Row("header only", {"bad.csv": "id,text\n"}, CREATE, ("at least two items",)),
    Row("one item", {"bad.csv": "id\na\n"}, CREATE, ("at least two items",)),
    Row("one item in each group", {"bad.csv": "id,group\na,1\nb,2\n"}, CREATE, ("group",)),
    Row("broken JSON", {"bad.json": '[{"id": "a"'}, "create new.db --items bad.json", ("bad.json",)),
    Row("broken Parquet", {"bad.parquet": "PAR1..."}, "create new.db --items bad.parquet", ("bad.parquet",)),
    Row("missing image", {"bad.csv": "id,image\na,\nb,b.png\n"}, CREATE, ("row 2", "b.png")),
    Row("unknown algorithm", {}, "create new.db --items items.csv --algorithm best", ("'best'", "guro-hybrid")),
    Row("negative seed", {}, "create new.db --items items.csv --seed -1", ("--seed",)),
    Row("no items given", {}, "create new.db", ("--items",)),
    Row("no folder for the study", {}, "create no/new.db --items items.csv", ("no folder",)),
]
FEATURES = [
    Row("missing", {}, MATRIX, ("bad.npy", "no file")),
    Row("too few rows", {"bad.npy": np.ones((3, 2))}, MATRIX, ("3 rows", "4 items")),
    Row("NaN", {"bad.npy": np.array([[1.0], [2.0], [np.nan], [4.0]])}, MATRIX, ("'c'", "nan")),
    Row("infinite", {"bad.npy": np.array([[1.0], [2.0], [np.inf], [4.0]])}, MATRIX, ("'c'", "inf")),
    Row("texts", {"bad.npy": np.array([["x"]] * 4)}, MATRIX, ("numbers",)),
    Row("one axis", {"bad.npy": np.ones(4)}, MATRIX, ("(4,)",)),
    Row("objects", {"bad.npy": np.array([[None]] * 4)}, MATRIX, ("bad.npy",)),
    Row("no .npy inside", {"bad.npy": "id\na\n"}, MATRIX, ("bad.npy",)),
    Row("empty file", {"bad.npy": ""}, MATRIX, ("bad.npy",)),
    Row(
        "a block of other rows",
        {"bad.npy": np.ones((3, 1))},
        f"{MATRIX} --feature-columns contrast",
        ("'columns' of the features has 4 rows", "'features' has 3"),
    ),
    Row("other columns", {"bad.csv": "id,blur\ne,1\n"}, ADD, ("'sharpness'",)),
    Row(
        "other dimensions",
        {"bad.csv": "id\ne\n", "bad.npy": np.ones((1, 3))},
        f"{ADD} --features bad.npy",
        ("3 feature columns", "2"),
    ),
    Row(
        "other dimensions out of sample",
        {"bad.csv": "id\ne\n", "bad.npy": np.ones((1, 3))},
        "order study.db --items bad.csv --features bad.npy",
        ("3 feature columns", "2"),
    ),
    Row("an item added twice", {"bad.csv": "id,sharpness,contrast\na,1,1\n"}, ADD, ("'a'",)),
]
COMPARISONS = [
    Row("missing file", {}, IMPORT, ("bad.csv", "no file")),
    Row("missing column", {"bad.csv": "left,right\na,b\n"}, IMPORT, ("'winner'",)),
    Row("unknown winner", {"bad.csv": "left,right,winner\na,b,c\n"}, IMPORT, ("row 1", "'c'", "tie")),
    Row("unknown item", {"bad.csv": "left,right,winner\na,b,left\na,z,left\n"}, IMPORT, ("row 2", "'z'")),
    Row("item against itself", {"bad.csv": "left,right,winner\na,a,left\n"}, IMPORT, ("row 1", "'a'", "itself")),
    Row("empty item", {"bad.csv": "left,right,winner\na,,left\n"}, IMPORT, ("row 1", "empty")),
    Row("export without a format", {}, "export study.db out", ("out", ".csv")),
    Row("export over the study", {}, "export study.db study.db", ("study.db", ".csv")),
    Row("export to no folder", {}, "export study.db no/out.csv", ("no folder",)),
    Row("ordering to a folder", {"out.csv/x": ""}, "order study.db --out out.csv", ("folder",)),
]
ANSWERS = [
    Row("unknown query", {}, "tell study.db {token}-99 left", ("-99",)),
    Row("no query at all", {}, "tell study.db seven left", ("'seven'",)),
    Row("query of another study", {}, "tell study.db {other} left", ("{other}", "another study")),
    Row("unknown answer", {}, "tell study.db {open} both", ("'both'", "left", "tie")),
    Row("answered twice", {}, "tell study.db {done} right", ("{done}",)),
    Row("withdrawn after the answer", {}, "withdraw study.db {done}", ("{done}",)),
    Row("nothing to undo", {}, "undo study.db --annotator nobody", ("nobody",)),
    Row("unknown item excluded", {}, "exclude study.db --item z", ("'z'",)),
    Row("unknown annotator excluded", {}, "exclude study.db --annotator z", ("'z'",)),
    Row("unknown item included", {}, "include study.db --item z", ("'z'",)),
    Row("nothing named to exclude", {}, "exclude study.db", ("--item", "--annotator")),
    Row("count of none", {}, "ask study.db --count 0", ("--count",)),
]
STUDIES = [
    Row("exists already", {}, "create study.db --items items.csv", ("study.db", "exists")),
    Row("missing", {}, "ask missing.db", ("missing.db", "ordinate create")),
    Row("missing, ordering", {}, "order missing.db", ("missing.db", "ordinate create")),
    Row("a text", {"bad.db": "hello, world\n" * 100}, "status bad.db", ("bad.db",)),
    Row("an empty file", {"bad.db": b""}, "status bad.db", ("bad.db",)),
    Row("a folder", {"bad.db/x": ""}, "status bad.db", ("bad.db", "folder")),
    *(
        Row("a password in an address of no study", {}, f"status {form}://me:word@db/s", (f"{form}://me@db/s",))
        for form in ("postgresql+psycopg", "Postgresql", "mysql")
    ),
    Row("an unknown storage", {}, "status ftp://example.org/study.db", ("ftp://", "sqlite:///")),
]
USAGE = [
    Row("unknown command", {}, "sort study.db", ("sort", "--help")),
    Row("unknown option", {}, "ask study.db --fast", ("--fast", "ordinate ask --help")),
    Row("missing argument", {}, "ask", ("STUDY.db", "ordinate ask --help")),
    Row("text for a number", {}, "ask study.db --count many", ("--count", "integer")),
]
SIMULATIONS = [
    Row("unknown algorithm", {}, f"{SYNTHETIC} --algorithms guro-contextual,best", ("'best'", "guro-hybrid")),
    Row("no algorithm", {}, [*SYNTHETIC.split(), "--algorithms", ","], ("algorithm",)),  # type: ignore[arg-type]
    Row("budget of none", {}, f"{SYNTHETIC} --budget 0", ("--budget",)),
    Row("unknown scaling", {}, f"{SYNTHETIC} --scaling all", ("--scaling", "'all'")),
    Row("unknown suffix", {}, f"{SYNTHETIC} --out rows.xls", ("rows.xls", ".csv")),
    Row("unknown plot", {}, f"{SYNTHETIC} --plot error.bmp", ("error.bmp", ".png")),
    Row("no folder", {}, f"{SYNTHETIC} --out no/rows.csv", ("no folder",)),
    Row("missing task", {}, f"{SYNTHETIC} --task task.npz", ("task.npz",)),
    Row("broken task", {"task.npz": "x"}, f"{SYNTHETIC} --task task.npz", ("task.npz",)),
    Row("missing comparisons", {}, RECORDED, ("good.csv", "no file")),
    Row("unknown holdout", GOOD, f"{RECORDED} --holdout people", ("--holdout", "'people'")),
    Row("share beyond one", GOOD, f"{RECORDED} --share 1.5", ("1.5",)),
    Row("components of no features", GOOD, f"{RECORDED} --pca 0.9", ("no features",)),
    Row("components below zero", GOOD, f"{RECORDED} --feature-columns contrast --pca -1", ("--pca",)),
]
TABLE = {
    "items": ITEM_TABLES,
    "features": FEATURES,
    "comparisons": COMPARISONS,
    "answers": ANSWERS,
    "studies": STUDIES,
    "usage": USAGE,
    "simulations": SIMULATIONS,
}
ROWS = [pytest.param(row, id=f"{family}: {row.name}") for family, rows in TABLE.items() for row in rows]


def write(folder: Path, files: dict[str, str | bytes | np.ndarray]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, np.ndarray):
            np.save(path, content)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_complaint(err: str, phrases: tuple[str, ...], start: str = "Error: ") -> None:
    assert err.startswith(start)
    assert err.endswith("\n")
    assert err.count("\n") == 1, "more than one line"
    assert "Traceback" not in err
    for phrase in phrases:
        assert phrase in err


@pytest.fixture
def names(run, study, made_study, folder) -> dict[str, str]:
    """study.db with an answered and an open query, and the id of a query of another study."""
    assert run("create", "other.db", "--items", "items.csv").code == 0
    done = run("ask", "study.db", "--json").json["queries"][0]["id"]
    assert run("tell", "study.db", done, "left").code == 0
    return {
        "done": done,
        "open": run("ask", "study.db", "--json").json["queries"][0]["id"],
        "other": run("ask", "other.db", "--json").json["queries"][0]["id"],
        "token": done.rpartition("-")[0],
    }


@pytest.mark.parametrize("row", ROWS)
def test_is_refused_in_one_line(row, names, run, folder):
    write(folder, row.files)
    before = contents(folder)
    line = row.line.split() if isinstance(row.line, str) else row.line
    result = run(*(word.format(**names) for word in line))
    assert result.code == row.code
    check_complaint(result.err, tuple(phrase.format(**names) for phrase in row.phrases))
    assert result.out == ""
    assert contents(folder) == before, "a file was changed, made or left behind"


def test_a_byte_order_mark_does_no_harm(run, folder):
    (folder / "items.csv").write_bytes("id,text\na,x\nb,y\n".encode("utf-8-sig"))
    assert run("create", "new.db", "--items", "items.csv").code == 0


def test_the_complaint_cannot_steer_the_terminal(run, study):
    result = run("exclude", "study.db", "--item", "z\x1b[2J\nError: second line")
    check_complaint(result.err, ("\\x1b[2J",))


class TestDamagedStudies:
    def test_foreign_database(self, run, folder):
        with sqlite3.connect(folder / "bad.db") as connection:
            connection.execute("CREATE TABLE settings (name TEXT)")
        connection.close()
        before = contents(folder)
        result = run("status", "bad.db")
        assert result.code == 2
        check_complaint(result.err, ("bad.db",))
        assert contents(folder) == before

    @pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
    def test_cut_short(self, run, study, folder, keep):
        data = study.read_bytes()
        study.write_bytes(data[: int(len(data) * keep)])
        for line in (["status"], ["ask"], ["order"]):
            result = run(line[0], "study.db")
            assert result.code == 2
            check_complaint(result.err, ("study.db",))

    def test_overwritten_inside(self, run, study, folder):
        data = bytearray(study.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        study.write_bytes(data)
        result = run("order", "study.db")
        assert result.code == 2
        check_complaint(result.err, ("study.db",))


class TestHostileDisks:
    def test_read_only_folder(self, run, study, folder, ordinary_user):
        place = folder / "place"
        place.mkdir()
        (folder / "made.csv").write_text("left,right,winner\na,b,left\n")
        assert run("import", "study.db", "made.csv").code == 0
        shutil.copy(study, place / "study.db")
        shutil.copy(folder / "items.csv", place)
        before = contents(place)
        (place / "study.db").chmod(0o444)
        place.chmod(0o555)
        try:
            for line in (
                ["ask", "place/study.db"],
                ["create", "place/new.db", "--items", "place/items.csv"],
                ["export", "place/study.db", "place/out.csv"],
                ["order", "place/study.db", "--out", "place/out.csv"],
            ):
                result = run(*line)
                assert result.code == 1, line
                check_complaint(result.err, ("place",))
            assert run("order", "place/study.db").code == 0, "reading needs no permission to write"
            assert run("status", "place/study.db").code == 0
            assert contents(place) == before
        finally:
            place.chmod(0o755)

    def test_file_that_may_not_be_read(self, run, folder, ordinary_user):
        (folder / "items.csv").chmod(0o000)
        result = run("create", "new.db", "--items", "items.csv")
        assert result.code == 1
        check_complaint(result.err, ("items.csv",))
        assert not (folder / "new.db").exists()

    def test_full_disk(self, run, study, folder, tiny_disk):
        shutil.copy(study, tiny_disk / "study.db")
        place = str(tiny_disk / "study.db")
        query = run("ask", place, "--json").json["queries"][0]["id"]
        (folder / "made.csv").write_text("left,right,winner\n" + "a,b,left\n" * 3)
        assert run("import", place, "made.csv").code == 0
        with (tiny_disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"\0" * 4096)
            except OSError:
                pass
        before = (tiny_disk / "study.db").read_bytes()
        for line in (
            ["tell", place, query, "left"],
            ["import", place, "made.csv", "--again"],
            ["create", str(tiny_disk / "new.db"), "--items", "items.csv"],
            ["export", place, str(tiny_disk / "out.csv")],
        ):
            result = run(*line)
            assert result.code == 1, line
            check_complaint(result.err, ("full",))
        assert (tiny_disk / "study.db").read_bytes() == before
        assert sorted(os.listdir(tiny_disk)) == ["filler", "study.db"]
        (tiny_disk / "filler").unlink()
        assert run("tell", place, query, "left").code == 0
        assert run("status", place, "--json").json["comparisons"] == 4


class TestRealProcess:
    """The same through the interpreter: what a shell sees."""

    def test_bad_input(self, folder):
        done = subprocess.run([*COMMAND, "order", "missing.db"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        check_complaint(done.stderr, ("missing.db",))
        assert not (folder / "missing.db").exists()

    def test_installed_command(self, folder):
        command = Path(sys.executable).with_name("ordinate")
        if not command.exists():
            pytest.skip("the package is not installed beside this interpreter")
        done = subprocess.run([command, "ask"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        check_complaint(done.stderr, ("ordinate ask --help",))

    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_interrupt_during_a_simulation(self, folder, jobs):
        line = ["simulate", "synthetic", "--n", "60", "--d", "5", "--budget", "100000", "--seeds", "2", "--jobs", jobs]
        started = subprocess.Popen(
            [*COMMAND, *line, "--out", "rows.csv"], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        time.sleep(7.0)  # until it runs, and its workers with it
        assert started.poll() is None
        # As Ctrl-C in a terminal does: to the command and its workers alike.
        os.killpg(started.pid, signal.SIGINT)
        _, err = started.communicate(timeout=30)
        assert started.returncode == 130
        check_complaint(err, (), start="Interrupted. ")
        assert list(folder.glob("*rows*")) == []

    @pytest.mark.skipif(os.name != "posix", reason="a shell's pipe")
    def test_reader_that_goes_away(self, folder):
        # More than a pipe holds, of few items: ranks of thousands would take seconds.
        rest = "-" + 200 * "x"
        (folder / "many.csv").write_text("id\n" + "".join(f"item-{number}{rest}\n" for number in range(400)))
        assert main(["create", "many.db", "--items", "many.csv", "--algorithm", "uniform-independent"]) == 0
        (folder / "made.csv").write_text(f"left,right,winner\nitem-0{rest},item-1{rest},left\n")
        assert main(["import", "many.db", "made.csv"]) == 0
        for line in ("order many.db", "order many.db --json"):
            shell = f"{' '.join(COMMAND)} {line} | head -n 1"
            done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
            assert done.stderr == ""
            assert done.stdout.count("\n") == 1
