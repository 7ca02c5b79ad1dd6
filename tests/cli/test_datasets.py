"""`ordinate datasets`: the list, and a folder on its way to a study."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from ordinate.datasets import DATASETS
from ordinate.datasets.source import Remote


@pytest.fixture
def faces(folder):
    """A folder as IMDB-WIKI-SbS publishes it, without images."""
    place = folder / "faces"
    place.mkdir()
    names = [f"https://example.org/{number}.jpg" for number in range(6)]
    (place / "gt.csv").write_text("\n".join(["label,score", *(f"{name},{10 + k}" for k, name in enumerate(names))]))
    rows = [f"{left},{right},{max(left, right)},ann" for left in names for right in names if left != right]
    (place / "crowd_labels.csv").write_text("\n".join(["left,right,label,performer", *rows]))
    return place


def test_the_list_names_each_with_licence_source_and_files(run):
    result = run("datasets")
    assert result.code == 0
    for name, row in DATASETS.items():
        assert f"{name}: {row.summary}" in result.out
        assert row.licence in result.out
        assert row.origin in result.out
        assert all(str(file) in result.out for file in row.expects)


def test_the_list_as_json(run):
    rows = {row["name"]: row for row in run("datasets", "--json").json}
    assert list(rows) == list(DATASETS)
    assert rows["imdb-wiki-sbs"]["items"] == 6072
    assert rows["x-ray-age"]["expects"][0]["columns"] == ["imageId", "age"]
    assert [name for name, row in rows.items() if row["downloads"]] == ["imdb-wiki-sbs"]


def test_json_before_a_command_is_refused(run):
    result = run("datasets", "--json", "check", "wisc-ads", ".")
    assert (result.code, result.out) == (2, "")
    assert "put --json at the end: ordinate datasets check" in result.err


def test_check_says_what_was_found(run, faces):
    result = run("datasets", "check", "imdb-wiki-sbs", "faces")
    assert result.out.splitlines() == [
        "faces holds imdb-wiki-sbs: 6 items, image, true scores, 30 answers on 15 pairs.",
        "Note: there is no folder of images, so the paper's filter was not applied.",
        "The paper's experiment has 6,072 items and 110,349 answers.",
        "There is no features.npy; the paper has 75 principal components of features.",
    ]
    found = run("datasets", "check", "imdb-wiki-sbs", "faces", "--json").json
    assert (found["items"], found["answers"], found["pairs"], found["truth"]) == (6, 30, 15, True)
    assert found["paper"] == {"items": 6072, "answers": 110_349, "columns": 75, "r_squared": None}


def test_check_says_so_where_the_sizes_are_those_of_the_paper(run, faces, monkeypatch):
    row = DATASETS["imdb-wiki-sbs"]._replace(items=6, answers=30)
    monkeypatch.setitem(DATASETS, "imdb-wiki-sbs", row)
    assert "6 items and 30 answers: the same.\n" in run("datasets", "check", "imdb-wiki-sbs", "faces").out


def test_check_computes_the_features_and_the_regression_of_the_paper(run, folder):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((300, 50)) * np.linspace(3.0, 0.1, 50)
    ages = 50.0 + 10.0 * features[:, 0] + rng.normal(0.0, 15.0, 300)
    place = folder / "x-rays"
    place.mkdir()
    (place / "train_age.csv").write_text("\n".join(["imageId,age", *(f"{k},{age:.3f}" for k, age in enumerate(ages))]))
    np.save(place / "features.npy", features)
    found = run("datasets", "check", "x-ray-age", "x-rays", "--json").json
    centred = features - features.mean(axis=0)
    components = centred @ np.linalg.svd(centred, full_matrices=False)[2][:35].T
    expected = Ridge(alpha=1.0).fit(components, ages).score(components, ages)
    assert (found["items"], found["matrix_columns"], found["components"]) == (300, 50, 35)
    assert found["r_squared"] == pytest.approx(expected, abs=1e-4)
    out = run("datasets", "check", "x-ray-age", "x-rays").out
    assert "The paper's experiment draws 200 items for each run, and has no recorded answers." in out
    assert "features.npy has 50 columns, reduced to 35 principal components; the paper has 35: the same." in out
    assert f"They explain {100 * expected:.0f} % of the variance of the truth; in the paper, 67 %." in out


def test_a_wrong_folder_is_bad_input(run, faces):
    (faces / "gt.csv").write_text("id,age\na,1\n")
    result = run("datasets", "check", "imdb-wiki-sbs", "faces")
    assert (result.code, result.out) == (2, "")
    assert result.err == "Error: faces/gt.csv: expected the columns label, score; found id, age\n"


def test_exported_tables_are_simulated_and_made_into_a_study(run, faces, folder):
    result = run("datasets", "export", "imdb-wiki-sbs", "faces", "--out", "tables")
    assert result.out.startswith("Wrote tables/items.csv, tables/comparisons.csv: 6 items")
    tables = ("--items", "tables/items.csv", "--comparisons", "tables/comparisons.csv")
    simulated = run("simulate", "recorded", *tables, "--algorithms", "guro-independent", "--budget", "5", "--json")
    assert simulated.code == 0
    assert run("create", "faces.db", "--items", "tables/items.csv").code == 0
    assert run("import", "faces.db", "tables/comparisons.csv").code == 0
    again = run("datasets", "export", "imdb-wiki-sbs", "faces", "--out", "tables", "--json")
    assert (again.code, again.out) == (2, "")
    assert "tables/items.csv exists and was not changed" in again.err


def test_export_without_answers_says_so(run, folder):
    (folder / "rays").mkdir()
    (folder / "rays" / "train_age.csv").write_text("imageId,age\n0,50\n1,60\n")
    result = run("datasets", "export", "x-ray-age", "rays", "--out", "tables")
    assert "Nobody compared these items, so there is no comparisons.csv." in result.out
    assert (folder / "tables" / "items.csv").read_text().splitlines()[0] == "id,truth"
    files = run("datasets", "export", "x-ray-age", "rays", "--out", "more", "--json").json["files"]
    assert files == ["more/items.csv"]


@pytest.fixture
def served(faces, monkeypatch):
    """The data set's files, served by this machine instead of by their publisher."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(faces))) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        files = tuple(
            Remote(name, f"{address}/{name}", hashlib.sha256((faces / name).read_bytes()).hexdigest())
            for name in ("gt.csv", "crowd_labels.csv")
        )
        monkeypatch.setitem(DATASETS, "imdb-wiki-sbs", DATASETS["imdb-wiki-sbs"]._replace(remote=files))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield faces
        server.shutdown()
        thread.join()


