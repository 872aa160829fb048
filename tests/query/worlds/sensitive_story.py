"""Personal data on its way: a CRM export with tags, a masked copy, features, a report; production, staging and dev."""

import json
from collections.abc import Iterable
from typing import Any

from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event

HOUR = 3_600_000_000

CRM = DatasetName("s3://prod", "raw/crm export; DROP TABLE")
USERS, FEATURES = DatasetName("s3://prod", "silver/users"), DatasetName("s3://prod", "gold/features")
REPORT, PATIENTS = DatasetName("bi://prod", "report"), DatasetName("s3://prod", "raw/patients")
STAGING, DEV = DatasetName("s3://staging", "silver/users"), DatasetName("s3://dev", "silver/users")

EMAIL, PHONE, SALARY, CITY = (FieldName(CRM, name) for name in ("email", "phone", "salary", "city"))


def of(dataset_name: DatasetName, name: str) -> FieldName:
    return FieldName(dataset_name, name)


def made(source: Node, target: Node, expression: str = "", subtype: str = "TRANSFORMATION", **more: Any) -> Edge:
    return Edge(source=source, target=target, type="DIRECT", subtype=subtype, description=expression, **more)


def same(source: Node, target: Node) -> Edge:
    return made(source, target, subtype="IDENTITY")


def shaped(source: Node, target: Node, subtype: str) -> Edge:
    return Edge(source=source, target=target, type="INDIRECT", subtype=subtype)


TO_USERS = [
    made(EMAIL, of(USERS, "email_hash"), "SHA2(LOWER(email), 256)", masking=True),
    same(EMAIL, of(USERS, "contact")),
    made(PHONE, of(USERS, "area"), "LEFT(phone, 3)"),
    same(SALARY, of(USERS, "salary")),
    same(CITY, of(USERS, "city")),
    shaped(EMAIL, USERS, "FILTER"),
]
TO_FEATURES = [
    same(of(USERS, "email_hash"), of(FEATURES, "id")),
    made(of(USERS, "salary"), of(FEATURES, "mean_salary"), "AVG(salary)", "AGGREGATION"),
    made(of(USERS, "contact"), of(FEATURES, "code"), "my_udf(contact)"),
    made(of(USERS, "contact"), of(FEATURES, "secret"), "vault_mask(contact)", masking=True),
    made(of(USERS, "city"), of(FEATURES, "city"), "UPPER(city)"),
    # As Spark reports max(sha2(contact)), and count(contact) alike.
    made(of(USERS, "contact"), of(FEATURES, "last_hash"), subtype="AGGREGATION", masking=True),
    shaped(of(USERS, "area"), FEATURES, "GROUP_BY"),
]
TO_REPORT = [
    same(of(FEATURES, "mean_salary"), of(REPORT, "salary")),
    made(of(FEATURES, "id"), of(REPORT, "users"), "COUNT(DISTINCT id)", "AGGREGATION", masking=True),
    made(of(USERS, "contact"), of(REPORT, "one_contact"), "MAX(contact)", "AGGREGATION"),
    same(of(REPORT, "one_contact"), of(REPORT, "again")),
    same(of(REPORT, "again"), of(REPORT, "one_contact")),
]


def tagged(name: DatasetName, *tags: tuple[str, str, str]) -> dict[str, Any]:
    """A dataset with tags: key, value, column (empty: the dataset)."""
    several = [{"key": key, "value": value, **({"field": on} if on else {})} for key, value, on in tags]
    return dataset(name, facets={"tags": facet("TagsDatasetFacet", tags=several)})


CRM_TAGS = (
    *(("pii", "true", "email"), ("GDPR-class", "high", "phone"), ("class", "Financial", "salary")),
    *(("pii", "false", "city"), ("class", "secret", "city"), ("happiness", "yes", "city")),
)


def ran(job: str, hour: int, source: dict[str, Any], target: DatasetName, edges: Iterable[Edge]) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{hour:012}", JobName("prod", job))
    out = dataset(target, facets={"columnLineage": column_lineage(edges)})
    return json.dumps(run_event(hour * HOUR, RunState.COMPLETE, run, inputs=[source], outputs=[out])).encode()


BODIES = [
    ran("load users", 1, tagged(CRM, *CRM_TAGS), USERS, TO_USERS),
    ran("features", 2, dataset(USERS), FEATURES, TO_FEATURES),
    ran("report", 3, dataset(FEATURES), REPORT, TO_REPORT),
    ran("staging", 4, dataset(CRM), STAGING, [same(EMAIL, of(STAGING, "contact"))]),
    ran(
        "dev",
        5,
        dataset(STAGING),
        DEV,
        [made(of(STAGING, "contact"), of(DEV, "contact"), "MD5(contact)", masking=True)],
    ),
    ran("wards", 6, tagged(PATIENTS, ("phi", "", "")), REPORT, [same(of(PATIENTS, "ward"), of(REPORT, "ward"))]),
]
