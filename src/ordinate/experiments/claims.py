"""The claims of the paper's text and captions, each with the rule that decides it and the rows it needs."""

from __future__ import annotations

import math

from ordinate.experiments.claim import (
    ADDED,
    AGE,
    ALL_PAIRS,
    BALD,
    BAYES,
    COLSTIM,
    FIELDS,
    FIELDS_FEW,
    GURO,
    H_BALD,
    H_GURO,
    H_PAPERS,
    H_UNIFORM,
    HALVES,
    JOKES,
    LOSS,
    NORM,
    PAPERS,
    PHOTO,
    PHOTO_FEW,
    RARELY,
    RENEWED,
    REVIEWS,
    SHUFFLED,
    TRUESKILL,
    UNIFORM,
    UNTRAINED,
    UPDATES,
    Claim,
)
from ordinate.experiments.evidence import (
    EARLY,
    END,
    Side,
    above_zero,
    alike,
    alike_across,
    all_hold,
    below,
    below_across,
    cost,
    crosses,
    ends_within,
    levels_off,
    no_worse,
    overtaken,
    rises,
    rises_less,
    suffers_less,
    told,
)
from ordinate.experiments.human import HELD_OUT, HYBRIDS, SUBSET, TARGET, TRUTH
from ordinate.experiments.synthetic import ERROR, bound_part
from ordinate.experiments.x_ray_age import GAP, IN_SAMPLE

