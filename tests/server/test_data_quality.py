"""What an owner is told of answers that deserve a look."""

from typing import Any


def test_skips_of_what_does_not_load_are_counted_by_item(site: Any) -> None:
    ann, owner = site.browser("Ann"), site.program("owner")
    first, second, third, fourth = ann.ask(4)
    ann.tell(first, "skip", reason="does not load: left")
    ann.tell(second, "skip", reason="does not load: left, right")
    ann.tell(third, "skip", reason="does not load")
    ann.tell(fourth, "skip", reason="both are fine")
    expected: dict[str, int] = {}
    for item in (first["left"], second["left"], second["right"], third["left"], third["right"]):
        expected[item["id"]] = expected.get(item["id"], 0) + 1
    told = owner.get("/warnings").json()["not_loaded"]
    assert {row["item"]: row["skips"] for row in told} == expected
    assert [row["skips"] for row in told] == sorted((row["skips"] for row in told), reverse=True)


def test_very_fast_answers_are_counted_by_annotator(site: Any) -> None:
    owner = site.program("owner")
    for name, durations in (("Ann", [499, 500, 100]), ("Bob", [900])):
        browser = site.browser(name)
        for duration in durations:
            browser.tell(browser.ask()[0], duration_ms=duration)
        browser.tell(browser.ask()[0])
        browser.tell(browser.ask()[0], "skip", duration_ms=1)
    assert owner.get("/warnings").json() == {"not_loaded": [], "very_fast": [{"annotator": "Ann", "answers": 2}]}
    site.browser("Ann").post("/undo")
    assert owner.get("/warnings").json()["very_fast"] == [{"annotator": "Ann", "answers": 2}], "a skip was taken back"


def test_a_model_may_be_fast(site: Any) -> None:
    owner = site.program("owner")
    assert owner.post("/machines", {"annotator": "M", "model": "m", "prompt": "1" * 64}).status_code == 200
    (query,) = owner.ask(annotator="M")
    assert owner.tell(query, annotator="M", duration_ms=3).status_code == 200
    assert owner.get("/warnings").json() == {"not_loaded": [], "very_fast": []}


def test_annotators_are_not_told(site: Any) -> None:
    assert site.browser("Ann").get("/warnings").status_code == 403
