"""Every page, wide and on a phone, light and dark: no violation that axe finds, all in sight, and pictures of them.

ORDINATE_PICTURES=docs/pictures and `-n 0` write the pictures of the documentation: the four looks of a page are on one
sheet, which several processes would overwrite for each other.
"""

import io
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

axe_playwright_python = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOKS = [("wide", "light"), ("wide", "dark"), ("phone", "light"), ("phone", "dark")]


@pytest.fixture(params=LOOKS, ids=["-".join(look) for look in LOOKS])
def look(request: pytest.FixtureRequest) -> dict[str, str]:
    width, theme = request.param
    return {"width": width, "theme": theme}


@pytest.fixture
def check(look: dict[str, str]) -> Callable[[Any, str], None]:
    def checked(page: Any, name: str) -> None:
        page.wait_for_timeout(100)
        page.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")
        if folder := os.environ.get("ORDINATE_PICTURES"):
            assert "PYTEST_XDIST_WORKER" not in os.environ, "pictures are made by one process: -n 0"
            add_to_sheet(Path(folder) / f"{name}.png", page.screenshot(), look)
        # Through the debugger, since the page's own policy lets no other script in.
        session = page.context.new_cdp_session(page)
        session.send("Runtime.evaluate", {"expression": AXE})
        session.detach()
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        told = [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"]]) for one in found]
        assert not told, (name, told)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"

    return checked


def add_to_sheet(path: Path, screenshot: bytes, look: dict[str, str]) -> None:
    """One picture of a page in its four looks: wide ones on the left, phones on the right; light before dark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet = Image.open(path).convert("RGB") if path.exists() else Image.new("RGB", (1064, 610), "grey")
    second = look["theme"] == "dark"
    size, place = ((480, 300), (0, 310 * second)) if look["width"] == "wide" else ((282, 610), (490 + 292 * second, 0))
    sheet.paste(Image.open(io.BytesIO(screenshot)).convert("RGB").resize(size, Image.Resampling.LANCZOS), place)
    sheet.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def test_pages_of_a_study_of_photos(
    serve: Callable[..., Any],
    photos: Any,
    judge: Callable[..., Any],
    look: dict[str, str],
    check: Callable[[Any, str], None],
) -> None:
    (served,) = serve(photos.path, options=("--annotator-budget", "8"))
    someone = judge(photos.truth, **look)
    page = someone.page
    page.goto(served.annotator)
    check(page, "join")
    someone.begin(served.annotator, f"{look['width']} {look['theme']}")
    for _ in range(4):
        someone.answer()
    check(page, "judge")
    # Both items, and what to press, are on the screen at once.
    size = page.viewport_size
    for element in ("#left .picture", "#right .picture", "#choose-left", "#choose-right", "#undo-button", "#question"):
        box = page.locator(element).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"] + 0.5
        assert box["height"] >= 24
    page.click("#appearance-button")
    page.keyboard.press("+")
    check(page, "zoom")
    page.click("#appearance-button")
    page.keyboard.press("?")
    check(page, "help")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    check(page, "skip")
    page.keyboard.press("Escape")
    page.route("**/media/**", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#right .failure")
    check(page, "not-loaded")
    page.unroute("**/media/**")
    page.reload()
    someone.wait_for_pair()
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 2")
    page.context.set_offline(True)
    someone.answer()
    someone.wait_for_text("network", "Offline, 1 answer waiting.")
    check(page, "offline")
    page.context.set_offline(False)
    someone.wait_until_sent()
    while not page.is_visible("#message"):
        someone.answer()
    someone.wait_for_text("message-title", "Thank you")
    someone.until("document.querySelector('#message svg')", seconds=60)
    check(page, "end")

    owner = judge(**look)
    owner.page.goto(served.owner)
    check(owner.page, "join-owner")
    owner.join(served.owner)
    owner.page.wait_for_selector(".item-card")
    owner.until("document.querySelector('#chart svg')", seconds=60)
    owner.page.click("#new-link summary")
    owner.page.evaluate("scrollTo(0, 0)")
    check(owner.page, "owner")
    owner.page.click(".item-card")
    check(owner.page, "item")
    owner.page.goto(served.owner[:-3])
    check(owner.page, "closed")


def test_pages_of_other_studies(
    serve: Callable[..., Any],
    essays: Path,
    tones: Path,
    judge: Callable[..., Any],
    look: dict[str, str],
    check: Callable[[Any, str], None],
) -> None:
    texts, sounds = serve(essays, tones)
    someone = judge(**look)
    someone.begin(texts.annotator, f"{look['width']} {look['theme']}")
    check(someone.page, "texts")
    someone.begin(sounds.annotator, f"{look['width']} {look['theme']}")
    check(someone.page, "sounds")
    owner = judge(**look)
    owner.join(texts.owner)
    owner.page.wait_for_selector("#first-link button")
    check(owner.page, "owner-empty")
    someone.begin(texts.annotator, f"{look['width']} {look['theme']}")
    someone.press("ArrowLeft")
    owner.page.wait_for_selector(".item-card")
    check(owner.page, "owner-texts")
    owner.page.click("#pause:enabled")
    owner.wait_for_text("state", "Paused")
    someone.join(texts.annotator, "somebody new")
    someone.wait_for_text("message-title", "The study is paused")
    check(someone.page, "paused")
    owner.page.click("#pause")
    owner.wait_for_text("state", "Running")


def test_a_phone_on_its_side_gives_the_pictures_most_of_its_height(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["photos"]
    someone = judge(viewport={"width": 667, "height": 375}, has_touch=True)
    page = someone.page
    someone.begin(served.annotator, "across")
    for side in ("left", "right"):
        assert page.locator(f"#{side} .picture").bounding_box()["height"] >= 0.6 * 375
    across = ("choose-left", "undo-button", "skip-button", "choose-right")
    boxes = [page.locator(f"#{one}").bounding_box() for one in across]
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(boxes))
    assert all(one["y"] + one["height"] <= 375 for one in boxes)


@pytest.mark.parametrize(("width", "height"), [(320, 480), (667, 375), (320, 256)])
def test_small_windows_reach_everything(shared: Any, judge: Callable[..., Any], width: int, height: int) -> None:
    served = shared["photos"]
    someone = judge(viewport={"width": width, "height": height})
    someone.begin(served.annotator, f"small {width} {height}")
    page = someone.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for side in ("left", "right"):
        before = someone.pair
        page.click(f"#choose-{side}")
        someone.until(f"document.getElementById('last').textContent.startsWith('You chose') && {before!r} !== ''")
        someone.wait_for_pair()


def test_a_keyboard_reaches_every_control_and_leaves_it(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["essays"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "tab")
    reached: list[str] = []
    name = "(e => e.id || e.dataset.do || e.ariaLabel || e.textContent || e.tagName)(document.activeElement)"
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(name))
        if reached.count(reached[0]) > 1:
            break
    assert {"choose-left", "choose-right", "undo-button", "skip-button", "theme", "help"} <= set(reached)
    # The way round leads through the page's end and back to its beginning: no trap.
    assert reached.count(reached[0]) == 2
    # A new pair and what was chosen are announced; the focus stays on the button.
    page.focus("#choose-left")
    page.keyboard.press("Enter")
    someone.wait_for_text("live", "You chose left. Left: ")
    assert page.evaluate(name) == "choose-left"


def test_the_focus_comes_back_to_the_button_after_a_wait(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["essays"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "waits")
    held: list[Any] = []
    page.route("**/api/v1/**", lambda route: held.append(route))
    page.focus("#choose-right")
    for _ in range(20):  # as many as the page has ahead
        if page.is_visible("#message"):
            break
        someone.wait_for_pair()
        someone.press("Enter") if page.evaluate("app.dataset.ahead") != "0" else page.keyboard.press("Enter")
    someone.wait_for_text("message-title", "Getting the next pair")
    assert page.evaluate("document.activeElement.id") == "message"
    for route in held:
        route.continue_()
    page.unroute("**/api/v1/**")
    someone.wait_for_pair()
    assert page.evaluate("document.activeElement.id") == "choose-right"
