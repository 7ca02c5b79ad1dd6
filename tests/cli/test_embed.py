"""`ordinate embed`, and the commands that embed by themselves."""

import shlex

import numpy as np
import pytest
from PIL import Image

from ordinate.embedding import FAMILIES
from ordinate.study.study import Study

pytestmark = pytest.mark.usefixtures("batches")
NEW = "id,text\ne,A fifth text\nf,And a sixth\n"


@pytest.fixture
def new(folder):
    (folder / "new.csv").write_text(NEW)


def test_the_matrix_for_other_tools(run, folder):
    done = run("embed", "--items", "items.csv", "--out", "a.npy", "--json")
    assert done.code == 0
    assert done.json["files"] == ["a.npy", "a.ids.txt"]
    assert (done.json["items"], done.json["features"], done.json["encoder"]) == (4, 27, "letters:any")
    assert np.load("a.npy").shape == (4, 27)


@pytest.mark.parametrize("route", ["file", "direct"])
def test_a_study_embeds_new_items_by_its_own_recipe(run, folder, new, route):
    if route == "file":
        assert run("embed", "--items", "items.csv", "--pca", "2", "--out", "a.npz").code == 0
        made = run("create", "study.db", "--items", "items.csv", "--features", "a.npz")
    else:
        made = run("create", "study.db", "--items", "items.csv", "--embed", "auto", "--pca", "2")
    assert made.code == 0, made.err
    assert "Features: by letters:any; new items get theirs in the same way.\n" in made.out
    assert run("add-items", "study.db", "--items", "new.csv", "--json").json["features"] == 2
    (folder / "made.csv").write_text("left,right,winner\na,b,a\n")
    assert run("import", "study.db", "made.csv").code == 0
    ordered = run("order", "study.db", "--items", "new.csv", "--json")
    assert {row["id"] for row in ordered.json["items"]} == {"e", "f"}
    with Study.open("sqlite:///study.db") as study:
        features, recipe = study.items.features, study.settings.recipe
    assert recipe is not None
    assert recipe.projection is not None
    assert features.shape == (6, 2)
    np.testing.assert_allclose(features[:4].mean(axis=0), 0.0, atol=1e-9)  # centred on the first four alone


def test_the_command_that_is_advised_names_the_column_of_ids(run, folder):
    (folder / "items.csv").write_text("the nr,text\n1,one\n2,two\n3,three\n")
    done = run("embed", "--items", "items.csv", "--id-column", "the nr", "--out", "a.npz")
    advice = done.out.splitlines()[-1].partition("What to type next: ordinate ")[2]
    assert run(*shlex.split(advice)).code == 0
    refused = run("create", "s.db", "--items", "items.csv", "--features", "a.npz")
    assert "embed these items again, or name the column of ids that they were embedded with" in refused.err
    reduced = run(*shlex.split(advice.replace("study.db", "s.db")), "--pca", "2")
    again = shlex.split(reduced.err.partition("reduce it there: ordinate ")[2])
    assert run(*again).code == 0
    assert run(*shlex.split(advice.replace("study.db", "s.db"))).code == 0


@pytest.mark.parametrize("route", ["file", "direct"])
def test_columns_of_the_table_are_a_block_beside_what_the_encoder_makes(run, folder, new, route):
    (folder / "items.csv").write_text("id,text,size,kind\na,one,1,x\nb,two,2,y\nc,three,3,x\nd,four,5,y\n")
    (folder / "new.csv").write_text("id,text,size,kind\ne,five,8,y\nf,six,13,x\n")
    source = ["--embed", "auto"]
    if route == "file":
        assert run("embed", "--items", "items.csv", "--pca", "2", "--out", "a.npz").code == 0
        source = ["--features", "a.npz"]
    pca = ["--pca", "2"] if route == "direct" else []
    line = ["create", "study.db", "--items", "items.csv", *source, "--feature-columns", "size", "--categorical", "kind"]
    made = run(*line, *pca)
    assert made.code == 0, made.err
    assert "by letters:any beside the columns size, kind=x, kind=y; new items get theirs" in made.out
    added = run("add-items", "study.db", "--items", "new.csv", "--json")
    assert added.json["blocks"] == {"text": 2, "columns": 3}
    assert added.json["columns_not_used"] == []
    with Study.open("sqlite:///study.db") as study:
        assert study.items.features[4:, 2:].tolist() == [[8, 0, 1], [13, 1, 0]]
        np.testing.assert_allclose(study.items.features[:4, :2].mean(axis=0), 0.0, atol=1e-9)
    assert run("order", "study.db", "--items", "new.csv").code == 0
    (folder / "bare.csv").write_text("id,text\ng,seven\n")
    refused = run("add-items", "study.db", "--items", "bare.csv")
    assert (refused.code, "no column 'size'" in refused.err) == (2, True), refused.err


