"""Plans of tags, and exported policies, as the vendors' own code reads them.

Snowflake's statements also by an emulator. SQLFluff knows no `ALTER TAG … SET MASKING POLICY … FORCE`: that statement
is in `tests/govern/tags/test_systems.py` alone.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from environments import environment
from govern.policies.test_ranger_policies import TEXT
from govern.tags.test_systems import COLUMN_TAGS, HOSTILE, MINE, REFERENCES, SERVICE, TABLE, known, planned
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.ranger_policies import export_ranger
from whence.govern.tags.systems.bigquery import BigQuery
from whence.govern.tags.systems.ranger import Ranger
from whence.govern.tags.systems.snowflake import Snowflake
from whence.govern.tags.systems.unity_catalog import UnityCatalog
from whence.model.sensitivity import Grade

FOLDER = Path(__file__).parent


def write_plans(folder: Path) -> None:
    """The files of each system, about one table with a hostile name."""
    users = {HOSTILE: Grade.FULL, "EMAIL": Grade.FULL}
    view = known("SHOP.GOLD.V", {"MAIL": Grade.PSEUDONYMOUS}, is_view=True)
    texts = {
        "snowflake.sql": planned(Snowflake("gov.tags"), REFERENCES, known("SHOP.CRM.USERS", users, "PHONE"), view)[1],
        "unity.sql": planned(
            UnityCatalog(),
            COLUMN_TAGS,
            known("main.crm.users", {HOSTILE: Grade.FULL, "email": Grade.FULL}, "phone"),
            known("main.gold.files", {"": Grade.FULL}),
        )[1],
        "ranger.json": planned(
            Ranger(),
            json.dumps(SERVICE),
            known("crm.users", {"email": Grade.PSEUDONYMOUS, "name": Grade.FULL}, "phone"),
        )[1],
        "bigquery.json": planned(
            BigQuery({"pii": MINE}), json.dumps(TABLE), known("p.crm.users", {"home.city": Grade.FULL}, "id")
        )[1],
        "ranger-policies.json": export_ranger(read_policies(TEXT).policies, "cl_tag", ["hive:select"]).text,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


@pytest.fixture(scope="module")
def understood(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("plans")
    write_plans(folder)
    python = environment("vendors", FOLDER / "vendors.lock") / "bin/python"
    done = subprocess.run(
        [str(python), str(FOLDER / "read_plans.py"), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_rangers_client_reads_the_tags(understood: Any) -> None:
    assert understood["ranger"] == {
        "columns": {
            "email": [["EXPIRES_ON", None], ["WHENCE_PII", "pseudonymous"]],
            "name": [["WHENCE_PII", "full"]],
            "phone": [],
        },
        "definitions": ["EXPIRES_ON", "WHENCE_PII"],
        "unknown": [],
        "service": "hive",
    }


def test_rangers_client_reads_the_policies(understood: Any) -> None:
    assert understood["ranger policies"] == [
        {"unknown": [], "tags": [tag], "denied": [["public"], ["hive:select"]], "excepted": ["ann", "privacy"]}
        for tag in ("WHENCE_PII", "WHENCE_PHI")
    ]


def test_bigquerys_client_keeps_the_policy_tags(understood: Any) -> None:
    assert understood["bigquery"]["id"] == []
    assert understood["bigquery"]["email"]


def test_every_statement_is_read(understood: Any) -> None:
    assert understood["snowflake"] == {"statements": 4, "wrong": []}
    assert understood["unity"] == {"statements": 3, "wrong": []}


def test_an_emulator_of_snowflake_takes_the_statements(understood: Any) -> None:
    """Fakesnow refuses another form of them; it keeps no tags."""
    assert understood["fakesnow"] == []
