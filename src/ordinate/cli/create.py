"""`ordinate create` and `ordinate add-items`: from a table of items to a study."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli import media
from ordinate.cli.aim import AimOption
from ordinate.cli.embed import embedded, embedded_like, id_column_option
from ordinate.cli.options import (
    AsJson,
    ItemsFile,
    ItemsFileIfAny,
    MethodOptions,
    ReadingOptions,
    StudyFile,
    TableOptions,
    open_study,
    split_names,
    study_url,
)
from ordinate.cli.screen import count, note, print_json, say
from ordinate.errors import FeatureWarning, InvalidInput, naming
from ordinate.study.words import aim_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ordinate.data.comparison_formats import ReadComparisons
    from ordinate.data.folders import Listing
    from ordinate.data.items import Items
    from ordinate.data.recipe import Recipe
    from ordinate.data.showing import Shown
    from ordinate.data.tables import Columns
    from ordinate.study.study import Study

NAMED = 5
Convert = Annotated[
    bool,
    typer.Option("--convert", help="Write versions for browsers of pictures that they do not show, beside the study."),
]


MakerColumn = Annotated[
    str | None,
    typer.Option(
        "--maker-column",
        metavar="NAME",
        help="The column of who made an item, who does not judge it; default: maker, if there.",
        show_default=False,
    ),
]


def create(
    study: StudyFile,
    items: ItemsFileIfAny = None,
    comparisons: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Comparisons to begin with, in any of the forms that docs/files.md lists. Without --items, the items "
            "that are compared make the study.",
            show_default=False,
        ),
    ] = None,
    *,
    table: TableOptions,
    reading: ReadingOptions,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="Make the features from the texts or images: auto, or a name that `ordinate encoders` lists. "
            "Beside --feature-columns, each kind has a scale of its own.",
            show_default=False,
        ),
    ] = None,
    question: Annotated[str, typer.Option(metavar="TEXT", help="What annotators are asked.")] = "Which ranks higher?",
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="See `ordinate algorithms`; without it, the one that suits the items.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice of the study.")] = 0,
    aim: AimOption = None,
    method: MethodOptions,
    weigh_annotators: Annotated[
        bool,
        typer.Option(
            "--weigh-annotators", help="Trust annotators by how sharp their answers are (docs/statistics.md)."
        ),
    ] = False,
    maker_column: MakerColumn = None,
    convert: Convert = False,
    as_json: AsJson = False,
) -> None:
    """Make a study from a table of items, a folder of files, or comparisons that exist already.

    Features are numbers that say something about each item: an embedding of its text or image, or measurements. With
    them the study learns what makes an item rank high, needs fewer questions, and can order new items. A matrix
    (--features) is scaled as a whole; named columns (--feature-columns) each on their own. With --embed, or features
    from `ordinate embed`, the study stores how they were computed, and new items get theirs in the same way.

    Paths of images and sounds are stored relative to the study's folder, so the folder can be moved as a whole.

    Files that browsers do not show (TIFF, HEIC, DICOM, cut or empty ones) are refused by name. --convert writes
    versions of pictures that browsers show to a folder beside the study, named after it; the originals stay.

    Ids are exact texts: 7 and 007 are two items. Ids that look alike are mentioned.
    """
    from ordinate.data.cells import all_numbers
    from ordinate.data.feature_columns import holds_vectors
    from ordinate.data.items import Items
    from ordinate.data.makers import COLUMN, makers_of
    from ordinate.data.name_lists import as_text
    from ordinate.data.recipe import GIVEN
    from ordinate.study.study import Study

    columns, read, recipe, given = _items_and_comparisons(items, comparisons, table, reading, embed)
    source = items or comparisons or ""
    with naming(source):
        makers = makers_of(columns, read.ids, maker_column)
    unused = read.unused(columns, *table.used(columns), maker_column or COLUMN)
    if given is not None:
        # What is wrong with a comparison is said before there is a study.
        with naming(comparisons):
            trial = Study.create(Items(read.ids, group=read.group), algorithm="uniform-independent")
            reading.name_models(trial, given.comparisons)
            trial.record(given.comparisons)
    with media.in_study(read, source, study, convert) as shown, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", FeatureWarning)
        made = Study.create(
            shown.items,
            algorithm=algorithm,
            weigh_annotators=weigh_annotators,
            question=question,
            seed=seed,
            storage=study_url(study),
            recipe=recipe,
            aim="order" if aim is None else aim,
            rules={"makers": makers},
            **asdict(method),
        )
    listing = _listing(source)
    notes = [*_notes(listing, shown, study), *(str(one.message) for one in warned)]
    if items is not None:  # an item that comparisons name without a text has its text for an id
        notes += _nothing_to_show(shown.items)
    with made:
        if given is not None:
            reading.name_models(made, given.comparisons)
            made.record(given.comparisons)
            notes += given.notes
            unused += [f"{name} ({comparisons})" for name in given.columns_not_used]
        if as_json:
            recorded = {} if given is None else {"recorded": len(given.comparisons)}
            print_json({"study": study, **_summary(made), **recorded, "columns_not_used": unused, "notes": notes})
            return
        left_out = f"; {count(len(listing.unknown), 'file')} left out" if listing and listing.unknown else ""
        say(f"Made {study}: {_described(made.items)}{left_out}.")
        if given is not None:
            say(f"Recorded {count(len(given.comparisons), 'comparison')} from {comparisons} (read as {given.format}).")
        if unused:
            say(f"Columns not used: {', '.join(unused)}.")
        numbers = [name for name in unused if name in columns and all_numbers(columns[name])]
        if numbers and table.features is None and embed is None:
            chosen = split_names(table.feature_columns)
            vectors = [name for name in chosen if holds_vectors(columns[name])]  # which no other column can be beside
            instead = f" instead of the vectors in {vectors[0]}" if vectors else ""
            say(f"To learn from the numbers in them{instead}, make the study with")
            say(f"  --feature-columns {quote(as_text([*([] if vectors else chosen), *numbers]))}")
        for one in notes:
            note(one)
        if recipe is not None and recipe.encoder != GIVEN:
            beside = f" beside the columns {', '.join(named)}" if (named := made.items.column_names) else ""
            say(f"Features: by {recipe.encoder}{beside}; new items get theirs in the same way.")
        elif recipe is not None:
            say("Features: principal components of those given; give new items the same columns.")
        say(f"Question: {made.settings.question}")
        say(f"Algorithm: {made.settings.algorithm} ({_reason(algorithm, made.items)})")
        if aim is not None:
            say(f"Aim: {aim_in_words(made.rules.aim, made.items.group is not None)}")
        say()
        say("What to type next:")
        if "html" in made.items.content:
            say(f"  ordinate serve {quote(study)}       answer in the browser, which shows the pages")
        else:
            say(f"  ordinate annotate {quote(study)}    answer in this terminal")
        say(f"  ordinate order {quote(study)}       see the ordering so far")


def add_items(
    study: StudyFile,
    items: ItemsFile,
    table: TableOptions,
    maker_column: MakerColumn = None,
    convert: Convert = False,
    as_json: AsJson = False,
) -> None:
    """Add items to a study; what was answered stays.

    The new items need the same features as the others. Feature columns that the study was made with are read by
    name from the new table; a study made with an encoder embeds the new texts or images itself.

    Of a folder, the files that are not in the study yet are added.
    """
    from ordinate.data.feature_columns import categories
    from ordinate.data.folders import is_folder_of_files
    from ordinate.data.items import read_item_columns
    from ordinate.data.makers import COLUMN, makers_of

    with open_study(study) as opened:
        columns = read_item_columns(items)
        read = read_items_like(opened, columns, items, table)
        recipe, before = opened.settings.recipe, opened.items.ids
        reduced = categories(columns, recipe.given_names) | dict.fromkeys(recipe.given_names) if recipe else {}
        with naming(items):
            makers = makers_of(columns, read.ids, maker_column)
        unused = read.unused(columns, *table.used(columns), *reduced, maker_column or COLUMN)
        known_notes = opened.feature_notes()
        if is_folder_of_files(items):
            known = set(before)
            read = read.take([row for row, item in enumerate(read.ids) if item not in known])
        new = set(read.ids)
        if back := [item for item in opened.excluded_items if item in new]:
            raise InvalidInput(
                f"{items}: item {back[0]!r} is in the study already, and excluded; take it back in with: "
                f"ordinate include {quote(study)} --item {quote(back[0])}"
            )
        with media.in_study(read, items, study, convert) as shown, naming(items):
            opened.add_items(shown.items)
            if makers:
                opened.set_rules(makers=[*opened.rules.makers, *makers])
        notes = [*_notes(_listing(items), shown, study, earlier=before), *_nothing_to_show(shown.items)]
        notes += [one for one in opened.feature_notes() if one not in known_notes]
        if as_json:
            print_json(
                {
                    "study": study,
                    "added": len(read),
                    **_summary(opened),
                    "columns_not_used": unused,
                    "notes": notes,
                }
            )
            return
        say(f"Added {count(len(read), 'item')}; {study} now has {_described(opened.items)}.")
        if unused:
            say(f"Columns not used: {', '.join(unused)}.")
        for one in notes:
            note(one)


def _items_and_comparisons(
    items: str | None,
    comparisons: str | None,
    table: TableOptions,
    reading: ReadingOptions,
    encoder: str | None = None,
) -> tuple[Columns, Items, Recipe | None, ReadComparisons | None]:
    """The table of items, the items in it with the recipe of their features, and comparisons of these items."""
    from ordinate.data.comparison_formats import read_comparison_file, recognised
    from ordinate.data.items import read_item_columns

    given = None if comparisons is None else read_comparison_file(comparisons, reading.reading())
    if given is None:
        reading.refuse_without()
    if items is not None:
        columns = read_item_columns(items)
        form = recognised(columns)
        if form is not None and table.id_column not in columns:
            raise InvalidInput(
                f"{items}: this is a table of comparisons ({form}), not of items; give it as --comparisons"
            )
    elif given is not None:
        rows = _rows_of_features(table)
        with naming(comparisons):
            columns = given.item_columns() if rows is None else given.items_of_rows(rows)
        if rows is not None:
            note_of_order = f"The rows of the features belong to the items in this order: {_first(columns['id'])}."
            given = replace(given, notes=[*given.notes, note_of_order])
    else:
        raise InvalidInput("give the items, with --items, or comparisons of them, with --comparisons, or both")
    read, recipe = read_items(columns, items or comparisons or "", table, encoder)
    if given is not None:
        given = given.called_as_in(read)
        with naming(comparisons):
            given.require_items(read)
            given.require_annotators()
    return columns, read, recipe, given


def _rows_of_features(table: TableOptions) -> int | None:
    """How many rows a matrix of features has; None: there is none, or its rows have the ids of their items."""
    from ordinate.data.formats.matrix import open_matrix

    features = table.matrices()
    first = next(iter(features.values())) if isinstance(features, dict) else features
    return None if first is None or _is_embedding(first) else len(open_matrix(first))


def _is_embedding(features: str | dict[str, str] | None) -> bool:
    """Whether this is a file of embeddings with the ids of their items and the recipe."""
    return isinstance(features, str) and Path(features).suffix.lower() == ".npz"


def is_table_of_comparisons(address: str) -> bool:
    """Whether the address is that of a table, or of a data set on disk, and not of a study."""
    from ordinate.data.formats import FORMATS
    from ordinate.data.formats.data_set import is_data_set

    return Path(address).suffix.lower() in (*FORMATS, ".npy") or is_data_set(address)


def study_of_comparisons(comparisons: str, items: str | None, table: TableOptions, reading: ReadingOptions) -> Study:
    """A study in memory of a table of comparisons, and of the items in another table or of those that are compared."""
    from ordinate.study.study import Study

    columns, read, recipe, given = _items_and_comparisons(items, comparisons, table, reading)
    unused = [] if items is None else read.unused(columns, *table.used(columns))
    unused += [] if given is None else given.columns_not_used
    made = Study.create(read, recipe=recipe)
    if given is not None:
        with naming(comparisons):
            reading.name_models(made, given.comparisons)
            made.record(given.comparisons)
    if unused:
        note(f"Columns not used: {', '.join(unused)}.")
    for one in [*_lookalikes(read), *(given.notes if given is not None else [])]:
        note(one)
    return made


def read_items(
    columns: Columns, path: str, table: TableOptions, encoder: str | None = None
) -> tuple[Items, Recipe | None]:
    """The items of a table and, where an encoder made their features or these were reduced, the recipe."""
    from ordinate.data.items import Items
    from ordinate.data.recipe import Recipe

    features = table.matrices()
    if encoder is None and not _is_embedding(features):
        read = Items.from_file_columns(columns, path, features=features, **table.named(), **table.options())
        return (read, None) if table.pca is None else Recipe.of_given(read, table.pca)
    if encoder is not None and features is not None:
        raise InvalidInput("--embed makes the features; leave out --features")
    read = Items.from_file_columns(columns, path, features=None, **table.named(), **table.options())
    if read.features.shape[1] and read.feature_names is None:
        raise InvalidInput(
            f"--feature-columns {table.feature_columns} holds vectors; beside an encoder give columns of numbers"
        )
    if encoder is not None:
        return embedded(read, path, encoder, table.pca)
    if table.pca is not None:
        raise InvalidInput(
            f"{features} was written by `ordinate embed`, and is stored with how it was computed; reduce it there: "
            f"ordinate embed --items {quote(path)}{id_column_option(table.id_column)} --pca {table.pca:g} "
            f"--out {quote(str(features))}"
        )
    from ordinate.embedding import read_embedding

    return read_embedding(str(features), read)


def read_items_like(study: Study, columns: Columns, path: str, table: TableOptions) -> Items:
    """Items for a study that exists: without other word, with features made as the study's own were."""
    from ordinate.data.feature_columns import categories
    from ordinate.data.items import Items
    from ordinate.data.recipe import GIVEN

    features = table.matrices()
    if table.pca is not None:
        raise InvalidInput("--pca is decided when a study is made; new items go through its projection, if it has one")
    if _is_embedding(features):
        raise InvalidInput(
            f"{features} has principal components of its own; leave it out, then the study's encoder is used"
        )
    named, recipe = table.named(), study.settings.recipe
    blocks = study.items.blocks
    own = (recipe.given_names if recipe is not None and recipe.encoder == GIVEN else study.items.column_names) or ()
    # The options that the study was made with mean its own columns, not one for each category of the new table.
    made_from = {name for name in own if name in columns} | categories(columns, own).keys()
    repeated = {name for names in named.values() for name in names} == made_from
    if (repeated or not any(named.values())) and (features is None or blocks is not None):
        named = {"feature_columns": list(own)}
    matrices = [block.name for block in blocks or () if block.names is None]
    if isinstance(features, str) and len(matrices) == 1:
        features = {matrices[0]: features}
    read = Items.from_file_columns(columns, path, features=features, **named, **table.options())
    if recipe is not None and recipe.encoder == GIVEN:
        with naming(path):
            return recipe.projected(read)
    return read if recipe is None or features is not None else embedded_like(recipe, read, path)


