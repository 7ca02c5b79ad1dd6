"""A long day for one server: 200 simulated people judge pictures while three hostile clients attack it.

    python -m benchmarks.soak                                  # ten minutes, 25 answers a second
    python -m benchmarks.soak --minutes 1 --names 500          # a short form

A real server process serves 500 pictures by `guro-hybrid`. Each person loads the pictures of a pair, thinks and
answers. Then 5,000 people come by the same link, give a name, look and leave: four requests each, only the names are
stored. Prints waiting times, memory and what the attackers were answered. Fails where a limit was missed, a pair
was held by two people at once, or an acknowledged answer is not in the file exactly once.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from PIL import Image

from benchmarks.hostile import Counts, attack
from benchmarks.server_load import Person, check_log, load, milliseconds, start_server
from ordinate.data.items import Items
from ordinate.study.study import Study

PICTURES, ALGORITHM = 500, "guro-hybrid"
LOOKS = 4
"""Requests of each person who only looks."""
AT_ONCE = 8
"""People who look at the same time."""

SLOWEST_P95 = 0.25
SLOWEST_HEALTH = 1.0
MOST_PER_ANSWER = MOST_PER_NAME = 8.0
"""KiB of memory: the server keeps the log, so it grows with answers and names, and with nothing else."""


class Judge(Person):
    """A person whose browser loads pictures and keeps them."""

    async def answer(self, query: dict[str, Any]) -> None:
        seen = self.__dict__.setdefault("seen", set())
        for url in {query[side]["image_url"] for side in ("left", "right")} - seen:
            (await self.client.get(url)).raise_for_status()
            seen.add(url)
        await super().answer(query)


class Sample(NamedTuple):
    """The memory of two processes, in MiB."""

    at: float
    server: float
    helper: float


@dataclass
class Watch:
    """Samples of a running server, taken by a thread each second."""

    server: int
    health_url: str
    samples: list[Sample] = field(default_factory=list)
    health: list[float] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        ended = threading.Event()

        def watch() -> None:
            with httpx.Client(timeout=60) as client:
                while not ended.wait(1.0):
                    sent = time.perf_counter()
                    client.get(self.health_url).raise_for_status()
                    self.health.append(time.perf_counter() - sent)
                    self.samples.append(Sample(sent, memory(self.server), sum(map(memory, children(self.server)))))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def growth(self, begun: float, until: float) -> float:
        """MiB of the server per second between two times, by least squares."""
        chosen = [one for one in self.samples if begun <= one.at <= until]
        return float(np.polyfit([one.at for one in chosen], [one.server for one in chosen], 1)[0])


class Report(NamedTuple):
    asks: list[float]
    tells: list[float]
    health: list[float]
    seconds: float
    processor: float  # seconds of the server while people judge, those for the attackers among them
    memory: list[Sample]  # while people judge
    per_answer: float  # KiB of the server's memory for each answer in the second half
    per_name: float  # KiB of the server's memory for each visit in the second half of them
    visits: int
    attacks: dict[str, Counts]
    log: dict[str, float]
    exit_code: int

    def lines(self) -> Iterator[str]:
        rate = len(self.tells) / self.seconds
        yield f"{len(self.tells):,} answers in {self.seconds:.0f} s, {rate:.1f} a second"
        yield f"ask      {milliseconds(self.asks)} ms"
        yield f"tell     {milliseconds(self.tells)} ms"
        yield f"healthz  {milliseconds(self.health)}  longest {1000 * max(self.health):.0f} ms"
        answer, second = self.processor / len(self.tells), self.processor / self.seconds
        yield f"server   {1000 * answer:.1f} ms of a processor for each answer, {second:.0%} of one"
        for name, share in (("first", 0.0), ("middle", 0.5), ("last", 1.0)):
            one = self.memory[round(share * (len(self.memory) - 1))]
            yield f"memory   {name:6} server {one.server:4.0f} MiB, helper {one.helper:4.0f} MiB"
        yield f"memory   second half: {self.per_answer:.1f} KiB for each answer"
        requests = LOOKS * self.visits
        yield f"memory   second half of {self.visits:,} names, {requests:,} requests: {self.per_name:.1f} KiB each"
        for name, counts in self.attacks.items():
            yield f"{name}: " + ", ".join(f"{count} x {what}" for what, count in sorted(counts.items(), key=str))
        yield f"{self.log}; no pair held twice, every acknowledged answer once; the server ended with {self.exit_code}"

    def missed(self) -> Iterator[str]:
        """The limits that were not kept."""
        for name, times in (("ask", self.asks), ("tell", self.tells)):
            if (p95 := float(np.percentile(times, 95))) > SLOWEST_P95:
                yield f"p95 of {name}: {p95:.2f} s, at most {SLOWEST_P95:g} s wanted"
        if max(self.health) > SLOWEST_HEALTH:
            yield f"healthz: {max(self.health):.2f} s, at most {SLOWEST_HEALTH:g} s wanted"
        if self.per_answer > MOST_PER_ANSWER:
            yield f"memory: {self.per_answer:.1f} KiB for each answer, at most {MOST_PER_ANSWER:g} KiB wanted"
        if self.per_name > MOST_PER_NAME:
            yield f"memory: {self.per_name:.1f} KiB for each name, at most {MOST_PER_NAME:g} KiB wanted"
        if self.exit_code != 130:
            yield f"the server ended with {self.exit_code}, not as after Ctrl-C"


def make_study(path: Path, seed: int) -> dict[str, float]:
    """A study of pictures with a hidden truth; returns the score of each."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, 256, size=(PICTURES, 3, 4, 3), dtype=np.uint8)
    places = [f"pictures/{row}.jpg" for row in range(PICTURES)]
    path.with_name("pictures").mkdir()
    for place, picture in zip(places, colours, strict=True):
        Image.fromarray(picture).resize((640, 480), Image.Resampling.BICUBIC).save(
            path.with_name("pictures").parent / place
        )
    features = colours.reshape(PICTURES, -1) / 255.0
    weights = rng.normal(size=features.shape[1])
    truth = 2 * features @ weights + 0.5 * rng.normal(size=PICTURES)
    items = Items([f"picture-{row}" for row in range(PICTURES)], features, content={"image": places})
    Study.create(items, algorithm=ALGORITHM, seed=seed, storage=f"sqlite:///{path}").close()
    return dict(zip(items.ids, truth.tolist(), strict=True))


