"""Real studies behind a real server, looked at with a real browser: Debian's chromium, driven by Playwright."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np
import pytest

from ordinate import Items, Study
from ordinate.datasets import degrade_photo

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
ARGUMENTS = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
ARGUMENTS += ["disable-component-update", "disable-sync", "autoplay-policy=no-user-gesture-required"]
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

ESSAYS = [
    "Schools should start later. Teenagers fall asleep late, and lessons at eight reach nobody who is awake.\n\n"
    "A later bell costs a timetable; an early one costs the first two lessons, every day.",
    "Because sleep.",
    "It is often said that an early start teaches discipline. Yet who says so seldom sits in the first row at eight."
    + " What is learned there is how to look awake." * 30,
    "Buses, sport clubs and parents all depend on the present hours, so a change is more than a school's own affair.",
    "I think they should start at ten, then at eleven, then not at all!!!",
    "Two trials in one town moved the start by forty minutes. Marks rose a little, absence fell by a third.",
    "My cousin's school did it and she says it is fine.",
    "<img src=x onerror=alert(1)><script>alert(1)</script> & other ways to write a text",
]


class ServedStudy(NamedTuple):
    """A study that is being served: its file and its two links."""

    path: Path
    owner: str
    annotator: str


@contextmanager
def processes() -> Iterator[Callable[..., list[str]]]:
    """Run `ordinate serve` in processes of their own; gives the links that it prints."""
    running: list[subprocess.Popen[str]] = []

    def start(*paths: Path, links_in_all: int, options: tuple[str, ...] = ()) -> list[str]:
        names = [str(path) for path in paths]
        command = [sys.executable, "-u", "-m", "ordinate", "serve", *names, "--port", "0", "--no-open", *options]
        environment = {**os.environ, "COLUMNS": "500", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        running.append(process)
        assert process.stdout is not None
        links: list[str] = []
        while len(links) < links_in_all:
            line = process.stdout.readline()
            assert line, "the server ended before it printed its links"
            links += re.findall(r"http://\S+", line)
        return links

    yield start
    for process in running:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def servers() -> Iterator[Callable[..., list[ServedStudy]]]:
    """Serve study files."""
    with processes() as run:

        def start(*paths: Path, options: tuple[str, ...] = ()) -> list[ServedStudy]:
            links = run(*paths, links_in_all=2 * len(paths), options=options)
            return [ServedStudy(path, *links[2 * k : 2 * k + 2]) for k, path in enumerate(paths)]

        yield start


@pytest.fixture
def serve_folder() -> Iterator[Callable[[Path], str]]:
    """Serve a folder; gives the link of its owner."""
    with processes() as run:
        yield lambda path: run(path, links_in_all=1)[0]


@pytest.fixture
def serve() -> Iterator[Callable[..., list[ServedStudy]]]:
    with servers() as start:
        yield start


@pytest.fixture(scope="session")
def shared(degraded: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ServedStudy]]:
    """Studies of photos, essays and tones that are served once, for tests that take no notice of other annotators."""
    folder = tmp_path_factory.mktemp("shared")
    makers = {"photos": lambda: make_photos(folder, degraded).path, "essays": lambda: make_essays(folder, 3)}
    paths = {name: make() for name, make in {**makers, "tones": lambda: make_tones(folder)}.items()}
    with servers() as start:
        yield dict(zip(paths, start(*paths.values()), strict=True))


class Photos(NamedTuple):
    path: Path
    truth: np.ndarray


@pytest.fixture(scope="session")
def degraded() -> Any:
    return degrade_photo(np.random.default_rng(1), 40)


def make_photos(folder: Path, made: Any) -> Photos:
    """A study of 40 versions of one photo, whose true order is known."""
    made.write(folder)
    path = folder / "photos.db"
    Study.create(made.items, question="Which photo is **clearer**?", storage=f"sqlite:///{path}").close()
    assert made.truth is not None
    return Photos(path, made.truth)


def make_essays(folder: Path, copies: int = 1) -> Path:
    """A study of texts, long and short ones."""
    path = folder / "essays.db"
    texts = ESSAYS * copies
    items = Items(ids=[f"essay-{k}" for k in range(len(texts))], content={"text": texts})
    question = "# Which argument is stronger?\n\nThink of *reasons*, not of spelling."
    Study.create(items, question=question, storage=f"sqlite:///{path}").close()
    return path


def make_tones(folder: Path) -> Path:
    """A study of short tones."""
    names = [f"tone-{k}.wav" for k in range(6)]
    for k, name in enumerate(names):
        samples = 8000 * np.sin(2 * np.pi * (220 + 55 * k) * np.arange(16_000) / 8000)
        with wave.open(str(folder / name), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(samples.astype("<i2").tobytes())
    path = folder / "tones.db"
    items = Items(ids=names, content={"audio": names})
    Study.create(items, question="Which tone is more pleasant?", storage=f"sqlite:///{path}").close()
    return path


@pytest.fixture
def photos(degraded: Any, tmp_path: Path) -> Photos:
    return make_photos(tmp_path, degraded)


@pytest.fixture
def essays(tmp_path: Path) -> Path:
    return make_essays(tmp_path)


@pytest.fixture
def tones(tmp_path: Path) -> Path:
    return make_tones(tmp_path)


@pytest.fixture(scope="module")  # its event loop must not run on while other tests run in this process
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here; Debian has it: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = [f"--{argument}" for argument in ARGUMENTS]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A page in a context (cookies, storage) of its own.

    Whatever goes wrong in it, or leaves the server, fails the test.
    """
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(width: str = "wide", theme: str = "light", context: Any = None, **settings: Any) -> Any:
        if context is None:
            size = WIDE if width == "wide" else PHONE
            settings = {"viewport": size, "color_scheme": theme, "has_touch": width == "phone", **settings}
            settings.setdefault("reduced_motion", "reduce")
            context = chromium.new_context(**settings)
            context.set_default_timeout(60_000)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda told: wrong.append(told.text) if "Content Security" in told.text else None)
        page.on("dialog", lambda dialog: wrong.append(f"a script ran: {dialog.message}"))
        page.on("request", lambda asked: None if is_own(asked.url) else wrong.append(f"left the server: {asked.url}"))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def is_own(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "about:", "data:", "file:"))


