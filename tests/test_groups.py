"""Tests of one group run in one process: a version of pytest took this from pytest-xdist, and nothing failed."""

import pytest


@pytest.mark.xdist_group("these")
def test_a_group_is_known_to_whoever_deals_out_tests(request: pytest.FixtureRequest, worker_id: str) -> None:
    if worker_id == "master":
        pytest.skip("all tests run in one process")
    assert request.node.nodeid.endswith("@these")
