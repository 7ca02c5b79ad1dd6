# ruff: noqa: E501  pages of attackers are long lines
"""HTML pages as items in a real browser: nothing that they hold runs, loads anything, or reaches the page around them,
and keys answer whatever was clicked."""

import base64
import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.browser.conftest import PHONE, WIDE, Judge
from tests.browser.test_browser_access import FEW, check

from ordinate import Items, Study

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

ATTACKS = {
    "a script": "<script>{do}</script>",
    "a script from elsewhere": "<script src='{at}/s.js'></script>",
    "a handler": '<img src=x onerror="{do}"><body onload="{do}"><details open ontoggle="{do}">x</details>',
    "a form that sends itself": "<form id=f action='{at}/form' target=_top><button>Go</button></form><script>f.submit()</script>",
    "a refresh": "<meta http-equiv=refresh content='0;url={at}/refresh'>",
    "a refresh to a script": '<meta http-equiv=refresh content="0;url=javascript:{do}">',
    "a weaker policy": "<meta http-equiv=Content-Security-Policy content='default-src *'><img src='{at}/p.png'>",
    "a link out of the frame": "<a id=out href='{at}/top' target=_top style='display:block;height:400px'>Out</a>",
    "a link within it": "<a href='{at}/within' style='display:block;height:400px'>Within</a>",
    "a link to a script": "<a href=\"javascript:{do}\" style='display:block;height:400px'>Run</a>",
    "a window of its own": "<a href='{at}/blank' target=_blank ping='{at}/ping' style='display:block;height:400px'>New</a>",
    "a picture": "<img src='{at}/p.png'><picture><source srcset='{at}/p.webp'></picture><video poster='{at}/v.png' src='{at}/v.mp4'>",
    "styles": "<link rel=stylesheet href='{at}/s.css'><style>@import '{at}/i.css'; body {{ background: url({at}/b.png) }}</style>",
    "a font": "<style>@font-face {{ font-family: f; src: url({at}/f.woff) }} p {{ font-family: f }}</style><p>words",
    "a drawing": "<svg xmlns='http://www.w3.org/2000/svg' onload=\"{do}\"><script>{do}</script><image href='{at}/s.png'/><use href='{at}/u.svg#a'/></svg>",
    "another base": "<base href='{at}/' target=_top><img src='base.png'>",
    "an object": "<object data='{at}/o.html'></object><embed src='{at}/e.swf'><applet code='{at}/a.class'></applet>",
    "frames": "<iframe src='{at}/frame'></iframe><iframe srcdoc='<script>{do}</script>'></iframe><frameset><frame src='{at}/set'></frameset>",
    "hints": "<link rel=preconnect href='{at}'><link rel=prefetch href='{at}/pre'><link rel=preload as=image href='{at}/load'>"
    "<link rel=dns-prefetch href='{at}'><link rel=modulepreload href='{at}/m.js'><link rel=icon href='{at}/icon'><link rel=manifest href='{at}/m'>",
    "the end of the frame": "</iframe><script>{do}</script><h1>Out?</h1>",
    "a link behind a space that is none": "<a x=\xa0\"foo href={at}/space style='display:block;height:400px' y\">Space</a>",
    "a link of a drawing": "<svg width=800 height=600><a href='{at}/drawn'><rect width=800 height=600 /></a></svg>",
    "a link by an animation": "<svg width=800 height=600><a><set attributeName='href' to='{at}/set'/><rect width=800 height=600 /></a></svg>",
    "a link by an animation in other words": "<svg width=800 height=600><a><animate attributeName='xlink:hre&#102;' dur=9s "
    "values='{at}/a;{at}/b'/><rect width=800 height=600 /></a></svg>",
    "a link in a style in a drawing": "<svg width=800 height=600><style><a href='{at}/style'><rect width=800 height=600 /></a></style></svg>",
    "a link in a title in a drawing": "<svg><title><p><a href='{at}/title' style='display:block;height:400px'>Title</a></title></svg>",
    "a cover": "<div style='position:fixed;inset:-9999px;z-index:2147483647;background:red'>x</div>",
}
DO = "document.title='caught';try{{top.document.title='caught'}}catch(e){{}};fetch('{at}/fetch');top.postMessage('caught','*')"


SOON = """
const wait = setTimeout, end = AbortSignal.timeout;
window.setTimeout = (act, after) => wait(act, after === 10_000 ? 200 : after);
AbortSignal.timeout = (after) => end.call(AbortSignal, after === 10_000 ? 200 : after);
"""
"""What is waited for ten seconds comes soon."""
RED = (255, 0, 0)


