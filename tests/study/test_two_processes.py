"""Two processes ask and tell on one file: no query number twice, no query answered twice, nothing lost."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(20)], np.random.default_rng(0).normal(size=(20, 3)))
ROUNDS = 25

# Answers its own queries, and races for those of nobody in particular; prints which answers were taken.
WORKER = f"""
import json, sys
from ordinate.errors import AlreadyAnswered
from ordinate import Study

url, name = sys.argv[1:]
study = Study.open(url)
study.ordering()
print("ready", flush=True)
sys.stdin.readline()
taken, refused = [], 0
for number in range({ROUNDS}):
    query = study.ask(name)
    study.tell(query.id, "left")
    taken.append(query)
    query = study.ask()
    try:
        study.tell(query.id, "tie")
        taken.append(query)
    except AlreadyAnswered:
        refused += 1
    if number % 10 == 5:
        taken.remove(study.undo(name))
print(json.dumps([taken, refused]))
"""


@pytest.mark.parametrize("algorithm", ["uniform-hybrid", pytest.param("guro-hybrid", marks=pytest.mark.slow)])
def test_two_processes_on_one_file(algorithm: str, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    url = f"sqlite:///{path}"
    Study.create(ITEMS, storage=url, algorithm=algorithm).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, url, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("Ann", "Bob")
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    outputs = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        outputs.append(worker.communicate(timeout=120)[0])
        assert worker.returncode == 0

    taken = [tuple(query) for output in outputs for query in json.loads(output)[0]]
    refused = sum(json.loads(output)[1] for output in outputs)
    assert len({query[0] for query in taken}) == len(taken), "no query answered by both"
    with Study.open(url) as study:
        stored = Counter((one.left, one.right, one.annotator) for one in study.comparisons())
        assert stored == Counter(query[1:] for query in taken)
        assert study.annotators() == {"Ann": ROUNDS - 2, "Bob": ROUNDS - 2, None: 2 * ROUNDS - refused}
    connection = sqlite3.connect(path)
    numbers = [number for (number,) in connection.execute("SELECT query FROM log WHERE kind = 'ask' ORDER BY position")]
    connection.close()
    assert numbers == list(range(1, len(numbers) + 1))
