"""The parameters of questions. Other parameters are rejected."""

import time
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whence.api.http.envelopes import PAGE, Paging
from whence.api.requests.graph import AnswerTerms
from whence.errors import EventError
from whence.model.graph import Direction
from whence.model.sensitivity import GradeWord
from whence.model.symptom import Symptom, SymptomWord
from whence.query.answers.instants import instant, past_instant
from whence.query.answers.values import TYPES, Filter, Question
from whence.query.history.changes.period import DEFAULT, Period, read_period
from whence.query.history.changes.timeline import MOST_CHANGES
from whence.query.lookup.resolve import resolve
from whence.query.rendering.sensitivity import grade_of
from whence.query.sensitivity.labels import SensitivityQuestion
from whence.query.visibility.visible_ids import QuestionGraph

MOST_ROWS, MOST_NODES, MOST_EDGES = 10_000, 1_000_000, 10_000_000
LONGEST = 10_000
"""The longest name in a request; the whole URL may have 64 KiB."""


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a name must not contain the character U+0000")
    return text


def _is_time(text: str) -> str:
    past_instant(text, time.time_ns() // 1_000)
    return text


Text = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(_no_nul)]
Time = Annotated[str, Field(max_length=100, examples=["2026-11-20T06:00"]), AfterValidator(_is_time)]
Name = Annotated[
    Text,
    Field(
        description="A node id, or the end of a name: `gold.daily_revenue`",
        examples=["dataset:postgres://db:5432:shop.gold.daily_revenue"],
    ),
]


