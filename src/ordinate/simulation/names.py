"""The name and the look of an algorithm in figures: colour and marker for its strategy, line style for its model.

The colours are those of Okabe and Ito, which colour-blind people can distinguish.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Look(NamedTuple):
    name: str
    colour: str
    marker: str
    style: Any  # a line style of matplotlib


# Longer names first, because "bald-paper" also starts with "bald".
_STRATEGIES = {
    "bayes-guro": ("BayesGURO", "#56B4E9", "s"),
    "guro": ("GURO", "#0072B2", "o"),
    "aim": ("GURO for an aim", "#332288", "<"),
    "bald-paper": ("BALD (paper's)", "#E69F00", "v"),
    "bald": ("BALD (exact)", "#D55E00", "^"),
    "norm-min": ("NormMin", "#CC79A7", "D"),
    "colstim-noiseless": ("CoLSTIM (no noise)", "#B8A000", "*"),
    "colstim-unscaled": ("CoLSTIM (noise of size 1)", "#5E3C99", "p"),
    "colstim": ("CoLSTIM", "#009E73", "X"),
    "trueskill": ("TrueSkill", "#000000", "P"),
    "uniform": ("Uniform", "#7A7A7A", "h"),
}
_MODELS: dict[str, tuple[str, Any]] = {
    "": ("", ":"),
    "hybrid": ("hybrid", "-"),
    "hybrid-factored": ("factored hybrid", "-"),
    "contextual": ("contextual", "--"),
    "independent": ("per item", "-."),
    "contextual-sequential": ("contextual, sequential", (0, (5, 1, 1, 1, 1, 1))),
    "hybrid-sequential": ("hybrid, sequential", (0, (5, 1, 1, 1))),
}
# For algorithms that are not in the tables above.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vXP"
_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def look(algorithm: str, number: int = 0) -> Look:
    """The name and look of an algorithm; `number` distinguishes algorithms that are not in the tables.

    >>> look("guro-hybrid").name
    'GURO hybrid'
    """
    plain, _, after = algorithm.partition(":")
    for prefix, (name, colour, marker) in _STRATEGIES.items():
        model = plain.removeprefix(prefix).removeprefix("-")
        if plain.startswith(prefix) and model in _MODELS:
            words, style = _MODELS[model]
            meant = f"{after} draws" if name == "BayesGURO" else f"horizon {after}"
            full_name = f"{name} {words}".strip() + (f", {meant}" if after else "")
            return Look(full_name, colour, marker, style)
    return Look(
        algorithm,
        _COLOURS[number % len(_COLOURS)],
        _MARKERS[number % len(_MARKERS)],
        _STYLES[(number + number // len(_COLOURS)) % len(_STYLES)],
    )
