import numpy as np
import pytest

from ordinate.simulation.summary import comparisons_needed, curves, error_table


def rows_of(errors):
    """Columns as `simulate` returns them, from {algorithm: {seed: {step: error}}}."""
    listed = [
        (algorithm, seed, step, error, 0.0)
        for algorithm, by_seed in errors.items()
        for seed, by_step in by_seed.items()
        for step, error in by_step.items()
    ]
    names = ("algorithm", "seed", "step", "error", "seconds")
    return {name: list(column) for name, column in zip(names, zip(*listed, strict=True), strict=True)}


ROWS = rows_of(
    {
        "quick": {0: {0: 0.5, 100: 0.2, 200: 0.1}, 1: {0: 0.5, 100: 0.4, 200: 0.1}},
        "slow": {0: {0: 0.5, 100: 0.5, 200: 0.4}, 1: {0: 0.5, 100: 0.3}},
    }
)


def test_curves_hold_the_mean_and_its_standard_error_over_seeds():
    quick, slow = curves(ROWS)
    assert quick.algorithm == "quick"
    np.testing.assert_allclose(quick.mean, [0.5, 0.3, 0.1])
    np.testing.assert_allclose(quick.standard_error, [0.0, np.std([0.2, 0.4], ddof=1) / np.sqrt(2), 0.0])
    assert slow.seeds.tolist() == [2, 2, 1]
    assert np.isnan(slow.standard_error[2])


def test_the_table_shows_the_steps_asked_for_and_leaves_gaps_empty():
    assert error_table(ROWS, [100, 150]) == {
        "algorithm": ["quick", "slow"],
        "100": ["0.300 ± 0.100", "0.400 ± 0.100"],
        "150": ["", ""],
    }
    assert list(error_table(ROWS)) == ["algorithm", "0", "100", "200"]


@pytest.mark.parametrize(("error", "quick", "slow"), [(0.4, 50.0, 100.0), (0.1, 200.0, None), (0.6, 0.0, 0.0)])
def test_comparisons_needed_reads_the_mean_curve(error, quick, slow):
    assert comparisons_needed(ROWS, error) == {"quick": pytest.approx(quick), "slow": slow and pytest.approx(slow)}
