"""Which side and length people prefer: against logistic regression, integrals written out, and simulated people."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.lengths import standard_lengths
from ordinate.errors import InvalidInput
from ordinate.learning.annotator_bias import Covariate, OwnAnswers, average_lean, chosen_share, leans, likelihoods
from ordinate.learning.annotators import Alone, Fit, sharpness
from ordinate.learning.fitted import People, fitted, plain_fit, with_kinds
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.independent import Independent
from ordinate.simulation.metrics import ordering_error
from ordinate.study.study import Study

MODEL = Hybrid(likelihood=Cumulative())


def world(seed: int, each: int, lean: Any, items: int = 60) -> tuple[Any, Answers, Any, Any]:
    """Features, answers about random pairs on random sides, who gave each, and the true scores."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 5)) / np.sqrt(5)
    truth = np.sqrt(2.0) * features @ rng.normal(size=5) + rng.normal(size=items)
    who = np.tile(np.arange(len(lean)), each)
    left = rng.integers(0, items, len(who))
    right = (left + rng.integers(1, items, len(who))) % items
    won = (rng.random(len(who)) < expit(truth[left] - truth[right] + np.asarray(lean)[who])).astype(float)
    return features, Answers(left, right, won, np.zeros(len(who), dtype=np.int64)), who, truth


def every(answers: Answers) -> Covariate:
    return Covariate(np.ones(len(answers.outcome)))


def regression(design: Any, won: Any) -> tuple[Any, Any]:
    """Logistic regression by another optimiser: the coefficients, and their standard errors."""

    def loss(point: Any) -> tuple[float, Any]:
        place = design @ point
        return -float(log_expit(np.where(won == 1.0, place, -place)).sum()), design.T @ (expit(place) - won)

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    chance = expit(design @ found)
    return found, np.sqrt(np.diagonal(np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))))


def test_it_is_the_intercept_of_a_logistic_regression() -> None:
    """Where features say everything, the scores' model with a lean is just that."""
    features, answers, who, _ = world(0, 1500, [0.7])
    design = np.column_stack([features[answers.left] - features[answers.right], np.ones(len(who))])
    expected, error = regression(design, answers.outcome)
    model = Contextual(1e6, likelihood=Cumulative())
    given = answers._replace(lean=np.full(len(who), expected[-1]))
    fit = model.fit(features, given).coefficients
    np.testing.assert_allclose(fit, expected[:-1], atol=1e-5)
    found = leans(Fit(model, features), answers, who, every(answers))
    assert found is not None
    assert found[0] == pytest.approx(expected[-1], abs=0.025 + 0.1 * error[-1])  # on a grid of 0.05


def test_leans_and_their_evidence_are_those_of_integrals() -> None:
    rng = np.random.default_rng(1)
    who = np.repeat([0, 1, 2], [8, 25, 40])
    alone = Alone(rng.normal(size=73), rng.uniform(0.1, 1.5, 73))
    won = (rng.random(73) < np.array([0.9, 0.7, 0.6])[who]).astype(float)
    longer, besides = rng.normal(size=73), rng.normal(size=73)
    answers = Answers(np.zeros(73, int), np.ones(73, int), won, lean=besides)
    grid = likelihoods(answers, alone, np.full(73, 1.2), who, 3, longer)

    def chance(lean: Any) -> Any:
        """(3, g) what each person's answers have as a probability at leans (g,)."""
        place = (1.2 * alone.mean + besides + lean[:, None] * longer) / np.sqrt(1 + np.pi * 1.44 * alone.variance / 8)
        each = expit((2 * won - 1) * place)
        return np.array([np.prod(each[:, who == person], axis=1) for person in range(3)])

    np.testing.assert_allclose(np.exp(grid), chance(np.linspace(-3, 3, 121)), rtol=1e-9)
    fine = np.linspace(-5, 5, 401)
    at, step = chance(fine), fine[1] - fine[0]
    total, means, new = 0.0, np.zeros(3), 0.0
    alike = (stats.norm.pdf(fine) * at.prod(axis=0)).sum() * step
    for deviation in np.linspace(0.025, 0.975, 20):
        about = stats.norm.pdf(fine[:, None], fine, deviation)
        about /= about.sum(axis=0) * step
        mass = at @ about * step  # (3, mu)
        weight = stats.norm.pdf(fine) * mass.prod(axis=0) * step / 20
        total += weight.sum()
        means += ((at * fine) @ about * step / mass) @ weight
        new += fine @ weight
    own = OwnAnswers(grid)
    np.testing.assert_allclose(own.means(), [*means / total, new / total], atol=0.01)
    assert own.evidence == pytest.approx(np.log(total / chance(np.zeros(1)).prod()), abs=0.05)
    assert OwnAnswers(grid, shared=True).evidence == pytest.approx(np.log(total / alike), abs=0.05)


