"""Each experiment on each of its data sets, from a folder to rows and figures, at a tiny size."""

from dataclasses import replace

import numpy as np
import pytest

from ordinate.data.ordering import Ordering
from ordinate.errors import InvalidInput
from ordinate.experiments import EXPERIMENTS, Wishes
from ordinate.experiments.human import HELD_OUT, SUBSET, TARGET, TRUTH, HumanTask, SubsetTask, bradley_terry
from ordinate.experiments.image_clarity import distortion_features
from ordinate.experiments.reproduce import Sources, cases, measured_figures, run_case
from ordinate.experiments.sources import ridge
from ordinate.experiments.x_ray_age import GAP, IN_SAMPLE, NOISE, OUT_OF_SAMPLE, SPREAD
from ordinate.simulation.run import Plan

pytestmark = pytest.mark.xdist_group("experiments")  # with test_page.py, which looks at the same runs
WISHES = Wishes(seeds=2, budget=20)


def every_case():
    return [(name, data) for name, row in EXPERIMENTS.items() for data in row]


@pytest.mark.parametrize(
    ("name", "data"),
    [pytest.param(*case, marks=() if case[1] == "wiscads_no_text" else pytest.mark.slow) for case in every_case()],
)
def test_an_experiment_runs_from_the_folder_to_the_figures(ran, out, name, data):
    done = ran(name, data)
    case = done.case
    assert case.name == data
    expected = sum(len(setting.algorithms) * 2 for setting in case.settings)
    assert done.made == expected
    assert set(done.figures) == {figure.name for figure in case.data.figures}
    for paths in done.figures.values():
        assert {path.suffix for path in paths} == {".png", ".svg", ".pdf"}
        assert all(path.stat().st_size > 1000 for path in paths)
    for rows in done.rows.values():
        assert np.isfinite(rows["error"]).all()
        assert set(rows["seed"]) == {0, 1}
    again = run_case(without_figures(case), Sources(), out, 1, lambda what: None)
    assert again.made == 0
    assert again.rows == done.rows


def without_figures(case):
    """The case with nothing to draw, which takes longer than the runs."""
    return replace(case, data=case.data._replace(figures=()))


def only(name, sources, wishes=WISHES):
    (case,) = cases(name, sources, wishes)
    return case


@pytest.mark.slow
def test_the_same_rows_whatever_the_number_of_jobs(world, tmp_path):
    world.write("gppl_humour", tmp_path)
    case = without_figures(only("imdb-wiki-sbs", Sources(folder=str(tmp_path))))
    case = replace(case, settings=case.settings[:2])
    one, two = (run_case(case, Sources(), tmp_path / f"out{jobs}", jobs, lambda what: None).rows for jobs in (1, 2))
    for setting in one:
        for name in ("algorithm", "seed", "step", "part", "error"):
            assert one[setting][name] == two[setting][name]


def test_the_paper_s_own_data_is_preferred_to_a_stand_in(world, tmp_path):
    world.write("sentimentit_movie_reviews", tmp_path)
    assert only("wisc-ads", Sources(folder=str(tmp_path))).name == "sentimentit_movie_reviews"
    world.write("wisc-ads", tmp_path)
    assert only("wisc-ads", Sources(folder=str(tmp_path))).name == "wisc-ads"
    named = Sources(data="sentimentit_movie_reviews", folder=str(tmp_path))
    assert only("wisc-ads", named).name == "sentimentit_movie_reviews"


def test_any_folder_of_tables_can_be_run_on(world, tmp_path):
    world.tables(tmp_path / "mine")
    case = only("wisc-ads", Sources(data=str(tmp_path / "mine")))
    assert case.name == "mine"
    with pytest.raises(InvalidInput, match="the data of wisc-ads are a folder or one of wisc-ads"):
        only("wisc-ads", Sources(data="nowhere"))
    with pytest.raises(InvalidInput, match=r"wisc-ads, sentimentit_movie_reviews \(in place of campaign"):
        only("wisc-ads", Sources(folder=str(tmp_path)))


