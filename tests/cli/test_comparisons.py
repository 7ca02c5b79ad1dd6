"""Comparisons alone: ordered, made into a study, imported from and exported to other programs."""

import dataclasses
import json
import re

import numpy as np
import pytest

from ordinate import Study
from ordinate.datasets import read_recorded

BATTLES = "model_a,model_b,winner,judge\nx,y,model_a,j1\ny,z,model_a,j2\nx,z,tie (bothbad),j1\nx,z,model_a,j2\n"


@pytest.fixture
def battles(folder):
    (folder / "battles.csv").write_text(BATTLES)
    return "battles.csv"


def test_a_file_of_comparisons_is_enough_for_an_ordering(run, battles, folder):
    shown = run("order", battles, "--json")
    assert shown.code == 0
    assert [row["id"] for row in shown.json["items"]] == ["x", "y", "z"]
    assert shown.json["comparisons"] == 4
    assert "Both items were called bad in 1; these count as ties." in shown.err
    assert sorted(path.name for path in folder.iterdir()) == ["battles.csv", "items.csv"], "nothing is stored"
    assert run("order", battles, "--out", "ordering.csv").code == 0
    assert (folder / "ordering.csv").read_text().splitlines()[1].startswith("1,x,")


def test_comparisons_and_features_place_items_that_nobody_compared(run, folder):
    (folder / "made.csv").write_text("left,right,winner\na,b,b\nb,c,c\na,c,c\n")
    rows = run("order", "made.csv", "--items", "items.csv", "--feature-columns", "sharpness", "--json").json["items"]
    assert [row["id"] for row in rows] == ["d", "c", "b", "a"]
    (folder / "made.csv").write_text("left,right,winner\na,b,b\nb,cc,cc\n")
    refused = run("order", "made.csv", "--items", "items.csv")
    assert refused.err == "Error: made.csv: row 2: there is no item 'cc'; 'c' is the nearest\n"


def test_judges_that_are_models_are_named_when_their_answers_are_read(run, folder, battles):
    rows = ["model_a,model_b,winner,judge"]
    rows += [f"{one},{other},model_a,kim" for one, other in ("xy", "yz", "xz") for _ in range(12)]
    rows += [f"{one},{other},model_b,judge-1" for one, other in ("xy", "yz", "xz") for _ in range(12)]
    (folder / "battles.csv").write_text("\n".join(rows) + "\n")
    assert "No annotator is known to be a model" in run("order", battles, "--trust", "0.5").err
    trusted = run("order", battles, "--models", "judge-1", "--trust", "0.5", "--json")
    assert "judge-1: agrees with people on 0.0 %" in trusted.err
    assert "so it is left out" in trusted.err
    assert [row["id"] for row in trusted.json["items"]] == ["x", "y", "z"]
    assert trusted.json["comparisons"] == 36
    wrong = run("create", "new.db", "--comparisons", battles, "--models", "judge-2")
    assert "--models: no comparison is by 'judge-2'; 'judge-1' is the nearest" in wrong.err
    assert not (folder / "new.db").exists()
    assert run("create", "new.db", "--comparisons", battles, "--models", "judge-1").code == 0
    kinds = {row["name"]: row["kind"] for row in run("annotators", "new.db", "--json").json["annotators"]}
    assert kinds == {"kim": "person", "judge-1": "machine"}
    (folder / "more.csv").write_text("left,right,winner,annotator\nx,y,left,judge-3\n")
    assert run("import", "new.db", "more.csv", "--models", "judge-3").code == 0
    assert (
        "'kim' has been asked or has answered as a person"
        in run("import", "new.db", battles, "--models", "kim", "--again").err
    )
    assert "there is none" in run("order", "new.db", "--models", "judge-1").err


