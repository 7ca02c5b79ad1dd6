"""Every page in its looks, on a wide screen and a phone, light and dark: no violation that axe finds, all in sight, and
pictures of them.

`ORDINATE_PICTURES=docs/pictures python -m pytest -n 0 -m slow tests/browser` writes the pictures of the documentation.
"""

import io
import json
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from ordinate import Study
from ordinate.report import write_report

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

axe_playwright_python = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class Look(NamedTuple):
    """A size of the window and a theme.

    rules  that axe checks: all, or those that colours matter to, where the other theme has had all
    place  of the picture on a sheet of all looks, and its size there
    """

    width: int
    height: int
    theme: str
    rules: str
    place: tuple[int, int]
    size: tuple[int, int]


LOOKS = [
    Look(1280, 800, "light", "all", (0, 0), (480, 300)),
    Look(1280, 800, "dark", "colours", (0, 310), (480, 300)),
    Look(390, 844, "light", "all", (490, 0), (282, 610)),
    Look(390, 844, "dark", "colours", (782, 0), (282, 610)),
    Look(844, 390, "light", "all", (1074, 0), (480, 222)),
    Look(844, 390, "dark", "colours", (1074, 310), (480, 222)),
]
FEW = (LOOKS[0], LOOKS[3])
"""A wide light page and a phone in the dark, where there is no time for all."""
SHEET = (1554, 610)
SETTLED = """Promise.all([
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  ...document.getAnimations().map((one) => one.finished.catch(() => {})),
])"""
RULES = {"all": {}, "colours": {"runOnly": ["color-contrast", "color-contrast-enhanced", "link-in-text-block"]}}


