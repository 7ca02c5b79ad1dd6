"""Mutation testing: whether the tests notice when one operator, number, condition or statement of the code is changed.

    python benchmarks/mutation.py run --out mutants.jsonl [--count 300] [--seed 0] [--only NAME]   # resumes
    python benchmarks/mutation.py table mutants.jsonl                                     # the outcome as Markdown

AREAS says which tests cover which modules. The mutants are a sample, the same number from each area. Each changes one
place of a copy of the source and runs its area's tests up to the first failure; it survives where none fails. A test
that takes longer than it may counts as a failure. One process at a time; a killed run goes on where it stopped.

Not changed are docstrings, annotations, messages, decorators and private constants of modules, most of which only
decide how fast something is.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SECONDS = 90.0
"""What the tests of one mutant may take; without a change those of a module take up to a minute."""
PRELOADED = (
    *("numpy", "scipy.special", "scipy.linalg", "scipy.optimize", "scipy.stats", "numba"),
    *("hypothesis", "PIL.Image", "threadpoolctl", "fastapi", "httpx", "choix"),
)
"""Imported once, before the process of each mutant is forked."""

QUIET = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")

LEARNING = ("learning/models/test_residuals", "learning/models/test_models", "learning/models/test_map_estimate")
SERVED = ("server/test_security", "server/test_judging", "server/test_names", "server/test_http")
AREAS: dict[str, dict[str, tuple[str, ...]]] = {
    "models": {
        "learning/models/contextual": ("learning/models/test_models",),
        "learning/models/hybrid": ("learning/models/test_models",),
        "learning/models/factored": ("learning/models/test_models",),
        "learning/models/likelihood": LEARNING,
        "learning/models/map_estimate": LEARNING,
        "learning/models/pair_loops": (*LEARNING, "learning/models/test_item_covariance"),
        "learning/models/item_covariance": ("learning/models/test_residuals", "learning/models/test_item_covariance"),
        "learning/models/cholesky": LEARNING,
        "learning/models/one_by_one": (
            "learning/models/test_residuals",
            "learning/models/test_sequential",
            "learning/models/test_trueskill",
            "learning/models/test_models",
        ),
        "learning/models/trueskill": ("learning/models/test_trueskill",),
        "learning/likelihoods/logistic": ("learning/likelihoods/test_likelihoods", "learning/models/test_models"),
        "learning/likelihoods/probit": ("learning/likelihoods/test_likelihoods", "learning/models/test_models"),
        "learning/posterior": ("learning/models/test_models", "study/test_inference"),
    },
    "search": {
        "choosing/search/choice": ("choosing/search/test_search", "choosing/search/test_segments"),
        "choosing/search/listed": ("choosing/search/test_search",),
        "choosing/search/segments": ("choosing/search/test_segments", "choosing/search/test_search"),
        "choosing/search/search": ("choosing/search/test_search", "choosing/search/test_batches"),
        "choosing/search/utility": ("choosing/search/test_search", "choosing/search/test_segments"),
        "choosing/search/disagreement": ("choosing/search/test_disagreement", "choosing/strategies/test_bayes_guro"),
        "choosing/search/many_items": ("choosing/search/test_many_items",),
        "choosing/search/tiles": ("choosing/search/test_many_items",),
    },
    "strategies": {
        "choosing/strategies/bayes_guro": ("choosing/strategies/test_bayes_guro",),
        "choosing/strategies/colstim": ("choosing/strategies/test_colstim",),
        "choosing/strategies/greedy": ("choosing/strategies/test_strategies",),
        "choosing/strategies/overlap": ("choosing/strategies/test_overlap",),
        "choosing/strategies/subsampled": ("choosing/strategies/test_strategies",),
        "choosing/utilities/bald": ("choosing/utilities/test_bald", "choosing/strategies/test_strategies"),
        "choosing/utilities/bald_paper": ("choosing/utilities/test_bald", "choosing/strategies/test_strategies"),
        "algorithms": ("choosing/strategies/test_colstim", "choosing/strategies/test_strategies", "study/test_study"),
    },
    "fold": {
        "study/fold": ("study/test_fold", "study/test_names", "study/test_history", "study/test_study"),
        "study/inference": ("study/test_inference", "study/test_study"),
        "study/results": ("study/test_inference", "study/test_study"),
        "study/schedule": ("study/test_inference",),
        "study/comparisons": ("study/test_fold", "study/test_study"),
        "study/ledger": ("study/test_fold", "study/test_study", "study/test_threads"),
        "study/next_pair": ("study/test_study", "study/test_answer"),
    },
    "leases": {
        "study/leases": ("study/test_answer", "server/test_clock", "server/test_judging"),
        "study/questions": ("study/test_answer", "study/test_study", "server/test_clock"),
        "study/rules": ("study/test_answer", "server/test_owner_api"),
    },
    "storage": {
        "storage/sqlite": (
            "storage/test_sqlite",
            "storage/test_moved",
            "storage/test_contract",
            "study/test_power_cut",
            "study/test_kill",
        ),
        "storage/sql": ("storage/test_contract", "storage/test_migrations", "storage/test_feature_files"),
        "storage/log": ("storage/test_contract", "study/test_answer", "study/test_history"),
        "storage/feature_files": ("storage/test_feature_files",),
        "storage/__init__": ("storage/test_addresses", "storage/test_contract"),
    },
    "access": {
        "server/authentication": SERVED,
        "server/signing": SERVED,
        "server/rates": SERVED,
        "server/headers": ("server/test_headers", *SERVED),
        "server/routes": SERVED,
    },
    "metrics": {
        "simulation/metrics": ("simulation/test_metrics",),
        "simulation/tasks": ("simulation/test_tasks",),
        "simulation/annotators": ("simulation/test_annotators",),
        "learning/expected_error": ("learning/test_belief",),
        "data/scaling": ("data/test_scaling", "data/test_feature_notes"),
        "data/feature_notes": ("data/test_feature_notes",),
    },
}

SWAPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*", ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip
WORDS = {"IMMEDIATE": "DEFERRED", "EXTRA": "OFF", "WAL": "DELETE", "TRUNCATE": "PASSIVE"}
"""Words of SQL whose meaning a test has to know."""


class Mutant(NamedTuple):
    module: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.start}-{self.end}:{self.text}"


def mutants(module: str) -> list[Mutant]:
    """All that are known of a module, by bytes of its source."""
    source = path_of(ROOT, module).read_bytes()
    tree = ast.parse(source)
    starts = [0, *(found.end() for found in re.finditer(b"\n", source))]

    def span(node: Any) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def between(left: Any, right: Any, new: str) -> Iterator[Mutant]:
        """The operator between two nodes."""
        start, end = span(left)[1], span(right)[0]
        if found := re.search(rb"(not in|is not|[a-z]+|[-+*/%<>=!&|]+)", source[start:end]):
            yield Mutant(module, start + found.start(), start + found.end(), new)

    def of(node: Any) -> Iterator[Mutant]:
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                for one, operator, other in zip([left, *comparators], ops, comparators, strict=False):
                    yield from between(one, other, SWAPPED[type(operator)])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPPED:
                yield from between(left, right, SWAPPED[type(operator)])
            case ast.BoolOp(op=operator, values=values):
                for one, other in pairwise(values):
                    yield from between(one, other, SWAPPED[type(operator)])
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                yield Mutant(module, span(node)[0], span(operand)[0], "")
            case ast.Constant(value=bool(value)):
                yield Mutant(module, *span(node), str(not value))
            case ast.Constant(value=int(value)):
                yield Mutant(module, *span(node), str(value + 1))
            case ast.Constant(value=float(value)):
                yield Mutant(module, *span(node), repr(2.0 * value if value else 1.0))
            case ast.Constant(value=str(words)) if any(word in words for word in WORDS):
                start, end = span(node)
                for word, instead in WORDS.items():
                    if (place := source.find(word.encode(), start, end)) >= 0:
                        yield Mutant(module, place, place + len(word), instead)
            case ast.If(test=test) | ast.IfExp(test=test):
                start, end = span(test)
                yield Mutant(module, start, end, f"not ({source[start:end].decode()})")
            case ast.Break() | ast.Continue():
                yield Mutant(module, *span(node), "continue" if isinstance(node, ast.Break) else "break")
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield Mutant(module, *span(node), "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield Mutant(module, *span(node), "pass")
            case ast.Call(func=ast.Name(id="min" | "max") | ast.Attribute(attr="minimum" | "maximum")):
                start, end = span(node.func)
                called = source[start:end].decode()
                swapped = called.replace("min", "MAX").replace("max", "min").replace("MAX", "max")
                yield Mutant(module, start, end, swapped)

    def inside(node: Any) -> Iterator[Mutant]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield from inside(value)
                return
        yield from of(node)
        if isinstance(node, ast.JoinedStr | ast.arg | ast.Raise):
            return
        skipped = ("decorator_list", "returns", "bases", "annotation")
        for field, value in ast.iter_fields(node):
            if field not in skipped:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from inside(child)

    private = [
        statement
        for statement in tree.body
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "").startswith("_")
    ]
    found = [mutant for statement in tree.body if statement not in private for mutant in inside(statement)]
    return [mutant for mutant in dict.fromkeys(found) if parses(changed(source, mutant))]


def changed(source: bytes, mutant: Mutant) -> bytes:
    return source[: mutant.start] + mutant.text.encode() + source[mutant.end :]


def parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def sample(count: int, seed: int) -> list[tuple[str, Mutant]]:
    """(area, mutant): as many of each area, in turns, so that a run that is cut short has some of each."""
    rng = np.random.default_rng(seed)
    drawn = []
    for area, modules in AREAS.items():
        every = [mutant for module in modules for mutant in mutants(module)]
        chosen = rng.permutation(len(every))[: -(-count // len(AREAS))]
        drawn += [(turn, area, every[place]) for turn, place in enumerate(chosen)]
    return [(area, mutant) for _, area, mutant in sorted(drawn, key=lambda one: one[0])][:count]


def path_of(root: Path, module: str) -> Path:
    return root / "src" / "ordinate" / f"{module}.py"


def importers(module: str) -> set[str]:
    """The modules that import this one, also by way of others: their compiled code may contain its functions."""
    folder = ROOT / "src" / "ordinate"
    texts = {str(file.relative_to(folder))[:-3]: file.read_text() for file in folder.rglob("*.py")}
    found, waiting = {module}, [module]
    while waiting:
        dotted = "ordinate." + waiting.pop().replace("/", ".").removesuffix(".__init__")
        for name, text in texts.items():
            if name not in found and re.search(rf"from {re.escape(dotted)} import", text):
                found.add(name)
                waiting.append(name)
    return found


def outcome(copy: Path, mutant: Mutant, tests: tuple[str, ...]) -> tuple[str, float]:
    """killed, timeout or survived, and the seconds that took; the copy is as before afterwards."""
    path = path_of(copy, mutant.module)
    path.write_bytes(changed(path.read_bytes(), mutant))
    for name in importers(mutant.module):
        compiled = path_of(copy, name).parent / "__pycache__"
        for cached in compiled.glob(f"{Path(name).name}.*.nb?"):
            cached.unlink()
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()
        run_tests(copy, tests)
    status = None
    while status is None and time.monotonic() - begun < SECONDS:
        done, found = os.waitpid(child, os.WNOHANG)
        status = found if done else None
        time.sleep(0.02)
    if status is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    restore(copy)
    what = "timeout" if status is None else "killed" if status else "survived"
    return what, time.monotonic() - begun


def run_tests(copy: Path, tests: tuple[str, ...]) -> None:
    """In a process of its own, which ends here: with 1 where a test fails."""
    code: int = 1
    try:
        with copy.with_name("output").open("w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        os.chdir(copy)
        sys.path.insert(0, str(copy / "src"))
        os.environ["PYTHONPATH"] = str(copy / "src")
        files = [f"tests/{test}.py" for test in tests]
        code = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", *QUIET, *files])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0 if code == 0 else 1)


def restore(copy: Path) -> None:
    """Source and compiled code as they were, with their times, by which Numba knows that they belong together."""
    kept = copy.with_name("kept")
    for file in kept.rglob("*"):
        if not file.is_file():
            continue
        now, then = copy / "src" / file.relative_to(kept), file.stat()
        if not now.exists() or (now.stat().st_mtime_ns, now.stat().st_size) != (then.st_mtime_ns, then.st_size):
            shutil.copy2(file, now)


def run(out: Path, count: int, seed: int, only: str | None) -> int:
    done = {row["name"] for row in rows(out)} if out.exists() else set()
    wanted = [one for one in sample(count, seed) if only is None or only in one[1].name]
    for name in PRELOADED:
        try:
            __import__(name)
        except ModuleNotFoundError:
            print(f"not installed, so its tests may be skipped: {name}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        for part in ("src", "tests", "docs", "benchmarks"):
            shutil.copytree(ROOT / part, copy / part, symlinks=True)
        for file in ("pyproject.toml", "README.md", "ARCHITECTURE.md"):
            shutil.copy2(ROOT / file, copy / file)
        shutil.copytree(copy / "src", Path(folder) / "kept")
        for area, modules in AREAS.items():
            tests = tuple(dict.fromkeys(test for some in modules.values() for test in some))
            if f"unchanged:{area}" not in done and wanted:
                what, seconds = outcome(copy, Mutant(next(iter(modules)), 0, 0, ""), tests)
                print(f"{area}: {what} without a change, {seconds:.0f} s", flush=True)
                if what != "survived":
                    print(copy.with_name("output").read_text()[-3000:])
                    return 1
                write(out, {"name": f"unchanged:{area}", "seconds": round(seconds, 1)})
        for number, (area, mutant) in enumerate(wanted, 1):
            if mutant.name in done:
                continue
            what, seconds = outcome(copy, mutant, AREAS[area][mutant.module])
            source = path_of(ROOT, mutant.module).read_bytes()
            line = source[: mutant.start].count(b"\n") + 1
            row = {"name": mutant.name, "area": area, "line": line, "was": source[mutant.start : mutant.end].decode()}
            row |= {"became": mutant.text, "code": source.decode().splitlines()[line - 1].strip(), "outcome": what}
            write(out, row | {"seconds": round(seconds, 1)})
            print(f"{number} of {len(wanted)}: {what}, {seconds:.0f} s, {mutant.module}:{line}", flush=True)
    return 0


def write(out: Path, row: dict[str, Any]) -> None:
    with out.open("a") as file:
        file.write(json.dumps(row) + "\n")


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def table(out: Path) -> int:
    found = [row for row in rows(out) if "outcome" in row]
    print("| area | mutants | killed | of these by the time limit | survived |\n|---|--:|--:|--:|--:|")
    for area in [*AREAS, "all"]:
        counts = Counter(row["outcome"] for row in found if area in (row["area"], "all"))
        killed = counts["killed"] + counts["timeout"]
        print(f"| {area} | {counts.total()} | {killed} | {counts['timeout']} | {counts['survived']} |")
    for row in found:
        if row["outcome"] == "survived":
            module = row["name"].partition(":")[0]
            print(f"- `{module}.py` {row['line']}: `{row['was']}` -> `{row['became']}` in `{row['code']}`")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--count", type=int, default=300)
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--only")
    commands.add_parser("table").add_argument("out", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "table":
        return table(arguments.out)
    return run(arguments.out, arguments.count, arguments.seed, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