PAIR = """[...document.querySelectorAll('#stage:not([hidden]) .item')].map(item =>
  [...item.querySelectorAll('[src]')].map(one => new URL(one.src).pathname).join() + item.textContent).join(' | ')"""

# A pair can be answered a moment after both items are on the screen.
ANSWERABLE = "performance.now() - document.getElementById('stage').dataset.shown > 200"
FINISHED = "document.getElementById('message-title')?.textContent.startsWith('Thank you')"


class Judge:
    """Somebody at a page who judges; with a truth (the scores of the rows of items that are images) they are right."""

    def __init__(self, page: Any, truth: np.ndarray | None = None) -> None:
        self.page, self.truth = page, truth

    def join(self, link: str, name: str | None = None) -> None:
        self.page.goto(link)
        if name is not None:
            self.page.fill("#name", name)
        self.page.click("form button")

    def begin(self, link: str, name: str | None) -> None:
        self.join(link, name)
        self.wait_for_pair()

    def wait_for_pair(self) -> None:
        self.page.wait_for_selector("#stage:not([hidden]) .item")
        self.until(ANSWERABLE)

    @property
    def pair(self) -> str:
        """What is on the screen now."""
        return str(self.page.evaluate(PAIR))

    def press(self, key: str) -> str:
        """Press a key that settles the pair, and wait for what comes next. Returns the pair that was settled."""
        before = self.pair
        self.until(f"{ANSWERABLE} || !document.getElementById('message').hidden")
        self.page.keyboard.press(key)
        self.until(f"{PAIR} && {PAIR} !== {json.dumps(before)} || {FINISHED}")
        return before

    def answer(self) -> str:
        rows = [int(row) for row in re.findall(r"/media/[^/]+/(\d+)/image", self.pair)]
        left, right = rows if self.truth is None else self.truth[rows]
        return self.press("ArrowLeft" if left > right else "ArrowRight")

    def wait_until_sent(self) -> None:
        self.until("document.getElementById('app').dataset.waiting === '0'")

    def text(self, element: str) -> str:
        return str(self.page.text_content(f"#{element}"))

    def wait_for_text(self, element: str, start: str) -> None:
        text = f"document.getElementById({json.dumps(element)})?.textContent.trim()"
        self.until(f"{text}?.startsWith({json.dumps(start)})" if start else f"{text} === ''")

    def until(self, expression: str, seconds: float = 60.0) -> None:
        """Wait for an expression in JavaScript. Playwright's own way would evaluate it in the page, which the page's
        content security policy forbids."""
        ends, pause = time.monotonic() + seconds, 10.0
        while not self.page.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < ends, f"in vain: {expression}; the page says: {self.page.inner_text('body')}"
            self.page.wait_for_timeout(pause)
            pause = min(1.5 * pause, 60.0)  # each look takes milliseconds of three processes


@pytest.fixture
def judge(open_page: Callable[..., Any]) -> Callable[..., Judge]:
    """Somebody at a new page; takes the settings of open_page."""
    return lambda truth=None, **settings: Judge(open_page(**settings), truth)


def answers(path: Path, annotator: str | None = None) -> list[dict[str, Any]]:
    """The answers of a study (of one annotator) that were not taken back, as its file has them."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM log WHERE kind IN ('answer', 'retract') ORDER BY position").fetchall()
    told: dict[int, dict[str, Any]] = {}
    for row in map(dict, rows):
        if row["kind"] == "retract":
            del told[row["query"]]
        else:
            assert row["query"] not in told
            told[row["query"]] = row
    return [row for row in told.values() if annotator in (None, row["annotator"])]


@pytest.fixture(name="answers")
def reader_of_answers() -> Callable[..., list[dict[str, Any]]]:
    return answers
