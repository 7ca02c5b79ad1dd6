import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.datasets import Dataset, draw_synthetic, read_recorded, read_synthetic
from ordinate.errors import InvalidInput
from ordinate.simulation.run import simulate
from ordinate.simulation.summary import curves
from ordinate.simulation.tasks import RecordedTask, SimulatedTask, Task, Trial
from ordinate.study.study import Study


@pytest.fixture(scope="module")
def synthetic():
    return SimulatedTask(draw_synthetic(20, 3, np.random.default_rng(0)), noise=1.0)


def recorded_dataset(groups=1):
    """Answers to some pairs of 12 items, several to many of them, and three ties."""
    rng = np.random.default_rng(1)
    truth = rng.standard_normal(12)
    group = np.arange(12) % groups
    pairs = [(i, j) for i in range(12) for j in range(i) if group[i] == group[j]]
    listed = []
    for i, j in [pairs[k] for k in rng.integers(len(pairs), size=80)]:
        left_wins = rng.random() < 1 / (1 + np.exp(truth[j] - truth[i]))
        listed.append(Comparison(f"i{i}", f"i{j}", "left" if left_wins else "right"))
    listed[5:8] = [comparison._replace(outcome="tie") for comparison in listed[5:8]]
    items = Items(
        ids=[f"i{k}" for k in range(12)],
        features=truth[:, None] + 0.3 * rng.standard_normal((12, 2)),
        group=None if groups == 1 else [f"g{code}" for code in group],
    )
    return Dataset(items, comparisons=tuple(listed))


def without_seconds(rows):
    return {name: column for name, column in rows.items() if name != "seconds"}


def test_rows_are_flat_and_ordered(synthetic):
    rows = simulate(synthetic, ["uniform-contextual", "guro-contextual"], [3, 1], budget=25, every=10)
    assert list(rows) == ["algorithm", "seed", "step", "part", "error", "seconds"]
    assert set(rows["part"]) == {"ordering error"}
    assert rows["algorithm"] == ["uniform-contextual"] * 8 + ["guro-contextual"] * 8
    assert rows["seed"] == ([3] * 4 + [1] * 4) * 2
    assert rows["step"] == [0, 10, 20, 25] * 4
    assert rows["error"][0] == 0.5  # nothing is known yet, so every pair is tied
    assert all(0 <= error <= 1 for error in rows["error"])
    assert all(type(value) is float for value in rows["error"] + rows["seconds"])
    assert rows["seconds"][0] == 0.0
    assert rows["seconds"][:4] == sorted(rows["seconds"][:4])


@pytest.mark.slow
@pytest.mark.parametrize("task", ["synthetic", "recorded"])
def test_the_rows_are_the_same_whatever_the_number_of_jobs(synthetic, task):
    chosen: Task = synthetic if task == "synthetic" else RecordedTask(recorded_dataset(groups=2), by="pairs")
    one, two = (
        simulate(chosen, ["guro-hybrid", "uniform-independent"], range(3), budget=30, every=10, jobs=jobs)
        for jobs in (1, 2)
    )
    assert without_seconds(one) == without_seconds(two)


def test_the_same_call_gives_the_same_rows_and_other_seeds_others(synthetic):
    one, same, other = (simulate(synthetic, ["guro-contextual"], [seed], budget=20, every=5) for seed in (0, 0, 1))
    assert without_seconds(one) == without_seconds(same)
    assert one["error"] != other["error"]


@dataclass(frozen=True, eq=False)
class Overheard:
    """A task that keeps what was answered: (seed, pair) -> the lower row's outcomes, run after run."""

    task: Task
    said: list

    def build(self, seed):
        trial = self.task.build(seed)
        run: dict[tuple[int, int], list[str]] = {}
        self.said.append(run)
        return trial._replace(annotators=Listener(trial.annotators, run))


class Listener:
    def __init__(self, annotators, run):
        self.annotators, self.run = annotators, run
        self.pool = annotators.pool

    def answer(self, left, right):
        outcome = self.annotators.answer(left, right)
        first = outcome if left < right else {"left": "right", "right": "left", "tie": "tie"}[outcome]
        self.run.setdefault((min(left, right), max(left, right)), []).append(first)
        return outcome


