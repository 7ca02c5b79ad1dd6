"""Whether answers can be told from coin tosses: a bet against the coin that is valid for any choice of pairs.

m, v  mean and variance of the margin before an answer     y  1 where left won, 0 where right won

Before each answer, a bettor who starts with 1 stakes on the side that the answers before it favour, at
    p_s = sigma(s m / sqrt(1 + pi s^2 v / 8)),
and gets 2 p_s(y) times the stake. Against fair coins no way of choosing pairs, nor of choosing when to stop, makes the
expected capital more than 1, so that capital of 1 / level or more has a chance of at most `level` (Ville 1939). The
capital is shared equally among bettors with different sharpness s.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_expit, logsumexp

from ordinate.data.arrays import Floats

SHARPNESS = (0.1, 0.2, 0.4, 0.8, 1.2)
OPEN_ABOVE = 20.0
"""Capital that fair coins reach with a chance of at most 1 in 20."""


def log_capital(margin: Floats, variance: Floats, outcome: Floats) -> Floats:
    """(T,) log of the capital after each answer; a tie (0.5) moves no stake."""
    sharpness = np.array(SHARPNESS)[:, None]
    favoured = sharpness * margin / np.sqrt(1.0 + math.pi * np.square(sharpness) * variance / 8.0)
    gains = math.log(2.0) + log_expit(np.where(outcome > 0.5, favoured, -favoured))
    gains[:, outcome == 0.5] = 0.0
    capital: Floats = logsumexp(np.cumsum(gains, axis=1), axis=0) - math.log(len(SHARPNESS))
    return capital
