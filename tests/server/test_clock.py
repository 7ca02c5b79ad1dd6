"""The system's clock jumps while people judge: what goes on, what ends, and that no answer is lost."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ordinate.data.items import Items
from ordinate.server.signing import LinkSigner
from ordinate.storage import timestamp

DAY = 24 * 3600
SECRET = "a secret of these tests"


class Clock:
    """Ahead of the right time by as much as a test says."""

    ahead = 0.0

    def seconds(self) -> float:
        return time.time() + self.ahead

    def text(self) -> str:
        return timestamp(datetime.now(UTC) + timedelta(seconds=self.ahead))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site(build: Any, clock: Clock) -> Any:
    site = build(Items(["a", "b", "c"]), lease=600.0)
    site.study._ledger.clock = clock.text
    site.authenticator.signer = LinkSigner(SECRET, clock.seconds)
    return site


@pytest.mark.parametrize(
    ("ahead", "status"), [(-DAY, 200), (-400 * DAY, 200), (0, 200), (30 * DAY - 60, 200), (30 * DAY + 60, 401)]
)
def test_sessions_last_thirty_days_and_survive_a_clock_that_is_set_back(
    site: Any, clock: Clock, ahead: float, status: int
) -> None:
    browser = site.browser("Ann")
    clock.ahead = ahead
    assert browser.get("").status_code == status


def test_whoever_opens_their_link_again_goes_on_in_pages_that_are_open(site: Any, clock: Clock) -> None:
    token = site.token()
    ann = site.browser("Ann", token=token)
    for days, status in ((1, 200), (20, 403)):
        clock.ahead = days * DAY
        assert ann.client.post(f"/join/essays/{token}", data={"name": "Ann"}).status_code == 200
        assert ann.post("/queries").status_code == status, "a session is renewed once half of its time is over"
    clock.ahead = 40 * DAY
    assert ann.client.get("/api/v1/studies/essays").status_code == 200


def test_after_a_jump_of_forty_days_the_link_still_opens_the_study(site: Any, clock: Clock) -> None:
    token = site.token()
    (held,) = site.browser("Ann", token=token).ask()
    clock.ahead = 40 * DAY
    ann = site.browser("Ann", token=token)
    assert ann.get("").status_code == 200
    assert ann.tell(held).status_code == 200, "its lease has ended, and nobody else was given the pair"
    assert site.study.annotators() == {"Ann": 1}


def test_answers_count_while_the_clock_is_a_day_back(site: Any, clock: Clock) -> None:
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ann.ask()
    clock.ahead = -DAY
    assert ann.post("/shown", {"query": held["id"]}).status_code == 200
    (other,) = bob.ask()
    assert {other["left"]["id"], other["right"]["id"]} != {held["left"]["id"], held["right"]["id"]}
    assert ann.tell(held).status_code == 200
    assert bob.tell(other).status_code == 200
    assert ann.post("/undo").status_code == 200
    assert site.study.annotators() == {"Bob": 1}


def test_a_link_with_an_end_goes_by_the_clock_of_the_server(site: Any) -> None:
    until = datetime.now(UTC) + timedelta(days=1)
    assert site.client.get(f"/join/essays/{site.token(expires_at=until)}").status_code == 200
