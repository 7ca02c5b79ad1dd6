"""What a choice is based on, rebuilt from plain parts: a cold fit, an update per answer, a piece per open query."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ordinate.algorithms import ALGORITHMS, model_of, takes
from ordinate.choosing.search import Choice
from ordinate.choosing.strategies import Situation
from ordinate.choosing.strategies.subsampled import Subsampled
from ordinate.data.comparisons import OUTCOMES, Comparison
from ordinate.data.items import Items
from ordinate.data.pairs import AllPairs
from ordinate.data.scaling import FeatureMap
from ordinate.learning import belief as beliefs
from ordinate.learning.belief import Belief, KeptCovariance
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.models import Answers, Model
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid, HybridCovariance
from ordinate.learning.models.independent import Independent
from ordinate.learning.prior_variances import fitted_prior
from ordinate.study.inference import Fit
from ordinate.study.leases import Offer
from ordinate.study.next_pair import pending_pairs
from ordinate.study.schedule import last_prior_fit, last_refit, last_renewal, next_refit
from ordinate.study.study import Study

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(20, 3))
SCALED = FeatureMap.fit(FEATURES, False, "robust", np.ones(20, dtype=bool)).transform(FEATURES)
LEFT, RIGHT = np.triu_indices(20, 1)


def first(answers: Answers, count: int) -> Answers:
    return Answers(answers.left[:count], answers.right[:count], answers.outcome[:count])


def options_of(algorithm: str, fitted: bool) -> dict[str, Any]:
    """Of Study.create: only chosen pairs, and prior variances that are fitted, or the algorithm's own."""
    names = [name for name in ("coefficient_variance", "item_variance") if takes(algorithm, name)]
    own = {} if fitted else {name: getattr(ALGORITHMS[algorithm].model, name) for name in names}
    return {"algorithm": algorithm, "random": 0.0, **own}


def model_after(algorithm: str, fitted: bool, answers: Answers) -> Any:
    """The model for a fit of these answers to the 20 items."""
    model: Any = model_of(algorithm, likelihood="cumulative")
    if not fitted:
        return model
    scales_at = last_prior_fit(len(answers.left), 20)
    return model.with_prior(fitted_prior(model, SCALED, first(answers, scales_at)))


def random_comparisons(rng: np.random.Generator, count: int) -> Iterator[Comparison]:
    """Of the 20 items."""
    drawn = rng.integers(0, 20, count), rng.integers(1, 20, count), rng.integers(0, 2, count)
    for left, step, winner in zip(*drawn, strict=True):
        yield Comparison(str(left), str((left + step) % 20), OUTCOMES[winner])


def study_after(algorithm: str, answers: int, fitted: bool = False, refit_every: int | None = None) -> Study:
    items = Items([str(k) for k in range(20)], FEATURES)
    study = Study.create(items, refit_every=refit_every, **options_of(algorithm, fitted))
    for comparison in random_comparisons(np.random.default_rng(1), answers):
        study.record([comparison])
    return study


def record_and_look(study: Study, rng: np.random.Generator, count: int, forget: bool) -> None:
    """Record comparisons, compute the belief after each, and with `forget` drop all caches after every third."""
    for place, comparison in enumerate(random_comparisons(rng, count)):
        study.record([comparison])
        belief_of(study)
        if forget and place % 3 == 0:
            study._ledger.drop_caches()


def belief_of(study: Study) -> Belief:
    """What the next choice is based on."""
    with study._ledger.reading() as state:
        return study._ledger.inference.belief(state, pending_pairs(state, state.open()))


def answers_of(study: Study, count: int) -> Answers:
    """The first `count` answers."""
    with study._ledger.reading() as state:
        return Answers(*state.effective.first(count))


