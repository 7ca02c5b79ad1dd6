"""How long people wait: simulated annotators against one real server process, and whether its log is right afterwards.

    python benchmarks/server_load.py --people 50 --seconds 120
    python benchmarks/server_load.py --storage postgresql://localhost/test --servers 2

Each person joins by the annotators' link as a browser does, asks for a pair, thinks, and answers; 50 people at one
answer every 2 seconds make 25 answers a second. Prints the 50th, 95th and 99th percentile of both requests in
milliseconds, and fails where a pair was held by two people at once, or an acknowledged answer is not in the log exactly
once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import NamedTuple

import httpx
import numpy as np

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.storage import open as open_storage
from ordinate.study.study import Study

SECRET = "a secret of all servers of this benchmark"


class Case(NamedTuple):
    """recorded: random comparisons that the study has when the server starts."""

    items: int
    features: int
    algorithm: str
    recorded: int = 0


CASES = {
    "factored": Case(6072, 75, "guro-hybrid-factored"),
    "exact": Case(1000, 35, "guro-hybrid"),
    # Its covariance is renewed after 300 answers, which takes seconds.
    "large": Case(4000, 35, "guro-hybrid", 19_700),
}


class Person:
    """One annotator in one browser."""

    def __init__(self, client: httpx.AsyncClient, study: str, name: str, truth: dict[str, float], seed: int) -> None:
        self.client, self.api, self.study, self.name, self.truth = (
            client,
            f"/api/v1/studies/{study}",
            study,
            name,
            truth,
        )
        self.rng = np.random.default_rng([seed, 1])
        self.asks: list[float] = []
        self.tells: list[float] = []
        self.acknowledged: list[str] = []
        self.headers: dict[str, str] = {}

    async def join(self, path: str) -> None:
        await self.client.post(path, data={"name": self.name})
        page = await self.client.get(f"/judge/{self.study}")
        (token,) = re.findall('data-csrf="([^"]+)"', page.text)
        self.headers = {"X-CSRF-Token": token}

    async def judge(self, until: float, pause: float) -> None:
        await asyncio.sleep(self.rng.uniform(0, pause))
        while (began := time.perf_counter()) < until:
            response = await self.client.post(f"{self.api}/queries", json={"count": 1}, headers=self.headers)
            self.asks.append(time.perf_counter() - began)
            response.raise_for_status()
            (query,) = response.json()["queries"]
            await asyncio.sleep(max(0.0, pause * self.rng.uniform(0.6, 1.4) - (time.perf_counter() - began)))
            await self.answer(query)

    async def answer(self, query: dict[str, dict[str, str]]) -> None:
        margin = self.truth[query["left"]["id"]] - self.truth[query["right"]["id"]]
        side = "left" if self.rng.random() < 1 / (1 + np.exp(-margin)) else "right"
        key, sent = secrets.token_hex(8), time.perf_counter()
        response = await self.client.post(
            f"{self.api}/answers",
            json={"query": query["id"], "answer": side, "count": 0},
            headers={**self.headers, "Idempotency-Key": key},
        )
        self.tells.append(time.perf_counter() - sent)
        response.raise_for_status()
        self.acknowledged.append(key)


def make_study(case: Case, url: str, seed: int) -> dict[str, float]:
    """A study with a hidden truth; returns the score of each item."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(case.items, case.features))
    truth = features @ rng.normal(size=case.features) * 2 / np.sqrt(case.features) + 0.5 * rng.normal(size=case.items)
    items = Items([f"item-{row}" for row in range(case.items)], features)
    left = rng.integers(0, case.items, case.recorded)
    right = (left + rng.integers(1, case.items, case.recorded)) % case.items
    won = rng.random(case.recorded) < 1 / (1 + np.exp(truth[right] - truth[left]))
    with Study.create(items, algorithm=case.algorithm, seed=seed, storage=url) as study:
        study.record(
            Comparison(items.ids[one], items.ids[other], "left" if first else "right")
            for one, other, first in zip(left, right, won, strict=True)
        )
    return dict(zip(items.ids, truth.tolist(), strict=True))


