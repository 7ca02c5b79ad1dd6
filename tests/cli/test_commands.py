"""Every command that works on a study: what it says, what it stores, and its JSON."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from ordinate import Comparison, Study
from ordinate.cli.screen import error_in_words

URL = "sqlite:///study.db"


def ask(run, *options):
    return run("ask", "study.db", "--json", *options).json["queries"]


class TestCreate:
    def test_says_what_it_made_and_what_comes_next(self, run):
        result = run("create", "study.db", "--items", "items.csv", "--feature-columns", "sharpness, contrast")
        assert (result.code, result.err) == (0, "")
        assert "4 items, 2 feature columns (sharpness, contrast)" in result.out
        assert "guro-hybrid" in result.out
        assert "ordinate annotate study.db" in result.out
        with Study.open(URL) as made:
            assert made.items.ids == ("a", "b", "c", "d")
            assert made.settings.question == "Which ranks higher?"

    def test_json(self, run):
        arguments = ["create", "study.db", "--items", "items.csv", "--seed", "3", "--question", "Which?", "--json"]
        arguments += ["--item-variance", "0.5"]
        assert run(*arguments).json == {
            "study": "study.db",
            "items": 4,
            "features": 0,
            "encoder": None,
            "feature_names": None,
            "blocks": None,
            "groups": 1,
            "algorithm": "guro-independent",
            "question": "Which?",
            "seed": 3,
            "aim": ["order"],
            "coefficient_variance": None,
            "item_variance": 0.5,
            "likelihood": "cumulative",
            "weigh_annotators": False,
            "side_bias": False,
            "length_bias": False,
            "columns_not_used": ["sharpness", "contrast"],
            "notes": [],
        }

    def test_every_option_of_the_method_is_stored(self, run):
        arguments = ["create", "study.db", "--items", "items.csv", "--feature-columns", "sharpness,contrast"]
        method = {"scaling": "none", "refit_every": 25, "candidates": 5000, "coefficient_variance": 1.0}
        method |= {"likelihood": "probit", "random": 0.25}
        arguments.append("--no-renew-covariance")
        for name, value in method.items():
            arguments += [f"--{name.replace('_', '-')}", str(value)]
        assert run(*arguments).code == 0
        with Study.open(URL) as made:
            assert {name: getattr(made.settings, name) for name in method} == method
            assert not made.settings.renew_covariance

    def test_columns_that_were_not_used_are_mentioned(self, run, folder):
        out = run("create", "study.db", "--items", "items.csv", "--feature-columns", "sharpness").out
        assert "Columns not used: contrast.\nTo learn from the numbers in them, make the study with\n" in out
        assert "  --feature-columns sharpness,contrast\n" in out
        (folder / "items.csv").write_text("id,group,text,note,size\n1,1,7,x,2\n2,1,8,3,\n")
        out = run("create", "other.db", "--items", "items.csv").out
        assert "Columns not used: note, size.\n" in out
        assert "To learn from" not in out  # a text, and numbers with a gap
        np.save(folder / "features.npy", np.eye(2))
        (folder / "items.csv").write_text("id,size\n1,2\n2,3\n")
        out = run("create", "third.db", "--items", "items.csv", "--features", "features.npy").out
        assert "Columns not used: size.\n" in out
        assert "To learn from" not in out  # a matrix was given instead

    def test_matrix_groups_id_column_and_algorithm(self, run, folder):
        (folder / "grouped.csv").write_text("name,group\nx,1\ny,1\nz,2\nw,2\n")
        np.save(folder / "features.npy", np.eye(4))
        arguments = ["--items", "grouped.csv", "--id-column", "name", "--features", "features.npy"]
        result = run("create", "study.db", *arguments, "--algorithm", "uniform-contextual")
        assert "4 items, 4 feature columns, 2 groups" in result.out
        assert "uniform-contextual (as you asked)" in result.out

    def test_media_are_stored_as_seen_from_the_folder_of_the_study(self, run, folder):
        (folder / "photos").mkdir()
        (folder / "studies").mkdir()
        for name in ("a.png", "b.png"):
            Image.new("RGB", (4, 4)).save(folder / "photos" / name)
        (folder / "photos" / "items.csv").write_text("id,image\na,a.png\nb,./b.png\nc,https://example.org/c.png\nd,\n")
        assert run("create", "studies/study.db", "--items", "photos/items.csv").code == 0
        with Study.open("sqlite:///studies/study.db") as made:
            images = made.items.content["image"]
        assert images == ("../photos/a.png", "../photos/b.png", "https://example.org/c.png", None)


class TestOneStep:
    def test_ask_prints_the_same_open_query_until_it_is_answered(self, run, study):
        first = run("ask", "study.db")
        assert first.out == run("ask", "study.db").out
        assert "Which is clearer?" in first.out
        query = ask(run)[0]
        assert f"ordinate tell study.db {query['id']}" in first.out
        assert run("tell", "study.db", query["id"], "left").code == 0
        assert ask(run)[0]["id"] != query["id"]

    def test_ask_json(self, run, study):
        answer = run("ask", "study.db", "--annotator", "anna", "--count", "3", "--json").json
        assert set(answer) == {"study", "question", "queries"}
        assert len(answer["queries"]) == 3
        for query in answer["queries"]:
            assert set(query) == {"id", "annotator", "left", "right"}
            assert query["annotator"] == "anna"
            assert set(query["left"]) == {"id", "text"}

    def test_tell_withdraw_and_undo_json(self, run, study):
        first, second = ask(run, "--count", "2")
        told = run("tell", "study.db", first["id"], "tie", "--json").json
        assert told == {"study": "study.db", "query": first["id"], "answer": "tie", "comparisons": 1}
        gone = run("withdraw", "study.db", second["id"], "--json").json
        assert gone == {"study": "study.db", "query": second["id"], "comparisons": 1}
        assert run("undo", "study.db", "--json").json == {"study": "study.db", "reopened": first, "comparisons": 0}
        assert ask(run) == [first]

    @pytest.mark.parametrize(("answer", "counts"), [("left", 1), ("right", 1), ("tie", 1), ("skip", 0)])
    def test_each_answer(self, run, study, answer, counts):
        query = ask(run)[0]
        told = run("tell", "study.db", query["id"], answer)
        assert told.out == f"Stored: {answer} for {query['id']}. Comparisons so far: {counts}.\n"

    def test_undo_of_one_annotator(self, run, study):
        anna = ask(run, "--annotator", "anna")[0]
        ben = ask(run, "--annotator", "ben")[0]
        run("tell", "study.db", anna["id"], "left")
        run("tell", "study.db", ben["id"], "left")
        assert anna["id"] in run("undo", "study.db", "--annotator", "anna").out

    def test_undo_of_imported_comparisons_says_what_to_do_instead(self, run, study):
        with Study.open(URL) as opened:
            opened.record([("a", "b", "left", "ann"), ("a", "c", "left")])
        refused = run("undo", "study.db", "--annotator", "ann")
        assert refused.code == 2
        assert (
            "all comparisons of 'ann' were imported, and `ordinate undo` takes back answers to queries" in refused.err
        )
        assert "ordinate exclude study.db --annotator ann" in refused.err
        assert "all comparisons without a name were imported" in run("undo", "study.db").err
        nobody = run("undo", "study.db", "--annotator", "eve").err
        assert nobody == "Error: there is no answer of 'eve' that could be taken back\n", "nor is there of ann"
        run("tell", "study.db", ask(run, "--annotator", "ben")[0]["id"], "left")
        assert "taken back; there are answers of 'ben'\n" in run("undo", "study.db", "--annotator", "eve").err


class TestExchange:
    def test_import_then_export_gives_the_same_comparisons(self, run, study, folder):
        table = "left,right,winner,annotator\na,b,right,anna\nc,b,c,\nd,a,tie,ben\n"
        (folder / "made.csv").write_text(table)
        assert run("import", "study.db", "made.csv", "--json").json == {
            "study": "study.db", "format": "plain", "recorded": 3, "comparisons": 3, "columns_not_used": [],
            "notes": [],
        }  # fmt: skip
        assert run("export", "study.db", "out.csv", "--json").json == {
            "study": "study.db", "file": "out.csv", "comparisons": 3,
        }  # fmt: skip
        assert (folder / "out.csv").read_text().splitlines() == table.replace("c,b,c,", "c,b,left,").splitlines()
        refused = run("import", "study.db", "out.csv")
        assert (refused.code, refused.out) == (2, "")
        assert "study.db has 3 of these 3 comparisons already, so nothing was recorded" in refused.err
        again = run("import", "study.db", "out.csv", "--again")
        assert "Recorded 3 comparisons from out.csv; study.db now has 6." in again.out

    def test_a_table_that_grew_is_noticed_and_new_ones_are_not(self, run, study, folder):
        head, old = "left,right,winner,annotator\n", "a,b,right,anna\nc,b,c,\n"
        (folder / "old.csv").write_text(head + old)
        (folder / "grown.csv").write_text(head + "b,a,left,anna\nb,c,c,\nd,a,tie,ben\n")  # with the sides changed
        (folder / "new.csv").write_text(head + old.replace("anna", "ben") + "a,d,left,anna\nb,d,left,anna\n")
        assert run("import", "study.db", "old.csv").code == 0
        assert "has 2 of these 3 comparisons already" in run("import", "study.db", "grown.csv").err
        assert run("import", "study.db", "new.csv").code == 0

    def test_export_to_out(self, run, study, folder):
        assert "Wrote 0 comparisons to out.csv" in run("export", "study.db", "--out", "out.csv").out
        assert (folder / "out.csv").exists()
        for line in ((), ("one.csv", "--out", "two.csv")):
            refused = run("export", "study.db", *line)
            assert refused.code == 2
            assert "name one file to write to" in refused.err
        assert not (folder / "one.csv").exists()

    def test_export_of_none(self, run, study, folder):
        assert "Wrote 0 comparisons" in run("export", "study.db", "out.csv").out
        assert (folder / "out.csv").read_text().splitlines() == ["left,right,winner,annotator"]

    def test_columns_that_are_not_read_are_named(self, run, study, folder):
        (folder / "made.csv").write_text("left,right,winner,when,why\na,b,a,now,so\n")
        assert "Columns not used: when, why.\n" in run("import", "study.db", "made.csv").out
        assert run("import", "study.db", "made.csv", "--again", "--json").json["columns_not_used"] == ["when", "why"]

    def test_groups_that_the_study_does_not_have_are_refused(self, run, study, folder):
        (folder / "made.csv").write_text("left,right,winner,group\na,b,a,1\nc,d,c,2\n")
        refused = run("import", "study.db", "made.csv")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("Error: made.csv: the comparisons have groups but the study has none")
        assert run("status", "study.db", "--json").json["comparisons"] == 0

    def test_groups_must_be_those_of_the_study(self, run, folder):
        (folder / "grouped.csv").write_text("id,group\nx,g1\ny,g1\nz,g2\nw,g2\n")
        run("create", "study.db", "--items", "grouped.csv")
        (folder / "made.csv").write_text("left,right,winner,group\nx,y,x,g1\nz,w,z,g1\n")
        refused = run("import", "study.db", "made.csv")
        assert "made.csv: row 2: item 'z' is in group 'g2' of the study, not in 'g1'" in refused.err
        (folder / "made.csv").write_text("left,right,winner,group\nx,y,x,g1\nz,w,z,g2\n")
        assert run("import", "study.db", "made.csv", "--json").json == {
            "study": "study.db", "format": "plain", "recorded": 2, "comparisons": 2, "columns_not_used": [],
            "notes": [],
        }  # fmt: skip
        assert run("export", "study.db", "out.csv").code == 0
        assert (folder / "out.csv").read_text().splitlines()[1:] == ["x,y,left,,g1", "z,w,left,,g2"]

    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
    def test_hostile_ids_come_back(self, run, folder, suffix):
        ids = ["=1+1", "'=x", "a\rb", "a\nb", 'say "x"', "-5", "+a", "@b", "\u202eab", " c ", "007", "é", "a,b", "a;b"]
        (folder / "items.json").write_text(json.dumps([{"id": one} for one in ids]))
        assert run("create", "study.db", "--items", "items.json").code == 0
        made = [Comparison(one, other, "left", "=cmd()") for one, other in pairwise(ids)]
        with Study.open(URL) as opened:
            opened.record(made)
        assert run("export", "study.db", f"out{suffix}").code == 0
        assert run("create", "again.db", "--items", "items.json").code == 0
        assert run("import", "again.db", f"out{suffix}").code == 0
        with Study.open("sqlite:///again.db") as opened:
            assert opened.comparisons() == made

    def test_full_export(self, run, study, folder):
        first = ask(run, "--annotator", "ann")[0]
        run("tell", "study.db", first["id"], "left")
        run("undo", "study.db", "--annotator", "ann")
        run("tell", "study.db", first["id"], "tie")
        second = ask(run, "--annotator", "ann")[0]
        run("tell", "study.db", second["id"], "skip")
        (folder / "made.csv").write_text("left,right,winner,annotator\na,b,a,ben\n")
        run("import", "study.db", "made.csv")
        run("exclude", "study.db", "--annotator", "ben")
        assert "Wrote 4 answers to full.json." in run("export", "study.db", "full.json", "--full").out
        rows = json.loads((folder / "full.json").read_text())
        told = [(row["winner"], row["status"], row["query"], row["annotator"]) for row in rows]
        assert told == [
            ("left", "taken back", first["id"], "ann"),
            ("tie", "counts", first["id"], "ann"),
            ("skip", "skipped", second["id"], "ann"),
            ("left", "annotator excluded", None, "ben"),
        ]
        assert rows[0]["taken_back_at"] >= rows[0]["stored_at"] >= rows[0]["asked_at"]
        assert rows[1]["algorithm"] == "guro-hybrid"
        assert rows[1]["utility"] > 0
        refused = run("import", "study.db", "full.json")
        assert "full.json: this is a full export, with answers that do not count; import the plain one" in refused.err


class TestItems:
    def test_add_items_takes_the_study_s_feature_columns(self, run, study, folder):
        (folder / "more.csv").write_text("id,text,contrast,sharpness\ne,The fifth,1,2\n")
        result = run("add-items", "study.db", "--items", "more.csv")
        assert "Added 1 item; study.db now has 5 items, 2 feature columns" in result.out
        with Study.open(URL) as opened:
            assert opened.items.features[-1].tolist() == [2.0, 1.0]

    def test_add_items_json(self, run, study, folder):
        (folder / "more.csv").write_text("id,sharpness,contrast\ne,2,1\nf,3,1\n")
        added = run("add-items", "study.db", "--items", "more.csv", "--json").json
        assert (added["added"], added["items"]) == (2, 6)

    def test_exclude_and_include(self, run, study, folder):
        (folder / "made.csv").write_text("left,right,winner,annotator\na,b,left,anna\na,c,left,ben\n")
        run("import", "study.db", "made.csv")
        assert run("exclude", "study.db", "--item", "b", "--json").json == {
            "study": "study.db", "excluded_items": ["b"], "excluded_annotators": [], "comparisons": 1,
        }  # fmt: skip
        assert [row["id"] for row in run("order", "study.db", "--json").json["items"]].count("b") == 0
        assert len(run("order", "study.db", "--json").json["items"]) == 3
        out = run("exclude", "study.db", "--annotator", "ben").out
        assert "Excluded annotators: ben." in out
        assert "Comparisons that count: 0." in out
        assert "with ordinate include study.db --item b\n" in run("order", "study.db").out
        run("include", "study.db", "--item", "b")
        assert run("include", "study.db", "--annotator", "ben", "--json").json["comparisons"] == 2


COLUMNS = ["rank", "id", "score", "standard_error", "rank_low", "rank_high", "rank_best"]
COLUMNS += ["rank_tied_low", "rank_tied_high"]


def test_without_answers_the_error_is_unknown_for_that_reason(run, study):
    (line,) = [line for line in run("status", "study.db").out.splitlines() if line.startswith("expected error")]
    assert line.split(None, 2)[2] == "unknown: there are no answers yet"


def test_shares_that_the_rules_set_are_shown_as_they_were_set(run, study):
    with Study.open("sqlite:///study.db") as opened:
        opened.set_rules(random=0.07, target=0.1, cuts=[2], misplaced=0.125)
    out = run("status", "study.db").out
    for said in ("7 % of the questions", "10 % of pairs in the wrong order", "12.5 % of items in the wrong grade"):
        assert re.search(rf" {re.escape(said)}\n", out), said


class TestOrder:
    @pytest.fixture
    def answered(self, run, study, folder):
        pairs = ["d,c", "c,b", "b,a", "d,a", "d,b", "c,a"]
        (folder / "made.csv").write_text("left,right,winner\n" + "".join(f"{pair},left\n" for pair in pairs))
        run("import", "study.db", "made.csv")

    def test_table(self, run, answered):
        out = run("order", "study.db").out
        # One column says which place the item has, and which it may have.
        read = re.findall(r"^ *(\d)(?: \((\d) to (\d)\))?  ([a-d])  ", out, flags=re.MULTILINE)
        assert [(rank, item) for rank, _, _, item in read] == list(zip("1234", "dcba", strict=True))
        assert all(not low or low <= rank <= high for rank, low, high, _ in read)
        assert any(low for _, low, _, _ in read)
        assert "rank (likely)  id " in out
        assert "The fourth" in out
        assert "From 6 comparisons. Expected error" in out
        assert "the answers cannot be told from coin tosses yet (if people answered sensibly, " in out
        assert out.startswith("The answers cannot be told from coin tosses yet, so these ranks may be due to chance.\n")
        assert run("order", "study.db", "--out", "order.csv").out.startswith("The answers cannot be told")

    def test_without_answers_there_is_none(self, run, study, folder):
        result = run("order", "study.db")
        assert (result.code, result.out) == (
            0,
            "No answers count yet, so there is no order: all places would be by chance. Answer with ordinate annotate "
            "study.db, or in the browser with ordinate serve study.db.\n",
        )
        assert run("order", "study.db", "--items", "items.csv").out == result.out
        empty = run("order", "study.db", "--json").json
        assert (empty["items"], empty["comparisons"], empty["expected_error"]) == ([], 0, None)
        refused = run("order", "study.db", "--out", "ordering.csv")
        assert refused.code == 2
        assert "study.db has no answers that count yet, so there is no order to write to ordering.csv" in refused.err
        assert not (folder / "ordering.csv").exists()

    def test_of_an_excluded_annotator_it_says_to_take_them_in_first(self, run, study):
        with Study.open(URL) as opened:
            opened.record([("a", "b", "left", "ada"), ("a", "b", "left", "ben")])
        run("exclude", "study.db", "--item", "d")
        run("exclude", "study.db", "--annotator", "ada")
        advice = run("order", "study.db", "--annotators", "ada").out
        assert "for instance with ordinate include study.db --annotator ada\n" in advice
        run("include", "study.db", "--annotator", "ada")
        assert "From 1 comparison." in run("order", "study.db", "--annotators", "ada").out

    def test_json(self, run, answered):
        result = run("order", "study.db", "--json").json
        known = {
            "study",
            "comparisons",
            "expected_error",
            "error_low",
            "error_high",
            "better_than_coins",
            "withheld",
            "file",
            "items",
        }
        assert set(result) == known
        assert [result[name] for name in ("expected_error", "error_low", "error_high")] == [None] * 3
        assert result["better_than_coins"] is False
        assert result["withheld"] == "the answers cannot be told from coin tosses yet"
        assert [row["id"] for row in result["items"]] == list("dcba")
        assert list(result["items"][0]) == COLUMNS
        assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in result["items"])
        assert all(row["rank_tied_low"] <= row["rank"] <= row["rank_tied_high"] for row in result["items"])
        assert sum(row["rank_best"] for row in result["items"]) == pytest.approx(1.0)

    @pytest.mark.parametrize("name", ["ordering.csv", "ordering.json", "ordering.parquet"])
    def test_files(self, run, answered, folder, name):
        from ordinate.data.formats import read_columns

        assert f"Wrote 4 items in order to {name}." in run("order", "study.db", "--out", name).out
        columns = read_columns(folder / name)
        assert columns["id"] == list("dcba")
        assert list(columns) == COLUMNS

    def test_out_of_sample(self, run, answered, folder):
        (folder / "new.csv").write_text("id,sharpness,contrast\nlow,0,5\nhigh,6,60\n")
        assert run("order", "study.db", "--items", "new.csv").out.index("high") >= 0
        result = run("order", "study.db", "--items", "new.csv", "--json").json
        assert [row["id"] for row in result["items"]] == ["high", "low"]
        assert result["expected_error"] is None

    def test_groups(self, run, folder):
        (folder / "grouped.csv").write_text("id,group\nx,g1\ny,g1\nz,g2\nw,g2\n")
        run("create", "study.db", "--items", "grouped.csv")
        (folder / "made.csv").write_text("left,right,winner\nx,y,right\nz,w,right\n")
        run("import", "study.db", "made.csv")
        rows = run("order", "study.db", "--json").json["items"]
        assert [(row["group"], row["rank"], row["id"]) for row in rows] == [
            ("g1", 1, "y"), ("g1", 2, "x"), ("g2", 1, "w"), ("g2", 2, "z"),
        ]  # fmt: skip
        assert "group" in run("order", "study.db").out


class TestStatus:
    def test_of_a_study_in_use(self, run, study, folder):
        first = ask(run, "--annotator", "anna")[0]
        run("tell", "study.db", first["id"], "left")
        waiting = ask(run, "--annotator", "anna")[0]
        excluded = next(iter({"a", "b", "c", "d"} - _sides(first) - _sides(waiting)), "d")
        told = run("exclude", "study.db", "--item", excluded).out
        assert f"Take back in with: ordinate include study.db --item {excluded}\n" in told
        out = run("status", "study.db").out
        assert f"ordinate include study.db --item {excluded}\n" in out
        assert "Which is clearer?" in out
        assert "guro-hybrid" in out
        assert "excluded items" in out
        assert "3, 2 feature columns (sharpness, contrast); 1 more excluded" in out
        assert run("status", "study.db", "--json").json["items"] == 3
        assert "expected error" in out

    def test_json(self, run, study):
        first = ask(run)[0]
        run("tell", "study.db", first["id"], "left")
        waiting = ask(run)[0]
        result = run("status", "study.db", "--json").json
        assert [result.pop(name) for name in ("expected_error", "error_low", "error_high")] == [None] * 3
        assert result.pop("better_than_coins") is False
        forecast = result.pop("forecast")
        assert forecast.pop("withheld") == result.pop("withheld") == "the answers cannot be told from coin tosses yet"
        assert 0.0 < forecast.pop("target") < 0.5
        assert set(forecast.values()) == {None}
        assert result.pop("rules")["aim"] == ["order"]
        assert result == {
            "study": "study.db",
            "question": "Which is clearer?",
            "algorithm": "guro-hybrid",
            "state": "running",
            "seed": 0,
            "coefficient_variance": None,
            "item_variance": None,
            "likelihood": "cumulative",
            "items": 4,
            "features": 2,
            "groups": 1,
            "comparisons": 1,
            "unconnected_items": 2,
            "annotators": [{"name": None, "answers": 1}],
            "open": [waiting],
            "excluded_items": [],
            "excluded_annotators": [],
        }


def _sides(query):
    return {query["left"]["id"], query["right"]["id"]}


def test_algorithms(run):
    from ordinate.algorithms import ALGORITHMS

    assert [row["name"] for row in run("algorithms", "--json").json] == list(ALGORITHMS)
    assert all(row["summary"] for row in run("algorithms", "--json").json)
    assert all(name in run("algorithms").out for name in ALGORITHMS)


HOSTILE = "[red]x[/red] :smile: \x1b[2J\x07\u202edlog\x9b1m"


class TestHostileTexts:
    """Texts come from strangers: none may steer the terminal, or be read as rich's markup."""

    @pytest.fixture
    def hostile(self, run, folder):
        columns = {"id": [f"1{HOSTILE}", f"2{HOSTILE}"], "text": [HOSTILE, HOSTILE]}
        (folder / "items.json").write_text(
            json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
        )
        assert run("create", "study.db", "--items", "items.json", "--question", HOSTILE).code == 0
        with Study.open(URL) as opened:
            left, right = columns["id"]
            opened.record(Comparison(left, right, "left"))

    @pytest.mark.parametrize(
        "line", [["ask"], ["order"], ["status"], ["annotate"], ["exclude", "--item", f"0{HOSTILE}"]], ids=lambda x: x[0]
    )
    def test_are_shown_escaped(self, run, hostile, line):
        result = run(line[0], "study.db", *line[1:], keys="1q")
        shown = result.out + result.err
        assert not set("\x1b\x07\u202e\x9b") & set(shown)
        assert "[red]x[/red]" in shown
        assert "\\x1b" in shown

    def test_json_keeps_them_as_they_are(self, run, hostile):
        assert ask(run)[0]["left"]["text"] == HOSTILE


