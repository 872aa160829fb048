"""Every query of a walk goes by an index: no table is scanned, before or after ANALYZE."""

from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import Engine, event, text

from query.worlds.churn_story import FEATURES, NOW, WORLD, column, job
from query.worlds.random_worlds import Statement, World, load
from whence.model.graph import ALL_TIME, Direction, Grain, Hop
from whence.model.ids import node_id
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.answers.values import Filter, Question
from whence.query.history.history import history
from whence.query.questions.impact import impact
from whence.query.questions.lineage import downstream, upstream
from whence.query.questions.why import why
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.migrations.migrate import migrate
from whence.store.snapshots.graph import StoreGraph

CHURN = column("predictions", "churn_probability")


def wide(jobs: int = 300, columns: int = 10) -> World:
    """Enough rows that a planner would notice."""
    statements = []
    for number in range(jobs):
        source, target = DatasetName("wide", f"t{number}"), DatasetName("wide", f"t{number + 1}")
        edges = [
            Edge(source=FieldName(source, f"c{c}"), target=FieldName(target, f"c{c}"), type="DIRECT")
            for c in range(columns)
        ]
        statements.append(
            Statement(owner=JobName("wide", f"j{number}"), edges=tuple((edge, Origin.COLUMN) for edge in edges))
        )
    pairs = [(DatasetName("twin", f"a{number}"), DatasetName("twin", f"b{number}")) for number in range(500)]
    return World(statements=(*WORLD.statements, *statements), groups=(*WORLD.groups, *pairs), declared=WORLD.declared)


@pytest.fixture
def store_with_rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = open_store(sqlite_url(tmp_path_factory.mktemp("plans") / "store.db"))
    migrate(engine)
    load(engine, wide())
    yield engine
    engine.dispose()


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("at", [None, NOW])
def test_a_walk_scans_no_table(store_with_rows: Engine, analyzed: bool, at: int | None) -> None:
    if analyzed:
        with writing(store_with_rows) as connection:
            connection.execute(text("ANALYZE"))
    asked: list[tuple[str, Sequence[object]]] = []
    event.listen(store_with_rows, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
    with reading(store_with_rows) as connection:
        upstream(StoreGraph(connection), CHURN, Question(at=at))
        downstream(StoreGraph(connection), column("raw/customers.csv", "id"), Question(at=at))
        StoreGraph(connection).evidence([1, 2], at, 5)
    assert len(asked) > 10
    _check_plans(store_with_rows, asked)


def _check_plans(store: Engine, asked: Sequence[tuple[str, Sequence[object]]]) -> None:
    walked = [one for one in asked if one[0].startswith("SELECT")]
    with store.connect() as connection:
        for statement, parameters in walked:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            scans = [row.detail for row in rows if row.detail.startswith("SCAN") and not _is_parameter(row.detail)]
            built = [row.detail for row in rows if "AUTOMATIC" in row.detail]
            assert not scans + built, f"{statement}\n{[row.detail for row in rows]}"


@pytest.mark.parametrize("analyzed", [False, True])
def test_further_questions_scan_no_table(store_with_rows: Engine, analyzed: bool) -> None:
    if analyzed:
        with writing(store_with_rows) as connection:
            connection.execute(text("ANALYZE"))
    asked: list[tuple[str, Sequence[object]]] = []
    event.listen(store_with_rows, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
    with reading(store_with_rows) as connection:
        graph = StoreGraph(connection)
        impact(graph, DatasetName("wide", "t0"), Question(only=Filter(tags=("pii",)), max_nodes=50)).nodes()
        history(graph, column("gold/features", "avg_minutes"))
        history(graph, job("score"))
        why(graph, column("silver/sessions", "minutes"), CHURN, Question())
        for direction in Direction:
            run_lineage(graph, resolve_run(graph, "22222222-0000-4000-8000-000000000000"), direction)
        graph.present([node_id(CHURN)], None)
        graph.schemas([node_id(FEATURES)])
        graph.held(None, [node_id(job("score"))])
        graph.edges([node_id(CHURN)], Hop(Direction.UPSTREAM, Grain.FIELD, ALL_TIME), 10)
    assert len(asked) > 30
    _check_plans(store_with_rows, asked)


def _is_parameter(detail: str) -> bool:
    """The ids asked for, or what was already found: not a table."""
    return "VIRTUAL TABLE" in detail or detail.startswith(("SCAN anon_", "SCAN (subquery", "SCAN progress"))
