"""Histories and differences as people see them: short, distinct names, and no owner that the line above has."""

from typing import Any

from whence.cli.answers.changes import diff_lines, history_lines, run_lines
from whence.cli.answers.timeline import timeline_lines
from whence.cli.answers.tree import ASCII, Style
from whence.client.answers.history import ChangesUpstream, Diff, History, RunLineage
from whence.client.values.graph import Completeness
from whence.client.values.history import Change, Commit, Handover, ReachedRun, State, Version
from whence.client.values.timeline import ChangedPart, ChangeUpstream

STYLE = Style(now=0)
LAKE = "file:/home/ada/data/churn"
JOB = "job:demo:churn_features.execute_insert_into_hadoop_fs_relation_command.gold_features"
WHOLE = Completeness(
    complete=True,
    stopped_by=None,
    depth_reached=0,
    frontier=(),
    frontier_nodes=0,
    hidden_nodes=0,
    as_of=None,
    graph_version="1",
    forgotten_before=None,
    recorded_from=None,
)


def transformations(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"type": type_, "subtype": subtype, "description": "", "masking": False} for type_, subtype in pairs]


def edge(change: str, source: str, target: str, *, before: Any = (), after: Any = (), owner: str = JOB) -> Change:
    return Change(
        change=change, what="edge", node=None, source=source, target=target, owner=owner, before=before, after=after
    )


def node(what: str, name: str) -> Change:
    return Change(change="added", what=what, node=name, source=None, target=None, owner=None, before=(), after=())


PRIORITY = f"datasetField:{LAKE}/silver/tickets:priority"
CUSTOMER = f"datasetField:{LAKE}/silver/customers:customer_id"
FEATURES = f"dataset:{LAKE}/gold/features"
FILTERED = edge("added", PRIORITY, FEATURES, after=transformations(("INDIRECT", "FILTER")))
JOINED = edge(
    "changed",
    CUSTOMER,
    FEATURES,
    before=transformations(("INDIRECT", "JOIN")),
    after=transformations(("INDIRECT", "FILTER"), ("INDIRECT", "JOIN")),
)
WRITTEN = edge("removed", JOB, FEATURES, before=transformations(("UNKNOWN", "")))
READ = edge("added", f"dataset:{LAKE}/silver/tickets", JOB, after=transformations(("UNKNOWN", "")))


def version(kind: str, *changes: Change, said_by: str = JOB) -> Version:
    return Version(
        kind=kind,
        since="2026-11-25T18:00:00Z",
        until="2026-11-25T19:00:00Z" if kind == "schema" else None,
        said_by=said_by,
        aspect="observed",
        confirmed=True,
        run=None,
        event=None,
        size=1,
        changes=changes,
    )


def test_a_history_names_each_edge_shortly_and_its_owner_once() -> None:
    column = Change(
        change="added", what="column", node="tenure", source=None, target=None, owner=None, before=None, after="integer"
    )
    versions = (version("lineage", FILTERED, JOINED, WRITTEN), version("schema", column, said_by=FEATURES))
    found = History(node=FEATURES, kind="dataset", completeness=WHOLE, versions=versions)
    assert [line.plain for line in history_lines(found, STYLE)] == [
        f"{FEATURES}  history",
        "2026-11-25T18:00:00Z to now  churn_features…gold_features observed  by a forgotten event",
        "  + tickets.priority -> features  INDIRECT FILTER",
        "  ~ customers.customer_id -> features  INDIRECT FILTER, INDIRECT JOIN (was INDIRECT JOIN)",
        "  - churn_features…gold_features -> features  output",
        "schema of features, first reported 2026-11-25T18:00:00Z, last 2026-11-25T19:00:00Z  1 column",
        "  + tenure  integer",
        "Complete.",
    ]


def test_a_difference_names_the_owner_of_each_edge() -> None:
    state = State(as_of=None, graph_version="1")
    found = Diff(before=state, after=state, counts={}, completeness=WHOLE, changes=(FILTERED, READ))
    assert [line.plain for line in diff_lines(found, Style(now=0, glyphs=ASCII))] == [
        f"  + tickets.priority -> features  INDIRECT FILTER  (churn_features{ASCII.more}gold_features)",
        f"  + tickets -> churn_features{ASCII.more}gold_features  input  (churn_features{ASCII.more}gold_features)",
        "2 changes: 2 edges.",
    ]