def test_images_lie_where_the_table_lies(run, folder):
    (folder / "photos").mkdir()
    for name, colour in (("red", (200, 0, 0)), ("blue", (0, 0, 200)), ("grey", (90, 90, 90))):
        Image.new("RGB", (4, 4), colour).save(folder / "photos" / f"{name}.png")
    (folder / "photos" / "table.csv").write_text("id,image\nr,red.png\nb,blue.png\n")
    (folder / "photos" / "new.csv").write_text("id,image\ng,grey.png\n")
    assert run("create", "study.db", "--items", "photos/table.csv", "--embed", "auto").code == 0
    assert run("add-items", "study.db", "--items", "photos/new.csv").code == 0
    with Study.open("sqlite:///study.db") as study:
        np.testing.assert_allclose(study.items.features, [[200, 0, 0], [0, 0, 200], [90, 90, 90]], rtol=1e-4)
        assert study.items.content["image"][2] == "photos/grey.png"


def test_a_study_without_a_recipe_takes_features_as_before(run, folder, new, study):
    refused = run("add-items", "study.db", "--items", "new.csv")
    assert refused.code == 2
    assert "sharpness" in refused.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("create s.db --items items.csv --pca 0.9", "there are no features to reduce"),
        ("create s.db --items items.csv --features a.npz --pca 2", "there: ordinate embed --items items.csv --pca 2"),
        ("create s.db --items items.csv --embed auto --features x.npy", "leave out --features"),
        ("create s.db --items items.csv --embed auto --feature-columns vectors", "--feature-columns vectors holds"),
        ("create s.db --items items.csv --features gone.npz", "there is no file gone.npz"),
        ("create s.db --items items.csv --embed letters", "unknown encoder 'letters'"),
        ("embed --items items.csv --out a.csv", "a.csv: an embedding is"),
        ("embed --items items.csv --out a.npz --pca 7", "at most 4 components"),
        ("embed --items empty.csv --out a.npz", "empty.csv: item 'b' (row 2) has no text"),
        ("embed --items items.csv --encoder tones:any --out a.npz", "items.csv: this encoder reads images"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(run, folder, line, message):
    (folder / "empty.csv").write_text("id,text\na,one\nb,\n")
    table = "".join(
        f'{line},"[0.5, {k}]"\n' for k, line in enumerate((folder / "items.csv").read_text().splitlines()[1:])
    )
    (folder / "items.csv").write_text(f"{(folder / 'items.csv').read_text().splitlines()[0]},vectors\n{table}")
    done = run(*line.split())
    assert done.code == 2
    assert message in done.err
    assert not list(folder.glob("a.*"))
    assert not list(folder.glob("s.db*"))


def test_an_embedding_for_a_study_with_a_recipe_is_refused(run, folder, new):
    run("create", "study.db", "--items", "items.csv", "--embed", "auto")
    run("embed", "--items", "new.csv", "--out", "new.npz")
    done = run("add-items", "study.db", "--items", "new.csv", "--features", "new.npz")
    assert done.code == 2
    assert "leave it out, then the study's encoder is used" in done.err


def test_the_encoders_are_listed_with_what_installs_them(run):
    listed = {row["family"]: row for row in run("encoders", "--json").json}
    assert listed.keys() == FAMILIES.keys()
    for family, row in FAMILIES.items():
        assert f"{family}:{row.example}" in run("encoders").out
        assert listed[family]["install"] == row.install
