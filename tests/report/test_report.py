"""The report: one file that says what is the case, runs nothing, and needs nothing."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate.__main__ import main
from ordinate.data.comparisons import Comparison
from ordinate.data.html import Html, joined, tag
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.report import gather, page, write_report
from ordinate.study.study import Study
from ordinate.study.words import next_in_words

pytestmark = pytest.mark.xdist_group("report")  # one report, which takes seconds to draw, for most of them
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
FEATURES = np.random.default_rng(0).normal(size=(20, 3))


class Read(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == name]


def study(times: int = 120, groups: bool = False, blind: bool = False, **content: Any) -> Study:
    made = Study.create(
        Items(
            [f"item {row:02}" for row in range(20)],
            FEATURES,
            group=[f"ward {row % 2}" for row in range(20)] if groups else None,
            content=content,
        ),
        question="Which is <b>clearer</b>?",
        random=0.3,
    )
    rng = np.random.default_rng(2)
    for number in range(times):
        query = made.ask(f"somebody {number % 3}")
        left, right = (0.0 if blind else 2.0 * FEATURES[made.row(item)].sum() for item in (query.left, query.right))
        made.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(right - left)) else "right")
    return made


@pytest.fixture(scope="module")
def reported() -> tuple[Study, Read]:
    """A study, and its report."""
    made = study()
    return made, Read(page(gather(made), []))


def test_it_says_what_the_study_says(reported: tuple[Study, Read]) -> None:
    made, read = reported
    assert not read.open, "every element is closed"
    verdict, ordering = made.check(), made.ordering()
    assert verdict.sentence in read.text
    assert "Which is <b>clearer</b>?" in read.text
    assert [read.text.index(item) for item in ordering.ids] == sorted(read.text.index(item) for item in ordering.ids)
    for row in verdict.rows:
        assert row.found in read.text
    for name in ("somebody 0", "guro-hybrid", "numpy", "Seed", "is itself an estimate"):
        assert name in read.text
    assert len(read.all("svg")) == 5 + len(ordering)
    (link,) = [one for one in read.all("a") if "download" in one]
    table = base64.b64decode(str(link["href"]).partition("base64,")[2]).decode()
    assert len(table.splitlines()) == 1 + len(ordering)


def test_it_loads_nothing_and_runs_nothing(reported: tuple[Study, Read]) -> None:
    _, read = reported
    assert {name for name, _ in read.elements} & {"script", "link", "iframe", "object"} == set()
    addresses = [value for _, given in read.elements for name, value in given.items() if name in ("src", "href")]
    assert all(str(value).startswith(("data:", "#")) for value in addresses)
    assert not re.search(r"url\((?!#)", "".join(str(value) for _, given in read.elements for value in given.values()))
    policy = next(one for one in read.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none'")


def test_names_of_elements_are_unique(reported: tuple[Study, Read]) -> None:
    _, read = reported
    names = [given["id"] for _, given in read.elements if "id" in given]
    assert len(names) == len(set(names))
    for _, given in read.elements:
        for value in given.values():
            for target in re.findall(r"url\(#([^)]+)\)", value or ""):
                assert target in names


def test_whatever_people_write_is_shown_as_text(tmp_path: Path) -> None:
    items = Items([f"{HOSTILE} {row}" for row in range(3)], np.eye(3), content={"text": [HOSTILE] * 3})
    with Study.create(items, question=HOSTILE) as made:
        for row in range(6):
            left, right = items.ids[row % 3], items.ids[(row + 1) % 3]
            made.record(Comparison(left, right, "left", f"{HOSTILE[:30]} {row}"))
        made.exclude_annotator(f"{HOSTILE[:30]} 5")
        read = Read(page(gather(made), [tmp_path]))
    assert not read.all("script")
    assert not [one for one in read.all("img") if "onerror" in one]
    assert all(not name.startswith("on") for _, given in read.elements for name in given)
    assert HOSTILE in read.text


def test_pictures_are_inside_the_page_small_and_those_elsewhere_are_not_fetched(tmp_path: Path) -> None:
    Image.new("RGB", (900, 600), "red").save(tmp_path / "photo.png")
    (tmp_path / "secret.txt").write_text("not a picture")
    places = ["photo.png", "https://example.org/a.png", "gone.png", "secret.txt"] + [None] * 16
    read = Read(page(gather(study(12, image=places)), [tmp_path]))
    (picture,) = read.all("img")
    made = Image.open(io.BytesIO(base64.b64decode(str(picture["src"]).partition("base64,")[2])))
    assert max(made.size) == 128


def test_pictures_outside_the_folder_are_left_out_and_named_until_their_folder_is(tmp_path: Path) -> None:
    own, other = tmp_path / "study", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    for folder in (own, other):
        Image.new("RGB", (30, 20), "red").save(folder / "photo.png")
    (own / "link.png").symlink_to(other / "photo.png")
    places = ["photo.png", "../other/photo.png", str(other / "photo.png"), "link.png"] + [None] * 16
    with study(12, image=places) as made:
        read = Read(page(gather(made), [own]))
        assert len(read.all("img")) == 1
        said = re.search(r"Left out: 3 pictures in files outside the study’s folder, of (.*?)\. To show", read.text)
        assert said is not None
        assert sorted(re.findall(r"item \d\d", said[1])) == ["item 01", "item 02", "item 03"]
        places_to_look = [(own, [other], 4), (None, [], 0), (None, [other], 3)]  # in the last, relative to `other`
        for start, media, shown in places_to_look:
            write_report(made, tmp_path / "report.html", folder=start, media=media)
            read = Read((tmp_path / "report.html").read_text(encoding="utf-8"))
            assert len(read.all("img")) == shown
            assert ("Left out" in read.text) == (shown == 0)


def test_the_command_shows_pictures_of_the_folders_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    Image.new("RGB", (30, 20), "red").save(tmp_path / "other" / "photo.png")
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "study.db"
    items = Items(["a", "b"], content={"image": ["../other/photo.png", None]})
    with Study.create(items, storage=f"sqlite:///{path}") as made:
        made.record(Comparison("a", "b", "left"))
    for words, shown in [([], 0), (["--media", str(tmp_path / "other")], 1)]:
        assert main(["report", str(path), *words]) == 0
        read = Read((tmp_path / "mine" / "study-report.html").read_text(encoding="utf-8"))
        assert len(read.all("img")) == shown


def test_of_coin_tosses_the_error_and_its_forecast_are_withheld(tmp_path: Path) -> None:
    made = study(blind=True)
    assert made.check().error is None
    read = Read(page(gather(made), [tmp_path]))
    assert "withheld: the answers cannot be told from coin tosses yet" in read.text
    assert "This figure is withheld" in read.text
    assert "with a probability of 90 %" not in read.text
    assert read.text.count("so these ranks may be due to chance. The rank is") == 1
    assert "likely to be in the wrong order" not in read.text


def test_where_a_check_failed_the_likely_ranks_are_not_said_to_hold(reported: tuple[Study, Read]) -> None:
    contents = gather(reported[0])
    failed = contents.verdict._replace(error=None, withheld="the features miss something")
    text = Read(page(replace(contents, verdict=failed), [])).text
    assert "is among its likely ranks with a probability of 90 %" in reported[1].text
    assert "is among its likely ranks with" not in text
    assert "would be among its likely ranks with a probability of 90 % if all checks held" in text
    assert text.count("The likely ranks may be too narrow: a check failed that they presume. The") == 2


def test_a_question_in_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    items = Items(["a", "b"], content={"text": ["x", "y"]})
    with Study.create(items, question="# Which is **stronger**?\n\nThink of `reasons`.") as made:
        made.record(Comparison("a", "b", "left"))
        text = Read(page(gather(made), [tmp_path])).text
    assert "Which is stronger?" in text
    assert "Think of reasons." in text


def test_groups_are_listed_after_each_other(tmp_path: Path) -> None:
    read = Read(page(gather(study(12, groups=True)), [tmp_path]))
    assert "20 items in 2 groups" in read.text
    assert "ward 0:" in read.text


def test_of_many_items_the_first_and_last_are_shown_and_it_says_so(tmp_path: Path) -> None:
    items = Items([f"i{row}" for row in range(300)], np.arange(300.0)[:, None])
    with Study.create(items, algorithm="guro-contextual") as made:
        made.record([Comparison(f"i{row + 50}", f"i{row}", "left") for row in range(0, 250, 2)])
        read = Read(page(gather(made), [tmp_path]))
    assert "Of 300 items, 200 are shown here: the first and the last ones." in read.text
    assert "100 more" in read.text


def test_without_answers_there_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no answers that count yet"):
        write_report(study(0), tmp_path / "report.html", folder=tmp_path)


def test_the_command_writes_the_report_beside_the_study_and_the_figures(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "study.db"
    with Study.create(Items(["a", "b", "c"], np.eye(3)), storage=f"sqlite:///{path}") as made:
        made.record([Comparison("a", "b", "left"), Comparison("b", "c", "left")])
    assert main(["report", str(path), "--figures", str(tmp_path / "figures")]) == 0
    written = capsys.readouterr().out.splitlines()
    assert written[0] == f"Wrote {tmp_path / 'study-report.html'}."
    figures = sorted(one.name for one in (tmp_path / "figures").iterdir())
    assert "ranks.svg" in figures
    assert "ranks.png" in figures
    assert len(written) == 1 + len(figures)
    before = (tmp_path / "figures" / "ranks.svg").read_bytes()
    assert main(["report", str(path), "--out", str(tmp_path / "x.html"), "--figures", str(tmp_path / "figures")]) == 0
    assert (tmp_path / "figures" / "ranks.svg").read_bytes() == before
    assert main(["report", str(path), "--out", str(tmp_path / "none" / "x.html")]) == 2


def test_text_is_escaped_and_markup_is_not() -> None:
    made = tag("p", "a < b", tag("b", "&"), class_='"x"', hidden=None)
    assert made == '<p class="&quot;x&quot;">a &lt; b<b>&amp;</b></p>'
    assert joined("<", Html("<br>"), None) == "&lt;<br>"


def test_an_aim_and_what_was_found_for_it(tmp_path: Path, reported: tuple[Study, Read]) -> None:
    assert "Wanted" not in reported[1].text
    made = study()
    made.set_rules(aim="top:3")
    text = Read(page(gather(made), [tmp_path])).text
    assert "the first 3 items" in text
    assert "of the wanted items are among the 3 that are marked" in text
    assert text.count("yes (") == 3
    assert ("Next candidates" in text) == bool(next_in_words(made.ordering()))
    made.set_rules(aim=["above:item 03", "above:item 07"])
    assert "of the items are in the right grade" in Read(page(gather(made), [tmp_path])).text


def test_of_imported_comparisons_nothing_is_said_of_questions(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    with Study.create(Items(["a", "b", "c", "d"])) as made:
        for _ in range(60):
            left, right = rng.choice(4, 2, replace=False)
            for name in ("Jürgen", "Zoë"):
                winner = "left" if (left < right) == (rng.random() < 0.8) else "right"
                made.record((made.items.ids[left], made.items.ids[right], winner, name))
        read = Read(page(gather(made), []))
    for untrue in ("Questions are chosen", "Some pairs were drawn", "No answers about", "% of the questions"):
        assert untrue not in read.text
    assert read.text.count("All comparisons were imported") == 2
    assert "pairs that were drawn at random, of which there are none" in read.text
    assert "no question was asked" in read.text
    labels = [svg.get("aria-label") for svg in read.all("svg")]
    assert "Ranks of the items of each compared pair" in labels
    assert "Share of answers by their predicted chance" not in labels, "no figure without anything in it"


def test_it_says_which_pairs_were_chosen_drawn_and_imported() -> None:
    with study(60) as made:
        made.record(("item 00", "item 01", "left"))
        history = made.history()
        read = Read(page(gather(made), []))
    drawn = history["strategy"].count("Uniform()")
    assert drawn
    assert (
        f"Of 61 answers, these are {60 - drawn} about pairs that guro-hybrid chose, mostly of items close in rank, "
        f"{drawn} about pairs drawn at random, 1 imported"
    ) in read.text


def test_agreement_between_annotators_and_with_themselves() -> None:
    with Study.create(Items(["a", "b", "c"])) as made:
        for _ in range(20):
            made.record([("a", "b", "left", "Ann"), ("a", "b", "left", "Ben"), ("b", "c", "left", "Ben")])
        made.record([("a", "b", "right", "Ben")])
        quality = {one.name: one for one in made.annotator_quality().people}
        read = Read(page(gather(made), []))
    for name in ("Ann", "Ben"):
        for share in (quality[name].with_others, quality[name].with_themselves):
            assert share is not None
            assert f"{100 * share.estimate:.1f} % ({100 * share.low:.0f} to {100 * share.high:.0f} %)" in read.text
    assert "Agrees with people" not in read.text, "that is of models"


def test_where_no_pair_was_answered_twice_agreement_is_not_known() -> None:
    with Study.create(Items(["a", "b", "c"])) as made:
        made.record([("a", "b", "left", "Ann"), ("b", "c", "left", "Ben")])
        read = Read(page(gather(made), []))
    assert "No pair was answered twice, so how far annotators agree is not known." in read.text


def test_pictures_that_are_missing_or_damaged_are_named_in_the_page_and_by_the_command(
    tmp_path: Path, capsys: Any
) -> None:
    Image.new("RGB", (30, 20), "red").save(tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")
    path = tmp_path / "study.db"
    places = ["good.png", "gone.png", "bad.png", "https://example.org/a.png", None]
    with Study.create(Items(list("abcde"), content={"image": places}), storage=f"sqlite:///{path}") as made:
        made.record([Comparison("a", "b", "left"), Comparison("c", "d", "left")])
    assert main(["report", str(path)]) == 0
    said = capsys.readouterr().err
    read = Read((tmp_path / "study-report.html").read_text(encoding="utf-8"))
    assert len(read.all("img")) == 1
    for sentence in (
        "Not shown: 1 picture whose file is not where the study has it, of b.",
        "Not shown: 1 picture whose file cannot be read as a picture, of c.",
        "Not shown: 1 picture at addresses on the network, which a report does not fetch, of d.",
    ):
        assert sentence in read.text
        assert sentence in said
    assert main(["report", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["notes"]) == 3


def test_it_has_the_question_that_is_asked_now_and_the_first_one() -> None:
    made = study()
    made.set_rules(question="Which is sharper?")
    read = Read(page(gather(made), ()))
    assert "Which is sharper?" in read.text
    assert "Asked first" in read.text
