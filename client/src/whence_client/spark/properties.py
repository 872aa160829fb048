"""The Spark properties that put the official OpenLineage listener on a session and point it at a collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence_client.events.runs import RunRef
from whence_client.spark.listener import LISTENER_CLASS, listener_package

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINT = "/api/v1/lineage"

PACKAGES = "spark.jars.packages"
JVM_OPTIONS = "spark.driver.defaultJavaOptions"
_TRANSPORT = "spark.openlineage.transport"

# Off: facets that cost a job much and contain no lineage. Everything else from the listener is kept.
_QUIET_FACETS = ("debug", "spark.logicalPlan", "spark_unknown")


Parent = RunRef
"""The run that started this Spark application: it becomes the parent facet of the application's run."""


def conf(
    *,
    url: str,
    namespace: str,
    api_key: str | None = None,
    app_name: str | None = None,
    parent: Parent | None = None,
    application_run_id: str | None = None,
    rdd_events: bool = False,
    scala: str | None = None,
    events_file: str = "",
) -> dict[str, str]:
    """The Spark properties that do what `attach` does.

    `url` is the collector's base address. `app_name` renames the application in events only. `application_run_id` fixes
    the run id of the application (UUID). `rdd_events` also reports jobs outside of Spark SQL; off, because Spark SQL
    itself starts such jobs (file footers, model training) and the listener never completes those. `scala` is the Scala
    version of the Spark that will run ("2.12", "2.13"); that of the installed one if not given. `events_file` is a file
    that gets the events instead of the collector, one JSON document a line.
    """
    return {
        PACKAGES: listener_package(scala),
        "spark.extraListeners": LISTENER_CLASS,
        # The listener defines a class in its connectors' loader; without this it logs a stack trace on Java 17.
        JVM_OPTIONS: "--add-opens=java.base/java.security=ALL-UNNAMED",
        "spark.openlineage.namespace": namespace,
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
        "spark.openlineage.filter.rddEventsDisabled": str(not rdd_events).lower(),
        **{f"spark.openlineage.facets.{facet}.disabled": "true" for facet in _QUIET_FACETS},
        **(_file(events_file) if events_file else _collector(url, api_key)),
        **_circuit_breaker(),
        **({"spark.openlineage.appName": app_name} if app_name else {}),
        **({"spark.openlineage.applicationRunId": application_run_id} if application_run_id else {}),
        **(_parent(parent) if parent else {}),
    }


def properties_file(lines: Mapping[str, str]) -> str:
    """The text of a file for `spark-submit --properties-file`, one property a line."""
    return "".join(f"{key} {value}\n" for key, value in lines.items())


def _file(path: str) -> dict[str, str]:
    return {f"{_TRANSPORT}.type": "file", f"{_TRANSPORT}.location": path}


def _collector(url: str, api_key: str | None) -> dict[str, str]:
    prefix = _TRANSPORT
    lines = {
        f"{prefix}.type": "http",
        f"{prefix}.url": url.rstrip("/"),
        f"{prefix}.endpoint": ENDPOINT,
        f"{prefix}.timeoutInMillis": "5000",
        f"{prefix}.compression": "gzip",
    }
    return {**lines, **({f"{prefix}.auth.type": "api_key", f"{prefix}.auth.apiKey": api_key} if api_key else {})}


def _circuit_breaker() -> dict[str, str]:
    # On the bus's own thread a slow collector makes the listener lag until Spark has forgotten the plan, and events are
    # lost; a hanging one delays the end of the job by 5 s an event. One thread keeps the order.
    prefix = "spark.openlineage.circuitBreaker"
    return {
        f"{prefix}.type": "asyncTaskQueue",
        f"{prefix}.threadCount": "1",
        f"{prefix}.queueSize": "1000",
        f"{prefix}.blockingTimeInSeconds": "0",
        f"{prefix}.shutdownTimeoutSeconds": "10",
    }


def _parent(parent: Parent) -> dict[str, str]:
    root = parent.root or parent
    return {
        "spark.openlineage.parentJobNamespace": parent.namespace,
        "spark.openlineage.parentJobName": parent.job,
        "spark.openlineage.parentRunId": parent.run_id,
        "spark.openlineage.rootParentJobNamespace": root.namespace,
        "spark.openlineage.rootParentJobName": root.job,
        "spark.openlineage.rootParentRunId": root.run_id,
    }
