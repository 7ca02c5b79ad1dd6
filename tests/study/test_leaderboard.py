"""A score per model, against other programs, plain formulas and simulated prompts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from scipy.stats import t as student

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.learning.leaderboard import PRIOR_VARIANCE, scores
from ordinate.learning.models import Answers
from ordinate.study.leaderboard import Leaderboard
from ordinate.study.study import Study

MODELS = ("small", "medium", "large", "huge")


def battles(prompts: int, per_prompt: int, spread: float, seed: int) -> tuple[Answers, np.ndarray]:
    """Answers by model, and the prompt of each; how good a model is differs by prompt with this spread."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(-0.6, 0.6, len(MODELS))
    prompt = np.repeat(np.arange(prompts), per_prompt)
    strength = truth + spread * rng.standard_normal((prompts, len(MODELS)))
    first = rng.integers(len(MODELS), size=len(prompt))
    pairs = np.column_stack([first, (first + rng.integers(1, len(MODELS), size=len(prompt))) % len(MODELS)])
    margin = strength[prompt, pairs[:, 0]] - strength[prompt, pairs[:, 1]]
    won = rng.random(len(prompt)) < 1.0 / (1.0 + np.exp(-margin))
    outcome = np.where(rng.random(len(prompt)) < 0.1, 0.5, won.astype(np.float64))
    return Answers(pairs[:, 0], pairs[:, 1], outcome), prompt


