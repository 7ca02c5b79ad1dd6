"""The answers of a study as a table with all that the log knows of them: a row for each, also if it does not count.

left, right, winner, annotator  as in a table of comparisons; the winner may be "skip"
group                           of the two items, if the study has groups
status                          counts, skipped, taken back, beyond the budget (a late answer), item excluded, annotator
                                excluded, or not counted
query                           the id of the query; empty for a comparison that was made elsewhere
asked_at, shown_at, answered_at, stored_at, taken_back_at    times, UTC; of the second and third, as the
                                annotator's screen said
duration_ms, reason, client     how long the annotator took, why they skipped, and what they used
repeat_of                       the id of the query whose pair was asked again on purpose
judge, tokens                   the model that answered, and how many tokens its replies took; empty for a person
by                              the owner whose program answered for the annotator
algorithm, strategy, model, utility, based_on    how the pair was chosen, and after how many entries of the log;
                                this model is that of the scores
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.storage import BEYOND_BUDGET, Entry
from ordinate.study.fold import State


def columns(entries: Sequence[Entry], state: State, token: str) -> dict[str, list[Any]]:
    """The table; `entries` are the whole log, and `state` is the state after them."""
    asked = {entry.query: entry for entry in entries if entry.kind == "ask"}
    tokens = _tokens(entries)
    answers = [entry for entry in entries if entry.kind in ("answer", "record")]
    taken_back = _taken_back(entries)
    counting = set(state.effective.positions.tolist())
    queries = [asked.get(entry.query) for entry in answers]
    statuses = [_status(entry, state, counting, taken_back) for entry in answers]

    def of_query(name: str) -> list[Any]:
        return [None if query is None else getattr(query, name) for query in queries]

    def id_of(number: int | None) -> str | None:
        return None if number is None else f"{token}-{number}"

    group = state.items.group
    return {
        "left": [entry.left for entry in answers],
        "right": [entry.right for entry in answers],
        "winner": [entry.answer for entry in answers],
        "annotator": [entry.annotator for entry in answers],
        **({} if group is None else {"group": [group[state.row(str(entry.left))] for entry in answers]}),
        "status": statuses,
        "query": [id_of(entry.query) for entry in answers],
        "asked_at": of_query("at"),
        "shown_at": [entry.shown_at for entry in answers],
        "answered_at": [entry.answered_at for entry in answers],
        "stored_at": [entry.at for entry in answers],
        "taken_back_at": [taken_back.get(entry.position) for entry in answers],
        "duration_ms": [entry.duration_ms for entry in answers],
        "reason": [entry.reason for entry in answers],
        "client": [entry.client for entry in answers],
        "repeat_of": [id_of(number) for number in of_query("repeat_of")],
        "judge": [
            machine and machine.model for machine in (state.machines.get(one.annotator or "") for one in answers)
        ],
        "tokens": [tokens.get(entry.position) for entry in answers],
        "by": [entry.by for entry in answers],
        "algorithm": of_query("algorithm"),
        "strategy": of_query("strategy"),
        "model": of_query("model"),
        "utility": of_query("utility"),
        "based_on": of_query("based_on"),
    }


def _tokens(entries: Sequence[Entry]) -> dict[int, int]:
    """Position of an answer -> the tokens that were noted after it."""
    newest: dict[int | None, int] = {}
    found = {}
    for entry in entries:
        if entry.kind == "answer":
            newest[entry.query] = entry.position
        elif entry.kind == "spend":
            found[newest[entry.query]] = int(str(entry.value))
    return found


def _taken_back(entries: Sequence[Entry]) -> dict[int, str]:
    """Position of an answer that was taken back -> when."""
    newest: dict[int | None, int] = {}
    found = {}
    for entry in entries:
        if entry.kind == "answer":
            newest[entry.query] = entry.position
        elif entry.kind == "retract":
            found[newest[entry.query]] = entry.at
    return found


def _status(entry: Entry, state: State, counting: set[int], taken_back: dict[int, str]) -> str:
    if entry.position in taken_back:
        return "taken back"
    if entry.answer == "skip":
        return "skipped"
    if entry.value == BEYOND_BUDGET:
        return BEYOND_BUDGET
    if entry.position in counting:
        return "counts"
    if entry.annotator in state.excluded_annotators:
        return "annotator excluded"
    if entry.left in state.excluded_items or entry.right in state.excluded_items:
        return "item excluded"
    return "not counted"
