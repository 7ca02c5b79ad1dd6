"""Comparisons as other programs write them. One module per format, one row here for each.

A format translates a table into the columns of our own form; `read_comparisons` checks these, whatever they come from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ordinate.data.cells import id_text, is_missing, require_single, text_id
from ordinate.data.comparison_formats import (
    arena,
    argilla,
    best_worst,
    choix,
    crowd_kit,
    evalica,
    label_studio,
    mturk,
    plain,
    preference,
    pwcmp,
    ranking,
    win_matrix,
    winner_loser,
)
from ordinate.data.comparison_formats.files import read_comparison_columns, write_comparison_columns
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source
from ordinate.data.comparisons import Comparison, check_comparison, require_one_reading, with_strength
from ordinate.data.items import Items
from ordinate.data.lookalikes import suggestion
from ordinate.data.names import annotator_name
from ordinate.data.tables import Columns, frame_columns, refuse_near_misses
from ordinate.errors import InvalidInput, UnknownItem, naming

__all__ = [
    "COMPARISON_FORMATS",
    "ReadComparisons",
    "Reading",
    "comparisons_of",
    "read_comparison_columns",
    "read_comparison_file",
    "read_comparisons",
    "recognised",
    "write_comparison_columns",
    "write_comparisons",
]

COMPARISON_FORMATS: dict[str, ComparisonFormat] = {
    "plain": plain.FORMAT,
    "crowd-kit": crowd_kit.FORMAT,
    "arena": arena.FORMAT,
    "winner-loser": winner_loser.FORMAT,
    "pwcmp": pwcmp.FORMAT,
    "evalica": evalica.FORMAT,
    "preference": preference.FORMAT,
    "label-studio": label_studio.FORMAT,
    "argilla": argilla.FORMAT,
    "mturk": mturk.FORMAT,
    "best-worst": best_worst.FORMAT,
    "ranking": ranking.FORMAT,
    "choix": choix.FORMAT,
    "win-matrix": win_matrix.FORMAT,
}
FIELDS = ("left", "right", "winner", "strength", "annotator", "group", "count")
"""What `--map` can name a column for."""
_MOST = 20_000_000
"""Counts that stand for more comparisons than this are refused: they would fill the memory."""


@dataclass(frozen=True)
class Reading:
    """How to read a table of comparisons.

    format  a name of COMPARISON_FORMATS; None: the first that recognises the table
    names   the columns of fields, where they have other names than the format expects
    words   what the words in the column of winners stand for: left, right, tie, ... or skip
    """

    format: str | None = None
    names: Mapping[str, str] | None = None
    words: Mapping[str, str] | None = None


@dataclass(frozen=True)
class ReadComparisons:
    """The comparisons in a table, checked.

    rows              of the table, from 1, one for each comparison
    group             one for each comparison; None: the table has no groups
    queries           the id of the query that each of them answers, where the table names it
    texts             of the items, by id, where the table has some
    labels            "model" -> of the items, by id, where groups name the items on their own
    items             the ids of all items, where the form lists these in an order of its own
    columns_not_used  the names of columns that were not read
    notes             sentences about what was decided
    """

    format: str
    comparisons: list[Comparison]
    rows: list[int]
    group: list[str] | None
    queries: list[str | None]
    texts: dict[str, str]
    columns_not_used: list[str]
    notes: list[str]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    items: Sequence[str] | None = None

    def item_columns(self) -> dict[str, list[Any]]:
        """A table of the items that are compared, in the order in which they are named first: id, group, text, labels.

        Raises InvalidInput, naming the row, where an item is in two groups.
        """
        group_of: dict[str, str | None] = {}
        groups: Sequence[str | None] = self.group or [None] * len(self.rows)
        for row, one, group in zip(self.rows, self.comparisons, groups, strict=True):
            for item in (one.left, one.right):
                if group_of.setdefault(item, group) != group:
                    raise InvalidInput(
                        f"row {row}: item {item!r} is compared in group {group_of[item]!r} and in {group!r}; an item "
                        "has one group, so give the items of each group ids of their own, or rename the column to "
                        "ignore the groups"
                    )
        columns: dict[str, list[Any]] = {"id": list(group_of)}
        if self.group is not None:
            columns["group"] = list(group_of.values())
        if self.texts:
            columns["text"] = [self.texts.get(item) for item in group_of]
        columns |= {label: [of.get(item) for item in group_of] for label, of in self.labels.items()}
        return columns

    def items_of_rows(self, rows: int) -> dict[str, list[Any]]:
        """A table of the items that the rows of a feature matrix belong to, so many, compared or not.

        Raises InvalidInput where the form has no such order, and where an item that is compared has no row.
        """
        numbers = COMPARISON_FORMATS[self.format].numbers
        if self.group is not None or not (numbers or self.items is not None):
            raise InvalidInput(
                "the rows of a feature matrix belong to the items of a table, in its order, and there is none; give "
                "the table of the items as well"
            ).with_option("the option is --items FILE")
        ids = [str(number) for number in range(rows)] if self.items is None else list(self.items)
        if len(ids) != rows:
            raise InvalidInput(
                f"these are wins of {len(ids):,} items, and the feature matrix has {rows:,} rows; give it one for each "
                "item, in the same order"
            )
        known = set(ids)
        for row, one in zip(self.rows, self.comparisons, strict=True):
            for item in (one.left, one.right):
                if item not in known:
                    raise InvalidInput(
                        f"row {row}: item {item!r} has no row in the feature matrix, which has {rows:,}, one for each "
                        "item number from 0 on; give it a row for every number, or give the table of the items as well"
                    ).with_option("the option for the table is --items FILE")
        return {"id": ids}

    def called_as_in(self, items: Items) -> ReadComparisons:
        """The same with the ids of these items, where each group has names of its own: a file of one scene calls
        `q10` what is `street/q10` in a study of several."""
        if self.group is None or items.group is None or not COMPARISON_FORMATS[self.format].own_names:
            return self
        known = set(zip(items.ids, items.group, strict=True))

        def called(item: str, group: str) -> str:
            prefix = f"{text_id(group)}/"
            names = (item, prefix + item, item.removeprefix(prefix))
            return next((name for name in names if (name, group) in known), item)

        comparisons = [
            one._replace(left=called(one.left, group), right=called(one.right, group))
            for one, group in zip(self.comparisons, self.group, strict=True)
        ]
        return replace(self, comparisons=comparisons)

    def require_items(self, items: Items) -> None:
        """Raise InvalidInput, naming the row, where an item that is compared is not here, or in another group.

        UnknownItem where it is not here.
        """
        # First, since items are named by their groups where the table has some.
        self.require_groups_of(items)
        known = set(items.ids)
        for row, one in zip(self.rows, self.comparisons, strict=True):
            for item in (one.left, one.right):
                if item not in known:
                    raise UnknownItem(f"row {row}: there is no item {item!r}{suggestion(item, items.ids)}")
        if items.group is None:
            return
        group_of = dict(zip(items.ids, items.group, strict=True))
        for row, one in zip(self.rows, self.comparisons, strict=True):
            if group_of[one.left] != group_of[one.right]:
                raise InvalidInput(
                    f"row {row}: item {one.left!r} is in group {group_of[one.left]!r} and {one.right!r} in "
                    f"{group_of[one.right]!r}; only items of one group are compared"
                )

    def require_annotators(self) -> None:
        """Raise InvalidInput, naming the row, for an annotator's name that no study takes."""
        known = set()
        for row, one in zip(self.rows, self.comparisons, strict=True):
            if one.annotator not in known:
                annotator_name(one.annotator, f"row {row}: ")
                known.add(one.annotator)

    def require_groups_of(self, items: Items) -> None:
        """Raise InvalidInput, naming the row, where the groups of the items do not agree with those of the table."""
        if self.group is None:
            return
        if items.group is None:
            raise InvalidInput(
                "the comparisons have groups but the study has none, so all its items would be ordered as one list; "
                "make the study from items with a column 'group', or rename that column to ignore it"
            )
        group_of = dict(zip(items.ids, items.group, strict=True))
        for row, one, group in zip(self.rows, self.comparisons, self.group, strict=True):
            for item in (one.left, one.right):
                if item in group_of and group_of[item] != group:
                    raise InvalidInput(
                        f"row {row}: item {item!r} is in group {group_of[item]!r} of the study, not in {group!r}"
                    )