def models_asked(study: Study) -> list[str | None]:
    """The model behind each query, as the log names it."""
    with study._ledger.storage.reading() as log:
        return [entry.model for entry in log.entries(0) if entry.kind == "ask"]


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-hybrid-factored", "guro-contextual", "guro-independent"])
def test_the_belief_is_a_fit_then_updates_then_open_queries(algorithm: str, fitted: bool) -> None:
    study = study_after(algorithm, 107, fitted)
    for name in ("ada", "bob", "cleo"):
        study.ask(name)
    answers = answers_of(study, 107)
    model = model_after(algorithm, fitted, first(answers, 100))
    assert (model == model_of(algorithm, likelihood="cumulative")) == (not fitted)
    expected = model.fit(SCALED, first(answers, 100)).belief
    for row in range(100, 107):
        expected = beliefs.update(expected, int(answers.left[row]), int(answers.right[row]))
    for query in study.open_queries():
        expected = beliefs.pending(expected, (int(query.left), int(query.right)))
    found = belief_of(study)
    for one, other in zip(found.differences(LEFT, RIGHT), expected.differences(LEFT, RIGHT), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert models_asked(study) == [repr(model)] * 3, "the log names the prior variances"


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-hybrid-factored", "guro-contextual", "guro-independent"])
def test_results_are_by_expectation_propagation_where_prior_variances_are_fitted(algorithm: str, fitted: bool) -> None:
    study = study_after(algorithm, 107, fitted)
    answers = answers_of(study, 107)
    model = model_after(algorithm, fitted, answers)
    posterior = Propagation(model, SCALED, answers).posterior(model.prior) if fitted else model.fit(SCALED, answers)
    np.testing.assert_allclose(study.scores(), posterior.mean, rtol=1e-9, atol=1e-12)
    scores, errors = posterior.centred(np.zeros(20, dtype=np.int64))
    ordering = study.ordering()
    rows = [int(item) for item in ordering.ids]
    np.testing.assert_allclose(ordering.scores, scores[rows], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ordering.standard_errors, errors[rows], rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-contextual"])
def test_before_an_answer_per_item_the_prior_variances_are_the_algorithms_own(algorithm: str) -> None:
    study = study_after(algorithm, 18, fitted=True)
    for _ in range(3):
        study.withdraw(study.ask().id)
        study.record([Comparison("3", "4", "left")])
    own = model_of(algorithm, likelihood="cumulative")
    fitted = model_after(algorithm, True, answers_of(study, 20))
    assert models_asked(study) == [repr(own), repr(own), repr(fitted)], "after 18, 19 and 20 answers"
    assert fitted != own


def test_prior_variances_are_fitted_again_when_the_answers_have_grown_by_a_quarter() -> None:
    assert [last_prior_fit(answers, 20) for answers in (0, 19, 20, 24, 25, 30, 31)] == [0, 0, 20, 20, 25, 25, 31]
    times = sorted({last_prior_fit(answers, 3) for answers in range(2000)})
    assert times[:5] == [0, 3, 4, 5, 6]
    assert all(later - time == max(time // 4, 1) for time, later in pairwise(times[1:]))


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("forget", [False, True])
def test_between_renewals_the_covariance_is_that_of_the_weights_of_their_day(
    monkeypatch: pytest.MonkeyPatch, forget: bool, fitted: bool
) -> None:
    """Renewed after 100 of 117 answers, refitted after 110: H by hand, with each weight at the mean of its day."""
    monkeypatch.setattr("ordinate.study.inference.last_renewal", lambda model, refit, items, every: refit - refit % 50)
    study = study_after("guro-hybrid", 0, fitted)
    record_and_look(study, np.random.default_rng(2), 117, forget)
    found = belief_of(study)

    answers = answers_of(study, 117)
    model = model_after("guro-hybrid", fitted, first(answers, 100))
    means = {count: model.fit(SCALED, first(answers, count)).mean for count in (100, 110)}
    np.testing.assert_array_equal(found.mean, means[110])
    precision = np.linalg.inv(model.prior.coefficients * SCALED @ SCALED.T + model.prior.items * np.eye(20))
    for row, (i, j) in enumerate(zip(answers.left, answers.right, strict=True)):
        day = means[110 if row >= 110 else 100]
        z = np.eye(20)[i] - np.eye(20)[j]
        precision += np.outer(z, z) / (2 + np.exp(day[i] - day[j]) + np.exp(day[j] - day[i]))
    z = np.eye(20)[LEFT] - np.eye(20)[RIGHT]
    expected = np.einsum("pi,ij,pj->p", z, np.linalg.inv(precision), z)
    np.testing.assert_allclose(found.differences(LEFT, RIGHT)[1], expected, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-contextual"])
@pytest.mark.parametrize("forget", [False, True])
def test_a_covariance_that_is_never_renewed_is_that_of_sherman_and_morrison(algorithm: str, forget: bool) -> None:
    """As in the authors' scripts: prior variance 1, each answer's weight at the mean of the refit before it."""
    options: dict[str, Any] = {"refit_every": 10, "scaling": "none", "coefficient_variance": 1.0, "random": 0.0}
    items = Items([str(k) for k in range(20)], FEATURES)
    study = Study.create(items, algorithm=algorithm, renew_covariance=False, **options)
    record_and_look(study, np.random.default_rng(3), 47, forget)
    found, answers = belief_of(study), answers_of(study, 47)
    centred = FEATURES - FEATURES.mean(axis=0)

    model: Any = Hybrid(1.0, 1.0) if algorithm == "guro-hybrid" else Contextual(1.0)
    means = [model.fit(centred, first(answers, count)).mean for count in range(0, 41, 10)]
    np.testing.assert_allclose(found.mean, means[4], atol=1e-9)
    covariance = centred @ centred.T + (np.eye(20) if algorithm == "guro-hybrid" else 0.0)
    for row, (i, j) in enumerate(zip(answers.left, answers.right, strict=True)):
        z, margin = np.eye(20)[i] - np.eye(20)[j], means[row // 10][i] - means[row // 10][j]
        slope, u = 1 / (2 + np.exp(margin) + np.exp(-margin)), covariance @ z
        covariance = covariance - slope * np.outer(u, u) / (1 + slope * z @ u)
    z = np.eye(20)[LEFT] - np.eye(20)[RIGHT]
    expected = np.einsum("pi,ij,pj->p", z, covariance, z)
    np.testing.assert_allclose(found.differences(LEFT, RIGHT)[1], expected, rtol=1e-9)


def test_what_is_pending_no_longer_is_no_part_of_the_belief() -> None:
    """A query is withdrawn, so the open ones no longer begin as those of the belief that was kept."""
    study = study_after("guro-hybrid", 25)
    queries = [study.ask(name) for name in ("ada", "bob", "cleo")]
    belief_of(study)
    for query in queries[:2]:
        study.withdraw(query.id)
        found = belief_of(study).differences(LEFT, RIGHT)
        study._ledger.drop_caches()
        for one, other in zip(found, belief_of(study).differences(LEFT, RIGHT), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def counted_fits(monkeypatch: pytest.MonkeyPatch, algorithm: str) -> list[int]:
    """How many answers each fit saw, from now on."""
    model = type(ALGORITHMS[algorithm].model)
    fits, fit = list[int](), model.fit

    def counted(self: Model, features: Any, answers: Answers) -> Any:
        fits.append(len(answers.left))
        return fit(self, features, answers)

    monkeypatch.setattr(model, "fit", counted)
    return fits


ONE_OF_EACH = ["guro-hybrid", "guro-hybrid-factored", "guro-contextual", "guro-independent"]


@pytest.mark.parametrize("algorithm", ONE_OF_EACH)
def test_nothing_that_came_before_an_undo_is_fitted_again(monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    study = study_after(algorithm, 103)
    for _ in range(3):
        study.tell(study.ask("ada").id, "left")
    fits = counted_fits(monkeypatch, algorithm)
    for _ in range(3):
        study.undo("ada")
    belief_of(study)
    for _ in range(3):
        study.tell(study.ask("ada").id, "right")
    study.ask("ada")
    assert fits == []


@pytest.mark.parametrize("pieces", [5, 20])
def test_an_answer_that_the_last_refit_saw_is_taken_back_without_a_new_covariance(
    pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where covariances are kept over refits, whether the answers went into the matrix or stay beside it."""
    monkeypatch.setattr("ordinate.study.schedule._FAST_TO_INVERT", 10)
    study = study_after("guro-hybrid", 99 + pieces, refit_every=pieces)
    belief_of(study)
    study.tell(study.ask("ada").id, "left")
    belief_of(study)
    renewed, kept = list[int](), HybridCovariance.kept

    def counted(self: HybridCovariance) -> DenseCovariance:
        renewed.append(1)
        return kept(self)

    monkeypatch.setattr(HybridCovariance, "kept", counted)
    study.withdraw(study.undo("ada").id)
    found = belief_of(study).differences(LEFT, RIGHT)
    assert renewed == []
    study._ledger.drop_caches()
    for one, other in zip(found, belief_of(study).differences(LEFT, RIGHT), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert renewed == [1]


@pytest.mark.parametrize(
    ("algorithm", "fitted", "rare"),
    [
        ("guro-hybrid", True, True),
        *(pytest.param(name, True, False, marks=pytest.mark.slow) for name in ONE_OF_EACH),
        pytest.param("trueskill", False, False, marks=pytest.mark.slow),
    ],
)
def test_after_an_undo_all_is_as_if_made_anew(
    algorithm: str, fitted: bool, rare: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study that keeps what it can beside one that loses its caches before every step.

    rare: covariances are kept over refits, as of many items.
    """
    if rare:
        monkeypatch.setattr("ordinate.study.schedule._FAST_TO_INVERT", 10)
    kept, anew = (study_after(algorithm, 15, fitted) for _ in range(2))
    rng, given, undone = np.random.default_rng(3), 0, 0
    for _ in range(50):
        count = min(int(rng.integers(1, 4)), given) if rng.random() < 0.3 else 0
        given, undone = given + 1 - count, undone + count
        left = rng.random() < 0.5
        for study in (kept, anew):
            if study is anew:
                study._ledger.drop_caches()
            for _ in range(count):
                study.undo("ada")
            study.tell(study.ask("ada").id, "left" if left else "right")
        pairs = [(query.left, query.right) for query in (study.ask("ada") for study in (kept, anew))]
        assert pairs[0] == pairs[1]
        for one, other in zip(*(belief_of(study).differences(LEFT, RIGHT) for study in (kept, anew)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert kept.expected_error() == pytest.approx(anew.expected_error(), rel=1e-12)
    np.testing.assert_allclose(kept.error_history(), anew.error_history(), rtol=1e-12)
    assert kept.reliability() == anew.reliability()
    assert undone > 12


@pytest.mark.parametrize("change", ["another answer", "an excluded item", "an excluded annotator"])
def test_the_expected_error_is_never_one_of_other_answers(change: str) -> None:
    """As many answers as before, but not the same ones, or not about the same items."""
    study = study_after("guro-contextual", 30)
    query = study.ask("ada")
    study.tell(query.id, "left")
    before = study.expected_error(), dict(study.error_history())
    if change == "another answer":
        study.tell(study.undo("ada").id, "right")
    elif change == "an excluded item":
        study.exclude_item(next(str(k) for k in range(20) if str(k) not in (query.left, query.right)))
    else:
        study.exclude_annotator("ada")
        study.record(Comparison(query.right, query.left, "left", "bob"))
    after = study.expected_error(), dict(study.error_history())
    assert after != before
    study._ledger.drop_caches()
    assert (study.expected_error(), dict(study.error_history())) == after


def test_the_history_of_the_expected_error_is_computed_a_few_points_at_a_time() -> None:
    study = study_after("guro-contextual", 23)
    assert study.error_history(0) == []
    assert [count for count, _ in study.error_history(2)] == [15, 20]
    assert [count for count, _ in study.error_history(0)] == [15, 20]
    assert [count for count, _ in study.error_history(1)] == [10, 15, 20]
    history = study.error_history()
    assert [count for count, _ in history] == [0, 5, 10, 15, 20]
    first = study_after("guro-contextual", 0)
    first.record(study.comparisons()[:15])
    assert dict(history)[15] == first.expected_error()


def test_renewals_are_refits_and_come_by_the_schedule() -> None:
    def renewals(model: Model, items: int, upto: int, every: int | None = None) -> list[int]:
        refits, answers = [0], 0
        while (answers := next_refit(answers, items, every)) <= upto:
            assert last_refit(answers, items, every) == answers
            refits.append(answers)
        found = [last_renewal(model, refit, items, every) for refit in refits]
        assert set(found) <= set(refits)
        assert all(renewal <= refit for renewal, refit in zip(found, refits, strict=True))
        return sorted(set(found))

    assert renewals(Hybrid(), 1000, 130) == [*range(101), 110, 120, 130]
    assert renewals(Hybrid(), 2500, 2100) == list(range(0, 2101, 100))
    assert renewals(Hybrid(), 6072, 3100) == [*range(0, 1000, 100), 1000, 2000, 3000]
    assert renewals(Independent(), 6072, 2020, 30) == [0, 90, 180, 300, 390, 480, 600, 690, 780, 900, 990, 1980]
    assert renewals(FactoredHybrid(), 100, 3000)[-4:] == [2970, 2980, 2990, 3000]
    assert renewals(Contextual(), 6072, 150) == [*range(101), 125, 150]


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("algorithm", ["guro-hybrid-factored", "guro-contextual"])
def test_however_long_the_log_the_first_question_after_opening_takes_one_fit(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, fitted: bool
) -> None:
    study = study_after(algorithm, 0, fitted)
    rng = np.random.default_rng(4)
    ids = rng.permuted(np.tile(np.arange(20), (2345, 1)), axis=1)[:, :2]
    study.record([Comparison(str(left), str(right), "left") for left, right in ids])
    study._ledger.drop_caches()
    fits = counted_fits(monkeypatch, algorithm)
    study.ask("cleo")
    assert fits == [2340]


@pytest.mark.parametrize("algorithm", [name for name, row in ALGORITHMS.items() if row.refit_every == 1])
def test_models_that_take_one_answer_after_another_move_with_each_whatever_the_schedule(algorithm: str) -> None:
    study = study_after(algorithm, 13, refit_every=10)
    before = belief_of(study).mean.copy()
    study.record([Comparison("0", "1", "left")])
    assert not np.array_equal(belief_of(study).mean, before)


class Watching:
    """Notes the pool it is given and how many threads BLAS would use."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.threads: set[int] = set()

    def choose(self, situation: Situation, pool: object, rng: np.random.Generator) -> Choice:
        self.sizes.append(pool.size)  # type: ignore[attr-defined]
        self.threads |= {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
        return Choice(0, 1, 0.0)


def test_candidates_limit_what_a_strategy_sees() -> None:
    watching = Watching()
    Subsampled(watching, 5).choose(
        None,  # type: ignore[arg-type]
        AllPairs.of(np.zeros(20, dtype=np.int64)),
        np.random.default_rng(0),
    )
    assert watching.sizes == [5]


def test_a_choice_is_made_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    watching = Watching()
    monkeypatch.setattr("ordinate.study.next_pair.strategy_of", lambda *_: watching)
    study = study_after("guro-contextual", 3)
    with threadpool_limits(2, "blas"):
        study.ask()
    assert watching.threads == {1}


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("algorithm", ["guro-contextual", "guro-hybrid", "guro-hybrid-factored"])
def test_unseen_items_that_are_alike_share_a_score(algorithm: str, fitted: bool) -> None:
    study = study_after(algorithm, 30, fitted)
    new = Items([f"new-{k}" for k in range(37)], np.tile(RNG.normal(size=3), (37, 1)))
    assert len(set(study.ordering(new).scores.tolist())) == 1


class Late:
    """A covariance that is ready when it was asked for so many times."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.fit: Fit | None = None

    def is_ready(self, fit: Fit) -> bool:
        self.fit = fit
        self.after -= 1
        return self.after < 0

    def take(self) -> KeptCovariance | None:
        assert self.fit is not None
        return self.fit.model.fit(self.fit.features, self.fit.answers).covariance.kept()


class Failing(Late):
    def take(self) -> None:
        return None


@pytest.mark.parametrize("kind", [Late, Failing])
def test_choices_go_on_while_a_covariance_is_renewed_and_are_the_same_afterwards(kind: type[Late]) -> None:
    rng = np.random.default_rng(0)
    items = Items([str(row) for row in range(1010)], rng.normal(size=(1010, 4)))
    plain, beside = (Study.create(items, algorithm="guro-hybrid", random=0.0) for _ in range(2))
    waiting = kind(3)
    beside.compute_beside(waiting)

    def record(count: int) -> None:
        left, right = (rng.permutation(1010)[:count] for _ in range(2))
        given = [Comparison(str(i), str(j), "left") for i, j in zip(left, right, strict=True) if i != j]
        for study in (plain, beside):
            study.record(given)

    def choices() -> tuple[list[Offer | None], list[Offer | None]]:
        return plain.choose(["Ann", "Bob"]), beside.choose(["Ann", "Bob"])

    record(130)
    one, other = choices()
    assert one == other
    record(100)
    one, other = choices()
    assert [offer and offer.strategy for offer in one] == ["Greedy(utility=CurvaturePower(exponent=2))"] * 2
    assert [offer and offer.strategy for offer in other] == [
        "Greedy(utility=CurvaturePower(exponent=2)) with the covariance after 100 answers"
    ] * 2
    assert [offer and offer.based_on for offer in other] == [offer and offer.based_on for offer in one]
    record(10)
    for _ in range(3):
        one, other = choices()
    assert one == other
    record(20)
    one, other = choices()
    assert one == other


def test_the_history_of_the_expected_error_is_by_the_newest_prior_variances() -> None:
    """Also where its points were computed before the variances were fitted again."""
    study, rng = study_after("guro-hybrid", 0, fitted=True), np.random.default_rng(4)
    for comparison in random_comparisons(rng, 60):
        study.record([comparison])
    study.error_history()
    for comparison in random_comparisons(rng, 40):
        study.record([comparison])
    history = study.error_history()
    study._ledger.drop_caches()
    again = study.error_history()
    assert [count for count, _ in history] == [count for count, _ in again] == list(range(0, 101, 5))
    np.testing.assert_allclose([error for _, error in history], [error for _, error in again], rtol=1e-9)
