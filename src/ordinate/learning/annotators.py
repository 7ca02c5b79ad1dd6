"""How sharp each annotator is, and who may be tossing coins.

A  annotators     T  decided answers     y  1 where left won, 0 where right won     m, v  mean and variance of a margin

Annotator a answers with probability sigma(alpha_a m), m the difference of the scores (plus a lean to the left, where
the answers have one). Either alpha_a = 0, a coin, with
probability pi, or log alpha_a ~ N(0, tau^2). Scores and people are found in turns:
  - the fit with margins alpha (f_left - f_right);
  - what the fit says of each answer's margin without that answer (`left_out`);
  - each alpha's posterior, on a grid, from the annotator's own answers. pi ~ Beta(1, 6) and tau ~ U(0, 0.6) have a
    posterior too, from all annotators: where people hardly differ, or answered little, nobody is weighed for noise;
  - alpha = (1 - P(coin)) E[alpha | no coin], scaled so that the geometric mean over honest answers is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.left_out import left_out_by
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.ranks import LEVEL

FEWEST = 3
"""With fewer annotators nobody can say whose answers are the better ones."""
_GRID = np.linspace(-2.0, 2.0, 81)
"""Of log alpha."""
_COINS = 1.0 - (1.0 - (np.arange(12) + 0.5) / 12.0) ** (1.0 / 6.0)
"""Values of pi that are equally likely before any answer."""
_DEVIATIONS = 0.6 * (np.arange(12) + 0.5) / 12.0
"""Values of tau that are. Were larger ones possible, coins would pass for people of little sharpness."""
_ROUNDS = 10
_STEP = 0.05
"""Weights are found to 5 %, so that rounding does not matter and every machine finds the same."""
_LEAST = 0.05
"""A smaller weight is 0."""
_INDEPENDENT = 0.1
"""Up to this correlation several answers of one person to a pair are several answers."""
_ALIKE = 0.9
"""Where so many of the answers to pairs that had one are the same again, they may be that one. Whoever is so sure of a
pair tells soon enough by one answer to it."""
_SEQUENCE = 20
"""So many answers in a row that were there before, in the same order, were stored again."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Of a hash of a sequence: large and odd."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What answers are fitted with: this model and these features (n, k)."""

    model: SiteModel
    features: Floats


class Sharpness(NamedTuple):
    """Each (A,).

    weight  what margins are multiplied by in a fit; 1 where nothing is known
    coin    P(coin)
    alpha   E[alpha | no coin], and the 5 % and 95 % quantiles of that distribution
    """

    weight: Floats
    coin: Floats
    alpha: Floats
    low: Floats
    high: Floats


class Alone(NamedTuple):
    """What all other answers say of the margin of each answer (T,), in units of the scores."""

    mean: Floats
    variance: Floats


def sharpness(
    fit: Fit, answers: Answers, annotators: Integers, named: NDArray[np.bool_], unit: NDArray[np.bool_] | None = None
) -> tuple[Sharpness, Alone]:
    """Of annotators 0, 1, ...; `named` (A,): who is one person. The others, such as answers without a name, weigh 1.

    unit  (A,) of whom the geometric mean over honest answers is 1; None: of those with a name
    """
    people, unit = len(named), named if unit is None else unit
    weight = np.ones(people)
    for _ in range(_ROUNDS):
        alone = without_itself(fit, answers, weight[annotators])
        sharp = _scaled(by_own_answers(answers, annotators, alone, named), answers, annotators, unit)
        before, weight = weight, np.where(named, sharp.weight, 1.0)
        if np.array_equal(before, weight):
            break
    return sharp._replace(weight=weight), alone


def without_itself(fit: Fit, answers: Answers, alpha: Floats) -> Alone:
    """Of every answer, in the fit where the answers' margins are multiplied by these alpha (T,)."""
    return Alone(*left_out_by(fit.model, fit.features, answers._replace(sharpness=alpha))[:2])


