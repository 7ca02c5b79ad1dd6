"""Ties, strengths of answers and "both bad": stored, exported, and told apart by the fit once there are any."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from ordinate.data.comparison_formats import Reading, read_comparisons, write_comparisons
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.likelihoods.davidson import Davidson
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(20, 2))
ITEMS = Items([str(row) for row in range(20)], FEATURES)
WORDS = ("left", "left-much", "left-slightly", "right", "right-much", "right-slightly", "tie", "both-bad")


def crowd(count: int, *, tie: float = 0.6, much: float = np.inf, seed: int = 1) -> list[Comparison]:
    """Answers with ties below `tie` and, where `much` is finite, with strengths."""
    rng = np.random.default_rng(seed)
    truth = FEATURES @ [1.0, -0.5] + rng.normal(size=20)
    made = []
    for _ in range(count):
        left, right = rng.choice(20, 2, replace=False)
        seen = truth[left] - truth[right] + rng.logistic()
        side = "left" if seen > 0 else "right"
        if np.isfinite(much):
            side += "-much" if abs(seen) > much else "-slightly"
        answer: Any = "tie" if abs(seen) < tie else side
        made.append(Comparison(str(left), str(right), answer))
    return made


def test_every_kind_is_stored_exported_and_read_again(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=address) as study:
        for answer in WORDS:
            query = study.ask("ada")
            study.tell(query.id, answer)
        assert [one.outcome for one in study.comparisons()] == list(WORDS)
        assert study.annotators() == {"ada": len(WORDS)}
    with Study.open(address) as study:
        given = study.comparisons()
        assert [one.outcome for one in given] == list(WORDS)
        assert study.history()["winner"] == list(WORDS)
        assert read_comparisons(write_comparisons("plain", given)).comparisons == given
        arena = [one.outcome for one in read_comparisons(write_comparisons("arena", given)).comparisons]
        assert arena == ["left", "left", "left", "right", "right", "right", "tie", "both-bad"]
        assert study.known([one._replace(left=one.right, right=one.left) for one in given]) == 2  # ties have no sides
        other = Study.create(ITEMS)
        assert other.record(given) == len(WORDS)
        np.testing.assert_array_equal(other.scores(), study.scores())


def test_a_column_of_strengths_belongs_to_the_winner_whose_side_or_id_is_given() -> None:
    table: dict[str, list[Any]] = {
        "left": ["a", "a", "a", "a"],
        "right": ["b", "b", "b", "b"],
        "winner": ["b", "a", "a", "a"],
        "strength": ["much", "slightly", "", None],
    }
    found = [one.outcome for one in read_comparisons(table, Reading("plain")).comparisons]
    assert found == ["right-much", "left-slightly", "left", "left"]
    for winner, strength, message in (
        ("a", "hugely", "row 2: unknown strength 'hugely'; it is much or slightly"),
        ("tie", "much", "row 2: the winner 'tie' takes no strength"),
        ("left-much", "much", "row 2: the winner 'left-much' takes no strength"),
    ):
        wrong = {
            "left": ["a", "a"],
            "right": ["b", "b"],
            "winner": ["left", winner],
            "strength": ["", strength],
        }
        with pytest.raises(InvalidInput, match=message):
            read_comparisons(wrong)


def test_where_ties_are_no_answers_both_bad_is_none_either() -> None:
    study = Study.create(ITEMS)
    study.set_rules(ties=False)
    query = study.ask()
    for answer in ("tie", "both-bad"):
        with pytest.raises(InvalidInput, match="ties are no answer"):
            study.tell(query.id, answer)
    study.tell(query.id, "left-much")


def test_both_bad_is_a_tie_to_the_fit() -> None:
    given = crowd(60)
    ties, bad = Study.create(ITEMS), Study.create(ITEMS)
    ties.record(given)
    bad.record([one._replace(outcome="both-bad") if one.outcome == "tie" else one for one in given])
    np.testing.assert_array_equal(ties.scores(), bad.scores())


@pytest.mark.parametrize("fixed", [{}, {"coefficient_variance": 2.0, "item_variance": 1.0}], ids=["fitted", "fixed"])
def test_thresholds_come_with_the_first_fit_after_one_answer_per_item(tmp_path: Path, fixed: dict[str, float]) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=address, **fixed) as study:  # type: ignore[arg-type]
        given = crowd(300)
        halves = Study.create(ITEMS, likelihood="logistic", **fixed)  # type: ignore[arg-type]
        study.record(given[:19])
        halves.record(given[:19])
        assert study.likelihood() == Cumulative()
        np.testing.assert_allclose(study.scores(), halves.scores(), atol=1e-3)
        study.record(given[19:])
        halves.record(given[19:])
        found = study.likelihood()
        assert isinstance(found, Cumulative)
        assert 0.4 < found.tie < 0.9
        assert found.slight == 0.0
        assert halves.likelihood() is LOGISTIC
        # Half wins make people look noisier than they are, so they shrink the scores.
        assert np.std(study.scores()) > 1.1 * np.std(halves.scores())
        scores = study.scores()
        query = study.ask("ada")
    with Study.open(address) as again:
        assert again.likelihood() == found
        np.testing.assert_array_equal(again.scores(), scores)
        assert again.ask("ada") == query


def test_strengths_tell_more_than_sides() -> None:
    given = crowd(400, tie=0.0, much=2.0)
    truth = FEATURES @ [1.0, -0.5] + np.random.default_rng(1).normal(size=20)
    strong, sides = Study.create(ITEMS), Study.create(ITEMS, likelihood="logistic")
    for study in (strong, sides):
        study.record(given)
    found: Any = strong.likelihood()
    assert found.tie == 0.0
    assert found.slight == pytest.approx(2.0, rel=0.2)
    left, right = np.triu_indices(20, 1)
    chance = expit(truth[left] - truth[right])

    def miss(study: Study) -> tuple[float, float]:
        mean, variance = study.posterior().belief.differences(left, right)
        return float(np.abs(expit(mean) - chance).mean()), float(variance.mean())

    assert miss(strong)[0] < miss(sides)[0]
    assert miss(strong)[1] < miss(sides)[1]


def test_davidson_is_another_choice_and_sequential_models_have_none() -> None:
    study = Study.create(ITEMS, likelihood="davidson")
    study.record(crowd(200))
    found = study.likelihood()
    assert isinstance(found, Davidson)
    assert found.tie > 0.3
    with pytest.raises(InvalidInput, match="has a likelihood of its own"):
        Study.create(ITEMS, algorithm="trueskill").likelihood()
