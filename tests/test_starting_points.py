"""Each row of docs/starting-points.md leads to an ordering, in three commands at most, from a file like the row's."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate.__main__ import main

PAGE = (Path(__file__).parents[1] / "docs" / "starting-points.md").read_text(encoding="utf-8")
ROWS = {
    int(number): re.findall(r"`(ordinate [^`]*)`", commands)
    for number, commands in re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", PAGE, flags=re.MULTILINE)
}
BATTLES = "model_a,model_b,winner,judge\na,b,model_a,j\nb,c,model_a,j\na,c,model_a,k\nb,c,tie,k\na,b,tie (bothbad),k\n"
GENRES = "nr,review,length,genre\n" + "".join(
    f"{n},Review {n},{n * 3},{'drama' if n % 2 else 'crime'}\n" for n in range(6)
)
REPLIES = [("a", "b"), ("b", "c"), ("a", "c")]


def label_studio() -> str:
    """As its server exports: tasks with annotations, one of them cancelled."""
    selected = [("a", "b", "left"), ("c", "b", "right"), ("a", "c", "left")]
    tasks: list[dict[str, Any]] = [
        {
            "id": number,
            "data": {"text1": left, "text2": right},
            "annotations": [
                {
                    "completed_by": 1,
                    "was_cancelled": False,
                    "result": [{"from_name": "pw", "to_name": "pw", "type": "pairwise", "value": {"selected": side}}],
                }
            ],
        }
        for number, (left, right, side) in enumerate(selected, start=1)
    ]
    tasks[0]["annotations"].append({"completed_by": 2, "was_cancelled": True, "result": []})
    return json.dumps(tasks)


def argilla() -> str:
    return json.dumps(
        [
            {
                "id": str(number),
                "fields": {"prompt": "Why?", "response1": worse, "response2": better},
                "responses": {"preference": [{"value": ["response2", "response1"], "user_id": "u"}]},
            }
            for number, (better, worse) in enumerate(REPLIES)
        ]
    )


FILES = {
    "battles.csv": BATTLES,
    "models.csv": "id,size,price\na,9,1\nb,5,2\nc,1,1\nd,7,3\n",
    "crowd.csv": "worker,left,right,label\nw1,a,b,a\nw2,c,b,b\nw1,a,c,a\n",
    "games.csv": "winner_id,loser_id,count\na,b,3\nb,a,1\nb,c,4\na,c,2\n",
    "pwcmp.csv": "observer,condition_A,condition_B,is_A_selected\n1,a,b,1\n1,c,b,0\n2,a,c,1\n",
    "wins.csv": "id,a,b,c\na,0,3,4\nb,1,0,3\nc,0,1,0\n",
    "pairs.json": "[[0, 1], [1, 2], [0, 2]]",
    "triples.csv": "xs,ys,winners\na,b,1\nc,b,2\na,c,1\nb,c,0\n",
    "label-studio.json": label_studio(),
    "preferences.jsonl": "".join(
        json.dumps({"prompt": "Why?", "chosen": better, "rejected": worse}) + "\n" for better, worse in REPLIES
    ),
    "records.json": argilla(),
    "batch.csv": "HITId,WorkerId,AssignmentStatus,Input.left,Input.right,Answer.winner\n"
    "h1,w1,Approved,a,b,left\nh2,w1,Approved,c,b,right\nh3,w2,Approved,a,c,left\nh3,w3,Rejected,a,c,right\n",
    "survey.csv": "PROLIFIC_PID,Photo1,Photo2,Choice\np1,a,b,A\np1,c,b,B\np2,a,c,A\np2,b,c,same\np3,a,b,none\n",
    "best-worst.csv": "items,best,worst\na|b|c,a,c\na|b|c,a,c\n",
    "rankings.csv": "annotator,ranking\nann,a > b > c\nben,a > b = c\n",
    "names.txt": "Ada\nBea\nCleo\n",
    "reviews.csv": GENRES,
}


def prepare(folder: Path, row: int) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    if row == 16:
        (folder / "photos").mkdir()
        for grey in range(4):
            Image.new("L", (8, 8), 60 * grey).save(folder / "photos" / f"{grey}.png")
    if row == 19:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for cells in (["id", "text", "pages"], *([f"b{n}", f"Book {n}", 10 * n] for n in range(5))):
            book.active.append(cells)
        book.save(folder / "book.xlsx")
    if row == 20:
        datasets = pytest.importorskip("datasets")
        columns = {
            "text": [f"Text {n}" for n in range(8)],
            "embedding": np.random.default_rng(0).normal(size=(8, 4)).tolist(),
        }
        datasets.Dataset.from_dict(columns).save_to_disk(folder / "dataset")
    if row == 21:
        pydicom = pytest.importorskip("pydicom")
        (folder / "scans").mkdir()
        for name in ("CT_small.dcm", "MR_small.dcm"):
            shutil.copy(pydicom.data.get_testdata_file(name, download=False), folder / "scans" / name)


def test_there_are_more_than_sixteen_rows_of_three_commands_at_most() -> None:
    assert sorted(ROWS) == list(range(1, 22))
    assert all(1 <= len(commands) <= 3 for commands in ROWS.values())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("row", ROWS)
def test_the_commands_lead_to_an_ordering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], row: int
) -> None:
    prepare(tmp_path, row)
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(command)[1:] for command in ROWS[row]]
    assert commands[-1][0] == "order"
    for command in commands[:-1]:
        monkeypatch.setattr("sys.stdin", io.StringIO("1\n1\n1\nq\n" if command[0] == "annotate" else ""))
        assert main(command) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main([*commands[-1], "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["comparisons"] > 0
    ids = [item["id"] for item in result["items"]]
    if row == 15:
        assert set(ids) == set("abcd")
    elif row <= 14:
        assert ids == list("012" if row == 6 else "abc")
    else:
        assert len(ids) > 1


def test_the_python_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[1].split()[1:3] == ["1", "x"]
