"""Run the demo's pipeline, from raw CSV to predictions; each stage is a Spark application."""

import argparse
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pyspark.ml.classification import LogisticRegressionModel
from pyspark.sql import DataFrame, SparkSession

from whence.capture.java import java_home
from whence.demo import call_lists, checks, declare, facts, raw, stages
from whence_client.outbox import Outbox
from whence_client.process.settings import read_settings
from whence_client.spark import Parent, attach

SOURCES: Mapping[str, tuple[str, ...]] = {
    "crm_export": raw.columns(raw.Customer),
    "usage_logs": raw.columns(raw.Login),
    "support_tickets": raw.columns(raw.Ticket),
}

_FLUSH_SECONDS = 60.0

_SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Short jobs: the second compiler and a parallel collector cost more than they save.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
}


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run of the pipeline: which code it runs, and whether its raw data has lost the times of logins.

    `earlier_exports`: how many exports came before, which were checked and never processed.
    """

    variant: stages.Variant
    lost_logins: bool = False
    earlier_exports: int = 0


RUNS: Mapping[str, RunPlan] = {
    "first": RunPlan("first"),
    "altered": RunPlan("altered"),
    "week": RunPlan("first", earlier_exports=6),
    "null-burst": RunPlan("first", lost_logins=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One run of the pipeline: where its data lies and where its events go."""

    data: Path
    url: str
    namespace: str
    api_key: str | None
    plan: RunPlan
    run: Parent
    outbox: Outbox

    def path(self, *parts: str) -> str:
        """The path of a dataset, which is also its OpenLineage name in the namespace `file`."""
        return str(self.data.joinpath(*parts))


@dataclass(frozen=True, slots=True)
class Stage:
    """One running Spark application of the pipeline."""

    spark: SparkSession

    def read(self, path: str) -> DataFrame:
        """A dataset that an earlier stage wrote."""
        return self.spark.read.parquet(path)


def main() -> None:
    """Run the pipeline from the command line."""
    arguments = _arguments()
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for name in arguments.run:
        if arguments.stepwise and not sys.stdin.readline():
            return
        run_pipeline(
            arguments.data.resolve(),
            url=arguments.url,
            plan=RUNS[name],
            namespace=arguments.namespace,
            api_key=arguments.api_key,
        )


def run_pipeline(data: Path, *, url: str, plan: RunPlan, namespace: str = "demo", api_key: str | None = None) -> None:
    """Run all stages once, publish the scores, and report all of it to the collector at `url`.

    The datasets are written below `data`.
    """
    pipeline = Pipeline(
        data=data,
        url=url,
        namespace=namespace,
        api_key=api_key,
        plan=plan,
        run=Parent(namespace=namespace, job="churn_pipeline", run_id=str(uuid.uuid4())),
        outbox=Outbox(replace(read_settings(), url=url, api_key=api_key or "", namespace=namespace)),
    )
    try:
        _run_stages(pipeline)
    finally:
        if not pipeline.outbox.flush(_FLUSH_SECONDS):
            _print_line(f"events wait for the collector: {pipeline.outbox.status().problem}")


