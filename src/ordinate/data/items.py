"""The items of a study. They are checked once, when an Items object is made.

n  items        d  feature columns
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.cells import (
    all_valid_ids,
    id_text,
    is_missing,
    is_nested,
    looks_like_number,
    plain_text,
    require_single,
    text_id,
)
from ordinate.data.feature_blocks import COLUMNS, MATRIX, FeatureBlock, checked_blocks, side_by_side
from ordinate.data.feature_columns import categories, feature_matrix, one_hot_names
from ordinate.data.lookalikes import suggestion
from ordinate.data.matrices import LARGEST_IN_MEMORY, FileMatrix, StackedMatrix
from ordinate.data.media import place_within
from ordinate.data.tables import Columns, frame_columns, no_column, refuse_near_misses, require_columns
from ordinate.errors import InvalidInput, naming

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


FeatureFiles = str | Path | Mapping[str, str | Path] | None
CONTENT_KINDS = ("text", "image", "audio", "video", "link", "html")
LABELS = ("model", "length")
"""Columns of a table of items that say what an item belongs to, besides its group, or how long it is."""


def read_item_columns(path: str | Path) -> Columns:
    """The columns of a table of items in a file, of the files in a folder, or of the lines of a text file."""
    from ordinate.data.folders import is_folder_of_files, list_folder, list_lines
    from ordinate.data.formats import read_columns

    if Path(path).suffix.lower() == ".txt":
        return list_lines(path)
    return list_folder(path).columns if is_folder_of_files(path) else read_columns(path)


def content_folder(path: str | Path) -> Path:
    """The folder that relative paths in a table of items start at: that of the table, or the folder given as one."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


