"""What the owner of a study should know of its features: what has no effect, counts double, is rare, or is far out.

n  items     d  feature columns
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.matrices import row_blocks
from ordinate.data.scaling import Limits

_NAMED = 5
_RARE = 0.01
"""A column is rare where no more than this share of the items differ from all others."""
_SAMPLE = 1 << 11


def feature_notes(items: Items, scaling: str, counted: NDArray[np.bool_] | None = None) -> list[str]:
    """Sentences about the features of the items that count (n,); without `counted`, of all of them."""
    counted = np.ones(len(items), dtype=np.bool_) if counted is None else counted
    rows, features = np.flatnonzero(counted), items.features
    if not features.shape[1] or len(rows) < 2:
        return []
    if items.blocks is not None:
        ends = accumulate((block.columns for block in items.blocks), initial=0)
        return [
            f"{block.name}: {note}"
            for block, start in zip(items.blocks, ends, strict=False)
            for note in feature_notes(
                replace(
                    items,
                    features=features[:, start : start + block.columns],
                    feature_names=block.names,
                    blocks=None,
                ),
                scaling,
                counted,
            )
        ]
    names = items.feature_names or [f"column {number + 1}" for number in range(features.shape[1])]
    notes = []
    constant, repeated = _constant(features, rows), _repeated(features, rows)
    if constant.any():
        which = _first([names[column] for column in np.flatnonzero(constant).tolist()])
        notes.append(f"Features without effect, because all items have the same value: {which}.")
    if twice := [f"{names[one]} and {names[other]}" for one, other in repeated if not constant[one]]:
        notes.append(f"Features with the same values, which therefore count twice: {_first(twice)}.")
    limits = Limits.of(features, items.feature_names is not None, counted)
    if limits is None:
        return notes
    far = np.concatenate([limits.outlying(np.asarray(block)) for _, block in row_blocks(features)])[rows]
    ids = [items.ids[row] for row in rows.tolist()]
    effect = "they are clipped" if scaling == "robust" else "they may hide all other differences"
    if limits.named:
        return [*notes, *_rare(features, rows, names, limits), *_far_values(names, ids, far, effect)]
    if far.any():
        which = _first([ids[row] for row in np.flatnonzero(far[:, 0]).tolist()])
        notes.append(f"Items whose features are far from those of all others ({effect}): {which}.")
    return notes


def _constant(features: Floats, rows: Integers) -> NDArray[np.bool_]:
    """(d,) whether all rows have one value."""
    first, constant = features[rows[:1]], np.ones(features.shape[1], dtype=np.bool_)
    counted = np.zeros(len(features), dtype=np.bool_)
    counted[rows] = True
    for start, block in row_blocks(features):
        constant &= (block[counted[start : start + len(block)]] == first).all(axis=0)
        if not constant.any():
            break
    return constant


def _repeated(features: Floats, rows: Integers) -> list[tuple[int, int]]:
    """Columns that are equal to an earlier one, with that one."""
    sampled = np.ascontiguousarray(features[rows[:: -(-len(rows) // _SAMPLE)]].T)
    earlier: dict[bytes, int] = {}
    likely = [(earlier.setdefault(values.tobytes(), column), column) for column, values in enumerate(sampled)]
    likely = [(one, other) for one, other in likely if one != other]
    for _, block in row_blocks(features) if likely else ():
        likely = [(one, other) for one, other in likely if (block[:, one] == block[:, other]).all()]
    return likely


def _rare(features: Floats, rows: Integers, names: Sequence[str], limits: Limits) -> list[str]:
    few = []
    for column in np.flatnonzero(limits.spread).tolist():
        others = np.count_nonzero(features[:, column][rows] != limits.middle[column])
        if others <= max(1.0, _RARE * len(rows)):
            few.append(f"{names[column]} ({others:,} of {len(rows):,})")
    return [f"Features in which few items differ, so they say little: {_first(few)}."] if few else []


def _far_values(names: Sequence[str], ids: Sequence[str], far: NDArray[np.bool_], effect: str) -> list[str]:
    values = [
        f"{names[column]} of {_first([ids[row] for row in np.flatnonzero(far[:, column]).tolist()], 3)}"
        for column in np.flatnonzero(far.any(axis=0)).tolist()
    ]
    return (
        [f"Values that are far from those of all other items ({effect}): {'; '.join(values[:_NAMED])}."]
        if values
        else []
    )


def _first(names: Sequence[str], most: int = _NAMED) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