def test_groups_of_comparisons_are_kept_or_refused(run, folder):
    (folder / "made.csv").write_text("left,right,winner,group\na,b,a,g\nc,d,d,h\n")
    rows = run("order", "made.csv", "--json").json["items"]
    assert [(row["group"], row["rank"]) for row in rows] == [("g", 1), ("g", 2), ("h", 1), ("h", 2)]
    assert "the comparisons have groups but the study has none" in run("order", "made.csv", "--items", "items.csv").err
    (folder / "made.csv").write_text("left,right,winner,group\na,b,a,g\na,d,d,h\n")
    assert "row 2: item 'a' is compared in group 'g' and in 'h'" in run("order", "made.csv").err


def test_a_scene_that_comes_alone_is_that_of_the_study(run, folder):
    """Alone its conditions need no name of the scene, which those of the study have."""
    header = "observer,scene,condition_A,condition_B,is_A_selected\n"
    (folder / "both.csv").write_text(f"{header}1,street,q10,q90,0\n1,beach,q10,q90,1\n")
    (folder / "street.csv").write_text(f"{header}2,street,q10,q90,0\n3,street,q90,q10,1\n")
    made = run("create", "study.db", "--comparisons", "both.csv")
    assert "so each is called GROUP/NAME, such as 'street/q10'." in made.err
    assert run("import", "study.db", "street.csv").code == 0
    with Study.open("sqlite:///study.db") as opened:
        assert opened.items.ids == ("street/q10", "street/q90", "beach/q10", "beach/q90")
        assert [(one.left, one.right) for one in opened.comparisons()][2:] == [
            ("street/q10", "street/q90"),
            ("street/q90", "street/q10"),
        ]
    (folder / "items.csv").write_text("id,group\nq10,street\nq90,street\nb10,beach\nb90,beach\n")
    assert run("order", "street.csv", "--items", "items.csv").code == 0
    refused = run("order", "both.csv", "--items", "items.csv").err
    assert "both.csv: row 2: there is no item 'beach/q10'" in refused
    (folder / "items.csv").write_text("id\nq10\nq90\n")
    refused = run("order", "both.csv", "--items", "items.csv").err
    assert "the comparisons have groups but the study has none" in refused
    (folder / "items.csv").write_text("id,group\nstreet/q10,street\nstreet/q90,street\n")
    read = read_recorded(folder / "items.csv", folder / "street.csv")
    assert {one.left for one in read.comparisons} == {"street/q10", "street/q90"}


def test_scores_that_round_to_zero_have_no_sign(run, folder):
    """Of coin tosses the scores are zero up to the last digits, which may be below it."""
    (folder / "coins.csv").write_text("left,right,winner\na,b,a\nb,a,a\nb,c,b\nc,b,b\nc,a,c\na,c,c\n")
    assert run("create", "coins.db", "--comparisons", "coins.csv").code == 0
    with Study.open("sqlite:///coins.db") as opened:
        ordering = opened.ordering()
    assert (ordering.scores < 0.0).any()
    assert run("report", "coins.db", "--out", "coins.html").code == 0
    texts = {
        "table": run("order", "coins.csv").out,
        "repr": repr(ordering),
        "notebook": ordering._repr_html_(),
        "report": (folder / "coins.html").read_text(encoding="utf-8"),
    }
    assert {what for what, text in texts.items() if re.search(r"[-\u2212]0\.00\b", text)} == set()
    assert {what for what, text in texts.items() if "0.00" in text} == set(texts)
    exact = dataclasses.replace(ordering, scores=np.array([0.0, -0.0, -0.0]))
    assert not np.signbit(exact.to_columns()["score"]).any()


