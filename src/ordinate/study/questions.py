"""Queries from the choice of a pair to its answer: asked, held, shown, answered, taken back.

What callers pass in has been checked by Study.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, cast

from ordinate.data.cells import id_text
from ordinate.data.comparisons import ANSWERS, Answer, Query
from ordinate.data.lookalikes import suggestion
from ordinate.data.pairs import PairList
from ordinate.errors import (
    AlreadyAnswered,
    AnnotatorExcluded,
    BudgetSpent,
    InvalidInput,
    KeyReused,
    NothingToUndo,
    NotYourQuery,
    PairsHeld,
    PoolExhausted,
    StudyPaused,
    UnknownQuery,
)
from ordinate.storage import BEYOND_BUDGET, AnswerDetails, Entry, Kind
from ordinate.study import leases, next_pair, practice
from ordinate.study.fold import State
from ordinate.study.leases import Lease, Offer
from ordinate.study.ledger import Ledger, Transaction
from ordinate.study.practice import Expected

ATTEMPTS = 3
"""How often a choice is repeated because others wrote meanwhile, before it is made inside the transaction."""


Refusal = AnnotatorExcluded | BudgetSpent | PairsHeld | StudyPaused


class Answered(NamedTuple):
    """What follows an answer.

    queries  what the annotator holds now, as many as they wanted if there are so many
    answers  how many the annotator has given
    total    how many answers count in the study
    refusal  why the annotator is given no query, where the study's rules are the reason
    counts   whether the answer counts; not where it came late and is beyond the budget
    practice whether it was to a practice pair, which never counts
    """

    queries: list[Lease]
    answers: int
    total: int
    refusal: Refusal | None
    counts: bool = True
    practice: bool = False


class Questions:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._settings = ledger.storage.settings
        self._token = ledger.storage.token

    # New queries ------------------------------------------------------------------------------------------------------

    def ask(self, annotator: str | None, wanted: int, among: PairList | None, practise: bool) -> list[Query]:
        """The annotator's oldest open queries, after new ones were added until there are `wanted`.

        `practise`: practice pairs come first.
        """
        with self._ledger.reading_to_write() as state:
            annotator = state.name_of(annotator)
            _require_included(state, annotator)
            if leases.due(state, self._ledger.clock()):
                self._ledger.write(_end_leases)
            first: list[Query] = []
            if practise and among is None and practice.is_due(state, annotator):
                given = self._ledger.write(lambda one: self._practise(one, annotator))
                first = [lease.query for lease in given[:wanted]]
            wanted = max(wanted - len(first), 0)
            overtaken = 0
            while len(mine := next_pair.open_queries(state, annotator, among)) < wanted:
                try:
                    overtaken += not self._ask_another(state, annotator, among, overtaken >= ATTEMPTS)
                except (PoolExhausted, BudgetSpent, StudyPaused):
                    if not mine and not first:
                        raise
                    break
            return [*first, *(self.query(entry) for entry in mine[:wanted])]

    def offer(self, annotators: Sequence[str | None], offered: Sequence[Offer]) -> list[Offer | None]:
        """A pair for each annotator, new to all of them; None where no pair is left for one."""
        with self._ledger.reading() as state:
            inference = self._ledger.inference
            before = [offer for offer in offered if {offer.left, offer.right} <= state.rows.keys()]
            offers: list[Offer | None] = []
            for ahead, annotator in enumerate(map(state.name_of, annotators)):
                try:
                    offer = next_pair.choose(
                        self._settings, state, inference, inference.search, annotator, offered=before, ahead=ahead
                    )
                    before.append(offer)
                    offers.append(offer)
                except PoolExhausted:
                    offers.append(None)
            return offers

    def random_offer(self, annotator: str | None) -> Offer:
        with self._ledger.reading() as state:
            return next_pair.choose_at_random(self._settings, state, state.name_of(annotator))

    def take(self, annotator: str | None, wanted: int, offers: Sequence[Offer], tab: str | None) -> list[Lease]:
        """The annotator's oldest open queries, after offers were taken until there are `wanted`."""
        return self._ledger.write(lambda transaction: self._top_up(transaction, annotator, wanted, offers, tab))

    def held(self, annotator: str | None) -> list[Lease]:
        with self._ledger.reading() as state:
            return [self._lease(state, entry) for entry in next_pair.open_queries(state, state.name_of(annotator))]

    def _ask_another(self, state: State, annotator: str | None, among: PairList | None, in_transaction: bool) -> bool:
        """Choose a pair and ask it; False where others wrote meanwhile, so that the choice rests on an old log.

        A choice may take a while, so it is made before the storage is locked, unless `in_transaction`.
        """
        chosen = None if in_transaction else self._choose(state, annotator, among)
        position = state.position

        def ask(transaction: Transaction) -> bool:
            if chosen is not None and transaction.state.position != position:
                return False
            self._add(transaction, chosen or self._choose(transaction.state, annotator, among))
            return True

        return self._ledger.write(ask)

    def _choose(self, state: State, annotator: str | None, among: PairList | None) -> Offer:
        held = len(next_pair.open_queries(state, annotator))
        leases.require_budget(state, annotator, held, self._ledger.clock())
        if among is None and (again := leases.repeat(self._settings, state, annotator)) is not None:
            return again
        inference = self._ledger.inference
        return next_pair.choose(self._settings, state, inference, inference.search, annotator, among)

    def _top_up(
        self, transaction: Transaction, annotator: str | None, wanted: int, offers: Sequence[Offer], tab: str | None
    ) -> list[Lease]:
        state = transaction.state
        annotator = state.name_of(annotator)
        _require_included(state, annotator)
        _end_leases(transaction)
        first = self._practise(transaction, annotator)[:wanted]
        wanted -= len(first)
        while len(mine := next_pair.open_queries(state, annotator, tab=tab)) < wanted:
            held = next_pair.open_queries(state, annotator)
            # A tab that was closed may hold queries.
            if len(held) >= leases.MOST_HELD or (held and next_pair.are_scarce(state, annotator)):
                mine = mine or held
                break
            try:
                leases.require_budget(state, annotator, len(held), transaction.time)
            except (BudgetSpent, PairsHeld, StudyPaused):
                if not (mine := held) and not first:
                    raise
                break
            again = leases.repeat(self._settings, state, annotator)
            offer = again or leases.first_allowed(state, annotator, offers)
            if offer is None:
                break
            self._add(transaction, offer, tab)
        return [*first, *(self._lease(state, entry) for entry in mine[:wanted])]

    def _practise(self, transaction: Transaction, annotator: str | None) -> list[Lease]:
        """The practice pairs of somebody new, who may be asked."""
        state = transaction.state
        if practice.is_due(state, annotator):
            leases.require_budget(state, annotator, 0, transaction.time)
        numbered = enumerate(practice.missing(state, annotator), start=len(state.practices) + 1)
        transaction.append_all(
            "practice",
            [
                {"query": number, "left": one.left, "right": one.right, "annotator": annotator, "value": one.expected}
                for number, one in numbered
            ],
        )
        return [self._practice_lease(one) for one in practice.waiting(state, annotator)]

    def _practice_lease(self, given: Entry) -> Lease:
        """A practice pair is nobody else's, so it is held without an end."""
        query = Query(practice.query_id(self._token, given.query), str(given.left), str(given.right), given.annotator)
        return Lease(query, None, practice=True, expected=given.value)

    def _add(self, transaction: Transaction, offer: Offer, tab: str | None = None) -> None:
        """Ask the pair of an offer."""
        fields: dict[str, Any] = {**offer._asdict(), "tab": tab}
        if offer.strategy is not None:
            fields["algorithm"] = self._settings.algorithm
        state = transaction.state
        expires_at = state.rules.lease_until(transaction.time)
        transaction.append("ask", query=len(state.queries) + 1, expires_at=expires_at, **fields)

    # Queries that were asked ------------------------------------------------------------------------------------------

    def tell(self, query_id: str, answer: Answer, details: AnswerDetails) -> None:
        """Add the answer, unless its key says that it is in the log already."""
        self._ledger.write(lambda transaction: self._tell(transaction, query_id, answer, details))

    def answer(
        self,
        query_id: str,
        answer: Answer,
        details: AnswerDetails,
        annotator: str | None,
        *,
        for_others: bool,
        wanted: int,
        offers: Sequence[Offer],
        tab: str | None,
    ) -> Answered:
        """`tell`, then `take`, in one transaction; the answer stays where nothing can be taken."""

        def answer_and_take(transaction: Transaction) -> Answered:
            state = transaction.state
            if not for_others:
                self.require_own(state, query_id, annotator)
            elif self._whose(state, query_id) != state.name_of(annotator):
                self.require_person(state, query_id)
            counts = self._tell(transaction, query_id, answer, details)
            queries: list[Lease] = []
            refusal: Refusal | None = None
            if wanted:
                try:
                    queries = self._top_up(transaction, annotator, wanted, offers, tab)
                except (AnnotatorExcluded, BudgetSpent, PairsHeld, StudyPaused) as error:
                    refusal = error
            return Answered(
                queries,
                state.annotators().get(state.name_of(annotator), 0),
                len(state.effective),
                refusal,
                counts,
                practice.is_practice(query_id),
            )

        return self._ledger.write(answer_and_take)

    def show(self, query_id: str, shown_at: str | None) -> Lease:
        """Note that the query is on the screen, where less than half of its lease is left; the lease starts again."""

        def show(transaction: Transaction) -> Lease:
            state, time = transaction.state, transaction.time
            if practice.is_practice(query_id):
                return self._practice_lease(practice.find(state, self._token, query_id))
            asked = self._waiting(state, query_id)
            if leases.half_over(state, asked.query or 0, time):
                _note(transaction, asked, "show", shown_at=shown_at, expires_at=state.rules.lease_until(time))
            return self._lease(state, asked)

        return self._ledger.write(show)

    def end_leases_of(self, has_left: Callable[[str | None], bool]) -> bool:
        """End the leases of the pairs that browser tabs of annotators who have left hold; whether there were any."""

        def end(transaction: Transaction) -> bool:
            state = transaction.state
            left = [
                asked
                for asked in state.open()
                if asked.tab is not None and asked.query in state.leases and has_left(asked.annotator)
            ]
            transaction.append_all("expire", map(_of, left))
            return bool(left)

        return self._ledger.write(end)

    def withdraw(self, query_id: str) -> None:
        self._ledger.write(
            lambda transaction: _note(transaction, self._waiting(transaction.state, query_id), "withdraw")
        )

    def close(self, transaction: Transaction, query_ids: Collection[str]) -> None:
        """Withdraw those of these queries that are open, or whose lease has ended: nobody is to answer them late."""
        state = transaction.state
        waiting = [*state.open(), *(state.queries[number - 1] for number in sorted(state.expired))] if query_ids else []
        for asked in waiting:
            if self._id(asked.query) in query_ids:
                _note(transaction, asked, "withdraw")

    def take_back(self, annotator: str | None, key: str | None) -> tuple[Lease, Answer]:
        """Take the annotator's newest answer back, or the one with this key: the query, open again, and the answer."""

        def retract(transaction: Transaction) -> tuple[Lease, Answer]:
            state = transaction.state
            whose = state.name_of(annotator)
            asked = state.last_answered(whose) if key is None else _answered_with(state, key, whose)
            was: Any = state.answered[asked.query or 0].answer
            _note(transaction, asked, "retract", expires_at=state.rules.lease_until(transaction.time))
            return self._lease(state, asked), was

        return self._ledger.write(retract)

    def discard(self, chosen: Callable[[State], Sequence[Entry]]) -> int:
        """Take answers back for good, by their entries: their queries are withdrawn. Returns how many there were."""

        def discard(transaction: Transaction) -> int:
            found = [transaction.state.queries[(entry.query or 0) - 1] for entry in chosen(transaction.state)]
            for asked in found:
                _note(transaction, asked, "retract")
                _note(transaction, asked, "withdraw")
            return len(found)

        return self._ledger.write(discard)

    def answered_query(self, state: State, query_id: str) -> Entry:
        """The answer to a query. Raises UnknownQuery, NothingToUndo."""
        answer = state.answered.get(self._number(state, query_id))
        if answer is None:
            raise NothingToUndo(f"query {query_id!r} has no answer; it may have been taken back already")
        return answer

    def require_own(self, state: State, query_id: str, annotator: str | None) -> None:
        """Raise NotYourQuery where the query was given to another annotator; raise UnknownQuery."""
        if self._whose(state, query_id) != state.name_of(annotator):
            raise NotYourQuery(f"query {query_id!r} was given to somebody else")

    def require_person(self, state: State, query_id: str) -> None:
        """Raise NotYourQuery where the query was given to a model; raise UnknownQuery."""
        if (whose := self._whose(state, query_id)) in state.machines:
            raise NotYourQuery(
                f"query {query_id!r} was given to the model {whose!r}, which answers it; to close it, withdraw it"
            )

    def _whose(self, state: State, query_id: str) -> str | None:
        """The annotator to whom a query was given. Raises UnknownQuery."""
        if practice.is_practice(query_id):
            return practice.find(state, self._token, query_id).annotator
        return state.queries[self._number(state, query_id) - 1].annotator

    def query(self, asked: Entry) -> Query:
        """The query of an `ask` entry."""
        return Query(self._id(asked.query), str(asked.left), str(asked.right), asked.annotator)

    def expected(self, query_id: str) -> Expected | None:
        """The right answer of a practice pair. Raises UnknownQuery."""
        with self._ledger.reading() as state:
            return cast("Expected | None", practice.find(state, self._token, query_id).value)

    def side_of(self, query_id: str, winner: object) -> Answer:
        """The side of the item with this id. Raises UnknownQuery, InvalidInput."""
        with self._ledger.reading() as state:
            if practice.is_practice(query_id):
                asked: Entry | Query = practice.find(state, self._token, query_id)
            else:
                asked = self.query(state.queries[self._number(state, query_id) - 1])
        if id_text(winner) in (asked.left, asked.right):
            return "left" if id_text(winner) == asked.left else "right"
        raise InvalidInput(
            f"unknown answer {winner!r}; it is {', '.join(ANSWERS)}, or the id of the item that won, {asked.left!r} or "
            f"{asked.right!r}"
        )

    def _tell(self, transaction: Transaction, query_id: str, answer: Answer, details: AnswerDetails) -> bool:
        """Whether the answer counts."""
        state, fields = transaction.state, details._asdict()
        tokens = fields.pop("tokens")
        if practice.is_practice(query_id):
            shown = practice.find(state, self._token, query_id)
            if shown.query not in state.practised:  # sent again, it is the same answer
                _require_taken(state, answer)
                _note(transaction, shown, "practised", answer=answer, value=shown.value, **fields)
            return False
        if details.key is not None and (earlier := state.keys.get(details.key)) is not None:
            if (self._id(earlier.query), earlier.answer) != (query_id, answer):
                raise KeyReused(f"the key {details.key!r} belongs to another answer; use a new one for each answer")
            return earlier.value != BEYOND_BUDGET
        asked = self._waiting(state, query_id, late=True)
        _require_taken(state, answer)
        for again in leases.given_again(state, asked):  # before the room in the budgets is looked at
            _note(transaction, again, "withdraw")
        beyond = BEYOND_BUDGET if answer != "skip" and leases.is_beyond_budget(state, asked) else None
        _note(transaction, asked, "answer", answer=answer, value=beyond, **fields)
        if tokens is not None:
            transaction.append("spend", query=asked.query, annotator=asked.annotator, value=str(tokens))
        return beyond is None

    def _waiting(self, state: State, query_id: str, *, late: bool = False) -> Entry:
        """The `ask` entry of a query that can still be answered; with `late` also where its lease has ended."""
        number = self._number(state, query_id)
        if number in state.answered:
            raise AlreadyAnswered(f"query {query_id!r} is answered already ({state.answered[number].answer})")
        if number in state.withdrawn:
            raise AlreadyAnswered(f"query {query_id!r} was withdrawn; ask for another one")
        asked = state.queries[number - 1]
        if number in state.expired:
            if not late:
                raise AlreadyAnswered(f"the time for query {query_id!r} is over; ask for another one")
            leases.require_not_given_away(state, asked)
        return asked

    def _number(self, state: State, query_id: str) -> int:
        """The number of a query. Raises UnknownQuery, and InvalidInput for a practice pair."""
        if practice.is_practice(str(query_id)):
            practice.find(state, self._token, str(query_id))
            raise InvalidInput(f"{query_id!r} is a practice pair; it can be answered or skipped, and nothing else")
        token, _, digits = str(query_id).rpartition("-")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
        if query_id != self._id(number) or not 1 <= number <= len(state.queries):
            elsewhere = token not in ("", self._token)
            reason = "it is of another study" if elsewhere else "this study never asked it"
            same_number = [entry for entry in state.open() if str(entry.query) == digits.strip().lstrip("0")]
            meant = suggestion(query_id, [self._id(entry.query) for entry in same_number])
            raise UnknownQuery(f"unknown query {query_id!r}: {reason}{meant}")
        return number

    def _id(self, number: int | None) -> str:
        return f"{self._token}-{number}"

    def _lease(self, state: State, asked: Entry) -> Lease:
        return Lease(self.query(asked), state.leases.get(asked.query or 0), asked.repeat_of is not None)


