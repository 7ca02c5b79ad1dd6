"""Whether the answers can be told from coin tosses; see `ordinate.learning.coin_gate`."""

from __future__ import annotations

from ordinate.learning.checks import Finding, StudyData, not_run


def check(data: StudyData) -> Finding:
    if data.better_than_coins is None:
        return not_run("There are no random pairs to tell by. Give the rule `random` a share such as 0.1.")
    if data.better_than_coins:
        return Finding("passed", None, None, "The answers are better than coin tosses.")
    return Finding(
        "failed",
        None,
        None,
        "The answers cannot be told from coin tosses yet.",
        "Ask more questions; where people find the differences subtle this takes ten answers per item.",
    )