def memory(process: int) -> float:
    """MiB that a process holds; 0 for one that has ended."""
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return 0.0 if found is None else int(found[1]) / 1024


def processor_seconds(process: int) -> float:
    """How long a process has computed, all its threads together."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").glob("*/children")  # each lists the processes that it has started
    return [int(one) for thread in threads for one in thread.read_text().split()]


@contextmanager
def attacked(link: str) -> Iterator[dict[str, Counts]]:
    """Hostile clients while the block runs; afterwards, what each was answered."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=attack, args=(link, there))
    process.start()
    there.close()
    answered: dict[str, Counts] = {}
    try:
        yield answered
        here.send("stop")
        answered.update(here.recv())
    finally:
        process.kill()
        process.join()
        here.close()


async def look(link: str, numbers: range) -> None:
    """People who come by the link, each under a name of their own, and see where the study stands."""
    url = httpx.URL(link)
    names = iter(numbers)

    async def visitor() -> None:
        async with httpx.AsyncClient(base_url=url.copy_with(path="/"), timeout=60, follow_redirects=True) as client:
            for number in names:
                client.cookies.clear()
                _require(await client.post(url.path, data={"name": f"visitor {number}"}), number)  # and the page
                for _ in range(LOOKS - 2):
                    _require(await client.get("/api/v1/studies/study"), number)

    await asyncio.gather(*(visitor() for _ in range(AT_ONCE)))


def _require(response: httpx.Response, visitor: int) -> None:
    """Raise SystemExit with all that a response says where it is a refusal."""
    if not response.is_success:
        raise SystemExit(f"visitor {visitor}: {response.status_code} for {response.url.path}\n{response.text}")


def soak(people: int, rate: float, seconds: float, visits: int, seed: int) -> Report:
    """Run it all. Raises SystemExit where the log is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        truth = make_study(path, seed)
        server, link = start_server(str(path))
        watch = Watch(server.pid, str(httpx.URL(link).copy_with(path="/healthz")))
        try:
            with watch.running():
                begun = processor_seconds(server.pid)
                with attacked(link) as attacks:
                    crowd = asyncio.run(load([link], truth, people, seconds, people / rate, seed, Judge))
                ended, processor = time.perf_counter(), processor_seconds(server.pid) - begun
                judging = [one for one in watch.samples if ended - seconds <= one.at <= ended]
                told = sum(len(person.tells) for person in crowd)
                asyncio.run(look(link, range(visits // 2)))
                middle = memory(server.pid)
                asyncio.run(look(link, range(visits // 2, visits)))
                per_name = 1024 * (memory(server.pid) - middle) / (visits - visits // 2)
        finally:
            server.send_signal(signal.SIGINT)
            code = server.wait(60)
            if server.stdout is not None:
                server.stdout.close()
        log = check_log(f"sqlite:///{path}", [key for person in crowd for key in person.acknowledged])
    return Report(
        [took for person in crowd for took in person.asks],
        [took for person in crowd for took in person.tells],
        watch.health,
        seconds,
        processor,
        judging,
        1024 * watch.growth(ended - seconds / 2, ended) / (told / seconds),
        per_name,
        visits,
        attacks,
        log,
        code,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=25.0, help="answers a second of all people together")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--names", type=int, default=5000, help="people who look afterwards")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    report = soak(options.people, options.rate, 60 * options.minutes, options.names, options.seed)
    print(f"{ALGORITHM}, {PICTURES} pictures; {options.people} people; load of the machine before: {busy:.1f}")
    for line in report.lines():
        print(f"  {line}")
    if missed := list(report.missed()):
        raise SystemExit("\n".join(missed))


if __name__ == "__main__":
    main()
