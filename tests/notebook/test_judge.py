"""The widget's end in the kernel: what it stores and what it shows next. tests/pages has its end in the browser."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from ordinate import Items, Study
from ordinate.errors import InvalidInput
from ordinate.notebook import _item, judge


@pytest.fixture
def study() -> Study:
    return Study.create(Items(["a", "b", "c"], content={"text": ["first", "<i>second</i>", "third"]}), random=0.0)


@pytest.fixture(autouse=True)
def _extra(request: pytest.FixtureRequest) -> None:
    if "folder" not in request.node.name:
        pytest.importorskip("anywidget", reason="the extra notebook is not installed")


def press(widget, does: str, query: str | None = None) -> None:
    shown = widget.state["pair"]
    widget._handle_custom_msg({"do": does, "query": query or (shown and shown["query"])}, [])


def test_an_answer_is_in_the_study_before_the_next_pair_is_shown(study: Study) -> None:
    widget = judge(study, annotator="ada")
    first = widget.state["pair"]
    press(widget, "left")
    (answer,) = study.comparisons()
    assert (answer.left, answer.right, answer.outcome, answer.annotator) == (
        first["left"]["id"],
        first["right"]["id"],
        "left",
        "ada",
    )
    assert widget.state["answers"] == 1
    assert widget.state["pair"]["query"] != first["query"]


def test_how_much_better_is_asked_and_stored_where_the_study_asks_it(study: Study) -> None:
    assert judge(study).state["strengths"] is False
    study.set_rules(strengths=True)
    widget = judge(study)
    assert widget.state["strengths"] is True
    press(widget, "right-slightly")
    assert [answer.outcome for answer in study.comparisons()] == ["right-slightly"]


def test_an_answer_to_an_earlier_pair_does_not_count_for_the_one_that_is_shown(study: Study) -> None:
    widget = judge(study)
    first = widget.state["pair"]["query"]
    press(widget, "left")
    press(widget, "right", query=first)
    assert len(study.comparisons()) == 1


def test_undo_and_what_the_study_refuses_are_said(study: Study) -> None:
    widget = judge(study, annotator="ada")
    press(widget, "undo")
    assert "ada" in widget.state["said"]
    press(widget, "right")
    press(widget, "undo")
    assert (widget.state["said"], study.comparisons()) == ("The newest answer is taken back.", [])
    before = widget.state["number"]
    press(widget, "nonsense")
    assert "nonsense" in widget.state["said"]
    assert widget.state["number"] == before + 1


def test_a_skip_is_taken_back_before_any_answer(study: Study) -> None:
    widget = judge(study, annotator="ada")
    skipped = widget.state["pair"]["query"]
    press(widget, "skip")
    assert (widget.state["answers"], widget.state["skips"]) == (0, 1)
    press(widget, "undo")
    assert (widget.state["pair"]["query"], widget.state["skips"]) == (skipped, 0)


def test_practice_is_said(study: Study) -> None:
    study.set_rules(practice=[("a", "b", "left")])
    widget = judge(study, annotator="ada")
    assert "Practice" in widget.state["said"]
    press(widget, "left")
    assert widget.state["said"] == "The owner expects left."
    assert study.comparisons() == []


def test_the_end_is_said(study: Study) -> None:
    study.set_rules(again=False)
    widget = judge(study, annotator="ada")
    for _ in range(3):
        press(widget, "left")
    assert widget.state["pair"] is None
    assert "no pair" in widget.state["said"].lower()
    assert len(study.comparisons()) == 3


def test_pictures_are_sent_and_sounds_are_refused() -> None:
    written = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(written, "PNG")
    url = "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()
    widget = judge(Study.create(Items(["a", "b"], content={"image": [url, "missing.png"]})))
    pair = widget.state["pair"]
    pictures = {pair[side]["id"]: pair[side].get("image") for side in ("left", "right")}
    assert pictures["a"].startswith("data:image/webp;base64,")
    assert pictures["b"] is None
    texts = {pair[side]["id"]: pair[side].get("text", "") for side in ("left", "right")}
    assert texts["a"] == ""
    assert "The picture missing.png cannot be shown" in texts["b"]
    with pytest.raises(InvalidInput, match="ordinate serve"):
        judge(Study.create(Items(["a", "b"], content={"audio": ["a.wav", "b.wav"]})))


def test_pictures_start_at_the_folder_of_the_study(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        Image.new("RGB", (8, 8), "red").save(tmp_path / name)
    content = {"image": ["a.png", "b.png", "https://example.org/c.png"], "text": ["first", "second", "third"]}
    with Study.create(Items(["a", "b", "c"], content=content), storage=f"sqlite:///{tmp_path}/study.db") as study:
        assert study._repr_html_().count("data:image/webp") == 2
        shown = {name: _item(study, name) for name in "abc"}
    assert all(shown[name]["image"].startswith("data:image/webp") and shown[name]["text"] for name in "ab")
    assert "https://example.org/c.png is on the web" in shown["c"]["text"]
    assert shown["c"]["text"].endswith("third")