def test_a_study_is_made_of_comparisons(run, battles, folder):
    made = run("create", "study.db", "--comparisons", battles)
    assert "Recorded 4 comparisons from battles.csv (read as arena)." in made.out
    status = run("status", "study.db", "--json").json
    assert (status["items"], status["comparisons"]) == (3, 4)
    assert run("export", "study.db", "--format", "arena", "--out", "out.csv").code == 0
    assert (folder / "out.csv").read_text() == BATTLES
    refused = run("export", "study.db", "--format", "crowd-kit", "--out", "out.csv")
    assert "comparison 3 ('x' and 'z') is a tie, which the format crowd-kit does not have" in refused.err
    assert "give the items, with --items, or comparisons" in run("create", "other.db").err
    bad = run("create", "other.db", "--items", "items.csv", "--comparisons", battles)
    assert "battles.csv: row 1: there is no item 'x'" in bad.err
    assert (
        "this is a table of comparisons (arena), not of items; give it as"
        in run("create", "o.db", "--items", battles).err
    )
    assert not (folder / "other.db").exists()


def test_columns_and_words_are_named_on_the_command_line(run, folder):
    (folder / "results.csv").write_text("who,one,two,choice\np1,a,b,A\np2,b,c,neither\np3,c,b,?\n")
    line = ["order", "results.csv", "--map", "left=one", "--map", "right=two", "--map", "winner=choice", "--json"]
    unknown = run(*line).err
    assert "row 1: unknown winner 'A'; it is left, right, tie, " in unknown
    assert unknown.endswith("say what they mean, such as --answers 1=left,2=right\n")
    words = ["--answers", "A=left,B=right,neither=tie,?=skip"]
    assert run(*line, *words).json["comparisons"] == 2
    assert run(*line, "--answers", "A=lft").err.startswith("Error: --answers: 'lft' is none of left, right, tie")
    tried = ["simulate", "recorded", "--items", "items.csv", "--comparisons", *line[1:8], *words]
    assert "2 answers on 2 pairs" in run(*tried, "--share", "0.5", "--budget", "1", "--seeds", "1").out
    assert "--map takes NAME=VALUE, not 'left'" in run("order", "results.csv", "--map", "left").err
    twice = run(*line[:2], "--map", "left=one", "--map", "left=two").err
    assert "--map names 'left' twice, with one and with two" in twice
    assert "there is none" in run("create", "s.db", "--items", "items.csv", "--map", "left=one").err


def test_questions_go_out_as_a_table_and_come_back(run, study, folder):
    run("ask", "study.db", "--count", "3", "--out", "pairs.csv")
    header, *rows = (folder / "pairs.csv").read_text().splitlines()
    assert header == "query,question,left,right,left_text,right_text,winner"
    assert len(rows) == 3
    (folder / "pairs.csv").write_text("\n".join([header, rows[0] + "left", rows[1] + "tie", rows[2]]))
    read = run("import", "study.db", "pairs.csv", "--json").json
    assert (read["recorded"], read["columns_not_used"]) == (2, [])
    assert read["notes"] == [
        "Left out, without an answer: 1.", "Open queries that these comparisons answer, now closed: 2.",
    ]  # fmt: skip
    assert [one["id"] for one in run("status", "study.db", "--json").json["open"]] == [rows[2].split(",")[0]]


def test_answers_to_questions_are_those_of_whom_was_asked(run, study, folder):
    run("ask", "study.db", "-a", "Ann", "--count", "2", "--out", "pairs.csv")
    header, one, other = (folder / "pairs.csv").read_text().splitlines()
    (folder / "pairs.csv").write_text("\n".join([header, one + "left", other + "right"]))
    assert run("import", "study.db", "pairs.csv", "--json").json["recorded"] == 2
    with Study.open("sqlite:///study.db") as opened:
        assert [one.annotator for one in opened.comparisons()[-2:]] == ["Ann", "Ann"]


def test_names_that_look_alike_are_mentioned_without_a_study(run, folder):
    (folder / "battles.csv").write_text("model_a,model_b,winner\nelm,fir,model_a\nelm ,fir,model_b\n")
    assert "look alike but differ, since the exact text decides: 'elm' and 'elm '" in run("order", "battles.csv").err


