"""The routes of the governance dashboard's figures, and of the standing of one dataset (http-governance.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Engine
from typing_extensions import TypedDict

from whence.api.auth.guard import Asker
from whence.api.http.clock import now_of
from whence.api.http.path_names import Segment
from whence.api.http.recent import RecentValue
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING
from whence.api.requests.catalog import View
from whence.api.requests.pages import enveloped
from whence.errors import NodeNotFoundError
from whence.govern.certification.expiry import Expiring, expiring_within, list_last_days
from whence.govern.policies.records import held_policies
from whence.govern.rule_states.counts import CertificationCounts, PolicyCounts, count_states
from whence.govern.rule_states.documents import CurrentState, current_states
from whence.govern.rule_states.records import certifications_at, list_rule_transitions
from whence.govern.twins.reading import NodeTwins, ReadTwins, TwinsDocument, node_twins, twins_document
from whence.model.access import Viewer
from whence.model.names import DatasetName
from whence.query.lookup.resolve import resolve
from whence.query.lookup.standings import STANDINGS, Standings
from whence.store.snapshots.catalog import StoreCatalog, snapshot

routes = APIRouter(prefix="/api/v2", tags=["governance"], responses=MISSING)


class ExpiringCertification(TypedDict):
    """A certified dataset that ceases to be so after the last day of its contract. `days`: how many are left."""

    node: str
    contract_version: str
    last_day: str
    days: int


WAIT_SECONDS = 0.5
"""How long an answer waits for twins, which follow from the whole graph."""


class TwinCounts(TypedDict):
    """Groups of twins, and models and dashboards that read one which is not preferred. `complete`: all was read."""

    complete: bool
    groups: int
    readers: int


class Governance(TypedDict):
    """What rules say, and what is to be decided. `twins`: null while they are counted for the first time. `hidden`: how
    many more open states there are, of other datasets.
    """

    policies: PolicyCounts
    certification: CertificationCounts
    expiring: list[ExpiringCertification]
    twins: TwinCounts | None
    hidden: int


class NodeStanding(TypedDict):
    """Why a dataset may be relied on (`certified`, `canonical`), its twins, and the twins that it reads though others
    are preferred.
    """

    node: str
    standings: list[str]
    twins: NodeTwins | None


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What rules said last of all datasets, and when the contracts of certified ones end. Not restricted."""

    states: Sequence[CurrentState]
    last_days: Sequence[Expiring]
    policies_in: Sequence[str]
    """The namespace of each declared policy."""


def recent_rule_facts(engine: Engine) -> RecentValue[RuleFacts]:
    """The same, at most fifty times as old as reading it takes."""
    return RecentValue(partial(_read_rule_facts, engine))


def _read_rule_facts(engine: Engine) -> RuleFacts:
    with snapshot(engine) as connection:
        catalog = StoreCatalog(connection)
        states = current_states(list_rule_transitions(catalog))
        certified = [name for name, status in certifications_at(catalog).items() if status == "certified"]
        policies_in = [one.namespace for one in held_policies(catalog)]
        return RuleFacts(states, list_last_days(catalog, certified), policies_in)


@routes.get("/governance", response_model=One[Governance])
def get_governance(
    request: Request,
    view: View,
    viewer: Asker,
    within: Annotated[int, Query(ge=0, le=3_650, description="certifications that expire in so many days")] = 30,
) -> Response:
    """Count policy violations, certifications and twins among what the caller may see, and list what expires.

    States are those that a running server recorded. Figures are kept for fifty times as long as counting took.
    """
    facts: RuleFacts = request.app.state.rule_facts.get()
    twins: ReadTwins | None = request.app.state.twins.get_within(WAIT_SECONDS)
    counts = count_states(facts.states, viewer, facts.policies_in)
    today = datetime.fromtimestamp(now_of(request) / 1e6, UTC).date()
    data: Governance = {
        "policies": counts.policies,
        "certification": counts.certification,
        "expiring": _expiring(facts, viewer, today, within),
        "twins": None if twins is None else _count_twins(twins_document(twins, viewer)),
        "hidden": counts.hidden,
    }
    return enveloped(view, data)


@routes.get("/nodes/{node}/standing", response_model=One[NodeStanding])
def get_standing(request: Request, view: View, viewer: Asker, node: Segment) -> Response:
    """Show how far a dataset may be relied on: certified, canonical; its twins; the twins that it reads.

    Twins are those of a recent time, as they are looked for in the whole graph; null while that is done the first time.
    """
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    standings: Standings = request.app.state.standings.get()
    twins: ReadTwins | None = request.app.state.twins.get_within(WAIT_SECONDS)
    data: NodeStanding = {
        "node": str(name),
        "standings": [one for one in STANDINGS if one in standings.get(name, ())],
        "twins": None if twins is None else node_twins(twins, name, viewer),
    }
    return enveloped(view, data)


def _expiring(facts: RuleFacts, viewer: Viewer, today: date, within: int) -> list[ExpiringCertification]:
    return [
        {
            "node": str(one.dataset),
            "contract_version": one.version,
            "last_day": one.last_day.isoformat(),
            "days": (one.last_day - today).days,
        }
        for one in expiring_within(facts.last_days, today, within)
        if viewer.can_see(one.dataset)
    ]


def _count_twins(found: TwinsDocument) -> TwinCounts:
    return {
        "complete": found["complete"],
        "groups": len(found["groups"]),
        "readers": len({one["reader"] for group in found["groups"] for one in group["readers"]}),
    }
