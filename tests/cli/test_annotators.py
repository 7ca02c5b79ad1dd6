"""`ordinate annotators`: a table, a file, and JSON, of a study in a file."""

import csv
import json

import numpy as np

from ordinate.cli.annotators import _coin


def answered(run, folder, each=40):
    """Two people who answer by the alphabet, mostly, and one who tosses coins."""
    rng = np.random.default_rng(0)
    lines = ["left,right,winner,annotator"]
    for _ in range(each):
        for name, right in (("ada", 0.95), ("bob", 0.9), ("mallory", 0.5)):
            one, other = rng.choice(list("abcd"), 2, replace=False)
            first = min(one, other) if rng.random() < right else max(one, other)
            lines.append(f"{one},{other},{first},{name}")
    lines.append("a,b,a,late")
    (folder / "made.csv").write_text("\n".join(lines) + "\n")
    assert run("import", "study.db", "made.csv").code == 0


def test_the_table_names_everybody_and_says_who_may_toss_coins(run, folder, study):
    answered(run, folder, each=80)
    shown = run("annotators", "study.db")
    assert shown.code == 0
    rows = {line.split("  ")[0]: line for line in shown.out.splitlines()[1:] if line[0].islower()}
    assert list(rows) == ["ada", "bob", "late", "mallory"]
    assert "too few" in rows["late"]
    assert "%" in rows["ada"]
    assert "Of two equal items, the left one is chosen " in shown.out
    found = run("annotators", "study.db", "--json").json
    assert [row["name"] for row in found["annotators"]] == list(rows)
    assert found["annotators"][3]["coin"] > 3 * found["annotators"][0]["coin"]
    assert found["annotators"][2]["coin"] is None
    assert found["left_low"] < found["left"] < found["left_high"]


def test_of_coin_tosses_by_all_nobody_is_given_a_probability(run, folder, study):
    rng = np.random.default_rng(1)
    lines = ["left,right,winner,annotator"]
    for _ in range(40):
        one, other = rng.choice(list("abcd"), 2, replace=False)
        lines.append(f"{one},{other},{rng.choice([one, other])},ada")
    (folder / "made.csv").write_text("\n".join(lines) + "\n")
    assert run("import", "study.db", "made.csv").code == 0
    (row,) = [line for line in run("annotators", "study.db").out.splitlines() if line.startswith("ada ")]
    assert "too few" in row
    assert run("annotators", "study.db", "--json").json["annotators"][0]["coin"] is None


def test_a_small_probability_is_not_zero():
    assert _coin({"name": "ada", "coin": 0.0002}) == "< 1 %"
    assert _coin({"name": "ada", "coin": 0.01}) == "1.0 %"


def test_the_table_goes_to_a_file(run, folder, study):
    answered(run, folder, each=10)
    assert run("annotators", "study.db", "--out", "people.csv").out == "Wrote 4 annotators to people.csv.\n"
    with (folder / "people.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["ada", "bob", "late", "mallory"]
    assert rows[0]["coin"] == ""
    assert float(rows[0]["sharpness_low"]) < float(rows[0]["sharpness"])
    assert run("annotators", "study.db", "--out", "people.json", "--json").json["file"] == "people.json"
    assert len(json.loads((folder / "people.json").read_text())) == 4


def test_without_answers_it_says_so(run, folder, study):
    shown = run("annotators", "study.db")
    assert shown.code == 2
    assert "no answers yet by which annotators could be told apart" in shown.err


def test_of_texts_it_says_who_prefers_longer_ones_than_others_do(run, folder):
    """Each text is twice as long as the one before it; ada always takes the longer one, the others hardly ever look."""
    rng = np.random.default_rng(3)
    ids = list("abcdefgh")
    (folder / "texts.csv").write_text(
        "\n".join(["id,text", *(f"{one},{'x' * 2**place}" for place, one in enumerate(ids))]) + "\n"
    )
    assert run("create", "study.db", "--items", "texts.csv").code == 0
    lines = ["left,right,winner,annotator"]
    for _ in range(100):
        for name, longer in (("ada", 0.97), ("bob", 0.5), ("eve", 0.5)):
            one, other = rng.choice(ids, 2, replace=False)
            lines.append(f"{one},{other},{(max if rng.random() < longer else min)(one, other)},{name}")
    (folder / "made.csv").write_text("\n".join(lines) + "\n")
    assert run("import", "study.db", "made.csv").code == 0
    shown = run("annotators", "study.db")
    assert "longer" in shown.out.splitlines()[0]
    rows = {row["name"]: row for row in run("annotators", "study.db", "--json").json["annotators"]}
    assert rows["ada"]["longer"] > 0.6 > rows["bob"]["longer"]
    assert rows["ada"]["length_lean"] > 0.2 > rows["bob"]["length_lean"]
    assert "Annotators differ in preferring the longer item. The ordering is without these preferences." in shown.out
    assert run("report", "study.db", "--out", "report.html").code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Of equal items chooses" in page
    assert "% twice as long" in page