def test_status_says_how_consistent_the_answers_are(run, study):
    assert "consistency" not in run("status", "study.db", "--consistency", "--json").json
    with Study.open(URL) as opened:
        opened.record([Comparison("a", "b", "left", "Ann"), Comparison("b", "c", "left", "Bob")] * 3)
        consistency = opened.consistency()
    assert "consistency" not in run("status", "study.db", "--json").json
    found = run("status", "study.db", "--consistency", "--json").json["consistency"]
    assert found == {**consistency._asdict(), "held_out": None, "held_out_low": None, "held_out_high": None}
    out = run("status", "study.db", "--consistency").out
    assert f"their scores correlate by {consistency.split_half:.2f}" in out
    assert f"{consistency.separation:.2f}; of coin tosses for the same pairs" in out
    assert "none in the later half of the answers" in out


def test_status_shows_the_oldest_of_many_open_questions(run, study):
    asked = run("ask", "study.db", "--count", "5", "--json").json["queries"]
    open_row = run("status", "study.db").out.partition("open")[2]
    assert [query["id"] in open_row for query in asked] == [True] * 4 + [False]
    assert "and 1 more" in " ".join(open_row.split())
    assert len(run("status", "study.db", "--json").json["open"]) == 5


@pytest.mark.parametrize(
    ("error", "words"),
    [(0.08, "about 1 in 12 pairs is"), (0.27, "about 1 in 4 pairs is"), (0.416, "about 4 in 10 pairs are")],
)
def test_an_expected_error_in_words(error, words):
    assert words in error_in_words(error)