def test_practice_never_comes_back_as_a_comparison(run, study, folder):
    """Neither by a table of questions, which has no practice pairs, nor by one that names such a pair."""
    with Study.open("sqlite:///study.db") as opened:
        left, right, *_ = opened.items.ids
        opened.set_rules(practice=[(left, right, "left")])
    run("ask", "study.db", "-a", "Ann", "--out", "pairs.csv")
    header, row = (folder / "pairs.csv").read_text().splitlines()
    (practice,) = run("ask", "study.db", "-a", "Ann", "--json").json["queries"]
    assert "practice" not in row
    assert "practice" in practice["id"]
    (folder / "pairs.csv").write_text(f"{header}\n{row}left\n{practice['id']},?,{left},{right},,,left\n")
    read = run("import", "study.db", "pairs.csv", "--json").json
    assert read["recorded"] == 1
    assert read["notes"][0] == "Left out, as answers to practice pairs, which never count: 1."


def test_a_bad_comparison_leaves_no_study_and_closes_no_question(run, study, folder):
    (folder / "made.csv").write_text(f"left,right,winner,annotator\na,b,a,Ann\nb,c,b,{'x' * 5000}\n")
    refused = run("create", "new.db", "--comparisons", "made.csv")
    assert (refused.code, refused.err.startswith("Error: made.csv: row 2: ")) == (2, True)
    assert not (folder / "new.db").exists()
    run("ask", "study.db", "--count", "2", "--out", "pairs.csv")
    header, *rows = (folder / "pairs.csv").read_text().splitlines()
    names = ("Ann", "x" * 5000)
    lines = [f"{row}left,{name}" for row, name in zip(rows, names, strict=True)]
    (folder / "pairs.csv").write_text("\n".join([f"{header},annotator", *lines]))
    assert run("import", "study.db", "pairs.csv").code == 2
    status = run("status", "study.db", "--json").json
    assert (status["comparisons"], len(status["open"])) == (0, 2)


def test_tasks_for_label_studio_come_back_as_its_export(run, study, folder):
    done = run("ask", "study.db", "-n", "2", "--format", "label-studio", "--out", "tasks.json")
    assert "<Pairwise" in done.out
    tasks = json.loads((folder / "tasks.json").read_text())
    for task in tasks:
        result = {
            "type": "pairwise",
            "from_name": "pair",
            "to_name": "left_text,right_text",
            "value": {"selected": "right"},
        }
        task["annotations"] = [{"completed_by": 3, "result": [result]}]
    (folder / "export.json").write_text(json.dumps(tasks))
    assert run("import", "study.db", "export.json").code == 0
    status = run("status", "study.db", "--json").json
    assert (status["comparisons"], status["open"]) == (2, [])
    assert status["annotators"] == [{"name": "3", "answers": 2}]
    assert "name one with --out" in run("ask", "study.db", "--format", "label-studio").err


class Sheet:
    """The queries that Ann was asked, in pairs.csv; a call writes a word for each as its answer and imports them."""

    def __init__(self, run, folder):
        run("ask", "study.db", "-a", "Ann", "--count", "4", "--out", "pairs.csv")
        self.run, self.file = run, folder / "pairs.csv"
        self.header, *self.rows = self.file.read_text().splitlines()
        self.ids = [row.split(",")[0] for row in self.rows]

    def __call__(self, *words, column="", people=("",) * 4):
        answers = [f"{row}{word}{who}" for row, word, who in zip(self.rows, words, people, strict=False)]
        self.file.write_text("\n".join([self.header + column, *answers]) + "\n")
        return self.run("import", "study.db", "pairs.csv", "--json")


@pytest.fixture
def sheet(run, study, folder):
    return Sheet(run, folder)


def counted(by="Ann"):
    with Study.open("sqlite:///study.db") as opened:
        assert set(opened.annotators()) == {by}, "nobody else has an answer, and no answer is without a name"
        return len(opened.comparisons())