def by_own_answers(answers: Answers, annotators: Integers, alone: Alone, named: NDArray[np.bool_]) -> Sharpness:
    """Posteriors on a grid; `named` (A,): whose answers tell of pi and tau. Weights are 1."""
    from scipy.special import log_expit, logsumexp

    people, decided = len(named), answers.outcome != 0.5
    sign = np.sign(answers.outcome - 0.5)[decided]
    size = np.ones(len(sign)) if answers.share is None else answers.share[decided]
    lean = np.zeros(len(sign)) if answers.lean is None else answers.lean[decided]
    who, mean, variance = annotators[decided], alone.mean[decided], alone.variance[decided]
    likelihood = np.empty((people, len(_GRID)))
    for place, alpha in enumerate(np.exp(_GRID)):
        margin = (alpha * mean + lean) / np.sqrt(1.0 + math.pi * alpha * alpha * variance / 8.0)
        likelihood[:, place] = np.bincount(who, size * log_expit(sign * margin), people)
    # In bets against alpha = 0, which leaves the lean alone: a coin's likelihood is 1.
    likelihood -= np.bincount(who, size * log_expit(sign * lean), people)[:, None]
    prior = -0.5 * np.square(_GRID / _DEVIATIONS[:, None])
    prior -= logsumexp(prior, axis=1)[:, None]
    honest = logsumexp(likelihood[:, None, :] + prior, axis=2)  # (A, tau)
    log_coin, log_no_coin = np.log(_COINS)[:, None], np.log1p(-_COINS)[:, None]
    either = np.logaddexp(log_coin, log_no_coin + honest[:, None, :])  # (A, pi, tau)
    both = either[named].sum(axis=0)
    both = np.exp(both - logsumexp(both))  # (pi, tau), the posterior
    coin = (np.exp(log_coin - either) * both).sum(axis=(1, 2))
    no_coin = (np.exp(log_no_coin + honest[:, None, :] - either) * both).sum(axis=1)  # (A, tau)
    of_tau = np.exp(likelihood[:, None, :] + prior - honest[:, :, None])
    mass = np.einsum("at,atg->ag", no_coin, of_tau) / no_coin.sum(axis=1)[:, None]
    low, high = (np.exp(_quantile(mass, level)) for level in (0.05, 0.95))
    return Sharpness(np.ones(people), coin, mass @ np.exp(_GRID), low, high)


def _scaled(sharp: Sharpness, answers: Answers, annotators: Integers, unit: NDArray[np.bool_]) -> Sharpness:
    """In the unit in which the geometric mean of alpha over the honest answers of these people (A,) is 1.

    Weights are on a grid of 5 %.
    """
    decided = annotators[answers.outcome != 0.5]
    honest = np.bincount(decided, minlength=len(unit)) * (1.0 - sharp.coin) * unit
    mean = math.exp(float(honest @ np.log(sharp.alpha)) / float(honest.sum())) if honest.sum() > 0.0 else 1.0
    weight = (1.0 - sharp.coin) * sharp.alpha / mean
    weight = np.where(weight < _LEAST, 0.0, np.exp(_STEP * np.rint(np.log(np.maximum(weight, _LEAST)) / _STEP)))
    return Sharpness(weight, sharp.coin, sharp.alpha / mean, sharp.low / mean, sharp.high / mean)


def _quantile(mass: Floats, level: float) -> Floats:
    """(A,) of distributions on the grid (A, g), between its points."""
    below = np.cumsum(mass, axis=1) - 0.5 * mass
    return np.array([float(np.interp(level, row, _GRID)) for row in below])


class Repeats(NamedTuple):
    """What answers of one person to the same pair are worth.

    share        (T,) how much of an answer each is: k of them are k / (1 + (k - 1) correlation) answers
    correlation  of these answers, beyond what the pair explains
    first        (T,) which answers are the first of their person to their pair; of people without a name all
    """

    share: Floats
    correlation: float
    first: NDArray[np.bool_]


def repeats(outcome: Floats, annotators: Integers, pairs: Integers, named: NDArray[np.bool_]) -> Repeats | None:
    """Of answers (T,) to pairs: where one person's answers to a pair are alike, they are hardly more than one answer.

    outcome  (T,) of the item with the lower row
    pairs    (T,) a number for each pair, the product of the largest with the number of annotators below 2^63

    None where all count fully: nobody repeats a pair, or there is only one person, whose own noise is all there is.
    """
    if int(named.sum()) < 2:
        return None
    key = annotators * (int(pairs.max(initial=0)) + 1) + pairs
    ascending = np.sort(key)
    if not (ascending[1:] == ascending[:-1]).any():
        return None
    _, begin, run, of_run = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    run = run.reshape(-1)
    times = np.where(named[annotators], of_run[run], 1)
    if times.max(initial=1) == 1:
        return None
    decided = (outcome != 0.5) & named[annotators]
    correlation = _correlation(outcome[decided], run[decided], pairs[decided])
    first = (begin[run] == np.arange(len(run))) | ~named[annotators]
    return Repeats(1.0 / (1.0 + (times - 1.0) * correlation), correlation, first)


