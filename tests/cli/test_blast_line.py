"""The blast radius under a downstream answer, as text and as JSON, and only where it is true of the answer."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, update

from fixtures.migrated_stores import open_migrated
from query.worlds.churn_story import WORLD, column
from query.worlds.random_worlds import POSITION, load
from whence.cli.answers.ask import QuestionCommand, show_downstream
from whence.cli.answers.listing import radius_line
from whence.cli.answers.local.store import StoreQuestions
from whence.cli.output.streams import Rows
from whence.client.values.graph import BlastRadius, Count
from whence.model.blast_radius import COUNTED
from whence.model.ids import node_id
from whence.store.connection.engine import sqlite_url, writing
from whence.store.graph.blast_radius import Generation, begin, publish, write_rows
from whence.store.schema.tables import progress

MINUTE = 60_000_000
ASKED = "churn_probability"


@pytest.fixture
def churn(tmp_path: Path) -> Engine:
    """The churn story, counted."""
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    load(engine, WORLD)
    return engine


def count(engine: Engine, row: tuple[int, ...]) -> None:
    number = begin(engine)
    write_rows(engine, number, [(node_id(column("predictions", ASKED)), *row)])
    publish(engine, Generation(number, f"log={POSITION}", 1_763_000_000_000_000, 0.0627, "graph"), rows=1)


def shown(engine: Engine, capsys: pytest.CaptureFixture[str], output: Rows, as_of: str | None = None) -> str:
    show_downstream(QuestionCommand(questions=StoreQuestions(str(engine.url)), output=output), ASKED, as_of=as_of)
    return capsys.readouterr().out


def test_counts_stand_under_the_answer(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    count(churn, (3, 1_204, 1, 0, 0, 0b010))
    last = shown(churn, capsys, Rows.TEXT).splitlines()[-1]
    assert last.startswith("Blast radius: 3 datasets, 1,204 fields ±6%, 1 job (counted ")
    assert last.endswith("ago).")


def test_counts_are_in_the_document(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    count(churn, (3, 1_204, 1, 0, 0, 0b010))
    radius = json.loads(shown(churn, capsys, Rows.JSON))["blast_radius"]
    assert radius == {
        "datasets": {"count": 3, "relative_error": 0.0},
        "fields": {"count": 1_204, "relative_error": 0.0627},
        "jobs": {"count": 1, "relative_error": 0.0},
        "dashboards": {"count": 0, "relative_error": 0.0},
        "models": {"count": 0, "relative_error": 0.0},
        "computed_at": "2025-11-13T02:13:20Z",
        "current": True,
    }


def test_events_since_are_admitted(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    count(churn, (3, 0, 0, 0, 0, 0))
    with writing(churn) as connection:
        connection.execute(update(progress).values(position=POSITION + 1))
    assert not json.loads(shown(churn, capsys, Rows.JSON))["blast_radius"]["current"]
    assert shown(churn, capsys, Rows.TEXT).splitlines()[-1].endswith("ago, before the latest events).")


def test_another_lane_of_the_log_counts_as_events_since(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    count(churn, (3, 0, 0, 0, 0, 0))
    with writing(churn) as connection:
        connection.execute(insert(progress), {"name": "other", "position": 1})
    assert not json.loads(shown(churn, capsys, Rows.JSON))["blast_radius"]["current"]


def test_nothing_is_said_before_it_is_counted_or_of_the_past(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Blast" not in shown(churn, capsys, Rows.TEXT)
    assert json.loads(shown(churn, capsys, Rows.JSON))["blast_radius"] is None
    count(churn, (3, 0, 0, 0, 0, 0))
    assert "Blast" not in shown(churn, capsys, Rows.TEXT, "2025-11-13T02:13:20Z")


def test_nothing_is_said_that_later_events_may_contradict(churn: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    count(churn, (0, 0, 0, 0, 0, 0))
    assert "Blast radius: nothing" in shown(churn, capsys, Rows.TEXT)
    with writing(churn) as connection:
        connection.execute(insert(progress), {"name": "other", "position": 1})
    assert "Blast" not in shown(churn, capsys, Rows.TEXT)


def test_nothing_downstream_is_said_so() -> None:
    none = dict.fromkeys(COUNTED, Count(count=0, relative_error=0.0))
    radius = BlastRadius(**none, computed_at="1970-01-01T00:00:00Z", current=True)
    assert radius_line(radius, 5 * MINUTE).plain == "Blast radius: nothing (counted 5 min ago)."
