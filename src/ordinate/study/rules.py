"""What the owner of a study may change while people are answering. Every change is an entry in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from ordinate.errors import InvalidInput

Theme = Literal["auto", "light", "dark"]
Role = Literal["owner", "annotator"]
_LONGEST_LEASE = 366 * 24 * 3600
_LARGEST = 2**53


@dataclass(frozen=True)
class Rules:
    """The rules of a study to which nobody has added any: nothing expires, nothing is limited.

    lease             seconds that a pair stays with the annotator who was given it; None: until it is closed
    annotator_budget  answers that each annotator is asked for; None: no limit
    budget            answers that the study asks for; None: no limit
    repeat            share of queries that ask an annotator's earlier pair again, sides swapped
    ties              whether "tie" is an answer
    again             whether a pair comes back to an annotator once nothing new is left for them
    variety           a pair without the items of the annotator's newest one is preferred while it is worth at least
                      this share of the best pair; None: the best pair, whatever came before
    paused            whether no pairs are given out at the moment
    theme             of the judging page; "auto": as the annotator's device has it
    """

    lease: float | None = None
    annotator_budget: int | None = None
    budget: int | None = None
    repeat: float = 0.0
    ties: bool = True
    again: bool = True
    variety: float | None = None
    paused: bool = False
    theme: Theme = "auto"

    def __post_init__(self) -> None:
        _number("lease", self.lease, 1.0, _LONGEST_LEASE)
        for name in ("annotator_budget", "budget"):
            _number(name, getattr(self, name), 0, _LARGEST, whole=True)
        for name, optional in (("repeat", False), ("variety", True)):
            if getattr(self, name) is None and not optional:
                raise InvalidInput(f"{name} must be a number from 0 to 1, not null")
            _number(name, getattr(self, name), 0.0, 1.0)
        for name in ("ties", "again", "paused"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name} must be true or false, not {getattr(self, name)!r}")
        if self.theme not in get_args(Theme):
            raise InvalidInput(f"unknown theme {self.theme!r}; it is {', '.join(get_args(Theme))}")


class Link(NamedTuple):
    """Who may come to a study, and as what. `id` is public; a server's signature makes it a key."""

    id: str
    role: Role
    annotator: str | None
    expires_at: str | None
    made_at: str
    revoked: bool


class Person(NamedTuple):
    """An annotator as the owner sees them: pairs asked twice, and how many of these they answered alike."""

    name: str | None
    answers: int
    skips: int
    open: int
    repeats: int
    repeats_agreed: int
    excluded: bool


PEOPLE: Mapping[str, Any] = {"lease": 600.0, "again": False, "variety": 0.8}
"""The rules that a study gets when people begin to judge it together."""


def changed(rules: Rules, name: str, value: str) -> Rules:
    """The rules after an entry of the kind "set". Raises InvalidInput."""
    if name not in asdict(rules):
        raise InvalidInput(f"unknown rule {name!r}; there are {', '.join(asdict(rules))}")
    return replace(rules, **{name: json.loads(value)})


def differences(rules: Rules, changes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The changes that change something, each as a name and a value in JSON. Raises InvalidInput."""
    known = asdict(rules)
    for name in changes:
        if name not in known:
            raise InvalidInput(f"unknown rule {name!r}; there are {', '.join(known)}")
    replace(rules, **changes)
    return [(name, json.dumps(value)) for name, value in changes.items() if value != known[name]]


def _number(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    if value is None:
        return
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise InvalidInput(
            f"{name} must be a {'whole ' if whole else ''}number from {least:g} to {most:g}, not {value!r}"
        )