def _listing(source: str) -> Listing | None:
    """What is in the folder whose files are items; None: the items are from elsewhere."""
    from ordinate.data.folders import is_folder_of_files, list_folder

    return list_folder(source) if is_folder_of_files(source) else None


def _notes(listing: Listing | None, shown: Shown, study: str, earlier: Sequence[str] = ()) -> list[str]:
    """What else the owner should know: files left out, names that look alike, pictures that were converted or should
    be. `earlier`: the ids that the study had before."""
    from ordinate.data.folders import saved_as_text

    notes = []
    if listing is not None:
        if listing.ignored:
            notes.append(f"Ignored, hidden or left behind by a system: {_first(listing.ignored)}.")
        if listing.unknown:
            notes.append(
                f"Left out, because browsers cannot show this kind of file: {_first(listing.unknown)}"
                f"{saved_as_text(listing.unknown)}."
            )
        if (folders := len({Path(one).parent for one in listing.columns["id"]})) > 1 and shown.items.group is None:
            notes.append(
                f"Files of {folders:,} folders are compared with one another. To compare only within each folder, make "
                "a table of the files with a column `group`; docs/files.md has an example."
            )
    notes += _lookalikes(shown.items, earlier)
    if shown.converted:
        folder, here = media.web_folder(study), Path.cwd()
        named = folder.relative_to(here) if folder.is_relative_to(here) else folder
        notes.append(f"Converted for browsers: {count(shown.converted, 'picture')}, in {named}.")
    if shown.windowed:
        notes.append(
            f"Of these, {shown.windowed:,} had more than 8 bits of grey: each was scaled to 8 bits by its own pixels, "
            "so their brightness cannot be compared."
        )
    if shown.first_only:
        notes.append(f"Of these, {shown.first_only:,} had several pages or frames: only the first is shown.")
    if shown.misshown:
        notes.append(
            f"{count(shown.misshown, 'picture')} of more than 8 bits of grey, or in CMYK colours, which browsers show "
            "wrongly: `ordinate serve` converts them as it sends them. --convert converts them once, beside the study."
        )
    return notes


