"""API for owners: answers that deserve a look. Items that did not load, and people who answer before they can see."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter

from ordinate.server.authentication import TheCaller
from ordinate.server.routes import ViewerRoute
from ordinate.server.schemas import NotLoaded, VeryFast, Warnings

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["looking"], route_class=ViewerRoute)
NOT_LOADED = "does not load"
"""How the reason of a skip begins where an item did not load; after a colon the sides, else it may be either item."""
VERY_FAST = 500
"""Milliseconds within which hardly anybody sees both items and chooses."""


@router.get("/warnings", summary="Items that did not load, and very fast answers")
def warnings(caller: TheCaller) -> Warnings:
    not_loaded: Counter[str] = Counter()
    very_fast: Counter[str | None] = Counter()
    models = caller.served.study.machines
    for entry in caller.served.study.answered():
        if entry.annotator in models:  # which sees nothing, and may be fast
            continue
        reason, _, sides = (entry.reason or "").partition(":")
        if entry.answer != "skip":
            very_fast[entry.annotator] += entry.duration_ms is not None and entry.duration_ms < VERY_FAST
        elif reason == NOT_LOADED:
            items = {"left": entry.left, "right": entry.right}
            named = [items[side] for side in sides.replace(",", " ").split() if side in items]
            not_loaded.update(item for item in named or items.values() if item is not None)
    return Warnings(
        not_loaded=[NotLoaded(item=item, skips=count) for item, count in not_loaded.most_common()],
        very_fast=[VeryFast(annotator=name, answers=count) for name, count in very_fast.most_common() if count],
    )
