"""The pages by persona: their commands run, in a folder with data like theirs, and print what the pages say they do.

python -m tests.test_persona_pages    puts into the pages what the commands print now
"""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.__main__ import main
from ordinate.study.study import Study

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```console\n(?P<commands>.*?)```(?:\n\n```text\n(?P<said>.*?)```)?", re.DOTALL)
LEFT_OUT = ("annotate", "serve", "plan", "--embed")
"""Commands that wait for people or need a network's weights; all others run, also where a page shows no output."""


def chance(margin: float) -> float:
    return float(1.0 / (1.0 + np.exp(-margin)))


def write(name: str, header: list[str], rows: list[list[str]]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def scans() -> None:
    """Three images of one kind, one of them without a window."""
    pytest.importorskip("pydicom", reason="the extra dicom is not installed")
    from tests.data.test_dicom import made

    Path("scans").mkdir()
    for number, window in enumerate(
        ({"WindowCenter": 350, "WindowWidth": 401}, {"WindowCenter": 300, "WindowWidth": 601}, {})
    ):
        Path(f"scans/scan-{number + 1}.dcm").write_bytes(made(**window))


def pictures() -> None:
    """Seven observers of six versions of a picture, all pairs each; and the versions."""
    rng, scores = (
        np.random.default_rng(1),
        {"original": 1.8, "q90": 1.6, "q70": 1.0, "q50": 0.2, "q30": -1.4, "q10": -3.2},
    )
    Path("pictures").mkdir()
    for place, name in enumerate(scores):
        Image.new("RGB", (8, 8), (40 * place, 90, 90)).save(f"pictures/{name}.png")
    rows = []
    for observer in range(1, 8):
        for place, one in enumerate(scores):
            for other in list(scores)[place + 1 :]:
                first, second = (one, other) if rng.random() < 0.5 else (other, one)
                wins = rng.random() < chance(scores[first] - scores[second])
                rows.append([str(observer), first, second, str(int(wins))])
    write("pwcmp.csv", ["observer", "condition_A", "condition_B", "is_A_selected"], rows)


def battles() -> None:
    """Battles of six models on 60 prompts; of their three judges the model takes the left answer too often."""
    rng, names = np.random.default_rng(2), ["ada", "bell", "curie", "darwin", "euler", "fermi"]
    scores, leans, rows = dict(zip(names, (2.0, 1.2, 0.7, 0.2, -1.2, -2.5), strict=True)), {"judge-1": 1.4}, []
    for number in range(360):
        who = ("judge-1", "judge-1", "kim", "lee")[number % 4]
        one, other = rng.choice(names, 2, replace=False).tolist()
        margin = scores[one] - scores[other] + leans.get(who, 0.0)
        answer = "tie" if rng.random() < 0.1 else "model_a" if rng.random() < chance(margin) else "model_b"
        rows.append([f"q{number % 60:02}", one, other, answer, who])
    write("battles.csv", ["question_id", "model_a", "model_b", "winner", "judge"], rows)


def survey() -> None:
    """Twelve speeches, compared by eight participants, one of whom clicks at random."""
    rng, ids = np.random.default_rng(3), [f"speech-{number:02}" for number in range(12)]
    scores, rows = dict(zip(ids, rng.permutation(np.linspace(-2.5, 2.5, 12)), strict=True)), []
    for number in range(480):
        one, other = rng.choice(ids, 2, replace=False).tolist()
        margin = 0.0 if number % 8 == 7 else scores[one] - scores[other]
        rows.append([one, other, "1" if rng.random() < chance(margin) else "2", f"p{number % 8 + 1}"])
    write("survey.csv", ["text1", "text2", "answer", "participant"], rows)


def essays() -> None:
    Path("essays").mkdir()
    for number in range(1, 13):
        Path(f"essays/pupil-{number:02}.txt").write_text(f"Essay {number}. " + "More. " * (number * 5 % 12))


def judged_essays() -> None:
    """Three colleagues judge in turn; meier likes long essays more than the others do."""
    rng = np.random.default_rng(4)
    truth = dict(
        zip((f"pupil-{number:02}.txt" for number in range(1, 13)), rng.permutation(np.linspace(-3, 3, 12)), strict=True)
    )
    with Study.open("sqlite:///essays.db") as study:
        length = {one: len(text or "") for one, text in zip(study.items.ids, study.items.content["text"], strict=True)}
        for turn in range(180):
            who = ("huber", "kaya", "meier")[turn % 3]
            query = study.ask(who)
            margin = truth[query.left] - truth[query.right]
            if who == "meier":
                margin += 1.5 * np.log2(length[query.left] / length[query.right])
            study.tell(query.id, "left" if rng.random() < chance(margin) else "right")


def nothing() -> None:
    pass


PERSONAS: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
    "for-radiologists": (scans, nothing),
    "for-image-labs": (pictures, nothing),
    "for-llm-evaluators": (battles, nothing),
    "for-political-scientists": (survey, nothing),
    "for-teachers": (essays, judged_essays),
}
"""What there is before the first command of a page, and what people do after the first block."""


def run(commands: str) -> str:
    """What the commands of a block print, but for those that are left out."""
    said = io.StringIO()
    for line in commands.splitlines():
        _, *arguments = shlex.split(line)
        if set(LEFT_OUT).isdisjoint(arguments):
            with redirect_stdout(said), redirect_stderr(said):
                # `check` ends with 3 where a check fails.
                assert main(arguments) in ((0, 3) if arguments[0] == "check" else (0,)), line
    return said.getvalue()


def outputs(page: str) -> list[tuple[re.Match[str], str]]:
    """The blocks of commands, each with what it prints."""
    text, (before, after) = (DOCS / f"{page}.md").read_text(encoding="utf-8"), PERSONAS[page]
    before()
    found = []
    for number, block in enumerate(BLOCK.finditer(text)):
        found.append((block, run(block["commands"])))
        if number == 0:
            after()
    return found


@pytest.mark.parametrize("page", PERSONAS)
def test_the_commands_of_the_page_print_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shown = [(block["said"], said) for block, said in outputs(page) if block["said"] is not None]
    assert shown
    for expected, said in shown:
        assert said == expected


def write_pages() -> None:
    os.environ["COLUMNS"] = "120"
    for page in PERSONAS:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            found = outputs(page)
        path = DOCS / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        for block, said in reversed(found):
            if block["said"] is not None:
                text = text[: block.start("said")] + said + text[block.end("said") :]
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
