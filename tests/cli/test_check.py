"""`ordinate check`, and what `status` and `order` say of unconnected items."""

from ordinate import Study


def answer(count, path="study.db"):
    with Study.open(f"sqlite:///{path}") as study:
        for _ in range(count):
            query = study.ask()
            study.tell(query.id, "left" if query.left > query.right else "right")


def test_without_answers_nothing_is_checked_and_nothing_failed(run, study):
    result = run("check", "study.db")
    assert result.code == 0
    assert result.out.startswith("There are no answers yet, so there is nothing to check.\n\ncheck")


def test_a_failed_check_is_exit_code_3_and_a_row_is_a_line(run, study):
    answer(2)
    result = run("check", "study.db")
    assert result.code == 3
    lines = result.out.splitlines()
    assert lines[0] == "Do not rely on this order yet: the answers cannot be told from coin tosses."
    (row,) = [line for line in lines if line.startswith("enough answers")]
    assert row.split()[2:5] == ["failed", "0.5", "3"]
    assert "Ask 10 more questions" in row
    assert len(lines) == 3 + 14


def test_answers_per_item_have_decimals_only_where_they_are_not_whole(run, study):
    for answers, said in ((4, "There is 1 answer per item (4 for 4 items)."), (5, "There are 1.2 answers per item")):
        answer(answers - len(Study.open("sqlite:///study.db").comparisons()))
        assert said in run("check", "study.db").out
    answer(3)
    assert "There are 2 answers per item (8 for 4 items)." in run("check", "study.db").out


def test_no_line_that_goes_to_a_file_is_filled_up_with_spaces(run, study):
    answer(6)
    for line in (
        ["check", "study.db"],
        ["order", "study.db"],
        ["status", "study.db"],
        ["datasets"],
        ["annotators", "study.db"],
    ):
        out = run(*line).out
        assert [one for one in out.splitlines() if one != one.rstrip()] == [], line


def test_json_has_a_row_for_each_check(run, study):
    answer(2)
    given = run("check", "study.db", "--json")
    assert given.code == 3
    assert given.json["expected_error"] is None
    assert given.json["checks"][0] == {
        "check": "enough answers",
        "state": "failed",
        "value": 0.5,
        "threshold": 3.0,
        "found": "There are 0.5 answers per item (2 for 4 items).",
        "advice": "Ask 10 more questions: figures move much until then.",
    }


def test_items_that_no_answers_connect_are_named_in_status_and_order(run, study):
    answer(1)
    said = (
        "Answers do not connect 2 of 4 items with the rest (2 of them were never compared): only features place them."
    )
    assert said in run("status", "study.db").out
    assert said in run("order", "study.db").out
    assert run("status", "study.db", "--json").json["unconnected_items"] == 2
    run("create", "plain.db", "--items", "items.csv")
    answer(6, "plain.db")
    assert "Answers connect every item with every other." in run("status", "plain.db").out
    assert "connect" not in run("order", "plain.db").out
