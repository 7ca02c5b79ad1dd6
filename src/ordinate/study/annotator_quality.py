"""What the answers say of each annotator: sharpness, agreement, preferences, and whether they may toss coins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.ordering import Interval
from ordinate.data.pairs import pair_codes
from ordinate.learning.annotator_bias import average_lean, chosen_share
from ordinate.learning.annotators import Alone, sharpness, with_others, with_themselves
from ordinate.learning.coin_gate import people_better_than_coins
from ordinate.learning.consistency import NOTHING, share_interval
from ordinate.learning.fitted import Fitted, People, plain_fit, with_kinds
from ordinate.learning.models import Answers

FEWEST_ANSWERS = 30
"""With fewer decided answers, those left out that may be copies, an annotator cannot be told from a coin."""

INTERVALS = ("sharpness", "with_ordering", "with_themselves", "with_others", "with_people", "left", "longer")


class Annotator(NamedTuple):
    """An annotator, by the answers that count; the name None stands for all answers without a name.

    answers            how many, ties among them
    sharpness          how reliable the answers are, 1 as those of all annotators together, if they are not coin tosses;
                       with an interval of 90 %; None: without a name, or no decided answers
    coin               the probability that the answers are coin tosses; None: too few answers, of the annotator or of
                       all together, or no name
    better_than_coins  whether coin tosses would predictably give such answers with a chance of less than 1 in 20
    with_ordering      share of decided answers that agree with what all other answers say, of those about pairs of
                       which they say anything; with an interval of 90 %
    with_themselves    share of pairs answered again that got the same answer
    with_others        share of decided answers of others to the same pairs that were the same
    with_people        of a model, share of the pairs that both it and most people decided on which they agree; None: a
                       person, or there is no such pair; see mixing.py
    left               the chance to choose the left item of two equal ones; None: too few answers
    longer             the chance to choose the one that is twice as long of two that people rank equal; None: likewise,
                       or lengths are not known, or there is nobody to compare with
    weight             what differences of scores are multiplied by in the fit; 1 where the study does not weigh answers
    lean               what is added to that product for the left item; 0 where no side is preferred
    length_lean        what is added for each time that the left item is twice as long; 0 where no length is preferred
    kind               whether a person or a model answers
    """

    name: str | None
    answers: int
    sharpness: Interval | None
    coin: float | None
    better_than_coins: bool
    with_ordering: Interval | None
    with_themselves: Interval | None
    with_others: Interval | None
    with_people: Interval | None
    left: Interval | None
    longer: Interval | None
    weight: float
    lean: float
    length_lean: float
    kind: Literal["person", "machine"] = "person"


class Annotators(NamedTuple):
    """All annotators, and the chance of all together to choose the left item of two equal ones."""

    people: tuple[Annotator, ...]
    left: Interval | None

    def fields(self) -> dict[str, Any]:
        """As JSON: a row for each annotator, and three fields for each interval."""
        rows = [_flat(one._asdict()) for one in self.people]
        return {"annotators": rows, **_flat({"left": self.left})}

    def columns(self) -> dict[str, list[Any]]:
        """As a table."""
        rows = self.fields()["annotators"]
        return {name: [row[name] for row in rows] for name in rows[0]}


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if name not in INTERVALS:
            flat[name] = value
            continue
        flat |= {f"{name}{end}": None if value is None else value[k] for k, end in enumerate(("", "_low", "_high"))}
    return flat


def annotators_of(
    used: Fitted,
    features: Floats,
    answers: Answers,
    people: People,
    names: Sequence[str | None],
    with_people: Mapping[str | None, Interval | None],
    fewest: int,
    doubling: float,
    bets: NDArray[np.bool_],
) -> Annotators:
    """Of the answers (T,), as in the last fit, by annotators with these names (A,).

    with_people  of each model
    fewest       decided answers for which `coin` is given
    doubling     by how many standard deviations an item is longer that is twice as long
    bets         (T,) which answers are bet on against coin tosses
    """
    number, total, answers = people.number, len(names), with_kinds(answers)
    sharp, alone = sharpness(plain_fit(used.model, features), answers, number, people.named, people.unit)
    decided = answers.outcome != 0.5
    pairs = pair_codes(answers.left, answers.right)
    first = np.where(answers.left < answers.right, answers.outcome, 1.0 - answers.outcome)
    agrees = np.sign(alone.mean) == np.sign(answers.outcome - 0.5)
    # Nobody agrees or disagrees about items of which only this answer tells: their difference is 0 without it.
    told = decided & (np.abs(alone.mean) > NOTHING * np.sqrt(alone.variance))
    given = decided & bets
    right, compared, counted = (np.bincount(number[chosen], minlength=total) for chosen in (told & agrees, told, given))
    # A person who repeats a pair says the same of it, mostly: that is less than so many answers.
    share = np.ones(len(number)) if answers.share is None else answers.share
    worth = np.bincount(number[told], share[told], total) / np.maximum(compared, 1)
    itself, others = (count(first, number, pairs, total) for count in (with_themselves, with_others))
    gates = people_better_than_coins(features, answers.those(bets), number[bets], total)
    alpha = sharp.weight[number]
    left = _Chance(answers._replace(lean=used.by_length(people)), alone, alpha, np.ones(len(number)))
    longer, average = None, 0.0
    if (lengths := people.lengths) is not None:
        longer = _Chance(answers._replace(lean=used.by_side(people)), alone, alpha, lengths.value)
        average = longer.average(people.reference[number])

    def one(at: int) -> Annotator:
        own = number == at
        known, enough = names[at] is not None and counted[at] > 0, counted[at] >= FEWEST_ANSWERS
        return Annotator(
            names[at],
            int(own.sum()),
            Interval(*(float(part[at]) for part in sharp[2:])) if known else None,
            float(sharp.coin[at]) if known and counted[at] >= fewest else None,
            bool(gates[at]),
            share_interval(right[at] * worth[at], compared[at] * worth[at]),
            share_interval(int(itself[0][at]), int(itself[1][at])) if names[at] is not None else None,
            share_interval(int(others[0][at]), int(others[1][at])),
            with_people.get(names[at]),
            left.of(own) if enough else None,
            longer.of(own, doubling, average) if enough and longer is not None else None,
            1.0 if used.weight is None or at >= len(used.weight) else used.weight[at],
            used.side_of(at),
            used.length_of(at) * doubling,
            "machine" if people.models[at] else "person",
        )

    shown = [at for at in range(total) if (number == at).any()]
    ordered = sorted(shown, key=lambda at: (names[at] is None, names[at] or ""))
    together = np.ones(len(number), dtype=np.bool_)
    return Annotators(
        tuple(one(at) for at in ordered),
        left.of(together) if counted.sum() >= FEWEST_ANSWERS else None,
    )


class _Chance(NamedTuple):
    """What `chosen_share` takes."""

    answers: Answers
    alone: Alone
    alpha: Floats
    value: Floats

    def of(self, chosen: NDArray[np.bool_], at: float = 1.0, average: float = 0.0) -> Interval:
        return Interval(*chosen_share(*self._those(chosen), at, average))

    def average(self, chosen: NDArray[np.bool_]) -> float:
        return average_lean(*self._those(chosen))

    def _those(self, chosen: NDArray[np.bool_]) -> tuple[Answers, Alone, Floats, Floats]:
        alone = Alone(*(part[chosen] for part in self.alone))
        return self.answers.those(chosen), alone, self.alpha[chosen], self.value[chosen]