def _run_stages(pipeline: Pipeline) -> None:
    data = pipeline.data
    for event in facts.fact_events(data, time.time_ns() // 1_000):
        pipeline.outbox.emit(event)
    pipeline.outbox.emit(declare.start_event(pipeline.run, _now()))
    try:
        for day in range(1, pipeline.plan.earlier_exports + 1):
            raw.write_raw(data / "raw", seed=raw.SEED + day)
            _report_checks(pipeline, "churn_checks", _check_raw)
        raw.write_raw(data / "raw", lost_logins=pipeline.plan.lost_logins)
        _report_checks(pipeline, "churn_checks", _check_raw)
        for name, work in STAGES.items():
            _run_stage(pipeline, name, work)
        _report_checks(pipeline, "churn_result_checks", _check_results)
    except Exception as error:
        pipeline.outbox.emit(declare.failure_event(pipeline.run, _now(), error))
        raise
    pipeline.outbox.emit(declare.complete_event(pipeline.run, _now()))
    _print_line(f"publish: {call_lists.publish_scores(data, pipeline.outbox)}")


def _check_raw(pipeline: Pipeline) -> Mapping[str, checks.Found]:
    customers, sessions = (checks.read_csv(pipeline.data / "raw" / name) for name in ("crm_export", "usage_logs"))
    return {
        "raw/crm_export": checks.Found(measured=checks.measure(customers), checks=checks.check_customers(customers)),
        "raw/usage_logs": checks.Found(measured=checks.measure(sessions), checks=checks.check_sessions(sessions)),
    }


def _check_results(pipeline: Pipeline) -> Mapping[str, checks.Found]:
    paths = ("silver/sessions", "gold/features", "gold/predictions")
    read = {path: checks.read_parquet(pipeline.data / path) for path in paths}
    return {
        path: checks.Found(measured=checks.measure(rows), checks=checks.check_keys(rows)) for path, rows in read.items()
    }


def _report_checks(pipeline: Pipeline, job: str, find: Callable[[Pipeline], Mapping[str, checks.Found]]) -> None:
    """Report a run of a job that finds out something about datasets, named by their paths."""
    run = Parent(namespace=pipeline.namespace, job=job, run_id=str(uuid.uuid4()), root=pipeline.run)
    pipeline.outbox.emit(declare.check_event(run, pipeline.run, "START", _now()))
    found = {pipeline.path(path): one for path, one in find(pipeline).items()}
    pipeline.outbox.emit(declare.check_event(run, pipeline.run, "COMPLETE", _now(), found))


def ingest(pipeline: Pipeline, stage: Stage) -> None:
    """Raw CSV to bronze."""
    for source, columns in SOURCES.items():
        schema = ", ".join(f"{column} string" for column in columns)
        rows = stage.spark.read.schema(schema).option("header", True).csv(pipeline.path("raw", source))
        _write(stages.bronze(rows), pipeline.path("bronze", source))


def clean(pipeline: Pipeline, stage: Stage) -> None:
    """Bronze to silver."""
    for source, target, shape in (
        ("crm_export", "customers", stages.silver_customers),
        ("usage_logs", "sessions", stages.silver_sessions),
        ("support_tickets", "tickets", stages.silver_tickets),
    ):
        _write(shape(stage.read(pipeline.path("bronze", source))), pipeline.path("silver", target))


def features(pipeline: Pipeline, stage: Stage) -> None:
    """Silver to features."""
    customers, sessions, tickets = (
        stage.read(pipeline.path("silver", table)) for table in ("customers", "sessions", "tickets")
    )
    _write(stages.features(customers, sessions, tickets, pipeline.plan.variant), pipeline.path("gold", "features"))


def train(pipeline: Pipeline, stage: Stage) -> None:
    """Features to a model."""
    source, target = pipeline.path("gold", "features"), pipeline.path("models", "churn")
    stages.train(stage.read(source)).write().overwrite().save(target)


def score(pipeline: Pipeline, stage: Stage) -> None:
    """Features and a model to predictions."""
    model, target = pipeline.path("models", "churn"), pipeline.path("gold", "predictions")
    loaded = LogisticRegressionModel.load(model)
    _write(stages.predictions(loaded, stage.read(pipeline.path("gold", "features"))), target)


STAGES: Mapping[str, Callable[[Pipeline, Stage], None]] = {
    "churn_ingest": ingest,
    "churn_clean": clean,
    "churn_features": features,
    "churn_train": train,
    "churn_score": score,
}


def _run_stage(pipeline: Pipeline, name: str, work: Callable[[Pipeline, Stage], None]) -> None:
    started = time.monotonic()
    with _application(pipeline, name) as stage:
        work(pipeline, stage)
    _print_line(f"{name}: {time.monotonic() - started:.1f} s")


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def _application(pipeline: Pipeline, name: str) -> Iterator[Stage]:
    builder = SparkSession.builder.appName(name).config("spark.sql.warehouse.dir", pipeline.path("warehouse"))
    for key, value in _SPARK.items():
        builder = builder.config(key, value)
    builder = attach(
        builder,
        url=pipeline.url,
        namespace=pipeline.namespace,
        api_key=pipeline.api_key,
        parent=pipeline.run,
    )
    spark = builder.getOrCreate()
    try:
        yield Stage(spark)
    finally:
        spark.stop()


def _now() -> datetime:
    return datetime.now(UTC)


def _write(rows: DataFrame, path: str) -> None:
    rows.write.mode("overwrite").parquet(path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m whence.demo.pipeline", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory for the pipeline's data")
    parser.add_argument("--url", required=True, help="base address of the collector")
    parser.add_argument(
        "--run",
        choices=tuple(RUNS),
        default=["first"],
        nargs="+",
        help="the runs, one after the other: the first code, or the altered; after a week of exports; with nulls",
    )
    parser.add_argument("--stepwise", action="store_true", help="wait for a line of input before each run")
    parser.add_argument("--namespace", default="demo", help="OpenLineage namespace of the jobs")
    parser.add_argument("--api-key", default=os.environ.get("WHENCE_API_KEY"), help="key for the collector")
    return parser.parse_args()


if __name__ == "__main__":
    main()
