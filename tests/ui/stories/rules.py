"""The rules of the story: owners that are missing, certifications that hold, expire and lapsed, and two truths."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from whence.govern.assertions import set_contract
from whence.govern.certification.records import CERTIFICATION
from whence.govern.certification.rules_file import read_certification
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, run_event

DAY = 86_400_000_000
ERP = "postgres://erp:5432"
INVOICES = DatasetName(ERP, "erp.public.invoices")
REVENUE, OTHER_REVENUE = DatasetName(ERP, "finance.revenue"), DatasetName(ERP, "sandbox.<b>revenue</b>_copy")
DECK = DatasetName("looker://erp", "Board deck")
EXPIRING, LAPSED, UNCERTIFIED = (DatasetName(ERP, f"finance.{one}") for one in ("budget", "forecast", "ledger"))
POLICY = f"""\
version: 1
policies:
  - name: somebody owns it
    reason: somebody must answer for it
    owner: data-office
    namespaces: ["{ERP}"]
    where: {{kind: dataset, name: "erp.*"}}
    require: {{owned: true}}
"""
RULE = f"""\
version: 1
rules:
  - name: gold
    reason: the board decides by it
    namespaces: ["{ERP}"]
    where: {{name: "finance.*"}}
    require: {{owner: true, contract: true, lineage: false, objectives: false, checks: false}}
"""


def rules(now: int) -> Iterator[dict[str, Any]]:
    """The events until a time (µs), in their order."""
    begin = now - 20 * DAY
    yield from _declared(begin)
    yield from _truths(now - 2 * DAY)
    for name, days in ((EXPIRING, 20), (LAPSED, -1), (UNCERTIFIED, None)):
        yield dataset_event(begin, name, facets={**_about(name), **({} if days is None else _contract(now, days))})


def _declared(at: int) -> Iterator[dict[str, Any]]:
    for record, namespace in find_rule_changes(read_policies(POLICY).policies, (), prune=False):
        yield rule_event(POLICIES, record, namespace, at, person_uri("ada"))
    for record, namespace in find_rule_changes(read_certification(RULE), (), prune=False):
        yield rule_event(CERTIFICATION, record, namespace, at, person_uri("ada"))


def _about(name: DatasetName) -> Mapping[str, Any]:
    fields = [{"name": "amount", "type": "numeric"}]
    owners = [{"name": "team:finance", "type": "OWNER"}]
    return {
        "schema": facet("SchemaDatasetFacet", fields=fields),
        "ownership": facet("OwnershipDatasetFacet", owners=owners),
    }


def _contract(now: int, days: int) -> Mapping[str, Any]:
    last = (datetime.fromtimestamp(now / 1e6, UTC) + timedelta(days=days)).date().isoformat()
    return set_contract(
        "1.0.0",
        id="finance",
        status="active",
        owners=["ada"],
        columns=[{"name": "amount", "logicalType": "number"}],
        serviceLevels=[{"property": "endOfSupport", "value": last}],
    )


def _truths(at: int) -> Iterator[dict[str, Any]]:
    """The same sum of the same column twice; the board looks at the one that nobody prefers."""
    for number, one in enumerate((REVENUE, OTHER_REVENUE)):
        yield _ran(f"sum_{number}", at + number, INVOICES, one, "AGGREGATION", "sum(amount)")
    yield _ran("deck", at + 2, OTHER_REVENUE, DECK, "AGGREGATION", "max(amount)")
    canonical = [{"key": "canonical", "value": "true", "source": "steward"}]
    yield dataset_event(at + 3, REVENUE, facets={**_about(REVENUE), "tags": facet("TagsDatasetFacet", tags=canonical)})
    pii = [{"key": "financial", "value": "true", "field": "amount", "source": "steward"}]
    yield dataset_event(at + 4, INVOICES, facets={"tags": facet("TagsDatasetFacet", tags=pii)})
    type_ = facet("DatasetTypeDatasetFacet", datasetType="DASHBOARD")
    yield dataset_event(at + 5, DECK, facets={"datasetType": type_})


def _ran(job: str, at: int, source: DatasetName, target: DatasetName, subtype: str, text: str) -> dict[str, Any]:
    edge = Edge(
        source=FieldName(source, "amount"),
        target=FieldName(target, "amount"),
        type="DIRECT",
        subtype=subtype,
        description=text,
    )
    schema = {"schema": facet("SchemaDatasetFacet", fields=[{"name": "amount", "type": "numeric"}])}
    known = {} if target == DECK else schema  # nobody reports the columns of the board
    return run_event(
        at,
        RunState.COMPLETE,
        RunName(f"0190b3a1-0000-7000-8000-{at % 10**12:012}", JobName("erp", job)),
        inputs=[dataset(source, facets=schema)],
        outputs=[dataset(target, facets={**known, "columnLineage": column_lineage([edge])})],
    )
