"""`whence diagnose MODEL`: which data drifted, and which contract broke the model."""

import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from security.incidents.test_contract_findings import contracted
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, own_facet, run_event
from whence.store.connection.engine import sqlite_url

HOUR = 3_600_000_000
CRM, USAGE, COUNTRIES = (DatasetName("hr", name) for name in ("crm.customers", "web.usage", "ref.countries"))
FEATURES, MODEL = DatasetName("ml", "features"), DatasetName("ml", "models.churn")
RULE = {"rule": "tenure is known", "column": "tenure", "metric": "nullValues", "operators": {"mustBe": 0}}


def story(now: int) -> Iterator[bytes]:
    """Two weeks of a model; on the last day values of usage are others, and a rule of the contract of CRM is broken."""
    dice = random.Random(1)
    yield contracted(CRM, now - 400 * HOUR, "tenure", quality=[RULE])
    for day in range(14, 0, -1):
        at, is_bad = now - (day * 24 - 6) * HOUR, day == 1
        minutes = {"nullCount": 0, "count": 5_000, "sum": (250_000 + dice.randrange(2_000)) * (2.4 if is_bad else 1)}
        yield wrote(day * 10, at, CRM, (), measured(1_000, tenure={"nullCount": 240 if is_bad else 0}))
        yield wrote(day * 10 + 1, at, USAGE, (), measured(5_000, minutes=minutes))
        yield wrote(day * 10 + 2, at, COUNTRIES, (), measured(200, country={"nullCount": 0}))
        yield wrote(day * 10 + 3, at + HOUR, FEATURES, (CRM, USAGE, COUNTRIES), {})
        type_ = {"datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL")}
        yield wrote(day * 10 + 4, at + 2 * HOUR, MODEL, (FEATURES,), type_)


def measured(rows: int, **columns: dict[str, Any]) -> dict[str, Any]:
    return {"dataQualityMetrics": own_facet("DataQualityMetrics", rowCount=rows, columnMetrics=columns)}


def wrote(number: int, at: int, out: DatasetName, inputs: Sequence[DatasetName], facets: dict[str, Any]) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"make {out.name}"))
    ends = list(map(dataset, inputs))
    event = run_event(at, RunState.COMPLETE, run, inputs=ends, outputs=[dataset(out, facets=facets)])
    return json.dumps(event).encode()


def test_the_drifted_data_and_the_broken_contract_are_named(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url)
    apply_bodies(engine, list(story(time.time_ns() // 1_000)))
    engine.dispose()
    answer = CliRunner().invoke(app, ["diagnose", "models.churn", "--since", "2d", "--store", url, "--output", "json"])
    assert answer.exit_code in (Exit.OK, Exit.CUT), answer.output
    causes = json.loads(answer.stdout)["causes"]
    evidence = {one["node"]: json.dumps(one["evidence"]) for one in causes}
    assert "mean of minutes" in evidence[str(USAGE)]
    assert "tenure is known" in evidence[str(CRM)]
    assert {causes[0]["node"], causes[1]["node"]} == {str(CRM), str(USAGE)}
    assert "minutes" not in evidence.get(str(COUNTRIES), "")
