"""`ordinate annotate`: keys from a pipe, keys from a real terminal, and pictures in a viewer."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from ordinate import Study

LEFT, RIGHT = "\x1b[D", "\x1b[C"


def outcomes(path: str = "study.db") -> list[str]:
    with Study.open(f"sqlite:///{path}") as study:
        return [made.outcome for made in study.comparisons()]


class TestPipedKeys:
    @pytest.mark.parametrize(
        ("keys", "expected"),
        [
            ("1", ["left"]),
            ("2", ["right"]),
            (LEFT, ["left"]),
            (RIGHT, ["right"]),
            ("\x1bOD\x1bOC", ["left", "right"]),
            ("t", ["tie"]),
            ("T", ["tie"]),
            ("s", []),
            ("1\n2\n", ["left", "right"]),
            ("12u1", ["left", "left"]),
            ("1uu2", ["right"]),
            ("su1", ["left"]),
            ("q111", []),
            ("x1", ["left"]),
            ("", []),
        ],
    )
    def test_each_key(self, run, study, keys, expected):
        result = run("annotate", "study.db", keys=keys)
        assert (result.code, result.err) == (0, "")
        assert outcomes() == expected

    def test_items_that_somebody_adds_meanwhile_are_shown(self, run, study, monkeypatch):
        ask = Study.ask
        before: list[str] = []

        def adding(asking, *given, **named):
            if not before:
                with Study.open("sqlite:///study.db") as other:
                    before.extend(other.items.ids)
                    content = {kind: [f"NEW {row}" for row in range(2)] for kind in other.items.content}
                    other.add_items(replace(other.items.take([0, 1]), ids=("new 0", "new 1"), content=content))
                    for item in before:
                        other.exclude_item(item)
            return ask(asking, *given, **named)

        monkeypatch.setattr(Study, "ask", adding)
        result = run("annotate", "study.db", keys="1q")
        assert (result.code, result.err) == (0, "")
        assert "NEW 0" in result.out

    def test_the_screen(self, run, study):
        out = run("annotate", "study.db", "--annotator", "anna", keys="1q").out
        assert "Which is clearer?" in out
        assert out.count("The ") == 4  # two items, twice
        assert "← or 1 left" in out
        assert "1 answer from you now · expected error not known yet" in out
        assert "You gave 1 answer." in out
        assert "ordinate order study.db" in out
        with Study.open("sqlite:///study.db") as opened:
            assert opened.annotators() == {"anna": 1}

    def test_the_screen_says_how_the_error_falls_once_answers_tell(self, run, study):
        with Study.open("sqlite:///study.db") as opened:
            pairs = list(itertools.combinations("abcd", 2))
            opened.record([(*pair, "right", f"somebody {number}") for number in range(6) for pair in pairs])
        out = run("annotate", "study.db", keys="12q").out
        assert re.search(r"2 answers from you now · expected error \d+\.\d % \(\d+\.\d % when you began\)", out), out

    def test_html_pages_are_for_the_browser(self, run, folder):
        (folder / "pages.csv").write_text("id,html\na,<h1>One</h1>\nb,<h1>Two</h1>\n")
        made = run("create", "pages.db", "--items", "pages.csv").out
        assert "  ordinate serve pages.db       answer in the browser, which shows the pages\n" in made
        assert "ordinate annotate" not in made
        result = run("annotate", "pages.db", keys="1q")
        assert "see them with: ordinate serve pages.db\n" in result.err
        assert "<h1>One</h1>" in result.out

    def test_skips_are_no_answers(self, run, study):
        out = run("annotate", "study.db", keys="1suq").out
        assert "You gave 1 answer." in out

    def test_an_open_query_comes_back_next_time(self, run, study):
        query = run("ask", "study.db", "--json").json["queries"][0]
        out = run("annotate", "study.db", keys="q").out
        assert out.index(query["left"]["text"]) < out.index(query["right"]["text"])
        assert run("ask", "study.db", "--json").json["queries"] == [query]

    def test_ids_stay_hidden_unless_there_is_nothing_else(self, run, folder):
        (folder / "named.csv").write_text("id,text\nid-of-x,\nid-of-y,shown\n")
        run("create", "named.db", "--items", "named.csv")
        out = run("annotate", "named.db", keys="q").out
        assert "id-of-x" in out
        assert "id-of-y" not in out

    def test_unknown_keys_bring_the_legend(self, run, study):
        assert run("annotate", "study.db", keys="?q").out.count("u undo") == 2

    def test_undo_of_nothing_says_so(self, run, study):
        result = run("annotate", "study.db", keys="uq")
        assert result.code == 0
        assert "taken back" in result.out


class TestRules:
    """What the study's rules ask for, and what they end."""

    KEYS = "4567"

    def test_strengths_are_asked_for_where_the_study_has_graded_answers(self, run, study):
        with Study.open("sqlite:///study.db") as opened:
            opened.set_rules(strengths=True)
        out = run("annotate", "study.db", keys=f"{self.KEYS}12").out
        assert outcomes() == ["left-much", "left-slightly", "right-slightly", "right-much", "left", "right"]
        assert "4 left, much better" in out
        assert "← left, slightly better" in out

    def test_elsewhere_their_keys_are_no_answers(self, run, study):
        out = run("annotate", "study.db", keys=f"{self.KEYS}1q").out
        assert outcomes() == ["left"]
        assert "much" not in out
        assert out.count("Keys: ") == len(self.KEYS)

    def test_a_tie_is_none_where_there_are_none(self, run, study):
        with Study.open("sqlite:///study.db") as opened:
            opened.set_rules(ties=False)
        result = run("annotate", "study.db", keys="t1q")
        assert (result.code, outcomes()) == (0, ["left"])
        assert "t tie" not in result.out

    def test_practice_says_the_right_answer(self, run, study):
        with Study.open("sqlite:///study.db") as opened:
            opened.set_rules(practice=[("a", "b", "right"), ("b", "c", "tie"), ("c", "d")])
        out = run("annotate", "study.db", "-a", "Ann", keys="1221q").out
        assert "← left. The owner expects right." in out
        assert "→ right. The owner expects a tie." in out
        assert out.count("The owner expects") == 2
        assert outcomes() == ["left"]

    @pytest.mark.parametrize(
        ("rules", "said"),
        [
            ({"budget": 2}, "the study has all 2 answers it asks for"),
            ({"annotator_budget": 2}, "Ann has given all 2 answers asked for"),
            ({"paused": True}, "the owner has paused this study"),
            ({"deadline": "2020-01-01T00:00Z"}, "the time for this study was over"),
        ],
    )
    def test_the_session_ends_with_its_summary(self, run, study, rules, said):
        with Study.open("sqlite:///study.db") as opened:
            opened.set_rules(**rules)
        result = run("annotate", "study.db", "-a", "Ann", keys="12121")
        assert (result.code, result.err) == (0, "")
        assert said in " ".join(result.out.split())
        assert f"You gave {len(outcomes())} answer" in result.out

    def test_whoever_was_left_out_is_told_so(self, run, study):
        run("annotate", "study.db", "-a", "Ann", keys="1q")
        run("exclude", "study.db", "--annotator", "Ann")
        result = run("annotate", "study.db", "-a", "Ann", keys="1")
        assert (result.code, "'Ann' is excluded" in result.out) == (0, True)


