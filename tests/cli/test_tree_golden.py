"""Trees as people see them: the churn story at a fixed time, hostile names, narrow screens, plain ASCII."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from query.worlds.churn_story import NOW, WORLD, column, direct, job
from query.worlds.random_worlds import Statement, World, load
from whence.cli.answers.listing import found_lines, path_lines
from whence.cli.answers.local.options import answer_of
from whence.cli.answers.tree import ASCII, Style, tree
from whence.cli.output.labels import age
from whence.cli.output.streams import print_lines, safe
from whence.client.answers.graph import Lineage, Paths
from whence.client.answers.search import Found
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.answers.values import Question
from whence.query.lookup.resolve import resolve
from whence.query.lookup.search import search
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.questions.paths import paths
from whence.query.rendering.listings import found_listing, lineage_listing, paths_listing
from whence.query.traversal.result import TraversalResult
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.graph import StoreGraph

STYLE = Style(now=NOW, width=80)
HOSTILE = "\x1b[31mred\x1b[0m\r\n[bold]not bold[/bold] \u202egnp.\u202c \x9b2J \x00\u2028"


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Engine]:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    load(engine, WORLD)
    yield engine
    engine.dispose()


def of_walk(found: TraversalResult) -> Lineage:
    return answer_of(lineage_listing(found), Lineage)


def upstream_text(engine: Engine, node: str, question: Question, style: Style = STYLE) -> str:
    with reading(engine) as connection:
        graph = StoreGraph(connection)
        answer = of_walk(reach_upstream(graph, resolve(graph, node), question))
    return "\n".join(line.plain.rstrip() for line in tree(answer, style))


def test_where_a_prediction_comes_from(sqlite_store: Engine) -> None:
    assert (
        upstream_text(sqlite_store, "predictions.churn_probability", Question())
        == """\
predictions.churn_probability  upstream, DIRECT only
│ score · run 44444444 running, 3 min ago · not confirmed
├─ gold.features.avg_minutes  ← predict()  TRANSFORMATION  = /lake/gold/features
│  │ build_features · run 22222222, 5 min ago
│  └─ sessions.minutes  ← avg(minutes)  AGGREGATION
│     └┈ ? clean_sessions derives it from usage_logs; its columns are not known
└─ model  ← predict()  TRANSFORMATION
   │ train_model · run 33333333, 4 min ago
   ├─ gold.features.avg_minutes  ← TRANSFORMATION ↑
   └─ gold.features.email_hash  ← TRANSFORMATION
      │ build_features · run 22222222, 5 min ago
      └─ customers.email  ← sha2(email, 256)  TRANSFORMATION masked

Not complete: 6 nodes, 6 edges, 3 hops.
Columns not known: some jobs report whole datasets only, at sessions.minutes."""
    )


def test_what_a_raw_file_feeds(sqlite_store: Engine) -> None:
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection)
        answer = of_walk(reach_downstream(graph, resolve(graph, "usage_logs"), Question()))
    assert (
        "\n".join(line.plain for line in tree(answer, STYLE))
        == """\
usage_logs  downstream
│ clean_sessions · run 11111111, 5 h ago
└┈ sessions  → inferred
   │ build_features · run 22222222, 5 min ago
   └─ gold.features  → DIRECT, INDIRECT  = /lake/gold/features
      │ score · run 44444444 running, 3 min ago · not confirmed
      ├─ predictions  → DIRECT
      │  └─ report  job that reads it · run 0b5ba1e0, 20 s ago
      │ train_model · run 33333333, 4 min ago
      └─ model  → DIRECT
         │ score · run 44444444 running, 3 min ago · not confirmed
         └─ predictions  → DIRECT ↑

Complete: 6 nodes, 6 edges, 4 hops."""
    )


def test_influence_is_dashed_and_a_stop_is_said(sqlite_store: Engine) -> None:
    question = Question(depth=2, types=frozenset({"DIRECT", "INDIRECT"}), at=NOW)
    text = upstream_text(sqlite_store, "churn_probability", question, Style(now=NOW, width=80, glyphs=ASCII))
    assert (
        text
        == """\
