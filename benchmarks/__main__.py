"""Run the benchmarks and put their results on a page.

python -m pip install -e '.[benchmark]'
python -m benchmarks --page docs/performance.md         # everything, some ten minutes on one core
python -m benchmarks question fit --out rows.csv        # some of it
python -m benchmarks --quick                            # only whether all of it runs
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.machine import describe, one_core, roofline

GROUPS = ("patterns", "question", "refit", "fit", "ratings", "file", "simulated", "command", "profile")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(GROUPS)}; none: all")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds: the numbers mean nothing")
    parser.add_argument("--out", type=Path, help="write all rows, .csv or .parquet")
    parser.add_argument("--page", type=Path, help="put tables, plot and profiles between the markers of this page")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    chosen = options.groups or list(GROUPS)

    one_core()
    from benchmarks import commands, files, fits, page, patterns, profiles, questions, ratings, refits, simulated
    from benchmarks.measure import Row
    from ordinate.data.formats import write_columns

    sources = {
        "patterns": patterns.rows,
        "question": questions.rows,
        "fit": fits.rows,
        "ratings": ratings.rows,
        "refit": refits.rows,
        "file": files.rows,
        "simulated": simulated.rows,
        "command": commands.rows,
    }
    rows: list[Row] = []

    def keep(profiled: str = "") -> None:
        """After each group: what was measured is not lost when a later one is interrupted."""
        if options.out is not None:
            write_columns(options.out, {name: [getattr(row, name) for row in rows] for name in Row._fields})
        if options.page is not None:
            plot = options.page.parent / "figures" / "growth.png"
            page.draw(rows, plot)
            page.write(options.page, describe(), rows, plot, profiled)

    for group, source in sources.items():
        if group in chosen:
            for row in source(options.quick):
                print(f"{row.group:9} {row.who:27} n={row.n:<6} d={row.d:<4} {page.ms(row.seconds):>9} ms  {row.note}")
                sys.stdout.flush()
                rows.append(row)
            keep()
    if "profile" in chosen:
        profiled = profiles.report(roofline(), options.quick)
        print(profiled)
        keep(profiled)


if __name__ == "__main__":
    main()
