"""What the paper's baselines come to under other readings of their details, in plain NumPy and apart from the package.

NormMin and CoLSTIM end elsewhere here than in curves measured from the authors' scripts. This runs the synthetic task
under each reading that could tell: the variance of the prior, the covariance renewed at each refit or only updated by
Sherman and Morrison (GURO under the same, to compare), and where CoLSTIM's noise enters.

    python benchmarks/paper_variants.py [--task task.npz] [--seeds 20] [--jobs 2]

X (n, d) features     H^-1 (d, d) covariance of theta     M (d, d) CoLSTIM's design matrix     z = x_i - x_j
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import special

BUDGET, REFIT_EVERY, NOISE = 2000, 10, 0.5
STEPS = (100, 200, 500, 1000, 1500, 2000)


class Task(NamedTuple):
    """features (n, d), theta (d,), and the contrasts z of all pairs."""

    features: np.ndarray
    theta: np.ndarray

    @property
    def contrasts(self) -> np.ndarray:
        left, right = np.triu_indices(len(self.features), 1)
        differences: np.ndarray = self.features[left] - self.features[right]
        return differences

    def error(self, theta: np.ndarray) -> float:
        """The share of pairs in the wrong order, ties one half."""
        agreement = np.sign(self.contrasts @ theta) * np.sign(self.contrasts @ self.theta)
        return float(np.mean(0.5 - 0.5 * agreement))


def maximum(contrasts: np.ndarray, wins: np.ndarray, precision: float) -> np.ndarray:
    """theta at the MAP of the logistic likelihood, by Newton's method with step halving."""
    signed = np.where(wins > 0.5, 1.0, -1.0)[:, None] * contrasts

    def loss(theta: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -signed @ theta).sum() + 0.5 * precision * theta @ theta)

    theta = np.zeros(contrasts.shape[1])
    for _ in range(100):
        miss = special.expit(-signed @ theta)
        gradient = signed.T @ miss - precision * theta
        hessian = signed.T @ ((miss * (1.0 - miss))[:, None] * signed) + precision * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        if gradient @ step < 1e-10:
            return theta + step
        length = 1.0
        while loss(theta + length * step) > loss(theta) and length > 1e-10:
            length /= 2.0
        theta = theta + length * step
    raise ArithmeticError("Newton's method did not converge")


def greedy(task: Task, rng: np.random.Generator, *, power: int, variance: float, renewed: bool) -> Iterator[float]:
    """The pair of largest sigma'(m)^power v: NormMin with 0, GURO with 2; the error after each refit."""
    contrasts = task.contrasts
    theta, covariance = np.zeros(task.features.shape[1]), variance * np.eye(task.features.shape[1])
    asked: list[np.ndarray] = []
    wins: list[float] = []
    for step in range(1, BUDGET + 1):
        margins = contrasts @ theta
        utility = np.einsum("pd,de,pe->p", contrasts, covariance, contrasts)
        utility *= (special.expit(margins) * special.expit(-margins)) ** power
        z = contrasts[rng.choice(np.flatnonzero(utility >= utility.max() * (1.0 - 1e-9)))]
        asked.append(z)
        wins.append(float(rng.random() < special.expit(NOISE * z @ task.theta)))
        slope, u = special.expit(z @ theta) * special.expit(-z @ theta), covariance @ z
        covariance = covariance - slope * np.outer(u, u) / (1.0 + slope * z @ u)
        if step % REFIT_EVERY == 0:
            history = np.array(asked)
            theta = maximum(history, np.array(wins), 1.0 / variance)
            if renewed:
                slopes = special.expit(history @ theta) * special.expit(-history @ theta)
                covariance = np.linalg.inv(history.T @ (slopes[:, None] * history) + np.eye(len(theta)) / variance)
            yield task.error(theta)


def colstim(task: Task, rng: np.random.Generator, *, noise: str) -> Iterator[float]:
    """CoLSTIM, its first item by scores with noise "scaled" by ||x||, "plain" Gumbel noise, or "none"."""
    items, columns = task.features.shape
    theta, inverse = np.zeros(columns), np.eye(columns)
    width = np.sqrt(columns * np.log(BUDGET))
    asked: list[np.ndarray] = []
    wins: list[float] = []
    for step in range(1, BUDGET + 1):
        norms = np.sqrt(np.einsum("nd,de,ne->n", task.features, inverse, task.features))
        scale = {"scaled": norms, "plain": np.ones(items), "none": np.full(items, 1e-9)}[noise]
        first = int(np.argmax(task.features @ theta + rng.gumbel(size=items) * scale))
        gaps = task.features - task.features[first]
        worth = gaps @ theta + width * np.sqrt(np.einsum("nd,de,ne->n", gaps, inverse, gaps))
        worth[first] = -np.inf
        z = -gaps[int(np.argmax(worth))]
        asked.append(z)
        wins.append(float(rng.random() < special.expit(NOISE * z @ task.theta)))
        u = inverse @ z
        inverse = inverse - np.outer(u, u) / (1.0 + z @ u)
        if step % REFIT_EVERY == 0:
            theta = maximum(np.array(asked), np.array(wins), 1.0)
            yield task.error(theta)


VARIANTS = {
    **{
        f"{name}, prior variance {variance}, {'covariance renewed' if renewed else 'Sherman-Morrison only'}": partial(
            greedy, power=power, variance=float(variance), renewed=renewed
        )
        for name, power in (("NormMin", 0), ("GURO", 2))
        for renewed in (True, False)
        for variance in (2, 1)
    },
    "CoLSTIM, Gumbel noise times the item's width (the paper's text)": partial(colstim, noise="scaled"),
    "CoLSTIM, Gumbel noise as it is": partial(colstim, noise="plain"),
    "CoLSTIM, no noise (argmax before it)": partial(colstim, noise="none"),
}


def errors(variant: str, task: Task, seed: int) -> list[float]:
    curve = list(VARIANTS[variant](task, np.random.default_rng(seed)))
    return [curve[step // REFIT_EVERY - 1] for step in STEPS]


def main() -> None:
    parser = argparse.ArgumentParser(description="The paper's baselines under other readings of their details.")
    parser.add_argument("--task", help=".npz with features (n, d) and theta (d,); without it, a drawn one")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.task:
        with np.load(arguments.task) as stored:
            task = Task(stored["features"], stored["theta"])
    else:
        rng = np.random.default_rng(0)
        task = Task(rng.standard_normal((100, 10)), rng.uniform(-3.0, 3.0, 10))
    runs = [(variant, seed) for variant in VARIANTS for seed in range(arguments.seeds)]
    results = Parallel(n_jobs=arguments.jobs)(delayed(errors)(variant, task, seed) for variant, seed in runs)
    print("| variant | " + " | ".join(f"{step:,}" for step in STEPS) + " |")
    print("|---|" + "--:|" * len(STEPS))
    for variant in VARIANTS:
        found = np.array([row for (name, _), row in zip(runs, results, strict=True) if name == variant])
        print(f"| {variant} | " + " | ".join(f"{mean:.3f}" for mean in found.mean(axis=0)) + " |")


if __name__ == "__main__":
    main()