def test_people_with_few_answers_are_taken_to_lean_as_the_others_do() -> None:
    features, answers, who, _ = world(2, 400, [1.0, 0.8, 0.9, 0.9])
    kept = (who < 3) | (np.arange(len(who)) < 8)
    answers, who = answers.those(kept), who[kept]
    found = leans(Fit(MODEL, features), answers, who, every(answers))
    assert found is not None
    np.testing.assert_allclose(found, 0.9, atol=0.25)


@pytest.mark.parametrize("each", [1, 4])
def test_an_answer_is_not_taken_for_a_lean_of_the_person_who_gave_it(each: int) -> None:
    """Contrary answers: of two people about a pair, each on another side, both were taken to lean to theirs."""
    rng = np.random.default_rng(each)
    truth = 3.0 * rng.normal(size=40)
    left = rng.integers(0, 40, 300)
    right = (left + rng.integers(1, 40, 300)) % 40
    won = rng.random(300) < np.where(rng.random(300) < 0.6, truth[left] > truth[right], 0.5)
    answers = Answers(left, right, won.astype(float), np.zeros(300, dtype=np.int64))
    who, nothing = rng.permutation(np.arange(300) // each), np.empty((40, 0))
    assert leans(plain_fit(Independent(), nothing), answers, who, every(answers)) is None
    # Those who answer often are told apart from them as before.
    often = np.concatenate([who, np.full(300, len(who))])
    more = Answers(
        np.concatenate([left, left]),
        np.concatenate([right, right]),
        np.concatenate([answers.outcome, rng.random(300) < 0.9]),
        np.zeros(600, dtype=np.int64),
    )
    found = leans(plain_fit(Independent(), nothing), more, often, every(more))
    assert found is not None
    assert abs(found[who]).max() < 0.3
    assert found[len(who)] > 1.5


def test_where_nobody_leans_there_are_no_leans() -> None:
    seen = 0
    for seed in range(25):
        features, answers, who, _ = world(100 + seed, 60, [0.0, 0.0, 0.0])
        seen += leans(Fit(MODEL, features), answers, who, every(answers)) is not None
    assert seen <= 1
    features, answers, who, _ = world(3, 40, [0.0])
    assert leans(Fit(MODEL, features), answers, who, Covariate(np.zeros(40))) is None
    tied = answers._replace(outcome=np.full(40, 0.5))
    assert leans(Fit(MODEL, features), tied, who, every(tied)) is None


@pytest.mark.parametrize("bias", [-0.8, 0.0, 1.2])
def test_the_chance_of_the_left_one_of_two_equal_items_is_found(bias: float) -> None:
    features, answers, who, _ = world(5, 400, [bias] * 3)
    lean = leans(Fit(MODEL, features), answers, who, every(answers))
    given = answers if lean is None else answers._replace(lean=lean[who])
    found, alone = sharpness(Fit(MODEL, features), given, who, np.ones(3, dtype=np.bool_))
    given = answers._replace(lean=None)
    middle, low, high = chosen_share(given, alone, found.weight[who], np.ones(len(who)))
    assert middle == pytest.approx(expit(bias), abs=0.04)
    assert 0.01 < high - low < 0.1


def test_chances_are_those_of_integrals() -> None:
    rng = np.random.default_rng(6)
    besides, longer = 0.3 * rng.normal(size=30), rng.normal(size=30)
    answers = Answers(np.zeros(30, int), np.ones(30, int), (rng.random(30) < 0.7).astype(float), lean=besides)
    alone, alpha = Alone(rng.normal(size=30), rng.uniform(0.1, 1.0, 30)), np.full(30, 1.3)

    def density(bias: float, average: float = 0.0) -> float:
        place = (alpha * alone.mean + besides + bias * longer) / np.sqrt(1 + np.pi * alpha**2 * alone.variance / 8)
        return float(np.prod(2 * expit((2 * answers.outcome - 1) * place)) * stats.norm.pdf(bias, average))

    total = integrate.quad(density, -6, 6)[0]
    mean = integrate.quad(lambda bias: bias * density(bias), -6, 6)[0] / total
    assert average_lean(answers, alone, alpha, longer) == pytest.approx(mean, abs=2e-3)
    of_average = integrate.quad(lambda bias: density(bias, 0.4), -6, 6)[0]
    for level, found in zip((0.5, 0.05, 0.95), chosen_share(answers, alone, alpha, longer, 0.6, 0.4), strict=True):
        bias = 0.4 + np.log(found / (1 - found)) / 0.6
        below = integrate.quad(lambda bias: density(bias, 0.4), -6, bias)[0] / of_average
        assert below == pytest.approx(level, abs=2e-3)


def judged(study: Any, truth: Any, lean: float, count: int, seed: int) -> None:
    """Answers of one person who prefers a side."""
    rng, ids = np.random.default_rng(seed), study.items.ids
    for _ in range(count):
        query = study.ask("ada")
        margin = truth[ids.index(query.left)] - truth[ids.index(query.right)]
        study.tell(query.id, "left" if rng.random() < expit(margin + lean) else "right")


def test_a_study_takes_account_of_a_side_that_is_preferred(tmp_path: Any) -> None:
    features, _, _, truth = world(9, 1, [0.0], items=25)
    items = Items([f"i{k}" for k in range(25)], features)
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(items, storage=address) as study:
        assert study.settings.side_bias
        judged(study, truth, 1.5, 100, seed=2)
        (ada,) = study.annotator_quality().people
        assert ada.lean == pytest.approx(1.5, abs=0.8)
        assert ada.left is not None
        assert ada.left.estimate == pytest.approx(expit(1.5), abs=0.1)
        scores = study.ordering().scores
    with Study.open(address) as again:
        np.testing.assert_array_equal(again.ordering().scores, scores)
        assert again.annotator_quality().people[0].lean == ada.lean


def test_sides_that_nobody_saw_say_nothing() -> None:
    """In many tables of comparisons the winner stands on the left."""
    features, answers, _, _ = world(8, 120, [0.0], items=25)
    ids = [f"i{k}" for k in range(25)]
    study = Study.create(Items(ids, features))
    for left, right, won in zip(*answers[:3], strict=True):
        pair = (ids[left], ids[right]) if won else (ids[right], ids[left])
        study.record([Comparison(*pair, "left", "ada")])
    assert study.annotator_quality().people[0].lean == 0.0


@pytest.mark.parametrize("given", [{"likelihood": "logistic"}, {"item_variance": 1.0}, {"algorithm": "trueskill"}])
def test_where_nothing_else_is_fitted_no_bias_is(given: Any) -> None:
    settings = Study.create(Items(["a", "b"], np.eye(2), content={"text": ["short", "longer"]}), **given).settings
    assert not settings.side_bias
    assert not settings.length_bias


def test_lengths_are_interactions_in_a_logistic_regression() -> None:
    """What all share is a column of the features; how people differ is an interaction, with a mean of 0."""
    features, answers, who, _ = world(10, 1200, [0.0, 0.0, 0.0])
    longer = features[answers.left, 0] - features[answers.right, 0]
    wanted = np.array([0.8, 0.0, -0.3])[who]
    rng = np.random.default_rng(11)
    margin = (features[answers.left] - features[answers.right]) @ np.array([1.0, -0.5, 0.3, 0.8, 0.0])
    answers = answers._replace(outcome=(rng.random(len(who)) < expit(margin + wanted * longer)).astype(float))
    design = np.column_stack(
        [features[answers.left] - features[answers.right], longer * (who == 1), longer * (who == 2)]
    )
    coefficients, error = regression(design, answers.outcome)
    expected = np.array([0.0, *coefficients[-2:]])
    expected -= expected @ np.bincount(who) / len(who)
    model, people = Contextual(1e6, likelihood=Cumulative()), np.ones(3, dtype=np.bool_)
    found = leans(Fit(model, features), answers, who, Covariate(longer, people))
    assert found is not None
    np.testing.assert_allclose(found[:-1], expected, atol=0.025 + 0.2 * error[-1])
    assert found[-1] == 0.0


def with_lengths(seed: int, better: float, bias: Any, each: Any, models: Any, sharp: Any) -> tuple[Any, Any, Any, Any]:
    """Features, answers, who gave them, and the truth, in which long items are `better` by a standard deviation."""
    rng = np.random.default_rng([seed, 29])
    features = rng.normal(size=(60, 5)) / np.sqrt(5)
    length = rng.normal(size=60)
    length /= length.std()
    truth = np.sqrt(2.0) * features @ rng.normal(size=5) + rng.normal(size=60) + better * length
    who = rng.permutation(np.repeat(np.arange(len(bias)), each))
    left = rng.integers(0, 60, len(who))
    right = (left + rng.integers(1, 60, len(who))) % 60
    longer = length[left] - length[right]
    chance = expit(np.asarray(sharp)[who] * (truth[left] - truth[right]) + np.asarray(bias)[who] * longer)
    answers = Answers(left, right, (rng.random(len(who)) < chance).astype(float))
    everybody = np.ones(len(bias), dtype=np.bool_)
    people = People(who, everybody, np.ones(len(who), dtype=np.bool_), np.array(models, dtype=np.bool_), longer)
    return features, answers, people, truth


def both_fits(features: Any, answers: Any, people: Any, truth: Any) -> tuple[float, float, Any]:
    """The ordering error of a fit that leaves lengths out, that of one that does not, and what the latter found."""
    errors = []
    for lengths in (False, True):
        weigh = bool(people.models.any())
        used = fitted(MODEL, features, answers, people, features_alone=0.0, weigh=weigh, sides=True, lengths=lengths)
        fit = used.model.fit(features, used.applied(answers, people))
        errors.append(ordering_error(fit.mean, truth))
    return errors[0], errors[1], used.length_lean


@pytest.mark.slow
def test_the_preference_of_a_model_for_long_items_is_taken_out_of_the_order() -> None:
    found = [
        both_fits(*with_lengths(s, 0.0, [0, 0, 0, 1.2], [60, 60, 60, 400], [0, 0, 0, 1], [1] * 4)) for s in range(3)
    ]
    without, with_it = np.mean([one[:2] for one in found], axis=0)
    assert with_it < 0.85 * without
    np.testing.assert_allclose(np.mean([one[2] for one in found], axis=0), [0, 0, 0, 1.2, 0], atol=0.35)


@pytest.mark.parametrize(
    ("better", "bias", "models", "sharp"),
    [
        (0.0, [0, 0, 0], [0, 0, 0], [1, 1, 1]),
        (1.5, [0, 0, 0], [0, 0, 0], [1, 1, 1]),  # long items are better: that is no bias
        (0.0, [0.8, 0.8, 0.8], [0, 0, 0], [1, 1, 1]),  # what all share cannot be told from that
        (1.5, [0, 0, 0], [0, 0, 1], [1, 1, 0.3]),  # who is less sharp is less swayed by anything
    ],
)
def test_where_nobody_differs_in_lengths_nothing_is_taken_out(
    better: float, bias: Any, models: Any, sharp: Any
) -> None:
    for seed in range(3):
        without, with_it, found = both_fits(*with_lengths(seed, better, bias, [80, 80, 200], models, sharp))
        assert found is None
        assert with_it == without


def test_the_first_gate_alone_takes_less_sharp_people_for_biased() -> None:
    """So sharpness is told apart first: without that, somebody who tosses coins would seem to prefer short items."""
    features, answers, people, _ = with_lengths(1, 2.0, [0, 0, 0, 0], 300, [0] * 4, [1, 1, 1, 0])
    fit = plain_fit(MODEL, features)
    given = with_kinds(answers)
    assert leans(fit, given, people.number, people.lengths) is not None
    used = fitted(MODEL, features, answers, people, features_alone=0.0, weigh=False, sides=True, lengths=True)
    assert used.length_lean is None


def texts_of(length: Any) -> list[str]:
    return ["x" * round(100 * 2.0**one) for one in length]


def test_a_study_of_texts_takes_account_of_lengths(tmp_path: Any) -> None:
    rng = np.random.default_rng(12)
    length, truth, ids = rng.normal(size=30), rng.normal(size=30), [f"i{k}" for k in range(30)]
    texts = texts_of(length)
    address = f"sqlite:///{tmp_path / 'study.db'}"
    given = []
    for who, bias in (("ada", 2.5), ("ben", 0.0), ("eve", 0.0)):
        for _ in range(150):
            left, right = rng.choice(30, 2, replace=False)
            margin = truth[left] - truth[right] + bias * np.log2(len(texts[left]) / len(texts[right]))
            given.append(Comparison(ids[left], ids[right], "left" if rng.random() < expit(margin) else "right", who))
    given = [given[k] for k in rng.permutation(len(given))]
    with Study.create(Items(ids, content={"text": texts}), storage=address) as study:
        assert study.settings.length_bias
        study.record(given)
        quality = study.annotator_quality()
        ada, ben, _ = quality.people
        assert ada.length_lean - ben.length_lean == pytest.approx(2.5, abs=0.6)
        assert ada.longer is not None
        assert ben.longer is not None
        assert ada.longer.low > 0.7 > ben.longer.high
        scores, verdict = study.ordering().scores, study.check()
        assert {one.name: bool(one.prefers) for one in verdict.annotators}["ada"]
        assert "twice as long" in next(one.prefers for one in verdict.annotators if one.name == "ada")
    with Study.open(address) as again:
        np.testing.assert_array_equal(again.ordering().scores, scores)
        assert again.annotator_quality() == quality


def test_only_texts_and_stated_lengths_are_lengths() -> None:
    ids, texts = ["a", "b", "c"], ["one", "three", "a hundred"]

    def used(**given: Any) -> bool:
        return Study.create(Items(ids, **given)).settings.length_bias

    assert used(content={"text": texts})
    assert not used()
    assert not used(content={"text": ["one", "two", "six"]})
    assert not used(content={"text": texts, "image": ["a.png", "b.png", "c.png"]})  # captions
    assert used(content={"audio": ["a.wav", "b.wav", "c.wav"]}, labels={"length": ["3", "7.5", None]})
    for wrong in ("long", "0", "-1", "nan", "inf"):
        with pytest.raises(InvalidInput, match="row 2 of 'length'"):
            Items(ids, labels={"length": ["3", wrong, "5"]})
    read = Items.from_columns({"id": ids, "length": [3, 7.5, None]})
    assert read.labels == {"length": ("3", "7.5", None)}


def test_lengths_are_in_standard_deviations_of_the_items_that_count() -> None:
    items = Items(["a", "b", "c", "d"], labels={"length": ["1", "2", "8", None]})
    found = standard_lengths(items, np.array([True, True, False, True]))
    assert found is not None
    logs = np.log([1.0, 2.0, 8.0])
    np.testing.assert_allclose(found.values, [*(logs / logs[:2].std()), np.nan])
    assert found.values[1] - found.values[0] == pytest.approx(found.doubling)
    assert standard_lengths(items, np.array([False, False, True, True])) is None
