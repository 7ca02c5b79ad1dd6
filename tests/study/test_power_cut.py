"""A power cut at any moment: what was acknowledged before it is in the study after it.

A process writes a study under strace. Its calls are replayed on a simulated disk that keeps only what was flushed:
the bytes of a file up to its last fsync, the names in a folder up to the folder's last fsync. Cut off after each of
many calls, the disk is written to a folder and opened. A second disk also keeps some of what was not flushed, in any
combination, as real ones may.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from ordinate import Study
from ordinate.errors import NotAStudy, StudyNotFound

WRITER = """
import os, sys
from ordinate import Comparison, Items, Study

def acknowledge(count):
    os.write(1, f"stored {count}\\n".encode())

address = sys.argv[1]
study = Study.create(Items([str(row) for row in range(12)]), algorithm="uniform-independent", storage=address)
acknowledge(len(study.comparisons()))
for _ in range(4):
    study.tell(study.ask("Ann").id, "left")
    acknowledge(len(study.comparisons()))
study.record([Comparison("1", str(2 + row), "tie") for row in range(5)])
acknowledge(len(study.comparisons()))
study.add_items(Items(["new"]))
with study.serving():
    for _ in range(8):
        study.tell(study.ask("Bea").id, "right")
        acknowledge(len(study.comparisons()))
study.tell(study.ask("Ann").id, "left")
acknowledge(len(study.comparisons()))
study.close()
"""
CALLS = "openat,close,dup,pwrite64,write,ftruncate,fsync,fdatasync,unlink,rename,link"
CUTS = 200

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
    pytest.mark.xdist_group("power_cut"),  # one trace for all
]


@dataclass
class File:
    """The flushed bytes of a file, and what was written since: (offset, bytes), or (length, None) for a truncation."""

    flushed: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def contents(self, kept: list[bool] | None = None) -> bytes:
        """With the pending writes that are kept; None: with none."""
        data = bytearray(self.flushed)
        for (offset, written), keep in zip(self.pending, kept or [False] * len(self.pending), strict=True):
            if not keep:
                continue
            if written is None:
                data = data[:offset].ljust(offset, b"\0")
            else:
                data = data.ljust(offset, b"\0")
                data[offset : offset + len(written)] = written
        return bytes(data)


class Disk:
    """One folder. `names` are the flushed ones; `changed` the (name, file or None) given or taken since, in order."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names: dict[str, File] = {}
        self.changed: list[tuple[str, File | None]] = []
        self._open: dict[int, File | None] = {}

    def seen(self) -> dict[str, File]:
        """The names as a running process sees them."""
        return self._names(len(self.changed))

    def after_cut(self, rng: np.random.Generator | None) -> dict[str, bytes]:
        """What is there after a power cut: what was flushed, and with a generator some of the rest."""
        names = self._names(0 if rng is None else int(rng.integers(len(self.changed) + 1)))
        return {
            name: file.contents(None if rng is None else (rng.random(len(file.pending)) < 0.5).tolist())
            for name, file in names.items()
        }

    def call(self, name: str, arguments: list[str], result: int) -> None:
        paths = [_inside(self.folder, argument) for argument in arguments]
        if name == "openat" and paths[1] is not None:
            file = None if paths[1] == "" else self.seen().get(paths[1])
            if file is None and paths[1]:
                file = File()
                self.changed.append((paths[1], file))
            self._open[result] = file
        elif name == "close":
            self._open.pop(int(arguments[0]), None)
        elif name == "unlink" and paths[0] is not None:
            self.changed.append((paths[0], None))
        elif name in ("link", "rename") and paths[0] is not None and paths[1] is not None:
            self.changed.append((paths[1], self.seen()[paths[0]]))
            if name == "rename":
                self.changed.append((paths[0], None))
        elif name not in ("openat", "unlink", "link", "rename") and (descriptor := int(arguments[0])) in self._open:
            self._on_open(name, self._open[descriptor], arguments)

    def _on_open(self, name: str, file: File | None, arguments: list[str]) -> None:
        if name in ("fsync", "fdatasync"):
            if file is None:
                self.names, self.changed = self.seen(), []
            else:
                file.flushed, file.pending = file.contents([True] * len(file.pending)), []
        elif name == "pwrite64" and file is not None:
            file.pending.append((int(arguments[3]), _bytes(arguments[1])))
        elif name == "ftruncate" and file is not None:
            file.pending.append((int(arguments[1]), None))
        else:
            raise AssertionError(f"the simulated disk does not know {name}{arguments}")

    def _names(self, count: int) -> dict[str, File]:
        names = dict(self.names)
        for name, file in self.changed[:count]:
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file
        return names


