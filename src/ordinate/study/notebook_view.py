"""What a notebook shows of a study: its question, how far it is, and the ordering where there are answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordinate.data.html import Html, joined, tag
from ordinate.data.html_tables import items_table, ordering_table
from ordinate.study.words import caution, count, error_in_words

if TYPE_CHECKING:
    from ordinate.study.study import Study

MOST_ITEMS = 2_000
"""Of more items the ordering takes seconds, which nobody asked for by showing a study."""


def summary(study: Study) -> Html:
    answers, people = len(study.comparisons()), len(study.annotators())
    said = f"{count(len(study.items), 'item')}, {count(answers, 'answer')} of {count(people, 'annotator')}"
    head = joined(tag("p", tag("strong", study.question)), tag("p", f"{said}; {study.settings.algorithm}."))
    if not answers:
        return joined(head, items_table(study.items, study.folder))
    if len(study.items) > MOST_ITEMS:
        return joined(head, tag("p", "The ordering is study.ordering()."))
    reliability = study.reliability()
    why, error = reliability.withheld, error_in_words(reliability.expected_error)
    expected = f"Expected error {error if why is None else f'withheld: {why}; study.check() says what to do'}."
    doubt = caution(reliability.better_than_coins, why)
    known = doubt if reliability.better_than_coins is False else f"{expected} {doubt}".rstrip()
    return joined(head, tag("p", known), ordering_table(study.ordering(), study.folder))