def read_comparison_file(path: str | Path, reading: Reading = Reading()) -> ReadComparisons:
    """The comparisons in a file; errors name the file and the row."""
    columns = read_comparison_columns(path)
    with naming(path):
        return read_comparisons(columns, reading)


def read_comparisons(columns: Columns, reading: Reading = Reading()) -> ReadComparisons:
    """The comparisons in a table of any of the formats. Raises InvalidInput, naming the row."""
    name = reading.format or _format_of(columns, reading)
    if name not in COMPARISON_FORMATS:
        raise InvalidInput(f"unknown format {name!r}; it is {', '.join(COMPARISON_FORMATS)}")
    if unknown := [one for one in reading.names or () if one not in FIELDS]:
        raise InvalidInput(
            f"there is no field {unknown[0]!r} to name a column for; it is {', '.join(FIELDS)}"
        ).with_option(f"it was named by --map {unknown[0]}=COLUMN")
    refuse_near_misses(columns, ("annotator", "group"))
    source = Source(columns, reading.names or {}, reading.words)
    translated = COMPARISON_FORMATS[name].translate(source)
    if reading.words is not None and not source.words_used:
        raise InvalidInput(
            f"these are comparisons of the form {name}, which has no column of words for who won"
        ).with_option("leave out --answers, or name the columns with --format plain and --map")
    found = dict(translated.columns)
    rows = list(translated.rows or range(1, len(found["left"]) + 1))
    notes = list(translated.notes)
    if "group" not in found and (group := source.get("group", "group")) is not None:
        found["group"] = [group[row - 1] for row in rows]
    if "count" not in found and (count := source.get("count")) is not None:
        found["count"] = [count[row - 1] for row in rows]
    _require_fields(source, name, source.asked)
    if name != "plain" or reading.names:  # in our own form an empty winner is a mistake
        found["winner"] = [LEFT_OUT if is_missing(value) else value for value in found["winner"]]
    found, rows = _without_left_out(found, rows, notes)
    empty = [None] * len(rows)
    given = [
        Comparison(*one)
        for one in zip(found["left"], found["right"], found["winner"], found.get("annotator", empty), strict=True)
    ]
    checked = [check_comparison(one, f"row {row}: ") for row, one in zip(rows, given, strict=True)]
    if name == "plain":
        require_one_reading(rows, given, checked)
    if "strength" in found:
        marked = zip(rows, checked, found["strength"], strict=True)
        checked = [with_strength(one, strength, f"row {row}: ") for row, one, strength in marked]
    if bad := sum(one.outcome == "both-bad" for one in checked):
        notes.append(f"Both items were called bad in {bad:,}; these count as ties.")
    queries = [None if is_missing(one) else str(one) for one in found.get("query", empty)]
    groups = None if "group" not in found else _groups(found["group"], rows)
    labels: dict[str, dict[str, str]] = {}
    if groups is not None and COMPARISON_FORMATS[name].own_names and _in_two_groups(checked, groups) is not None:
        named, checked = checked, [_named_in(group, one) for group, one in zip(groups, checked, strict=True)]
        if (label := COMPARISON_FORMATS[name].label) is not None:
            sides = zip(named, checked, strict=True)
            labels[label] = {new: old for before, now in sides for old, new in zip(before[:2], now[:2], strict=True)}
        if (both := _in_two_groups(checked, groups)) is not None:
            raise InvalidInput(
                f"items of two groups would both be called {both!r}; rename a group or an item, so that group/item is "
                "another name for each"
            )
        notes.append(
            f"Items of one name are in several groups, so each is called GROUP/NAME, such as {checked[0].left!r}."
        )
    texts = _texts(found, checked, rows)
    if "count" in found:
        times = _counts(found["count"], rows)
        notes.append(f"Counts: {len(checked):,} rows stand for {sum(times):,} comparisons.")
        checked, rows, queries = (_repeated(column, times) for column in (checked, rows, queries))
        groups = None if groups is None else _repeated(groups, times)
    not_used = [one for one in columns if one not in source.used]
    if "count" in not_used:
        notes.append(
            "The column 'count' is not used: each row is one comparison. Where it says how many a row stands for: "
            "--map count=count."
        )
    return ReadComparisons(name, checked, rows, groups, queries, texts, not_used, notes, labels, translated.items)


