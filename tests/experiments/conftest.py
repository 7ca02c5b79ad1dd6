"""Small folders in the layouts that the experiments read: published ones, and tables of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest


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


@pytest.fixture(scope="session")
def world() -> World:
    return World()


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
