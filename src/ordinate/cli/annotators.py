"""`ordinate annotators`: what the answers say of each annotator."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ordinate.cli.options import AsJson, StudyFileOrLink, is_link, open_client, open_study
from ordinate.cli.screen import count, percent, print_json, print_table, say, share_in_words

_SHARPNESS = "{sharpness:.1f} ({sharpness_low:.1f} to {sharpness_high:.1f})"
_TITLES = {
    "with_ordering": "with the ordering",
    "with_themselves": "themselves",
    "with_others": "others",
    "with_people": "people",
}


def annotators(
    study: StudyFileOrLink,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the table to .csv, .tsv, .json, .jsonl or .parquet.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how reliable each annotator is, and who may be tossing coins.

    A sharpness of 2 means that differences sway the annotator twice as much as the average annotator, assuming they are
    not tossing coins; in brackets is an interval of 90 %. "Coin tosses" is the probability that the answers are random;
    it is withheld below 30 answers, and while all answers together cannot be told from coin tosses.

    "With the ordering" is the share of answers that agree with what all other answers say, "themselves" the share of
    pairs answered again that got the same answer, "others" the share of other people's answers to the same pairs that
    were the same, "people" (of models) the share of pairs on which a model agrees with most people, "left" the chance
    to choose the left item of two equal ones, and "longer" (of texts, where annotators can be compared) the chance to
    choose the one that is twice as long of two that people rank equal. "Too few" stands where the interval of a share
    is more than half as wide as from 0 to 100 %.

    docs/statistics.md has the formulas.
    """
    if is_link(study):
        with open_client(study) as client:
            found = client.annotator_quality()
    else:
        with open_study(study) as opened:
            found = opened.annotator_quality().fields()
    rows: list[dict[str, Any]] = found["annotators"]
    if out is not None:
        from ordinate.data.formats import write_columns

        write_columns(out, {name: [row[name] for row in rows] for name in rows[0]})
    if as_json:
        print_json({"study": study, "file": out, **found})
    elif out is not None:
        say(f"Wrote {count(len(rows), 'annotator')} to {out}.")
    else:
        _show(found, rows)


def _show(found: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    weighed = any(row["weight"] != 1.0 for row in rows)
    shares = ["with_ordering", "with_themselves", "with_others", "left"]
    if any(row["kind"] == "machine" for row in rows):
        shares.insert(3, "with_people")
    if any(row["longer"] is not None for row in rows):
        shares.append("longer")
    table = Table("annotator")
    for title in ("answers", "sharpness", "coin tosses", *(_TITLES.get(name, name) for name in shares)):
        table.add_column(title, justify="right")
    if weighed:
        table.add_column("weight", justify="right")
    for row in rows:
        cells = [
            (row["name"] or "unnamed") + (" (model)" if row["kind"] == "machine" else ""),
            f"{row['answers']:,}",
            "" if row["sharpness"] is None else _SHARPNESS.format(**row),
            _coin(row),
            *(share_in_words(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in shares),
        ]
        table.add_row(*cells, *([f"{row['weight']:.2f}"] if weighed else []))
    print_table(table)
    if found["left"] is not None:
        low, high = percent(found["left_low"]), percent(found["left_high"])
        say(f"Of two equal items, the left one is chosen {percent(found['left'])} of the time ({low} to {high}).")
    if any(row["length_lean"] for row in rows):
        say("Annotators differ in preferring the longer item. The ordering is without these preferences.")


def _coin(row: dict[str, Any]) -> str:
    if row["name"] is None:
        return ""
    if row["coin"] is None:
        return "too few answers"
    return "< 1 %" if row["coin"] < 0.01 else percent(row["coin"])