def test_a_table_of_questions_that_comes_back_again_is_recorded_once(sheet):
    assert sheet("left", "right", "", "").json["recorded"] == 2
    again = sheet("left", "right", "left", "tie").json
    assert (again["recorded"], counted()) == (2, 4)
    assert again["notes"] == [
        "Left out, already answered: 2.", "Open queries that these comparisons answer, now closed: 2.",
    ]  # fmt: skip
    for _ in range(2):
        again = sheet("left", "right", "left", "tie").json
        assert (again["recorded"], again["notes"], counted()) == (0, ["Left out, already answered: 4."], 4)


def test_an_answer_given_in_the_study_is_not_recorded_again_from_a_table(run, sheet):
    run("tell", "study.db", sheet.ids[0], "left")
    run("tell", "study.db", sheet.ids[1], "skip")
    found = sheet("left", "right", "left", "").json
    assert (found["recorded"], counted()) == (1, 2)
    assert found["notes"][1:3] == [
        "Left out, already answered: 1.",
        "Left out, already answered otherwise, which stands: 1 "
        f"(row 2: right to {sheet.ids[1]}, where the study has skip).",
    ]
    run("undo", "study.db", "-a", "Ann")  # the skip: its query is open again
    assert (sheet("left", "right", "left", "").json["recorded"], counted()) == (1, 3)


def test_another_answer_than_the_stored_one_is_named_and_left_out(sheet):
    sheet("left", "left", "left", "left")
    found = sheet("left", "tie", "right", "left").json
    assert (found["recorded"], counted()) == (0, 4)
    assert found["notes"] == [
        "Left out, already answered: 2.",
        "Left out, already answered otherwise, which stands: 2 "
        f"(row 2: tie to {sheet.ids[1]}, where the study has left; row 3: right to {sheet.ids[2]}, where the study has "
        "left).",
    ]


def test_an_answer_to_a_query_that_was_withdrawn_is_of_whom_was_asked(run, sheet):
    run("withdraw", "study.db", sheet.ids[0])
    assert (sheet("left").json["recorded"], counted()) == (1, 1)
    assert (sheet("left").json["recorded"], counted()) == (0, 1)


def test_a_pair_that_was_asked_twice_has_two_answers(run, study, folder):
    rows: list[str] = []

    def back(answer):
        with Study.open("sqlite:///study.db") as opened:
            rows.extend(f"{one.id},{one.left},{one.right},{answer}" for one in opened.ask("Ann", count=6))
        (folder / "pairs.csv").write_text("\n".join(["query,left,right,winner", *rows]) + "\n")
        assert "otherwise" not in run("import", "study.db", "pairs.csv").err
        assert counted() == len(rows)

    back("left")
    back("tie")
    assert len(rows) > len({frozenset(row.split(",")[1:3]) for row in rows}), "a pair was asked again"
    for order in (1, -1):
        (folder / "pairs.csv").write_text("\n".join(["query,left,right,winner", *rows[::order]]) + "\n")
        assert "otherwise" not in run("import", "study.db", "pairs.csv").err
        assert counted() == len(rows)


def test_several_people_may_answer_a_query_in_one_table(run, sheet):
    people = {"column": ",annotator", "people": (",Ben", ",ben", ",Ben", ",Ben")}
    assert (sheet("left", "left", "left", "left", **people).json["recorded"], counted("Ben")) == (4, 4)
    assert (sheet("left", "left", "left", "left", **people).json["recorded"], counted("Ben")) == (0, 4)
    assert sheet("left", "left", "left", "left").json["recorded"] == 4, "Ann answers the same queries"


