"""Random pipelines of PySpark: which inputs move which outputs, against the lineage that the Python capture sent.

First all pipelines run under the capture, then all run again, without it, over inputs with one column changed.
"""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from client.tests.frames.interventions.draws import Unfit
from client.tests.frames.interventions.tables import write_tables
from client.tests.frames.interventions.trials import Engine, Outputs, Pipeline, Trial, compose, observe, summarize
from nightly.interventions.spark_steps import STEPS
from whence.capture.java import java_home
from whence_client.spark import attach

log = logging.getLogger(__name__)

PIPELINES = 200


def open_session(events: Path | None) -> SparkSession:
    """A small local session, captured into a file if one is given."""
    builder = SparkSession.builder.master("local[1]").appName("trials").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    builder = builder.config("spark.sql.codegen.wholeStage", "false").config(
        "spark.sql.codegen.factoryMode", "NO_CODEGEN"
    )
    builder = builder.config("spark.sql.ansi.enabled", "false")
    session: SparkSession = (
        attach(builder, namespace="dev", events_file=str(events)) if events else builder
    ).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _read(path: Path) -> Any:
    return SparkSession.active().read.parquet(str(path))


def _show(frame: Any) -> Outputs:
    """The values of each column, in no order."""
    rows = frame.collect()
    return {name: sorted(repr(row[at]) for row in rows) for at, name in enumerate(frame.columns)}


def _write(frame: Any, path: Path) -> None:
    frame.write.mode("overwrite").parquet(str(path))


ERRORS = (Unfit, PySparkException, KeyError, IndexError, TypeError, ValueError)
SPARK = Engine(STEPS, _read, _write, _show, ERRORS)


def test_every_influence_that_is_seen_is_in_the_lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home() or ""))
    session = open_session(tmp_path / "events")
    captured: list[tuple[Pipeline, Outputs]] = []
    for seed in range(PIPELINES):
        (tmp_path / str(seed)).mkdir()
        pipeline = Pipeline(SPARK, seed, tmp_path / str(seed))
        write_tables(pipeline.folder, pipeline.tables)
        try:
            last = pipeline.run()
            captured.append((pipeline, _show(last)))
            _write(last, pipeline.folder / "out.parquet")
        except ERRORS:
            captured = [one for one in captured if one[0] is not pipeline]
    session.stop()
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    session = open_session(None)
    trials: list[Trial] = []
    for pipeline, before in captured:
        own = [one for one in events if _is_written_below(pipeline.folder, one)]
        trials.append(observe(pipeline, before, compose(own)))
    session.stop()
    log.info("%s", summarize(trials))
    assert [one for one in trials if one.missed] == []
    assert len(trials) > PIPELINES * 0.5
    assert sum(one.seen for one in trials) > PIPELINES * 5


def _is_written_below(folder: Path, event: Any) -> bool:
    outputs = event.get("outputs") or [{"name": ""}]
    return event["eventType"] == "COMPLETE" and str(outputs[0]["name"]).startswith(f"{folder}/")
