"""Whether there are enough answers for the figures to be near the truth."""

from __future__ import annotations

from ordinate.learning.annotators import worth
from ordinate.learning.checks import Finding, StudyData, not_run

PER_ITEM = 3.0
"""From here on the expected error is within 15 % of the true one in simulated studies (docs/statistics.md)."""


def check(data: StudyData) -> Finding:
    items, answers = int((data.group >= 0).sum()), worth(data.answers)
    if not items:
        return not_run("There are no items in use.")
    value = answers / items
    each = f"{answers // items:,}" if answers % items == 0 else f"{value:,.1f}"
    are = "is 1 answer" if answers == items else f"are {each} answers"
    found = f"There {are} per item ({answers:,} for {items:,} items)."
    if (stored := len(data.answers.outcome)) > answers:
        found += f" Of all {stored:,}, repeats by the same person count in part."
    if value >= PER_ITEM:
        return Finding("passed", value, PER_ITEM, found)
    more = int(PER_ITEM * items) - answers
    return Finding("failed", value, PER_ITEM, found, f"Ask {more:,} more questions: figures move much until then.")
