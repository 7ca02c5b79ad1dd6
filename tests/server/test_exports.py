"""The tables that an owner downloads: read again as they were, harmless in a spreadsheet program."""

from ordinate import Comparison, Items
from ordinate.data.comparison_formats import read_comparisons
from ordinate.data.formats import FORMATS


def test_hostile_ids_come_back(build):
    site = build(Items(["=1+1", "a\rb", "é"]))
    made = [Comparison("=1+1", "a\rb", "left", "@ann"), Comparison("é", "=1+1", "tie", None)]
    site.study.record(made)
    data = site.program("owner").get("/export/comparisons.csv").content
    assert b'"\'=1+1"' in data
    assert read_comparisons(FORMATS[".csv"].decode(data)).comparisons == made


def test_the_history_has_what_does_not_count(build):
    site = build(Items(["a", "b", "c"]))
    site.study.record([Comparison("a", "b", "left", "ann"), Comparison("b", "c", "left", "ben")])
    site.study.exclude_annotator("ben")
    history = FORMATS[".csv"].decode(site.program("owner").get("/export/history.csv").content)
    assert history["status"] == ["counts", "annotator excluded"]
    assert {"query", "duration_ms", "reason", "repeat_of", "strategy", "utility", "stored_at"} <= history.keys()


def test_the_report_is_of_the_answers_until_now(build):
    site = build(Items(["a", "b", "<i>c"]))
    site.study.record([Comparison("a", "b", "left", "ann"), Comparison("b", "<i>c", "left", "ben")])
    report = site.program("owner").get("/export/report.html")
    assert "-report.html" in report.headers["content-disposition"]
    assert "2 answers" in report.text
    assert "&lt;i&gt;c" in report.text
    assert "<i>c" not in report.text
