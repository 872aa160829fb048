"""The checks that are known of datasets: of each job that checks one, what its latest run reported."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from whence.model.ids import node_id
from whence.model.names import DatasetName, RunName
from whence.openlineage.facets.assertions import Assertion
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.data_quality import read_checks

MOST_DATASETS = 50
"""Datasets in one question. Its answer comes from the latest 500 runs that read or wrote one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The checks of a dataset in the latest run of one job that checks it; `time`: of its last event (µs)."""

    dataset: DatasetName
    run: RunName
    time: int
    checks: tuple[Assertion, ...]


def latest_check_reports(connection: Connection, names: Sequence[DatasetName]) -> list[CheckReport]:
    """The reports on datasets, by dataset and job. Datasets without a check are left out."""
    found = read_checks(connection, [node_id(one) for one in names]).found
    datasets = StoreCatalog(connection).entries({one.dataset_id for one in found})
    runs = {row.id: row.name for row in StoreGraph(connection).runs({one.run_id for one in found})}
    reports: dict[tuple[str, str], CheckReport] = {}
    for one in found:
        dataset, run = datasets.get(one.dataset_id), runs.get(one.run_id)
        if dataset is None or run is None or not isinstance(dataset.name, DatasetName):
            continue
        report = CheckReport(dataset=dataset.name, run=run, time=one.time, checks=one.checks)
        reports.setdefault((str(report.dataset), str(run.job)), report)
    return [report for _, report in sorted(reports.items())]
