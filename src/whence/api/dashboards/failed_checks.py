"""Data quality checks (dashboards.md). They may contain any names, so they require access to everything."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from whence.api.auth.guard import Asker
from whence.api.http.dashboard_types import FailedCheck, FailedChecks, FailedIn, answered_with
from whence.api.http.path_names import Plain
from whence.api.http.response_types import All
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, Key, PageLimit, cut, going_on, window
from whence.errors import AccessError
from whence.model.catalog import Entry
from whence.model.graph import RunRow
from whence.model.names import DatasetName, parse_node
from whence.openlineage.facets.assertions import Assertion
from whence.query.answers.instants import iso
from whence.query.rendering.checks import Checked, checked_document
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.checks import MOST_DATASETS, latest_check_reports
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.data_quality import RunFailures, read_failed_checks

routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/failed-checks", responses=answered_with(FailedChecks))
def list_failed_checks(request: Request, viewer: Asker, limit: PageLimit = 50, cursor: Cursor = "") -> Response:
    """List failed data quality assertions by run and dataset, latest first.

    A page checks at most 5,000 runs, so it may have fewer rows than requested, or none, and still a next page.
    """
    if not viewer.can_see_all:
        raise AccessError("failed checks require permission to read all namespaces", 403)
    wanted = window(limit, cursor, (int, int, int))
    with snapshot(request.app.state.engine) as connection:
        failures = read_failed_checks(connection, wanted)
        shown, page = cut(failures.found, limit, _key)
        datasets = StoreCatalog(connection).entries({one.dataset_id for one in shown})
        runs = {row.id: row for row in StoreGraph(connection).runs({one.run_id for one in shown})}
    if failures.looked and page["next"] is None:
        page = going_on(failures.looked, limit)
    rows = [_document(one, datasets, runs) for one in shown if one.dataset_id in datasets and one.run_id in runs]
    return answer({"data": rows, "page": page})


@routes.get("/checks", responses=answered_with(All[Checked]))
def list_checks(
    request: Request, viewer: Asker, node: Annotated[list[Plain], Query(min_length=1, max_length=MOST_DATASETS)]
) -> Response:
    """List the known checks of datasets: of each job that checks one, what its latest run reported.

    The answer comes from the latest 500 runs that read or wrote one of them. Those without a check are left out.
    """
    if not viewer.can_see_all:
        raise AccessError("checks require permission to read all namespaces", 403)
    names = [name for name in map(parse_node, node) if isinstance(name, DatasetName)]
    with snapshot(request.app.state.engine) as connection:
        reports = latest_check_reports(connection, names)
    data = [checked_document(one.dataset, one.run, one.time, one.checks) for one in reports]
    return answer({"data": data, "page": None})


def _key(one: RunFailures) -> Key:
    return one.time, one.run_id, one.dataset_id


def _document(one: RunFailures, datasets: Mapping[int, Entry], runs: Mapping[int, RunRow]) -> FailedIn:
    run = runs[one.run_id].name
    return {
        "dataset": str(datasets[one.dataset_id].name),
        "run": str(run),
        "job": str(run.job),
        "time": iso(one.time),
        "failed": [_check(check) for check in one.failed],
        "held": one.held,
    }


def _check(check: Assertion) -> FailedCheck:
    return {
        "assertion": check.name,
        "column": check.column,
        "severity": check.severity,
        "expected": check.expected,
        "actual": check.actual,
        "failures": check.failures,
    }
