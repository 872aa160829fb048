"""Why a column is wrong: the cause is found in a story of three environments, and nothing hidden is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.worlds.revenue_story import (
    CLEAN,
    ENVIRONMENTS,
    GOLD,
    HOUR,
    PROMO,
    RAW,
    REVENUE,
    SILVER,
    TOTAL,
    run_name,
    table,
)
from query.worlds.revenue_story import job as job_of
from whence.cli.commands.app import app
from whence.errors import QuestionError
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.symptom import Symptom
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.query.answers.instants import iso
from whence.query.answers.values import Question
from whence.query.diagnosis.diagnosis import Diagnosis, diagnose
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.period import Period
from whence.query.history.changes.values import Unknown
from whence.query.rendering.diagnosis import diagnosis_listing
from whence.query.runs.commits import Commit
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

DAYS = 12
LAST = Period(since=(DAYS - 1) * 24 * HOUR, until=DAYS * 24 * HOUR)
GOLDEN = Path(__file__).parent / "diagnosis.txt"


def written(
    job: JobName,
    hour: int,
    to: DatasetName,
    column: str,
    type_: str,
    nulls: int | None,
    sources: tuple[FieldName, ...] = (),
    rows: int = 1_000,
) -> bytes:
    """A run that wrote a dataset of one column, with the number of its rows and (if counted) of its nulls."""
    measured = {"rowCount": rows, "columnMetrics": {} if nulls is None else {column: {"nullCount": nulls}}}
    target = FieldName(to, column)
    output = dataset(
        to,
        facets={
            "schema": facet("SchemaDatasetFacet", fields=[{"name": column, "type": type_}]),
            "columnLineage": column_lineage(
                Edge(source=one, target=target, type="DIRECT", subtype="IDENTITY") for one in sources
            ),
        },
        outputFacets={"dataQualityMetrics": facet("DataQualityMetricsInputDatasetFacet", **measured)},
    )
    inputs = [dataset(one.dataset) for one in sources]
    done = run_event(hour * HOUR, RunState.COMPLETE, run_name(job, hour), inputs=inputs, outputs=[output])
    return json.dumps(done).encode()


def days(of: str, *, broken: bool, is_measured: bool = True) -> list[bytes]:
    """A run of each job every day. On the last day, if it is broken, the type of a raw column differs: nulls follow."""
    raw, silver, gold, promo = (table(of, one.name) for one in (RAW, SILVER, GOLD, PROMO))
    ingest, clean, revenue = (job_of(of, name) for name in ("ingest", CLEAN.name, REVENUE.name))
    events = []
    for day in range(DAYS):
        at, bad = 24 * day, broken and day == DAYS - 1
        noise = day % 3
        nulls = 600 if bad else 10 + noise
        rows = 1_000 + 7 * noise
        amount, net, discount = FieldName(raw, "amount"), FieldName(silver, "net"), FieldName(promo, "discount")
        events += [
            written(ingest, at + 1, raw, "amount", "varchar" if bad else "int", nulls, rows=rows),
            written(job_of(of, "promo"), at + 2, promo, "discount", "int", 5 + noise, rows=rows),
            written(clean, at + 3, silver, "net", "int", nulls if is_measured else None, (amount, discount), rows),
            written(revenue, at + 4, gold, "total", "int", nulls, (net,), rows),
        ]
    return events


EVENTS = [event for of in ENVIRONMENTS for event in days(of, broken=of == "prod", is_measured=of != "prod")]


def ask(
    engine: Engine,
    node: Node = TOTAL,
    symptom: Symptom | None = None,
    viewer: Viewer | None = None,
    period: Period = LAST,
    **question: Any,
) -> Diagnosis:
    with reading(engine) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        shown = graph if viewer is None else seen_by(viewer, b"secret", graph)
        contracts = EvaluatedContracts(catalog, shown)
        if isinstance(shown, VisibleGraph) and viewer is not None:
            scoped = StoreCatalog(connection, scope=scope_of(viewer, catalog.every_namespace()))
            contracts = EvaluatedContracts(VisibleCatalog(shown.visible_ids, scoped), shown)
        return diagnose(shown, contracts, node, period, Question(**question), symptom)


def test_the_dataset_whose_column_changed_is_first_with_its_evidence_and_path(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store)
    first = found.causes[0]
    assert (found.symptom, found.is_seen, found.has_evidence) == (Symptom.NULLS, True, True)
    assert (first.dataset, first.distance, first.path) == (RAW, 2, (RAW, SILVER, GOLD))
    assert first.probability > 0.5
    assert [one.kind for one in first.evidence] == ["anomaly", "schema"]
    assert first.evidence[1].text == "column amount changed from int to varchar"
    assert first.evidence[1].event is not None
    assert first.evidence[0].text == "59.2 % nulls in amount, expected about 1.09 % from 11 earlier values"
    assert sum(one.probability for one in found.causes) == pytest.approx(1, abs=0.01)


def test_a_dataset_without_the_measurement_is_not_known_and_would_decide(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store)
    assert (found.unmeasured, found.unmeasured_total) == ((SILVER,), 1)
    assert found.deciding is not None
    assert (found.deciding.dataset, found.deciding.metrics) == (SILVER, ("rowCount", "nullCount of net"))


def test_another_environment_is_untouched_and_says_that_nothing_is_unusual(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store, FieldName(table("staging", GOLD.name), "total"))
    assert not found.has_evidence
    assert not found.is_seen
    assert {one.dataset.namespace for one in found.causes} == {"postgres://staging:5432"}


def test_the_symptom_decides_what_counts_as_measured(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store, symptom=Symptom.VOLUME)
    assert (found.symptom, found.is_seen, found.unmeasured_total) == (Symptom.VOLUME, False, 0)
    assert found.deciding is None


def test_the_order_of_arrival_does_not_matter(store: Engine, tmp_path: Path) -> None:
    apply_bodies(store, EVENTS)
    other = open_migrated(sqlite_url(tmp_path / "other.db"))
    apply_bodies(other, EVENTS[::-1])
    first, second = ask(store), ask(other)
    other.dispose()
    assert [(one.dataset, one.probability, one.path) for one in first.causes] == [
        (one.dataset, one.probability, one.path) for one in second.causes
    ]


def test_a_job_is_refused(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    with pytest.raises(QuestionError, match="ask for a dataset or a column"):
        ask(store, REVENUE)


def test_a_node_budget_is_said(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store, GOLD, max_nodes=1)
    assert (found.completeness.complete, found.completeness.stopped_by) == (False, "nodes")


def test_hidden_datasets_are_counted_and_never_named(store: Engine) -> None:
    secret = DatasetName("postgres://secret:5432", "hidden.payroll")
    feed = written(job_of("staging", "feed"), 300, secret, "pay", "int", 1)
    leak = written(job_of("prod", "leak"), 301, RAW, "amount", "int", 9, (FieldName(secret, "pay"),))
    apply_bodies(store, [*EVENTS, feed, leak])
    whole = Period(since=LAST.since, until=400 * HOUR)
    ada = Viewer(
        name="user:ada",
        grants=(Grant(Role.READER, "postgres://prod:5432"), Grant(Role.READER, "spark-prod")),
        hidings=(),
    )
    seen, everything = ask(store, viewer=ada, period=whole), ask(store, period=whole)
    text = json.dumps(diagnosis_listing(seen).document())
    assert secret in {one.dataset for one in everything.causes}
    assert "secret" not in text
    assert "payroll" not in text
    assert seen.completeness.hidden_nodes > 0


def test_text_and_json_for_people_and_programs(tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    apply_bodies(engine, EVENTS)
    engine.dispose()
    asked = ["diagnose", str(TOTAL), "--since", iso(LAST.since), "--until", iso(LAST.until), "--data", str(tmp_path)]
    text = CliRunner().invoke(app, asked)
    document = CliRunner().invoke(app, [*asked, "--output", "json"])
    assert text.exit_code == document.exit_code == 0, text.output + document.output
    assert text.stdout == GOLDEN.read_text("utf-8")
    found = json.loads(document.stdout)
    assert found["causes"][0]["node"] == str(RAW)
    assert found["causes"][0]["path"] == [str(RAW), str(SILVER), str(GOLD)]


def test_that_a_dataset_began_in_the_period_is_no_change_of_it(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    of_all = Period(since=0, until=LAST.until)
    found = ask(store, period=of_all)
    texts = [fact.text for one in found.causes for fact in one.evidence]
    assert found.causes[0].dataset == RAW
    assert "column amount changed from int to varchar" in texts
    assert not [text for text in texts if "added" in text]


def test_what_a_dataset_gets_after_its_first_run_is_a_change(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    later = written(CLEAN, 24 * DAYS - 20, SILVER, "net", "int", None, (FieldName(PROMO, "rebate"),))
    apply_bodies(store, [later])
    for since in (0, LAST.since):
        found = ask(store, period=Period(since=since, until=LAST.until))
        (silver,) = (one for one in found.causes if one.dataset == SILVER)
        assert "lineage from raw.promo.rebate was added" in "; ".join(one.text for one in silver.evidence)


def with_version(body: bytes, version: str) -> bytes:
    """The same event of a job whose code has a version."""
    event = json.loads(body)
    code = facet("SourceCodeLocationJobFacet", type="git", url="https://git.example/data", version=version)
    event["job"]["facets"] = {"sourceCodeLocation": code}
    return json.dumps(event).encode()


def test_another_version_of_the_code_right_before_the_symptom_is_listed_as_evidence(store: Engine) -> None:
    """Nulls begin in both sources of `gold`; the job of one of them began to run another version that day."""
    total = FieldName(GOLD, "total")
    jobs = {SILVER: CLEAN, PROMO: job_of("prod", "promo")}
    landed = {name: FieldName(DatasetName(name.namespace, f"landing.{name.name}"), "amount") for name in jobs}
    events, commits = list[bytes](), dict[int, Commit]()
    for day in range(DAYS):
        at, nulls = 24 * day, 600 if day == DAYS - 1 else 10 + day % 3
        for place, (name, job) in enumerate(jobs.items(), 1):
            version = "b2" if name == PROMO and day == DAYS - 1 else "a1"
            events.append(
                with_version(written(job, at + place, name, "amount", "int", nulls, (landed[name],)), version)
            )
            commits[node_id(run_name(job, at + place))] = Commit(version=version, url="")
        sources = tuple(FieldName(name, "amount") for name in jobs)
        events.append(written(REVENUE, at + 4, GOLD, "total", "int", nulls, sources))
    apply_bodies(store, events)

    def causes(read_commits: ReadCommits | None) -> Diagnosis:
        with reading(store) as connection:
            graph = StoreGraph(connection)
            contracts = EvaluatedContracts(StoreCatalog(connection), graph)
            return diagnose(graph, contracts, total, LAST, Question(), Symptom.NULLS, read_commits)

    def probability(found: Diagnosis, name: DatasetName) -> float:
        return next(one.probability for one in found.causes if one.dataset == name)

    found = causes(lambda ids: {id_: commits[id_] for id_ in ids if id_ in commits})
    cause = next(one for one in found.causes if one.dataset == PROMO)
    (change,) = (one for one in cause.evidence if one.kind == "code")
    assert change.text == "code of job promo changed from a1 to b2"
    assert change.event is not None
    unread = causes(None)
    assert probability(found, PROMO) == probability(unread, PROMO)
    assert [one.reason for one in unread.not_known if one.reason is Unknown.COMMITS] == [Unknown.COMMITS]
    assert Unknown.COMMITS not in {one.reason for one in found.not_known}
