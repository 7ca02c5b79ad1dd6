"""Files that other programs write are read, and ours are read by them; all fit the same Bradley-Terry scores.

Each test is skipped where the program is not installed:
python -m pip install argilla arena-rank choix crowd-kit datasets evalica label-studio-sdk
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from ordinate import Comparison, Items, Study
from ordinate.data.comparison_formats import (
    read_comparison_file,
    read_comparisons,
    write_comparison_columns,
    write_comparisons,
)
from ordinate.data.comparison_formats.label_studio import CONFIGURATION, tasks

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other programs
IDS = [str(number) for number in range(12)]


@pytest.fixture(scope="module")
def answers() -> list[Comparison]:
    """500 answers without ties about 12 items; they connect all items, and each wins and loses."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=len(IDS))
    pairs = [rng.choice(len(IDS), 2, replace=False).tolist() for _ in range(500)]
    return [
        Comparison(
            IDS[left], IDS[right], "left" if rng.random() < 1 / (1 + np.exp(truth[right] - truth[left])) else "right"
        )
        for left, right in pairs
    ]


def centred(scores: Mapping[str, float]) -> np.ndarray:
    values: np.ndarray = np.array([scores[item] for item in IDS])
    centre: float = values.mean()
    return values - centre


@pytest.fixture(scope="module")
def ours(answers: list[Comparison]) -> np.ndarray:
    """Our scores under a prior so wide that they are those of the largest likelihood."""
    study = Study.create(Items(IDS), item_variance=1e6)
    study.record(answers)
    ordering = study.ordering()
    return centred(dict(zip(ordering.ids, ordering.scores.tolist(), strict=True)))


def test_choix(tmp_path: Path, answers: list[Comparison], ours: np.ndarray) -> None:
    choix = pytest.importorskip("choix")
    write_comparison_columns(tmp_path / "pairs.json", write_comparisons("choix", answers, Items(IDS)))
    data = json.loads((tmp_path / "pairs.json").read_text())
    fitted = choix.ilsr_pairwise(len(IDS), data, tol=1e-10)
    np.testing.assert_allclose(ours, fitted - fitted.mean(), atol=1e-3)
    theirs = choix.generate_pairwise(np.zeros(5), 40)
    (tmp_path / "theirs.json").write_text(json.dumps([[int(one) for one in pair] for pair in theirs]))
    np.save(tmp_path / "theirs.npy", np.array(theirs))
    for name in ("theirs.json", "theirs.npy"):
        read = read_comparison_file(tmp_path / name)
        assert read.format == "choix"
        assert [(int(one.left), int(one.right)) for one in read.comparisons] == [tuple(pair) for pair in theirs]


def test_evalica(tmp_path: Path, answers: list[Comparison], ours: np.ndarray) -> None:
    evalica = pytest.importorskip("evalica")
    columns = write_comparisons("evalica", answers)
    words = {"X": evalica.Winner.X, "Y": evalica.Winner.Y}
    triples = (columns["x"], columns["y"], [words[one] for one in columns["winner"]])
    fitted = evalica.bradley_terry(*triples, tolerance=1e-12, limit=10_000).scores
    np.testing.assert_allclose(ours, centred(np.log(fitted).to_dict()), atol=1e-3)
    theirs = pandas.DataFrame(dict(zip(("xs", "ys", "winners"), triples, strict=True)))
    theirs.to_csv(tmp_path / "triples.csv", index=False)
    assert read_comparison_file(tmp_path / "triples.csv").comparisons == answers
    # Its command reads what we write without a format.
    write_comparison_columns(tmp_path / "plain.csv", write_comparisons("plain", answers))
    line = ["-i", str(tmp_path / "plain.csv"), "-o", str(tmp_path / "scores.csv"), "pairwise", "bradley-terry"]
    subprocess.run([sys.executable, "-m", "evalica", *line], check=True)
    scores = pandas.read_csv(tmp_path / "scores.csv", dtype={"item": str}).set_index("item")["score"]
    np.testing.assert_allclose(ours, centred(np.log(scores).to_dict()), atol=1e-3)


