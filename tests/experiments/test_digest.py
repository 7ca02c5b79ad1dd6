"""A digest is of the data: the same on every machine, whatever rounds there, and another for other data."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from ordinate.datasets import draw_synthetic
from ordinate.experiments import EXPERIMENTS, Setting, Wishes
from ordinate.experiments.digest import digest
from ordinate.experiments.reproduce import Sources, cases
from ordinate.experiments.rows import PLAN, make_rows
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import SimulatedTask


@pytest.fixture
def task():
    return SimulatedTask(draw_synthetic(12, 2, np.random.default_rng(0)))


def test_a_digest_depends_on_every_number_and_on_nothing_else(task):
    dataset = task.dataset
    again = SimulatedTask(draw_synthetic(12, 2, np.random.default_rng(0)))
    assert digest(task) == digest(again)
    features = dataset.items.features.copy()
    features[3, 1] = np.nextafter(features[3, 1], 9.0)
    items = replace(dataset.items, features=features)
    theta = dataset.computed["truth"]
    for other in (
        SimulatedTask(replace(dataset, items=items)),
        SimulatedTask(replace(dataset, computed={"truth": np.nextafter(theta, 9.0)})),
        SimulatedTask(replace(dataset, computed={})),
        SimulatedTask(dataset, noise=2.0),
    ):
        assert digest(other) != digest(again)
    with pytest.raises(TypeError, match="no digest"):
        digest([dataset, object()])


def test_rows_go_on_when_a_note_about_the_data_is_put_in_other_words(task):
    noted = SimulatedTask(replace(task.dataset, notes=("Columns not used: comment",)))
    for computed in (False, True):
        assert digest(noted, computed=computed) == digest(task, computed=computed)


def test_what_was_read_counts_and_what_was_computed_of_it_does_not(task):
    dataset = task.dataset
    moved = dataset.truth + 1e-12
    assert digest(SimulatedTask(replace(dataset, truth=moved))) == digest(task)
    assert digest(replace(dataset, truth=moved, computed={})) != digest(replace(dataset, computed={}))


ROUNDED = """
import json, sys
from ordinate.experiments.digest import digest
from ordinate.experiments.reproduce import Sources, cases
from ordinate.experiments import Wishes
found = {}
for name, data in json.loads(sys.argv[2]):
    (case,) = cases(name, Sources(data=data, folder=sys.argv[1]), Wishes(seeds=1, budget=20))
    for setting in case.settings:
        found[f"{name}/{data}/{setting.name}"] = digest(setting.task), digest(setting.task, computed=True)
print(json.dumps(found))
"""


@pytest.mark.slow
def test_it_is_the_same_whatever_kernels_a_machine_has(world, tmp_path):
    """OpenBLAS, which NumPy comes with, is told which processor this is; its products then round in other ways."""
    chosen = [("synthetic", "synthetic"), ("x-ray-age", "gppl_humour"), ("imdb-wiki-sbs", "gppl_humour")]
    chosen += [("feature-mixture", "sentimentit_movie_reviews")]
    for _, data in chosen:
        if not (tmp_path / data).exists():
            world.write(data, tmp_path)
    seen = []
    for processor in ("Prescott", "Haswell"):
        command = [sys.executable, "-c", ROUNDED, str(tmp_path), json.dumps(chosen)]
        environment = {**os.environ, "OPENBLAS_CORETYPE": processor}
        seen.append(json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout))
    one, other = seen
    assert one.keys() == other.keys()
    assert len(one) > 12
    assert {name: both[0] for name, both in one.items()} == {name: both[0] for name, both in other.items()}
    if one == other:
        pytest.skip("these kernels round alike here, so nothing was tested")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param(name, data, marks=pytest.mark.slow if data == "degraded-photo" else ())
        for name, row in EXPERIMENTS.items()
        for data in row
    ],
)
def test_another_number_in_a_matrix_is_another_digest(world, tmp_path, name, data):
    """In each setting; where the items have no matrix, the same data in another folder have the same one."""
    folders = [world.write(data, tmp_path / which) for which in ("before", "after")]
    matrices = list(folders[1].glob("*/*.npy"))
    for path in matrices:
        features = np.load(path)
        features[3, 1] = np.nextafter(features[3, 1], 9.0)
        np.save(path, features)
    digests = []
    for folder in folders:
        (case,) = cases(name, Sources(data=data, folder=str(folder)), Wishes(seeds=1, budget=20))
        digests.append([digest(setting.task) for setting in case.settings])
    assert digests[0]
    assert all((before != after) == bool(matrices) for before, after in zip(*digests, strict=True))


def test_rows_whose_plan_has_the_digest_of_before_are_continued(task, tmp_path):
    setting = Setting("tiny", task, Plan(6, 3), ("uniform-contextual",), seeds=1)
    assert make_rows(setting, tmp_path) == 1
    plan = json.loads((tmp_path / PLAN).read_text())
    (tmp_path / PLAN).write_text(json.dumps(plan | {"task": digest(task, computed=True)}))
    assert make_rows(replace(setting, seeds=2), tmp_path) == 1


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, row in EXPERIMENTS.items() for data in row])
def test_the_rows_in_the_repository_can_be_continued(shared_data, synthetic_task, name, data):
    """No setting of the experiment would be refused because its plan or its data are others than those of the rows."""
    published = Path(__file__).parents[2] / "docs" / "rows" / name / data
    if not published.is_dir():
        pytest.skip(f"the repository has no rows of {name} on {data}")
    (case,) = cases(name, Sources(data=data, folder=str(shared_data), task=str(synthetic_task)), Wishes())
    assert case.settings
    for setting in case.settings:
        kept = json.loads((published / setting.name / PLAN).read_text())
        wanted = asdict(setting.plan) | {"hybrid_candidates": setting.hybrid_candidates, "task": digest(setting.task)}
        assert kept == json.loads(json.dumps(wanted)) | {"ordinate": kept["ordinate"]}, setting.name
