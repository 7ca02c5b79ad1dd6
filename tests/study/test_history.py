"""The answers of a study as a table: a row for each, with all that is known of it."""

from ordinate import Comparison, Items, Study
from ordinate.storage import AnswerDetails
from ordinate.study.ledger import acting_as
from ordinate.study.machines import Machine


def test_all_that_is_stored_of_an_answer() -> None:
    study = Study.create(Items(["a", "b", "c", "d"], group=["g", "g", "h", "h"]))
    query = study.ask("ann")
    shown, answered = "2025-01-31T12:00:00+00:00", "2025-01-31T12:00:04.500+00:00"
    study.tell(query.id, "skip", AnswerDetails("too dark", shown, answered, 4500, "browser", "key-1"))
    history = study.history()
    assert {len(values) for values in history.values()} == {1}
    row = {name: values[0] for name, values in history.items()}
    assert (row["left"], row["right"], row["winner"], row["annotator"]) == (query.left, query.right, "skip", "ann")
    assert (row["group"], row["status"], row["query"]) == ("g" if query.left in "ab" else "h", "skipped", query.id)
    assert (row["duration_ms"], row["reason"], row["client"]) == (4500, "too dark", "browser")
    assert row["shown_at"] == "2025-01-31T12:00:00.000+00:00"
    assert row["answered_at"] == "2025-01-31T12:00:04.500+00:00"
    assert row["asked_at"] <= row["stored_at"]
    assert row["taken_back_at"] is None
    assert row["algorithm"] == study.settings.algorithm
    assert row["utility"] is not None


def test_repeats_name_the_earlier_query() -> None:
    study = Study.create(Items([f"i{number}" for number in range(8)]))
    study.set_rules(repeat=1.0)
    first = study.ask("ann")
    study.tell(first.id, "left")
    for _ in range(6):
        study.tell(study.ask("ann").id, "left")
    history = study.history()
    repeated = [number for number, earlier in enumerate(history["repeat_of"]) if earlier is not None]
    assert repeated
    for number in repeated:
        earlier = history["query"].index(history["repeat_of"][number])
        assert {history["left"][number], history["right"][number]} == {
            history["left"][earlier],
            history["right"][earlier],
        }


def test_why_an_answer_does_not_count() -> None:
    study = Study.create(Items(["a", "b", "c"]))
    study.record(
        [Comparison("a", "b", "left", "ann"), Comparison("b", "c", "left", "ben"), Comparison("a", "c", "tie")]
    )
    study.exclude_item("b")
    study.exclude_annotator("ann")
    assert study.history()["status"] == ["annotator excluded", "item excluded", "counts"]
    study.include_item("b")
    study.include_annotator("ann")
    assert study.history()["status"] == ["counts"] * 3
    assert "group" not in study.history()


def test_an_answer_given_again_after_it_was_taken_back() -> None:
    study = Study.create(Items(["a", "b"]))
    query = study.ask()
    for answer in ("left", "right", "tie"):
        study.tell(query.id, answer)
        if answer != "tie":
            study.undo()
    assert study.history()["winner"] == ["left", "right", "tie"]
    assert study.history()["status"] == ["taken back", "taken back", "counts"]


def test_models_their_tokens_and_owners_programs_are_told_apart() -> None:
    study = Study.create(Items(["a", "b", "c"]))
    study.add_machine("gpt", Machine("gpt-5", "0" * 64))
    study.record([Comparison("a", "c", "left")])
    study.tell(study.ask("ann").id, "left")
    with acting_as("Olga"):
        (query,) = study.ask_model("gpt", 1)
        study.tell(query.id, "left", AnswerDetails(tokens=30))
        study.undo("gpt")
        study.tell(query.id, "right", AnswerDetails(tokens=12))
    history = study.history()
    assert history["judge"] == [None, None, "gpt-5", "gpt-5"]
    assert history["tokens"] == [None, None, 30, 12]
    assert history["by"] == [None, None, "Olga", "Olga"]
