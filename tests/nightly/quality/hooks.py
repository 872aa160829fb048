"""The hooks of Great Expectations and Soda leave no trace, and the action of a checkpoint reports by itself."""

import os
import subprocess
from pathlib import Path

import pytest

from environments import environment
from fixtures.collectors import collecting
from nightly.mlflow.tracking import ROOT

FOLDER = Path(__file__).parent
UNDO = """
import importlib, sys
from whence_client.captures import Session
from whence_client.quality.{module} import capture
hooked = getattr(importlib.import_module({owner!r}), {name!r})
before = dict(vars(hooked)), dict(vars(sys.modules[{owner!r}]))
undo = capture.install(Session())
capture.install(Session())()
assert dict(vars(hooked)) != before[0]
undo()
assert (dict(vars(hooked)), dict(vars(sys.modules[{owner!r}]))) == before
"""
TOOLS = {
    "great_expectations": ("great_expectations", "ValidationDefinition"),
    "soda": ("soda_core.contracts.impl.contract_verification_impl", "ContractImpl"),
}


def run(tool: str, folder: Path, *words: str, **variables: str) -> None:
    python = environment(tool, FOLDER / f"{tool}.lock") / "bin/python"
    quiet = {"GX_ANALYTICS_ENABLED": "false", "SODA_CORE_TELEMETRY_ENABLED": "false"}
    done = subprocess.run(
        [str(python), *words],
        env={**os.environ, **quiet, "PYTHONPATH": str(ROOT / "client/src"), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_undo_leaves_every_member_as_it_was(tool: str, tmp_path: Path) -> None:
    owner, name = TOOLS[tool]
    run(tool, tmp_path, "-c", UNDO.format(module=tool, owner=owner, name=name))


def test_an_action_reports_tables_and_files_of_a_checkpoint(tmp_path: Path) -> None:
    job = FOLDER / "jobs/great_expectations_job.py"
    with collecting() as collector:
        to = {"WHENCE_URL": collector.url, "WHENCE_OUTBOX": str(tmp_path / "outbox"), "OPENLINEAGE_NAMESPACE": "prod"}
        run("great_expectations", tmp_path, str(job), WITH_ACTION="1", **to)
        reported = {one["job"]["name"]: one["inputs"][0] for one in collector.events}
    assert {name: (one["namespace"], one["name"]) for name, one in reported.items()} == {
        "great_expectations.prod.orders": (f"sqlite://{tmp_path}/prod-shop.db", "orders"),
        "great_expectations.orders of today": ("file", f"{tmp_path}/orders ü.csv"),
    }
    assert b"4711" not in b"".join(collector.bodies)
