"""A firm's lineage as its events tell it: churn from raw files to a prediction and a dashboard, over two days.

Yesterday's features took one join less; a table has 60 columns, another 140 readers; last night the report failed, of
another commit than before; charges come hourly, but not since five hours ago; three bodies were refused.
"""

import json
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ui.stories.datasets import (
    CHARGES,
    CLEAN,
    CUSTOMERS,
    DASHBOARD,
    DATES,
    ENVIRONMENTS,
    FEATURES,
    HOSTILE,
    LONG_TWINS,
    MODEL,
    OVERVIEW,
    PARTITION,
    PAYMENTS,
    PREDICTIONS,
    REVENUE,
    SCHEMAS,
    SESSIONS,
    STRIPE,
    TICKETS,
    TWINS,
    USAGE,
    WAREHOUSE,
)
from ui.stories.quality import checks_of, metrics_of
from whence.capture.table_versions.events import record_event
from whence.capture.table_versions.records import TableVersion
from whence.govern.assertions import set_contract
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, own_facet, run_event
from whence_client.events.datasets import Dataset

HOUR = 3_600_000_000
NOW = time.time_ns() // 1_000
CONSUMERS = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A job: what it reads, what it writes, and how columns become columns."""

    name: JobName
    reads: Sequence[DatasetName]
    writes: DatasetName
    edges: Sequence[Edge] = ()
    sql: str = ""
    facets: dict[str, Any] = field(default_factory=dict)


def direct(source: tuple[DatasetName, str], target: tuple[DatasetName, str], subtype: str, how: str = "") -> Edge:
    return Edge(source=FieldName(*source), target=FieldName(*target), type="DIRECT", subtype=subtype, description=how)


def indirect(source: tuple[DatasetName, str], target: DatasetName, subtype: str, how: str = "") -> Edge:
    return Edge(source=FieldName(*source), target=target, type="INDIRECT", subtype=subtype, description=how)


def _code(version: str) -> dict[str, Any]:
    repository = "https://github.com/acme/churn"
    return {
        "sourceCodeLocation": facet(
            "SourceCodeLocationJobFacet",
            type="git",
            url=f"{repository}/blob/{version}/jobs.py",
            repoUrl=repository,
            version=version,
            branch="main",
        )
    }


CLEANING = Step(
    name=JobName("churn", "clean_customers"),
    reads=(CUSTOMERS,),
    writes=CLEAN,
    edges=(
        direct((CUSTOMERS, "id"), (CLEAN, "customer_id"), "IDENTITY"),
        Edge(
            source=FieldName(CUSTOMERS, "email"),
            target=FieldName(CLEAN, "email_hash"),
            type="DIRECT",
            subtype="TRANSFORMATION",
            description="sha2(lower(email), 256)",
            masking=True,
        ),
        direct((CUSTOMERS, "country"), (CLEAN, "country"), "IDENTITY"),
        direct((CUSTOMERS, "signed_up_at"), (CLEAN, "tenure_days"), "TRANSFORMATION", "datediff(now(), signed_up_at)"),
        indirect((CUSTOMERS, "plan"), CLEAN, "FILTER", "plan <> 'internal'"),
    ),
    sql="select id as customer_id, sha2(lower(email), 256) as email_hash, country,\n"
    "       datediff(now(), signed_up_at) as tenure_days\nfrom crm.public.customers\nwhere plan <> 'internal'",
)
SESSIONISING = Step(
    name=JobName("churn", "build_sessions"),
    reads=(USAGE,),
    writes=SESSIONS,
    edges=(
        direct((USAGE, "user_id"), (SESSIONS, "customer_id"), "IDENTITY"),
        direct((USAGE, "minutes"), (SESSIONS, "minutes_30d"), "AGGREGATION", "sum(minutes)"),
        direct(
            (USAGE, "last_login"),
            (SESSIONS, "days_since_login"),
            "TRANSFORMATION",
            "datediff(now(), max(last_login))",
        ),
        indirect((USAGE, "user_id"), SESSIONS, "GROUP_BY"),
        indirect((USAGE, "device"), SESSIONS, "FILTER", "device <> 'bot'"),
    ),
)
_FEATURES = (
    direct((CLEAN, "customer_id"), (FEATURES, "customer_id"), "IDENTITY"),
    direct((CLEAN, "tenure_days"), (FEATURES, "tenure_days"), "IDENTITY"),
    direct((SESSIONS, "minutes_30d"), (FEATURES, "minutes_30d"), "IDENTITY"),
    direct((SESSIONS, "days_since_login"), (FEATURES, "days_since_login"), "IDENTITY"),
    direct((PAYMENTS, "amount"), (FEATURES, "revenue_90d"), "AGGREGATION", "sum(amount)"),
    *(direct((SESSIONS, "minutes_30d"), (FEATURES, f"signal_{n:02}"), "TRANSFORMATION") for n in range(0, 54, 9)),
    indirect((CLEAN, "customer_id"), FEATURES, "JOIN", "customer_id = customer_id"),
    indirect((SESSIONS, "customer_id"), FEATURES, "JOIN", "customer_id = customer_id"),
    indirect((PAYMENTS, "customer_id"), FEATURES, "JOIN", "customer_id = customer_id"),
)
BUILDING = JobName("churn", "build_features")
EARLIER = Step(name=BUILDING, reads=(CLEAN, SESSIONS, PAYMENTS), writes=FEATURES, edges=_FEATURES)
NOWADAYS = Step(
    name=BUILDING,
    reads=(CLEAN, SESSIONS, PAYMENTS, TICKETS),
    writes=FEATURES,
    edges=(
        *_FEATURES,
        direct((TICKETS, "ticket_id"), (FEATURES, "tickets_90d"), "AGGREGATION", "count(ticket_id)"),
        indirect((TICKETS, "customer_id"), FEATURES, "JOIN", "customer_id = customer_id"),
    ),
    sql="select c.customer_id, c.tenure_days, s.minutes_30d, s.days_since_login,\n"
    "       sum(p.amount) as revenue_90d, count(t.ticket_id) as tickets_90d\n"
    "from silver.customers c\njoin silver.sessions s using (customer_id)\n"
    "left join crm.payments p using (customer_id)\nleft join raw.support_tickets t using (customer_id)\ngroup by all",
    facets={
        "documentation": facet("DocumentationJobFacet", description="One row a customer, for the churn model."),
        **_code("3f9c2d1"),
    },
)
TRAINING = Step(
    name=JobName("churn", "train_model"),
    reads=(FEATURES,),
    writes=MODEL,
    edges=tuple(
        Edge(source=FieldName(FEATURES, name), target=MODEL, type="INDIRECT", subtype="", description="fit")
        for name in ("tenure_days", "minutes_30d", "days_since_login", "revenue_90d", "tickets_90d")
    ),
)
SCORING = Step(
    name=JobName("churn", "score_customers"),
    reads=(FEATURES, MODEL),
    writes=PREDICTIONS,
    edges=(
        direct((FEATURES, "customer_id"), (PREDICTIONS, "customer_id"), "IDENTITY"),
        *(
            direct((FEATURES, name), (PREDICTIONS, "churn_probability"), "TRANSFORMATION", "predict(features)")
            for name in ("tenure_days", "minutes_30d", "days_since_login", "revenue_90d", "tickets_90d")
        ),
    ),
)
REPORTING = Step(
    name=JobName("bi", "refresh_customer_health"),
    reads=(PREDICTIONS, PAYMENTS),
    writes=DASHBOARD,
    edges=(
        direct(
            (PREDICTIONS, "churn_probability"),
            (DASHBOARD, "customers_at_risk"),
            "AGGREGATION",
            "count_if(churn_probability > 0.7)",
        ),
        direct((PAYMENTS, "amount"), (DASHBOARD, "revenue_at_risk"), "AGGREGATION", "sum(amount)"),
        indirect((PREDICTIONS, "churn_probability"), DASHBOARD, "FILTER", "churn_probability > 0.7"),
    ),
    facets=_code("a41d0c9"),
)
LOADING = Step(name=JobName("revenue", "load_charges"), reads=(STRIPE,), writes=CHARGES)
SUMMING = Step(
    name=JobName("bi", "refresh_revenue"),
    reads=(CHARGES,),
    writes=REVENUE,
    edges=(direct((CHARGES, "amount"), (REVENUE, "revenue"), "AGGREGATION", "sum(amount)"),),
)
IMPORTING = Step(
    name=JobName("ingest", "import_tickets"), reads=(DatasetName("https://zendesk", "tickets"),), writes=TICKETS
)
COMPARING = Step(
    name=JobName("shop", "compare_environments"),
    reads=(*TWINS, *LONG_TWINS, HOSTILE, PARTITION),
    writes=OVERVIEW,
    edges=tuple(
        direct((one, "total"), (OVERVIEW, "orders"), "AGGREGATION", "sum(total)")
        for one in (*TWINS, *LONG_TWINS, HOSTILE, PARTITION)
    ),
)
REPLICATING = tuple(
    Step(name=JobName(f"shop-{one}", "load_orders"), reads=(), writes=twin)
    for one, twin in zip(ENVIRONMENTS, TWINS, strict=True)
)
"""The same job in three environments; that of dev fails."""


def bodies() -> list[bytes]:
    """All events, as a collector gets them."""
    return [json.dumps(one).encode() for one in events()]


REFUSED = (
    b'{"eventType": "COMPLETE", "run": {"runId": "0190b3a1-0000-7000-8000-000000000001"}, "job": {"namespace":',
    json.dumps({"eventType": "START", "eventTime": "yesterday", "job": {"namespace": "ml", "name": "score"}}).encode(),
    json.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-11-20T06:00:00Z",
            "producer": "https://example.org/cron",
            "run": {"runId": "0190b3a1-0000-7000-8000-000000000002"},
            "job": {"namespace": "revenue"},
        }
    ).encode(),
)
"""Bodies that no collector takes: not JSON, no time, a job without a name."""


def events() -> list[dict[str, Any]]:
    """All events, by time."""
    events: list[dict[str, Any]] = []
    for ago, steps in ((48, (CLEANING, SESSIONISING, EARLIER, TRAINING, SCORING, REPORTING)), *_LATER):
        for place, step in enumerate(steps):
            events += _run(step, NOW - ago * HOUR + place * HOUR // 6, HOUR // 12 + place * HOUR // 60)
    events += [one for number in range(CONSUMERS) for one in _run(_reader(number), NOW - 8 * HOUR, HOUR // 30)]
    for ago in range(56, 4, -1):
        events += _run(LOADING, NOW - ago * HOUR, HOUR // 20)
    events += _run(SUMMING, NOW - 5 * HOUR, HOUR // 40)
    events += [one for step in (*REPLICATING[:2], COMPARING) for one in _run(step, NOW - 3 * HOUR, HOUR // 60)]
    events += _failed(REPLICATING[2], NOW - 3 * HOUR, "SnowparkSQLException: warehouse DEV_XS is suspended")
    events += _failed(
        replace(REPORTING, facets=_code("b77e2f0")),
        NOW - HOUR,
        "AnalysisException: column churn_probability: 12 % of values are null",
    )
    events.append(_event(NOW - HOUR // 3, RunState.START, SCORING, str(uuid.uuid5(uuid.NAMESPACE_URL, "running"))))
    return sorted([*events, *_assertions_by_people()], key=lambda one: str(one["eventTime"]))


_LATER = (
    (24, (IMPORTING, CLEANING, SESSIONISING, EARLIER, TRAINING, SCORING, REPORTING)),
    (4, (IMPORTING, CLEANING, SESSIONISING, NOWADAYS, TRAINING, SCORING, REPORTING)),
)


def _reader(number: int) -> Step:
    team = ("finance", "growth", "logistics", "ml")[number % 4]
    into = DatasetName(WAREHOUSE, f"{team}.mart_{number:03}")
    return Step(
        name=JobName(team, f"build_mart_{number:03}"),
        reads=(DATES,),
        writes=into,
        edges=(direct((DATES, "day"), (into, "day"), "IDENTITY"),),
    )


def _run(step: Step, at: int, took: int) -> list[dict[str, Any]]:
    run = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{step.name}{at}"))
    return [_event(at, RunState.START, step, run), _event(at + took, RunState.COMPLETE, step, run)]


def _failed(step: Step, at: int, why: str) -> list[dict[str, Any]]:
    run = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{step.name}{at}"))
    message = {"errorMessage": facet("ErrorMessageRunFacet", message=why, programmingLanguage="PYTHON")}
    end = _event(at + HOUR // 12, RunState.FAIL, step, run)
    end["run"]["facets"] = message
    return [_event(at, RunState.START, step, run), end]


def _event(at: int, state: RunState, step: Step, run: str) -> dict[str, Any]:
    sql = {"sql": facet("SQLJobFacet", query=step.sql)} if step.sql else {}
    columns = {"columnLineage": column_lineage(step.edges)} if step.edges else {}
    return run_event(
        at,
        state,
        RunName(run, step.name),
        job_facets={**step.facets, **sql},
        inputs=[
            dataset(one, facets=_schema(one, at), inputFacets={**checks_of(one), **metrics_of(one, at)})
            for one in step.reads
        ],
        outputs=[dataset(step.writes, facets={**_schema(step.writes, at), **columns})],
    )


def building_run(ago: int) -> str:
    """The id of the features' run so many hours ago: 24, or 4."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{BUILDING}{NOW - ago * HOUR + 3 * HOUR // 6}"))