def picture(colour: tuple[int, int, int]) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(file, "PNG")
    return file.getvalue()


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """An address elsewhere, and the first lines of all that comes there."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.settimeout(0.5)
                with connection:
                    try:
                        heard.append(connection.recv(200).split(b"\r\n")[0] or b"a connection")
                    except OSError:
                        heard.append(b"a connection")

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard


def test_nothing_gets_out_of_a_frame(tmp_path: Path, serve: Callable[..., Any], chromium: Any) -> None:
    with listening() as (elsewhere, heard), closing(chromium.new_context(viewport=WIDE)) as context:
        pages = {}
        for number, (name, attack) in enumerate(ATTACKS.items()):
            at = f"{elsewhere}/{number}"
            pages[name] = "<p>words</p>" + attack.format(at=at, do=DO.format(at=at))
        path = tmp_path / "pages.db"
        Study.create(Items(list(pages), content={"html": list(pages.values())}), storage=f"sqlite:///{path}").close()
        (served,) = serve(path)
        # That the policy of the frame refuses something, as the console says, is what is wanted here.
        page = context.new_page()
        someone = Judge(page)
        someone.join(served.annotator, "Ann")
        page.wait_for_selector("#left iframe")
        title, address = page.title(), page.url
        seen: set[str] = set()
        for _ in range(80):
            page.wait_for_timeout(300)
            for side in ("left", "right"):
                seen.add(str(page.get_attribute(f"#{side} iframe", "src")))
                page.click(f"#{side} iframe", position={"x": 40, "y": 100})
            page.wait_for_timeout(200)
            assert (page.title(), page.url, len(page.context.pages)) == (title, address, 1), seen
            assert heard == [], [list(pages)[int(one.split("/")[-2])] for one in seen]
            box, half = (page.locator(f"#left{inner}").bounding_box() for inner in (" iframe", ""))
            assert box["width"] <= half["width"] + 1
            if len(seen) == len(pages):
                break
            # Keys answer after a click into a frame.
            someone.press("ArrowLeft")
        assert len(seen) == len(pages)
        # Opened alone, a page leads nowhere either.
        for address in sorted(seen):
            page.goto(f"{served.annotator.split('/join/')[0]}{address}")
            alone = page.url
            page.mouse.click(40, 100)
            page.wait_for_timeout(200)
            assert (page.url, len(page.context.pages), heard) == (alone, 1, []), address


@pytest.fixture
def served(tmp_path: Path, serve: Callable[..., Any]) -> Any:
    """A study of six pages."""
    path = tmp_path / "pages.db"
    items = Items([f"page-{k}" for k in range(6)], content={"html": [f"<h1>Page {k}</h1>" for k in range(6)]})
    Study.create(items, storage=f"sqlite:///{path}").close()
    (served,) = serve(path)
    return served


def test_a_page_that_is_not_seen_is_not_judged(served: Any, judge: Callable[..., Any], answers: Any) -> None:
    path = served.path
    someone = judge()
    page = someone.page
    held: list[Any] = []
    page.route("**/html", lambda route: held.append(route))
    someone.join(served.annotator, "Ann")
    page.wait_for_selector("#left iframe")
    page.wait_for_timeout(500)
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("#choose-left", "aria-disabled") == "true"
    # The failures that a frame does not tell of. The server is asked whether the pages are there, and fails then, too.
    page.route("**/html", lambda route: route.abort())
    for request in held:
        request.abort()
    page.wait_for_selector("#left .failure")
    page.wait_for_selector("#right .failure")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#skip-button span") == "Skip: does not load"
    page.unroute("**/html")
    for side in ("left", "right"):
        page.click(f"#{side} .failure button")
    someone.wait_for_pair()
    assert answers(path) == []
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    assert [row["answer"] for row in answers(path)] == ["left"]
    # An answer that is taken back brings its pages again.
    someone.wait_for_pair()
    page.route("**/html", lambda route: route.abort())
    page.keyboard.press("u")
    page.wait_for_selector("#left .failure")
    someone.until("document.getElementById('skip-words').textContent === 'Skip: does not load'")
    page.keyboard.press("s")
    someone.until("document.getElementById('last').textContent === 'Skipped.'")
    someone.wait_until_sent()
    assert answers(path)[-1]["reason"].startswith("does not load: left")


def test_a_page_that_fails_after_the_server_said_that_it_is_there_is_not_judged(
    served: Any, judge: Callable[..., Any]
) -> None:
    someone = judge()
    page = someone.page
    page.add_init_script(SOON)
    someone.begin(served.annotator, "Ann")
    someone.until("document.querySelector('#choose-left[aria-disabled=false]')")
    held: list[Any] = []
    page.route("**/html", lambda route: held.append(route) if route.request.method == "GET" else route.continue_())
    page.keyboard.press("ArrowLeft")
    for side in ("left", "right"):
        page.wait_for_selector(f"#{side} .failure >> text=This page takes long to load.")
        assert page.locator(f"#{side} iframe").count() == 1
    one, other = held
    one.fulfill(status=500, body="<p>Not now.</p>")
    other.abort()
    for side in ("left", "right"):
        page.wait_for_selector(f"#{side} .failure >> text=This page did not load.")
        assert page.locator(f"#{side} iframe").count() == 0
    assert page.get_attribute("#choose-left", "aria-disabled") == "true"
    page.unroute("**/html")
    for side in ("left", "right"):
        page.click(f"#{side} .failure button")
    someone.until("document.querySelector('#choose-left[aria-disabled=false]')")
    assert page.locator(".failure").count() == 0


def test_a_page_that_nobody_answers_for_is_not_loading_for_ever(served: Any, judge: Callable[..., Any]) -> None:
    someone = judge()
    page = someone.page
    page.add_init_script(SOON)
    page.route("**/html", lambda route: None)
    someone.join(served.annotator, "Ann")
    for side in ("left", "right"):
        page.wait_for_selector(f"#{side} .failure >> text=This page did not load.")
    page.unroute("**/html")
    for side in ("left", "right"):
        page.click(f"#{side} .failure button")
    someone.until("document.querySelector('#choose-left[aria-disabled=false]')")


@pytest.mark.parametrize("tells", [True, False])
def test_a_page_is_sent_once(served: Any, judge: Callable[..., Any], tells: bool) -> None:
    """Also where the browser does not tell what status a response to a frame had."""
    someone = judge()
    page = someone.page
    if not tells:
        page.add_init_script("delete PerformanceResourceTiming.prototype.responseStatus")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method) if request.url.endswith("/html") else None)
    someone.join(served.annotator, "Ann")
    for _ in range(2):
        someone.wait_for_pair()
        someone.press("ArrowLeft")
    someone.wait_for_pair()
    someone.until("!document.querySelector('[aria-disabled=true]')")
    assert sorted(asked) == ["GET"] * 6 + ([] if tells else ["HEAD"] * 6)


def test_a_drawing_is_whole(tmp_path: Path, serve: Callable[..., Any], judge: Callable[..., Any]) -> None:
    red = "data:image/png;base64," + base64.b64encode(picture(RED)).decode()
    drawing = (
        "<!doctype html><style><!-- body {{ margin: 0 }} --></style><svg width='300' height='100'>"
        "<defs><rect id='r' width='100' height='100'/><linearGradient id='a'><stop stop-color='#f00'/></linearGradient>"
        "<linearGradient id='g' xlink:href='#a'/></defs>"
        "<use xlink:href='#r' fill='#f00'/><rect x='100' width='100' height='100' fill='url(#g)'/>"
        "<image x='200' width='100' height='100' href='{0}'/></svg><br><img src='{0}' width=300 height=100>"
    )
    path = tmp_path / "pages.db"
    items = Items(["a", "b"], content={"html": [drawing.format(red)] * 2})
    Study.create(items, storage=f"sqlite:///{path}").close()
    (served,) = serve(path)
    someone = judge()
    someone.join(served.annotator, "Ann")
    frame = someone.page.wait_for_selector("#left iframe")
    frame.content_frame().wait_for_selector("svg")
    with Image.open(io.BytesIO(frame.screenshot())) as seen:
        for place in ((50, 50), (150, 50), (250, 50), (150, 150)):
            assert seen.convert("RGB").getpixel(place) == RED, place


def test_a_long_page_scrolls_and_has_a_name(
    tmp_path: Path, serve: Callable[..., Any], judge: Callable[..., Any]
) -> None:
    styles = (
        "body { font: 18px/1.5 serif; margin: 2em }",
        "body { font: 16px sans-serif } h1 { background: #135; color: #fff; padding: 1em }",
    )
    step = "<h2>Step {0}</h2><p>Fold the dough over itself, turn the bowl, and let it rest for half an hour under a cloth.</p>"
    steps = "".join(step.format(number) for number in range(1, 40))
    pages = [f"<!doctype html><style>{style}</style><h1>Bread in a pot</h1>{steps}" for style in styles]
    items = Items(["a", "b"], content={"html": pages})
    path = tmp_path / "pages.db"
    Study.create(items, question="Which page is better?", storage=f"sqlite:///{path}").close()
    (served,) = serve(path)
    someone = judge()
    page = someone.page
    someone.join(served.annotator, "Ann")
    frame = page.wait_for_selector("#left iframe")
    assert frame.get_attribute("title") == "The left page"
    inside = frame.content_frame()
    inside.wait_for_selector("h1")
    page.mouse.move(200, 300)
    page.mouse.wheel(0, 600)
    page.wait_for_timeout(500)
    assert inside.locator("h1").bounding_box()["y"] < 0
    check(page, "pages", looks=FEW)
    page.set_viewport_size(PHONE)
    for side in ("left", "right"):
        box = page.locator(f"#{side} iframe").bounding_box()
        assert box["height"] > 150
        assert box["width"] > 300
    assert page.locator("#left .alone").get_attribute("href").endswith("/html")
    # Opened alone it is as harmless, and the keyboard scrolls it.
    page.goto(page.locator("#left .alone").evaluate("link => link.href"))
    assert page.evaluate("self.origin") == "null"
