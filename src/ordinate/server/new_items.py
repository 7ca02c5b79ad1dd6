"""Items that come over the network: they name only files that their sender may show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordinate.data.items import CONTENT_KINDS, Items
from ordinate.data.media import KINDS, is_address
from ordinate.data.recipe import GIVEN
from ordinate.data.showing import shown
from ordinate.embedding import embed_like
from ordinate.errors import InvalidInput
from ordinate.server import media
from ordinate.server.authentication import Caller
from ordinate.server.problems import Problem
from ordinate.server.schemas import NewItem
from ordinate.server.workspace import Workspace
from ordinate.study.study import Study


def items_of(given: Sequence[NewItem], folders: Sequence[Path], feature_names: Any = None, blocks: Any = None) -> Items:
    """Raises InvalidInput where browsers could not be shown what is in these folders."""
    widths = {len(item.features) for item in given}
    if len(widths) > 1:
        raise InvalidInput(f"items have different numbers of features: {sorted(widths)}")
    if len({item.group is None for item in given}) > 1:
        raise InvalidInput("give every item its group, or none")
    made = Items(
        ids=[item.id for item in given],
        features=[item.features for item in given] if widths != {0} else None,  # type: ignore[arg-type]
        feature_names=feature_names,
        blocks=blocks,
        group=None if given[0].group is None else [str(item.group) for item in given],
        content={kind: values for kind in CONTENT_KINDS if any(values := [getattr(item, kind) for item in given])},
    )
    media.require_harmless(made, folders)
    with shown(made, folders[0] if folders else ""):
        return made


def more_items(given: Sequence[NewItem], study: Study, folders: Sequence[Path], folder: Path | None) -> Items:
    """Items for a study that exists, with features made as its own were. `folder`: where relative paths start."""
    items, recipe = study.items, study.settings.recipe
    if recipe is not None and recipe.encoder != GIVEN:
        names, widths, all_columns = items.column_names, {len(item.features) for item in given}, items.features.shape[1]
        if widths == {len(names)}:
            return embed_like(recipe, items_of(given, folders, names or None), folder=folder or "")
        if widths != {all_columns}:
            wanted = f"the numbers {', '.join(map(repr, names))} as its features" if names else "no features"
            raise InvalidInput(
                f"give each item {wanted}, since the encoder of the study makes the others; or give each item all "
                f"{all_columns} features"
            )
    if recipe is not None and recipe.encoder == GIVEN:
        return recipe.projected(items_of(given, folders, recipe.given_names or None))
    return items_of(given, folders, items.feature_names, items.blocks)


def require_own_files(given: Sequence[NewItem], caller: Caller, workspace: Workspace | None) -> None:
    """Raise a problem 403 where an item names a file of the folder that is served, for a study without one of its own.

    What lies there belongs to other studies, too; only the owner of the server owns them all.
    """
    if workspace is None or caller.owns_server or not workspace.studies.is_shared(caller.served.place.folder):
        return
    for item in given:
        for kind in KINDS:
            place = getattr(item, kind)
            if place is not None and not is_address(place):
                raise Problem(
                    403,
                    f"{kind} {place!r} of item {item.id!r} is in the folder of the server, which only its owner shows "
                    "files of; add it with the link that `ordinate serve FOLDER` printed",
                )