def plain(answers: Answers, prompt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores by a general optimiser, and the clustered covariance by sums over answers, one after another.

    A score's own number of prompts is that of the variances that its prompts would have if answers were independent.
    """

    def loss(theta: np.ndarray) -> float:
        margin = theta[answers.left] - theta[answers.right]
        wins = answers.outcome * np.logaddexp(0.0, -margin) + (1.0 - answers.outcome) * np.logaddexp(0.0, margin)
        return float(wins.sum() + 0.5 * theta @ theta / PRIOR_VARIANCE)

    theta = minimize(loss, np.zeros(len(MODELS)), method="BFGS", options={"gtol": 1e-9}).x
    information = np.eye(len(MODELS)) / PRIOR_VARIANCE
    pushes: dict[int, np.ndarray] = {}
    weights: dict[int, np.ndarray] = {}
    for left, right, outcome, group in zip(*answers[:3], prompt, strict=True):
        z = np.zeros(len(MODELS))
        z[left], z[right] = 1.0, -1.0
        chance = 1.0 / (1.0 + np.exp(-(theta[left] - theta[right])))
        weights[group] = weights.get(group, np.zeros((len(MODELS),) * 2)) + chance * (1.0 - chance) * np.outer(z, z)
        pushes[group] = pushes.get(group, np.zeros(len(MODELS))) + (outcome - chance) * z
    bread = np.linalg.inv(information + sum(weights.values()))
    meat = sum(np.outer(one, one) for one in pushes.values())
    centre = np.eye(len(MODELS)) - 1.0 / len(MODELS)
    moves = centre @ bread
    of_prompts = np.array([np.diag(moves @ one @ moves.T) for one in weights.values()])
    count = of_prompts.sum(axis=0) ** 2 / (of_prompts**2).sum(axis=0)
    wider = np.sqrt(count / (count - 1.0)) * student.ppf(0.95, count - 1.0) / norm.ppf(0.95)
    return theta - theta.mean(), np.outer(wider, wider) * (moves @ meat @ moves.T)


def test_scores_and_covariance_are_those_of_the_plain_formulas():
    answers, prompt = battles(30, 12, 0.5, seed=1)
    found = scores(answers, len(MODELS), prompt)
    mean, covariance = plain(answers, prompt)
    np.testing.assert_allclose(found.mean, mean, atol=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-3, atol=1e-7)


def test_clustered_errors_cover_the_truth_where_prompts_differ_and_others_do_not():
    """The limit of the scores is not the mean strength, so it is found from very many prompts."""
    answers, prompt = battles(4000, 20, 1.0, seed=0)
    limit = scores(answers, len(MODELS), prompt).mean
    inside = {"clustered": 0, "alone": 0}
    runs = 120
    for seed in range(1, runs + 1):
        answers, prompt = battles(40, 20, 1.0, seed)
        for kind, cluster in (("clustered", prompt), ("alone", np.arange(len(prompt)))):
            found = scores(answers, len(MODELS), cluster)
            reach = 1.645 * np.sqrt(found.covariance[3, 3])
            inside[kind] += abs(found.mean[3] - limit[3]) < reach
    assert 0.82 < inside["clustered"] / runs < 0.97
    assert inside["alone"] / runs < 0.75


def with_a_new_model(prompts: int, on: int, each: int, seed: int) -> tuple[Answers, np.ndarray]:
    """`battles`, and so many more answers about a fifth model on each of some prompts, which differ for it, too."""
    told, prompt = battles(prompts, 8, 1.0, seed)
    rng = np.random.default_rng([seed, 1])
    new = np.repeat(np.arange(on), each)
    margin = rng.standard_normal(on)[new]
    outcome = (rng.random(len(new)) < 1.0 / (1.0 + np.exp(-margin))).astype(np.float64)
    other = rng.integers(len(MODELS), size=len(new))
    sides = np.concatenate([told.left, np.full(len(new), len(MODELS))]), np.concatenate([told.right, other])
    return Answers(*sides, np.concatenate([told.outcome, outcome])), np.concatenate([prompt, new])


@pytest.mark.parametrize("on", [3, 5])
def test_the_error_of_a_model_that_few_prompts_compare_covers_the_truth(on: int):
    limit = scores(*_models(with_a_new_model(2000, 2000, 8, seed=0))).mean
    runs, inside = 100, 0
    for seed in range(1, runs + 1):
        found = scores(*_models(with_a_new_model(60, on, 40, seed)))
        assert found.known.all()
        inside += abs(found.mean[4] - limit[4]) < 1.645 * np.sqrt(found.covariance[4, 4])
    assert 0.82 < inside / runs < 0.98


def _models(told: tuple[Answers, np.ndarray]) -> tuple[Answers, int, np.ndarray]:
    answers, prompt = told
    return answers, len(MODELS) + 1, prompt


@pytest.mark.parametrize("on", [1, 2])
def test_a_model_that_one_or_two_prompts_compare_has_no_error_and_leaves_the_others_theirs(on: int):
    answers, prompt = with_a_new_model(60, on, 40, seed=2)
    found = scores(answers, len(MODELS) + 1, prompt)
    assert found.known.tolist() == [True] * 4 + [False]
    assert found.mean[:4].mean() == pytest.approx(0.0, abs=1e-9)
    ranks = found.ranks(np.random.default_rng(0))
    assert (ranks.low[4], ranks.high[4], np.isnan(ranks.best[4])) == (1, 5, True)
    without = scores(answers.those(slice(0, 480)), len(MODELS), prompt[:480])
    np.testing.assert_allclose(np.diag(found.covariance)[:4], np.diag(without.covariance), rtol=0.3)


def test_two_sets_of_models_that_one_prompt_connects_are_not_one_order():
    """Each model is in many prompts, but the distance from the first two to the others is known from one alone."""
    answers, prompt = battles(60, 12, 0.5, seed=3)
    inside = (answers.left < 2) == (answers.right < 2)
    found = scores(answers.those(inside | (prompt == 0)), len(MODELS), prompt[inside | (prompt == 0)])
    assert found.known.sum() == 2
    assert found.known[:2].all() or found.known[2:].all()


def test_of_few_prompts_a_leaderboard_says_that_no_error_is_known():
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("b", "a"), ("c", "b"), ("a", "b")]
    names = [f"{model}{prompt}" for prompt in range(6) for model in "abc"]
    groups = [f"prompt {prompt}" for prompt in range(6) for _ in "abc"]

    def board(prompts: int) -> Leaderboard:
        answers = [(f"{one}{row}", f"{two}{row}") for row in range(prompts) for one, two in pairs]
        return board_of(answers, [group for name, group in sorted(zip(names, groups, strict=True))], names)

    few = board(2)
    assert sorted(few.few_prompts) == ["a", "b", "c"]
    assert few.unbounded == ()
    assert np.isnan(few.ordering.standard_errors).all()
    assert few.to_columns()["rank_low"] == [1, 1, 1]
    assert few.to_columns()["rank_high"] == [3, 3, 3]
    enough = board(6)
    assert enough.few_prompts == ()
    assert np.isfinite(enough.ordering.standard_errors).all()


def test_likely_ranks_follow_the_errors():
    answers, prompt = battles(60, 20, 0.0, seed=3)
    found = scores(answers, len(MODELS), prompt)
    ranks = found.ranks(np.random.default_rng(0))
    assert ranks.tied_low.tolist() == [4, 3, 2, 1]
    unsure = scores(answers.those(slice(0, 24)), len(MODELS), prompt[:24]).ranks(np.random.default_rng(0))
    assert (unsure.high - unsure.low).sum() > (ranks.high - ranks.low).sum()
    assert found.mean.sum() == pytest.approx(0.0, abs=1e-9)


def study_of(storage: str | None = None) -> Study:
    items = Items(
        [f"{model}-{prompt}" for prompt in range(6) for model in MODELS],
        group=[f"prompt {prompt}" for prompt in range(6) for _ in MODELS],
        labels={"model": list(MODELS) * 6},
    )
    study = Study.create(items, algorithm="uniform-independent", storage=storage)
    answers, prompt = battles(6, 15, 0.3, seed=4)
    words = {1.0: "left", 0.0: "right", 0.5: "tie"}
    study.record(
        [
            Comparison(f"{MODELS[left]}-{group}", f"{MODELS[right]}-{group}", words[outcome])  # type: ignore[arg-type]
            for left, right, outcome, group in zip(*(c.tolist() for c in (*answers[:3], prompt)), strict=True)
        ]
    )
    return study


def test_a_study_keeps_the_models_and_orders_them(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study_of(url).close()
    with Study.open(url) as study:
        assert study.items.labels == {"model": MODELS * 6}
        board = study.leaderboard()
        answers, prompt = battles(6, 15, 0.3, seed=4)
        expected = scores(answers, len(MODELS), prompt)
        order = np.argsort(-expected.mean)
        assert board.ordering.ids == tuple(MODELS[place] for place in order)
        np.testing.assert_allclose(board.ordering.scores, expected.mean[order], atol=1e-9)
        assert (board.compared, board.prompts, sum(board.answers)) == (90, 6, 180)
        assert np.average(board.share, weights=board.answers) == pytest.approx(0.5)
        # Items that come later, without a model, are in no leaderboard.
        study.add_items(Items(["new"], group=["prompt 0"]))
        study.record([Comparison("new", "small-0", "left")])
        assert study.leaderboard().compared == 90


def test_models_that_nothing_compares_are_named():
    items = Items(list("abcdef"), labels={"model": ["m", "n", "o", "p", None, "m"]})
    study = Study.create(items, algorithm="uniform-independent")
    study.record([Comparison("a", "f", "left"), Comparison("a", "e", "left")])
    with pytest.raises(InvalidInput, match="no answer compares items of two values of 'model'"):
        study.leaderboard()
    study.record([Comparison("a", "b", "left"), Comparison("c", "d", "left")])
    with pytest.raises(InvalidInput, match="no answer compares 'm', 'n' with 'o', 'p'"):
        study.leaderboard()
    with pytest.raises(InvalidInput, match=r"no label 'system'.*there are labels model"):
        study.leaderboard("system")


def board_of(
    answers: list[tuple[str, str]], group: list[str] | None = None, names: list[str] | None = None
) -> Leaderboard:
    """Of models that each made one item (of each group), called as they are; answers are (winner, loser)."""
    names = sorted(names or {name for pair in answers for name in pair})
    items = Items(names, labels={"model": [name.rstrip("0123456789") for name in names]}, group=group)
    study = Study.create(items, algorithm="uniform-independent")
    study.record([Comparison(one, other, "left") for one, other in answers])
    return study.leaderboard()


@pytest.mark.parametrize("group", [None, ["g", "g"]])
def test_one_answer_makes_no_leaderboard(group):
    with pytest.raises(InvalidInput, match="only one answer compares items of two values of 'model'"):
        board_of([("a", "b")], group)


def test_errors_and_ranks_of_models_that_won_or_lost_everything_are_withheld():
    board = board_of([("a1", "b1"), ("a2", "b2")], ["g", "h", "g", "h"])
    assert board.unbounded == ("a", "b")
    columns = board.to_columns()
    assert np.isnan(columns["standard_error"]).all()
    assert (columns["rank_low"], columns["rank_high"]) == ([1, 1], [2, 2])
    # Each of these lost and won, but the first two never lost to the others, so how far they are apart is not known.
    mixed = [("a", "b"), ("b", "a"), ("a", "b"), ("c", "d"), ("d", "c"), ("d", "e"), ("e", "c")] * 3
    board = board_of([*mixed, ("a", "c"), ("b", "d"), ("b", "e")])
    assert board.unbounded == ("a", "b")
    alone = board_of(mixed[3:7] * 3)
    of = {name: place for place, name in enumerate(board.ordering.ids)}
    rest = [of[name] for name in alone.ordering.ids]
    # The others are as they would be alone, but that two more may be above each of them.
    np.testing.assert_allclose(board.ordering.scores[rest], alone.ordering.scores, atol=1e-2)
    np.testing.assert_allclose(board.ordering.standard_errors[rest], alone.ordering.standard_errors, rtol=0.005)
    assert board.ordering.intervals is not None
    assert alone.ordering.intervals is not None
    assert board.ordering.intervals.low[rest].tolist() == alone.ordering.intervals.low.tolist()
    assert board.ordering.intervals.high[rest].tolist() == (alone.ordering.intervals.high + 2).tolist()
    assert [board.ordering.intervals.low[of[name]] for name in "ab"] == [1, 1]
    assert [board.ordering.intervals.high[of[name]] for name in "ab"] == [5, 5]
    assert alone.unbounded == ()


TIES = [("a", "b", "tie"), ("b", "c", "tie"), ("a", "c", "tie")] * 4
LEFT_ALWAYS = [("a", "b", "left"), ("b", "a", "left"), ("b", "c", "left"), ("c", "b", "left")] * 3
VARIED = [("b", "c", "left"), ("c", "b", "left"), ("b", "c", "left")] * 4


@pytest.mark.parametrize(
    ("balanced", "others"), [(TIES, []), (LEFT_ALWAYS, []), (TIES[::3], VARIED)], ids=["ties", "left", "one model"]
)
def test_answers_that_balance_in_every_prompt_do_not_make_a_score_exact(balanced, others):
    told = [(MODELS.index(one), MODELS.index(two), said) for one, two, said in named(balanced + others)]
    outcome = np.array([{"left": 1.0, "tie": 0.5}[said] for *_, said in told])
    left, right = np.array([answer[:2] for answer in told]).T
    # Of two answers each, so that those of a judge who always says left are in the same prompt.
    found = scores(Answers(left, right, outcome), 3, np.arange(len(told)) // 2)
    weight = 0.25 * np.bincount(np.concatenate([left, right]), minlength=3)  # of Bradley and Terry where all are alike
    assert (np.sqrt(np.diag(found.covariance)) > 0.3 / np.sqrt(weight)).all()
    if not others:
        z = np.eye(3)[left] - np.eye(3)[right]
        expected = np.linalg.pinv(0.25 * z.T @ z)
        np.testing.assert_allclose(found.covariance, expected, rtol=1e-3, atol=1e-6)
        assert found.ranks(np.random.default_rng(0)).low.tolist() == [1, 1, 1]
    # The model that only tied is known less well than the one with which it tied.
    assert not others or found.covariance[0, 0] > found.covariance[1, 1]


def named(answers):
    return [(*(MODELS["abc".index(model)] for model in answer[:2]), answer[2]) for answer in answers]


@pytest.mark.slow  # it compiles its own loops for seconds, by JAX, which then warns of every fork of this process
@pytest.mark.filterwarnings("ignore")  # of arena-rank
def test_it_agrees_with_arena_rank():
    """Scores to 0.001, and standard errors, which it does not cluster, to 1 %."""
    pytest.importorskip("arena_rank", reason="python -m pip install arena-rank")
    import pandas
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    answers, _ = battles(40, 20, 0.0, seed=5)
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    frame = pandas.DataFrame(
        {
            "model_a": [MODELS[one] for one in answers.left],
            "model_b": [MODELS[one] for one in answers.right],
            "winner": [words[one] for one in answers.outcome.tolist()],
        }
    )
    theirs = BradleyTerry(n_competitors=len(MODELS)).compute_ratings_and_cis(PairDataset.from_pandas(frame))
    place = [list(theirs["competitors"]).index(model) for model in MODELS]
    point = np.log(10) / 400  # of their scale, in ours
    rating = np.asarray(theirs["ratings"])[place] * point
    error = np.sqrt(np.asarray(theirs["variances"])[place]) * point
    ours = scores(answers, len(MODELS), np.arange(len(answers.left)))
    np.testing.assert_allclose(ours.mean, rating - rating.mean(), atol=1e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.covariance)), error, rtol=0.01)


def table(times: int, count: int = 150) -> list[Comparison]:
    """Answers of two judges about replies of three models, each stored so many times."""
    rng, given = np.random.default_rng(0), []
    for number in range(count):
        left, right = rng.choice(60, 2, replace=False)
        if left % 3 != right % 3:
            margin = 0.6 * (int(right) % 3 - int(left) % 3)
            side = "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right"
            given += times * [Comparison(f"reply {left}", f"reply {right}", side, f"judge {number % 2}")]  # type: ignore[arg-type]
    return given


def replies(weigh_annotators: bool = False) -> Study:
    names = [f"reply {row}" for row in range(60)]
    return Study.create(
        Items(names, labels={"model": tuple("ABC"[row % 3] for row in range(60))}), weigh_annotators=weigh_annotators
    )


def test_without_prompts_an_answer_that_is_stored_again_makes_nothing_surer():
    once, often = replies(), replies()
    once.record(table(1))
    often.record(table(5))
    one, five = once.leaderboard().ordering, often.leaderboard().ordering
    np.testing.assert_allclose(five.scores, one.scores, atol=1e-6)
    np.testing.assert_allclose(five.standard_errors, one.standard_errors, rtol=1e-3)


def test_answers_that_weigh_nothing_connect_no_models():
    rng, study = np.random.default_rng(0), replies(weigh_annotators=True)
    scores, given = 1.5 * rng.normal(size=60), []
    for number in range(480):
        left, right = rng.choice(60, 2, replace=False)
        # Only the coin compares the replies of C with others.
        if number % 4 and (left % 3 == 2) != (right % 3 == 2):
            continue
        margin = 3.0 * (scores[left] - scores[right]) if number % 4 else 0.0
        side = "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right"
        given.append(Comparison(f"reply {left}", f"reply {right}", side, f"judge {number % 4}"))  # type: ignore[arg-type]
    study.record(given)
    weights = {person.name: person.weight for person in study.annotator_quality().people}
    assert weights["judge 0"] == 0.0
    assert set(study.leaderboard().ordering.ids) == {"A", "B"}
