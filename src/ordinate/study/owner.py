"""What the owner of a study does: items, recorded comparisons, exclusions, rules, links, a look at the annotators."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from ordinate import algorithms
from ordinate.data.cells import listed
from ordinate.data.comparisons import OUTCOME_VALUES, Comparison, swapped
from ordinate.data.items import Items
from ordinate.data.joining import joined
from ordinate.data.lookalikes import suggestion
from ordinate.data.names import annotator_name, caseless
from ordinate.data.scaling import require_differences
from ordinate.errors import InvalidInput, NameTaken
from ordinate.storage import Entry, Settings
from ordinate.study import leases, practice
from ordinate.study.aim import ORDER, aim_of, checked_aim, require_more, require_possible, unmarked_group
from ordinate.study.fold import State
from ordinate.study.ledger import Transaction
from ordinate.study.machines import Machine
from ordinate.study.rules import Basis, Link, Person, Progress, Role, differences, require_known


def add_items(transaction: Transaction, settings: Settings, items: Items) -> None:
    require_addable(transaction.state, settings, items)
    transaction.append("add-items", items)


def require_addable(state: State, settings: Settings, items: Items) -> None:
    together = joined(state.items, items)
    algorithms.require_size(settings.algorithm, len(together))
    if settings.scaling == "none":
        require_differences(together.features)
    rows = dict(zip(together.ids, range(len(together)), strict=True)) if state.rules.aim != ORDER else {}
    active = np.concatenate([state.active, state.group_codes(items)])
    if (group := unmarked_group(state.rules.aim, rows, active, together.group or ())) is not None:
        raise InvalidInput(
            f"group {group!r} is new and has no mark of the study's aim, so nothing would say which of its items are "
            "wanted; set the aim to order, add the items, and then name a mark of each group"
        )


def record(transaction: Transaction, comparisons: Sequence[Comparison], several: bool) -> None:
    """`several`: an error names the row of the comparison."""
    state, grouped = transaction.state, transaction.state.items.group is not None
    names: dict[str | None, str | None] = {}
    new: dict[str, str] = {}
    for row, comparison in enumerate(comparisons, start=1):
        # There may be millions, so only what needs a closer look is checked by a call.
        if grouped or comparison.left not in state.rows or comparison.right not in state.rows:
            state.check_pair(comparison, f"row {row}: " if several else "")
        if (given := comparison.annotator) not in names:
            name = state.name_of(given, f"row {row}: " if several else "")
            names[given] = name if name is None or name in state.names else new.setdefault(caseless(name), name)
    if any(given != name for given, name in names.items()):
        comparisons = [one._replace(annotator=names[one.annotator]) for one in comparisons]
    transaction.record(comparisons)


def set_rules(transaction: Transaction, changes: Mapping[str, Any]) -> None:
    state = transaction.state
    if "resting" in changes:
        names = map(state.name_of, listed("resting", changes["resting"]))
        changes = {**changes, "resting": tuple(dict.fromkeys(name for name in names if name is not None))}
    changed = differences(state.rules, changes, state.chosen_rules)
    if any(name == "aim" for name, _ in changed):
        require_possible(checked_aim(changes["aim"]), state.rows, state.active, state.items.group or ())
    after = replace(state.rules, **changes)
    if any(name == "cuts" for name, _ in changed) and after.cuts:
        require_more(after.cuts[0], f"the cut {after.cuts[0]}", state.active, state.items.group or ())
    require_known({name: json.loads(value) for name, value in changed}, state.rows)
    if any(name in ("practice", "ties") for name, _ in changed):
        practice.require_possible(after.practice, after.ties, state.rows, state.items.group)
    transaction.append_all("set", ({"name": name, "value": value} for name, value in changed))


def set_first_rules(transaction: Transaction, rules: Mapping[str, Any]) -> None:
    """Set those of these rules that were never set."""
    set_rules(transaction, {name: value for name, value in rules.items() if name not in transaction.state.chosen_rules})


def make_link(transaction: Transaction, name: str, role: Role, annotator: str | None, expires_at: str | None) -> Link:
    """The link of this name, new where there is none."""
    if name not in transaction.state.links:
        whose = transaction.state.name_of(annotator)
        if name != "owner":  # which is for whoever has it, so `ordinate serve` always makes it
            _require_no_model(transaction.state, whose)
            _require_spelling(transaction.state, annotator, whose, role)
        transaction.append("link", name=name, value=role, annotator=whose, expires_at=expires_at)
    return find_link(transaction.state, name)


def _require_spelling(state: State, given: str | None, name: str | None, role: Role) -> None:
    """Raise InvalidInput where a role would go to a name that differs from the one given: a proxy may know both."""
    if name in (None, annotator_name(given)) or (role == "annotator" and state.linked.get(str(name), set()) <= {role}):
        return
    raise InvalidInput(
        f"the study has a {name!r} already, whom a link for {given!r} would make {role}. If they are the same person, "
        f"make it for {name!r}, which is then the name that a proxy must send; otherwise add something to the name"
    )


def make_links(transaction: Transaction, annotators: Sequence[str], expires_at: str | None) -> list[Link]:
    """A link for each name, once; one that is there, not revoked and with the same end, stays theirs."""
    state = transaction.state
    # Before anything is written: all or none.
    names: dict[str, str] = {}
    for row, given in enumerate(annotators, start=1):
        if (name := state.name_of(given, f"row {row}: ")) is None:
            raise InvalidInput(f"row {row}: give every annotator a name")
        _require_no_model(state, name, f"row {row}: ")
        _require_spelling(state, given, name, "annotator")
        names.setdefault(caseless(name), name)
    known = {
        entry.annotator: name
        for name, entry in state.links.items()
        if entry.key is None and entry.value == "annotator"
        if name not in state.revoked and entry.expires_at == expires_at
    }
    return [
        find_link(state, known[name])
        if name in known
        else make_link(transaction, secrets.token_hex(6), "annotator", name, expires_at)
        for name in names.values()
    ]


def _require_no_model(state: State, name: str | None, where: str = "") -> None:
    if name in state.machines:
        raise InvalidInput(f"{where}{name!r} is the name of a model; a person's link needs another name")


def claim_name(
    transaction: Transaction, given: str, link_for: Callable[[str, str], str], shared: str, earlier: str | None
) -> Link:
    """The personal link of somebody who came by a shared link and gave a name.

    Whoever gives a name first has it from then on. `link_for` says which link somebody has for a name by a shared link,
    so that they can come back; `earlier` is the name that they had before there were such links. Raises NameTaken.
    """
    state = transaction.state
    name = state.name_of(given)
    if name is None:
        raise InvalidInput("give a name")
    own = link_for(name, shared)
    if own not in state.links:
        claims = [entry for entry in state.links.values() if entry.annotator == name and entry.key is not None]
        mine = {entry.name for entry in claims if entry.name == link_for(name, str(entry.key))}
        came_before = name == earlier or (mine and not mine & state.revoked)
        if name in state.names and not came_before:
            raise NameTaken(
                f"someone is already judging as {name!r}. If that is you, go on in the browser where you "
                "began, or ask the owner of the study for a link of your own; otherwise give another name"
            )
        seats = state.rules.seats
        if seats is not None and not came_before and len(state.claimed) >= seats:
            raise NameTaken(f"all {seats} places of this study are taken; ask its owner for a link of your own")
        transaction.append("link", name=own, value="annotator", annotator=name, key=shared)
    return find_link(state, own)


def revoke_link(transaction: Transaction, name: str) -> None:
    if not find_link(transaction.state, name).revoked:
        transaction.append("revoke", name=name)


def find_link(state: State, name: str) -> Link:
    """Raises InvalidInput where there is none."""
    if name not in state.links:
        raise InvalidInput(f"the study has no link {name!r}")
    entry = state.links[name]
    role: Any = entry.value
    return Link(name, role, entry.annotator, entry.expires_at, entry.at, name in state.revoked, entry.key)


def links_of(state: State, name: str) -> list[Link]:
    """Newest first; case matters, since somebody's role depends on it."""
    if name not in state.linked:
        return []
    return [
        find_link(state, one)
        for one, entry in reversed(state.links.items())
        if entry.annotator == name and entry.key is None
    ]


