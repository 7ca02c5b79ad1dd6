"""The results page: writes tables, figures and claims between the markers of a Markdown file.

    <!-- begin claims -->  ...  <!-- end claims -->
    <!-- begin wisc-ads/sentimentit_movie_reviews -->  ...  <!-- end wisc-ads/sentimentit_movie_reviews -->

The text between markers is replaced; the rest of the page stays. PNG files go to the folder `figures` beside the page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from PIL import Image

from ordinate.data.formats.files import read_bytes, write_bytes
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput
from ordinate.experiments.claim import Claim
from ordinate.experiments.claims import CLAIMS
from ordinate.experiments.evidence import LEAST_SEEDS, LEVEL, MARGIN, Finding, Rows, Runs
from ordinate.experiments.experiment import DEFAULTS
from ordinate.experiments.figures import panel_rows, reference_table
from ordinate.experiments.reproduce import Done, measured_figures
from ordinate.simulation.names import look
from ordinate.simulation.summary import error_table, numbers_of_seeds, span

FOLDER = "figures"
CLAIM_TABLE = "claims"
RULES = f"""\
Each verdict stands beside its rule. A rule looks at the mean over seeds, mostly of the difference of two errors: both
algorithms see the same items and the same answers for the same seed. In brackets is the {100 - 200 * LEVEL:.0f} %
interval of that mean (Student's t). A claim **holds** if every interval lies where its rule says. It **does not hold**
if one lies where the rule says that it is false, at level {LEVEL} divided by the number of intervals. Otherwise, and
with fewer than {LEAST_SEEDS} seeds, it is **undecided**. "Alike" and "as good as" are decided by two one-sided tests.
The smallest difference that matters is {MARGIN}, unless the rule has another. Rules and margins were written before
these rows were computed, with knowledge of the results of an earlier, smaller plan. The intervals are about other
held-out answers and other chance, not about other data.

"By default" is the verdict of the same rule on runs with a study's default options, where there are such runs. Numbers
are means over the second half of a run, unless the rule says otherwise. Minutes are minutes of one core."""
NOT_RUN = Finding("there are no rows of it yet", "not run")
_COLOURS = 128  # of a PNG on the page: enough for flat colours, in a third of the file size


def write_page(path: str | Path, done: Sequence[Done]) -> None:
    """Fill the markers of these experiments, and those of the claims if the page has them."""
    path = Path(path)
    text = read_bytes(path).decode("utf-8")
    for one in done:
        text = _filled(text, f"{one.case.experiment}/{one.case.name}", "\n\n".join(_section(one)), path)
    rows = {key: columns for one in done for key, columns in keyed(one).items()}
    if f"<!-- begin {CLAIM_TABLE} -->" in text:
        took = f"All rows together took {sum(map(core_minutes, rows.values())):.0f} minutes of one core."
        text = _filled(text, CLAIM_TABLE, "\n".join([RULES, "", *claim_table(CLAIMS, rows), "", took]), path)
    figures = path.parent / FOLDER
    figures.mkdir(parents=True, exist_ok=True)
    for png in (file for one in done for drawn in one.figures.values() for file in drawn if file.suffix == ".png"):
        write_bytes(figures / png.name, _smaller(read_bytes(png)))
    write_bytes(path, text.encode("utf-8"))


def keyed(done: Done) -> dict[str, Columns]:
    """The rows by "experiment/data/setting"."""
    return {f"{done.case.experiment}/{done.case.name}/{setting}": rows for setting, rows in done.rows.items()}


def claim_table(claims: Iterable[Claim], rows: Mapping[str, Columns]) -> list[str]:
    """The verdict is on the rows as the paper runs it; the column "by default" has that on the rows with a study's
    default options, where a claim's algorithms were run with them."""
    runs = {key: Runs(columns) for key, columns in rows.items() if columns["step"]}
    by_default = {key.removesuffix(DEFAULTS): one for key, one in runs.items() if key.endswith(DEFAULTS)}
    names = ("claim", "where", "rule", "evidence", "verdict", "by default", "seeds", "command", "minutes")
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for claim in claims:
        finding, other = found(claim, runs), found(claim, by_default)
        evidence = ". ".join(filter(None, (finding.evidence, claim.remark)))
        used = [rows[key] for key in claim.check.keys if key in runs]
        seeds = ", ".join(dict.fromkeys(span(numbers_of_seeds(each)) for each in used))
        minutes = f"{sum(map(core_minutes, used)):.1f}" if used else ""
        usual = other.verdict if claim.check.keys and other is not NOT_RUN else ""
        cells = (
            claim.text,
            claim.where,
            claim.check.rule,
            evidence,
            f"**{finding.verdict}**",
            usual,
            seeds,
            _commands(claim),
            minutes,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def found(claim: Claim, runs: Rows) -> Finding:
    try:
        return claim.check.evaluate(runs)
    except LookupError:
        return NOT_RUN


def _commands(claim: Claim) -> str:
    runs = dict.fromkeys(tuple(key.split("/")[:2]) for key in claim.check.keys)
    return ", ".join(
        f"`ordinate reproduce {name}`" if name == data else f"`ordinate reproduce {name} --data {data}`"
        for name, data in runs
    )


def core_minutes(rows: Columns) -> float:
    """The processor time of the runs, in minutes."""
    runs = {
        (algorithm, seed): seconds
        for algorithm, seed, seconds in zip(rows["algorithm"], rows["seed"], rows["core_seconds"], strict=True)
    }
    return float(sum(runs.values())) / 60.0


def _section(done: Done) -> Iterable[str]:
    case = done.case
    for setting in case.settings:
        rows = done.rows[setting.name]
        seeds = span(numbers_of_seeds(rows))
        runs = f"algorithms: {len(setting.algorithms)}, seeds: {seeds}, comparisons: {setting.plan.budget:,}"
        yield f"`{setting.name}`: {runs}; {core_minutes(rows):.1f} minutes of one core."
    for figure in measured_figures(case.data.figures, done.rows):
        yield f"![{figure.title}]({FOLDER}/{figure.name}.png)"
        yield f"*{figure.shows}.*"
        for panel in figure.panels:
            title = ". ".join(filter(None, (panel.title, panel.ylabel)))
            yield f"{title}:"
            table = error_table(panel_rows(panel, done.rows))
            yield _markdown(table)
            if done.reference is not None and figure.reference:
                yield "The reference at these steps:"
                steps = [int(name.replace(",", "")) for name in table if name != "algorithm"]
                yield _markdown(reference_table(done.reference, steps))


def _markdown(table: Columns) -> str:
    lines = ["| " + " | ".join(table) + " |", "|" + "---|" * len(table)]
    for row in zip(*table.values(), strict=True):
        lines.append("| " + " | ".join((look(row[0]).name, *row[1:])) + " |")
    return "\n".join(lines)


def _filled(text: str, name: str, content: str, path: Path) -> str:
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise InvalidInput(f"{path} must have the lines {begin} and {end}, once each")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n\n{content}\n\n{end}", text, flags=re.DOTALL)


def _smaller(png: bytes) -> bytes:
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    few.save(out, format="PNG", optimize=True)
    return out.getvalue()
