"""What notebooks show: every item that is named is named, and nothing of an item becomes markup."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from ordinate import Comparison, Items, Study

HOSTILE = '"><script>alert(1)</script>'


class Read(HTMLParser):
    """The tags of a page, its texts, and the widths of its bars."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.bars: list[tuple[float, float]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if tag == "img":
            self.sources.append(str(given["src"]))
        if tag == "rect":
            self.bars.append((float(given["x"] or ""), float(given["width"] or "")))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def answered(items: Items) -> Study:
    study = Study.create(items)
    for left, right in zip(items.ids, items.ids[1:], strict=False):
        study.record(Comparison(left, right, "left"))
    return study


def test_ids_and_texts_are_escaped_everywhere() -> None:
    items = Items([HOSTILE, "b"], group=[HOSTILE] * 2, content={"text": [HOSTILE, None], "image": [HOSTILE, None]})
    study = answered(items)
    for shown in (items, study.ordering(), study):
        read = Read(shown._repr_html_())
        assert "script" not in read.tags
        assert read.texts.count(HOSTILE) >= 2
    Study.create(items, question=HOSTILE)._repr_html_().index("&lt;script&gt;")


def test_an_ordering_has_ranks_scores_bars_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (200, 100), "navy").save("a.png")
    Image.new("RGB", (20, 10), "navy").save(tmp_path.parent / "outside.png")
    items = Items(["a", "b", "c"], content={"image": ["a.png", "../outside.png", "http://example.org/c.png"]})
    ordering = answered(items).ordering()
    read = Read(ordering._repr_html_())
    assert [text for text in read.texts if text in "abc"] == ["a", "b", "c"]
    # The one in the working folder; others are named and not read or fetched.
    assert [source[:23] for source in read.sources] == ["data:image/webp;base64,"]
    assert "../outside.png" in read.texts
    assert "1 (1 to 3)" in read.texts or "1 (1 to 2)" in read.texts
    assert len(read.bars) == 3
    assert all(start >= 0 and start + width <= 100.1 for start, width in read.bars)
    assert [start for start, _ in read.bars] == sorted((start for start, _ in read.bars), reverse=True)


def test_of_many_items_the_first_and_the_last_are_shown() -> None:
    items = Items([f"item {k}" for k in range(1_000)])
    texts = Read(items._repr_html_()).texts
    assert [text for text in texts if text.startswith("item ")] == [
        *(f"item {k}" for k in range(15)),
        *(f"item {k}" for k in range(995, 1_000)),
    ]
    assert "… 980 more …" in texts


def test_a_study_says_how_far_it_is() -> None:
    study = Study.create(Items(["a", "b", "c"]), question="Which is clearer?")
    assert repr(study) == "Study(3 items, 0 answers, guro-independent: 'Which is clearer?')"
    assert "3 items, 0 answers of 0 annotators" in study._repr_html_()
    study.record(Comparison("a", "b", "left", annotator="ada"))
    assert repr(study).startswith("Study(3 items, 1 answers")
    shown = study._repr_html_()
    assert "1 answer of 1 annotator" in shown
    assert "rank (likely)" in shown


def test_an_ordering_that_is_sent_to_another_process_leaves_the_contents_behind() -> None:
    ordering = answered(Items(["a", "b"], content={"text": ["long " * 1_000, "text"]})).ordering()
    sent = pickle.dumps(ordering)
    assert len(sent) < 3_000
    copy = pickle.loads(sent)
    assert (copy.ids, copy.items) == (ordering.ids, None)
    assert "<td>a</td>" in copy._repr_html_()