def test_a_row_whose_query_does_not_fit_records_nothing(run, sheet, folder):
    query, other = sheet.ids[:2]
    table = folder / "pairs.csv"
    left, right = table.read_text().splitlines()[1].split(",")[2:4]
    third = next(one for one in "abcd" if one not in (left, right))
    for rows, problem in (
        ([f"other-7,{left},{right},left"], "row 1: the study never asked the query 'other-7'; "),
        ([f"{query}9,{left},{right},left"], f"row 1: the study never asked the query '{query}9'; "),
        ([f"{query},{left},{third},left"], f"row 1: the query '{query}' is about '{left}' and '{right}', not about "),
        (
            [f"{query},{left},{right},left", f"{query},{right},{left},left"],
            f"rows 1 and 2 answer the query '{query}' differently; leave one out, or ",
        ),
    ):
        table.write_text("\n".join(["query,left,right,winner", *rows]) + "\n")
        refused = run("import", "study.db", "pairs.csv")
        assert (refused.code, refused.err.startswith(f"Error: pairs.csv: {problem}")) == (2, True), refused.err
    assert run("status", "study.db", "--json").json["comparisons"] == 0
    table.write_text(f"query,left,right,winner\n{query},{left},{right},left\n{query},{right},{left},right\n")
    assert run("import", "study.db", "pairs.csv", "--json").json["recorded"] == 1, "the same answer twice"
    assert other in {one["id"] for one in run("status", "study.db", "--json").json["open"]}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_an_export_with_objects_is_refused_where_no_cell_can_hold_them(run, study, folder, suffix):
    (folder / "made.csv").write_text("left,right,winner\na,b,left\n")
    run("import", "study.db", "made.csv")
    refused = run("export", "study.db", f"out{suffix}", "--format", "label-studio")
    assert (refused.code, refused.err) == (
        2,
        f"Error: out{suffix}: row 1 of column 'data' holds a list or an object, which this kind of file has no place "
        f"for; write .json, .jsonl or .parquet{' (row 1 is the first below the header)' * (suffix == '.xlsx')}\n",
    )
    assert not (folder / f"out{suffix}").exists()
    for other in (".json", ".jsonl", ".parquet"):
        assert run("export", "study.db", f"out{other}", "--format", "label-studio").code == 0
        assert run("order", f"out{other}", "--json").json["comparisons"] == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx"])
@pytest.mark.parametrize("form", ["plain", "arena", "label-studio", "choix"])
def test_a_study_without_comparisons_is_exported_and_imported_again(run, study, suffix, form):
    run("export", "study.db", f"none{suffix}", "--format", form)
    assert run("import", "study.db", f"none{suffix}", "--json").json["recorded"] == 0
    run("export", "study.db", "none.npy", "--format", "choix")
    assert run("import", "study.db", "none.npy", "--json").json["recorded"] == 0


START = {
    "plain": b"",
    "a mark": b"\xef\xbb\xbf",
    "line ends": b"\r\n\t ",
    "both": b"\xef\xbb\xbf\r\n",
    "long": b" " * 300,
}


@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("inside", [b"", b"\r\n\t", b"\n  "])
def test_a_list_of_pairs_is_read_however_it_is_laid_out(run, folder, start, inside):
    text = START[start] + b"[" + inside + b"[1, 0]," + inside + b"[2,\t1]" + inside + b"]\r\n"
    (folder / "pairs.json").write_bytes(text)
    assert [row["id"] for row in run("order", "pairs.json", "--json").json["items"]] == ["2", "1", "0"]


def test_exports_of_label_studio_that_grow_are_recorded_once(run, study, folder):
    run("ask", "study.db", "-n", "4", "--format", "label-studio", "--out", "tasks.json")
    tasks = json.loads((folder / "tasks.json").read_text())
    for done, new in ((2, 2), (4, 2), (4, 0)):
        for task in tasks:
            task["annotations"] = []
        for task in tasks[:done]:
            result = {"type": "pairwise", "value": {"selected": "right"}}
            task["annotations"] = [{"completed_by": 3, "result": [result]}]
        (folder / "export.json").write_text(json.dumps(tasks))
        read = run("import", "study.db", "export.json", "--json").json
        assert (read["recorded"], counted("3")) == (new, done)