def test_a_difference_counts_its_nodes_and_names_them_shortly() -> None:
    state = State(as_of=None, graph_version="1")
    nodes = (
        node("field", "datasetField:db:shop.public.refunds:amount"),
        node("dataset", "dataset:db:shop.public.refunds"),
    )
    found = Diff(before=state, after=state, counts={}, completeness=WHOLE, changes=(*nodes, FILTERED))
    assert [line.plain for line in diff_lines(found, STYLE)] == [
        "  + dataset public.refunds",
        "  + column public.refunds.amount",
        "  + tickets.priority -> features  INDIRECT FILTER  (churn_features…gold_features)",
        "3 changes: 1 column, 1 dataset, 1 edge.",
    ]


def test_datasets_of_one_name_stay_distinct_and_hostile_names_harmless() -> None:
    state = State(as_of=None, graph_version="1")
    changes = (
        edge("added", "dataset:sqlite://crm-prod:main.calls", "dataset:sqlite://crm-staging:main.calls"),
        edge("added", "dataset:db:a.evil\x1b[31m", "job:demo:two\nlines", owner="job:demo:two\nlines"),
    )
    found = Diff(before=state, after=state, counts={}, completeness=WHOLE, changes=changes)
    first, second, _ = (line.plain for line in diff_lines(found, STYLE))
    assert "crm-prod.main.calls -> crm-staging.main.calls" in first
    assert "\x1b" not in second
    assert "\n" not in second


def reached(run: str, depth: int, commit: Commit | None) -> ReachedRun:
    return ReachedRun(
        run=run,
        job=JOB,
        depth=depth,
        state="COMPLETE",
        began_at=None,
        ended_at=None,
        commit=commit,
        reads=(),
        writes=(),
    )


def test_runs_are_shown_with_short_commits_and_datasets() -> None:
    reader, writer = (f"run:{digits * 8}-0000-4000-8000-000000000000" for digits in "ab")
    hashed = Commit(version="c0ffee00" * 5, url="", branch="")
    tagged = Commit(version="v1.2", url="", branch="")
    found = RunLineage(
        root=reader,
        job=JOB,
        direction="upstream",
        completeness=WHOLE,
        runs=(reached(reader, 0, tagged), reached(writer, 1, hashed)),
        handovers=(Handover(reader=reader, writer=writer, dataset=FEATURES, at="2026-11-25T18:00:00Z"),),
        origins=(),
    )
    assert [line.plain for line in run_lines(found, STYLE)] == [
        f"   0  {JOB}  {reader} COMPLETE  at v1.2",
        f"   1  {JOB}  {writer} COMPLETE  at c0ffee00",
        "      wrote features for run aaaaaaaa",
        "Complete.",
    ]


def test_the_longest_kind_of_a_change_is_apart_from_the_name() -> None:
    def entry(kind: str, change: str, part: ChangedPart, distance: int) -> ChangeUpstream:
        return ChangeUpstream(
            time="2026-11-29T10:42:34.000000Z",
            kind=kind,
            change=change,
            node=PRIORITY,
            distance=distance,
            parts=(part,),
            job=None,
            run=None,
            event=None,
        )

    violated = ChangedPart(change="violated", name="web/there", end=None, before="holds", after="70 %")
    renamed = ChangedPart(change="renamed", name="priority", end=None, before="urgency", after="priority")
    found = ChangesUpstream(
        node=FEATURES,
        since="2026-11-28",
        until="2026-11-29",
        changes=(entry("objective", "violated", violated, 2), entry("schema", "renamed", renamed, 1)),
        datasets=3,
        jobs=2,
        not_known=(),
        completeness=WHOLE,
    )
    assert [line.plain for line in timeline_lines(found, 20, STYLE)] == [
        "features  changes from 2026-11-28 to 2026-11-29",
        "2026-11-29T10:42:34  objective  tickets.priority  began to miss an objective  2 hops upstream",
        "    ! web/there  holds to 70 %",
        "2026-11-29T10:42:34  schema     tickets.priority  has another name  1 hop upstream",
        "    ~ priority  was urgency",
        "2 changes in 3 datasets and 2 jobs.",
    ]
