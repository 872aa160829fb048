"""Jobs that read a dataset only to check it are tests of it: a change does not affect them."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from sqlalchemy import Engine

from cli.gate.test_promotion import CLEAN, FEATURES, LINEAGE, checked, run, table
from fixtures.stores_of_events import apply_bodies
from whence.cli.answers.store import StoreQuestions
from whence.cli.gate.production import QueriedProduction
from whence.client.values import CheckedDataset
from whence.errors import AccessError
from whence.govern.gate.project import Project
from whence.govern.gate.walk import assess
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import JobName, Node

SODA, NOTEBOOK = JobName("prod", "soda"), JobName("prod", "notebook")


@pytest.fixture
def shop(sqlite_store: Engine) -> str:
    """A clean table that a Soda scan checks, a notebook reads, and one job checks and writes on."""
    scans = [
        run("soda", [checked(CLEAN, held=True)], [], 7),
        run("notebook", [table(CLEAN, "a")], [], 8),
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
    assert {NOTEBOOK, FEATURES, JobName("prod", "checks_and_writes")} <= found


@dataclass(frozen=True, slots=True)
class Restricted(StoreQuestions):
    """The questions of a key that may not read all namespaces."""

    def checks(self, datasets: Sequence[str]) -> tuple[CheckedDataset, ...]:
        raise AccessError("checks need all namespaces")


def test_without_the_checks_such_a_job_stays(shop: str) -> None:
    assert SODA in affected(Restricted(shop), "a")