class Page(BaseModel):
    """The page of an answer, and the log position that the graph must have reached."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(PAGE, ge=1, le=MOST_ROWS, description="Rows on a page")
    cursor: str = Field("", max_length=50_000, description="`page.next` of the page before")
    wait_for: str = Field("", max_length=1_000, description="Positions in the log, as answers to events give them")
    timeout: float = Field(10, ge=0, le=300, allow_inf_nan=False, description="How long to wait for them, seconds")
    format: Literal["json", "csv"] | None = Field(None, description="`csv`: all rows; else as the Accept header says")

    def terms(self, at: int | None = None) -> AnswerTerms:
        """The requested form and page of the answer."""
        paging = Paging(cursor=self.cursor, limit=self.limit)
        return AnswerTerms(wait_for=self.wait_for, timeout=self.timeout, paging=paging, at=at)


class AtTime(Page):
    """A time in the past."""

    as_of: Time | None = Field(None, description="As it was then: `2026-11-20T06:00`, `2h ago` (UTC)")

    @property
    def at(self) -> int | None:
        """The time in microseconds UTC."""
        return None if self.as_of is None else instant(self.as_of, time.time_ns() // 1_000)


class Traversal(AtTime):
    """The range of a traversal, and the edges to follow."""

    depth: int | None = Field(None, ge=0, le=1_000_000, description="Hops; all if not given")
    types: Literal["direct", "indirect", "both"] | None = Field(
        None, description="Edges to follow; for upstream of a field: direct, else both"
    )
    max_nodes: int = Field(5_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(50_000, ge=1, le=MOST_EDGES, description="Stop after so many edges")

    def question(self, at: int | None, only: Filter = Filter()) -> Question:  # noqa: B008  # frozen
        """The question at a time."""
        return Question(
            depth=self.depth,
            types=None if self.types is None else TYPES[self.types],
            at=at,
            only=only,
            max_nodes=self.max_nodes,
            max_edges=self.max_edges,
        )


class Narrowing(Page):
    """A filter of the shown nodes."""

    namespace: list[Text] = Field([], description="Only nodes in one of these namespaces; may have `*`")
    tag: list[Text] = Field([], description="Only nodes with one of these tags: `pii`, `pii=high`")
    owner: list[Text] = Field([], description="Only nodes of one of these owners")
    kind: list[Text] = Field([], description="Only `dataset`, `field`, `job`, or what they say they are: `VIEW`")

    @property
    def only(self) -> Filter:
        """The filter."""
        return Filter(
            namespaces=tuple(self.namespace), tags=tuple(self.tag), owners=tuple(self.owner), kinds=tuple(self.kind)
        )


class Lineage(Traversal, Narrowing):
    """A traversal from a node, and a filter of its nodes."""

    node: Name
    job: list[Text] = Field([], description="Only what one of these jobs reads or writes")
    within: bool = Field(False, description="Do not pass through nodes that do not fit")

    def filtered(self, graph: QuestionGraph, at: int | None) -> Question:
        """The question with its filter. Raises NodeNotFoundError, AmbiguousNodeError."""
        jobs = tuple(str(resolve(graph, name)) for name in self.job)
        return self.question(at, replace(self.only, jobs=jobs, within=self.within))


class Impact(Lineage):
    """The downstream nodes, with larger budgets than a traversal that returns edges."""

    max_nodes: int = Field(200_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(2_000_000, ge=1, le=MOST_EDGES, description="Stop after so many edges")


class Contained(Page):
    """What is to be contained. The range is that of an impact."""

    node: Name
    types: Literal["direct", "indirect", "both"] = Field("both", description="Edges to follow")
    max_nodes: int = Field(200_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(2_000_000, ge=1, le=MOST_EDGES, description="Stop after so many edges")

    @property
    def question(self) -> Question:
        """The question."""
        return Question(types=TYPES[self.types], max_nodes=self.max_nodes, max_edges=self.max_edges)


class Rerun(Contained):
    """What was mended, and what is wanted again."""

    target: list[Name] = Field([], description="What is wanted again; all that depends on the node if not given")
    since: Time | None = Field(None, description="When it broke: jobs that did not run since are left out")

    @property
    def at(self) -> int | None:
        """The time in microseconds UTC."""
        return None if self.since is None else past_instant(self.since, time.time_ns() // 1_000)


class RolledBack(Page):
    """What is to be rolled back, and since when it is broken."""

    node: Name
    since: Time = Field(description="When it broke: `2026-11-20T06:00`, `2h ago` (UTC)")

    @property
    def at(self) -> int:
        """The time in microseconds UTC."""
        return past_instant(self.since, time.time_ns() // 1_000)


class Ends(Traversal):
    """Two nodes, and the paths between them."""

    source: Name
    target: Name
    paths: int = Field(20, ge=1, le=1_000, description="Show so many paths")


class Node(Page):
    """One node."""

    node: Name


class Measured(AtTime):
    """What was measured of a node."""

    node: Name
    metric: list[Text] = Field([], description="Only these metrics: `rowCount`, `nullCount`, `duration`")


class Checked(AtTime):
    """What checks found of a node."""

    node: Name


class Changed(Page):
    """What changed upstream of a node in a period."""

    node: Name
    since: str = Field(DEFAULT, max_length=100, description="After this time: `24h`, `7d`, `2026-11-20T06:00`")
    until: Time | None = Field(None, description="Not after this time; now, or `as_of`, if not given")
    as_of: Time | None = Field(None, description="As it was then; `since` counts back from it")
    types: Literal["direct", "indirect", "both"] = Field("both", description="Edges to follow")
    max_nodes: int = Field(5_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(50_000, ge=1, le=MOST_EDGES, description="Stop after so many edges")
    max_changes: int = Field(MOST_CHANGES, ge=1, le=MOST_ROWS, description="Only so many changes, the newest")

    def period(self, now: int) -> Period:
        """The period. Raises EventError."""
        return _period(self.since, self.until, self.as_of, now)

    @property
    def question(self) -> Question:
        """The question, without its time."""
        return Question(types=TYPES[self.types], max_nodes=self.max_nodes, max_edges=self.max_edges)


class Diagnosed(Page):
    """What is wrong at a node, since when."""

    node: Name
    since: str = Field(DEFAULT, max_length=100, description="It began after this time: `24h`, `7d`, `2026-11-20T06:00`")
    until: Time | None = Field(None, description="Not after this time; now, or `as_of`, if not given")
    as_of: Time | None = Field(None, description="As it was then; `since` counts back from it")
    symptom: SymptomWord | None = Field(None, description="What is wrong; what deviates most at the node if not given")
    types: Literal["direct", "indirect", "both"] = Field("both", description="Edges to follow")
    max_nodes: int = Field(5_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(50_000, ge=1, le=MOST_EDGES, description="Stop after so many edges")

    @property
    def expected(self) -> Symptom | None:
        """The symptom, if it is given."""
        return None if self.symptom is None else Symptom(self.symptom)

    def period(self, now: int) -> Period:
        """The period. Raises EventError."""
        return _period(self.since, self.until, self.as_of, now)

    @property
    def question(self) -> Question:
        """The question, without its time."""
        return Question(types=TYPES[self.types], max_nodes=self.max_nodes, max_edges=self.max_edges)


def _period(since: str, until: str | None, as_of: str | None, now: int) -> Period:
    try:
        return read_period(since, until, as_of, now)
    except (ValueError, OverflowError) as error:
        raise EventError("/query/since", str(error), 422) from None


class Labelled(AtTime):
    """The sensitivity labels of a node, or those that its data gives to others."""

    node: Name
    direction: Literal["upstream", "downstream"] = Field("upstream", description="`downstream`: where its data goes")
    tag: list[Text] = Field([], description="The tags that mark sensitive columns: `pii`, `class=secret`")
    at_least: GradeWord = Field("partial", description="The lowest grade to list")
    max_nodes: int = Field(5_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")

    def question(self, at: int | None) -> SensitivityQuestion:
        """The question at a time."""
        return SensitivityQuestion(
            direction=Direction(self.direction),
            range=Question(at=at, max_nodes=self.max_nodes),
            tags=tuple(self.tag),
            at_least=grade_of(self.at_least),
        )


class OfSubject(AtTime):
    """The data of a person: from where it comes in on."""

    node: Name | None = Field(None, description="A dataset or column with it; all that tags mark, if not given")
    tag: list[Text] = Field([], description="The tags that mark it: `pii`, `class=secret`")
    at_least: GradeWord = Field("partial", description="The lowest grade to list")
    max_nodes: int = Field(5_000, ge=1, le=MOST_NODES, description="Stop after this number of nodes from each dataset")

    def question(self, at: int | None) -> SensitivityQuestion:
        """The question at a time."""
        return SensitivityQuestion(
            direction=Direction.DOWNSTREAM,
            range=Question(at=at, max_nodes=self.max_nodes),
            tags=tuple(self.tag),
            at_least=grade_of(self.at_least),
        )


class Between(Page):
    """Two states: times, or runs."""

    before: Text = Field(description="A time, or a run: `2026-11-20T06:00`, `1d ago`, `run:0190b3a1-…`")
    after: Text = Field("now", description="A time, or a run; `now` if not given")


class OfRun(Page):
    """The range and direction of a traversal from a run."""

    direction: Literal["upstream", "downstream"] = Field("upstream")
    depth: int | None = Field(None, ge=0, le=1_000_000, description="Hops; all if not given")
    max_runs: int = Field(1_000, ge=1, le=100_000, description="Stop after so many runs")


class Searched(Narrowing):
    """A search text."""

    q: str = Field(
        max_length=LONGEST, description="Parts of a name; labels; `certified:true`", examples=["label:pii>=partial"]
    )
    names: int = Field(500, ge=1, le=MOST_ROWS, description="Find so many names: the best")