@pytest.mark.slow
def test_without_a_true_order_only_that_panel_is_missing(world, tmp_path):
    folder = world.tables(tmp_path / "mine")
    lines = (folder / "items.csv").read_text().splitlines()
    (folder / "items.csv").write_text("\n".join(line.split(",")[0] for line in lines) + "\n")
    done = run_case(only("image-clarity", Sources(data=str(folder))), Sources(), tmp_path / "out", 1, lambda what: None)
    assert set(done.rows["held-out"]["part"]) == {HELD_OUT, TARGET}
    drawn = {figure.name: figure.panels for figure in measured_figures(done.case.data.figures, done.rows)}
    assert len(drawn["image-clarity"]) == 3
    assert set(drawn) == set(done.figures)


def test_features_that_are_missing_are_asked_for(world, tmp_path):
    world.write("wisc-ads", tmp_path)
    (tmp_path / "wisc-ads" / "features.npy").unlink()
    with pytest.raises(InvalidInput, match=r"has no features\.npy: a matrix with a row for each of the 24 items"):
        only("wisc-ads", Sources(folder=str(tmp_path)))


@pytest.mark.slow
def test_the_gap_is_out_of_sample_minus_in_sample(ran):
    done = ran("x-ray-age", "x-ray-age")
    assert all(setting.task.noise == NOISE for setting in done.case.settings)
    rows = done.rows["generalisation"]
    part = {name: np.array([e for e, p in zip(rows["error"], rows["part"], strict=True) if p == name])
            for name in (IN_SAMPLE, OUT_OF_SAMPLE, GAP)}  # fmt: skip
    assert np.array_equal(part[GAP], part[OUT_OF_SAMPLE] - part[IN_SAMPLE])


def test_the_halves_are_the_lower_and_the_upper_one(world, tmp_path):
    world.write("x-ray-age", tmp_path)
    case = only("x-ray-age", Sources(folder=str(tmp_path)))
    task = case.settings[1].task
    trial = task.build(0)
    age = dict(zip(task.dataset.items.ids, task.dataset.truth, strict=True))
    trained = {age[item] for item in trial.items.ids}
    assert len(trained) == 12
    assert max(trained) <= min(set(age.values()) - trained)


def test_a_stand_in_s_noise_spreads_its_scores_as_the_paper_s(world, tmp_path):
    world.write("gppl_humour", tmp_path)
    for setting in only("x-ray-age", Sources(folder=str(tmp_path))).settings:
        assert (setting.task.noise * setting.task.scores).std() == pytest.approx(SPREAD)


def test_the_answers_about_x_rays_are_drawn_with_the_paper_s_noise(world, tmp_path):
    world.write("x-ray-age", tmp_path)
    for setting in only("x-ray-age", Sources(folder=str(tmp_path))).settings[:2]:
        task = setting.task
        score = dict(zip(task.dataset.items.ids, task.scores, strict=True))
        trial = task.build(1)
        first, second = (score[item] for item in trial.items.ids[:2])
        assert trial.annotators.probability(0, 1) == pytest.approx(1 / (1 + np.exp(0.1 * (second - first))))


class Knowing:
    """A study that has learned just these scores: item -> score."""

    def __init__(self, items, known):
        self.items, self.known = items, known

    def scores(self):
        return np.array([self.known[item] for item in self.items.ids])

    def ordering(self, items=None):
        ids = sorted((items or self.items).ids, key=lambda item: -self.known[item])
        return Ordering(tuple(ids), np.array([self.known[item] for item in ids]), np.zeros(len(ids)))

    def comparisons(self):
        raise NotImplementedError

    def expected_error(self):
        raise NotImplementedError


