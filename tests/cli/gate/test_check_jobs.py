"""Jobs that only check a dataset are tests of it: a change does not affect them."""

import pytest
from sqlalchemy import Engine

from cli.gate.test_promotion import CLEAN, FEATURES, LINEAGE, RAW, checked, run, table
from fixtures.stores_of_events import apply_bodies
from whence.cli.answers.local.store import StoreQuestions
from whence.cli.gate.production import QueriedProduction
from whence.govern.gate.project import Project
from whence.govern.gate.walk import assess
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import JobName, Node

SODA, NOTEBOOK = JobName("prod", "soda"), JobName("prod", "notebook")


@pytest.fixture
def shop(sqlite_store: Engine) -> str:
    """A clean table that a Soda scan checks, a notebook reads, one job checks and writes on, and one reads
    beside a table that it checks.
    """
    scans = [
        run("soda", [checked(CLEAN, held=True)], [], 7),
        run("notebook", [table(CLEAN, "a")], [], 8),
        run("reads_and_checks", [table(CLEAN, "a"), checked(RAW, held=True)], [], 10),
        run("checks_and_writes", [checked(CLEAN, held=True)], [table(FEATURES, "x")], 9),
    ]
    apply_bodies(sqlite_store, [*LINEAGE, *scans])
    return str(sqlite_store.url)


def affected(questions: StoreQuestions, column: str | None) -> set[Node]:
    """All that a removed column, or any change of the whole table, affects, and the jobs that read it."""
    change = ColumnChange(dataset=CLEAN, column=column, kind=ChangeKind.REMOVED)
    (one,) = assess([change], QueriedProduction(questions=questions), Project()).changes
    return {*one.impact.subjects, *(reader.job for reader in one.impact.readers)}


@pytest.mark.parametrize("column", [None, "a"])
def test_a_job_that_only_checks_is_not_affected(shop: str, column: str | None) -> None:
    found = affected(StoreQuestions(shop), column)
    assert SODA not in found
    others = {JobName("prod", name) for name in ("checks_and_writes", "reads_and_checks")}
    assert {NOTEBOOK, FEATURES, *others} <= found
