"""The owner's page of a study of 6,000 pictures: when it is painted first, when its list can be used, how it scrolls.

`python -m pytest -n 0 -m slow -s tests/browser/test_browser_many_items.py` prints the figures of docs/performance.md.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate import Items, Study

ITEMS, ANSWERS = 6000, 3000
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
SCROLLED = """async () => {
    const times = [];
    const end = document.documentElement.scrollHeight - innerHeight;
    for (let at = 0; at < end && times.length < 120; at += 120) {
        scrollTo(0, at);
        times.push(await new Promise((seen) => requestAnimationFrame(seen)));
    }
    const between = times.slice(1).map((time, k) => time - times[k]).sort((one, other) => one - other);
    return [between[Math.floor(between.length / 2)], between[Math.floor(between.length * 0.95)], between.length];
}"""


@pytest.mark.slow
def test_the_page_of_6000_items_is_there_within_a_second(
    tmp_path: Path, serve: Callable[..., Any], open_page: Callable[..., Any]
) -> None:
    (served,) = serve(study_of_many(tmp_path))
    page = open_page()
    page.goto(served.owner)
    page.click("form button")
    painted, usable = [], []
    for _ in range(5):
        # The first time the fit still runs.
        began = time.monotonic()
        page.goto(page.url)
        page.wait_for_selector("#ordering .item-card", timeout=240_000)
        usable.append(time.monotonic() - began)
        painted.append(page.evaluate(PAINTED) / 1000)
    more = []
    for clicks in range(10):
        began = time.monotonic()
        page.click("#more")
        page.wait_for_selector(f"#ordering li:nth-child({24 * (clicks + 2)})", timeout=60_000)
        more.append(time.monotonic() - began)
    page.wait_for_load_state("networkidle")
    median, high, frames = page.evaluate(SCROLLED)
    print(
        f"\nfirst paint {np.median(painted):.2f} s (up to {max(painted):.2f}); list usable after "
        f"{np.median(usable):.2f} s (the first time {usable[0]:.2f}); 24 items more {np.median(more):.2f} s "
        f"(up to {max(more):.2f}); scrolling {24 * 11} items: {median:.1f} ms a frame, "
        f"95 % within {high:.1f} ms, of {frames}"
    )
    assert np.median(painted) < 1
    assert np.median(usable) < 5
    assert median < 35  # 30 frames a second


def study_of_many(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    for k in range(100):
        pixels = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((800, 600)).save(folder / f"{k}.jpg", quality=80)
    features = rng.normal(size=(ITEMS, 10))
    names = [f"picture-{row:04}" for row in range(ITEMS)]
    items = Items(names, features, content={"image": [f"{row % 100}.jpg" for row in range(ITEMS)]})
    scores = features @ rng.normal(size=10)
    pairs = rng.integers(0, ITEMS, (ANSWERS, 2))
    path = folder / "many.db"
    with Study.create(items, storage=f"sqlite:///{path}") as study:
        study.record(
            (names[one], names[other], "left" if scores[one] > scores[other] else "right")
            for one, other in pairs
            if one != other
        )
    return path
