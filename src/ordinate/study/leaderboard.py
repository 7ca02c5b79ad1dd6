"""A leaderboard: items that say which model made them become a score per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.lookalikes import suggestion
from ordinate.data.ordering import Ordering
from ordinate.errors import InvalidInput
from ordinate.learning.leaderboard import scores
from ordinate.learning.models import Answers
from ordinate.study.fold import State
from ordinate.study.threads import one_thread


class Leaderboard(NamedTuple):
    """ordering   the models, highest first, with scores, standard errors and likely ranks
    answers    how many answers about its items each of these models has, in that order
    share      the share of them that it won, a tie counting half, in that order
    compared   answers that compare two models; the others are about two items of one model, or of none
    prompts    by how many groups the errors are clustered; None: the study has no groups, so each answer is on its own,
               but for those that are one answer together because one person gave them to a pair
    unbounded  models that won, or lost, every comparison with the others, so that no answers say how far apart they
               are. Their standard errors are nan, their likely ranks all ranks; 0 is the mean score of the others
    few_prompts  models whose scores rest on fewer than three prompts, or on one or two of them almost alone, so that
               nothing says how far they would be off on other prompts; of single answers where `prompts` is None. The
               same holds of their errors and ranks
    """

    ordering: Ordering
    answers: tuple[int, ...]
    share: tuple[float, ...]
    compared: int
    prompts: int | None
    unbounded: tuple[str, ...] = ()
    few_prompts: tuple[str, ...] = ()

    def to_columns(self) -> dict[str, list[Any]]:
        return {**self.ordering.to_columns(), "answers": list(self.answers), "share": list(self.share)}


def leaderboard(state: State, answers: Answers, by: str, seed: int) -> Leaderboard:
    """Of the items' label `by`. Raises InvalidInput where there is none, or where nothing compares the models."""
    labels = state.items.labels
    if by not in labels:
        named = f"; there are labels {', '.join(labels)}{suggestion(by, labels)}" if labels else ""
        raise InvalidInput(
            f"the items have no label {by!r}{named}. A column `model` of the table of items is kept as a label"
        )
    names = sorted({name for name in labels[by] if name is not None})
    codes = {name: number for number, name in enumerate(names)}
    code = np.array([-1 if name is None else codes[name] for name in labels[by]], dtype=np.int64)
    left, right = code[answers.left], code[answers.right]
    chosen = (left >= 0) & (right >= 0) & (left != right) & answers.telling
    told = answers.those(chosen)._replace(left=left[chosen], right=right[chosen])
    seen = np.unique(np.concatenate([told.left, told.right]))
    if len(seen) < 2:
        raise InvalidInput(f"no answer compares items of two values of {by!r}")
    known = [names[number] for number in seen]
    told = told._replace(left=np.searchsorted(seen, told.left), right=np.searchsorted(seen, told.right))
    _require_connected(told, known, by)
    grouped = state.items.group is not None
    group = state.group[answers.left[chosen]]
    clusters = len(np.unique(group)) if grouped else 0
    cluster = group if clusters > 1 else _by_person(answers.those(chosen), state.effective.annotators[chosen])
    if len(np.unique(cluster)) < 2:
        raise InvalidInput(f"only one answer compares items of two values of {by!r}; a leaderboard needs two or more")
    within = _bounded(told, len(seen))
    with one_thread():
        found = scores(told, len(seen), cluster, within)
        ranks = found.ranks(np.random.default_rng(seed))
    order = np.argsort(-found.mean, kind="stable")
    count, won = _counted(told, len(seen))
    ordering = Ordering(
        ids=tuple(known[place] for place in order),
        scores=found.mean[order],
        standard_errors=np.where(found.known, np.sqrt(np.diag(found.covariance)), np.nan)[order],
        intervals=ranks.of(order),
    )
    return Leaderboard(
        ordering,
        tuple(count[order].astype(int).tolist()),
        tuple((won / count)[order].tolist()),
        int(chosen.sum()),
        clusters if clusters > 1 else None,
        tuple(known[place] for place in order if not within[place]),
        tuple(known[place] for place in order if within[place] and not found.known[place]),
    )


def _by_person(answers: Answers, annotators: Integers) -> Integers:
    """(T,) a cluster for each answer, but one for all that somebody gave to a pair, which count as one together."""
    alone = np.arange(len(annotators))
    if answers.share is None:
        return alone
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    places = np.where(answers.share < 1.0, -1, alone)
    _, cluster = np.unique(np.column_stack([annotators, low, high, places]), axis=0, return_inverse=True)
    return cluster.reshape(-1)


def _counted(told: Answers, models: int) -> tuple[Floats, Floats]:
    """Answers and wins, (M,) each."""
    count = np.bincount(np.concatenate([told.left, told.right]), minlength=models).astype(np.float64)
    won = np.bincount(told.left, told.outcome, models) + np.bincount(told.right, 1.0 - told.outcome, models)
    return count, won.astype(np.float64)


def _bounded(told: Answers, models: int) -> NDArray[np.bool_]:
    """(M,) the largest set of models whose scores differ by finite amounts: each beat, or tied with, the others through
    some chain of answers (Ford 1957). None where no two do."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ahead, behind = told.outcome > 0.0, told.outcome < 1.0
    winner = np.concatenate([told.left[ahead], told.right[behind]])
    loser = np.concatenate([told.right[ahead], told.left[behind]])
    graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(models, models))
    _, part = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(part)
    largest: NDArray[np.bool_] = (part == sizes.argmax()) & (sizes.max() > 1)
    return largest


def _require_connected(told: Answers, names: Sequence[str], by: str) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(told.left))
    graph = coo_array((ones, (told.left, told.right)), shape=(len(names), len(names)))
    parts, part = connected_components(graph, directed=False)
    if parts > 1:
        one, other = (_some(names, np.flatnonzero(part == number)) for number in (0, 1))
        raise InvalidInput(f"no answer compares {one} with {other}, so there is no common order by {by!r}")


def _some(names: Sequence[str], chosen: Integers) -> str:
    shown = ", ".join(repr(names[number]) for number in chosen[:3])
    return shown + (f" and {len(chosen) - 3} more" if len(chosen) > 3 else "")
