"""Small folders in the layouts that the experiments read: published ones, and tables of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate.experiments import Wishes
from ordinate.experiments.reproduce import Done, Sources, cases, run_case

WISHES = Wishes(seeds=2, budget=20)


class World:
    """Items with features, a truth that is linear in them, and noisy answers; written in any layout."""

    def __init__(self, n: int = 24, d: int = 3, answers: int = 400) -> None:
        rng = np.random.default_rng(5)
        self.features = rng.standard_normal((n, d))
        self.truth = self.features @ np.array([2.0, -1.0, 0.5][:d])
        left = rng.integers(n, size=answers)
        right = (left + rng.integers(1, n, size=answers)) % n
        won = rng.random(answers) < 1 / (1 + np.exp(self.truth[right] - self.truth[left]))
        self.answers = list(zip(left.tolist(), right.tolist(), won.tolist(), strict=True))

    def tables(self, folder: Path, *, features: bool = True, **columns: list) -> Path:
        """items.csv, comparisons.csv and features.npy; more columns of the items by name."""
        folder.mkdir(parents=True)
        named = {"truth": [f"{value:.6f}" for value in self.truth], **columns}
        rows = [f"i{k}," + ",".join(str(values[k]) for values in named.values()) for k in range(len(self.truth))]
        (folder / "items.csv").write_text("\n".join([",".join(("id", *named)), *rows]) + "\n")
        rows = [f"i{left},i{right},{'left' if won else 'right'}" for left, right, won in self.answers]
        (folder / "comparisons.csv").write_text("\n".join(["left,right,winner", *rows]) + "\n")
        if features:
            np.save(folder / "features.npy", self.features)
        return folder

    def faces(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        rows = [f"{left}.jpg,{right}.jpg,{left if won else right}.jpg,a" for left, right, won in self.answers]
        (folder / "crowd_labels.csv").write_text("\n".join(["left,right,label,performer", *rows]) + "\n")
        rows = [f"{k}.jpg,{value:.6f}" for k, value in enumerate(self.truth)]
        (folder / "gt.csv").write_text("\n".join(["label,score", *rows]) + "\n")
        np.save(folder / "features.npy", self.features)
        np.save(folder / "untrained.npy", np.random.default_rng(9).standard_normal(self.features.shape))
        return folder

    def ads(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        rows = []
        for number, (left, right, won) in enumerate(self.answers):
            rows += [f"{number},{left},{int(won)},w", f"{number},{right},{int(not won)},w"]
        header = "comparison_id,document_id,result,worker_id"
        (folder / "all_batches.csv").write_text("\n".join([header, *rows]) + "\n")
        order = list(dict.fromkeys(item for left, right, _ in self.answers for item in (left, right)))
        np.save(folder / "features.npy", self.features[order])
        return folder

    def x_rays(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        rows = [f"{k},{50 + 10 * value:.4f}" for k, value in enumerate(self.truth)]
        (folder / "train_age.csv").write_text("\n".join(["imageId,age", *rows]) + "\n")
        np.save(folder / "features.npy", self.features)
        return folder

    def write(self, data: str, folder: Path) -> Path:
        """The folder of a data set, as `--folder` would hold it."""
        place = folder / data
        text = [f"word{k % 5} and word{k % 7}" for k in range(len(self.truth))]
        writers = {
            "x-ray-age": lambda: self.x_rays(place),
            "image-clarity": lambda: self.tables(place),
            "wisc-ads": lambda: self.ads(place),
            "imdb-wiki-sbs": lambda: self.faces(place),
            "gppl_humour": lambda: self.tables(place, bws_score=[f"{value:.4f}" for value in self.truth], text=text),
            "sentimentit_movie_reviews": lambda: self.tables(place, text=text),
            "wiscads_no_text": lambda: self.tables(place, features=False),
            "imdb_wiki_sbs_partial": lambda: self.tables(place, features=False),
            "pwcmp_light_field": lambda: self.tables(
                place, features=False, dist_type=["a", "b"] * 12, dist_level=[k % 5 for k in range(24)]
            ),
        }
        if data in writers:
            writers[data]()
        if data == "gppl_humour":
            np.save(place / "untrained.npy", np.random.default_rng(9).standard_normal(self.features.shape))
        return folder


@pytest.fixture(scope="session")
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="session")
def ran(world: World, out: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Done]:
    """An experiment on one of its data sets, run once at a tiny size, by the names of both."""
    kept: dict[tuple[str, str], Done] = {}

    def run(name: str, data: str) -> Done:
        if (name, data) not in kept:
            folder = world.write(data, tmp_path_factory.mktemp("data"))
            (case,) = cases(name, Sources(data=data, folder=str(folder)), WISHES)
            kept[name, data] = run_case(case, Sources(), out, 1, lambda what: None)
        return kept[name, data]

    return run


def _rows_of(
    curves: Mapping[str, Sequence[Sequence[float]]], steps: Sequence[int] = (0, 50, 100)
) -> dict[str, list[Any]]:
    """Rows in which each algorithm has, for every seed, a curve of errors of the part "x"."""
    names = ("algorithm", "seed", "step", "part", "error", "core_seconds", "megabytes")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    for algorithm, by_seed in curves.items():
        for seed, errors in enumerate(by_seed):
            for step, error in zip(steps, errors, strict=True):
                for name, entry in zip(names, (algorithm, seed, step, "x", error, 30.0, 200.0), strict=True):
                    rows[name].append(entry)
    return rows


@pytest.fixture(scope="session")
def rows_of() -> Callable[..., dict[str, list[Any]]]:
    return _rows_of
