"""Exports and plans of each system, in the forms that their vendors document.

`make nightly-tags` reads the plans with the vendors' code.
"""

import json
from typing import Any

import pytest
import sqlglot
import yaml

from whence.errors import ArtifactError, QuestionError
from whence.govern.tags.exports import TagSystem
from whence.govern.tags.known import KnownDataset, KnownLabel
from whence.govern.tags.places import Place, TagAt
from whence.govern.tags.plan import TagPlan, plan_tags
from whence.govern.tags.systems.bigquery import BigQuery, read_policy_tags
from whence.govern.tags.systems.choice import SystemName, SystemOptions, choose_system
from whence.govern.tags.systems.dbt import Dbt
from whence.govern.tags.systems.ranger import Ranger
from whence.govern.tags.systems.snowflake import Snowflake
from whence.govern.tags.systems.unity_catalog import UnityCatalog
from whence.model.names import DatasetName
from whence.model.sensitivity import Grade

HOSTILE = "e\"m`a'il\\;--"


def known(name: str, grades: dict[str, Grade], *more: str, is_view: bool = False) -> KnownDataset:
    labels = [KnownLabel(column=on, category="pii", grade=grade, possible=grade) for on, grade in grades.items()]
    columns = frozenset({*grades, *more} - {""})
    return KnownDataset(name=DatasetName("w", name), columns=columns, labels=tuple(labels), is_view=is_view)


def planned(system: TagSystem, export: str, *estate: KnownDataset) -> tuple[TagPlan, str]:
    found = system.read(export, "export") if export else None
    tags, places = (found.tags, found.places) if found else ((), ())
    plan = plan_tags(estate, tags, system.form, Grade.PARTIAL, places)
    return plan, system.write(plan, export)


REFERENCES = """\
TAG_DATABASE,TAG_SCHEMA,TAG_NAME,TAG_VALUE,LEVEL,APPLY_METHOD,OBJECT_DATABASE,OBJECT_SCHEMA,OBJECT_NAME,OBJECT_DELETED,DOMAIN,COLUMN_NAME
GOV,TAGS,PII,mail,COLUMN,MANUAL,SHOP,CRM,USERS,,COLUMN,EMAIL
GOV,TAGS,ZONE,eu,SCHEMA,INHERITED,SHOP,CRM,USERS,,TABLE,
GOV,TAGS,OWNER,crm,TABLE,,SHOP,CRM,USERS,,COLUMN,EMAIL
GOV,TAGS,WHENCE_PII,full,COLUMN,MANUAL,SHOP,CRM,USERS,,COLUMN,PHONE
ELSE,TAGS,WHENCE_PII,full,COLUMN,MANUAL,SHOP,CRM,USERS,,COLUMN,NOTE
GOV,TAGS,PII,gone,TABLE,MANUAL,SHOP,CRM,OLD,2026-01-01,TABLE,
GOV,TAGS,COST,x,WAREHOUSE,MANUAL,,,LOAD_WH,,WAREHOUSE,
"""


def test_snowflake_references_are_read() -> None:
    found = Snowflake("gov.tags").read(REFERENCES, "x").tags
    assert {(str(one.place), one.key, one.value, one.inherited, one.is_ours) for one in found} == {
        ("SHOP.CRM.USERS.EMAIL", "PII", "mail", False, False),
        ("SHOP.CRM.USERS", "ZONE", "eu", True, False),
        ("SHOP.CRM.USERS.EMAIL", "OWNER", "crm", True, False),
        ("SHOP.CRM.USERS.PHONE", "whence_pii", "full", False, True),
        ("SHOP.CRM.USERS.NOTE", "WHENCE_PII", "full", False, False),
    }
    rows = [{"tag_name": "PII", "tag_value": None, "object_database": "D", "object_schema": "S", "object_name": "T"}]
    rows[0] |= {"domain": "TABLE", "column_name": None}
    for text in (json.dumps(rows), json.dumps(rows[0]), "\n".join(map(json.dumps, rows * 2))):
        assert [one.key for one in Snowflake().read(text, "x").tags] == ["PII"]


