"""Questions made of options, and typed answers made of documents."""

import time
from dataclasses import replace
from typing import Any, TypeVar, cast

import msgspec

from whence.client.answers.answer import Answer
from whence.client.options import Bounds, Narrowing, Reach, Walk, iso_text
from whence.client.values.sensitivity import SensitivityOptions
from whence.model.graph import Direction
from whence.query.answers.instants import past_instant
from whence.query.answers.values import TYPES, Filter, Question
from whence.query.lookup.resolve import resolve
from whence.query.ports.graph import Names
from whence.query.rendering.answers import completeness_document
from whence.query.rendering.listings import Listing, Whole
from whence.query.rendering.sensitivity import grade_of
from whence.query.sensitivity.labels import SensitivityQuestion

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
_LISTS = ("namespaces", "tags", "owners", "kinds", "jobs")


def answer_of(found: Listing | Whole, answer: type[AnyAnswer], limit: int | None = None) -> AnyAnswer:
    """The typed answer of a document: the first `limit` rows, or all."""
    part = found.part(0, limit) if isinstance(found, Listing) else {}
    completeness = found.completeness  # after the part: reading it may meet a budget
    document = None if completeness is None else completeness_document(completeness)
    return msgspec.convert({**found.head, "completeness": document, **part}, answer)


def question_of(options: Walk | Bounds | Narrowing | Reach) -> Question:
    """The question for some options; its jobs as they were typed."""
    given: dict[str, Any] = dict(options)
    types, as_of = given.pop("types", None), iso_text(given.pop("as_of", None))
    only: dict[str, Any] = {name: tuple(given.pop(name)) for name in _LISTS if name in given}
    within = given.pop("within", False)
    return Question(
        types=None if types is None else TYPES[types],
        at=None if as_of is None else past_instant(as_of, now()),
        only=Filter(**only, within=within),
        **given,
    )


def sensitivity_question(options: SensitivityOptions) -> SensitivityQuestion:
    """The question for the options of a search for sensitive columns."""
    bounds = {name: options[name] for name in ("as_of", "max_nodes") if name in options}
    return SensitivityQuestion(
        direction=Direction.DOWNSTREAM if options.get("down") else Direction.UPSTREAM,
        range=question_of(cast("Bounds", bounds)),
        tags=tuple(options.get("tags", ())),
        at_least=grade_of(options.get("at_least", "partial")),
    )


def of_jobs(names: Names, question: Question) -> Question:
    """The question with resolved jobs in its filter. Raises NodeNotFoundError, AmbiguousNodeError."""
    jobs = tuple(str(resolve(names, job)) for job in question.only.jobs)
    return replace(question, only=replace(question.only, jobs=jobs))


def now() -> int:
    """The time of this machine's clock, in µs since 1970."""
    return time.time_ns() // 1_000