def failed_run() -> str:
    """The id of the report's run that failed."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{REPORTING.name}{NOW - HOUR}"))


def _schema(of: DatasetName, at: int) -> dict[str, Any]:
    schema = SCHEMAS.get(of, {})
    if of == CHARGES and at < NOW - 10 * HOUR:
        schema = {"charge_id": "string", "amount": "double", "card": "string"}
    fields = [{"name": name, "type": type_} for name, type_ in schema.items()]
    return {"schema": facet("SchemaDatasetFacet", fields=fields)} if fields else {}


def _assertions_by_people() -> Iterable[dict[str, Any]]:
    def owned(*names: str) -> Any:
        owners = [{"name": name, "type": "OWNER"} for name in names]
        return facet("OwnershipDatasetFacet", owners=owners)

    def described(text: str) -> Any:
        return facet("DocumentationDatasetFacet", description=text)

    pii = [{"key": "PII", "value": "true", "field": "email", "source": "steward"}]
    yield dataset_event(
        NOW - 30 * HOUR,
        CUSTOMERS,
        facets={
            "tags": facet("TagsDatasetFacet", tags=pii),
            "ownership": owned("team:crm"),
            "documentation": described("Everybody who ever signed up."),
        },
    )
    yield dataset_event(
        NOW - 30 * HOUR,
        PREDICTIONS,
        facets={
            "tags": facet("TagsDatasetFacet", tags=[{"key": "certified", "value": "true", "source": "steward"}]),
            "ownership": owned("team:churn"),
            "documentation": described("How likely each customer is to leave within 30 days."),
            "whence_tier": own_facet("TierFacet", tier=1),
            **set_contract(
                "1.2.0",
                id="churn-predictions",
                status="active",
                owners=["ada"],
                columns=[{"name": "customer_id", "logicalType": "string"}, {"name": "model_version"}],
                quality=[
                    {"rule": "accepted_values", "metric": "invalidValues", "operators": {"mustBe": 0}},
                    {"rule": "not_null", "metric": "nullValues", "operators": {"mustBe": 0}},
                ],
                serviceLevels=[{"property": "retention", "value": 3, "unit": "y"}],
            ),
        },
    )
    columns = [{"name": "customer_id", "logicalType": "integer"}]
    yield dataset_event(
        NOW - 30 * HOUR - 1,
        PREDICTIONS,
        facets=dict(set_contract("1.1.0", id="churn-predictions", status="active", owners=["ada"], columns=columns)),
    )
    yield dataset_event(
        NOW - 29 * HOUR,
        DASHBOARD,
        facets={
            "datasetType": facet("DatasetTypeDatasetFacet", datasetType="DASHBOARD"),
            "ownership": owned("team:success"),
            "whence_tier": own_facet("TierFacet", tier=1),
        },
    )
    for version, operation, rows in (("6", "WRITE", 1_200), ("7", "OPTIMIZE", None)):
        at = datetime.fromtimestamp((NOW - (36 - int(version)) * HOUR) / 1e6, UTC)
        table = Dataset(TICKETS.namespace, TICKETS.name)
        yield record_event(
            TableVersion(
                table=table, version=version, at=at, operation=operation, has_new_data=rows is not None, rows=rows
            )
        )
    yield dataset_event(
        NOW - 29 * HOUR,
        MODEL,
        facets={"datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL"), "ownership": owned("team:churn")},
    )
