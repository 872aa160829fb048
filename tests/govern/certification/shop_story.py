"""A shop whose revenue fulfils every rule of certification in production, and each time one less elsewhere."""

import json
from collections.abc import Iterator
from typing import Any

from whence.govern.assertions import assert_facets, set_contract
from whence.govern.certification.records import CERTIFICATION
from whence.govern.certification.rules_file import read_certification
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import column_lineage, dataset, facet, run_event

DAY = 86_400_000_000
PROD, STAGING, DEV = (f"postgres://{name}:5432" for name in ("prod", "staging", "dev"))
NAME = "shop.revenue\x1b[31m\u202e<b>%2F/é"
REVENUE, TESTED, TRIAL = (DatasetName(namespace, NAME) for namespace in (PROD, STAGING, DEV))
BOARD = DatasetName(PROD, "bi.board")
ADA = person_uri("key:ada")


def raw(of: DatasetName) -> DatasetName:
    """What it is made of: in the namespace of another team."""
    return DatasetName(of.namespace.replace("postgres", "hr"), "salaries")


def written(name: DatasetName, at: int, number: int, *, good: bool = True, columns: bool = True) -> bytes:
    """A run that writes a dataset, and checks it; one job reports columns, and another does not."""
    edge = Edge(
        source=FieldName(raw(name), "amount"),
        target=FieldName(name, "sum"),
        type="DIRECT",
        subtype="AGGREGATION",
        description="SUM(amount)",
    )
    schema = facet("SchemaDatasetFacet", fields=[{"name": "sum", "type": "BIGINT"}])
    facets: dict[str, Any] = {"schema": schema, **({"columnLineage": column_lineage([edge])} if columns else {})}
    result = {"assertion": "not_null", "column": "sum", "success": good}
    checked = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=[result])}
    run = RunName(
        f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"{'load' if columns else 'fill'} {name.namespace}")
    )
    source = dataset(raw(name), facets={"schema": facet("SchemaDatasetFacet", fields=[{"name": "amount"}])})
    outputs = [dataset(name, facets=facets, outputFacets=checked)]
    return json.dumps(run_event(at, RunState.COMPLETE, run, inputs=[source], outputs=outputs)).encode()


def owned(name: DatasetName, at: int, *owners: str) -> bytes:
    facets = {"ownership": facet("OwnershipDatasetFacet", owners=[{"name": one} for one in owners])}
    return json.dumps(assert_facets(name, at, ADA, facets)).encode()


def contracted(name: DatasetName, at: int, version: str = "1.0.0", column: str = "sum") -> bytes:
    facets = set_contract(version, id="revenue", columns=[{"name": column, "physicalType": "BIGINT"}])
    return json.dumps(assert_facets(name, at, ADA, facets)).encode()


def objective(name: DatasetName, at: int, limit: str = "25h") -> bytes:
    document = {
        "version": 1,
        "service": "shop",
        "slos": [
            {
                "name": "fresh",
                "dataset": str(name),
                "indicator": {"freshness": {"limit": limit}},
                "objective": {"target": "95%"},
                "alerting": [],
            }
        ],
    }
    (one,) = read_slos(json.dumps(document)).objectives
    return json.dumps(declaration_event(declaration_of(one), name.namespace, at, ADA)).encode()


RULES = f"""\
version: 1
rules:
  - name: gold
    reason: the board decides by it
    owner: data-office
    namespaces: ["{PROD}", "{STAGING}", "{DEV}"]
    where: {{name: shop.*}}
"""


def ruled(at: int, text: str = RULES) -> Iterator[bytes]:
    """The declarations of all rules of a file."""
    for record, namespace in find_rule_changes(read_certification(text), (), prune=False):
        yield json.dumps(rule_event(CERTIFICATION, record, namespace, at, ADA)).encode()


def fulfilled(name: DatasetName, until: int, *, first: int = 0) -> Iterator[bytes]:
    """Everything that the rule requires, for 40 days until a time."""
    for day in range(40, -1, -1):
        yield written(name, until - day * DAY, first + day)
    begin = until - 40 * DAY
    yield owned(name, begin, "team:shop")
    yield contracted(name, begin)
    yield objective(name, begin)
