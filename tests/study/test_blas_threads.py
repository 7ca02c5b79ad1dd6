"""The number of BLAS threads in a block, in one within another, and after both."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ordinate.study.threads import one_thread


def now() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("before", [1, 2])
def test_a_block_is_on_one_thread_and_the_outer_one_puts_the_number_back(before: int) -> None:
    with one_thread():
        pass  # all libraries are loaded now
    with threadpool_limits(before, "blas"):
        with one_thread():
            with one_thread():
                assert now() == {1}
            assert now() == {1}
        assert now() == {before}
