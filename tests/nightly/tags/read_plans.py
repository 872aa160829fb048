"""Reads the files of `whence tags plan` and `whence policy export` with their vendors' code. In its own environment.

Prints one JSON document: what each parser understood.
"""

import json
import sys
from pathlib import Path
from typing import Any

import fakesnow
import snowflake.connector
from apache_ranger.model.ranger_policy import RangerPolicy
from apache_ranger.model.ranger_service_tags import RangerServiceTags
from google.cloud.bigquery import Table
from sqlfluff.core import Linter

Json = dict[str, Any]
FOLDER = Path(sys.argv[1])
TABLES = (
    'CREATE DATABASE "SHOP"',
    'CREATE SCHEMA "SHOP"."CRM"',
    'CREATE TABLE "SHOP"."CRM"."USERS" ("EMAIL" VARCHAR, "PHONE" VARCHAR, "e""m`a\'il\\;--" INTEGER)',
    'CREATE SCHEMA "SHOP"."GOLD"',
    'CREATE VIEW "SHOP"."GOLD"."V" AS SELECT "PHONE" AS "MAIL" FROM "SHOP"."CRM"."USERS"',
    'CREATE DATABASE "GOV"',
    'CREATE SCHEMA "GOV"."TAGS"',
)


def read_ranger_tags() -> Json:
    """Each column with the tags that it gets, through the model of Ranger's client."""
    text = json.loads((FOLDER / "ranger.json").read_text("utf-8"))
    found = RangerServiceTags(text)
    found.type_coerce_attrs()
    unknown = [key for key in text if key not in vars(found)]
    columns = {}
    for one in found.serviceResources:
        one.type_coerce_attrs()
        column = one.resourceElements["column"]["values"][0]
        several = [found.tags[str(tag)] for tag in found.resourceToTagIds[str(one.id)]]
        columns[column] = sorted([tag.type, tag.attributes.get("grade")] for tag in several)
    names = sorted(one.name for one in found.tagDefinitions.values())
    return {"columns": columns, "definitions": names, "unknown": unknown, "service": found.serviceName}


def read_ranger_policies() -> list[Json]:
    """Each policy through the model of Ranger's client: unknown members, the tags, and who is denied and excepted."""
    found = []
    for text in json.loads((FOLDER / "ranger-policies.json").read_text("utf-8"))["policies"]:
        one = RangerPolicy(text)
        one.type_coerce_attrs()
        (deny,), excepted = one.denyPolicyItems, one.denyExceptions
        found.append(
            {
                "unknown": [key for key in text if key not in vars(one)],
                "tags": list(one.resources["tag"]["values"]),
                "denied": [deny.groups, [access.type for access in deny.accesses]],
                "excepted": [name for item in excepted for name in (*item.users, *item.groups)],
            }
        )
    return found


def read_bigquery() -> Json:
    """The policy tags of each column, after BigQuery's client has read and written the table."""
    text = json.loads((FOLDER / "bigquery.json").read_text("utf-8"))
    (table,) = text if isinstance(text, list) else [text]
    again = Table.from_api_repr(table).to_api_repr()
    fields = again["schema"]["fields"]
    return {one["name"]: (one.get("policyTags") or {}).get("names") for one in fields}


def read_statements(name: str, dialect: str) -> Json:
    """How many statements SQLFluff reads, and the texts that it cannot read."""
    text = (FOLDER / name).read_text("utf-8")
    parsed = Linter(dialect=dialect).parse_string(text)
    tree = parsed.tree
    wrong = [str(one) for one in parsed.violations]
    return {"statements": len(list(tree.recursive_crawl("statement"))) if tree else 0, "wrong": wrong}


def run_snowflake() -> list[str]:
    """The statements that an emulator of Snowflake refuses, with its message."""
    refused = []
    with fakesnow.patch():
        cursor = snowflake.connector.connect().cursor()
        for statement in TABLES:
            cursor.execute(statement)
        for statement in (FOLDER / "snowflake.sql").read_text("utf-8").split(";\n"):
            try:
                if statement.strip():
                    cursor.execute(statement)
            except Exception as error:  # whatever the emulator raises is what it says of the statement
                refused.append(f"{statement.strip().splitlines()[-1]}: {error}")
    return refused


sys.stdout.write(
    json.dumps(
        {
            "ranger": read_ranger_tags(),
            "ranger policies": read_ranger_policies(),
            "bigquery": read_bigquery(),
            "snowflake": read_statements("snowflake.sql", "snowflake"),
            "unity": read_statements("unity.sql", "databricks"),
            "fakesnow": run_snowflake(),
        }
    )
)
