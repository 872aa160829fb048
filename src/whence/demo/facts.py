"""Facts that the owners of the demo's datasets assert, as OpenLineage dataset events."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.demo.declare import PRODUCER
from whence.govern.assertions import Certification
from whence.model.names import DatasetName
from whence.model.traits import RUNBOOK
from whence.openlineage.facets.steward_tags import USER
from whence.openlineage.write import dataset_event, facet, own_facet, replace_producer

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The asserted facts of one dataset. `pii` names columns; tier 1 is the most critical; `runbook` is the address of
    what to do if the data is wrong.

    An `origin` is expected to have nothing upstream.
    """

    owner: str
    description: str
    pii: tuple[str, ...] = ()
    certified: bool = False
    tier: int | None = None
    origin: bool = False
    runbook: str = ""

    @property
    def facets(self) -> Json:
        """The facts as dataset facets."""
        fact_events = {
            "ownership": facet("OwnershipDatasetFacet", owners=[{"name": self.owner, "type": "OWNER"}]),
            "documentation": facet("DocumentationDatasetFacet", description=self.description),
        }
        if tags := [*map(_pii, self.pii), *self._whole_tags]:
            fact_events["tags"] = facet("TagsDatasetFacet", tags=tags)
        if self.tier:
            fact_events["whence_tier"] = own_facet("TierFacet", tier=self.tier)
        if self.origin:
            fact_events["whence_boundary"] = own_facet("BoundaryDatasetFacet", origin=True)
        return fact_events

    @property
    def _whole_tags(self) -> Iterator[Json]:
        """The tags of the dataset itself."""
        if self.certified:
            yield _CERTIFIED
        if self.runbook:
            yield {"key": RUNBOOK, "value": self.runbook, "source": USER}


_CERTIFIED = {"key": Certification.CERTIFIED.value, "value": "true", "source": USER}

FACTS_BY_PATH = {
    "raw/crm_export": Facts(
        owner="team:crm",
        description="Every customer, as the CRM exports them. The export repeats some rows.",
        pii=("name", "email"),
        tier=2,
        origin=True,
    ),
    "raw/usage_logs": Facts(
        owner="team:app",
        description="One row a session in the app; it begins with a login.",
        tier=2,
        origin=True,
        runbook="https://runbooks.example/usage-logs",
    ),
    "raw/support_tickets": Facts(
        owner="team:support",
        description="One row a support ticket, as its customer wrote it.",
        pii=("subject",),
        origin=True,
    ),
    "bronze/crm_export": Facts(
        owner="team:platform", description="The CRM's export as Parquet, unchanged.", pii=("name", "email")
    ),
    "bronze/usage_logs": Facts(owner="team:platform", description="The usage logs as Parquet, unchanged."),
    "bronze/support_tickets": Facts(
        owner="team:platform", description="The support tickets as Parquet, unchanged.", pii=("subject",)
    ),
    "silver/customers": Facts(
        owner="team:platform", description="One typed row a customer; the e-mail address only as a hash."
    ),
    "silver/sessions": Facts(owner="team:platform", description="Typed sessions, without those of negative length."),
    "silver/tickets": Facts(owner="team:platform", description="Typed tickets; a priority follows from the severity."),
    "gold/features": Facts(owner="team:churn", description="One row of features a customer, for the churn model."),
    "models/churn": Facts(owner="team:churn", description="The logistic regression that predicts churn."),
    "gold/predictions": Facts(
        owner="team:churn", description="How likely each customer is to leave.", certified=True, tier=1
    ),
}
"""By path below the pipeline's data directory."""


def fact_events(data: Path, at: int) -> Iterator[Json]:
    """Yield an event for each dataset with asserted facts. `at`: the time, in microseconds."""
    for path, facts in FACTS_BY_PATH.items():
        yield replace_producer(PRODUCER, dataset_event(at, DatasetName("file", str(data / path)), facets=facts.facets))


def _pii(column: str) -> Json:
    return {"key": "PII", "value": "true", "field": column, "source": USER}
