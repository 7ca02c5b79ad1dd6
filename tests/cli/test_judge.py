"""`ordinate judge`: a model answers from the command line."""

from __future__ import annotations

import builtins
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.judges.conftest import Model, completion, model

from ordinate.errors import InvalidInput
from ordinate.study.machines import Machine
from ordinate.study.study import Study

__all__ = ["model"]
PAIRS = 6  # of the four items of the study


def line(model: Model, *more: str) -> list[str]:
    Path("prompt.txt").write_text("Prefer the clearer one.")
    return ["judge", "study.db", "--endpoint", model.url, "--model", "m-1", "--prompt", "prompt.txt", *more]


@pytest.fixture
def first(model: Model) -> Model:
    """A model that prefers item A."""
    model.answer = lambda _: completion("[[A]]")
    return model


def test_it_says_what_it_did_and_why_it_stopped(run, study, first):
    done = run(*line(first, "--answers", "3"))
    assert done.code == 0, done.err
    assert done.out == (
        "Judged 3 pairs: 3 decided. Stopped: all 3 answers are given.\n"
        "m-1 has given 3 answers in all, for 300 tokens.\n"
    )
    again = run(*line(first, "--json"))
    assert again.json["judged"] == {"decided": PAIRS - 3}
    assert (again.json["answers"], again.json["tokens"]) == (PAIRS, 100 * PAIRS)


def test_a_dry_run_prints_the_request_and_sends_and_stores_nothing(run, study, model, monkeypatch):
    before = study.read_bytes()
    monkeypatch.setenv("MY_KEY", "sk-secret")
    shown = run(*line(model, "--dry-run", "--key-variable", "MY_KEY", "--parameter", "temperature=0.5"))
    assert shown.json["headers"] == {"Authorization": "Bearer (from MY_KEY)"}
    assert (shown.json["body"]["model"], shown.json["body"]["temperature"]) == ("m-1", 0.5)
    assert "Which is clearer?" in shown.json["body"]["messages"][0]["content"]
    assert "sk-secret" not in shown.out + shown.err
    assert model.sent == []
    assert study.read_bytes() == before
    # It is the first request indeed.
    model.answer = lambda _: completion("[[A]]")
    run(*line(model, "--answers", "1", "--parameter", "temperature=0.5"))
    assert model.sent[0].body == shown.json["body"]


