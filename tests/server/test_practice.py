"""Practice over HTTP: rules, pairs with their right answers, and what the owner sees."""

from __future__ import annotations


def test_a_newcomer_practises_and_the_owner_sees_it(site):
    olga, ann = site.browser("Olga", "owner"), site.browser("Ann")
    pairs = [{"left": "item 00", "right": "item 05", "expected": "left"}, {"left": "item 02", "right": "item 01"}]
    changed = olga.patch("/rules", {"practice": pairs})
    assert changed.status_code == 200, changed.text
    assert changed.json()["practice"] == [pairs[0], {**pairs[1], "expected": None}]
    (first,) = ann.ask()
    assert (first["practice"], first["expected"], first["left"]["id"]) == (True, "left", "item 00")
    told = ann.tell(first, "right", key="one", count=1).json()
    assert (told["practice"], told["counts"], told["your_answers"]) == (True, False, 0)
    assert [one["practice"] for one in told["next"]] == [True]
    second, real = ann.ask(2)
    assert (second["practice"], second["expected"], real["practice"]) == (True, None, False)
    assert ann.tell(first, "right", key="one").status_code == 200
    ann.tell(second, "skip", reason="cannot tell")
    told = ann.tell(real).json()
    assert (told["practice"], told["counts"], told["your_answers"]) == (False, True, 1)
    (row,) = olga.get("/annotators").json()["annotators"]
    assert (row["practised"], row["practice_known"], row["practice_right"]) == (2, 1, 0)
    assert olga.get("/comparisons").json()["total"] == 1
    assert olga.get("/changes").json()["changes"][0]["what"] == (
        "set the rule practice to item 00 | item 05 | left, item 02 | item 01"
    )
    assert ann.post("/undo").status_code == 200
    assert ann.post("/undo").status_code == 409, "practice is not taken back"


def test_practice_pairs_of_strangers_and_wrong_ones_are_refused(site):
    olga, ann = site.browser("Olga", "owner"), site.browser("Ann")
    for wrong in (
        [{"left": "item 00"}],
        [{"left": "item 00", "right": "x"}],
        [{"left": "item 00", "right": "item 00"}],
    ):
        assert olga.patch("/rules", {"practice": wrong}).status_code in (404, 422), wrong
    olga.patch("/rules", {"practice": [{"left": "item 00", "right": "item 05"}]})
    (mine,) = ann.ask()
    shown = ann.post("/shown", {"query": mine["id"]})
    assert (shown.status_code, shown.json()["expires_at"]) == (200, None), "it is held without an end"
    assert site.browser("Bob").tell(mine).status_code == 403
    assert site.browser("Bob").post("/shown", {"query": mine["id"]}).status_code == 403
    assert ann.post("/answers", {"query": mine["id"] + "0", "answer": "left"}).status_code == 404
