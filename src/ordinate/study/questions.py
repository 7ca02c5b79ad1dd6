"""Questions and answers: pairs are chosen, asked, held, shown, answered, taken back. The half of Study that people use.

ask():  the belief after the log -> the strategy's pair -> an entry in the log -> Query
take(): the same with a pair that was chosen before, as a server does that chooses ahead
tell(): an entry in the log, on the disk before it returns
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, overload

from ordinate import algorithms
from ordinate.algorithms import strategy_of
from ordinate.choosing.search import Bounds, Shortlist
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.cells import text, whole
from ordinate.data.comparisons import ANSWERS, Answer, Query
from ordinate.data.pairs import PairList
from ordinate.errors import (
    AlreadyAnswered,
    BudgetSpent,
    InvalidInput,
    KeyReused,
    NothingToUndo,
    PoolExhausted,
    StudyPaused,
    UnknownQuery,
)
from ordinate.storage import Circumstances, Entry, Kind, Settings, checked, now
from ordinate.study import asking, leases
from ordinate.study.leases import Lease, Offer
from ordinate.study.ledger import Ledger, locked

ATTEMPTS = 3
"""How often a choice is made again because others wrote meanwhile, before they have to wait for it."""


class Questions(Ledger):
    @property
    def settings(self) -> Settings:
        return self._storage.settings

    @overload
    def ask(self, annotator: str | None = None, count: None = None, *, among: PairList | None = None) -> Query: ...
    @overload
    def ask(self, annotator: str | None = None, *, count: int, among: PairList | None = None) -> list[Query]: ...
    @overload
    def ask(self, annotator: str | None, count: int, *, among: PairList | None = None) -> list[Query]: ...
    def ask(
        self, annotator: str | None = None, count: int | None = None, *, among: PairList | None = None
    ) -> Query | list[Query]:
        """The annotator's open queries, oldest first, topped up with new ones to `count`; without a count, one query.

        An annotator gets no pair twice, and no pair that is open, until nothing else is left. Fewer than `count` come
        back when the pairs run out; none left at all raises PoolExhausted. `among` allows only the pairs of a list.
        """
        name = named(annotator)
        wanted = 1 if count is None else whole("count", count, 1)
        queries = self._topped_up(name, wanted, among)
        return queries[0] if count is None else queries

    @locked
    def choose(
        self, annotators: Sequence[str | None], beyond: Iterable[tuple[str, str, str | None]] = ()
    ) -> list[Offer | None]:
        """A pair for each of the annotators, for `take`; nothing is written. None where no pair is left for one.

        Each choice takes the earlier ones for asked already, and the pairs (left, right, annotator) `beyond`, too.
        """
        state = self._catch_up()
        shortlist = Shortlist(self._inference.bounds)
        offers: list[Offer | None] = []
        try:
            for left, right, annotator in beyond:
                if left in state.rows and right in state.rows:
                    state.suppose(left, right, annotator)
            for place, annotator in enumerate(annotators):
                try:
                    chosen = self._chosen(annotator, None, len(state.queries) + 1 + place, shortlist)
                except PoolExhausted:
                    offers.append(None)
                    continue
                offers.append(Offer(chosen.left, chosen.right, annotator, chosen.utility, state.position))
                state.suppose(chosen.left, chosen.right, annotator)
        finally:
            state.suppose_nothing()
        return offers

    @locked
    def draw(self, annotator: str | None) -> Offer:
        """A random pair for an annotator, for `take` where `choose` is not done in time. Raises PoolExhausted."""
        state = self._catch_up()
        left, right = asking.draw(self.settings, state, annotator)
        ids = state.items.ids
        return Offer(ids[left], ids[right], annotator, None, state.position, repr(Uniform()))

    def take(
        self, annotator: str | None, count: int, offers: Sequence[Offer] = (), *, tab: str | None = None
    ) -> list[Lease]:
        """The annotator's open queries, topped up to `count` with offers of `choose` that still stand.

        Queries given to another tab of the same annotator come only where nothing may be given. Raises BudgetSpent,
        StudyPaused where nothing is open either.
        """
        name, wanted = named(annotator), whole("count", count, 1)

        def take() -> list[Lease]:
            self._require_included(name)
            self._append(self._expirations())
            while len(mine := asking.open_queries(self._state, name, tab=tab)) < wanted:
                try:
                    taken = self._taken(name, offers, tab)
                except (BudgetSpent, StudyPaused):
                    if not (mine := asking.open_queries(self._state, name)):
                        raise
                    break
                if not taken:
                    break
                self._append(taken)
            return [self._lease(entry) for entry in mine[:wanted]]

        return self._write(take)

    @locked
    def held(self, annotator: str | None) -> list[Lease]:
        """The annotator's open queries, oldest first, given to whichever tab."""
        return [self._lease(entry) for entry in asking.open_queries(self._catch_up(), named(annotator))]

    @locked
    def query(self, query_id: str) -> Query:
        """A query that was asked at any time. Raises UnknownQuery."""
        return self._query(self._catch_up().queries[self._find(query_id) - 1])

    def tell(self, query_id: str, answer: Answer, circumstances: Circumstances | None = None) -> None:
        """Answer a query: "left", "right", "tie" or "skip". Raises UnknownQuery, AlreadyAnswered.

        An answer with the key of an earlier one is that one, sent again: nothing is added.
        """
        if answer not in ANSWERS:
            raise InvalidInput(f"unknown answer {answer!r}; it is {', '.join(ANSWERS)}")
        known = Circumstances() if circumstances is None else checked(circumstances)

        def tell() -> None:
            if known.key is not None and (earlier := self._state.keys.get(known.key)) is not None:
                if (self._id(earlier.query), earlier.answer) != (query_id, answer):
                    raise KeyReused(f"the key {known.key!r} belongs to another answer; use a new one for each answer")
                return
            asked = self._waiting(query_id, late=True)
            if answer == "tie" and not self._state.rules.ties:
                raise InvalidInput("ties are no answer in this study; answer left or right, or skip")
            self._append([self._about(asked, "answer", answer, **known._asdict())])

        self._write(tell)

    def show(self, query_id: str, shown_at: str | None = None) -> Lease:
        """A query has reached the annotator's screen: where less than half of its lease is left, it starts anew."""
        known = checked(Circumstances(shown_at=shown_at))

        def show() -> Lease:
            asked, at = self._waiting(query_id), now()
            if leases.half_over(self._state, asked.query or 0, at):
                ends = leases.until(self._state, at)
                self._append([self._about(asked, "show", shown_at=known.shown_at, expires_at=ends)])
            return self._lease(asked)

        return self._write(show)

    def withdraw(self, query_id: str) -> None:
        """Close a query without an answer; its pair may be asked again."""
        self._write(lambda: self._append([self._about(self._waiting(query_id), "withdraw")]))

    def undo(self, annotator: str | None = None) -> Query:
        """Take back the newest answer (or skip) that this annotator told; its query, returned, is open again."""
        return self.take_back(annotator)[0].query

    def take_back(self, annotator: str | None = None, key: str | None = None) -> tuple[Lease, Answer]:
        """`undo`, with until when the query is open now, and the answer that was taken back.

        With a key it is the annotator's answer that came with it. Raises NothingToUndo where that one does not count.
        """
        name = named(annotator)

        def take_back() -> tuple[Lease, Answer]:
            told = self._state.newest_told(name) if key is None else self._told_with(key, name)
            was: Any = self._state.answered[told.query or 0].answer
            self._append([self._about(told, "retract", expires_at=leases.until(self._state, now()))])
            return self._lease(told), was

        return self._write(take_back)

    def _told_with(self, key: str, annotator: str | None) -> Entry:
        """The query that this annotator answered with a key, unless the answer was taken back."""
        answer = self._state.keys.get(key)
        if answer is None or answer.annotator != annotator or self._state.answered.get(answer.query or 0) != answer:
            raise NothingToUndo("there is no such answer of yours; it may have been taken back already")
        return self._state.queries[(answer.query or 0) - 1]

    @locked
    def _topped_up(self, annotator: str | None, wanted: int, among: PairList | None) -> list[Query]:
        """The annotator's first open queries, new ones among them where there were fewer than `wanted`."""
        self._catch_up()
        self._require_included(annotator)
        if leases.due(self._state, now()):
            self._write(lambda: self._append(self._expirations()))
        overtaken = 0
        while len(mine := asking.open_queries(self._state, annotator, among)) < wanted:
            try:
                overtaken += not self._ask_another(annotator, among, locked=overtaken >= ATTEMPTS)
            except (PoolExhausted, BudgetSpent, StudyPaused):
                if not mine:
                    raise
                break
        return [self._query(entry) for entry in mine[:wanted]]

    def _ask_another(self, annotator: str | None, among: PairList | None, *, locked: bool) -> bool:
        """Choose a pair and ask it; False where others wrote meanwhile, so that the choice rests on an old log.

        A choice may take a while, so it is made before the storage is locked, unless `locked`.
        """
        chosen = None if locked else self._choose(annotator, among)

        def ask() -> bool:
            entry = chosen or self._choose(annotator, among)
            if entry.position != self._state.position + 1:
                return False
            self._append([entry])
            return True

        return self._write(ask)

    def _choose(self, annotator: str | None, among: PairList | None) -> Entry:
        state = self._state
        leases.require_room(state, annotator, len(asking.open_queries(state, annotator)))
        if among is None and (earlier := leases.repeat(self.settings, state, annotator)) is not None:
            return self._again(earlier)
        bounds = self._inference.bounds
        return self._ask_entry(self._chosen(annotator, among, len(state.queries) + 1, bounds))

    def _chosen(self, annotator: str | None, among: PairList | None, number: int, bounds: Bounds | Shortlist) -> Offer:
        state, ids = self._state, self._state.items.ids
        left, right, utility = asking.choose(self.settings, state, self._inference, annotator, among, number, bounds)
        worth = None if math.isnan(utility) else float(utility)
        return Offer(ids[left], ids[right], annotator, worth, state.position)

    def _taken(self, annotator: str | None, offers: Sequence[Offer], tab: str | None) -> list[Entry]:
        """The entry of the annotator's next query, from these offers or an earlier one again; none where none fits."""
        state = self._state
        leases.require_room(state, annotator, len(asking.open_queries(state, annotator)))
        if (earlier := leases.repeat(self.settings, state, annotator)) is not None:
            return [self._again(earlier, tab=tab)]
        offer = leases.first_allowed(state, annotator, offers)
        return [] if offer is None else [self._ask_entry(offer, tab=tab)]

    def _ask_entry(self, offer: Offer, **fields: Any) -> Entry:
        settings = self.settings
        return self._new_query(
            left=offer.left,
            right=offer.right,
            annotator=offer.annotator,
            based_on=offer.based_on,
            utility=offer.utility,
            algorithm=settings.algorithm,
            strategy=offer.strategy or repr(strategy_of(settings.algorithm, settings.candidates)),
            model=repr(algorithms.algorithm(settings.algorithm).model),
            **fields,
        )

    def _again(self, asked: Entry, **fields: Any) -> Entry:
        """The entry that asks an earlier query's pair again, sides swapped."""
        return self._new_query(
            left=asked.right, right=asked.left, annotator=asked.annotator, repeat_of=asked.query, **fields
        )

    def _new_query(self, **fields: Any) -> Entry:
        state, at = self._state, now()
        number, ends = len(state.queries) + 1, leases.until(state, at)
        return Entry(state.position + 1, "ask", at, query=number, expires_at=ends, **fields)

    def _require_included(self, annotator: str | None) -> None:
        if annotator in self._state.excluded_annotators:
            raise InvalidInput(f"annotator {annotator!r} is excluded; include them before asking them again")

    def _expirations(self) -> list[Entry]:
        """For each open query whose lease has ended, the entry that says so."""
        state, at = self._state, now()
        ended = [state.queries[number - 1] for number in leases.due(state, at)]
        return [
            Entry(place, "expire", at, asked.query, asked.left, asked.right, annotator=asked.annotator)
            for place, asked in enumerate(ended, state.position + 1)
        ]

    def _find(self, query_id: str) -> int:
        """The number of a query."""
        token, _, digits = str(query_id).rpartition("-")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
        if query_id != self._id(number) or not 1 <= number <= len(self._state.queries):
            elsewhere = token not in ("", self._storage.token)
            reason = "it is of another study" if elsewhere else "this study never asked it"
            raise UnknownQuery(f"unknown query {query_id!r}: {reason}")
        return number

    def _waiting(self, query_id: str, *, late: bool = False) -> Entry:
        """The `ask` entry of a query that can still be answered; with `late` also where its lease has ended."""
        state, number = self._state, self._find(query_id)
        if number in state.answered:
            raise AlreadyAnswered(f"query {query_id!r} is answered already ({state.answered[number].answer})")
        if number in state.withdrawn:
            raise AlreadyAnswered(f"query {query_id!r} was withdrawn; ask for another one")
        if number in state.expired:
            if not late:
                raise AlreadyAnswered(f"the time for query {query_id!r} is over; ask for another one")
            leases.require_free(state, state.queries[number - 1])
        return state.queries[number - 1]

    def _about(self, asked: Entry, kind: Kind, answer: Answer | None = None, **fields: Any) -> Entry:
        """An entry about a query."""
        fields = {"query": asked.query, "left": asked.left, "right": asked.right, "answer": answer, **fields}
        return self._entry(kind, annotator=asked.annotator, **fields)

    def _entry(self, kind: Kind, **fields: Any) -> Entry:
        return Entry(self._state.position + 1, kind, now(), **fields)

    def _query(self, entry: Entry) -> Query:
        return Query(self._id(entry.query), str(entry.left), str(entry.right), entry.annotator)

    def _lease(self, entry: Entry) -> Lease:
        return Lease(self._query(entry), self._state.leases.get(entry.query or 0), entry.repeat_of is not None)

    def _id(self, number: int | None) -> str:
        return f"{self._storage.token}-{number}"


def named(annotator: str | None) -> str | None:
    """The name of an annotator; None and "" are nobody in particular."""
    if annotator is None or annotator == "":
        return None
    return text("the annotator's name", annotator)