def test_snowflake_statements() -> None:
    system = Snowflake("gov.tags", {"pii": ("gov.policies.mask",)})
    users = known("SHOP.CRM.USERS", {HOSTILE: Grade.FULL, "EMAIL": Grade.FULL}, "PHONE")
    view = known("shop.gold.v", {"mail": Grade.PSEUDONYMOUS}, is_view=True)
    _, text = planned(system, REFERENCES, users, view)
    quoted = '"e""m`a\'il\\;--"'
    assert text.splitlines() == [
        "-- Tags of Whence: 2 to set, 1 to remove. Other tags are not changed.",
        'CREATE TAG IF NOT EXISTS "GOV"."TAGS"."WHENCE_PII";',
        'ALTER TAG "GOV"."TAGS"."WHENCE_PII" SET MASKING POLICY "GOV"."POLICIES"."MASK" FORCE;',
        'ALTER TABLE "SHOP"."CRM"."USERS" MODIFY COLUMN "PHONE" UNSET TAG "GOV"."TAGS"."WHENCE_PII";',
        f'ALTER TABLE "SHOP"."CRM"."USERS" MODIFY COLUMN {quoted} SET TAG "GOV"."TAGS"."WHENCE_PII" = \'full\';',
        'ALTER VIEW "SHOP"."GOLD"."V" MODIFY COLUMN "MAIL" SET TAG "GOV"."TAGS"."WHENCE_PII" = \'pseudonymous\';',
    ]
    tokens = sqlglot.tokenize(text, read="snowflake")
    assert sum(one.text == ";" for one in tokens) == 5
    assert HOSTILE in {one.text for one in tokens}
    with pytest.raises(QuestionError, match="--tag-schema"):
        planned(Snowflake(), "", users)


COLUMN_TAGS = """\
catalog_name,schema_name,table_name,column_name,tag_name,tag_value
main,crm,users,email,pii,
main,crm,users,phone,whence_pii,full
"""


def test_unity_catalog_statements() -> None:
    users = known("main.crm.users", {HOSTILE: Grade.FULL, "email": Grade.FULL}, "phone")
    view = known("main.gold.v", {"mail": Grade.FULL}, is_view=True)
    whole = known("main.gold.files", {"": Grade.FULL})
    _, text = planned(UnityCatalog(), COLUMN_TAGS, users, view, whole)
    assert text.splitlines()[1:] == [
        "ALTER TABLE `main`.`crm`.`users` ALTER COLUMN `e\"m``a'il\\;--` SET TAGS ('whence_pii' = 'full');",
        "ALTER TABLE `main`.`crm`.`users` ALTER COLUMN `phone` UNSET TAGS ('whence_pii');",
        "ALTER TABLE `main`.`gold`.`files` SET TAGS ('whence_pii' = 'full');",
        "SET TAG ON COLUMN `main`.`gold`.`v`.`mail` `whence_pii` = `full`;",
    ]
    assert HOSTILE in {one.text for one in sqlglot.tokenize(text, read="databricks")}
    tables = "catalog_name,schema_name,table_name,tag_name,tag_value\nmain,crm,users,team,crm\n"
    (tag,) = UnityCatalog().read(tables, "x").tags
    assert (str(tag.place), tag.key, tag.value) == ("main.crm.users", "team", "crm")


MINE, OTHERS = "projects/p/locations/eu/taxonomies/1/policyTags/2", "projects/p/locations/eu/taxonomies/1/policyTags/3"
TABLE = {
    "kind": "bigquery#table",
    "tableReference": {"projectId": "p", "datasetId": "crm", "tableId": "users"},
    "schema": {
        "fields": [
            {"name": "id", "type": "INTEGER", "mode": "REQUIRED", "policyTags": {"names": [MINE]}},
            {"name": "email", "type": "STRING", "policyTags": {"names": [OTHERS]}},
            {"name": "home", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "city", "type": "STRING"}]},
        ]
    },
}


