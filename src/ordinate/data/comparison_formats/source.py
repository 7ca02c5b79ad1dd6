"""What a format reads, a table, and what it makes of it: the columns left, right, winner and others of our own form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from shlex import quote
from typing import Any, NamedTuple

from ordinate.data.cells import id_text, is_missing
from ordinate.data.comparisons import Comparison, plain_outcome
from ordinate.data.items import Items
from ordinate.data.lookalikes import appearance, suggestion
from ordinate.data.name_lists import as_text
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput


class NoWinner(Enum):
    """What a format may have in place of a winner: there is no answer to record."""

    LEFT_OUT = "left out"


LEFT_OUT = NoWinner.LEFT_OUT


@dataclass
class Source:
    """The columns of a table, of which it is noted which are read.

    names   the columns that the user gave for fields
    words   what the user said that words in the column of winners stand for; None: nothing
    used    the columns that were read
    asked   the fields whose columns the format asked for
    """

    columns: Columns
    names: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] | None = None
    used: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    words_used: bool = False

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def get(self, name: str, *usual: str) -> list[Any] | None:
        """The column of a field: the one that the user named, or the first of the usual ones that is there."""
        chosen = self.named(name)
        if chosen is not None and chosen not in self.columns:
            raise InvalidInput(
                f"there is no column {chosen!r}, which was named for {name!r}{suggestion(chosen, self.columns)}"
            )
        found = chosen or next((one for one in usual if one in self.columns), None)
        if found is None:
            return None
        self.used.add(found)
        return list(self.columns[found])

    def named(self, name: str) -> str | None:
        """What the user named for a field: a column, or what a format has in its place, such as a key."""
        self.asked.add(name)
        return self.names.get(name)

    def need(self, name: str, *usual: str) -> list[Any]:
        """`get`, where the format cannot do without the column."""
        found = self.get(name, *usual)
        if found is None:
            raise InvalidInput(
                f"no column {' or '.join(map(repr, usual)) or repr(name)}; the table has "
                f"{', '.join(map(repr, self.columns)) or 'no columns'}"
            ).with_option(f"if another column holds it: --map {name}=COLUMN")
        return found

    def meant(self, winners: Sequence[Any], own: Mapping[str, str] | None = None, column: str = "winner") -> list[Any]:
        """What the words in a column of winners stand for; LEFT_OUT where there is none.

        The words that the user gave come first, then those of the form. A form that has no words of its own names
        winners by their ids: without words of the user its cells stay as they are. Raises InvalidInput, naming the row,
        for any other word.
        """
        self.words_used = True
        if self.words is None and own is None:
            return list(winners)
        known = {**(own or {}), **(self.words or {})}
        found: list[Any] = []
        for row, value in enumerate(winners, start=1):
            word = id_text(value) if value is not LEFT_OUT else ""
            if word in known:
                found.append(LEFT_OUT if known[word] == "skip" else known[word])
            elif value is LEFT_OUT or is_missing(value):
                found.append(LEFT_OUT)
            else:
                raise self._unknown_word(row, word, known, own, column)
        return found

    def _unknown_word(
        self, row: int, word: str, known: Mapping[str, str], own: Mapping[str, str] | None, column: str
    ) -> InvalidInput:
        alike = next((side for one, side in known.items() if appearance(one) == appearance(word)), None)
        meaning = f"{word}={alike or 'tie'}"
        others = "" if alike else " (or left, right, both-bad, skip)"
        listed = ", ".join(map(repr, known))
        said = f"column {column!r} holds {word!r}; it is {listed}"
        if own is None:
            said = f"the winner {word!r} is none of the words whose meaning was given, {listed}"
        too = "" if self.words is None else ", too"
        return InvalidInput(f"row {row}: {said}").with_option(
            f"say what it means{too}: --answers {quote(as_text([meaning]))}{others}"
        )

    def use(self, *names: str) -> None:
        """Note that these columns are read."""
        self.used.update(names)


class Translated(NamedTuple):
    """What a format makes of a table.

    columns  left, right, winner (left, right, tie, both-bad, an id or LEFT_OUT), and where there are such annotator,
             group, left_text, right_text
    rows     the row of the file that each comparison is from; None: the first is from row 1, and so on
    notes    sentences about what was decided
    items    the ids of all items, where the form lists these in an order of its own
    """

    columns: dict[str, list[Any]]
    rows: Sequence[int] | None = None
    notes: Sequence[str] = ()
    items: Sequence[str] | None = None


class ComparisonFormat(NamedTuple):
    """How another program writes comparisons.

    what       a phrase for the help and the documents
    recognise  whether a table with these columns has this form
    translate  a table of this form -> the columns of our own form
    fields     what it takes columns for that the user names, besides group and count
    write      comparisons -> a table of this form; None: this form is only read
    ties       whether the form has ties
    people     whether the form has annotators
    group      the column that holds the groups; None: the form has no place for them
    own_names  whether each group names its items on its own, so that one name in two groups is two items
    label      what such a name is a label of, as in `Items.labels`; None: of nothing
    numbers    whether its items are numbers, counted from 0
    """

    what: str
    recognise: Callable[[Columns], bool]
    translate: Callable[[Source], Translated]
    fields: tuple[str, ...] = ()
    write: Callable[[Sequence[Comparison], Items | None], dict[str, list[Any]]] | None = None
    ties: bool = True
    people: bool = True
    group: str | None = "group"
    own_names: bool = False
    label: str | None = None
    numbers: bool = False


def has(*names: str) -> Callable[[Columns], bool]:
    """A recogniser of tables with all of these columns."""
    return lambda columns: set(names) <= columns.keys()


def side_of(row: int, winner: object, left: object, right: object) -> str | NoWinner:
    """The side of the winner's id. Raises InvalidInput, naming the row, if it is neither item's."""
    sides = {id_text(right): "right", id_text(left): "left"}
    if is_missing(winner):
        return LEFT_OUT
    if id_text(winner) not in sides:
        raise InvalidInput(
            f"row {row}: the winner {id_text(winner)!r} is neither of the two items, {id_text(left)!r} and "
            f"{id_text(right)!r}"
        ).with_option("if it is a word for a side, say what the words mean, such as --answers 1=left,2=right")
    return sides[id_text(winner)]


def winners(comparisons: Sequence[Comparison], form: str) -> list[tuple[str, str]]:
    """(winner, loser) of each. Raises InvalidInput for a tie, which the form of this name does not have."""
    pairs = []
    for number, one in enumerate(comparisons, start=1):
        if plain_outcome(one.outcome) == "tie":
            raise InvalidInput(
                f"comparison {number} ({one.left!r} and {one.right!r}) is a tie, which the format {form} does not "
                "have; write another format, such as arena or evalica"
            )
        pairs.append((one.left, one.right) if plain_outcome(one.outcome) == "left" else (one.right, one.left))
    return pairs


def people(comparisons: Sequence[Comparison]) -> list[str | None]:
    return [one.annotator for one in comparisons]