def _correlation(outcome: Floats, run: Integers, pairs: Integers) -> float:
    """The upper end (90 %) of the correlation of answers (D,) of one run, a person's answers to a pair.

    Were all answers to a pair independent, the runs about it would win alike, and Pearson's X^2 of homogeneity would be
    that of chance. With a correlation rho each run of n adds (1 - n / N) (1 + (n - 1) rho) to its mean, N the answers
    to the pair (Donner 1989). 1 where nothing tells: a pair is judged by one person, or by all alike.
    """
    from scipy.special import gammaincinv

    _, first, run, size = np.unique(run, return_index=True, return_inverse=True, return_counts=True)
    _, pair = np.unique(pairs[first], return_inverse=True)
    pair, won = pair.reshape(-1), np.bincount(run.reshape(-1), outcome, len(size))
    runs, total, wins = np.bincount(pair), np.bincount(pair, size), np.bincount(pair, won)
    chance = wins / total
    telling = ((chance > 0.0) & (chance < 1.0) & (runs > 1) & (total > runs))[pair]
    pair, size, won = pair[telling], size[telling], won[telling]
    if not len(pair):
        return 1.0
    expected, free = chance[pair], len(pair) - len(np.unique(pair))
    found = float((size * np.square(won / size - expected) / (expected * (1.0 - expected))).sum())
    slope = float(((1.0 - size / total[pair]) * (size - 1.0)).sum())
    highest = found * free / (2.0 * float(gammaincinv(free / 2.0, 1.0 - LEVEL)))
    return min(max((highest - free) / slope, 0.0), 1.0)


def worth(answers: Answers) -> int:
    """So many answers that are independent say as much: one person's to the same pair are fewer."""
    return len(answers.outcome) if answers.share is None else round(float(answers.share.sum()))


def independent(answers: Answers, annotators: Integers) -> NDArray[np.bool_]:
    """(T,) all answers but those that were stored again, and those in which people repeat what they said of a pair."""
    kept = ~stored_again(answers, annotators)
    if answers.share is None:
        return kept
    first = _first_of_pair(answers, annotators)
    others = np.bincount(first, minlength=len(first))[first] - 1
    correlated = 1.0 / answers.share - 1.0 > _INDEPENDENT * others
    found: NDArray[np.bool_] = kept & ~(correlated & (first != np.arange(len(first))))
    return found


def may_be_copies(
    answers: Answers,
    annotators: Integers,
    named: NDArray[np.bool_],
    recorded: NDArray[np.bool_],
    repeated: Repeats | None,
) -> NDArray[np.bool_]:
    """(T,) which of the recorded answers may be earlier ones that were stored again.

    named     (A,) who is one person; answers of the others to a pair may be those of as many people
    recorded  (T,) which came from elsewhere; whoever answers queries was asked anew
    repeated  what `repeats` says of these answers
    """
    copies = np.zeros(len(recorded), dtype=np.bool_)
    rows = np.flatnonzero(recorded)
    copies[rows] = stored_again(answers.those(rows), annotators[rows])
    first = _first_of_pair(answers, annotators)
    again = recorded & ~copies & (first != np.arange(len(first)))
    if repeated is not None and repeated.correlation <= _INDEPENDENT:
        again &= ~named[annotators]
    won = np.where(answers.left < answers.right, answers.outcome, 1.0 - answers.outcome)
    same = won == won[first]
    for people in (named[annotators], ~named[annotators]):
        own = again & people
        if own.any() and same[own].mean() >= _ALIKE:
            copies |= own
    return copies


