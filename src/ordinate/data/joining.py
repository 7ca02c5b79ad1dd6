"""Items that are added to a study: check that they fit, and append them."""

from __future__ import annotations

from ordinate.data.items import CONTENT_KINDS, LABELS, Items
from ordinate.data.matrices import stacked
from ordinate.errors import InvalidInput


def joined(old: Items, new: Items) -> Items:
    """The old items followed by the new ones. Raises InvalidInput if the new ones do not fit."""
    known = set(old.ids)
    for item in new.ids:
        if item in known:
            raise InvalidInput(f"the study has an item {item!r} already; leave it out, or give the new one another id")
    require_same_features(old, new)
    require_same_grouping(old, new)
    return Items(
        ids=(*old.ids, *new.ids),
        features=stacked(old.features, new.features),
        feature_names=old.feature_names,
        blocks=old.blocks,
        group=None if old.group is None or new.group is None else (*old.group, *new.group),
        content={
            kind: (*old.content.get(kind, (None,) * len(old)), *new.content.get(kind, (None,) * len(new)))
            for kind in CONTENT_KINDS
            if kind in old.content or kind in new.content
        },
        labels={
            label: (*old.labels.get(label, (None,) * len(old)), *new.labels.get(label, (None,) * len(new)))
            for label in LABELS
            if label in old.labels or label in new.labels
        },
    )


def require_same_features(old: Items, new: Items) -> None:
    if new.blocks != old.blocks:
        raise InvalidInput(
            f"these items have {_blocks(new)}; those of the study have {_blocks(old)}: give every block, in that order"
        )
    if new.features.shape[1] != old.features.shape[1]:
        raise InvalidInput(
            f"these items have {new.features.shape[1]} feature columns; those of the study have {old.features.shape[1]}"
        )
    if new.feature_names != old.feature_names:
        raise InvalidInput(
            f"these items have {_named(new)}; those of the study have {_named(old)}: give the same ones, in that order"
        )


def require_same_grouping(old: Items, new: Items) -> None:
    if old.group is None and new.group is not None:
        raise InvalidInput("the study has no groups; leave the groups of these items out")
    if old.group is not None and new.group is None:
        raise InvalidInput("the study has groups; give each of these items its group")


def _named(items: Items) -> str:
    names = items.feature_names
    return "unnamed features" if names is None else f"the features {', '.join(map(repr, names))}"


def _blocks(items: Items) -> str:
    if items.blocks is None:
        return f"{items.features.shape[1]} feature columns without blocks"
    return f"the blocks of features {', '.join(map(str, items.blocks))}"