def _nothing_to_show(items: Items) -> list[str]:
    from ordinate.data.showing import without_content

    if not (empty := without_content(items)):
        return []
    return [
        f"Nothing to show, so annotators see the id alone: {count(len(empty), 'item')}, {_first(empty, '; ')}. Fill "
        "them in, or leave them out."
    ]


def _lookalikes(items: Items, earlier: Sequence[str] = ()) -> list[str]:
    """Which ids, and which groups, look alike; `earlier` as in `_notes`."""
    from ordinate.data.lookalikes import lookalikes

    notes, new = [], set(items.ids)
    for what, names in (("Ids", (*earlier, *items.ids)), ("Groups", dict.fromkeys(items.group or ()))):
        pairs = [f"{one!a} and {other!a}" for one, other in lookalikes(names) if what == "Groups" or other in new]
        if pairs:
            notes.append(f"{what} that look alike but differ, since the exact text decides: {_first(pairs)}.")
    return notes


def _first(names: Sequence[str], between: str = ", ") -> str:
    """The first few names, and how many more there are."""
    more = f"{between}and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{between.join(names[:NAMED])}{more}"


def _summary(study: Study) -> dict[str, Any]:
    items = study.items
    return {
        "items": len(items),
        "features": int(items.features.shape[1]),
        "encoder": None if study.settings.recipe is None else study.settings.recipe.encoder,
        "feature_names": None if items.feature_names is None else list(items.feature_names),
        "blocks": None if items.blocks is None else {block.name: block.columns for block in items.blocks},
        "groups": 1 if items.group is None else len(set(items.group)),
        "algorithm": study.settings.algorithm,
        "question": study.question,
        "seed": study.settings.seed,
        "aim": list(study.rules.aim),
        "coefficient_variance": study.settings.coefficient_variance,
        "item_variance": study.settings.item_variance,
        "likelihood": study.settings.likelihood,
        "weigh_annotators": study.settings.weigh_annotators,
        "side_bias": study.settings.side_bias,
        "length_bias": study.settings.length_bias,
    }


def _described(items: Items) -> str:
    parts = [count(len(items), "item")]
    columns = items.features.shape[1]
    if items.blocks is not None:
        parts.append(f"{count(columns, 'feature column')} in the blocks {', '.join(map(str, items.blocks))}")
    elif items.feature_names:
        parts.append(f"{count(columns, 'feature column')} ({', '.join(items.feature_names)})")
    else:
        parts.append(count(columns, "feature column") if columns else "no features")
    if items.group is not None:
        parts.append(count(len(set(items.group)), "group"))
    return ", ".join(parts)


def _reason(asked_for: str | None, items: Items) -> str:
    if asked_for is not None:
        return "as you asked"
    if items.features.shape[1]:
        return "it learns from the features and from each item's own answers; `ordinate algorithms` lists others"
    return "without features only the answers tell the items apart; `ordinate algorithms` lists others"