def stored_again(answers: Answers, annotators: Integers) -> NDArray[np.bool_]:
    """Which answers are equal to earlier ones, where a sequence of them or all that somebody answered was stored again.

    If it was all, each answer, such as a before b, is there a multiple of so many times, in any order.
    """
    sides = _coded(annotators, answers.left, answers.right)
    kind = _first_equal(3 * sides + (2.0 * answers.outcome).astype(np.int64))
    again = _in_known_sequence(kind, sides)
    rows = np.flatnonzero(~again)
    others = kind[rows]
    size = np.bincount(others, minlength=len(kind))
    order = np.argsort(others, kind="stable")
    place = np.empty(len(others), dtype=np.int64)
    place[order] = np.arange(len(others)) - (np.cumsum(size) - size)[others[order]]
    given, times = np.flatnonzero(size), np.zeros(int(annotators.max(initial=-1)) + 1, dtype=np.int64)
    np.gcd.at(times, annotators[given], size[given])
    again[rows] = place >= size[others] // times[annotators[rows]]
    return again


def _in_known_sequence(kind: Integers, sides: Integers) -> NDArray[np.bool_]:
    """(T,) which answers are in a sequence that was there before.

    kind, sides  (T,) equal where answers are, and where their annotators and items are
    """
    sequences = len(kind) - _SEQUENCE + 1
    if sequences < 2:
        return np.zeros(len(kind), dtype=np.bool_)
    value = np.zeros(sequences, dtype=np.uint64)
    for place in range(_SEQUENCE):
        value = value * _FACTOR + kind[place : place + sequences].astype(np.uint64)
    # In long sequences of answers to one pair, such as the counts of a table of wins, the same comes again by chance.
    changed = np.concatenate([[0], np.cumsum(sides[1:] != sides[:-1])])
    telling = changed[_SEQUENCE - 1 :] - changed[:sequences] >= _SEQUENCE // 2
    begins = np.flatnonzero(telling & (_first_equal(value) != np.arange(sequences)))
    covered = np.zeros(len(kind) + 1, dtype=np.int64)
    covered[begins] += 1
    covered[begins + _SEQUENCE] -= 1
    return np.cumsum(covered[:-1]) > 0


def _first_of_pair(answers: Answers, annotators: Integers) -> Integers:
    """(T,) the first answer of the same person to the same pair."""
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    return _first_equal(_coded(annotators, low, high))


def _coded(annotators: Integers, one: Integers, other: Integers) -> Integers:
    """A number for each person with two items; the product of the annotators and the squared items is below 2^61."""
    items = int(max(one.max(initial=0), other.max(initial=0))) + 1
    codes: Integers = (annotators * items + one) * items + other
    return codes


def _first_equal(codes: NDArray[np.integer[Any]]) -> Integers:
    """(T,) the place of the first code that is equal."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    places: Integers = first[inverse.reshape(-1)]
    return places


def with_themselves(outcome: Floats, annotators: Integers, pairs: Integers, people: int) -> tuple[Integers, Integers]:
    """(A,) how many answers to a pair that the same person had answered were the same again, and how many there are.

    outcome (T,): of the item with the lower row.
    """
    order = np.lexsort((np.arange(len(pairs)), pairs, annotators))
    who, pair, won = annotators[order], pairs[order], outcome[order]
    again = (who[1:] == who[:-1]) & (pair[1:] == pair[:-1])
    return (
        np.bincount(who[1:][again & (won[1:] == won[:-1])], minlength=people),
        np.bincount(who[1:][again], minlength=people),
    )


def with_others(outcome: Floats, annotators: Integers, pairs: Integers, people: int) -> tuple[Integers, Integers]:
    """(A,) how many decided answers of others to the same pairs were the same, and how many there are."""
    decided = outcome != 0.5
    who, (_, pair), won = annotators[decided], np.unique(pairs[decided], return_inverse=True), outcome[decided]
    pair = pair.reshape(-1)
    total, first = np.bincount(pair), np.bincount(pair, won)
    _, own_place = np.unique(who * (len(total) + 1) + pair, return_inverse=True)
    own_place = own_place.reshape(-1)
    own, own_first = np.bincount(own_place)[own_place], np.bincount(own_place, won)[own_place]
    others = total[pair] - own
    others_first = np.rint(first[pair] - own_first).astype(np.int64)
    same = np.where(won == 1.0, others_first, others - others_first)
    return (
        np.rint(np.bincount(who, same, people)).astype(np.int64),
        np.rint(np.bincount(who, others, people)).astype(np.int64),
    )