LEFT_OUT = ("w.csv", "left,right,winner\n{0},{1},\n{0},{1},\n{0},{2},{0}\n", ["--map", "winner=winner"], 3)
RANKED: tuple[str, str, list[str], int] = (
    "r.csv",
    "ranking,annotator\n,x\n{0} > {1} > {3},x\n{1} > {0} > {2},{4}\n",
    [],
    3,
)
COUNTED = ("c.csv", "left,right,winner,n\n{0},{1},left,7\n{0},{2},left,2\n", ["--map", "count=n"], 2)
NAMED = ("n.csv", "left,right,winner,annotator\n{0},{1},,x\n{0},{1},left,{4}\n", LEFT_OUT[2], 2)


@pytest.mark.parametrize(
    ("table", "unknown", "name", "problem"),
    [
        (LEFT_OUT, "zz", "", "there is no item 'zz'"),
        (LEFT_OUT, "p", "", "item 'a' is in group 'g' and 'p' in 'h'; only items of one group are compared"),
        (RANKED, "zz", "x", "there is no item 'zz'"),
        (RANKED, "c", "y" * 99, "an annotator's name has 1 to 80 characters, not 99"),
        (COUNTED, "zz", "", "there is no item 'zz'"),
        (COUNTED, "p", "", "item 'a' is in group 'g' and 'p' in 'h'; only items of one group are compared"),
        (NAMED, "", "y" * 99, "an annotator's name has 1 to 80 characters, not 99"),
    ],
)
def test_what_does_not_fit_is_named_by_file_and_row(run, folder, table, unknown, name, problem):
    file, text, options, row = table
    (folder / file).write_text(text.format("a", "b", unknown, "c", name))
    (folder / "grouped.csv").write_text("id,group\na,g\nb,g\nc,g\np,h\nq,h\n")
    assert run("create", "study.db", "--items", "grouped.csv").code == 0
    said = f"Error: {file}: row {row}: {problem}"
    for line in (
        ["import", "study.db", file],
        ["create", "new.db", "--items", "grouped.csv", "--comparisons", file],
        ["order", file, "--items", "grouped.csv"],
    ):
        refused = run(*line, *options)
        assert (refused.code, refused.err[: len(said)]) == (2, said), refused.err
    assert run("status", "study.db", "--json").json["comparisons"] == 0
    assert not (folder / "new.db").exists()


def test_preference_data_on_disk_are_enough(run, folder):
    datasets = pytest.importorskip("datasets")
    pairs = {"prompt": ["Why?"] * 3, "chosen": ["a", "b", "a"], "rejected": ["b", "c", "c"]}
    datasets.Dataset.from_dict(pairs).save_to_disk(folder / "preferences")
    assert [row["id"] for row in run("order", "preferences", "--json").json["items"]] == ["a", "b", "c"]


def test_an_order_names_the_columns_that_it_does_not_use(run, folder):
    (folder / "coded.csv").write_text("left,right,winner,coder,question_id\na,b,left,ann,1\nb,c,left,ben,2\n")
    assert run("order", "coded.csv").err.startswith("Columns not used: coder, question_id.\n")
    made = run("order", "coded.csv", "--items", "items.csv", "--feature-columns", "sharpness")
    assert made.err.startswith("Columns not used: contrast, coder, question_id.\n")
    assert "not used" not in run("order", "coded.csv", "--map", "annotator=coder", "--map", "group=question_id").err


FEATURES = np.array([[3.0], [1.0], [4.0], [0.5], [5.0]])
"""Of the items 0 to 4; each win below is that of the larger feature, and item 3 is in none."""
PAIRS = [[4, 0], [2, 1], [4, 2], [0, 1], [2, 0]]