@pytest.mark.parametrize("task", ["synthetic", "recorded"])
def test_every_algorithm_hears_the_same_answers_to_the_same_pairs(synthetic, task):
    said: list[dict[tuple[int, int], list[str]]] = []
    overheard = Overheard(synthetic if task == "synthetic" else RecordedTask(recorded_dataset()), said)
    simulate(overheard, ["guro-hybrid", "uniform-contextual"], [4], budget=100, every=100)
    one, two = said
    shared = one.keys() & two.keys()
    assert len(shared) > 10
    for pair in shared:
        heard = min(len(one[pair]), len(two[pair]))
        assert one[pair][:heard] == two[pair][:heard]


def test_recorded_answers_are_each_used_once_and_then_the_run_ends():
    said: list[dict[tuple[int, int], list[str]]] = []
    task = RecordedTask(recorded_dataset(), share=0.25)
    rows = simulate(Overheard(task, said), ["guro-hybrid"], [0], budget=500, every=25)
    assert rows["step"] == [0, 25, 50, 60]  # 20 of 80 were held out
    counts: dict[tuple[int, ...], int] = {}
    for comparison in recorded_dataset().comparisons:
        pair = tuple(sorted((int(comparison.left[1:]), int(comparison.right[1:]))))
        counts[pair] = counts.get(pair, 0) + 1
    assert all(len(answers) <= counts[pair] for pair, answers in said[0].items())
    assert sum(map(len, said[0].values())) == 60


@dataclass(frozen=True, eq=False)
class Scored:
    """A study that knows nothing but scores."""

    known: np.ndarray

    def scores(self):
        return self.known

    def ordering(self, items=None):
        raise NotImplementedError

    def comparisons(self):
        raise NotImplementedError

    def expected_error(self):
        raise NotImplementedError


def test_the_split_depends_on_the_seed_alone():
    task = RecordedTask(recorded_dataset())
    scores = np.random.default_rng(0).standard_normal((5, 12))
    first, again, other = (
        [trial.evaluate(Scored(row)) for row in scores] for trial in (task.build(0), task.build(0), task.build(1))
    )
    assert first == again
    assert first != other


def test_learning_lowers_the_error(synthetic):
    rows = simulate(synthetic, ["guro-contextual"], range(3), budget=100, every=100)
    assert max(rows["error"][1::2]) < 0.2


def test_options_reach_the_study(synthetic):
    no_options_and_some: list[dict[str, Any]] = [{}, {"refit_every": 7, "scaling": "none", "candidates": 5}]
    plain, other = (
        simulate(synthetic, ["guro-contextual"], [0], budget=40, every=10, **options) for options in no_options_and_some
    )
    assert plain["error"] != other["error"]


def test_prior_variances_reach_the_algorithms_that_have_them(synthetic):
    def errors(**options: Any) -> list[list[float]]:
        names = ["guro-hybrid", "uniform-contextual"]
        rows = simulate(synthetic, names, [0], budget=30, every=10, **options)
        return [rows["error"][:4], rows["error"][4:]]

    hybrid, contextual = errors(coefficient_variance=2.0, item_variance=1.0)
    assert errors(coefficient_variance=2.0) == [hybrid, contextual], "where one is given the other is not fitted"
    other_hybrid, other_contextual = errors(coefficient_variance=2.0, item_variance=20.0)
    assert other_hybrid != hybrid
    assert other_contextual == contextual
    assert errors(renew_covariance=False)[0] != hybrid
    fitted = errors()
    assert fitted[0] != hybrid
    assert fitted == errors()


