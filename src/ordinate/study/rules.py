"""What the owner of a study may change while people answer, and what the owner sees. Each change is a log entry."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, get_args

from ordinate.data.cells import listed, text
from ordinate.data.lookalikes import suggestion
from ordinate.data.names import annotator_name
from ordinate.errors import InvalidInput, UnknownItem
from ordinate.learning.forecast import ROUND_TARGETS
from ordinate.storage import timestamp
from ordinate.study import practice
from ordinate.study.aim import ORDER, checked_aim
from ordinate.study.practice import Practice, PracticeScore

Theme = Literal["auto", "light", "dark"]
Role = Literal["owner", "viewer", "annotator"]
"""What a link lets one do: all, see the results, or judge."""
Stage = Literal["running", "paused", "over", "finished"]
"""Whether a study gives out pairs, and if not, why: paused by its owner, the deadline has passed, or a rule is met."""
RANDOM_SHARE = 0.1
"""Of the questions of a new study. Chosen pairs alone hardly tell how large differences are."""
_LONGEST_LEASE = 366 * 24 * 3600
_LARGEST = 2**53


@dataclass(frozen=True)
class Rules:
    """What the owner of a study has set. By default nothing expires and nothing is limited.

    aim               what the study is to find out: the whole order, or some of the items; see aim.py
    lease             seconds for which an annotator holds a pair; None: until it is closed
    annotator_budget  answers that each annotator is asked for; None: no limit
    budget            answers that count that the study asks for; None: no limit
    target            expected error that the study is to reach; it is finished once the true error is at most that
                      with 95 %; None: none is set
    cuts              the last rank of each grade but the last one, where items are to be graded; see learning/grades.py
    misplaced         share of items that may be in the wrong grade, where there are cuts; the study is finished once
                      it is at most that with 95 %; None: none is set
    repeat            share of queries that ask an annotator's earlier pair again with the sides swapped
    random            share of queries with a pair drawn at random, since chosen pairs hardly tell how large differences
                      are, or whether answers are better than coin tosses
    after_models      whether people are asked about pairs of which models are unsure, and one in five to check the
                      models, as long as there are any; see mixing.py
    ties              whether "tie" and "both-bad" are answers
    strengths         whether annotators are asked how much better the chosen item is
    again             whether a pair comes back to an annotator once nothing new is left for them
    variety           a pair without the items of the annotator's newest one is preferred if its utility is at least
                      this share of the best pair's; None: always the best pair
    paused            whether no pairs are given out for now
    theme             of the judging page; "auto": as on the annotator's device
    brightness, contrast  of the pictures on the judging page, in percent; annotators may change both
    invert            whether these pictures are negatives at first
    markdown          whether the texts of items are Markdown
    question          what annotators are asked; None: as when the study was created
    guidelines        what annotators can read up while they judge, in Markdown; None: nothing
    closing           what they read at the end, in Markdown; None: nothing of the owner's own
    seats             how many names may be given by shared links, all together; None: no limit
    resting           annotators who get no pairs for now; their answers count
    practice          pairs that whoever is new judges first, and that never count
    makers            (item, who made it); they are given no pair with it
    deadline          when no more pairs are given out, in ISO 8601 with its zone; None: none is set
    """

    aim: tuple[str, ...] = ORDER
    lease: float | None = None
    annotator_budget: int | None = None
    budget: int | None = None
    target: float | None = None
    cuts: tuple[int, ...] = ()
    misplaced: float | None = None
    repeat: float = 0.0
    random: float = 0.0
    after_models: bool = False
    ties: bool = True
    strengths: bool = False
    again: bool = True
    variety: float | None = None
    paused: bool = False
    theme: Theme = "auto"
    brightness: int = 100
    contrast: int = 100
    invert: bool = False
    markdown: bool = False
    question: str | None = None
    guidelines: str | None = None
    closing: str | None = None
    seats: int | None = None
    resting: tuple[str, ...] = ()
    practice: tuple[Practice, ...] = ()
    makers: tuple[tuple[str, str], ...] = ()
    deadline: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "aim", checked_aim(self.aim))
        _number("lease", self.lease, 1.0, _LONGEST_LEASE)
        for name in ("annotator_budget", "budget", "seats"):
            _number(name, getattr(self, name), 0, _LARGEST, whole=True)
        _number("target", self.target, ROUND_TARGETS[-1], 0.5)
        _number("misplaced", self.misplaced, 0.0, 1.0)
        object.__setattr__(self, "cuts", checked_cuts(self.cuts))
        for name, optional in (("repeat", False), ("random", False), ("variety", True)):
            if getattr(self, name) is None and not optional:
                raise InvalidInput(f"{name} must be a number from 0 to 1, not null")
            _number(name, getattr(self, name), 0.0, 1.0)
        for name, most in (("brightness", 300), ("contrast", 400)):
            if getattr(self, name) is None:
                raise InvalidInput(f"{name} must be a number from 20 to {most}, not null")
            _number(name, getattr(self, name), 20, most, whole=True)
        for name in ("after_models", "ties", "strengths", "again", "paused", "invert", "markdown"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name} must be true or false, not {getattr(self, name)!r}")
        for name in ("question", "guidelines", "closing"):
            if getattr(self, name) is not None:
                text(name, getattr(self, name))
        object.__setattr__(self, "resting", tuple(text("a name", one) for one in listed("resting", self.resting)))
        object.__setattr__(self, "practice", practice.checked(self.practice))
        object.__setattr__(self, "makers", checked_makers(self.makers))
        object.__setattr__(self, "deadline", None if self.deadline is None else _moment("deadline", self.deadline))
        if self.theme not in get_args(Theme):
            raise InvalidInput(f"unknown theme {self.theme!r}; it is {', '.join(get_args(Theme))}")

    def lease_until(self, at: str) -> str | None:
        """When a lease that begins at this time ends; None: there are no leases."""
        return None if self.lease is None else timestamp(datetime.fromisoformat(at) + timedelta(seconds=self.lease))


class Link(NamedTuple):
    """A way into a study, and the role it gives. `id` is public; a server's signature makes it a key.

    `shared` is the id of the shared link by which the annotator came who got this one by giving a name; it ends with
    that one.
    """

    id: str
    role: Role
    annotator: str | None
    expires_at: str | None
    made_at: str
    revoked: bool
    shared: str | None = None


class Person(NamedTuple):
    """An annotator as the owner sees them, by the answers and skips that they gave in this study.

    repeats, repeats_agreed  answered pairs that were asked twice, and how many of these got the same answer
    median_ms                half of the answers took less time; None: not known
    decided, left            answers other than ties, and how many of them chose the left item
    last_answer              when the newest answer or skip was stored
    practice                 how they did on practice pairs
    model                    what answers under this name; None: a person
    """

    name: str | None
    answers: int
    skips: int
    open: int
    repeats: int
    repeats_agreed: int
    excluded: bool
    resting: bool
    median_ms: int | None
    decided: int
    left: int
    last_answer: str | None
    practice: PracticeScore
    model: str | None = None


class Basis(NamedTuple):
    """What the results of a study follow from: as long as it is the same, so are they.

    since    the position of the last entry that changed rules or items, or which annotators count, or that took back an
             answer
    answers  how many answers count
    last     the position of the last one that does, 0 without any: an answer may be taken back and given again
    """

    since: int
    answers: int
    last: int


class Progress(NamedTuple):
    """How far a study is, and one of its annotators.

    items    how many are in use
    total    how many answers count
    open     how many queries wait for an answer
    answers  how many answers the annotator gave, also where they are left out
    skips    how many pairs the annotator skipped
    basis    what results of the study follow from
    """

    items: int
    total: int
    open: int
    answers: int
    skips: int
    rules: Rules
    basis: Basis


PEOPLE: Mapping[str, Any] = {"lease": 600.0, "again": False, "variety": 0.8}
"""The rules that a study gets when it is first served, unless they were set before."""


def changed(rules: Rules, name: str, value: str) -> Rules:
    """The rules after an entry of the kind "set". Raises InvalidInput."""
    if name not in asdict(rules):
        raise InvalidInput(f"unknown rule {name!r}; there are {', '.join(asdict(rules))}")
    return replace(rules, **{name: json.loads(value)})


def differences(rules: Rules, changes: Mapping[str, Any], chosen: Collection[str] = ()) -> list[tuple[str, str]]:
    """The changes that change something, each as a name and a value in JSON. Raises InvalidInput.

    A rule of `PEOPLE` that nobody has set before (`chosen`: those that somebody has) is among them even if it stays as
    it is: that is a wish, too, and holds when the study is served.
    """
    known = asdict(rules)
    for name in changes:
        if name not in known:
            raise InvalidInput(f"unknown rule {name!r}; there are {', '.join(known)}")
    new = asdict(replace(rules, **changes))
    return [
        (name, json.dumps(new[name]))
        for name in changes
        if new[name] != known[name] or (name in PEOPLE and name not in chosen)
    ]


def checked_cuts(cuts: Any) -> tuple[int, ...]:
    """Raises InvalidInput where they are no ranks in rising order."""
    found = tuple(cuts) if isinstance(cuts, Sequence) and not isinstance(cuts, str) else (cuts,)
    for one in found:
        _number("a cut", one, 1, _LARGEST, whole=True)
    if None in found or list(found) != sorted(set(found)):
        raise InvalidInput(f"cuts are ranks in rising order, such as 10, 50; got {', '.join(map(str, found))}")
    return found


def require_known(rules: Mapping[str, Any], items: Collection[str]) -> None:
    """Raise UnknownItem where practice pairs or makers name an item that the study does not have."""
    named = [(one, f"practice pair {row}") for row, pair in enumerate(rules.get("practice", ()), 1) for one in pair[:2]]
    named += [(one[0], f"makers, row {row}") for row, one in enumerate(rules.get("makers", ()), 1)]
    for item, where in named:
        if item not in items:
            raise UnknownItem(f"{where}: the study has no item {item!r}{suggestion(item, items)}")


def checked_makers(given: Any) -> tuple[tuple[str, str], ...]:
    """Each item with somebody who made it, once. Raises InvalidInput."""
    found: dict[tuple[str, str], None] = {}
    for row, one in enumerate(listed("makers", given), start=1):
        if not isinstance(one, Sequence) or isinstance(one, str) or len(one) != 2:
            raise InvalidInput(f"makers, row {row}: give an item and who made it, not {one!r}")
        maker = annotator_name(text("a name", one[1]), f"makers, row {row}: ")
        if maker is None:
            raise InvalidInput(f"makers, row {row}: the name of who made {one[0]!r} is empty")
        found[text("an id", one[0]), maker] = None
    return tuple(found)


def _moment(name: str, value: Any) -> str:
    try:
        when = datetime.fromisoformat(value)
        if when.tzinfo is None:
            raise ValueError
        return timestamp(when)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a time with its zone, such as 2030-01-31T12:00Z, not {value!r}") from None


def _number(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    if value is None:
        return
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        end = "on" if most == _LARGEST else f"to {most:g}"
        raise InvalidInput(f"{name} must be a {'whole ' if whole else ''}number from {least:g} {end}, not {value!r}")
