"""Studies of files that were dropped: what they would hold, and making them. It runs in a process of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from ordinate import storage as storages
from ordinate.data.cells import all_numbers, is_missing
from ordinate.data.feature_columns import columns_of
from ordinate.data.folders import READ
from ordinate.data.formats import read_columns
from ordinate.data.formats.files import failures
from ordinate.data.formats.utf8 import text_of
from ordinate.data.items import CONTENT_KINDS, Items
from ordinate.data.lookalikes import lookalikes
from ordinate.data.makers import makers_of
from ordinate.data.media import KINDS, inside, is_address
from ordinate.data.recipe import GIVEN as RECIPE_OF_GIVEN
from ordinate.data.recipe import Recipe
from ordinate.data.showing import shown
from ordinate.data.tables import no_column
from ordinate.embedding import embed, embed_like
from ordinate.embedding.contents import contents
from ordinate.errors import InvalidInput, StorageFailed, naming
from ordinate.server.drafts import MEDIA, PROGRESS, Dropped, dropped_files, forget_media, link_media
from ordinate.storage import Settings
from ordinate.storage.places import SqliteFile
from ordinate.study.ledger import acting_as
from ordinate.study.study import Study

NAMED = 5


class Columns(NamedTuple):
    """Which columns of a table are what; None and (): as their names say."""

    ids: str | None = None
    text: str | None = None
    features: tuple[str, ...] = ()


class Found(NamedTuple):
    """What a study would be made of.

    columns   of the table, if there is one
    numbers   those of them that hold numbers only
    id_column, text_column  that are used
    refused   (name, why) of items and files that would be left out
    notes     what else the owner should know
    makers    (item, who made it), of the column "maker"
    """

    items: Items
    columns: list[str]
    numbers: list[str]
    id_column: str | None
    text_column: str | None
    refused: list[tuple[str, str]]
    notes: list[str]
    makers: list[tuple[str, str]]


def find_items(folder: Path, wanted: Columns) -> Found:
    """The items in a draft. Raises InvalidInput where there are none, or where a table does not fit."""
    files = dropped_files(folder)
    tables = [one for one in files if one.kind == "table"]
    if len(tables) > 1:
        raise InvalidInput(f"drop one table, not {len(tables)}: {', '.join(one.name for one in tables[:NAMED])}")
    found = _of_table(folder, tables[0], files, wanted) if tables else _of_files(folder, files)
    notes = list(found.notes)
    pairs = [f"{one!a} and {other!a}" for one, other in lookalikes(found.items.ids)]
    if pairs:
        notes.append(f"Ids that look alike but differ: {', '.join(pairs[:NAMED])}.")
    with shown(found.items, folder):
        return found._replace(notes=notes)


def _of_files(folder: Path, files: list[Dropped]) -> Found:
    if not files:
        raise InvalidInput("drop pictures, sounds, videos, texts or HTML pages, or a table")
    first = {one.name.partition("/")[0] for one in files}
    inside = f"{first.pop()}/" if len(first) == 1 and all("/" in one.name for one in files) else ""
    files = sorted(files, key=lambda one: one.name)
    content: dict[str, list[str | None]] = {}
    for kind in (*READ, *KINDS):
        if any(one.kind == kind for one in files):
            content[kind] = [_shown(folder, one) if one.kind == kind else None for one in files]
    items = Items([one.name.removeprefix(inside) for one in files], content=content)
    return Found(items, [], [], None, None, [], [], [])


def _shown(folder: Path, one: Dropped) -> str:
    return text_of((folder / one.stored).read_bytes()) if one.kind in READ else one.stored


def _of_table(folder: Path, table: Dropped, files: list[Dropped], wanted: Columns) -> Found:
    columns = read_columns(folder / table.stored, called=table.name)
    with naming(table.name):
        id_column = wanted.ids or _id_column(columns)
        if wanted.text is not None and wanted.text != "text":
            if wanted.text not in columns:
                raise no_column(columns, wanted.text)
            columns = {**columns, "text": columns[wanted.text]}
        numbers = [name for name in columns if name != id_column and all_numbers(columns[name])]
        by_name = _by_name(one for one in files if one.kind in KINDS)
        refused: list[tuple[str, str]] = []
        kept, used = [], set()
        total = len(columns[id_column])
        for row in range(total):
            missing = None
            for kind in KINDS:
                place = columns[kind][row] if kind in columns else None
                if is_missing(place) or is_address(str(place)):
                    continue
                if (one := by_name.get(_plain(str(place)))) is None:
                    missing = f"{kind} {place!r} was not dropped"
                elif one.kind != kind:
                    missing = f"{place!r} is no {kind}"
                else:
                    columns[kind][row] = one.stored
                    used.add(one.name)
            if missing is None:
                kept.append(row)
            else:
                refused.append((str(columns[id_column][row]), f"row {row + 1}: {missing}"))
        if not kept:
            raise InvalidInput(f"no item is left: {refused[0][1]}" if refused else "the table has no rows")
        columns = {name: [values[row] for row in kept] for name, values in columns.items()}
        items = Items.from_columns(columns, id_column=id_column, feature_columns=wanted.features)
    idle = [one.name for one in files if one.kind != "table" and one.name not in used]
    notes = [f"{len(idle):,} files are in no row of the table: {', '.join(idle[:NAMED])}."] if idle else []
    text = wanted.text or ("text" if "text" in columns else None)
    names = [name for name in columns if name != "text" or wanted.text in (None, "text")]
    return Found(items, names, numbers, id_column, text, refused, notes, makers_of(columns, items.ids))


def _id_column(columns: Mapping[str, list[Any]]) -> str:
    """`id`, or else the first column whose values are all there and all differ."""
    if "id" in columns:
        return "id"
    for name, values in columns.items():
        texts = [str(value) for value in values if not is_missing(value)]
        if name not in CONTENT_KINDS and len(set(texts)) == len(values):
            return name
    raise InvalidInput("no column can be the ids of the items, since values are missing or repeated in each; add one")


def _by_name(files: Any) -> dict[str, Dropped]:
    """The files by their names and, where only one ends so, by the ends of these."""
    ends: dict[str, list[Dropped]] = {}
    for one in files:
        parts = one.name.split("/")
        for start in range(len(parts)):
            ends.setdefault("/".join(parts[start:]), []).append(one)
    return {end: found[0] for end, found in ends.items() if len(found) == 1 or found[0].name == end}


def _plain(place: str) -> str:
    return "/".join(part for part in place.replace("\\", "/").split("/") if part not in ("", "."))


class Plan(NamedTuple):
    """How to make the study; `options` are those of Study.create, `by` is the owner who makes it."""

    columns: Columns
    encoder: str | None
    pca: float | None
    options: dict[str, Any]
    by: str | None = None


class Target(NamedTuple):
    """Where a study is made: its address, and the folder for its files; None: they stay in the draft, beside it."""

    url: str
    media: Path | None


def make(folder: Path, target: Target, plan: Plan) -> int:
    """Make a study of a draft; returns how many items it has."""
    found = find_items(folder, plan.columns)
    items, recipe = found.items, None
    wanted = [name for name in (plan.columns.ids, plan.columns.text, *plan.columns.features) if name is not None]
    if wanted and not found.columns:
        raise InvalidInput(
            f"no table was dropped that could have the column {wanted[0]!r}; drop it, or name no columns"
        )
    if plan.encoder is not None:
        if items.features.shape[1] and items.feature_names is None:
            raise InvalidInput(f"the column {plan.columns.features[0]!r} holds vectors; leave it out beside an encoder")
        items, recipe = embed(
            items,
            None if plan.encoder == "auto" else plan.encoder,
            pca=plan.pca,
            folder=folder,
            progress=_noted(folder),
        )
    rules = {**plan.options.get("rules", {}), "makers": found.makers}
    _create(folder, target, items, recipe, {**plan.options, "rules": rules}, plan.by)
    return len(items)


def _create(
    folder: Path, target: Target, items: Items, recipe: Recipe | None, options: dict[str, Any], by: str | None
) -> None:
    place = storages.place(target.url)
    if target.media is None:
        assert isinstance(place, SqliteFile)
        for left in folder.glob("*.db*"):  # of an attempt that failed later, perhaps under another name
            left.unlink()
        with acting_as(by):
            Study.create(items, recipe=recipe, storage=target.url, **options).close()
        return
    linked = link_media(folder, target.media, items)
    try:
        with acting_as(by):
            Study.create(with_media_in(items, target.media), recipe=recipe, storage=target.url, **options).close()
    except StorageFailed:
        # The study may be stored all the same, so its files stay.
        raise
    except BaseException:
        forget_media(linked)
        raise


def with_media_in(items: Items, media: Path) -> Items:
    """The items of a draft, with the files of that in this folder."""
    return _moved(items, lambda path: media / path.name if path.parent == Path(MEDIA) else path)


def _moved(items: Items, move: Callable[[Path], Path]) -> Items:
    """The items with other paths of their files."""

    def moved(place: str | None) -> str | None:
        if place is None or is_address(place) or (path := move(Path(place))) == Path(place):
            return place
        return path.as_posix()

    content = {
        kind: [moved(place) for place in column] if kind in KINDS else column for kind, column in items.content.items()
    }
    return replace(items, content=content)


class Wanted(NamedTuple):
    """What a study that exists wants of new items.

    names   of the columns that are features as they are
    recipe  by which the others are made; None: there is none
    known   the ids that it has
    """

    names: tuple[str, ...]
    recipe: Recipe | None
    known: frozenset[str]

    @classmethod
    def by(cls, study: Study) -> Wanted:
        items = study.items
        return cls(tuple(items.column_names), study.settings.recipe, frozenset(items.ids))

    @property
    def encoder(self) -> Recipe | None:
        """The recipe, if a network makes features by it."""
        return None if self.recipe is None or self.recipe.encoder == RECIPE_OF_GIVEN else self.recipe

    def new(self, items: Items) -> Items:
        """Those that the study does not have."""
        return items.take([row for row, item in enumerate(items.ids) if item not in self.known])

    def reduced(self, items: Items) -> Items:
        """Without an encoder: the items with the features that the study has."""
        return items if self.recipe is None else self.recipe.projected(items)


def look_for_more(folder: Path, columns: Columns, wanted: Wanted) -> Found:
    """What a draft would add to a study. Raises InvalidInput where its features could not be made of it."""
    found = _for_study(folder, columns, wanted)
    new = wanted.new(found.items)
    if wanted.encoder is not None and len(new):
        contents(new, wanted.encoder.content, folder)
    return found


def find_more(folder: Path, columns: Columns, wanted: Wanted) -> Items:
    """The items of a draft for a study that exists, with features made as its own were."""
    items = wanted.new(_for_study(folder, columns, wanted).items)
    if not len(items):
        raise InvalidInput("all of these items are in the study already")
    if wanted.encoder is None:
        return wanted.reduced(items)
    return embed_like(wanted.encoder, items, folder=folder, progress=_noted(folder))


def _for_study(folder: Path, columns: Columns, wanted: Wanted) -> Found:
    """The items of a draft with the columns that features of a study are made of."""
    names, recipe = wanted.names, wanted.recipe
    if recipe is not None and wanted.encoder is None:
        names = tuple(recipe.given_names)
        if not names:
            raise InvalidInput(
                "the features of this study were given as a matrix, which is not dropped here; use `ordinate add-items`"
            )
    found = find_items(folder, columns._replace(features=names))
    if names and found.items.feature_names is None:
        raise InvalidInput(
            f"the items of this study have features from the columns {', '.join(map(repr, columns_of(names)))}; drop a "
            "table with them"
        )
    return found


def require_copyable(study: Study, media: Path, folders: Sequence[Path]) -> None:
    """Raise InvalidInput for the first file that a copy of the study would not show: one that is neither copied with
    its folder of media nor in one of the folders whose files every study may show."""
    start, excluded, items = study.folder or Path(), set(study.excluded_items), study.items
    for kind in KINDS:
        for item, place in zip(items.ids, items.content.get(kind, ()), strict=False):
            if place is None or item in excluded or is_address(place) or (path := start / place).parent == media:
                continue
            if not Path(place).is_absolute() or inside(str(path), folders) is None:
                raise InvalidInput(
                    f"{kind} {place!r} of item {item!r} was not dropped here and would be missing in a copy; to make "
                    "one, name the folder of the file when the server starts: --media FOLDER"
                )


def duplicate(source: Target, folder: Path, target: Target, by: str | None) -> int:
    """Make a study with the items, the settings and the rules of another one, and no answers."""
    assert source.media is not None
    media = source.media
    with Study.open(source.url) as old:
        excluded = set(old.excluded_items)
        items, settings, rules = old.items, old.settings, old.rules
        if excluded:
            items = items.take([row for row, item in enumerate(items.ids) if item not in excluded])
        if media.is_dir():
            with failures("written", folder):  # copytree would collect them all in an error without a number
                (folder / MEDIA).mkdir(parents=True, exist_ok=True)
                for path in media.iterdir():
                    if path.is_file():
                        shutil.copy2(path, folder / MEDIA / path.name)
            items = _moved(items, lambda path: Path(MEDIA, path.name) if path.parent == media else path)
        # Rules about items that are not there any more would be refused, and a deadline is that of the other study.
        rules = replace(
            rules,
            paused=False,
            deadline=None,
            practice=tuple(one for one in rules.practice if not {one.left, one.right} & excluded),
            makers=tuple(one for one in rules.makers if one[0] not in excluded),
        )
        options = {**options_of(settings), "rules": asdict(rules)}
        _create(folder, target, items, settings.recipe, options, by)
    return len(items)


def options_of(settings: Settings) -> dict[str, Any]:
    """The options of Study.create that give these settings."""
    found = asdict(settings)
    # Nobody chooses these: the study that is made has those of a new one.
    for name in ("recipe", "side_bias", "length_bias", "features_alone"):
        del found[name]
    return found


def _noted(folder: Path) -> Any:
    """Notes how many contents are encoded in a file that the server reads."""

    def note(done: int, total: int) -> None:
        (folder / PROGRESS).write_text(f"{done} {total}", encoding="ascii")

    return note
