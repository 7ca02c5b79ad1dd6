"""The example of docs/model-judges.md runs, against an endpoint of this test."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.judges.conftest import Answer, Model, Sent, completion, model

from ordinate.__main__ import main

__all__ = ["model"]
PAGE = (Path(__file__).parents[1] / "docs" / "model-judges.md").read_text(encoding="utf-8")


def longer(sent: Sent) -> Answer:
    first, second = sent.texts[1:]
    return completion("[[A]]" if len(first) > len(second) else "[[B]]")


def test_the_example_runs(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model.answer = longer
    for name, kind in (("replies.csv", "csv"), ("prompt.txt", "text")):
        (content,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)
        Path(name).write_text(content)
    (commands,) = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    said = []
    for line in commands.splitlines():
        command = [one.replace("http://localhost:8000/v1", model.url) for one in shlex.split(line)]
        assert main(command[1:]) == 0, capsys.readouterr().err
        said.append(capsys.readouterr().out)
    _, first, judged, annotators, order, of_models, board = said
    assert "Explain tides." in first or "Name a prime." in first
    assert "Judged 6 pairs: 6 decided." in judged
    assert "llama-3.1-8b (model)" in annotators
    assert order == of_models
    assert main(["order", "study.db", "--json"]) == 0
    ranks = {one["id"]: one["rank"] for one in json.loads(capsys.readouterr().out)["items"]}
    assert ranks == {"3": 1, "2": 2, "1": 3, "6": 1, "5": 2, "4": 3}
    assert board.index("large") < board.index("medium") < board.index("small")
    assert "Errors are clustered by 2 groups." in board
    # The first wins and the last loses all its comparisons.
    assert "at which rank is not known" in board
    assert re.search(r"1 \(1 to 3\) +large .* not known", board)
    assert {sent.texts[0] for sent in model.sent} == {"Explain tides.", "Name a prime."}