def test_bigquery_schemas_keep_all_but_the_policy_tags() -> None:
    system = BigQuery({"pii": MINE}, {OTHERS: "mail address (PII)"})
    grades = {"email": Grade.FULL, "home.city": Grade.FULL, "home": Grade.FULL, "nowhere": Grade.FULL}
    plan, text = planned(system, json.dumps(TABLE), known("p.crm.users", grades, "id"))
    assert {(one.place, one.reason) for one in plan.left_out} == {
        ("p.crm.users.email", "it is tagged directly, with policy_tag"),
        ("p.crm.users.home", "the export has no such column"),
        ("p.crm.users.nowhere", "the export has no such column"),
    }
    expected: dict[str, Any] = json.loads(json.dumps(TABLE))
    del expected["kind"]
    expected["schema"]["fields"][0]["policyTags"] = {"names": []}
    expected["schema"]["fields"][2]["fields"][0]["policyTags"] = {"names": [MINE]}
    assert json.loads(text) == [expected]
    assert planned(system, text, known("p.crm.users", grades, "id"))[0].changes == ()
    assert [one.value for one in system.read(json.dumps([TABLE]), "x").tags if not one.is_ours] == [
        "mail address (PII)"
    ]
    listed = {"policyTags": [{"name": OTHERS, "displayName": "mail address (PII)"}]}
    assert read_policy_tags(json.dumps(listed), "x") == {OTHERS: "mail address (PII)"}


def _element(*values: str) -> dict[str, Any]:
    return {"values": list(values), "isExcludes": False, "isRecursive": False}


SERVICE = {
    "op": "add_or_update",
    "serviceName": "hive",
    "tagDefinitions": {"7": {"name": "EXPIRES_ON", "source": "Atlas", "attributeDefs": []}},
    "tags": {
        "3": {"id": 3, "guid": "g", "type": "EXPIRES_ON", "owner": 1, "attributes": {"expiry": "2030"}},
        "4": {"id": 4, "type": "WHENCE_PII", "owner": 0, "attributes": {"grade": "full"}},
    },
    "serviceResources": [
        {"id": 1, "guid": "r1", "serviceName": "hive", "resourceElements": {"database": _element("crm")}},
        {
            "id": 2,
            "guid": "r2",
            "serviceName": "hive",
            "resourceElements": {"database": _element("crm"), "table": _element("users"), "column": _element("email")},
        },
        {
            "id": 5,
            "serviceName": "hive",
            "resourceElements": {"database": _element("crm"), "table": _element("users"), "column": _element("phone")},
        },
        {"id": 6, "resourceElements": {"database": _element("crm"), "table": _element("user*")}},
    ],
    "resourceToTagIds": {"1": [3], "2": [3], "5": [4], "6": [3]},
}