@pytest.fixture
def terminal(folder):
    """Start a command in a pseudo-terminal; returns what to type into and read from."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals need POSIX")
    started: list[tuple[int, int]] = []

    def start(*line: str, **environment: str) -> Terminal:
        pid, descriptor = pty.fork()
        if pid == 0:
            os.environ.update({"TERM": "xterm", **environment})
            os.execv(sys.executable, [sys.executable, "-m", "ordinate", *line])
        started.append((pid, descriptor))
        return Terminal(pid, descriptor)

    yield start
    for pid, descriptor in started:
        os.close(descriptor)
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


class Terminal:
    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid, self.descriptor, self.seen = pid, descriptor, ""

    def type(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def wait_for(self, text: str, seconds: float = 30.0) -> str:
        """Read until the text has come (since the last wait); returns what came before it."""
        import select

        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} never came; there was {self.seen!r}"
            if select.select([self.descriptor], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.descriptor, 65536).decode("utf-8", "replace")
                except OSError:  # Linux: the other side has gone
                    assert text in self.seen, f"{text!r} never came; there was {self.seen!r}"
        before, _, self.seen = self.seen.partition(text)
        return before

    def exit_code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class TestRealTerminal:
    @pytest.mark.parametrize(("columns", "side_by_side"), [pytest.param("90", 2, marks=pytest.mark.slow), ("70", 1)])
    def test_narrow_terminals_get_the_items_one_above_the_other(self, terminal, study, columns, side_by_side):
        session = terminal("annotate", "study.db", COLUMNS=columns)
        shown = session.wait_for("q quit")
        assert max(line.count("╭") for line in shown.splitlines()) == side_by_side

    def test_arrows_undo_and_quit(self, terminal, study):
        session = terminal("annotate", "study.db", NO_COLOR="1")
        session.wait_for("q quit")
        session.type(LEFT)
        session.wait_for("1 answer from you")
        session.wait_for("q quit")
        session.type("t" + RIGHT)  # typed ahead
        session.wait_for("3 answers from you")
        session.type("u")
        session.wait_for("2 answers from you")
        session.wait_for("q quit")
        session.type("q")
        session.wait_for("You gave 2 answers.")
        assert session.exit_code() == 0
        assert outcomes() == ["left", "tie"]

    def test_interrupt_keeps_the_answers_and_restores_the_terminal(self, terminal, study):
        import termios

        session = terminal("annotate", "study.db")
        session.wait_for("q quit")
        assert not termios.tcgetattr(session.descriptor)[3] & termios.ECHO
        session.type("1")
        session.wait_for("1 answer from you")
        session.wait_for("q quit")
        session.type("\x03")
        session.wait_for("Interrupted. ")
        assert termios.tcgetattr(session.descriptor)[3] & termios.ECHO
        assert session.exit_code() == 130
        assert outcomes() == ["left"]

    def test_keys_act_again_after_a_stop_and_go_on(self, terminal, study):
        import termios

        session = terminal("annotate", "study.db")
        session.wait_for("q quit")
        os.kill(session.pid, signal.SIGSTOP)
        os.waitpid(session.pid, os.WUNTRACED)
        modes = termios.tcgetattr(session.descriptor)
        modes[3] |= termios.ICANON | termios.ECHO  # as a shell sets them that has stopped a command
        termios.tcsetattr(session.descriptor, termios.TCSANOW, modes)
        os.kill(session.pid, signal.SIGCONT)
        end = time.monotonic() + 30.0
        while termios.tcgetattr(session.descriptor)[3] & (termios.ICANON | termios.ECHO):
            assert time.monotonic() < end, "the terminal still waits for lines"
            time.sleep(0.05)
        session.type("1")
        session.wait_for("1 answer from you")
        session.type("q")
        session.wait_for("You gave 1 answer")
        assert session.exit_code() == 0


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="puts another xdg-open in the way")
class TestPictures:
    @pytest.fixture
    def viewer(self, folder: Path, monkeypatch) -> Path:
        """An `xdg-open` that notes what it was asked to open."""
        tools = folder / "tools"
        tools.mkdir()
        (tools / "xdg-open").write_text(f'#!/bin/sh\necho "$1" >> "{folder}/opened"\n')
        (tools / "xdg-open").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DISPLAY", ":7")
        return folder / "opened"

    @pytest.fixture
    def photos(self, run, folder):
        Image.new("RGB", (40, 30), "red").save(folder / "red.png")
        Image.new("RGB", (20, 50), "blue").save(folder / "blue.png")
        (folder / "photos.csv").write_text("id,image\nr,red.png\nb,blue.png\n")
        assert run("create", "photos.db", "--items", "photos.csv").code == 0

    def annotate(self, keys: str) -> str:
        # In a process of its own: the viewer outlives the command.
        line = [sys.executable, "-m", "ordinate", "annotate", "photos.db"]
        done = subprocess.run(line, input=keys, capture_output=True, text=True, check=True)
        return done.stdout

    def test_both_images_open_as_one_picture(self, photos, viewer):
        self.annotate("q")
        deadline = time.monotonic() + 60
        while not viewer.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert viewer.read_text().strip().endswith("left-and-right.png")

    def test_without_a_viewer_the_paths_are_printed(self, run, photos, folder, monkeypatch):
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        out = run("annotate", "photos.db", keys="oq").out
        assert "This terminal cannot open a viewer" in out
        assert str(folder / "red.png") in out
        assert str(folder / "blue.png") in out

    def test_a_broken_image_is_no_reason_to_stop(self, run, photos, folder, viewer):
        (folder / "red.png").write_bytes(b"no image")
        result = run("annotate", "photos.db", keys="1")
        assert result.code == 0
        assert "cannot show the images" in result.out
        assert outcomes("photos.db") == ["left"]

    def test_the_picture_keeps_the_sides(self, photos, folder):
        from ordinate.cli.media import _side_by_side

        with Image.open(_side_by_side("red.png", "blue.png", folder)) as both:
            assert both.getpixel((5, both.height // 2)) == (255, 0, 0)
            assert both.getpixel((both.width - 5, both.height // 2)) == (0, 0, 255)