def test_the_share_of_random_pairs_reaches_the_study(synthetic):
    def errors(random: float, algorithm: str = "guro-contextual") -> list[float]:
        return simulate(synthetic, [algorithm], [0], budget=40, every=10, random=random)["error"]

    assert errors(1.0) == errors(0.0, "uniform-contextual"), "random pairs alone are what the algorithm uniform asks"
    assert errors(0.0) != errors(1.0)
    assert errors(0.1, "uniform-contextual") == errors(0.0, "uniform-contextual")


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_only_rises_and_ends_at_the_end(synthetic, jobs):
    seen = []
    simulate(
        synthetic, ["uniform-contextual"], range(2), budget=30, jobs=jobs, progress=lambda *made: seen.append(made)
    )
    assert {total for _, total in seen} == {60}
    assert [made for made, _ in seen] == sorted({made for made, _ in seen})
    assert seen[-1][0] == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithms": ["gurro"]}, "unknown algorithm 'gurro'"),
        ({"algorithms": []}, "at least one algorithm"),
        ({"algorithms": ["guro-hybrid"] * 2}, "the same algorithm is given twice"),
        ({"seeds": []}, "at least one seed"),
        ({"seeds": [-1]}, "whole numbers that are not negative"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"algorithms": ["guro-contextual"], "item_variance": 2.0}, "none of the algorithms takes item_variance"),
        ({"coefficient_variance": -1.0}, "coefficient_variance must be a number from"),
        ({"every": 0}, "every must be at least 1"),
        ({"jobs": 0}, "jobs must be at least 1"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(synthetic, change, message):
    given = {"algorithms": ["guro-hybrid"], "seeds": [0], "budget": 5, "every": 5} | change
    with pytest.raises(InvalidInput, match=message):
        simulate(synthetic, **given)


@dataclass(frozen=True)
class Broken:
    def build(self, seed: int) -> Trial:
        raise InvalidInput(f"no world for seed {seed}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_run_comes_through(jobs):
    with pytest.raises(InvalidInput, match="no world for seed"):
        simulate(Broken(), ["guro-hybrid"], range(2), budget=5, jobs=jobs)


def test_a_task_without_truth_cannot_simulate_annotators():
    with pytest.raises(InvalidInput, match="true scores"):
        SimulatedTask(recorded_dataset())
    with pytest.raises(InvalidInput, match="noise"):
        SimulatedTask(draw_synthetic(5, 2, np.random.default_rng(0)), noise=-1.0)


INTERRUPTED = """
import sys
import numpy as np
from ordinate.datasets import draw_synthetic
from ordinate.simulation.run import simulate
from ordinate.simulation.tasks import SimulatedTask

def shout(made, total):
    if made:
        print(made, flush=True)

if __name__ == "__main__":
    task = SimulatedTask(draw_synthetic(300, 5, np.random.default_rng(0)))
    try:
        simulate(task, ["guro-hybrid"], range(4), budget=10**6, every=10**6, jobs=int(sys.argv[1]), progress=shout)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a process group")
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_all_processes_without_a_traceback(tmp_path, jobs):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()  # it runs
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said == ""
        for _ in range(100):
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            pytest.fail("processes are left behind")
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("cause", "ends"), [(KeyboardInterrupt(), KeyboardInterrupt), (ValueError("a fault of ours"), SystemError)]
)
def test_an_interrupt_that_compiled_code_reports_as_a_failure_is_an_interrupt(monkeypatch, cause, ends):
    def fails(*_, **__):
        try:
            raise cause
        except BaseException as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(Study, "ask", fails)
    with pytest.raises(ends):
        simulate(
            SimulatedTask(draw_synthetic(10, 2, np.random.default_rng(0))), ["guro-contextual"], range(1), budget=3
        )


def test_the_reference_task_is_learned(synthetic_task):
    rows = simulate(
        SimulatedTask(read_synthetic(synthetic_task), noise=0.5),
        ["guro-contextual"],
        range(3),
        budget=200,
        every=100,
        refit_every=10,
        scaling="none",
    )
    (curve,) = curves(rows)
    assert curve.mean[1] < 0.09
    assert curve.mean[2] < 0.06


@pytest.mark.parametrize(
    ("name", "by"),
    [("sentimentit_movie_reviews", "answers"), pytest.param("ukpconvarg1", "pairs", marks=pytest.mark.slow)],
)
def test_real_answers_are_learned_from(shared_data, name, by):
    here = shared_data / name
    if not here.is_dir():
        pytest.skip(f"the real data ({name}) is not on this machine")
    dataset = read_recorded(here / "items.csv", here / "comparisons.csv", features=here / "features.npy", pca=0.9)
    rows = simulate(RecordedTask(dataset, by=by), ["guro-contextual"], [0], budget=150, every=150)
    assert rows["error"][0] == 0.5
    assert rows["error"][1] < 0.45