@dataclass(frozen=True, eq=False)
class Items:
    """What is to be ordered: ids, numbers that describe the items, and what to show to a person.

    ids            n distinct texts that are not empty
    features       (n, d) finite numbers; d may be 0 (then only the answers tell the items apart). Given the path of
                   a .npy file, they stay there, and a study stores the path and a checksum of the file (`FileMatrix`).
                   Several matrices by name, {"text": (n, d1), "image": (n, d2)}, are blocks
    feature_names  d names if the columns are separate measurements, each standardised on its own; None for a matrix
                   such as an embedding, whose columns share one unit
    blocks         if the columns are of several kinds, how many belong to each: the answers tell how much each says.
                   Named columns have their names there, and `feature_names` is None
    group          n texts; items are compared, and ordered, only within their group. None: all in one
    content        "text", "image", "audio", "video", "link" or "html" -> n texts (or None), shown to annotators
    labels         "model" -> n texts (or None): what each item belongs to besides its group, for `Study.leaderboard`;
                   "length" -> n numbers above 0 as texts (or None): how long each item is, if not by its text

    Raises InvalidInput, naming the row, the column or the id.
    """

    ids: Sequence[str]
    features: Floats = None  # type: ignore[assignment]
    feature_names: Sequence[str] | None = None
    group: Sequence[str] | None = None
    content: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    blocks: Sequence[FeatureBlock] | None = None
    labels: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = _texts("ids", self.ids, _text_id)
        _refuse_duplicates(ids)
        given: Any = self.features
        blocks = self.blocks
        if isinstance(given, Mapping):
            given, blocks = _side_by_side(given, ids)
        features = np.empty((len(ids), 0)) if given is None else _feature_matrix(given, ids)
        names = None
        if self.feature_names is not None:
            names = tuple(str(name) for name in _listed("feature names", self.feature_names))
            if len(names) != features.shape[1]:
                raise InvalidInput(f"there are {len(names)} feature names for {features.shape[1]} feature columns")
            _refuse_repeated_names(names)
        if blocks is not None:
            if names is not None:
                raise InvalidInput("give the names of the columns in the blocks, or no blocks")
            if not isinstance(features, np.ndarray):
                raise InvalidInput("features in blocks are read into memory; give them as an array")
            blocks = checked_blocks(blocks, features.shape[1])
        group = None
        if self.group is not None:
            group = _texts("group", self.group, _text_group)
            _require_length("group", group, ids)
        content = _shown("content", self.content, CONTENT_KINDS, ids)
        labels = _shown("label", self.labels, LABELS, ids)
        for row, length in enumerate(labels.get("length", ()), start=1):
            if length is not None and not (looks_like_number(length) and 0.0 < float(length) < math.inf):
                raise InvalidInput(
                    f"row {row} of 'length' is {length!r}, not a number above 0; it is how long the item is, such as "
                    "its seconds. Correct it, leave it empty, or call the column otherwise if it means something else"
                )
        for name, value in (
            ("ids", ids),
            ("features", features),
            ("feature_names", names),
            ("group", group),
            ("content", content),
            ("blocks", blocks),
            ("labels", labels),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        groups = "" if self.group is None else f", {len(set(self.group))} groups"
        content = f", {' and '.join(self.content)}" if self.content else ""
        return f"Items({len(self)} items, {self.features.shape[1]} features{groups}{content})"

    def _repr_html_(self) -> str:
        from ordinate.data.html_tables import items_table

        return items_table(self)

    @classmethod
    def from_columns(
        cls,
        columns: Columns,
        *,
        id_column: str = "id",
        features: Any = None,
        feature_columns: Sequence[str] = (),
        categorical: Sequence[str] = (),
        content: Mapping[str, str] | None = None,
    ) -> Items:
        """Items from a table: a column of ids, feature columns by name (or a matrix given apart), and the optional
        columns `group`, `text`, `image`, `audio`, `video`, `link`, `html`, `model`, `length`. Others are left aside.

        feature_columns  numbers, or one column that holds a vector in each row
        categorical      columns of which each value becomes a feature column, such as "material=wood"
        features         a matrix, or several by name; with columns beside them, each is a block
        content          the columns of texts, images and so on where they are called otherwise: {"text": "review"}

        A table without a column `id` is named by its texts, or by its paths and addresses.
        """
        # The names of the columns of a frame may be numbers.
        given = {str(name): values for name, values in columns.items()}
        id_column, categorical = str(id_column), _column_names("columns of categories", categorical)
        columns = _with_content(given, content)
        if id_column == "id" and "id" not in columns:
            columns = {**columns, "id": _ids_from_content(columns, given)}
        # An error lists the columns that the table has of its own.
        require_columns(columns if id_column in columns else given, (id_column,))
        # Ignored in silence, "Group" would put all items into one group.
        refuse_near_misses(columns, ("group", *CONTENT_KINDS))
        feature_columns = _column_names("feature columns", feature_columns)
        names: list[str] | None = [*feature_columns, *one_hot_names(given, categorical)]
        _refuse_repeated_names(names or ())
        # A column `length` of categories is no measured length.
        described, blocks = {*(names or ()), *categories(given, names or ())}, None
        if names and features is not None:
            matrices = features if isinstance(features, Mapping) else {MATRIX: features}
            beside = (COLUMNS, *feature_matrix(given, names))
            features, blocks = _side_by_side(matrices, columns[id_column], [beside])
            names = None
        elif names:
            features, names = feature_matrix(given, names)
        return cls(
            ids=columns[id_column],
            features=features,
            feature_names=names or None,
            group=columns.get("group"),
            content={kind: columns[kind] for kind in CONTENT_KINDS if kind in columns},
            blocks=blocks,
            labels={label: columns[label] for label in LABELS if label in columns and label not in described},
        )

    @classmethod
    def from_frame(cls, frame: IntoDataFrame, **options: Any) -> Items:
        """Items from a pandas or polars frame (anything narwhals reads); the options are those of `from_columns`."""
        return cls.from_columns(frame_columns(frame), **options)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        features: FeatureFiles = None,
        **options: Any,
    ) -> Items:
        """Items from a table in a file, a folder of files, a data set on disk, or the lines of a text file; see
        docs/files.md. `features` is a .npy file with one row per item, or several by name. A large one (above 64 MB)
        that is alone is not read into memory. The options are those of `from_columns`.

        Errors name the file. Row 1 is the first below the header line.
        """
        return cls.from_file_columns(read_item_columns(path), path, features=features, **options)

    @classmethod
    def from_file_columns(
        cls, columns: Columns, path: str | Path, *, features: FeatureFiles = None, **options: Any
    ) -> Items:
        """`read`, given the columns that `read_item_columns` found at `path`."""
        from ordinate.data.formats import read_matrix

        if isinstance(features, Mapping):
            matrices = {name: read_matrix(one) for name, one in features.items()}
            with naming(f"{path} with {', '.join(map(str, features.values()))}"):
                return cls.from_columns(columns, features=matrices, **options)
        options |= {
            name: _column_names(what, options[name])
            for name, what in (("feature_columns", "feature columns"), ("categorical", "columns of categories"))
            if name in options
        }
        beside = options.get("feature_columns") or options.get("categorical")
        matrix: Any = features
        large = features is not None and Path(features).is_file() and Path(features).stat().st_size > LARGEST_IN_MEMORY
        if features is not None and (beside or not large):
            matrix = read_matrix(features)
        with naming(path if features is None else f"{path} with {features}"):
            return cls.from_columns(columns, features=matrix, **options)

    def unused(self, columns: Columns, *used: str) -> list[str]:
        """Those of the columns, from which these items were made, that they do not hold; `used` are others they do."""
        names = self.column_names
        held = {*used, "id", "group", *CONTENT_KINDS, *LABELS, *names, *categories(columns, names)}
        return [name for name in columns if name not in held]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns that have one."""
        if self.blocks is None:
            return tuple(self.feature_names or ())
        return tuple(name for block in self.blocks for name in block.names or ())

    def take(self, rows: Sequence[int] | Integers) -> Items:
        """The items in the given rows, in that order."""
        chosen = [int(row) for row in rows]
        return Items(
            ids=[self.ids[row] for row in chosen],
            features=self.features[chosen],
            feature_names=self.feature_names,
            group=None if self.group is None else [self.group[row] for row in chosen],
            content={kind: [values[row] for row in chosen] for kind, values in self.content.items()},
            blocks=self.blocks,
            labels={label: [values[row] for row in chosen] for label, values in self.labels.items()},
        )


def _column_names(what: str, given: Any) -> list[str]:
    return [str(name) for name in _listed(what, given)]


def _with_content(columns: Columns, given: Mapping[str, str] | None) -> Columns:
    """The table with the columns that are named for texts, images and so on under these names."""
    if not isinstance(given or {}, Mapping):
        raise InvalidInput(f"content names the column of each kind, such as {{'text': 'review'}}, not {given!r}")
    content = {kind: str(name) for kind, name in (given or {}).items()}
    for kind, name in content.items():
        if kind not in CONTENT_KINDS:
            raise InvalidInput(f"unknown content {kind!r}; content is one of {', '.join(CONTENT_KINDS)}")
        if name not in columns:
            raise no_column(columns, name)
    return {**columns, **{kind: columns[name] for kind, name in content.items()}}


def _ids_from_content(columns: Columns, given: Columns) -> list[str]:
    """An id for each row of a table that has none: its path, address or text. `given`: without names for content."""
    refuse_near_misses(columns, ("id",))
    kind = next((one for one in (*CONTENT_KINDS[1:], "text") if one in columns), None)
    if kind is None or any(map(is_nested, columns[kind])):
        near = next((near for name in given if (near := suggestion(name, ("id",)))), "")
        raise InvalidInput(
            f"no column 'id'{near}; the table has {', '.join(map(repr, given)) or 'no columns'}; name the column of "
            "ids, or the one of what is shown"
        ).with_option("the options are --id-column NAME and, for what is shown, such as --content text=NAME")
    for row, value in enumerate(columns[kind], start=1):
        if is_missing(value):
            raise InvalidInput(
                f"row {row} of {kind!r} is empty, so this item has no name, since the table has no column 'id'; fill "
                "it in, leave the item out, or name the column of ids"
            ).with_option("the option is --id-column NAME")
    names = map(id_text, columns[kind])
    return [text_id(name) if kind in ("text", "html") else name for name in names]


def _texts(name: str, values: Any, text: Callable[[object, int], str]) -> tuple[str, ...]:
    """Each value converted by `text`, which also gets the row for its errors."""
    listed = _listed(name, values)
    return tuple(listed if all_valid_ids(listed) else (text(value, row) for row, value in enumerate(listed, start=1)))


def _shown(
    what: str, given: Mapping[str, Sequence[str | None]], known: Collection[str], ids: tuple[str, ...]
) -> dict[str, tuple[str | None, ...]]:
    """Columns of texts, each of a known name."""
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"{what} is given as columns by name, such as {{{next(iter(known))!r}: [...]}}, not as {given!r}"
        )
    columns = {}
    for name, values in given.items():
        if name not in known:
            raise InvalidInput(f"unknown {what} {name!r}; {what} is one of {', '.join(known)}")
        listed = enumerate(_listed(name, values), start=1)
        columns[name] = tuple(_text_shown(value, f"row {row} of {name!r}") for row, value in listed)
        _require_length(name, columns[name], ids)
    return columns


def _text_shown(value: object, where: str) -> str | None:
    if isinstance(value, Mapping) and {"bytes", "path"} >= value.keys():
        value = place_within(value, where)
    if is_missing(value):
        return None
    require_single(value, where)
    return plain_text(str(value), where)


def _text_id(value: object, row: int) -> str:
    require_single(value, f"the id in row {row}")
    text = id_text(value)
    if not text.strip():
        raise InvalidInput(f"row {row} has an empty id; every item needs one")
    return plain_text(text, f"the id in row {row}")


def _text_group(value: object, row: int) -> str:
    if is_missing(value):
        raise InvalidInput(f"row {row} has an empty group; fill it in, or leave the column out to compare all with all")
    require_single(value, f"the group in row {row}")
    return plain_text(id_text(value), f"the group in row {row}")


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must be a list with one entry each, not {values!r}")
    return list(values)


def _refuse_repeated_names(names: Sequence[str]) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise InvalidInput(f"feature column {name!r} is given twice")


def _refuse_duplicates(ids: Sequence[str]) -> None:
    if len(set(ids)) == len(ids):
        return
    first: dict[str, int] = {}
    for row, value in enumerate(ids, start=1):
        if value in first:
            raise InvalidInput(f"id {value!r} stands in row {first[value]} and in row {row}; ids must differ")
        first[value] = row


def _require_length(name: str, values: Sequence[object], ids: Sequence[str]) -> None:
    if len(values) != len(ids):
        raise InvalidInput(f"{name} has {len(values)} rows for {len(ids)} items")


def _side_by_side(
    matrices: Mapping[str, Any], ids: Sequence[Any], beside: Sequence[tuple[str, Any, Sequence[str] | None]] = ()
) -> tuple[Floats, list[FeatureBlock]]:
    """The matrices as blocks, and those beside them."""
    if not matrices:
        raise InvalidInput("features by name hold no matrix; give one, such as {'text': matrix}, or leave them out")
    for name, matrix in matrices.items():
        _refuse_masked(matrix, ids, f" in the block {name!r}")
    return side_by_side([*((name, matrix, None) for name, matrix in matrices.items()), *beside])


def _refuse_masked(matrix: Any, ids: Sequence[Any], block: str = "") -> None:
    """numpy would go on with the numbers that are masked."""
    if not np.ma.is_masked(matrix) or np.ndim(matrix) != 2 or len(matrix) != len(ids):
        return  # the shape is refused elsewhere
    row, column = np.argwhere(np.ma.getmaskarray(matrix))[0]
    raise InvalidInput(
        f"the features of item {ids[row]!r} (row {row + 1}, column {column + 1}{block}) are masked; fill them in or "
        "leave the item out"
    )


def _feature_matrix(values: Any, ids: Sequence[str]) -> Any:
    if isinstance(values, str | Path):
        values = FileMatrix.read(values, lambda row: f"item {ids[row]!r} (row {row + 1})" if row < len(ids) else "")
    if isinstance(values, FileMatrix | StackedMatrix):
        return _require_rows(values, ids)
    _refuse_masked(values, ids)
    try:
        matrix = np.asarray(values)
        if matrix.dtype.kind not in "biuf":
            raise TypeError
        matrix = np.array(matrix, dtype=np.float64, order="C")  # a copy: the caller may change the original
    except (TypeError, ValueError):
        raise InvalidInput("features must be a rectangular (items, columns) matrix of numbers") from None
    if matrix.ndim != 2:
        raise InvalidInput(f"features must have two axes (items, columns); these have shape {matrix.shape}")
    _require_rows(matrix, ids)
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(
            f"the features of item {ids[row]!r} (row {row + 1}, column {column + 1}) hold {matrix[row, column]}; "
            "fill it in or leave the item out"
        )
    return matrix


def _require_rows(matrix: Any, ids: Sequence[str]) -> Any:
    if len(matrix) != len(ids):
        raise InvalidInput(f"features have {len(matrix)} rows for {len(ids)} items; row k belongs to item k")
    return matrix
