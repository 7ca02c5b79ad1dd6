"""What a report says, gathered from a study at one moment."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

from ordinate import __version__
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.ordering import Ordering
from ordinate.errors import InvalidInput
from ordinate.learning.forecast import Forecast
from ordinate.learning.models.map_estimate import Prior
from ordinate.storage import Settings
from ordinate.study.annotator_quality import Annotators
from ordinate.study.checking import Verdict
from ordinate.study.results import Reliability
from ordinate.study.rules import Rules
from ordinate.study.study import Study

_MANY_ITEMS, _MANY_ANSWERS = 500, 10_000
_AT_RANDOM = repr(Uniform())
_FEW_STEPS = 6
"""Of the history of the expected error, with more items or answers: each takes a fit."""


class Sources(NamedTuple):
    """Of the comparisons that count, how many are answers about pairs that the algorithm chose, that were drawn at
    random, and that were asked again on purpose; the others were imported."""

    chosen: int
    random: int
    again: int
    imported: int


@dataclass(frozen=True)
class Contents:
    """made  when
    quality  what the answers say of each annotator
    first, last  times of the first and of the last answer to a question of the study; None: all were imported
    history  (answers, expected error); None where that is withheld
    """

    made: datetime
    settings: Settings
    rules: Rules
    items: Items
    ordering: Ordering
    verdict: Verdict
    reliability: Reliability
    history: Sequence[tuple[int, float]]
    forecast: Forecast
    forecast_of_aim: Forecast | None
    comparisons: Sequence[Comparison]
    sources: Sources
    quality: Annotators
    prior: Prior | None
    first: str | None
    last: str | None
    skips: int
    excluded_items: Sequence[str]
    excluded_annotators: Sequence[str]
    repeats: tuple[int, int]
    versions: dict[str, str]

    @property
    def question(self) -> str:
        """What annotators are asked now; `settings.question` is what they were asked first."""
        return self.rules.question or self.settings.question


def gather(study: Study, made: datetime | None = None) -> Contents:
    """Raises InvalidInput without answers."""
    with study.unchanged():
        comparisons = study.comparisons()
        if not comparisons:
            raise InvalidInput("the study has no answers that count yet, so there is nothing to report")
        answered = study.answered()
        many = len(study.items) > _MANY_ITEMS or len(comparisons) > _MANY_ANSWERS
        try:
            prior = study.prior_variances()
        except InvalidInput:
            prior = None
        return Contents(
            made=made or datetime.now(UTC),
            settings=study.settings,
            rules=study.rules,
            items=study.items,
            ordering=study.ordering(),
            verdict=study.check(),
            reliability=study.reliability(),
            history=study.error_history(steps=_FEW_STEPS) if many else study.error_history(),
            forecast=study.forecast(),
            forecast_of_aim=study.forecast_of_aim(),
            comparisons=comparisons,
            sources=_sources(study),
            quality=study.annotator_quality(),
            prior=prior,
            first=answered[0].at if answered else None,
            last=answered[-1].at if answered else None,
            skips=sum(entry.answer == "skip" for entry in answered),
            excluded_items=study.excluded_items,
            excluded_annotators=study.excluded_annotators,
            repeats=study.agreement(),
            versions={
                "ordinate": __version__,
                "Python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "scipy", "numba")},
                "platform": f"{platform.system()} {platform.machine()}, {sys.byteorder}-endian",
            },
        )


def _sources(study: Study) -> Sources:
    history = study.history()
    named = zip(history["status"], history["query"], history["repeat_of"], history["strategy"], strict=True)
    found = Counter(
        "imported" if query is None else "again" if repeat_of else "random" if strategy == _AT_RANDOM else "chosen"
        for status, query, repeat_of, strategy in named
        if status == "counts"
    )
    return Sources(*(found[name] for name in Sources._fields))