def exclude_item(transaction: Transaction, item: str, excluded: bool) -> None:
    state = transaction.state
    state.row(item)
    if excluded and item in aim_of(state.rules.aim).marks:
        raise InvalidInput(f"item {item!r} is a mark of the study's aim; change the aim before you exclude it")
    if not excluded and item in state.excluded_items:
        active = state.active.copy()
        active[state.row(item)] = state.group[state.row(item)]
        if (group := unmarked_group(state.rules.aim, state.rows, active, state.items.group or ())) is not None:
            raise InvalidInput(
                f"item {item!r} is of group {group!r}, which has no mark of the study's aim; set the aim to order, "
                "include the item, and then name a mark of each group"
            )
    if excluded != (item in state.excluded_items):
        transaction.append("exclude-item" if excluded else "include-item", left=item)


def exclude_annotator(transaction: Transaction, annotator: str, excluded: bool) -> None:
    state = transaction.state
    name = state.name_of(annotator)
    if name is None:
        raise InvalidInput("answers without a name cannot be excluded together; undo them, or exclude their items")
    if not state.knows_annotator(name):
        known = [name for name in {*state.newest_asked, *state.annotators()} if name]
        raise InvalidInput(
            f"the study has no annotator {annotator!r} who was asked or has answered{suggestion(annotator, known)}"
        )
    if excluded != (name in state.excluded_annotators):
        transaction.append("exclude-annotator" if excluded else "include-annotator", annotator=name)