def imported(before: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """What Ranger has after an import: each resource of the file has exactly the tags that the file gives it."""
    found: dict[str, list[Any]] = {}
    resources: dict[str, Any] = {}
    for document in (before, change):
        for resource in document["serviceResources"]:
            key = json.dumps(resource["resourceElements"], sort_keys=True)
            resources[key] = resource
            found[key] = [document["tags"][str(one)] for one in document["resourceToTagIds"][str(resource["id"])]]
    tags = [(key, tag) for key, several in found.items() for tag in several]
    numbers = {key: number for number, key in enumerate(resources)}
    return {
        **before,
        "tags": {str(number): tag for number, (_, tag) in enumerate(tags)},
        "serviceResources": [{**one, "id": numbers[key]} for key, one in resources.items()],
        "resourceToTagIds": {
            str(number): [place for place, (of, _) in enumerate(tags) if of == key] for key, number in numbers.items()
        },
    }


def test_ranger_imports_repeat_the_tags_of_others() -> None:
    estate = known("crm.users", {"email": Grade.PSEUDONYMOUS, "name": Grade.FULL}, "phone")
    system = Ranger()
    _, text = planned(system, json.dumps(SERVICE), estate)
    found = json.loads(text)
    assert (found["op"], found["serviceName"]) == ("add_or_update", "hive")
    by_column = {
        one["resourceElements"]["column"]["values"][0]: [
            found["tags"][str(tag)] for tag in found["resourceToTagIds"][str(one["id"])]
        ]
        for one in found["serviceResources"]
    }
    assert [(tag["type"], tag["attributes"]) for tag in by_column["email"]] == [
        ("EXPIRES_ON", {"expiry": "2030"}),
        ("WHENCE_PII", {"grade": "pseudonymous"}),
    ]
    assert by_column["email"][0]["guid"] == "g"
    assert by_column["phone"] == []
    assert [one["name"] for one in found["tagDefinitions"].values()] == ["EXPIRES_ON", "WHENCE_PII"]
    after = imported(SERVICE, found)
    others = [[one for one in system.read(json.dumps(at), "x").tags if not one.is_ours] for at in (SERVICE, after)]
    assert others[0] == others[1]
    assert planned(system, json.dumps(after), estate)[0].changes == ()
    _, first = planned(Ranger("trino"), "", known("c.s.t", {"a": Grade.FULL}))
    (resource,) = json.loads(first)["serviceResources"]
    assert (resource["serviceName"], [*resource["resourceElements"]]) == (
        "trino",
        ["catalog", "schema", "table", "column"],
    )


MANIFEST = {
    "nodes": {
        "model.shop.users": {
            "resource_type": "model",
            "name": "users",
            "alias": "crm_users",
            "database": "db",
            "schema": "crm",
            "patch_path": "shop://models/crm.yml",
            "original_file_path": "models/users.sql",
            "columns": {
                "email": {"name": "email", "meta": {"pii": True}},
                "phone": {"name": "phone", "meta": {}, "config": {"meta": {"whence_pii": "full"}}},
            },
        },
        "test.shop.t": {"resource_type": "test", "name": "t", "database": "db", "schema": "x"},
    },
    "sources": {
        "source.shop.raw.mails": {
            "resource_type": "source",
            "source_name": "raw",
            "name": "mails",
            "identifier": "mails",
            "database": "db",
            "schema": "raw",
            "patch_path": None,
            "original_file_path": "models/sources.yml",
            "columns": {},
        }
    },
}


def test_dbt_properties() -> None:
    users = known("db.crm.crm_users", {"email": Grade.FULL, "hash": Grade.PSEUDONYMOUS}, "phone")
    mails, other = known("db.raw.mails", {"to": Grade.FULL}), known("db.raw.other", {"to": Grade.FULL})
    plan, text = planned(Dbt(), json.dumps(MANIFEST), users, mails, other)
    assert [one.reason for one in plan.left_out] == [
        "it is tagged directly, with pii",
        "the export has no such table",
    ]
    crm, sources = list(yaml.safe_load_all(text))
    assert crm == {
        "version": 2,
        "models": [
            {"name": "users", "columns": [{"name": "hash", "config": {"meta": {"whence_pii": "pseudonymous"}}}]}
        ],
    }
    assert sources["sources"][0]["tables"][0]["columns"][0]["config"] == {"meta": {"whence_pii": "full"}}
    assert '# merge into models/crm.yml\n# remove whence_pii from the meta of "db.crm.crm_users.phone"' in text


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (Snowflake(), "TAG_NAME,TAG_VALUE\nPII,x\n"),
        (Snowflake(), "[1]"),
        (Snowflake(), "{"),
        (UnityCatalog(), '"a'),
        (UnityCatalog(), "TABLE_NAME,TAG_NAME\nt,pii\n"),
        (BigQuery(), '{"schema": {}}'),
        (BigQuery(), '{"tableReference": {}, "schema": {"fields": 3}}'),
        (BigQuery(), '{"tableReference": {}, "schema": {"fields": [{}]}}'),
        (Ranger(), "[]"),
        (Ranger(), '{"tags": [1]}'),
        (Dbt(), "{}"),
        (Dbt(), "[" * 100_000),
    ],
)
def test_other_files_are_refused(system: TagSystem, text: str) -> None:
    with pytest.raises(ArtifactError):
        system.read(text, "export")


def test_options_belong_to_their_system() -> None:
    with pytest.raises(QuestionError, match="option of snowflake"):
        choose_system(SystemName.RANGER, SystemOptions(tag_schema="A.B"))
    for wrong in ("pii", "mail=x"):
        with pytest.raises(QuestionError, match="CATEGORY=NAME"):
            choose_system(SystemName.BIGQUERY, SystemOptions(policy_tags=[wrong]))
    place = Place(("a", "b", "c"))
    assert TagAt(place=place, key="k", value="") < TagAt(place=place, key="l", value="")
