"""The route that evaluates policies which the caller sends, and declared ones (http-api.md): it stores nothing."""

from collections.abc import Callable, Sequence
from threading import BoundedSemaphore
from typing import cast

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from whence.api.auth.guard import answered
from whence.api.http.clock import now_of
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING, answer
from whence.api.lineage.parameters import Text, Time
from whence.api.requests.catalog import catalog_over, whole_catalog_of
from whence.api.requests.graph import requests_of
from whence.errors import EventError, QuestionError, QuestionsBusyError, RulesFileError
from whence.govern.policies.documents import PolicyEvaluation, ProposalDocument, evaluation_document, read_proposal
from whence.govern.policies.policy import PolicyFile
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.proposal import Proposal
from whence.govern.policies.proposed_estate import evaluate_graph
from whence.govern.policies.records import declared_files, group_policies
from whence.govern.rule_states.records import certifications_at
from whence.query.answers.instants import past_instant
from whence.query.visibility.visible_ids import QuestionGraph

AT_ONCE = 2
"""The most evaluations at a time: each has the names of all datasets and columns in memory."""
LONGEST = 200_000
"""Characters in a file of policies."""
MOST_FINDINGS = 100_000
MOST_EDGES = 100_000
"""Edges that a proposal may have."""


class ProposedEdge(BaseModel):
    """An edge that code would make: node ids, and the transformation as in an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Text
    target: Text
    type: str = Field("UNKNOWN", max_length=100)
    subtype: str = Field("", max_length=100)
    masking: bool = False
    description: str = Field("", max_length=LONGEST)


class Proposed(BaseModel):
    """What code changes of the lineage. `gone`: sources and targets whose edges no longer count; `edges`: all that it
    has instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    gone: list[tuple[Text, Text]] = Field([], max_length=MOST_EDGES)
    edges: list[ProposedEdge] = Field([], max_length=MOST_EDGES)


class Policies(BaseModel):
    """A file of policies, and the time at which to judge by it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    policies: str = Field("", max_length=LONGEST, description="The text of a file `policies.yaml`")
    declared: bool = Field(False, description="Judge also by the declared policies that the caller may see")
    file: Text = Field("policies.yaml", description="The name of the file, as places in answers have it")
    as_of: Time | None = Field(None, description="The lineage at this time: `2026-11-20T06:00`, `2h ago`")
    proposal: Proposed | None = Field(None, description="Judge the graph with this change, and list what is new")
    limit: int = Field(1_000, ge=1, le=MOST_FINDINGS, description="The most findings to list")


routes = APIRouter(prefix="/api/v2/policies", tags=["policies"], responses=MISSING)
_places = BoundedSemaphore(AT_ONCE)


@routes.post("/evaluation", response_model=One[PolicyEvaluation])
async def evaluate_policies(request: Request, body: Policies) -> Response:
    """Evaluate policies: of which datasets and columns that the caller may see they do not hold, or may not."""
    stated, proposal = _read(body), _proposal(body)
    now = now_of(request)
    at = None if body.as_of is None else past_instant(body.as_of, now)

    def ask(graph: QuestionGraph) -> PolicyEvaluation:
        catalog = catalog_over(request, graph)
        whole = whole_catalog_of(graph)
        files = group_policies([*stated, *(declared_files(whole, at, catalog) if body.declared else ())])
        found = evaluate_graph(files, catalog, graph, at, proposal, certifications_at(whole, at), now=now)
        return evaluation_document(found, at, body.limit)

    found = await requests_of(request).read(request, _in_place(ask))
    answered(request, found["total"])
    return answer({"data": found, "page": None})


def _read(body: Policies) -> Sequence[PolicyFile]:
    if body.declared and not body.policies:
        return ()
    try:
        return [read_policies(body.policies, body.file)]
    except RulesFileError as error:
        raise EventError("/policies", str(error), 422) from None


def _proposal(body: Policies) -> Proposal:
    try:
        return read_proposal(None if body.proposal is None else cast(ProposalDocument, body.proposal.model_dump()))
    except QuestionError as error:
        raise EventError("/proposal", error.reason, 422) from None


def _in_place(ask: Callable[[QuestionGraph], PolicyEvaluation]) -> Callable[[QuestionGraph], PolicyEvaluation]:
    """The question, asked in one of the places; it raises QuestionsBusyError if there is none."""

    def answer_in_place(graph: QuestionGraph) -> PolicyEvaluation:
        if not _places.acquire(blocking=False):
            raise QuestionsBusyError
        try:
            return ask(graph)
        finally:
            _places.release()

    return answer_in_place
