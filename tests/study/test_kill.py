"""kill -9 at a random moment while answers stream in: no acknowledged answer is lost, none counts twice."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.study.study import Study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")

IDS = [str(row) for row in range(30)]
BATCH = 3

# A warm parent: for each address it reads it forks a child that answers until it is killed, and acknowledges each write
# in one line once the call has returned.
PARENT = f"""
import os, sys
from ordinate import Comparison, Items, Study

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def answer_forever(url, name):
    study = Study.open(url)
    say("open")
    count = 0
    while True:
        count += 1
        if count % 4 == 0:
            batch = f"{{name}}-{{count}}"
            study.record([Comparison("1", str(2 + place), "tie", batch) for place in range({BATCH})])
            say("batch", batch)
        else:
            query = study.ask("Ann")
            study.tell(query.id, "left")
            say("answer", query.left, query.right)

warm = Study.create(Items([str(row) for row in range(12)]), algorithm="uniform-independent")
warm.record([Comparison("1", str(2 + place), "tie") for place in range({BATCH})])
while "numba" not in sys.modules:  # which the first fit of a model imports: each child would take a second for it
    warm.tell(warm.ask().id, "left")
warm.ordering()
import ordinate.storage.sqlite
for number, line in enumerate(sys.stdin):
    child = os.fork()
    if not child:
        answer_forever(line.strip(), f"round-{{number}}")
    say("child", child)
    os.waitpid(child, 0)
    say("dead")
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def killed_round(parent: subprocess.Popen[str], url: str, writes: int, seconds: float) -> list[list[str]]:
    """Let a child acknowledge some writes and go on for a while, kill it, and return all that it acknowledged."""
    stdin, stdout = streams(parent)
    stdin.write(url + "\n")
    stdin.flush()
    acknowledged: list[list[str]] = []
    child = 0
    started = False
    while not (child and started and len(acknowledged) >= writes):
        words = stdout.readline().split()
        assert words, "the parent died"
        if words[0] == "child":
            child = int(words[1])
        elif words[0] == "open":
            started = True
        else:
            acknowledged.append(words)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    while (words := stdout.readline().split()) != ["dead"]:
        assert words, "the parent died"
        acknowledged.append(words)
    return acknowledged


def streams(parent: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert parent.stdin is not None
    assert parent.stdout is not None
    return parent.stdin, parent.stdout


@pytest.mark.parametrize(
    "rounds", [8, pytest.param(60, marks=pytest.mark.slow), pytest.param(200, marks=pytest.mark.load)]
)
def test_no_acknowledged_answer_is_lost_and_none_counts_twice(
    rounds: int, parent: subprocess.Popen[str], tmp_path: Path
) -> None:
    path = tmp_path / "study.db"
    url = f"sqlite:///{path}"
    Study.create(Items(IDS), algorithm="uniform-independent", storage=url).close()
    rng = np.random.default_rng(rounds)
    safe: list[Comparison] = []
    total = 0
    for _ in range(rounds):
        acknowledged = killed_round(parent, url, int(rng.integers(0, 5)), rng.uniform(0.0, 0.1))
        total += len(acknowledged)
        for kind, *words in acknowledged:
            if kind == "answer":
                safe.append(Comparison(words[0], words[1], "left", "Ann"))
            else:
                safe.extend(Comparison("1", str(2 + place), "tie", words[0]) for place in range(BATCH))

        with Study.open(url) as study:
            stored = study.comparisons()
            assert stored[: len(safe)] == safe
            unacknowledged = stored[len(safe) :]
            assert len(unacknowledged) in (0, 1, BATCH), "at most the one write that was under way, whole"
            safe = stored
            query = study.ask("Ann")
            study.tell(query.id, "right")
            safe.append(Comparison(query.left, query.right, "right", "Ann"))
            assert study.comparisons() == safe
        assert os.listdir(tmp_path) == ["study.db"]

    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    asked = Counter(number for (number,) in connection.execute("SELECT query FROM log WHERE kind = 'ask'"))
    answered = Counter(number for (number,) in connection.execute("SELECT query FROM log WHERE kind = 'answer'"))
    connection.close()
    assert set(asked.values()) == {1}
    assert set(answered.values()) == {1}
    assert total > rounds, "the children answered at all"
