"""`ordinate create` from vectors, categories, reduced features, lines, workbooks and DICOM; and new items likewise."""

import shlex
import shutil

import numpy as np
import pytest
from PIL import Image

from ordinate.data.comparisons import Comparison
from ordinate.study.study import Study

TABLE = "id,size,material\na,1,wood\nb,2,steel\nc,4,wood\nd,5,glass\ne,6,steel\n"
NEW = "id,size,material\nf,3,wood\n"


@pytest.fixture
def tables(folder):
    (folder / "items.csv").write_text(TABLE)
    (folder / "new.csv").write_text(NEW)
    return folder


def test_categories_are_features_of_new_items_too(run, tables):
    made = run(
        "create", "s.db", "--items", "items.csv", "--feature-columns", "size", "--categorical", "material", "--json"
    )
    assert made.json["feature_names"] == ["size", "material=glass", "material=steel", "material=wood"]
    assert made.json["columns_not_used"] == []
    assert "Added 1 item" in run("add-items", "s.db", "--items", "new.csv").out
    (tables / "new.csv").write_text(NEW.replace("wood", "clay").replace("f,", "g,"))
    assert (
        "row 1 of column 'material' holds 'clay'; it is 'glass', 'steel', 'wood'"
        in run("add-items", "s.db", "--items", "new.csv").err
    )


@pytest.mark.parametrize("pca", [(), ("--pca", "2")])
def test_the_options_of_the_study_may_be_repeated_for_new_items(run, tables, pca):
    """The new table has one category alone; it is read as the study's own."""
    named = ("--feature-columns", "size", "--categorical", "material")
    run("create", "s.db", "--items", "items.csv", *named, *pca)
    run("create", "t.db", "--items", "items.csv", *named, *pca)
    repeated = run("add-items", "s.db", "--items", "new.csv", *named, "--json").json
    assert repeated | {"study": "t.db"} == run("add-items", "t.db", "--items", "new.csv", "--json").json
    refused = run("add-items", "s.db", "--items", "new.csv", "--feature-columns", "size").err
    assert refused.startswith("Error: ")


def test_names_that_hold_commas_are_in_double_quotes(run, folder):
    (folder / "items.csv").write_text(
        'nr,"length, cm",w,"kind, old","text, en"\n1,3,5,x,one\n2,4,7,y,two\n3,9,8,x,three\n'
    )
    line = ("create", "s.db", "--items", "items.csv", "--id-column", "nr", "--content", '"text=text, en"', "--json")
    made = run(*line, "--feature-columns", '"length, cm",w', "--categorical", '"kind, old"').json
    assert made["feature_names"] == ["length, cm", "w", "kind, old=x", "kind, old=y"]
    assert made["columns_not_used"] == []
    (folder / "made.csv").write_text('left,right,winner,annotator\n1,2,"yes, A","Doe, Ann"\n2,3,a=b,Ben\n')
    answers = ("--answers", '"yes, A=left",a=b=right')
    assert run("import", "s.db", "made.csv", *answers, "--models", '"Doe, Ann"', "--json").json["recorded"] == 2
    (folder / "more.csv").write_text("left,right,winner\n3,1,left\n")
    run("import", "s.db", "more.csv")
    assert run("order", "s.db", "--annotators", '"Doe, Ann",Ben', "--json").json["comparisons"] == 2


def advised(said):
    """The options of the last line of advice that names some."""
    line = next(line for line in reversed(said.splitlines()) if "--" in line)
    return shlex.split(line[line.index("--") :])


def test_the_columns_that_are_advised_can_be_given(run, folder):
    table = 'id,emb,"w, kg",h\na,"[1, 0]",1,2\nb,"[0, 1]",2,1\nc,"[1, 1]",4,4\n'
    (folder / "items.csv").write_text(table)
    made = run("create", "s.db", "--items", "items.csv")
    assert "To learn from the numbers in them, make the study with\n" in made.out
    line = ("create", "t.db", "--items", "items.csv", "--json")
    assert run(*line, *advised(made.out)).json["feature_names"] == ["w, kg", "h"]
    beside = run("create", "u.db", "--items", "items.csv", "--feature-columns", "h")
    assert run("create", "v.db", *line[2:], *advised(beside.out)).json["feature_names"] == ["h", "w, kg"]
    vectors = run("create", "w.db", "--items", "items.csv", "--feature-columns", "emb")
    assert "To learn from the numbers in them instead of the vectors in emb, make the study with\n" in vectors.out
    assert run("create", "x.db", *line[2:], *advised(vectors.out)).json["feature_names"] == ["w, kg", "h"]


