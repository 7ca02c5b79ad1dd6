"""What a study is to find out: the whole order, the first or the last items of it, or those above marks.

As the rule `aim` an aim is one text or several: order; top:10; bottom:10; above:ITEM, of several marks one text each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ordinate.data.arrays import Integers
from ordinate.data.lookalikes import suggestion
from ordinate.errors import InvalidInput, UnknownItem
from ordinate.learning.membership import Wanted

ORDER = ("order",)
_MOST = 2**53


class Aim(NamedTuple):
    """size  how many items are wanted of each group     marks  the items above which items are wanted."""

    kind: Literal["order", "top", "bottom", "above"]
    size: int = 0
    marks: tuple[str, ...] = ()

    def wanted(self, rows: Mapping[str, int]) -> Wanted | None:
        """With the rows of the marks; None for the whole order."""
        if self.kind == "order":
            return None
        marks = np.array([rows[mark] for mark in self.marks], dtype=np.int64)
        return Wanted(self.size if self.kind == "top" else 0, self.size if self.kind == "bottom" else 0, marks)


def aim_of(rule: Sequence[str]) -> Aim:
    """The aim that a rule states. Raises InvalidInput."""
    parts = [(text, *text.partition(":")[::2]) for text in rule]
    kinds = {kind for _, kind, _ in parts}
    if kinds == {"above"} and all(value for *_, value in parts) and len(set(parts)) == len(parts):
        return Aim("above", marks=tuple(value for *_, value in parts))
    if len(parts) == 1:
        text, kind, value = parts[0]
        if text == "order":
            return Aim("order")
        if kind in ("top", "bottom") and value.isascii() and value.isdigit() and 0 < int(value[:17]) <= _MOST:
            return Aim(cast("Literal['top', 'bottom']", kind), int(value[:17]))
    raise InvalidInput(
        "the aim is order, top:10, bottom:10, or above:ITEM with the id of a known item, where several such marks make "
        f"grades; got {', '.join(map(repr, rule))}"
    )


def checked_aim(given: Any) -> tuple[str, ...]:
    """The rule as it is kept. Raises InvalidInput."""
    texts = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(f"the aim is a text such as top:10, or a list of texts such as above:ITEM; got {given!r}")
    aim_of(texts)
    return texts


def require_possible(rule: Sequence[str], rows: Mapping[str, int], active: Integers, groups: Sequence[str]) -> None:
    """Raise UnknownItem or InvalidInput where the items do not allow this aim.

    rows    of the items by id
    active  (n,) the code of each item's group, negative where the item is excluded
    groups  the name of each item's group; empty where there are no groups
    """
    aim = aim_of(rule)
    for mark in aim.marks:
        if mark not in rows:
            raise UnknownItem(f"the study has no item {mark!r} to be a mark of the aim{suggestion(mark, rows)}")
        if active[rows[mark]] < 0:
            raise InvalidInput(f"item {mark!r} is excluded, so it cannot be a mark of the aim; include it first")
    if (group := unmarked_group(rule, rows, active, groups)) is not None:
        raise InvalidInput(
            f"group {group!r} has no mark, and nothing compares groups: give the aim above:ITEM for an item of "
            "each group"
        )
    if aim.size:
        require_more(aim.size, f"the aim {rule[0]}", active, groups)


def require_more(size: int, what: str, active: Integers, groups: Sequence[str]) -> None:
    """Raise InvalidInput where no group has more items in use than `size`; the others are as in `require_possible`."""
    if (most := int(np.bincount(active[active >= 0]).max(initial=0))) <= size:
        where = "no group has more than" if groups else "there are only"
        raise InvalidInput(f"{what} leaves nothing to find out: {where} {most:,} items")


def unmarked_group(rule: Sequence[str], rows: Mapping[str, int], active: Integers, groups: Sequence[str]) -> str | None:
    """The first group with items in use and no mark, where the aim is of marks: what is wanted of it is not said."""
    aim = aim_of(rule)
    if not aim.marks:
        return None
    marked = active[[rows[mark] for mark in aim.marks]]
    without = np.flatnonzero((active >= 0) & ~np.isin(active, marked))
    return groups[without[0]] if without.size else None