def _answered_with(state: State, key: str, annotator: str | None) -> Entry:
    """The query that this annotator answered with a key, unless the answer was taken back."""
    answer = state.keys.get(key)
    if answer is None or answer.annotator != annotator or state.answered.get(answer.query or 0) != answer:
        raise NothingToUndo("there is no such answer of yours; it may have been taken back already")
    return state.queries[(answer.query or 0) - 1]


def _require_included(state: State, annotator: str | None) -> None:
    if annotator in state.excluded_annotators:
        raise AnnotatorExcluded(f"annotator {annotator!r} is excluded; include them before asking them again")


def _require_taken(state: State, answer: Answer) -> None:
    if answer in ("tie", "both-bad") and not state.rules.ties:
        raise InvalidInput("ties are no answer in this study; answer left or right, or skip")


def _end_leases(transaction: Transaction) -> None:
    """Add an entry for each open query whose lease has ended."""
    state = transaction.state
    ended = [state.queries[number - 1] for number in leases.due(state, transaction.time)]
    transaction.append_all("expire", map(_of, ended))


def _note(transaction: Transaction, asked: Entry, kind: Kind, **fields: Any) -> None:
    """Add an entry about a query."""
    transaction.append(kind, **_of(asked), **fields)


def _of(asked: Entry) -> dict[str, Any]:
    """The fields that every entry about a query has."""
    return {"query": asked.query, "left": asked.left, "right": asked.right, "annotator": asked.annotator}
