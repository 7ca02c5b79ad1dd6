"""A leaderboard: items that say which model made them become a score per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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
    prompts    by how many groups the errors are clustered; None: the study has no groups, each answer is on its own
    """

    ordering: Ordering
    answers: tuple[int, ...]
    share: tuple[float, ...]
    compared: int
    prompts: int | None

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
    chosen = (left >= 0) & (right >= 0) & (left != right)
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
    cluster = group if clusters > 1 else np.arange(len(group))
    with one_thread():
        found = scores(told, len(seen), cluster)
        ranks = found.ranks(np.random.default_rng(seed))
    order = np.argsort(-found.mean, kind="stable")
    count, won = _counted(told, len(seen))
    ordering = Ordering(
        ids=tuple(known[place] for place in order),
        scores=found.mean[order],
        standard_errors=np.sqrt(np.diag(found.covariance))[order],
        intervals=ranks.of(order),
    )
    return Leaderboard(
        ordering,
        tuple(count[order].astype(int).tolist()),
        tuple((won / count)[order].tolist()),
        int(chosen.sum()),
        clusters if clusters > 1 else None,
    )


def _counted(told: Answers, models: int) -> tuple[Floats, Floats]:
    """Answers and wins, (M,) each."""
    count = np.bincount(np.concatenate([told.left, told.right]), minlength=models).astype(np.float64)
    won = np.bincount(told.left, told.outcome, models) + np.bincount(told.right, 1.0 - told.outcome, models)
    return count, won.astype(np.float64)


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