def test_a_measure_is_zero_for_who_knows_its_target(world, tmp_path):
    """Whatever order the items are in: those that arrive later are drawn by the seed."""
    dataset = only("image-clarity", Sources(data=str(world.tables(tmp_path / "mine")))).settings[0].task.dataset
    ids = dataset.items.ids
    target = np.random.default_rng(3).standard_normal(len(ids))
    by_truth, by_target = (dict(zip(ids, values, strict=True)) for values in (dataset.truth, target))
    for first in (None, 15):
        trial = HumanTask(dataset, target, "answers", first=first, after=5).build(1)
        for known, exact in ((by_truth, TRUTH), (by_target, TARGET)):
            errors = trial.evaluate(Knowing(trial.items, known))
            assert errors[exact] == 0.0
            assert all(error > 0.05 for name, error in errors.items() if name != exact)
    by_answers = dict(zip(ids, bradley_terry(dataset.items, dataset.comparisons), strict=True))
    every, few = (SubsetTask(dataset, target, count).build(1) for count in (400, 40))
    assert every.evaluate(Knowing(every.items, by_answers))[SUBSET] == 0.0
    assert few.evaluate(Knowing(few.items, by_answers))[SUBSET] > 0.05
    assert few.evaluate(Knowing(few.items, by_target))[TARGET] == 0.0


def test_the_held_out_answers_are_those_of_items_that_are_there(world, tmp_path):
    dataset = only("image-clarity", Sources(data=str(world.tables(tmp_path / "mine")))).settings[0].task.dataset
    trial = HumanTask(dataset, dataset.truth, "answers", share=0.5, first=15, after=5).build(1)
    known = dict(zip(dataset.items.ids, dataset.truth, strict=True))
    error = trial.evaluate(Knowing(trial.items, known))[HELD_OUT]
    opposite = trial.evaluate(Knowing(trial.items, {item: -score for item, score in known.items()}))[HELD_OUT]
    assert error < 0.3
    assert error + opposite == pytest.approx(1.0)


def test_items_out_of_the_sample_are_judged_by_their_own_scores(world, tmp_path):
    world.write("x-ray-age", tmp_path)
    task = only("x-ray-age", Sources(folder=str(tmp_path))).settings[1].task
    trial = task.build(0)
    errors = trial.evaluate(Knowing(trial.items, dict(zip(task.dataset.items.ids, task.scores, strict=True))))
    assert errors == {IN_SAMPLE: 0.0, OUT_OF_SAMPLE: 0.0, GAP: 0.0}


def test_a_distortion_is_its_type_and_its_level_within_it():
    found = distortion_features(["b", "a", "b", "c"], ["1", "2", "4", "0"])
    assert found.tolist() == [
        [0, 1, 0, 0, 0.25, 0],
        [1, 0, 0, 1, 0, 0],
        [0, 1, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0],
    ]


def test_wishes_come_before_what_the_experiment_has():
    for setting in only("synthetic", Sources(), Wishes(seeds=3, budget=40, candidates=5)).settings:
        assert (setting.seeds, setting.plan.budget, setting.plan.candidates) == (3, 40, 5)
    setting, _ = only("synthetic", Sources(), Wishes()).settings
    assert (setting.seeds, setting.plan.budget, setting.plan.candidates) == (100, 2000, None)


def test_the_paper_s_options_and_the_defaults():
    paper, ours = only("synthetic", Sources(), Wishes()).settings
    assert ours.plan == Plan(2000, 50)
    assert paper.plan == Plan(
        2000, 50, 10, scaling="none", coefficient_variance=1.0, item_variance=1.0, renew_covariance=False, random=0.0
    )
    assert "bald-paper-contextual-sequential" in paper.algorithms
    assert ours.name == f"{paper.name}-defaults"