_BOUND, _OTHER_BOUND = (bound_part("figure", view) for view in ("verifiable", "unverifiable"))
_MOST = (0.1, 1.0)  # of a run: all but its start

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "Appendix, synthetic, left",
        "GURO and BayesGURO are below BALD, NormMin, CoLSTIM, TrueSkill and Uniform",
        below([LOSS], ERROR, (GURO, BAYES), (PAPERS, NORM, COLSTIM, TRUESKILL, UNIFORM)),
    ),
    Claim(
        "Appendix, synthetic, left; exact BALD instead of the paper's",
        "GURO and BayesGURO are below exact BALD",
        below([LOSS], ERROR, (GURO, BAYES), (BALD,)),
        "The paper has no exact BALD",
    ),
    Claim(
        "Appendix, synthetic: order of the algorithms",
        "the trend is that of the other experiments: CoLSTIM and NormMin are behind Uniform",
        below([LOSS], ERROR, (UNIFORM,), (COLSTIM, NORM)),
    ),
    Claim(
        "Experiments, baselines",
        "CoLSTIM is not expected to do well",
        all_hold(below([LOSS], ERROR, (UNIFORM,), (COLSTIM,)), below([AGE], IN_SAMPLE, (UNIFORM,), (COLSTIM,))),
        "The noise of an item is scaled by its width, as in CoLSTIM's own paper, and vanishes; results.md has other "
        "readings",
    ),
    Claim(
        "Appendix, synthetic, right",
        "the greedy algorithms lower the bound on P(R ≥ 0.2) fastest (the bound as in the paper's figure)",
        all_hold(
            below([LOSS], _BOUND, (GURO, BAYES), (NORM, COLSTIM, UNIFORM), _MOST),
            below([LOSS], _OTHER_BOUND, (GURO, BAYES), (NORM, COLSTIM, UNIFORM), _MOST),
        ),
    ),
    Claim(
        "Appendix, synthetic, right",
        "… faster than BALD too",
        below([LOSS], _BOUND, (GURO, BAYES), (PAPERS,), _MOST),
    ),
    Claim(
        "Appendix, synthetic, right; Theorem 1",
        "within 2,000 comparisons the bound of Theorem 1 becomes small, that is below 0.5",
        ends_within(LOSS, bound_part("right", "verifiable"), (GURO, BAYES), -math.inf, 0.5),
        "The figure uses H⁻¹/T where T·H⁻¹ is meant, an exponent T² too large, and a smaller constant. At the rate of "
        "the theorem the bound would need about 10⁷ comparisons",
    ),
    Claim(
        "X-RayAge, left",
        "GURO and BayesGURO perform alike",
        alike([AGE], IN_SAMPLE, (GURO, BAYES)),
    ),
    Claim(
        "X-RayAge, left",
        "both are below the baselines",
        below([AGE], IN_SAMPLE, (GURO, BAYES), (PAPERS, COLSTIM, UNIFORM)),
    ),
    Claim(
        "X-RayAge, left; exact BALD instead of the paper's",
        "both are below exact BALD",
        below([AGE], IN_SAMPLE, (GURO, BAYES), (BALD,)),
        "The paper has no exact BALD",
    ),
    Claim(
        "X-RayAge, left",
        "BALD (as the paper computes it) starts as fast as GURO, then levels off above it",
        overtaken([AGE], IN_SAMPLE, PAPERS, GURO),
    ),
    Claim(
        "X-RayAge, left; explanation",
        "the plateau is inherent to BALD, which avoids pairs on which people disagree: exact BALD has it too",
        all_hold(overtaken([AGE], IN_SAMPLE, BALD, GURO), overtaken([LOSS], ERROR, BALD, GURO)),
        "At m = 4, v = 0.1 the paper's approximation gives 0.077 bits instead of 0.0013, so it prefers pairs that are "
        "far apart",
    ),
    Claim(
        "X-RayAge, left; explanation",
        "… also with sequential updates of exact BALD",
        below_across(IN_SAMPLE, Side(AGE, GURO), Side(UPDATES, f"{BALD}-sequential")),
    ),
    Claim(
        "X-RayAge, left",
        "CoLSTIM does poorly: low regret and a complete order are different goals",
        below([AGE], IN_SAMPLE, (GURO, BAYES, UNIFORM), (COLSTIM,)),
    ),
    Claim(
        "X-RayAge, right",
        "every algorithm is worse on the other half than on the one it learned from",
        above_zero([HALVES], GAP, (GURO, BAYES, PAPERS, COLSTIM, UNIFORM)),
    ),
    Claim(
        "X-RayAge, right",
        "GURO and BayesGURO have the smallest gap on average",
        no_worse([HALVES], GAP, (GURO, BAYES), (PAPERS, COLSTIM, UNIFORM)),
    ),
    Claim(
        "X-RayAge, appendix",
        "NormMin is worse than GURO, and than Uniform",
        below([AGE], IN_SAMPLE, (GURO, UNIFORM), (NORM,)),
    ),
    Claim(
        "X-RayAge, appendix: in-sample error in the generalisation setting",
        "GURO and BayesGURO order the half they learn from best, as in the first setting",
        no_worse([HALVES], IN_SAMPLE, (GURO, BAYES), (PAPERS, COLSTIM, UNIFORM)),
    ),
    Claim(
        "ImageClarity",
        "features alone suffice: contextual GURO keeps up with the hybrid models",
        no_worse([PHOTO, FIELDS], HELD_OUT, (GURO,), HYBRIDS),
    ),
    Claim(
        "ImageClarity",
        "how the pairs are chosen has a modest effect there: under 0.02",
        alike([PHOTO, FIELDS], HELD_OUT, (GURO, PAPERS, UNIFORM), margin=0.02),
    ),
    Claim(
        "ImageClarity, true order (caption and text)",
        "against the true order contextual models are somewhat ahead of TrueSkill",
        below([PHOTO], TRUTH, (GURO, PAPERS, UNIFORM), (TRUESKILL,)),
        "Simulated answers",
    ),
    Claim(
        "ImageClarity, Bradley-Terry target",
        "the trends remain: TrueSkill does not overtake GURO",
        no_worse([PHOTO, FIELDS], TARGET, (GURO,), (TRUESKILL,), END),
    ),
    Claim(
        "ImageClarity, counterexample",
        "with 1,000 answers to ask, TrueSkill starts behind GURO and overtakes it on the way to the Bradley-Terry "
        "order of those answers",
        crosses([PHOTO_FEW, FIELDS_FEW], SUBSET, TRUESKILL, GURO),
        "In the paper, after about 350 comparisons",
    ),
    Claim(
        "ImageClarity, counterexample",
        "… while GURO ends nearer to the Bradley-Terry order of all answers: the same orderings, another target",
        below([PHOTO_FEW, FIELDS_FEW], TARGET, (GURO,), (TRUESKILL,), END),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "contextual models improve fast, then level off",
        levels_off([REVIEWS, JOKES], HELD_OUT, (GURO, PAPERS, UNIFORM), (TRUESKILL,)),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "TrueSkill is slower than contextual models at first",
        below([REVIEWS, JOKES], HELD_OUT, (GURO, UNIFORM), (TRUESKILL,), EARLY),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "hybrid models improve as fast as contextual ones",
        no_worse([REVIEWS, JOKES], HELD_OUT, (H_GURO,), (GURO, PAPERS, UNIFORM), EARLY),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "… and do not level off: they end below them",
        below([REVIEWS, JOKES], HELD_OUT, (H_GURO,), (GURO, PAPERS, UNIFORM), END),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "contextual BALD (the paper's) levels off above GURO and Uniform",
        below([REVIEWS, JOKES], HELD_OUT, (GURO, UNIFORM), (PAPERS,)),
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "with the hybrid model BALD (the paper's) suffers less",
        suffers_less([REVIEWS, JOKES], HELD_OUT, (H_PAPERS, H_GURO), (PAPERS, GURO)),
    ),
    Claim(
        "IMDB-WIKI-SbS",
        "in the end hybrid BALD may fall behind GURO hybrid too",
        below([JOKES], HELD_OUT, (H_GURO,), (H_PAPERS,), END),
    ),
    Claim(
        "All experiments on human answers",
        "GURO and GURO hybrid are never worse than the paper's baselines of their kind",
        all_hold(
            no_worse([REVIEWS, FIELDS, JOKES], HELD_OUT, (GURO,), (PAPERS, UNIFORM)),
            no_worse([REVIEWS, FIELDS, JOKES], HELD_OUT, (H_GURO,), (H_PAPERS, H_UNIFORM)),
        ),
    ),
    Claim(
        "All experiments on human answers; exact BALD instead of the paper's",
        "… nor worse than exact BALD",
        all_hold(
            no_worse([REVIEWS, FIELDS, JOKES], HELD_OUT, (GURO,), (BALD,)),
            no_worse([REVIEWS, FIELDS, JOKES], HELD_OUT, (H_GURO,), (H_BALD,)),
        ),
        "The paper has no exact BALD",
    ),
    Claim(
        "WiscAds, IMDB-WIKI-SbS",
        "the hybrid model helps other strategies too: Uniform and BALD",
        all_hold(
            below([REVIEWS, JOKES], HELD_OUT, (H_UNIFORM,), (UNIFORM,)),
            below([REVIEWS, JOKES], HELD_OUT, (H_PAPERS,), (PAPERS,)),
        ),
    ),
    Claim(
        "WiscAds and IMDB-WIKI-SbS, Bradley-Terry target",
        "TrueSkill overtakes the contextual models in the end",
        below([REVIEWS, JOKES], TARGET, (TRUESKILL,), (GURO, PAPERS, UNIFORM), END),
    ),
    Claim(
        "Abstract",
        "with features fewer answers suffice: GURO hybrid is below TrueSkill, in-sample",
        below([REVIEWS, FIELDS, JOKES], HELD_OUT, (H_GURO,), (TRUESKILL,), _MOST),
    ),
    Claim(
        "IMDB-WIKI-SbS, items added (caption and text)",
        "a contextual model hardly notices new items: its error changes by less than 0.02",
        rises(ADDED, HELD_OUT, (GURO, PAPERS, UNIFORM), -0.02, 0.02),
    ),
    Claim(
        "IMDB-WIKI-SbS, items added",
        "TrueSkill's error rises sharply: by more than 0.05",
        rises(ADDED, HELD_OUT, (TRUESKILL,), 0.05, math.inf),
    ),
    Claim(
        "IMDB-WIKI-SbS, items added",
        "the error of hybrid models rises far less than TrueSkill's: by less than half",
        rises_less(ADDED, HELD_OUT, (H_GURO, H_PAPERS, H_UNIFORM), TRUESKILL),
    ),
    Claim(
        "IMDB-WIKI-SbS, untrained network",
        "contextual models cannot order the items",
        ends_within(UNTRAINED, HELD_OUT, (GURO, PAPERS, UNIFORM), 0.45, 0.55),
        "An untrained transformer is nearly a random projection of the words, which keeps much of their information. "
        "With features of other items there is nothing to learn: next line",
    ),
    Claim(
        "IMDB-WIKI-SbS, untrained network: the strict case",
        "contextual models cannot order the items if the features have no information",
        ends_within(SHUFFLED, HELD_OUT, (GURO, UNIFORM), 0.45, 0.55),
    ),
    Claim(
        "IMDB-WIKI-SbS, untrained network; Section 'models'",
        "GURO hybrid does as well as TrueSkill with the untrained network",
        no_worse([UNTRAINED], HELD_OUT, (H_GURO,), (TRUESKILL,)),
    ),
    Claim(
        "IMDB-WIKI-SbS, untrained network; Section 'models': the strict case",
        "GURO hybrid does as well as TrueSkill with features that have no information",
        no_worse([SHUFFLED], HELD_OUT, (H_GURO,), (TRUESKILL,)),
    ),
    Claim(
        "Experiment details",
        "refitting every 25 answers, with Sherman-Morrison between, is as good as after every answer",
        alike_across(IN_SAMPLE, Side(RARELY, GURO), Side(AGE, GURO)),
    ),
    Claim(
        "Experiment details",
        "updating H⁻¹ by Sherman-Morrison is as good as recomputing it after every answer",
        alike_across(IN_SAMPLE, Side(AGE, GURO), Side(RENEWED, GURO)),
    ),
    Claim(
        "BayesGURO, appendix",
        "BayesGURO does as well with sequential updates of the posterior as with refits",
        alike_across(IN_SAMPLE, Side(AGE, BAYES), Side(UPDATES, BAYES.removesuffix("-sequential"))),
    ),
    Claim(
        "Experiment details",
        "choosing from 5,000 random pairs per question makes no noticeable difference",
        alike_across(HELD_OUT, Side(JOKES, H_GURO, (0.25, 0.5)), Side(ALL_PAIRS, H_GURO)),
    ),
    Claim(
        "Models",
        "features trained for another task are better than those of a random network",
        below_across(HELD_OUT, Side(JOKES, GURO, (0.5, 0.5)), Side(UNTRAINED, GURO, END)),
    ),
    Claim(
        "Human answers",
        "the longest single run took under 35 hours and 10 GB on one core of a Xeon Gold 6130",
        cost((JOKES, ADDED), "a claim about another machine and another program"),
    ),
    Claim(
        "Table of data sets; X-RayAge, data",
        "n, d and the number of comparisons; 35 components and a ridge regression explain 67 % of the variance of age",
        told(
            "the published files were not available; `ordinate datasets check` compares them with the paper's numbers",
            "not testable here",
        ),
    ),
    Claim(
        "Lemma 1, Theorem 1",
        "the bounds hold with the stated probability",
        told(
            "`ordinate.experiments.theory` computes them and lists the assumptions that fail: here some always do",
            "not testable here",
        ),
        "Steps of the proof do not hold as written: the sub-Gaussian factor, an η that depends on the data, and 1 + 2S "
        "for contrasts longer than 1",
    ),
    Claim(
        "GURO",
        "an answer lowers the variance of the pair asked, and raises that of no pair",
        told("a property of the update, tested in tests/learning/test_belief.py", "holds"),
    ),
    Claim(
        "BayesGURO",
        "to first order its criterion is GURO's",
        told(
            "tested in tests/choosing/strategies/test_bayes_guro.py: the ratio tends to 1 as the variance goes to 0",
            "holds",
        ),
    ),
    Claim(
        "Comparison with regret minimisation",
        "an algorithm of minimal regret can be arbitrarily bad at ordering",
        told("an argument about constructed problems; no experiment", "not testable here"),
    ),
)