def add_machine(transaction: Transaction, annotator: str, machine: Machine) -> str:
    """Say that a model answers under this name; returns the name. Raises InvalidInput where another judge has it."""
    state = transaction.state
    name = state.name_of(annotator)
    if name is None:
        raise InvalidInput("a model needs a name to answer under")
    known = state.machines.get(name)
    if known is None and state.knows_annotator(name):
        raise InvalidInput(f"{name!r} has been asked or has answered as a person; give the model another name")
    if known is None and (name in state.linked or name in state.claimed):
        raise InvalidInput(f"{name!r} has a link as a person; give the model another name")
    if known not in (None, machine):
        assert known is not None
        raise InvalidInput(
            f"{name!r} is another judge: {known.difference(machine)}. Answers of two judges under one name could not "
            "be told apart; give this one another name"
        )
    if known is None:
        transaction.append("machine", annotator=name, name=machine.model, value=machine.written())
    return name


def progress(state: State, annotator: str | None, present: Collection[str | None] | None = None) -> Progress:
    """How far the study and one annotator are; `present`: whose queries count as open, None: everybody's."""
    annotator = state.name_of(annotator)
    return Progress(
        items=len(state.items) - len(state.excluded_items),
        total=len(state.effective),
        open=sum(present is None or entry.annotator in present for entry in state.open()),
        answers=state.annotators().get(annotator, 0),
        skips=skips(state, annotator),
        rules=state.rules,
        basis=_basis(state),
    )


def _basis(state: State) -> Basis:
    positions = state.effective.positions
    return Basis(state.unfinished_since, len(positions), int(positions[-1]) if len(positions) else 0)


def people(state: State) -> list[Person]:
    """Everybody who was asked, or whose answers were recorded, by name."""
    answers, agreed = state.annotators(), leases.agreement(state)
    waiting = Counter(entry.annotator for entry in state.open())
    given: dict[str | None, list[Entry]] = {}
    for entry in state.answered.values():
        given.setdefault(entry.annotator, []).append(entry)

    def one(name: str | None) -> Person:
        own = given.get(name, [])
        decided = [entry for entry in own if OUTCOME_VALUES.get(entry.answer or "") in (0.0, 1.0)]
        times = [entry.duration_ms for entry in own if entry.answer != "skip" and entry.duration_ms is not None]
        return Person(
            name,
            answers.get(name, 0),
            sum(entry.answer == "skip" for entry in own),
            waiting[name],
            *agreed.get(name, (0, 0))[::-1],
            name in state.excluded_annotators,
            name in state.rules.resting,
            round(median(times)) if times else None,
            len(decided),
            sum(OUTCOME_VALUES[entry.answer or ""] == 1.0 for entry in decided),
            max((entry.at for entry in own), default=None),
            practice.score(state, name),
            None if (machine := state.machines.get(name or "")) is None else machine.model,
        )

    known = {*state.newest_asked, *answers, *(entry.annotator for entry in state.practices)}
    return [one(name) for name in sorted(known, key=lambda name: (name is not None, name))]


def let_rest(transaction: Transaction, annotator: str, resting: bool) -> None:
    """Give this annotator no pairs for now, or go on; their answers count either way."""
    name = transaction.state.name_of(annotator)
    if name is None or not transaction.state.knows_annotator(name):
        raise InvalidInput(f"the study has no annotator {annotator!r} who was asked or has answered")
    others = tuple(one for one in transaction.state.rules.resting if one != name)
    set_rules(transaction, {"resting": (*others, name) if resting else others})


def skips(state: State, annotator: str | None) -> int:
    """How many pairs the annotator skipped."""
    return int(state.seen(annotator).skipped.sum())


def count_known(state: State, comparisons: Iterable[Comparison]) -> int:
    """How many of the comparisons the study has, from the same annotators and as often, whichever side is which."""
    names: dict[str | None, str | None] = {}
    wanted: Counter[tuple[str | None, ...]] = Counter()
    for row, one in enumerate(comparisons, start=1):
        if one.annotator not in names:
            names[one.annotator] = state.name_of(one.annotator, f"row {row}: ")
        wanted[_facts(names[one.annotator], one.left, one.right, one.outcome)] += 1
    known = (one for annotator in {facts[0] for facts in wanted} for one in state.listed(state.seen(annotator)))
    return (
        wanted & Counter(_facts(annotator, left, right, answer) for left, right, answer, annotator in known)
    ).total()


def _facts(annotator: str | None, left: str | None, right: str | None, answer: str | None) -> tuple[str | None, ...]:
    """Equal for the same comparison with the sides swapped."""
    other: Any = answer
    return (annotator, left, right, answer) if str(left) < str(right) else (annotator, right, left, swapped(other))
