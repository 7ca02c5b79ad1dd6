"""A model judges pairs, several at once, until there is none left or a budget is spent.

Every answer is stored before the next pair is asked for, so a run that is killed goes on where it was: pairs that were
under way are still open, come first, and are the only ones whose requests are sent again. What a reply does not say is
not guessed: the pair is skipped, with the reply as the reason, and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ordinate.data.comparisons import Answer
from ordinate.errors import (
    AlreadyAnswered,
    AnnotatorExcluded,
    BudgetSpent,
    InvalidInput,
    JudgeFailed,
    PoolExhausted,
    StudyPaused,
)
from ordinate.judges.endpoint import Endpoint, Reply, RequestRefused
from ordinate.judges.places import Pair, Place
from ordinate.judges.prompt import Prompt, messages, read_verdict
from ordinate.storage import AnswerDetails
from ordinate.study.machines import Machine

UNREADABLE_IN_A_ROW = 10
RECENT, UNREADABLE_OF_RECENT = 30, 15
"""After so many pairs without a verdict in a row, or of the recent ones, the prompt or the model is wrong, and going on
would only cost."""
_QUOTED = 200
"""Characters of a reply that the log keeps where it could not be read."""
_CLIENT = "ordinate judge"
_NO_TIES = "a tie, which the study does not take any more"


class Judgement(NamedTuple):
    """answer  what is stored
    kind    what it is counted as: decided, tie, orders disagree, skipped, refused, unreadable, request refused
    reason  why it is no plain answer
    tokens  None: the endpoint did not say for any reply
    """

    answer: Answer
    kind: str
    reason: str | None
    tokens: int | None
    seconds: float


@dataclass
class Tally:
    """What a run did. `ended`: why it stopped; `answers` and `tokens` include those of earlier runs."""

    answers: int = 0
    tokens: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    ended: str = ""

    @property
    def judged(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True)
class Task:
    """answers, tokens  budgets of this judge in this study, all runs together; None: none"""

    prompt: Prompt
    machine: Machine
    annotator: str
    concurrency: int = 4
    answers: int | None = None
    tokens: int | None = None


async def judge(place: Place, endpoint: Endpoint, task: Task, told: Callable[[Tally], None]) -> Tally:
    """Judge until no pair or no budget is left; `told` hears of every pair.

    Raises JudgeFailed where the endpoint fails for good; what was stored before stays, and the open pairs come again.
    """
    name = await asyncio.to_thread(place.register, task.annotator, task.machine)
    return await _Run(place, endpoint, task, name, told).run()


class _Run:
    def __init__(self, place: Place, endpoint: Endpoint, task: Task, name: str, told: Callable[[Tally], None]) -> None:
        self._place, self._endpoint, self._task, self._name, self._told = place, endpoint, task, name, told
        self._flying: dict[str, asyncio.Task[tuple[Pair, Judgement]]] = {}
        # Pairs whose requests the endpoint refused: stored as skipped once it took another one.
        self._refused: dict[str, tuple[Pair, Judgement]] = {}
        self._unreadable: deque[bool] = deque(maxlen=RECENT)
        self._tally = Tally()

    async def run(self) -> Tally:
        tally = self._tally
        tally.answers, tally.tokens = await asyncio.to_thread(self._place.spent, self._name)
        self._told(tally)
        try:
            while True:
                if not tally.ended:
                    await self._ask()
                if not self._flying:
                    break
                done, _ = await asyncio.wait(self._flying.values(), return_when=asyncio.FIRST_COMPLETED)
                # Those that came are stored even where another one failed.
                failed = [error for one in done if (error := one.exception()) is not None]
                for one in done:
                    if one.exception() is None:
                        await self._take(*one.result())
                if failed:
                    raise failed[0]
        finally:
            for one in self._flying.values():
                one.cancel()
            await asyncio.gather(*self._flying.values(), return_exceptions=True)
        if self._refused and not tally.judged:
            raise self._all_refused()
        for refused in self._refused.values():
            await self._store(*refused)
        return tally

    async def _ask(self) -> None:
        """Send requests for as many pairs as there is room for."""
        task, tally = self._task, self._tally
        room = task.concurrency - len(self._flying)
        if task.answers is not None:
            room = min(room, task.answers - tally.answers - len(self._flying))
            if task.answers <= tally.answers:
                tally.ended = f"all {task.answers} answers are given"
        if task.tokens is not None and tally.tokens >= task.tokens:
            room, tally.ended = 0, f"the budget of {task.tokens} tokens is spent"
        if room <= 0:
            return
        wanted = len(self._flying) + len(self._refused) + room
        try:
            pairs = await asyncio.to_thread(self._place.ask, self._name, wanted)
        except (BudgetSpent, PoolExhausted, StudyPaused) as error:
            tally.ended = str(error)
            return
        except AnnotatorExcluded:
            tally.ended = f"{self._name} was left out of the study; its answers are kept and do not count"
            return
        new = [pair for pair in pairs if pair.query not in self._flying and pair.query not in self._refused]
        for pair in new[:room]:
            self._flying[pair.query] = asyncio.create_task(self._judged(pair))
        if not self._flying:
            tally.ended = "no pair is left"

    async def _judged(self, pair: Pair) -> tuple[Pair, Judgement]:
        began = time.monotonic()
        left, right = await asyncio.to_thread(pair.left), await asyncio.to_thread(pair.right)
        orders = [(left, right), (right, left)][: 2 if self._task.machine.orders == "both" else 1]
        prompt, question, ties = self._task.prompt, pair.question, pair.ties
        asked = [
            await asyncio.to_thread(messages, prompt, question, *one, pair.group, ties=ties) for one in orders
        ]  # a thread, because a picture may have to be converted
        sent = [self._endpoint.send(one) for one in asked]
        found = await asyncio.gather(*sent, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, RequestRefused):
                raise one
        verdicts = [verdict_of(one, ties) for one in found if isinstance(one, Reply | RequestRefused)]
        known = [one.tokens for one in found if isinstance(one, Reply) and one.tokens is not None]
        tokens, seconds = sum(known) if known else None, time.monotonic() - began
        return pair, Judgement(*combined(verdicts, ties), tokens, seconds)

    async def _take(self, pair: Pair, judged: Judgement) -> None:
        """Store a judgement, or keep it back where it may be the endpoint that refuses everything."""
        if judged.kind == "request refused":
            self._refused[pair.query] = (pair, judged)
            del self._flying[pair.query]
            if len(self._refused) > self._task.concurrency:
                raise self._all_refused()
            return
        waiting, self._refused = list(self._refused.values()), {}
        for one in [*waiting, (pair, judged)]:
            await self._store(*one)
            self._flying.pop(one[0].query, None)
        self._unreadable.append(judged.kind == "unreadable")
        recent = list(self._unreadable)
        in_a_row = len(recent) >= UNREADABLE_IN_A_ROW and all(recent[-UNREADABLE_IN_A_ROW:])
        if in_a_row or (recent[-1] and sum(recent) >= UNREADABLE_OF_RECENT):
            which = "replies in a row" if in_a_row else f"of {len(recent)} replies"
            raise JudgeFailed(
                f"{UNREADABLE_IN_A_ROW if in_a_row else sum(recent)} {which} could not be read; the last: "
                f"{judged.reason}. Look at the prompt"
            ).with_option("--dry-run shows a request")
        if judged.tokens is None and self._task.tokens is not None:
            raise JudgeFailed(
                "the endpoint does not say how many tokens a reply took, so no budget of them can be kept"
            )

    async def _store(self, pair: Pair, judged: Judgement) -> None:
        details = AnswerDetails(
            judged.reason, duration_ms=round(1000 * judged.seconds), client=_CLIENT, tokens=judged.tokens
        )
        tally, kind = self._tally, judged.kind
        tally.tokens += judged.tokens or 0
        answer = judged.answer
        try:
            try:
                await asyncio.to_thread(self._place.tell, pair, answer, details, self._name)
            except InvalidInput:
                # The reply is paid for, so the study keeps it, though its rules may have changed meanwhile.
                if answer != "tie" or await asyncio.to_thread(self._place.takes_ties):
                    raise
                answer, kind, details = "skip", "skipped", details._replace(reason=_NO_TIES)
                await asyncio.to_thread(self._place.tell, pair, answer, details, self._name)
            tally.answers += answer != "skip"
        except AlreadyAnswered:
            kind = "answered elsewhere"
        tally.kinds[kind] = tally.kinds.get(kind, 0) + 1
        self._told(tally)

    def _all_refused(self) -> JudgeFailed:
        return JudgeFailed(f"{next(iter(self._refused.values()))[1].reason}; nothing was stored for such pairs")


def verdict_of(reply: Reply | RequestRefused, ties: bool) -> tuple[str, str | None]:
    """A, B or tie; or what the pair is counted as, and the reason why it is skipped."""
    if isinstance(reply, RequestRefused):
        return "request refused", f"the endpoint refused the request: {reply}"
    if reply.text is None:
        return "refused", "the model refused"
    verdict = read_verdict(reply.text, ties=ties)
    if verdict is None or not reply.whole:
        why = "no verdict in" if reply.whole else "cut off at its limit of tokens:"
        return "unreadable", f"{why} {reply.text[-_QUOTED:]!r}"
    return ("skipped", "the model could not judge") if verdict == "skip" else (verdict, None)


def combined(verdicts: list[tuple[str, str | None]], ties: bool) -> tuple[Answer, str, str | None]:
    """The answer, its kind and the reason; `verdicts`: in the order shown, and perhaps with the sides swapped."""
    for verdict, reason in verdicts:
        if reason is not None:
            return "skip", verdict, reason
    sides: list[Answer] = []
    for swapped, (verdict, _) in enumerate(verdicts):
        sides.append("tie" if verdict == "tie" else "left" if (verdict == "A") != bool(swapped) else "right")
    if len(set(sides)) == 1:
        return sides[0], "tie" if sides[0] == "tie" else "decided", None
    reason = f"the two orders disagree: {sides[0]}, then {sides[1]}"
    return "tie" if ties else "skip", "orders disagree", reason