def test_download_then_check(run, served, folder):
    result = run("datasets", "download", "imdb-wiki-sbs")
    assert result.code == 0
    assert "Licence: CC BY 4.0" in result.err
    size = (served / "gt.csv").stat().st_size
    assert result.out.splitlines()[0] == f"imdb-wiki-sbs/gt.csv: {size:,} bytes"
    assert run("datasets", "check", "imdb-wiki-sbs", "imdb-wiki-sbs", "--json").json["items"] == 6
    again = run("datasets", "download", "imdb-wiki-sbs", "--json")
    assert again.json["bytes"]["gt.csv"] == size
    assert again.err == ""


def test_download_without_a_network_is_a_failure_of_the_environment(run, folder, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    file = Remote("gt.csv", "http://127.0.0.1:1/gt.csv", "0" * 64)
    monkeypatch.setitem(DATASETS, "imdb-wiki-sbs", DATASETS["imdb-wiki-sbs"]._replace(remote=(file,)))
    result = run("datasets", "download", "imdb-wiki-sbs", "--json")
    assert (result.code, result.out) == (1, "")
    assert "could not be downloaded" in result.err


def test_download_of_what_is_not_offered_says_where_it_is(run):
    result = run("datasets", "download", "x-ray-age")
    assert (result.code, result.out) == (2, "")
    assert "get it from https://www.kaggle.com/competitions/spr-x-ray-age" in result.err