def test_the_options_that_an_error_advises_can_be_given(run, folder):
    (folder / "items.csv").write_text('id,"kind, old"\na,x\nb,y\nc,x\n')
    refused = run("create", "s.db", "--items", "items.csv", "--feature-columns", '"kind, old"')
    assert run("create", "s.db", "--items", "items.csv", *advised(refused.err)).code == 0
    for word in ("same, really", "a=b", '"same"', "both bad"):
        quoted = word.replace('"', '""')
        (folder / "made.csv").write_text(f'model_a,model_b,winner\na,b,"{quoted}"\n')
        refused = run("order", "made.csv")
        assert refused.code == 2
        assert run("order", "made.csv", *advised(refused.err)[:2], "--json").json["comparisons"] == 1


def test_files_of_several_folders_are_not_groups_and_it_is_said(run, folder):
    for name in ("street", "beach"):
        (folder / "scenes" / name).mkdir(parents=True)
        (folder / "scenes" / name / "a.txt").write_text(name)
    made = run("create", "s.db", "--items", "scenes")
    assert "Files of 2 folders are compared with one another." in made.err
    assert "folders" not in run("create", "t.db", "--items", "scenes/beach").err


def test_a_group_that_the_study_has_not_is_mentioned(run, tables):
    table = "id,group,size\na,x,1\nb,x,2\nc,x,3\n"
    (tables / "grouped.csv").write_text(table)
    (tables / "others.csv").write_text("id,group,size\nd,y,1\ne,x,2\n")
    run("create", "s.db", "--items", "grouped.csv", "--feature-columns", "size")
    with Study.open("sqlite:///s.db") as opened:
        opened.record([Comparison("a", "b", "left"), Comparison("b", "c", "left")])
    assert "The study has no group 'y'; the ranks of such items" in run("order", "s.db", "--items", "others.csv").out
    assert "has no group" not in run("order", "s.db", "--items", "grouped.csv").out


def test_reduced_features_are_those_of_new_items_too(run, tables):
    line = ("--items", "items.csv", "--feature-columns", "size", "--categorical", "material", "--pca", "2")
    made = run("create", "s.db", *line)
    assert "2 feature columns" in made.out
    assert "Features: principal components of those given" in made.out
    added = run("add-items", "s.db", "--items", "new.csv", "--json").json
    assert (added["features"], added["columns_not_used"]) == (2, [])
    np.save(tables / "m.npy", np.random.default_rng(0).normal(size=(5, 4)))
    made = run("create", "m.db", "--items", "items.csv", "--features", "m.npy", "--pca", "0.8")
    assert "Features: principal components of those given; give new items the same columns.\n" in made.out
    assert "are those of 4: give the same ones" in run("add-items", "m.db", "--items", "new.csv").err
    np.save(tables / "n.npy", np.zeros((1, 4)))
    assert run("add-items", "m.db", "--items", "new.csv", "--features", "n.npy").code == 0


@pytest.mark.parametrize("line", [("add-items", "s.db"), ("order", "s.db")], ids=lambda line: line[0])
def test_columns_that_were_reduced_are_known_by_name(run, folder, line):
    (folder / "items.csv").write_text("id,a,b,c\nx,1,20,3\ny,2,10,9\nz,4,15,5\nw,3,5,1\n")
    (folder / "new.csv").write_text("id,a,b,c,d\nv,2,30,4,5\n")
    columns = ("--items", "items.csv", "--feature-columns", "a,b,c", "--pca", "2")
    np.save(folder / "all.npy", np.arange(12.0).reshape(4, 3) ** 2)
    np.save(folder / "new.npy", np.array([[2.0, 30.0, 4.0]]))
    for make, other, problem in (
        (columns, ("--feature-columns", "a,b,d"), "have the features 'a', 'b', 'd'; those of the study have the"),
        (columns, ("--features", "new.npy"), "have unnamed features; those of the study have the features 'a', 'b'"),
        (("--items", "items.csv", "--features", "all.npy", "--pca", "2"), ("--feature-columns", "a,b,c"), "unnamed"),
    ):
        assert run("create", "s.db", *make).code == 0
        with Study.open("sqlite:///s.db") as opened:
            opened.record([Comparison("x", "y", "left")])
        refused = run(*line, "--items", "new.csv", *other)
        assert refused.code == 2
        assert "new.csv: these items have" in refused.err
        assert problem in refused.err
        (folder / "s.db").unlink()


def test_a_workbook_and_lines_of_text_are_items(run, folder):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["name", "review", "stars"], ["x", "good", 5], ["y", "bad", 1]):
        book.active.append(row)
    book.save(folder / "book.xlsx")
    line = ("--items", "book.xlsx", "--id-column", "name", "--content", "text=review", "--feature-columns", "stars")
    assert run("create", "s.db", *line, "--json").json["columns_not_used"] == []
    (folder / "names.txt").write_text("one\ntwo\n")
    assert "Made t.db: 2 items" in run("create", "t.db", "--items", "names.txt").out