def test_the_key_comes_from_the_environment_and_is_kept_nowhere(run, study, first, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    done = run(*line(first))
    assert {one.headers["authorization"] for one in first.sent} == {"Bearer sk-secret"}
    assert "sk-secret" not in done.out + done.err
    assert b"sk-secret" not in study.read_bytes()


@pytest.mark.parametrize("key", ["sk-secret\n", "\tsk-secret\r\n"])
def test_a_key_with_the_end_of_a_line_is_taken_without_it(run, study, first, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    done = run(*line(first, "--answers", "1"))
    assert (done.code, first.sent[0].headers["authorization"]) == (0, "Bearer sk-secret")


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-secr\u00e9t", "sk secret", "  \n", "sk-secret\x07"])
def test_what_is_no_key_is_refused_at_once_and_not_shown(run, study, first, monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    done = run(*line(first, "--key-variable", "MY_KEY"))
    assert (done.code, first.sent) == (2, [])
    assert "MY_KEY: the key is empty, or holds a space" in " ".join(done.err.split())
    assert "sk" not in done.err.replace("ask", "")
    assert "secr" not in done.out + done.err


def test_the_name_of_a_model_is_no_name_of_a_person(run, study, first):
    run(*line(first, "--answers", "1"))
    for command in (["ask", "study.db"], ["annotate", "study.db"]):
        refused = run(*command, "--annotator", "M-1")
        assert (refused.code, "'m-1' is the name of a model" in refused.err) == (2, True), refused.err
    with Study.open(f"sqlite:///{study}") as opened:
        with pytest.raises(InvalidInput, match="link needs another name"):
            opened.make_link("annotator", "m-1")
        with pytest.raises(InvalidInput, match="row 2: 'm-1' is the name of a model"):
            opened.make_links(["ann", "m-1"])
        opened.make_link("annotator", "gpt")
        with pytest.raises(InvalidInput, match="'gpt' has a link as a person"):
            opened.add_machine("gpt", Machine("gpt", "0" * 64))
        with pytest.raises(InvalidInput, match="not the name of a model"):
            opened.ask_model("ann", 1)


def test_nobody_answers_a_query_of_a_model_by_its_id(run, study):
    with Study.open("sqlite:///study.db") as opened:
        name = opened.add_machine("m", Machine("a model", "0" * 64))
        (query,) = opened.ask_model(name, 1)
    refused = run("tell", "study.db", query.id, "left")
    assert (refused.code, "was given to the model 'm'" in refused.err) == (2, True)
    assert run("withdraw", "study.db", query.id).code == 0
    asked = run("ask", "study.db", "-a", "Ann", "--json").json["queries"][0]["id"]
    assert run("tell", "study.db", asked, "left").code == 0


def test_the_log_keeps_the_model_and_the_prompt(run, study, first):
    run(*line(first, "--answers", "1", "--orders", "both", "--parameter", "temperature=0"))
    connection = sqlite3.connect(study)
    ((name, model_name, value),) = connection.execute(
        "SELECT annotator, name, value FROM log WHERE kind = 'machine'"
    ).fetchall()
    connection.close()
    assert (name, model_name) == ("m-1", "m-1")
    assert '"orders": "both"' in value
    assert "temperature" in value
    assert first.url not in value


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--endpoint", "nowhere"], "an endpoint is an address such as"),
        (["--endpoint", "https://me:pw@host/v1"], "a key comes from the environment"),
        (["--prompt", "none.txt"], "none.txt"),
        (["--parameter", "temperature"], "--parameter takes NAME=VALUE"),
        (["--parameter", "messages=[]"], "is set by this command"),
        (["--parameter", "temperature=NaN"], "--parameter temperature: JSON has no NaN"),
        (["--parameter", "stop=[1e999]"], "--parameter stop: JSON has no NaN"),
        (["--parameter", 'stop="\\ud800"'], "--parameter stop: JSON has no NaN"),
    ],
)
def test_bad_input_is_named(run, study, model, more, said):
    done = run(*line(model, *more))
    assert (done.code, said in done.err) == (2, True), done.err
    assert model.sent == []


def test_more_at_once_than_a_server_gives_is_refused(run, model):
    Path("prompt.txt").write_text("Prefer the clearer one.")
    asked = ["--endpoint", model.url, "--model", "m", "--prompt", "prompt.txt", "--concurrency", "21"]
    done = run("judge", "http://127.0.0.1:1/join/s/x", *asked)
    assert (done.code, "take --concurrency 20" in done.err) == (2, True), done.err


def test_an_endpoint_that_fails_ends_with_1_and_keeps_what_came(run, study, model):
    model.next = [completion("[[A]]"), completion("[[B]]")]
    model.answer = lambda _: completion("[[A]]")._replace(status=401, body=b"who are you?")
    done = run(*line(model, "--concurrency", "1"))
    assert done.code == 1
    assert "status 401 (who are you?)" in done.err
    assert "OPENAI_API_KEY" in done.err
    with Study.open(f"sqlite:///{study}") as opened:
        assert len(opened.comparisons()) == 2


def test_without_httpx_the_command_says_how_to_get_it(run, study, model, monkeypatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "httpx":
            raise ModuleNotFoundError("No module named 'httpx'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    done = run(*line(model))
    assert done.code == 1
    assert "python -m pip install 'ordinate[judge]'" in done.err


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_run_that_is_killed_goes_on_and_judges_nothing_twice(run, study, model):
    model.answer = lambda sent: completion("[[A]]")._replace(delay=0.1)
    command = [sys.executable, "-m", "ordinate", *line(model, "--concurrency", "2")]
    with subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60.0
        while len(model.sent) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.wait(30.0)
    assert 4 <= len(model.sent) <= PAIRS
    with Study.open(f"sqlite:///{study}") as opened:
        kept = opened.comparisons()
    assert len(kept) >= 1
    model.answer = lambda sent: completion("[[B]]")
    done = run(*line(model, "--json"))
    assert done.json["answers"] == PAIRS
    with Study.open(f"sqlite:///{study}") as opened:
        after = opened.comparisons()
    assert after[: len(kept)] == kept
    assert len({frozenset((one.left, one.right)) for one in after}) == PAIRS
    # Only what was under way when it was killed was sent again.
    assert len(model.sent) <= PAIRS + 2


def test_annotators_shows_which_are_models(run, study, first):
    run(*line(first))
    run("tell", "study.db", run("ask", "study.db", "--annotator", "ann", "--json").json["queries"][0]["id"], "left")
    kinds = {one["name"]: one["kind"] for one in run("annotators", "study.db", "--json").json["annotators"]}
    assert kinds == {"m-1": "machine", "ann": "person"}
    assert "m-1 (model)" in run("annotators", "study.db").out


def test_order_takes_the_answers_of_people_or_of_models_alone(run, study, first):
    assert run("order", "study.db", "--annotators", "models").code == 2
    run(*line(first))
    for _ in range(2):
        query = run("ask", "study.db", "--annotator", "ann", "--json").json["queries"][0]
        run("tell", "study.db", query["id"], "right")
    counts = {
        given: run("order", "study.db", "--annotators", given, "--json").json["comparisons"]
        for given in ("people", "models", "ann", "ann,m-1")
    }
    assert counts == {"people": 2, "models": PAIRS, "ann": 2, "ann,m-1": PAIRS + 2}
    refused = run("order", "study.db", "--annotators", "anna")
    assert (refused.code, "'anna'" in refused.err) == (2, True)


def test_people_go_on_after_a_model_and_a_model_that_they_contradict_is_left_out(run, study, first):
    run(*line(first))
    first.answer = lambda _: completion("[[A]]")._replace(status=401)
    assert run(*line(first, "--annotator", "no-key")).code == 1
    said = run("order", "study.db", "--trust", "0.7").err
    assert "m-1: no pair was judged by people too" in said
    assert "no-key" not in said
    done = run("annotate", "study.db", "--annotator", "ann", "--after-models", keys="1" * 6 + "q")
    assert done.code == 0, done.err
    with Study.open(f"sqlite:///{study}") as opened:
        assert opened.rules.after_models
        known = {(one.left, one.right): one.outcome for one in opened.comparisons() if one.annotator == "m-1"}
        # Two people who always say the contrary of what the model did.
        for (left, right), outcome in known.items():
            for name in ("bob", "cid"):
                opened.record((left, right, "right" if outcome == "left" else "left", name))
    table = run("annotators", "study.db").out.splitlines()
    assert "  people" in table[0]
    rows = {one["name"]: one for one in run("annotators", "study.db", "--json").json["annotators"]}
    assert rows["m-1"]["with_people"] < 0.1
    assert rows["m-1"]["with_people_low"] <= rows["m-1"]["with_people"] <= rows["m-1"]["with_people_high"] < 0.7
    assert rows["bob"]["with_people"] is None
    shown = run("order", "study.db", "--trust", "0.7", "--json")
    assert "m-1: agrees with people on " in shown.err
    assert "so it is left out." in shown.err
    with Study.open(f"sqlite:///{study}") as opened:
        assert shown.json["comparisons"] == len(opened.comparisons()) - PAIRS
    assert run("order", "study.db", "--trust", "0.7", "--annotators", "ann").code == 2