def _bytes(argument: str) -> bytes:
    return bytes.fromhex(argument.strip('"').replace("\\x", ""))


def _inside(folder: str, argument: str) -> str | None:
    """The name of a path in the folder, "" for the folder itself, None for anything else."""
    if not argument.startswith('"\\x'):
        return None
    path = _bytes(argument).decode(errors="replace")
    if path == folder:
        return ""
    return path.removeprefix(folder + "/") if path.startswith(folder + "/") else None


def calls(trace: Path) -> Iterator[tuple[str, list[str], int]]:
    """Name, arguments and result of each call that succeeded. strace splits a call that another thread interrupts."""
    begun: dict[str, str] = {}
    for line in trace.read_text().splitlines():
        process, _, rest = line.partition(" ")
        if rest.lstrip().startswith("<... "):
            rest = begun.pop(process) + rest.partition(" resumed>")[2]
        elif rest.endswith("<unfinished ...>"):
            begun[process] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        found = re.fullmatch(r"(\w+)\((.*)\) += (\d+).*", rest.strip())
        if found:
            yield found[1], [argument.strip() for argument in found[2].split(",")], int(found[3])


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("study")
    out = folder.parent / "trace"
    command = ["strace", "-f", "-xx", "-s", "1000000", "-o", str(out), "-e", f"trace={CALLS}", sys.executable, "-c"]
    done = subprocess.run([*command, WRITER, f"sqlite:///{folder / 'study.db'}"], capture_output=True, text=True)
    if "ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return out, str(folder)


@pytest.mark.parametrize("keep_some", [False, True], ids=["only what was flushed", "some of the rest, too"])
def test_no_acknowledged_answer_is_lost_in_a_power_cut(
    trace: tuple[Path, str], keep_some: bool, tmp_path: Path
) -> None:
    every = list(calls(trace[0]))
    writes = [place for place, (name, *_) in enumerate(every) if name not in ("close", "dup")]
    cuts = {writes[place] for place in np.linspace(0, len(writes) - 1, CUTS).astype(int)}
    disk, acknowledged, most = Disk(trace[1]), -1, 0
    for place, (name, arguments, result) in enumerate(every):
        if name == "write":
            # A process that a library starts may write something else.
            if arguments[0] == "1" and (told := re.fullmatch(rb"stored (\d+)\n", _bytes(arguments[1]))):
                acknowledged = int(told[1])
        else:
            disk.call(name, arguments, result)
        if place in cuts:
            folder = tmp_path / str(place)
            folder.mkdir()
            rng = np.random.default_rng(place) if keep_some else None
            for file, data in disk.after_cut(rng).items():
                (folder / file).write_bytes(data)
            most = max(most, found := answers_in(folder / "study.db"))
            assert found >= acknowledged, f"{acknowledged} answers were acknowledged, {found} are there"
    assert acknowledged == most == 18


def answers_in(path: Path) -> int:
    """-1 where there is no study, as before it was made."""
    try:
        with Study.open(f"sqlite:///{path}") as study:
            return len(study.comparisons())
    except StudyNotFound:
        return -1
    except NotAStudy as error:
        raise AssertionError(f"the study cannot be read: {error}") from error


def test_the_simulated_disk_forgets_what_is_not_flushed() -> None:
    disk = Disk("/d")
    opened = ["AT_FDCWD", '"' + "".join(f"\\x{byte:02x}" for byte in b"/d/f") + '"', "O_RDWR|O_CREAT"]
    disk.call("openat", opened, 3)
    disk.call("pwrite64", ["3", '"\\x61"', "1", "0"], 1)
    assert disk.after_cut(None) == {}
    disk.call("openat", ["AT_FDCWD", '"\\x2f\\x64"', "O_RDONLY"], 4)
    disk.call("fsync", ["4"], 0)
    assert disk.after_cut(None) == {"f": b""}
    disk.call("fdatasync", ["3"], 0)
    disk.call("pwrite64", ["3", '"\\x62"', "1", "1"], 1)
    assert disk.after_cut(None) == {"f": b"a"}
    assert disk.seen()["f"].contents([True]) == b"ab"