def test_dicom_files_are_refused_or_converted(run, folder):
    pydicom = pytest.importorskip("pydicom")
    (folder / "scans").mkdir()
    for name in ("CT_small.dcm", "MR_small.dcm"):
        shutil.copy(pydicom.data.get_testdata_file(name, download=False), folder / "scans" / name)
    refused = run("create", "s.db", "--items", "scans")
    assert "is a DICOM picture, which browsers do not show" in refused.err
    assert "convert all of them; --convert writes versions that browsers show" in refused.err
    assert run("create", "s.db", "--items", "scans", "--convert").code == 0
    versions = sorted((folder / "s-pictures").iterdir())
    assert [path.suffix for path in versions] == [".png", ".png"]
    for path in versions:
        with Image.open(path) as picture:
            assert picture.mode == "L"


def test_reducing_is_for_every_command_that_takes_features(run, tables):
    (tables / "made.csv").write_text("left,right,winner\na,b,b\nb,c,c\nc,d,d\nd,e,e\n")
    features = ("--items", "items.csv", "--feature-columns", "size", "--categorical", "material", "--pca", "2")
    ordered = run("order", "made.csv", *features, "--json").json
    assert {row["id"] for row in ordered["items"]} == set("abcde")
    line = ("--share", "0.25", "--budget", "4", "--every", "4", "--seeds", "1", "--algorithms", "uniform-contextual")
    assert "2 feature columns" in run("simulate", "recorded", "--comparisons", "made.csv", *features, *line).out
    assert run("create", "s.db", *features).code == 0
    refused = run("add-items", "s.db", "--items", "new.csv", "--pca", "2")
    assert "--pca is decided when a study is made" in refused.err


def test_who_made_an_item_comes_from_a_column(run, folder):
    (folder / "essays.csv").write_text("id,text,maker\na,One,Ann; Bob\nb,Two,\nc,Three,Cy\n")
    assert run("create", "s.db", "--items", "essays.csv", "--json").json["columns_not_used"] == []
    (folder / "more.csv").write_text("id,text,author\nd,Four,Ann\n")
    assert run("add-items", "s.db", "--items", "more.csv", "--maker-column", "author").code == 0
    with Study.open("sqlite:///s.db") as study:
        assert study.rules.makers == (("a", "Ann"), ("a", "Bob"), ("c", "Cy"), ("d", "Ann"))
    query = run("ask", "s.db", "--annotator", "ann", "--json").json["queries"][0]
    assert {query["left"]["id"], query["right"]["id"]} == {"b", "c"}
    refused = run("create", "t.db", "--items", "essays.csv", "--maker-column", "autor")
    assert "essays.csv: no column 'autor'" in refused.err


def test_items_with_nothing_to_show_are_named(run, folder):
    (folder / "texts.csv").write_text('id,text\na,A text\nb,\nc,"  "\nd,Another\n')
    made = run("create", "s.db", "--items", "texts.csv")
    said = "Nothing to show, so annotators see the id alone: 2 items, row 2, item 'b'; row 3, item 'c'. Fill them in"
    assert said in made.err
    with Study.open("sqlite:///s.db") as opened:
        assert opened.items.content["text"] == ("A text", None, None, "Another")
    (folder / "more.csv").write_text("id,text\ne,\nf,x\n")
    assert "1 item, row 1, item 'e'" in run("add-items", "s.db", "--items", "more.csv").err
    (folder / "names.csv").write_text("id,text\na,\nb,\n")
    assert "Nothing to show" not in run("create", "n.db", "--items", "names.csv").err
    (folder / "prefs.jsonl").write_text(
        f'{{"chosen": "short", "rejected": "{"long " * 30}"}}\n{{"chosen": "brief", "rejected": "short"}}\n'
    )
    assert "Nothing to show" not in run("create", "p.db", "--comparisons", "prefs.jsonl").err


def test_of_a_folder_with_documents_it_says_at_once_how_many_are_left_out(run, folder):
    (folder / "essays").mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / "essays" / name).write_text(name)
    for name in ("c.docx", "d.docx", "e.docx"):
        (folder / "essays" / name).write_bytes(b"PK")
    made = run("create", "s.db", "--items", "essays")
    assert made.out.startswith("Made s.db: 2 items, no features; 3 files left out.\n")
    assert (
        "c.docx, d.docx, e.docx. Save documents as plain text (.txt, UTF-8), or their pages as pictures.\n" in made.err
    )


def test_rows_of_a_workbook_are_counted_below_its_header_and_it_says_so(run, folder):
    from ordinate.data.formats import write_columns

    for name in ("twice.xlsx", "twice.csv", "twice.jsonl"):
        write_columns(name, {"id": ["a", "b", "a"], "text": ["x", "y", "z"]})
        refused = run("create", "s.db", "--items", name).err
        assert "id 'a' stands in row 1 and in row 3; ids must differ" in refused
        assert refused.count("(row 1 is the first below the header)") == (name == "twice.xlsx")