predictions.churn_probability  upstream, as of 2026-11-18T11:06:40Z
| score, run 44444444 running, 3 min ago, not confirmed
|- gold.features.avg_minutes  <- predict()  TRANSFORMATION  = /lake/gold/features
|  | build_features, run 22222222, 5 min ago
|  |- sessions.minutes  <- avg(minutes)  AGGREGATION
|  |  `. ? clean_sessions derives it from usage_logs; its columns are not known
|  |~ customers.id  <- INDIRECT JOIN (all columns)
|  `~ sessions.customer_id  <- INDIRECT JOIN (all columns)
|     `. ? clean_sessions derives it from usage_logs; its columns are not known
`- model  <- predict()  TRANSFORMATION
   | train_model, run 33333333, 4 min ago
   |- gold.features.avg_minutes  <- TRANSFORMATION ^
   `- gold.features.email_hash  <- TRANSFORMATION ...
      | build_features, run 22222222, 5 min ago
      |~ customers.id  <- INDIRECT JOIN (all columns)
      `~ sessions.customer_id  <- INDIRECT JOIN (all columns) ^

Stopped at the depth asked for: 7 nodes, 7 edges, 2 hops as of 2026-11-18T11:06:40Z. \
There is more beyond gold.features.email_hash.
Columns not known: some jobs report whole datasets only, at sessions.customer_id, sessions.minutes."""
    )


def test_nothing_known(sqlite_store: Engine) -> None:
    assert (
        upstream_text(sqlite_store, "usage_logs", Question())
        == """\
usage_logs  upstream

Complete: nothing upstream is known."""
    )


def test_paths_and_search(sqlite_store: Engine) -> None:
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection)
        ends = resolve(graph, "customers.email"), resolve(graph, "model")
        found = answer_of(paths_listing(paths(graph, *ends, Question())), Paths)
        named = answer_of(found_listing(search(graph, "churn")), Found)
    assert (
        "\n".join(line.plain for line in path_lines(found, STYLE))
        == """\
1. 2 hops, DIRECT TRANSFORMATION, masked
customers.email
│ build_features · run 22222222, 5 min ago
└─ gold.features.email_hash  → sha2(email, 256)  TRANSFORMATION masked
   │ train_model · run 33333333, 4 min ago
   └─ model  → TRANSFORMATION

Complete: 1 path from customers.email to model."""
    )
    assert [line.plain for line in found_lines(named, 50)] == [
        "field   datasetField:file:/lake/predictions:churn_probability"
    ]


def test_expressions_give_way_on_narrow_screens(sqlite_store: Engine) -> None:
    long = "case when " + " and ".join(f"minutes > {number}" for number in range(50)) + " then 1 else 0 end"
    statement = Statement(
        owner=job("j"), edges=(direct(column("a", "x"), column("b", "y"), "TRANSFORMATION", long),), start=NOW
    )
    load(sqlite_store, World(statements=(statement,)))
    for width in (80, 120):
        lines = upstream_text(sqlite_store, "b.y", Question(), Style(now=NOW, width=width)).splitlines()
        assert len(lines[2]) == width
        assert lines[2].startswith("└─ a.x  ← case when minutes > 0 and")
        assert lines[2].endswith("…  TRANSFORMATION")
    assert long in upstream_text(sqlite_store, "b.y", Question(), Style(now=NOW))


def test_hostile_names_cannot_command_a_terminal(sqlite_store: Engine) -> None:
    evil = DatasetName(HOSTILE, HOSTILE)
    edge = direct(FieldName(evil, HOSTILE), FieldName(evil, "y"), HOSTILE, HOSTILE)
    load(sqlite_store, World(statements=(Statement(owner=JobName(HOSTILE, HOSTILE), edges=(edge,), start=NOW),)))
    out = StringIO()
    console = Console(file=out, force_terminal=False, highlight=False)
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection)
        print_lines(tree(of_walk(reach_upstream(graph, FieldName(evil, "y"), Question())), STYLE), console)
        between = paths(graph, FieldName(evil, HOSTILE), FieldName(evil, "y"), Question())
        print_lines(path_lines(answer_of(paths_listing(between), Paths), STYLE), console)
        print_lines(found_lines(answer_of(found_listing(search(graph, "bold")), Found), 50), console)
    shown = out.getvalue()
    assert "[bold]not bold[/bold]" in shown
    assert r"\x1b[31mred\x1b[0m\r\n" in shown
    assert all(letter == "\n" or letter.isprintable() for letter in shown)


def test_safe_text_is_left_alone() -> None:
    assert safe("gold.daily_revenue Ärger 数据 é") == "gold.daily_revenue Ärger 数据 é"
    assert safe("a\tb\u200bc\ud800") == r"a\tb\u200bc\ud800"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "just now"),
        (0, "just now"),
        (1, "1 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7_300, "2 h ago"),
        (86_400, "1 day ago"),
        (10**6, "11 days ago"),
    ],
)
def test_ages(seconds: int, expected: str) -> None:
    assert age(seconds * 1_000_000) == expected
