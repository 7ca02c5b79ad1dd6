"""docs/first-study.md as a newcomer follows it, in the browser and in the terminal: its commands, word for word, then
two people who judge."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate.datasets import degrade_photo

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

GUIDE = (Path(__file__).parents[2] / "docs" / "first-study.md").read_text(encoding="utf-8")
CREATE, _, ORDER = re.findall(r"```bash\n(.*?)```", GUIDE, flags=re.DOTALL)[0].splitlines()


@pytest.mark.skipif(os.name != "posix", reason="the guide's commands are for a POSIX shell")
def test_from_a_folder_of_images_to_two_annotators_in_the_terminal(
    tmp_path: Path, serve: Any, judge: Callable[..., Any]
) -> None:
    degrade_photo(np.random.default_rng(2), 12).write(tmp_path)

    def run(command: str) -> None:
        told = command.replace("ordinate ", f"{sys.executable} -m ordinate ")
        subprocess.run(["bash", "-ec", told], cwd=tmp_path, check=True, capture_output=True)

    run(CREATE)
    (served,) = serve(tmp_path / "study.db", options=("--budget", "300"))
    ann, bob = judge(), judge(width="phone")
    ann.begin(served.annotator, "Ann")
    bob.begin(served.annotator, "Bob")
    for _ in range(3):
        ann.answer()
        assert ann.pair != bob.pair
        bob.page.tap("#choose-left")
        bob.wait_until_sent()
    ann.wait_until_sent()
    run(ORDER)
    assert len((tmp_path / "ordering.csv").read_text().splitlines()) == 13


def test_from_a_folder_of_images_to_two_annotators_in_the_browser(
    tmp_path: Path, serve_folder: Any, judge: Callable[..., Any], open_page: Callable[..., Any]
) -> None:
    degrade_photo(np.random.default_rng(2), 12).write(tmp_path)
    owner = open_page()
    owner.goto(serve_folder(tmp_path / "studies"))
    owner.click("form button")
    owner.click("text=Make a study")
    owner.set_input_files("#folder", tmp_path / "photos")
    owner.wait_for_selector("#form:not([hidden])", timeout=60_000)
    assert owner.inner_text("#items-words") == "12 items."
    assert owner.input_value("#name") == "photos"
    owner.reload()
    owner.wait_for_selector("#form:not([hidden])", timeout=60_000)
    assert owner.inner_text("#items-words") == "12 items."
    assert owner.inner_text("#uploading") == "12 files sent"
    owner.fill("#name", "photos")
    owner.fill("#question", "Which photo is **clearer**?")
    owner.fill("#budget", "300")
    owner.click("#make")
    owner.wait_for_selector("#link input", timeout=60_000)
    link = owner.input_value("#link input")
    assert "#" not in owner.url
    ann, bob = judge(), judge(width="phone")
    ann.begin(link, "Ann")
    bob.begin(link, "Bob")
    for _ in range(3):
        ann.answer()
        assert ann.pair != bob.pair
        bob.press("ArrowLeft")
    bob.wait_until_sent()
    ann.wait_until_sent()
    owner.click("text=Open the study")
    owner.wait_for_selector("#figures >> text=6 of 300", timeout=60_000)
    owner.wait_for_selector("#people tr:nth-child(2)", timeout=60_000)


def page_of_new_study(tmp_path: Path, serve_folder: Any, open_page: Any) -> Any:
    page = open_page()
    page.goto(serve_folder(tmp_path / "studies"))
    page.click("form button")
    page.click("text=Make a study")
    return page


def test_after_a_table_with_a_mistake_one_can_start_over(tmp_path: Path, serve_folder: Any, open_page: Any) -> None:
    page = page_of_new_study(tmp_path, serve_folder, open_page)
    wrong, right = b"id,text\n1,a\n1,b\n2,c\n", b"id,text\n1,a\n3,b\n2,c\n"
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": wrong})
    page.wait_for_selector("#trouble >> text=stands in row 1 and in row 2", timeout=60_000)
    page.click("#discard")
    page.wait_for_selector("#discard", state="hidden")
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": right})
    page.wait_for_selector("#items-words >> text=3 items.", timeout=60_000)


def test_a_study_that_was_made_without_an_answer_is_named(tmp_path: Path, serve_folder: Any, open_page: Any) -> None:
    page = page_of_new_study(tmp_path, serve_folder, open_page)
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"id,text\n1,a\n3,b\n2,c\n"})
    page.wait_for_selector("#form:not([hidden])", timeout=60_000)

    def cut(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/drafts/*/study", cut)
    page.click("#make")
    page.wait_for_selector("#trouble >> text=cannot be reached", timeout=60_000)
    page.unroute("**/drafts/*/study")
    page.click("#make")
    page.wait_for_selector("#trouble >> text=it is among your studies")
    page.reload()
    page.wait_for_selector("#trouble >> text=something was made of it")


def test_files_chosen_before_the_page_is_ready_are_sent(tmp_path: Path, serve_folder: Any, open_page: Any) -> None:
    degrade_photo(np.random.default_rng(2), 3).write(tmp_path)
    page = open_page()
    page.goto(serve_folder(tmp_path / "studies"))
    page.click("form button")
    scripts: list[Any] = []
    page.route("**/new.js*", lambda route: scripts.append(route))
    page.click("text=Make a study", no_wait_after=True)
    page.set_input_files("#folder", tmp_path / "photos")
    page.set_input_files("#files", {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Sunny."})
    begun: list[str] = []
    page.on("request", lambda asked: begun.append(asked.url) if asked.url.endswith("/drafts") else None)
    (script,) = scripts
    script.continue_()
    page.wait_for_selector("#form:not([hidden])", timeout=60_000)
    page.wait_for_selector("#items-words >> text=4 items.")
    assert len(begun) == 1