def comparisons_of(given: Any, items: Items) -> list[Comparison]:
    """Comparisons of these items from a frame of any form, or from rows of (left, right, outcome[, annotator])."""
    if hasattr(given, "columns"):
        read = read_comparisons(frame_columns(given)).called_as_in(items)
        read.require_items(items)
        read.require_annotators()
        if "count" in read.columns_not_used:
            raise InvalidInput(
                "the frame has a column 'count'. If it says how many comparisons a row stands for, repeat the rows, "
                "such as frame.loc[frame.index.repeat(frame['count'])]; then, or if it says something else, drop it"
            )
        return read.comparisons
    comparisons = []
    for row, one in enumerate(given if isinstance(given, Iterable) else [given], start=1):
        if not isinstance(one, tuple | list) or len(one) not in (3, 4):
            raise InvalidInput(f"row {row} is no comparison (left, right, outcome, annotator): {one!r}")
        comparisons.append(check_comparison(Comparison(*one), f"row {row}: "))
    return comparisons


def write_comparisons(name: str, comparisons: Sequence[Comparison], items: Items | None = None) -> dict[str, list[Any]]:
    """The table of a format, with the groups of the items where these have some.

    Raises InvalidInput where the format cannot hold a comparison or the groups, or is only read.
    """
    writable = [one for one, form in COMPARISON_FORMATS.items() if form.write is not None]
    form = COMPARISON_FORMATS.get(name)
    if form is None or form.write is None:
        raise InvalidInput(f"the format {name!r} is not written; it is {', '.join(writable)}")
    columns = form.write(comparisons, items)
    if items is None or items.group is None or form.group in columns:
        return columns
    if form.group is None:
        raise InvalidInput(f"the format {name} has no place for groups, and the study has some; write another format")
    group_of = dict(zip(items.ids, items.group, strict=True))
    return {**columns, form.group: [group_of[one.left] for one in comparisons]}