def start_server(study: str) -> tuple[subprocess.Popen[str], str]:
    """A server in a process of its own, and the annotators' link."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A shell starts what runs in the background like this, and then the server would not hear that it shall end.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "ordinate", "serve", study, "--port", "0", "--no-open"]
    environment = {**os.environ, "ORDINATE_SECRET": SECRET}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    for line in server.stdout:
        if "for annotators" in line:
            return server, line.split()[-1]
    raise SystemExit(f"the server did not start: {server.wait()}")


async def load(
    links: list[str],
    truth: dict[str, float],
    people: int,
    seconds: float,
    pause: float,
    seed: int,
    kind: type[Person] = Person,
) -> list[Person]:
    """People who come in turn by the links of several servers."""
    urls = [httpx.URL(link) for link in links]
    # Shorter than the five seconds after which the server closes an idle connection, perhaps just when one asks.
    limits = httpx.Limits(max_connections=None, keepalive_expiry=3.0)
    crowd = [
        kind(
            httpx.AsyncClient(base_url=urls[k % len(urls)].copy_with(path="/"), timeout=60, limits=limits),
            urls[0].path.split("/")[2],
            f"p{k}",
            truth,
            k,
        )
        for k in range(people)
    ]
    await asyncio.gather(*(person.join(urls[0].path) for person in crowd))
    # The first pair waits for the kernels to compile and for the first fit: a server that has just started.
    for person in crowd[: len(urls)]:
        first = await person.client.post(f"{person.api}/queries", json={"count": 1}, headers=person.headers)
        first.raise_for_status()
    until = time.perf_counter() + seconds
    await asyncio.gather(*(person.judge(until, pause) for person in crowd))
    for person in crowd:
        await person.client.aclose()
    return crowd


def check_log(url: str, acknowledged: list[str]) -> dict[str, float]:
    """What the log says. Raises SystemExit where it is wrong."""
    storage = open_storage(url)
    with storage.reading() as log:
        entries = log.entries(0)
    storage.close()
    held: dict[frozenset[str | None], int | None] = {}
    behind: list[int] = []
    random = older = 0
    for entry in entries:
        pair = frozenset((entry.left, entry.right))
        if entry.kind == "ask":
            if pair in held:
                raise SystemExit(f"entry {entry.position}: {entry.left} and {entry.right} were held already")
            held[pair] = entry.query
            random += entry.strategy == "Uniform()"
            older += "covariance" in (entry.strategy or "")
            behind.append(entry.position - 1 - (entry.based_on or entry.position))
        elif entry.kind in ("answer", "expire", "withdraw") and held.get(pair) == entry.query:
            del held[pair]
    keys = Counter(entry.key for entry in entries if entry.kind == "answer")
    lost = [key for key in acknowledged if keys[key] != 1]
    if lost:
        raise SystemExit(f"{len(lost)} acknowledged answers are not in the log exactly once")
    return {
        "answers": sum(keys.values()),
        "entries behind, median": float(np.median(behind)),
        "random pairs": random,
        "pairs by an older covariance": older,
    }


def milliseconds(times: list[float]) -> str:
    return "  ".join(f"p{share} {1000 * np.percentile(times, share):7.1f}" for share in (50, 95, 99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, action="append", help="default: all")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two answers of one person")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--storage", metavar="URL", help="a database of PostgreSQL: postgresql://HOST/DATABASE")
    parser.add_argument("--servers", type=int, default=1, help="how many processes serve the study")
    options = parser.parse_args()
    for name in options.case or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            study = f"{folder}/study.db"
            if options.storage is not None:
                study = f"{options.storage}/{name}-{secrets.token_hex(3)}"
            url = study if options.storage is not None else f"sqlite:///{study}"
            truth = make_study(case, url, options.seed)
            servers = [start_server(study) for _ in range(options.servers)]
            links = [link for _, link in servers]
            try:
                crowd = asyncio.run(load(links, truth, options.people, options.seconds, options.pause, options.seed))
            finally:
                for server, _ in servers:
                    server.send_signal(signal.SIGINT)
                codes = [server.wait(60) for server, _ in servers]
            counts = check_log(url, [key for person in crowd for key in person.acknowledged])
        print(
            f"{case.algorithm}, n = {case.items:,}, d = {case.features}; {options.people} people, {options.seconds:g} s"
        )
        print(f"  ask   {milliseconds([t for person in crowd for t in person.asks])} ms")
        print(f"  tell  {milliseconds([t for person in crowd for t in person.tells])} ms")
        print(
            f"  {counts}; no pair held twice, every acknowledged answer once; the servers ended with {codes}",
            flush=True,
        )


if __name__ == "__main__":
    main()
