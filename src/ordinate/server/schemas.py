"""What the API takes and gives. FastAPI makes the OpenAPI document from these."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, FailFast, Field

from ordinate.data.comparisons import ANSWERS, Answer
from ordinate.data.media import LONGEST_PAGE
from ordinate.data.ordering import Measure
from ordinate.study.machines import Orders
from ordinate.study.rules import PEOPLE, RANDOM_SHARE, Role, Rules, Stage, Theme

Name = Annotated[str, Field(max_length=200)]
Short = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4000)]
Markdown = Annotated[str, Field(max_length=20_000)]
Amount = Annotated[int, Field(ge=0, le=2**53)]


def _spelled_out(time: Any) -> Any:
    """Pydantic also reads seconds since 1970, which the document does not allow."""
    if not isinstance(time, str) or not re.match(r"\d{4}-\d\d-\d\d[Tt ]", time):
        raise ValueError("give a date and a time with its zone, for instance 2030-01-31T12:00:00Z")
    return time


def _within_reach(time: datetime) -> datetime:
    # Clocks of phones may be decades off; years at the ends of the calendar do not convert to another zone.
    if not 1970 <= time.year < 9000:
        raise ValueError("give a time from 1970 to 8999")
    return time


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_spelled_out), AfterValidator(_within_reach)]


class Given(BaseModel):
    """What a request holds: exactly the fields and types of the OpenAPI document."""

    brings_items: ClassVar[bool] = False
    model_config = ConfigDict(extra="forbid", strict=True)


class AskFor(Given):
    count: Annotated[int, Field(ge=1, le=20)] = 1
    tab: Short | None = None
    annotator: Name | None = None


class Answered(Given):
    query: Short
    answer: Annotated[Text, Field(description=f"{', '.join(ANSWERS)}, or the id of the item that won.")]
    reason: Text | None = None
    shown_at: Moment | None = None
    answered_at: Moment | None = None
    duration_ms: Amount | None = None
    client: Short | None = None
    tokens: Annotated[Amount | None, Field(description="Of a model: what its replies took.")] = None
    tab: Short | None = None
    annotator: Name | None = None
    count: Annotated[int, Field(ge=0, le=20)] = 2


class Shown(Given):
    query: Short
    shown_at: Moment | None = None
    annotator: Name | None = None


class TakeBack(Given):
    annotator: Name | None = None
    key: Annotated[Short | None, Field(description="The Idempotency-Key of the answer; without it, the newest.")] = None


class NewItem(Given):
    id: Text
    features: Annotated[list[float], Field(max_length=100_000), FailFast()] = []
    group: Text | None = None
    text: Annotated[str, Field(max_length=1_000_000)] | None = None
    image: Text | None = None
    audio: Text | None = None
    video: Text | None = None
    link: Text | None = None
    html: Annotated[str, Field(max_length=LONGEST_PAGE)] | None = None


class NewItems(Given):
    brings_items = True
    items: Annotated[list[NewItem], Field(min_length=1, max_length=100_000), FailFast()]


Aim = Annotated[list[Text], Field(min_length=1, max_length=100)]


class PracticePair(Given):
    left: Text
    right: Text
    expected: Annotated[
        Literal["left", "right", "tie"] | None, Field(description="The right answer; null: nobody knows it.")
    ] = None


class Maker(Given):
    item: Text
    name: Name


class RuleChanges(Given):
    aim: Aim = ["order"]
    lease: Annotated[float, Field(ge=1, le=31_622_400)] | None = None
    annotator_budget: Amount | None = None
    budget: Amount | None = None
    target: Annotated[float, Field(ge=0.001, le=0.5)] | None = None
    cuts: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=100)] = []
    misplaced: Annotated[float, Field(ge=0, le=1)] | None = None
    repeat: Annotated[float, Field(ge=0, le=1)] | None = None
    random: Annotated[float, Field(ge=0, le=1)] | None = None
    after_models: bool | None = None
    ties: bool | None = None
    strengths: bool | None = None
    again: bool | None = None
    variety: Annotated[float, Field(ge=0, le=1)] | None = None
    paused: bool | None = None
    theme: Theme | None = None
    brightness: Annotated[int, Field(ge=20, le=300)] | None = None
    contrast: Annotated[int, Field(ge=20, le=400)] | None = None
    invert: bool | None = None
    markdown: bool | None = None
    question: Text | None = None
    guidelines: Markdown | None = None
    closing: Markdown | None = None
    seats: Amount | None = None
    practice: Annotated[list[PracticePair], Field(max_length=100)] = []
    makers: Annotated[list[Maker], Field(max_length=100_000), FailFast()] = []
    deadline: Moment | None = None

    def changes(self) -> dict[str, Any]:
        """The rules that the request names, as `Study.set_rules` takes them."""
        given = self.model_dump(exclude_unset=True)
        if "practice" in given:
            given["practice"] = [(one.left, one.right, one.expected) for one in self.practice]
        if self.deadline is not None:
            given["deadline"] = self.deadline.isoformat()
        if "makers" in given:
            given["makers"] = [(one.item, one.name) for one in self.makers]
        return given


class CreateOptions(Given):
    """How a study learns from answers and chooses questions; see Study.create."""

    algorithm: Short | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    scaling: Literal["robust", "standard", "none"] = "robust"
    refit_every: Annotated[int, Field(ge=1, le=2**53)] | None = None
    candidates: Annotated[int, Field(ge=1, le=2**53)] | None = None
    coefficient_variance: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    item_variance: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    likelihood: Short | None = None
    renew_covariance: bool = True
    random: Annotated[float, Field(ge=0, le=1)] = RANDOM_SHARE
    aim: Aim = ["order"]
    question: Text = "Which ranks higher?"
    rules: RuleChanges | None = None

    def for_study(self) -> dict[str, Any]:
        """The options as arguments of Study.create, with the rules of a study that is served."""
        given = {} if self.rules is None else self.rules.changes()
        options = {name: getattr(self, name) for name in CreateOptions.model_fields}
        return {**options, "rules": {**PEOPLE, **given}}


class NewLink(Given):
    role: Role
    annotator: Name | None = None
    expires_at: Moment | None = None


class NewLinks(Given):
    annotators: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    expires_at: Moment | None = None


class NewStudy(CreateOptions):
    brings_items = True
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    items: Annotated[list[NewItem], Field(min_length=2, max_length=100_000), FailFast()]


class Exclusion(Given):
    item: Text | None = None
    annotator: Name | None = None
    excluded: bool = True


class ItemShown(BaseModel):
    id: str
    text: str | None = None
    text_html: str | None = Field(
        default=None, description="The text as safe HTML, where the rules say that it is Markdown."
    )
    image_url: str | None = None
    thumbnail_url: str | None = None
    audio_url: str | None = None
    video_url: str | None = None
    html_url: str | None = Field(default=None, description="An HTML page, to be shown in a sandboxed frame.")
    link: str | None = None
    link_kinds: list[str] = Field(
        default_factory=list,
        description="What of the item is at an address elsewhere: link, image, audio, video; `link` is the first one.",
    )


class QueryShown(BaseModel):
    id: str
    left: ItemShown
    right: ItemShown
    annotator: str | None = None
    expires_at: str | None = None
    repeat: bool = False
    practice: bool = Field(False, description="A pair to practise with: its answer never counts.")
    expected: str | None = Field(None, description="The right answer of a practice pair, if one is known.")


Finished = Literal["budget", "total-budget", "exhausted"]


class Queries(BaseModel):
    queries: list[QueryShown]
    finished: Finished | None = None
    paused: bool = False
    over: Annotated[bool, Field(description="Whether that is because the deadline has passed.")] = False
    held: Annotated[
        bool, Field(description="Whether there is no pair because others hold the last ones; there may be later.")
    ] = False
    retry_after: Annotated[
        int | None, Field(description="When to ask again, in seconds, where there is no pair now.")
    ] = None
    question_html: str = Field(description="What the pairs are to be judged by; the owner may change it.")


class Accepted(BaseModel):
    accepted: Literal[True] = True
    counts: bool = Field(True, description="Whether it counts; not where it came late and is beyond the budget.")
    practice: bool = Field(False, description="Whether it was to a practice pair, which never counts.")
    your_answers: int
    answers: int
    next: list[QueryShown]
    finished: Finished | None = None
    paused: bool = False
    question_html: str = Field(description="As it is now: the owner may change it.")


class Undone(BaseModel):
    query: QueryShown
    was: str
    your_answers: int
    answers: int


class Lease(BaseModel):
    query: str
    expires_at: str | None = None


class Yours(BaseModel):
    name: str | None = None
    answers: int
    skips: int
    budget: int | None = None


class ForecastShown(BaseModel):
    target: float = Field(description="The expected error that is wanted: the rule, or the next round figure.")
    more_answers: int | None = Field(description="How many more answers bring the error there; null: withheld.")
    more_answers_low: int | None = Field(description="With a probability of 80 %, between this and more_answers_high.")
    more_answers_high: int | None
    seconds: int | None = Field(description="How long these take at the pace of the newest answers, without pauses.")
    seconds_low: int | None
    seconds_high: int | None
    withheld: str | None = Field(description="Why there is no forecast.")


class CheckShown(BaseModel):
    check: str
    state: Literal["passed", "failed", "not run"]
    value: float | None
    threshold: float | None
    found: str
    advice: str = Field(description="What to do; empty where nothing is to be done.")


class VerdictShown(BaseModel):
    sentence: str
    expected_error: float | None = Field(description="null: withheld, since a check failed that it presumes.")
    error_low: float | None
    error_high: float | None
    withheld: str | None = Field(description="Why; null: it is not withheld.")
    checks: list[CheckShown]


class Status(BaseModel):
    study: str
    role: Role
    question: str
    question_html: str
    items: int
    answers: int = Field(description="Answers that count; without those of annotators and items that are left out.")
    basis: str = Field(description="What results follow from: as long as it is the same, so is the ordering.")
    open: int = Field(description="Pairs that people hold who are there; without those of people who left.")
    goal: int | None = Field(None, description="How many answers the study asks for in all.")
    last_hour: int | None = Field(None, description="For owners and viewers: answers within the last hour.")
    expected_error: float | None = Field(
        default=None,
        description="How many pairs are expected to be in the wrong order, if people answered sensibly; null: withheld "
        "or not computed yet.",
    )
    error_low: float | None = Field(None, description="The true error is from here to error_high, with 90 %.")
    error_high: float | None = None
    withheld: str | None = Field(None, description="Why the expected error is not to be believed.")
    better_than_coins: bool | None = Field(
        default=None,
        description="False: answers cannot be told from coin tosses yet; null: there are no random pairs to tell by.",
    )
    error_history: list[tuple[int, float]] = Field(
        default_factory=list,
        description="After so many answers the expected error, if people answered sensibly; empty where it is "
        "withheld, except while the answers cannot be told from coin tosses.",
    )
    forecast: ForecastShown | None = None
    your: Yours
    ties_allowed: bool
    state: Stage = Field(description="Whether pairs are given out to anybody, and if not, why.")
    state_in_words: str
    paused: bool
    finished: Finished | None = None
    deadline: str | None = Field(None, description="When no more pairs are given out.")
    over: bool = Field(False, description="Whether the deadline has passed.")
    answers_by_deadline: int | None = Field(
        None, description="For owners and viewers: answers until then at the pace of the last day; null: not known."
    )
    problem: str | None = Field(None, description="For owners and viewers: why answers cannot be stored at the moment.")
    theme: Theme


class LinkShown(BaseModel):
    id: str
    role: Role
    annotator: str | None = None
    expires_at: str | None = None
    made_at: str
    revoked: bool
    shared: str | None = Field(None, description="The shared link by which this annotator came and gave their name.")
    names: int | None = Field(None, description="How many names were given by this link; in the list of all links.")
    url: str | None = None
    token: str | None = None


class Revoked(LinkShown):
    others: list[LinkShown] = Field(
        description="Links of the same person that are still valid; behind a proxy, the newest gives their role now."
    )


class Links(BaseModel):
    links: list[LinkShown]


class Annotator(BaseModel):
    name: str | None = None
    answers: int
    skips: int
    open: int
    repeats: int
    repeats_agreed: int
    excluded: bool
    resting: bool = Field(description="Gets no pairs for now; the answers count.")
    median_ms: int | None = Field(description="Half of the answers took less time.")
    decided: int = Field(description="Answers in this study other than ties.")
    left: int = Field(description="Of these, how many chose the left item.")
    last_answer: str | None
    practised: int = Field(description="Practice pairs that were answered; they do not count.")
    practice_known: int = Field(description="Of these, how many have a right answer.")
    practice_right: int = Field(description="Of those, how many got it.")
    model: str | None = Field(description="The model that answers under this name; null: a person.")


class Annotators(BaseModel):
    annotators: list[Annotator]


class AnnotatorQuality(BaseModel):
    """What the answers say of an annotator; see docs/statistics.md. Intervals are of 90 %."""

    name: str | None
    answers: int
    sharpness: float | None
    sharpness_low: float | None
    sharpness_high: float | None
    coin: Annotated[float | None, Field(description="Probability of coin tosses; null: too few answers, or no name.")]
    better_than_coins: bool
    with_ordering: float | None
    with_ordering_low: float | None
    with_ordering_high: float | None
    with_themselves: float | None
    with_themselves_low: float | None
    with_themselves_high: float | None
    with_others: float | None
    with_others_low: float | None
    with_others_high: float | None
    with_people: Annotated[
        float | None, Field(description="Of a model, share of pairs on which it agrees with most people who decided.")
    ]
    with_people_low: float | None
    with_people_high: float | None
    left: Annotated[float | None, Field(description="Chance to choose the left item of two equal ones.")]
    left_low: float | None
    left_high: float | None
    longer: Annotated[
        float | None, Field(description="Chance to choose the one twice as long of two that people rank equal.")
    ]
    longer_low: float | None
    longer_high: float | None
    weight: float
    lean: float
    length_lean: float
    kind: Literal["person", "machine"]


class AnnotatorsQuality(BaseModel):
    annotators: list[AnnotatorQuality]
    left: float | None
    left_low: float | None
    left_high: float | None


class Page(BaseModel):
    total: int
    next_cursor: str | None = None


class Rest(Given):
    annotator: Name
    resting: bool = True


class NewMachine(Given):
    """A model that answers under a name; see docs/model-judges.md."""

    annotator: Name
    model: Short
    prompt: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the prompt's file.")]
    orders: Orders = "one"
    parameters: Annotated[Text, Field(description="What else its requests hold, as an object in JSON.")] = "{}"


class MachineShown(BaseModel):
    annotator: str
    model: str
    prompt: str
    orders: Orders
    parameters: str
    tokens: int


class Machines(BaseModel):
    machines: list[MachineShown]


class Discard(Given):
    """Answers to take back: those to some queries, or all of an annotator, perhaps only from some time on."""

    queries: Annotated[list[Short], Field(max_length=1000)] = Field(default_factory=list)
    annotator: Name | None = None
    since: Moment | None = None


class Discarded(BaseModel):
    discarded: int


class AnswerShown(BaseModel):
    query: str
    left: ItemShown
    right: ItemShown
    answer: Answer
    annotator: str | None
    at: str
    duration_ms: int | None
    reason: str | None
    surprise: float | None = Field(
        description="The probability of the opposite answer by the ordering; null: a tie or a skip, or not known yet."
    )


class AnswersPage(Page):
    answers: list[AnswerShown]


class NotLoaded(BaseModel):
    item: str
    skips: int


class VeryFast(BaseModel):
    annotator: str | None
    answers: int


class Warnings(BaseModel):
    not_loaded: list[NotLoaded]
    very_fast: list[VeryFast]


class RulesShown(BaseModel):
    aim: list[str] = Field(description="order, top:10, bottom:10, or above:ITEM for each mark.")
    lease: float | None
    annotator_budget: int | None
    budget: int | None
    target: float | None
    cuts: list[int]
    misplaced: float | None
    repeat: float
    random: float
    after_models: bool = Field(description="Whether people are first asked about pairs of which models are unsure.")
    ties: bool
    strengths: bool = Field(description="Whether annotators are asked how much better the chosen item is.")
    again: bool
    variety: float | None
    paused: bool
    theme: Theme
    brightness: int
    contrast: int
    invert: bool
    markdown: bool
    question: str | None = Field(description="What annotators are asked; null: as when the study was created.")
    guidelines: str | None
    closing: str | None
    seats: int | None = Field(description="How many names may be given by shared links.")
    resting: list[str] = Field(description="Annotators who get no pairs for now.")
    practice: list[PracticePair] = Field(description="What whoever is new judges first; it never counts.")
    makers: list[Maker] = Field(description="Who made an item, and is given no pair with it.")
    deadline: str | None = Field(description="When no more pairs are given out.")

    @classmethod
    def of(cls, rules: Rules) -> RulesShown:
        practice = [PracticePair(**one._asdict()) for one in rules.practice]
        makers = [Maker(item=item, name=name) for item, name in rules.makers]
        return cls(**{**asdict(rules), "practice": practice, "makers": makers})


class ChangeShown(BaseModel):
    at: str
    by: str | None = Field(description="The owner's name; null: the log does not say, as of commands.")
    what: str


class ChangesPage(Page):
    changes: list[ChangeShown]


class NamesPage(Page):
    names: list[LinkShown]


class OrderedItem(BaseModel):
    rank: int
    group: str | None = None
    score: float
    standard_error: float
    rank_low: int = Field(description="The rank is from here to rank_high with a probability of 90 %.")
    rank_high: int
    rank_best: float = Field(description="The probability that the item ranks first.")
    rank_tied_low: int = Field(description="From here to rank_tied_high items cannot be told from the first of them.")
    rank_tied_high: int
    grade: int | None = Field(None, description="From 1, where the rules have cuts between grades.")
    grade_probability: float | None = Field(None, description="The probability that the true rank is in this grade.")
    part: int | None = Field(
        None, description="With an aim: 1 if the item is wanted, else 2; of several marks a grade."
    )
    membership: float | None = Field(
        None, description="The probability that the item is wanted; of several marks, that it is in its grade."
    )
    item: ItemShown


class GradeShown(BaseModel):
    grade: int
    first: int = Field(description="The first rank of the grade.")
    last: int | None = Field(description="Its last rank; null: that of the last item.")
    items: int
    misplaced: float | None = Field(
        description="Share of its items whose true rank is expected in another grade; null: withheld, as the expected "
        "error is."
    )
    misplaced_low: float | None = Field(description="From here to misplaced_high with a probability of 90 %.")
    misplaced_high: float | None


class SelectionShown(BaseModel):
    aim: list[str]
    wanted: int = Field(description="How many items are shown as wanted.")
    measure: Measure = Field(description="Of the wanted items those shown; of all items those on the right side.")
    expected: float | None
    expected_low: float | None = Field(description="From here to expected_high with a probability of 90 %.")
    expected_high: float | None
    withheld: str | None = Field(description="Why nothing is expected yet.")


class OrderingPage(Page):
    ordering: list[OrderedItem]
    grades: list[GradeShown] = []
    groups: list[str] = Field(description="The groups of the study, at most 1,000 of them.")
    excluded: list[str] = Field(description="Items that are left out, at most 1,000 of them.")
    selection: SelectionShown | None = Field(None, description="Where the study has an aim.")


class ThroughShown(BaseModel):
    """A third item that both were compared with; a tie is half a win."""

    item: ItemShown
    left_won: float
    left_answers: int
    right_won: float
    right_answers: int


class ComparedShown(BaseModel):
    left: ItemShown
    right: ItemShown
    higher: str = Field(description="The id of the one with the higher score.")
    probability: float = Field(description="That it is truly higher, if people answered sensibly.")
    left_won: int = Field(description="Answers about the two themselves, also imported ones.")
    right_won: int
    ties: int
    through: list[ThroughShown]
    through_in_all: int


class ComparisonShown(BaseModel):
    left: str
    right: str
    winner: str
    annotator: str | None = None


class ComparisonsPage(Page):
    comparisons: list[ComparisonShown]


class ItemListed(ItemShown):
    group: str | None = None


class ItemsPage(Page):
    items: list[ItemListed]


class Added(BaseModel):
    items: int


class Created(BaseModel):
    study: str
    owner: LinkShown
    annotators: LinkShown


class StudyShown(BaseModel):
    study: str
    question: str
    role: Role


class Studies(BaseModel):
    studies: list[StudyShown]


class ProblemShown(BaseModel):
    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
