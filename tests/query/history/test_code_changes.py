"""When a job began to run another version of its code: by the commits of its runs, of which few are read."""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.query.answers.values import Question
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.period import Period
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.changes.values import ChangeKind, Unknown, UpstreamChanges
from whence.query.runs.commits import Commit
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
RAW, GOLD = (DatasetName("postgres://prod:5432", name) for name in ("raw", "gold"))
BUILD = JobName("airflow", "build")


def run_name(hour: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{hour:012}", BUILD)


def ran(hour: int, version: str) -> bytes:
    event = run_event(hour * HOUR, RunState.COMPLETE, run_name(hour), inputs=[dataset(RAW)], outputs=[dataset(GOLD)])
    event["job"]["facets"] = {
        "sourceCodeLocation": facet("SourceCodeLocationJobFacet", type="git", url="", version=version)
    }
    return json.dumps(event).encode()


class Log:
    """What the events of runs say, and how many were asked for."""

    def __init__(self, versions: Mapping[int, str]) -> None:
        self.versions = {node_id(run_name(hour)): version for hour, version in versions.items()}
        self.asked = 0

    def __call__(self, ids: Sequence[int]) -> Mapping[int, Commit]:
        self.asked += len(ids)
        return {id_: Commit(version=self.versions[id_], url="") for id_ in ids if id_ in self.versions}


def ask(store: Engine, log: ReadCommits | None, since: int, until: int = 1_000) -> UpstreamChanges:
    with reading(store) as connection:
        graph = StoreGraph(connection)
        contracts = EvaluatedContracts(StoreCatalog(connection), graph)
        period = Period(since=since * HOUR, until=until * HOUR)
        return upstream_changes(graph, contracts, GOLD, period, Question(), read_commits=log)


def turns(found: UpstreamChanges) -> list[tuple[int, str, str]]:
    code = [one for one in found.changes if one.kind is ChangeKind.CODE]
    assert {one.node for one in code} <= {BUILD}
    assert all(one.run is not None and one.event is not None for one in code)
    return [(one.time // HOUR, one.parts[0].before, one.parts[0].after) for one in code]


def test_each_version_begins_where_it_ran_first_and_few_runs_are_read(store: Engine) -> None:
    versions = {hour: "a" if hour < 70 else "b" if hour < 71 else "c" for hour in range(1, 129)}
    apply_bodies(store, [ran(*one) for one in versions.items()])
    log = Log(versions)
    found = ask(store, log, since=10)
    assert turns(found) == [(71, "b", "c"), (70, "a", "b")]
    assert found.completeness.complete
    assert log.asked < 20
    assert turns(ask(store, log, since=70)) == [(71, "b", "c")]
    assert turns(ask(store, log, since=10, until=70)) == [(70, "a", "b")]
    assert turns(ask(store, log, since=80)) == []
    # The first version of all is no change.
    assert turns(ask(store, log, since=0, until=60)) == []


def test_that_versions_are_not_known_is_said(store: Engine) -> None:
    versions = {hour: "a" if hour < 5 else "b" for hour in range(1, 10)}
    apply_bodies(store, [ran(*one) for one in versions.items()])
    del versions[1]
    for log in (Log(versions), None):
        found = ask(store, log, since=1)
        assert [(one.reason, one.nodes) for one in found.not_known if one.reason is Unknown.COMMITS] == [
            (Unknown.COMMITS, (BUILD,))
        ]
        assert (found.completeness.complete, found.completeness.stopped_by) == (False, "commits")
        assert turns(found) == []
    assert turns(ask(store, Log(versions), since=2)) == [(5, "a", "b")]


def test_a_job_that_reports_no_version_is_not_asked_for(store: Engine) -> None:
    event = run_event(2 * HOUR, RunState.COMPLETE, run_name(2), inputs=[dataset(RAW)], outputs=[dataset(GOLD)])
    apply_bodies(store, [json.dumps(event).encode()])
    log = Log({})
    assert ask(store, log, since=1).completeness.complete
    assert log.asked == 0