class TestAim:
    @pytest.fixture
    def ranked(self, run, folder):
        """Three answers about four items by each of ten people: a above b above c above d."""
        run("create", "study.db", "--items", "items.csv", "--aim", "top:2")
        with Study.open(URL) as study:
            people = [f"somebody {number}" for number in range(10)]
            study.record([Comparison(one, other, "left", who) for who in people for one, other in pairwise("abcd")])

    def test_create_stores_and_says_it(self, run, ranked):
        assert run("aim", "study.db").out == "Aim: the first 2 items.\n"
        assert run("aim", "study.db", "--json").json == {"study": "study.db", "aim": ["top:2"]}

    def test_it_changes_and_answers_stay(self, run, ranked):
        assert run("aim", "study.db", "--aim", "above:b").out == "Aim: which items are above b.\n"
        said = run("aim", "study.db", "--aim", "above:b", "--aim", "above:c").out
        assert said == "Aim: grades between b, c.\n"
        assert run("aim", "study.db", "--aim", "order").out == "Aim: the whole order.\n"
        with Study.open(URL) as study:
            assert len(study.comparisons()) == 30

    def test_what_cannot_be_is_refused(self, run, ranked):
        result = run("aim", "study.db", "--aim", "top:4")
        assert (result.code, result.out) == (2, "")
        assert "top:4 leaves nothing to find out: there are only 4 items" in result.err
        assert "no item 'z'" in run("aim", "study.db", "--aim", "above:z").err

    def test_order_says_which_items_are_wanted(self, run, ranked):
        out = run("order", "study.db").out
        assert "wanted" in out
        assert "Aim: the first 2 items; about " in out
        found = run("order", "study.db", "--json").json
        assert [item["part"] for item in found["items"]] == [1, 1, 2, 2]
        assert found["selection"]["measure"] == "recall"
        assert found["selection"]["expected"] == pytest.approx(
            np.mean([one["membership"] for one in found["items"][:2]])
        )

    def test_status_says_what_is_found_and_forecasts(self, run, ranked):
        out = run("status", "study.db").out
        assert "of the wanted items are among the 2 that are marked" in out
        found = run("status", "study.db", "--recall", "0.99", "--json").json
        assert found["rules"]["aim"] == ["top:2"]
        assert found["found"]["forecast"]["target"] == pytest.approx(0.99)

    def test_before_three_answers_per_item_it_is_withheld(self, run):
        run("create", "study.db", "--items", "items.csv", "--aim", "bottom:1")
        with Study.open(URL) as study:
            study.record([Comparison("a", "b", "left")] * 11)
        assert "not known: there are fewer than 3 answers per item" in run("status", "study.db").out

    def test_a_recall_needs_an_aim(self, run):
        run("create", "study.db", "--items", "items.csv")
        assert "--recall goes with an aim" in run("status", "study.db", "--recall", "0.9").err


def test_what_would_change_nothing_is_refused_by_order(run, folder):
    run("create", "study.db", "--items", "items.csv", "--feature-columns", "sharpness,contrast")
    (folder / "comparisons.csv").write_text("left,right,winner\na,b,left\n")
    run("import", "study.db", "comparisons.csv")
    for option in ("--features=x.npy", "--feature-columns=nothing", "--pca=3", "--content=text=foo", "--id-column=foo"):
        result = run("order", "study.db", option)
        assert result.code == 2
        assert "say how to read a table of items; there is none: name it with --items" in result.err
    new = ("order", "study.db", "--items", "items.csv", "--feature-columns", "sharpness,contrast")
    assert run(*new).code == 0
    assert "cuts put the study's own items in grades" in run(*new, "--cuts", "2").err
    assert "leave out what says how to read tables" in run("order", "http://127.0.0.1:9/s/token", "--pca", "3").err