@pytest.mark.slow  # it compiles its own loops for seconds, by JAX, which then warns of every fork of this process
def test_arena_rank(answers: list[Comparison], ours: np.ndarray) -> None:
    pytest.importorskip("arena_rank")
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    battles = PairDataset.from_pandas(pandas.DataFrame(write_comparisons("arena", answers)))
    model = BradleyTerry(n_competitors=len(battles.competitors), hessian_reg=1e-9)
    found = model.compute_ratings_and_cis(battles)
    ratings = dict(zip(found["competitors"], np.asarray(found["ratings"]).tolist(), strict=True))
    np.testing.assert_allclose(ours, centred(ratings) * np.log(10) / 400, atol=1e-3)


def test_crowd_kit(tmp_path: Path, answers: list[Comparison], ours: np.ndarray) -> None:
    pytest.importorskip("crowdkit")
    from crowdkit.aggregation import BradleyTerry

    named = [one._replace(annotator=f"w{number % 7}") for number, one in enumerate(answers)]
    table = pandas.DataFrame(write_comparisons("crowd-kit", named))
    fitted = BradleyTerry(n_iter=2000, tol=0.0).fit_predict(table)
    np.testing.assert_allclose(ours, centred(np.log(fitted).to_dict()), atol=1e-3)
    table.to_csv(tmp_path / "table.csv", index=False)
    read = read_comparison_file(tmp_path / "table.csv")
    assert (read.format, read.comparisons) == ("crowd-kit", named)


def test_label_studio() -> None:
    pytest.importorskip("label_studio_sdk")
    interface = import_module("label_studio_sdk.label_interface").LabelInterface(CONFIGURATION)
    items = Items(["a", "b", "c"], content={"text": ["The A", "The B", "The C"]})
    study = Study.create(items)
    queries = study.ask(count=2)
    exported: dict[str, list[Any]] = {"data": tasks(queries, items, study.settings.question)["data"], "annotations": []}
    for data, selected in zip(exported["data"], ("left", "right"), strict=True):
        assert interface.validate_task({"data": data})
        region = interface.get_control("pair").label(selected)
        exported["annotations"].append([{"completed_by": 1, "result": [region._dict()]}])
    read = read_comparisons(exported)
    assert [(one.left, one.right, one.outcome, one.annotator) for one in read.comparisons] == [
        (queries[0].left, queries[0].right, "left", "1"), (queries[1].left, queries[1].right, "right", "1"),
    ]  # fmt: skip
    ours = write_comparisons("label-studio", read.comparisons, items)["annotations"]
    for (written,), (theirs,) in zip(ours, exported["annotations"], strict=True):
        assert written["result"] == [{name: value for name, value in theirs["result"][0].items() if name != "id"}]


def test_argilla(tmp_path: Path) -> None:
    argilla = pytest.importorskip("argilla")
    user = "11111111-1111-1111-1111-111111111111"
    records = [
        argilla.Record(
            fields={"prompt": f"Why {number}?", "response1": f"a{number}", "response2": f"b{number}"},
            responses=[argilla.Response("preference", ["response2", "response1"], user_id=user)],
        )
        for number in range(2)
    ]
    (tmp_path / "records.json").write_text(json.dumps([record.to_dict() for record in records]))
    read = read_comparison_file(tmp_path / "records.json")
    assert read.format == "argilla"
    assert read.comparisons == [Comparison("b0", "a0", "left", user), Comparison("b1", "a1", "left", user)]
    assert read.group == ["Why 0?", "Why 1?"]


def test_preference_data_of_hugging_face(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    worse = [messages[0], {"role": "assistant", "content": "No."}]
    made = datasets.Dataset.from_dict({"prompt": ["Why?"], "chosen": [messages], "rejected": [worse]})
    made.to_parquet(tmp_path / "p.parquet")
    made.to_json(tmp_path / "p.jsonl")
    made.save_to_disk(tmp_path / "p")
    for name in ("p.parquet", "p.jsonl", "p"):
        read = read_comparison_file(tmp_path / name)
        assert (read.format, read.group) == ("preference", ["Why?"])
        assert read.comparisons == [Comparison("So.", "No.", "left")]