def check(
    page: Any, name: str, in_each: Callable[[Look], None] = lambda look: None, looks: Sequence[Look] = LOOKS
) -> None:
    """The page as it stands, in each of these looks, in all for its picture; the first look again afterwards."""
    if not page.evaluate("'axe' in globalThis"):
        # Through the debugger, since the page's own policy lets no other script in.
        session = page.context.new_cdp_session(page)
        session.send("Runtime.evaluate", {"expression": AXE})
        session.detach()
    sheet = Image.new("RGB", SHEET, "grey")
    for look in LOOKS if "ORDINATE_PICTURES" in os.environ else looks:
        page.set_viewport_size({"width": look.width, "height": look.height})
        page.emulate_media(color_scheme=look.theme, reduced_motion="reduce")
        page.evaluate(SETTLED)
        what = (name, look.width, look.theme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what} is too wide"
        found = page.evaluate(
            "(rules) => axe.run(document, {resultTypes: ['violations'], ...rules})", RULES[look.rules]
        )["violations"]
        told = [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"]]) for one in found]
        assert not told, (what, told)
        in_each(look)
        if "ORDINATE_PICTURES" in os.environ:
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            sheet.paste(shot.resize(look.size, Image.Resampling.LANCZOS), look.place)
    if folder := os.environ.get("ORDINATE_PICTURES"):
        sheet.quantize(128, dither=Image.Dither.NONE).save(Path(folder) / f"{name}.png", optimize=True)
    page.set_viewport_size({"width": LOOKS[0].width, "height": LOOKS[0].height})
    page.emulate_media(color_scheme=LOOKS[0].theme, reduced_motion="reduce")


def test_pages_of_whoever_judges_photos(serve: Callable[..., Any], photos: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(photos.path, options=("--annotator-budget", "8"))
    someone = judge(photos.truth)
    page = someone.page
    page.goto(served.annotator)
    check(page, "join")
    someone.begin(served.annotator, "Ada")
    for _ in range(4):
        someone.answer()

    def all_in_sight(look: Look) -> None:
        """Both items, and what to press, are on the screen at once."""
        for element in ("left .picture", "right .picture", "choose-left", "choose-right", "undo-button", "question"):
            box = page.locator(f"#{element}").bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= look.height + 0.5
            assert box["height"] >= (24 if element != "question" else 16)

    check(page, "judge", all_in_sight)
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

    owner = judge()
    owner.page.goto(served.owner)
    check(owner.page, "join-owner")
    owner.join(served.owner)
    owner.page.wait_for_selector(".item-card")
    owner.until("document.querySelector('#chart svg')", seconds=60)
    owner.page.wait_for_selector("#links > *")
    owner.page.click("#new-link summary")
    owner.page.evaluate("scrollTo(0, 0)")
    check(owner.page, "owner")
    owner.page.click(".item-card")
    check(owner.page, "item")
    owner.page.goto(served.owner[:-3])
    check(owner.page, "closed")


def test_pages_of_other_studies(
    serve: Callable[..., Any], essays: Path, tones: Path, judge: Callable[..., Any]
) -> None:
    texts, sounds = serve(essays, tones)
    someone = judge()
    someone.begin(texts.annotator, "Ada")
    check(someone.page, "texts")
    someone.begin(sounds.annotator, "Ada")
    check(someone.page, "sounds")
    owner = judge()
    owner.join(texts.owner)
    owner.page.wait_for_selector("#first-link button")
    check(owner.page, "owner-empty")
    someone.begin(texts.annotator, "Ada")
    someone.press("ArrowLeft")
    owner.page.wait_for_selector(".item-card")
    check(owner.page, "owner-texts")
    owner.page.click("#pause:enabled")
    owner.wait_for_text("state", "Paused")
    someone.join(texts.annotator, "somebody new")
    someone.wait_for_text("message-title", "The study is paused")
    check(someone.page, "paused")


def test_pages_of_the_owner_of_a_server(
    serve_folder: Callable[..., Any], degraded: Any, judge: Callable[..., Any], tmp_path: Path
) -> None:
    degraded.write(tmp_path)
    (tmp_path / "photos" / "drawing.svg").write_text("<svg/>")
    owner = judge()
    page = owner.page
    page.goto(serve_folder(tmp_path / "studies"))
    check(page, "enter")
    page.click("form button")
    page.wait_for_selector("#none")
    page.click("text=Make a study")
    check(page, "new-empty")
    page.set_input_files("#folder", tmp_path / "photos")
    page.wait_for_selector("#form:not([hidden])", timeout=60_000)
    page.click("#refused summary")
    assert "drawing.svg is an SVG drawing" in page.inner_text("#refused-list")
    check(page, "new")
    page.fill("#question", "Which photo is **clearer**?")
    page.click("#make")
    page.wait_for_selector("#made:not([hidden])", timeout=60_000)
    check(page, "made")
    link = page.input_value("#link input")
    someone = judge(degraded.truth)
    someone.begin(link, "Ada")
    someone.answer()
    someone.wait_until_sent()
    page.click("text=Your studies")
    page.click("[aria-label='Duplicate: photos']")
    check(page, "duplicate")
    page.click("#copy button.main-button")
    page.wait_for_selector("#studies li:nth-child(2)", timeout=60_000)
    page.click("[aria-label='Archive: photos-2']")
    owner.until("document.activeElement.matches('#studies > li')")
    page.click("#archive summary")
    page.wait_for_selector("#archived button")
    check(page, "start")
    page.click("[aria-label='Delete: photos-2']")
    check(page, "delete")
    page.fill("#delete-name", "photos-2")
    page.click("#delete button.main-button")
    owner.until("document.getElementById('archive').hidden")
    owner.until("document.activeElement.textContent === 'Your studies'")
    assert not (tmp_path / "studies" / ".archive" / "photos-2").exists()


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


def test_long_words_break_and_no_button_looks_pressed_on_a_phone(
    serve: Callable[..., Any], essays: Path, judge: Callable[..., Any]
) -> None:
    with Study.open(f"sqlite:///{essays}") as study:
        study.set_rules(
            question=f"Which? `{'x' * 200}` <https://example.org/{'y' * 80}>", guidelines="z" * 200, strengths=True
        )
    (served,) = serve(essays)
    someone = judge(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    page, fits = someone.page, "document.documentElement.scrollWidth <= innerWidth"
    page.goto(served.annotator)
    page.wait_for_selector("#name")
    assert page.evaluate(fits)
    someone.begin(served.annotator, "thumb")
    assert page.evaluate(fits)
    colour = "getComputedStyle(document.querySelectorAll('.strength')[{}]).backgroundColor"
    page.locator(".strength").first.tap()
    someone.until("document.getElementById('last').textContent.startsWith('You chose')")
    someone.wait_for_pair()
    # What was chosen shines for a moment.
    someone.until(f"{colour.format(0)} === {colour.format(3)}", seconds=10)


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


def test_the_focus_stays_near_a_button_that_is_gone(serve: Any, essays: Path, judge: Callable[..., Any]) -> None:
    with Study.open(f"sqlite:///{essays}") as study:
        ids = study.items.ids
        study.record([(left, right, "left", "Ann") for left in ids for right in ids if left < right])
        for item in ids[:3]:
            study.exclude_item(item)
        for name in ("Yan", "Zed"):
            study.make_link("annotator", name)
    (served,) = serve(essays)
    owner = judge()
    owner.join(served.owner)
    page = owner.page
    focused = "document.activeElement.textContent"

    # The list of the links: the row that is there now.
    page.get_by_role("button", name="Revoke the link for Yan").focus()
    page.keyboard.press("Enter")
    page.click("#sure-yes")
    owner.until("[...document.querySelectorAll('#links .out')].some((row) => row.textContent.includes('Yan'))")
    owner.until(f"document.activeElement.closest('#links') && {focused}.includes('for Zed')")

    # The items that were left out: the next one, at last the heading of the list.
    page.click("#left-out-words")
    for item, after in ((ids[1], ids[2]), (ids[2], ids[0]), (ids[0], "The ordering so far")):
        page.get_by_role("button", name=f"Take in again: {item}").focus()
        page.keyboard.press("Enter")
        owner.until(f"{focused}.startsWith({json.dumps(after)})")

    # The ordering, as it is looked at again.
    cards = page.locator("#ordering .item-card")
    cards.nth(2).focus()
    with Study.open(f"sqlite:///{essays}") as study:
        study.exclude_item(ids[0])
    owner.until("document.getElementById('left-out-words').textContent === '1 item left out'")
    owner.until(f"document.querySelectorAll('#ordering .item-card').length === {len(ids) - 1}")
    assert cards.nth(2).evaluate("card => card === document.activeElement")


def test_the_report_of_a_study(photos: Any, open_page: Callable[..., Any], tmp_path: Path) -> None:
    """From its file, without a server."""
    rng = np.random.default_rng(0)
    with Study.open(f"sqlite:///{photos.path}") as study:
        for number in range(160):
            query = study.ask(("Ada", "Ben", "Cem")[number % 3])
            left, right = (photos.truth[study.row(item)] for item in (query.left, query.right))
            study.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(4.0 * (right - left))) else "right")
        write_report(study, tmp_path / "report.html", folder=photos.path.parent)
    page = open_page()
    page.goto((tmp_path / "report.html").as_uri())
    check(page, "report", looks=FEW)
    page.evaluate("document.querySelectorAll('h2')[1].scrollIntoView()")
    check(page, "report-figures", looks=FEW)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(254, 254, 254)", "paper is white"
    page.emulate_media(media="screen")
