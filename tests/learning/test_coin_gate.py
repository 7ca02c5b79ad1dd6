"""Bets against coin tosses: rarely won against coins, soon won against people."""

import math

import numpy as np
import pytest
from scipy.special import expit

from ordinate.learning.coin_gate import LEVEL, CoinGate, log_gains
from ordinate.learning.models import Answers


def answers_of(seed: int, count: int, spread: float, items: int = 40) -> tuple[np.ndarray, Answers]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 4))
    scores = spread * (features @ rng.normal(size=4) + rng.normal(size=items))
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    return features, Answers(left, right, (rng.random(count) < expit(scores[left] - scores[right])).astype(float))


def opens(features: np.ndarray, answers: Answers) -> bool:
    gate = CoinGate()
    gate.read(features, answers)
    return gate.is_open


def test_gains_by_hand() -> None:
    gains = log_gains(np.array([2.0, 2.0, 2.0]), np.array([3.0, 3.0, 3.0]), np.array([1.0, 0.0, 0.5]))
    chance = expit(0.4 * 2.0 / math.sqrt(1.0 + math.pi * 0.4**2 * 3.0 / 8.0))
    assert gains[0, 2] == pytest.approx(math.log(2 * chance))
    assert gains[1, 2] == pytest.approx(math.log(2 * (1 - chance)))
    assert not gains[2].any()


def test_against_fair_coins_no_stake_gains_on_average() -> None:
    rng = np.random.default_rng(0)
    margin, variance = rng.normal(size=9), rng.exponential(size=9)
    won, lost = (np.exp(log_gains(margin, variance, np.full(9, outcome))) for outcome in (1.0, 0.0))
    assert 0.5 * (won + lost) == pytest.approx(np.ones((9, 5)))


def test_coins_open_it_no_more_often_than_they_may() -> None:
    opened = sum(opens(*answers_of(seed, 80, 0.0, 12)) for seed in range(60))
    assert opened <= 60 * LEVEL


def test_people_open_it() -> None:
    assert sum(opens(*answers_of(seed, 200, 1.0)) for seed in range(10)) >= 9


def test_answers_that_come_one_by_one_make_the_same_bets() -> None:
    features, answers = answers_of(3, 60, 0.3)
    at_once, in_turn = CoinGate(), CoinGate()
    at_once.read(features, answers)
    for count in range(61):
        in_turn.read(features, Answers(answers.left[:count], answers.right[:count], answers.outcome[:count]))
    assert in_turn._logarithms == pytest.approx(at_once._logarithms)
    assert in_turn._highest == pytest.approx(at_once._highest)


def test_once_open_it_stays_open_and_reads_no_more() -> None:
    features, answers = answers_of(1, 400, 2.0)
    gate = CoinGate()
    gate.read(features, answers)
    done = gate._done
    assert gate.is_open
    assert done < 400
    gate.read(features, answers)
    assert gate._done == done