@pytest.fixture
def numbered(folder):
    """The files of pairs and of wins of the same items, none in the order of the item numbers."""
    wins = np.zeros((5, 5), dtype=int)
    for winner, loser in PAIRS:
        wins[winner, loser] = 1
    np.save(folder / "wins.npy", wins)
    named = [",v,w,x,y,z", *(f"{name},{','.join(map(str, row))}" for name, row in zip("vwxyz", wins, strict=True))]
    (folder / "wins.csv").write_text("\n".join(named) + "\n")
    (folder / "pairs.json").write_text(json.dumps(PAIRS))
    for name, matrix in (("all", FEATURES), ("few", FEATURES[:4]), ("many", np.vstack([FEATURES, [[9.0]]]))):
        np.save(folder / f"{name}.npy", matrix)
    return folder


@pytest.mark.parametrize(
    ("file", "ids"), [("pairs.json", "01234"), ("wins.npy", "01234"), ("wins.csv", "vwxyz")], ids=lambda one: one
)
def test_rows_of_a_matrix_belong_to_the_numbers_of_items_not_to_the_order_of_comparisons(run, numbered, file, ids):
    shown = run("order", file, "--features", "all.npy", "--json")
    assert shown.code == 0, shown.err
    # By features alone: item 3, which nobody compared, has the smallest one.
    assert [row["id"] for row in shown.json["items"]] == [ids[row] for row in np.argsort(-FEATURES[:, 0])]
    assert f"The rows of the features belong to the items in this order: {', '.join(ids)}." in shown.err
    assert run("create", "s.db", "--comparisons", file, "--features", "m=all.npy").code == 0
    with Study.open("sqlite:///s.db") as study:
        assert study.items.ids == tuple(ids)
        np.testing.assert_array_equal(study.items.features, FEATURES)
        assert len(study.comparisons()) == len(PAIRS)


@pytest.mark.parametrize(
    ("file", "features", "problem"),
    [
        ("pairs.json", "few.npy", "row 1: item '4' has no row in the feature matrix, which has 4, one for each"),
        ("wins.npy", "many.npy", "these are wins of 5 items, and the feature matrix has 6 rows; give it one for each"),
        ("wins.csv", "few.npy", "these are wins of 5 items, and the feature matrix has 4 rows; give it one for each"),
        ("battles.csv", "few.npy", "the rows of a feature matrix belong to the items of a table"),
        ("grouped.json", "all.npy", "the rows of a feature matrix belong to the items of a table"),
    ],
)
def test_a_matrix_whose_rows_fit_no_items_is_refused(run, numbered, battles, file, features, problem):
    rows = [{"0": 1, "1": 0, "group": "g"}, {"0": 2, "1": 0, "group": "g"}]
    (numbered / "grouped.json").write_text(json.dumps(rows))
    form = ("--format", "choix") if file == "grouped.json" else ()
    for line in (("order", file), ("create", "s.db", "--comparisons", file)):
        refused = run(*line, "--features", features, *form)
        assert refused.code == 2
        assert f"{file}: {problem}" in refused.err
        assert "--items FILE" in refused.err or file.startswith("wins")
    assert not (numbered / "s.db").exists()


def test_features_with_ids_need_no_table_of_items(run, folder, battles):
    from ordinate.data.items import Items
    from ordinate.data.recipe import Recipe
    from ordinate.embedding import write_embedding

    made = Items(["z", "x", "y"], np.array([[1.0], [3.0], [2.0]]))
    write_embedding(folder / "made.npz", made, Recipe("text:any", "text", "fingerprint"))
    assert run("create", "s.db", "--comparisons", battles, "--features", "made.npz").code == 0
    with Study.open("sqlite:///s.db") as study:
        assert dict(zip(study.items.ids, study.items.features[:, 0], strict=True)) == {"x": 3.0, "y": 2.0, "z": 1.0}
    (folder / "made.npz").rename(folder / "MADE.NPZ")
    assert run("create", "t.db", "--comparisons", battles, "--features", "MADE.NPZ").code == 0