def recognised(columns: Columns) -> str | None:
    """The format of a table with these columns; None: it is no table of comparisons."""
    return next((name for name, form in COMPARISON_FORMATS.items() if form.recognise(columns)), None)


def _format_of(columns: Columns, reading: Reading) -> str:
    found = recognised(columns)
    # Who names the columns of a pair and of its winner has a table of pairs, whatever else is in it.
    pairs, named = {"left", "right", "winner"}, set(reading.names or ())
    if found is not None and pairs <= named and not pairs <= set(COMPARISON_FORMATS[found].fields):
        return "plain"
    if found is not None:
        return found
    if reading.names or len({"left", "right", "winner"} & columns.keys()) > 1:
        return "plain"
    meant = [near for name in columns if (near := suggestion(name, ("left", "right", "winner")))]
    raise InvalidInput(
        f"these columns are of no known form: {', '.join(map(repr, columns)) or 'none'}{meant[0] if meant else ''}. "
        "Name the columns 'left', 'right' and 'winner', or as one of the forms has them: "
        f"{', '.join(COMPARISON_FORMATS)}"
    ).with_option(
        "or say which they are with --map left=COLUMN --map right=COLUMN --map winner=COLUMN, or name the form with "
        "--format"
    )


def _require_fields(source: Source, form: str, taken: Collection[str]) -> None:
    """Raise InvalidInput where the user named a column for a field that is not among these, which the form takes."""
    for name, column in source.names.items():
        if name not in taken:
            fields = ", ".join(one for one in FIELDS if one in taken) or "no columns that are named"
            raise InvalidInput(
                f"these are comparisons of the form {form}, which takes {fields}, so {column!r} cannot be named for "
                f"{name!r}"
            ).with_option(
                f"leave out --map {name}=COLUMN; or, if this is a table of pairs, name the columns of left, right and "
                "winner with --format plain and --map"
            )


def _without_left_out(
    columns: dict[str, list[Any]], rows: list[int], notes: list[str]
) -> tuple[dict[str, list[Any]], list[int]]:
    """Without rows that hold no answer; a note says how many there were."""
    kept = [place for place, value in enumerate(columns["winner"]) if value is not LEFT_OUT]
    if left_out := len(rows) - len(kept):
        notes.append(f"Left out, without an answer: {left_out:,}.")
    found = {name: [values[place] for place in kept] for name, values in columns.items()}
    return found, [rows[place] for place in kept]


def _texts(columns: Columns, comparisons: Sequence[Comparison], rows: Sequence[int]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for side in ("left", "right"):
        if f"{side}_text" not in columns:
            continue
        for row, one, text in zip(rows, comparisons, columns[f"{side}_text"], strict=True):
            item = getattr(one, side)
            require_single(text, f"row {row}: the text of item {item!r}")
            if is_missing(text) or text == item:
                continue
            if texts.setdefault(item, str(text)) != str(text):
                raise InvalidInput(f"row {row}: item {item!r} has another text than before")
    return texts


def _groups(values: Sequence[Any], rows: Sequence[int]) -> list[str]:
    for row, value in zip(rows, values, strict=True):
        if is_missing(value):
            raise InvalidInput(f"row {row} has an empty group; fill it in, or rename the column to ignore the groups")
        require_single(value, f"row {row}: the group")
    return [id_text(value) for value in values]


def _in_two_groups(comparisons: Sequence[Comparison], groups: Sequence[str]) -> str | None:
    """The name of an item that is compared in two groups, if there is one."""
    group_of: dict[str, str] = {}
    found = (
        item
        for group, one in zip(groups, comparisons, strict=True)
        for item in (one.left, one.right)
        if group_of.setdefault(item, group) != group
    )
    return next(found, None)


def _named_in(group: str, one: Comparison) -> Comparison:
    """The comparison with the group in the names of its items."""
    prefix = text_id(group)  # a prompt may be long
    return one._replace(left=f"{prefix}/{one.left}", right=f"{prefix}/{one.right}")


def _counts(values: Sequence[Any], rows: Sequence[int]) -> list[int]:
    counts = []
    for row, value in zip(rows, values, strict=True):
        text = id_text(value)
        if not text.isdecimal():
            raise InvalidInput(f"row {row}: the count {text!r} is no whole number from 0 on")
        counts.append(int(text))
    if sum(counts) > _MOST:
        raise InvalidInput(f"the counts add up to {sum(counts):,} comparisons; {_MOST:,} is the most")
    return counts


def _repeated(values: Sequence[Any], times: Sequence[int]) -> list[Any]:
    return [value for value, count in zip(values, times, strict=True) for _ in range(count)]