def test_random_candidates_are_for_hybrid_models_only(world, tmp_path):
    world.write("gppl_humour", tmp_path)
    settings = {one.name: one for one in only("imdb-wiki-sbs", Sources(folder=str(tmp_path))).settings}
    main = settings["held-out"]
    found = {name: main.plan_of(name).candidates for name in main.algorithms}
    assert {name for name, candidates in found.items() if candidates == 5_000} == {
        name for name in main.algorithms if "hybrid" in name
    }
    assert settings["all-pairs"].plan_of("guro-hybrid-factored").candidates is None


def test_ridge_is_that_of_scikit_learn():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    features, target = rng.standard_normal((40, 5)), rng.standard_normal(40)
    model = Ridge(alpha=1.0).fit(features, target)
    fitted, share = ridge(features, target)
    assert np.allclose(fitted - fitted.mean(), model.predict(features) - model.predict(features).mean())
    assert share == pytest.approx(model.score(features, target))


def test_bradley_terry_is_the_maximum_likelihood_order(world, tmp_path):
    import choix

    case = only("image-clarity", Sources(data=str(world.tables(tmp_path / "mine"))))
    dataset = case.settings[0].task.dataset
    wins = [(left, right) if won else (right, left) for left, right, won in world.answers]
    expected = choix.ilsr_pairwise(24, wins, alpha=1e-4)
    found = bradley_terry(dataset.items, dataset.comparisons)
    assert np.allclose(found - found.mean(), expected - expected.mean(), atol=0.1)
    assert np.array_equal(np.argsort(found), np.argsort(expected))


@pytest.mark.slow
def test_what_is_measured_on_human_answers(ran):
    rows = ran("image-clarity", "image-clarity").rows
    assert set(rows["held-out"]["part"]) == {HELD_OUT, TARGET, TRUTH}
    assert set(rows["few-answers"]["part"]) == {SUBSET, TARGET}


def test_a_matrix_for_other_items_is_refused(world, tmp_path):
    world.write("imdb-wiki-sbs", tmp_path)
    np.save(tmp_path / "imdb-wiki-sbs" / "untrained.npy", world.features[1:])
    with pytest.raises(InvalidInput, match=r"untrained\.npy: there are 23 rows for 24 items"):
        only("imdb-wiki-sbs", Sources(folder=str(tmp_path)))


@pytest.mark.parametrize("file", ["features.npy", "untrained.npy"])
def test_features_that_are_no_numbers_are_named(world, tmp_path, file):
    world.write("imdb-wiki-sbs", tmp_path)
    features = world.features.copy()
    features[3, 1] = np.nan
    np.save(tmp_path / "imdb-wiki-sbs" / file, features)
    with pytest.raises(InvalidInput, match=rf"{file}: row 3, column 1 \(counted from 0\) is nan"):
        only("imdb-wiki-sbs", Sources(folder=str(tmp_path)))


def test_shuffled_features_are_those_of_other_items(world, tmp_path):
    world.write("gppl_humour", tmp_path)
    case = only("imdb-wiki-sbs", Sources(folder=str(tmp_path)))
    tasks = {setting.name: setting.task.dataset.items.features for setting in case.settings}
    own, others = tasks["held-out"], tasks["shuffled-features"]
    assert sorted(map(tuple, own)) == sorted(map(tuple, others))
    assert (own == others).all(axis=1).mean() < 0.2


def test_items_arrive_in_the_middle(world, tmp_path):
    world.write("imdb-wiki-sbs", tmp_path)
    case = only("imdb-wiki-sbs", Sources(folder=str(tmp_path)))
    (setting,) = (one for one in case.settings if one.name == "items-added")
    trial = setting.task.build(0)
    (arrival,) = trial.arrivals
    assert (len(trial.items), len(arrival.items), arrival.after) == (12, 12, 15)
    assert setting.plan.budget == 22
    assert set(trial.items.ids) | set(arrival.items.ids) == set(setting.task.dataset.items.ids)
    other = setting.task.build(1)
    assert set(other.items.ids) != set(trial.items.ids)
