"""A person judges: opens the link, answers by keyboard, undoes, skips, reloads, loses the network, finishes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.test_browser_access import FEW, check

from ordinate import Study

pytestmark = pytest.mark.xdist_group("browser")  # one browser and one server for all

BUDGET = 30
MEASURED = "performance.getEntriesByName('ordinate:next-pair').map(one => one.duration)"


def test_a_few_pairs(serve: Callable[..., Any], essays: Path, judge: Callable[..., Any], answers: Any) -> None:
    """What runs every time of all that the slow tests do. One of the texts is a page of an attacker."""
    (served,) = serve(essays, options=("--annotator-budget", "3"))
    ada = judge()
    ada.begin(served.annotator, "ada")
    check(ada.page, "texts", looks=FEW)
    told = ada.press("ArrowLeft")
    ada.press("Backspace")
    assert ada.pair == told
    assert ada.press("ArrowRight") == told
    ada.wait_for_pair()
    ada.page.keyboard.press("s")
    ada.page.keyboard.type("both are sharp")
    ada.press("Enter")
    ada.wait_until_sent()
    before = ada.pair
    ada.page.reload()
    ada.wait_for_pair()
    assert ada.pair == before
    ada.press("ArrowLeft")
    ada.press("ArrowLeft")
    ada.wait_for_text("message-title", "Thank you")
    given = answers(served.path)
    assert [one["answer"] for one in given] == ["right", "skip", "left", "left"]
    assert [one["reason"] for one in given if one["answer"] == "skip"] == ["both are sharp"]

    owner = judge()
    owner.join(served.owner)
    owner.page.wait_for_selector(".item-card")
    check(owner.page, "owner-texts", looks=FEW)


@pytest.mark.slow
def test_thirty_pairs(serve: Callable[..., Any], photos: Any, judge: Callable[..., Any], answers: Any) -> None:
    (served,) = serve(photos.path, options=("--annotator-budget", str(BUDGET)))
    ada = judge(photos.truth)
    page = ada.page
    ada.begin(served.annotator, "ada")
    assert page.inner_text("#question strong") == "clearer"
    assert page.get_attribute("#undo-button", "aria-disabled") == "true", "there is nothing to take back"
    for _ in range(8):
        ada.answer()
    assert page.get_attribute("#undo-button", "aria-disabled") == "false"
    assert ada.text("progress-text") == f"8 of {BUDGET} answers"

    # Undo: that pair is back, and is answered again.
    told = ada.answer()
    ada.press("Backspace")
    assert ada.pair == told
    assert ada.text("last") == "Taken back"
    assert ada.text("progress-text") == f"8 of {BUDGET} answers"
    assert ada.answer() == told

    # Skip, with a reason.
    skipped = ada.pair
    ada.wait_for_pair()
    page.keyboard.press("s")
    page.keyboard.type("both are sharp")
    ada.press("Enter")
    assert all(ada.answer() != skipped for _ in range(5))

    # Reload in the middle: the same pair is there.
    ada.wait_until_sent()
    before = ada.pair
    took = page.evaluate(MEASURED)
    page.reload()
    ada.wait_for_pair()
    assert ada.pair == before
    for _ in range(4):
        ada.answer()

    # The network goes for a while. Judging goes on, and what was told meanwhile arrives once.
    ada.wait_until_sent()
    ada.until("Number(document.getElementById('app').dataset.ahead) >= 4")
    page.context.set_offline(True)
    for _ in range(3):
        ada.answer()
    ada.wait_for_text("network", "Offline, 3 answers waiting.")
    assert ada.text("progress-text") == f"21 of {BUDGET} answers"
    assert told_in(answers(served.path)) == 18
    page.context.set_offline(False)
    ada.wait_until_sent()
    ada.wait_for_text("network", "")
    assert told_in(answers(served.path)) == 21

    while not page.is_visible("#message"):
        ada.answer()
    ada.wait_for_text("message-title", "Thank you")
    assert f"You gave {BUDGET} answers of the {BUDGET} you are asked for" in ada.text("message")

    given = answers(served.path)
    assert told_in(given) == BUDGET
    assert [one["reason"] for one in given if one["answer"] == "skip"] == ["both are sharp"]
    assert len({one["key"] for one in given}) == len(given) == BUDGET + 1
    assert all(one["shown_at"] < one["answered_at"] and one["duration_ms"] > 0 for one in given)
    assert len({frozenset((one["left"], one["right"])) for one in given}) == BUDGET + 1

    # What was pressed is what counts: the ordering goes the way of the truth.
    with Study.open(f"sqlite:///{served.path}") as study:
        placed = [study.ordering().ids.index(name) for name in study.items.ids]
    assert np.corrcoef(placed, -photos.truth)[0, 1] > 0.5

    took += page.evaluate(MEASURED)
    print(f"\nfrom key to next pair on the screen: median {np.median(took):.0f} ms, largest {max(took):.0f} ms")
    # Loose, since a machine that is busy with other tests measures nothing.
    assert len(took) > BUDGET / 2
    assert np.median(took) < 1000


def told_in(answers: list[dict[str, Any]]) -> int:
    return sum(one["answer"] != "skip" for one in answers)
