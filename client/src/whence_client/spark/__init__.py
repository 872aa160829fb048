"""Put the official OpenLineage listener on a Spark session and point it at a collector, at no risk to the job."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence_client.spark.installation import can_load, has_listener, is_remote, running_jvm, spark_version
from whence_client.spark.listener import (
    LISTENER_CLASS,
    LISTENER_VERSION,
    fetch_obstacle,
    is_installed,
    listener_package,
    release_doubt,
    release_obstacle,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

__all__ = ["LISTENER_CLASS", "LISTENER_VERSION", "Parent", "attach", "conf", "properties_file"]

_log = logging.getLogger(__name__)

ENDPOINT = "/api/v1/lineage"

_PACKAGES = "spark.jars.packages"
_JVM_OPTIONS = "spark.driver.defaultJavaOptions"
_LISTS = {_PACKAGES: ",", "spark.extraListeners": ",", _JVM_OPTIONS: " "}

# Off: facets that cost a job much and tell lineage nothing. Everything else the listener says is kept.
_QUIET_FACETS = ("debug", "spark.logicalPlan", "spark_unknown")


@dataclass(frozen=True)
class Parent:
    """The run that started this Spark application: it becomes the parent facet of the application's run."""

    namespace: str
    job: str
    run_id: str
    root: Parent | None = None


def attach(
    builder: SparkSession.Builder,
    *,
    url: str,
    namespace: str,
    api_key: str | None = None,
    app_name: str | None = None,
    parent: Parent | None = None,
    application_run_id: str | None = None,
) -> SparkSession.Builder:
    """Add the listener to a session that is yet to be built. Packages and listeners already on the builder stay.

    Call it before the first `getOrCreate()` of the process: Spark loads packages when the JVM starts. The listener is
    the one for the Scala version of the installed Spark. Where it cannot join, for whatever reason, the builder is
    returned as it is, and a warning says why and what to do. The arguments are those of `conf`.
    """
    try:
        present: Mapping[str, str] = dict(getattr(builder, "_options", {}))
        if obstacle := _obstacle(present):
            _log.warning("no lineage is captured: %s", obstacle)
            return builder
        lines = conf(
            url=url,
            namespace=namespace,
            api_key=api_key,
            app_name=app_name,
            parent=parent,
            application_run_id=application_run_id,
        )
        return _configured(builder, present, lines)
    except Exception as error:  # the job is not ours to break, whatever goes wrong here
        _log.warning("no lineage is captured: %s", error)
        return builder


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
) -> dict[str, str]:
    """The Spark properties that do what `attach` does.

    `url` is the collector's base address. `app_name` renames the application in events only. `application_run_id` fixes
    the run id of the application (UUID). `rdd_events` also reports jobs outside of Spark SQL; off, because Spark SQL
    itself starts such jobs (file footers, model training) and the listener never completes those. `scala` is the Scala
    version of the Spark that will run ("2.12", "2.13"); that of the installed one if not given.
    """
    return {
        _PACKAGES: listener_package(scala),
        "spark.extraListeners": LISTENER_CLASS,
        # The listener defines a class in its connectors' loader; without this it logs a stack trace on Java 17.
        _JVM_OPTIONS: "--add-opens=java.base/java.security=ALL-UNNAMED",
        "spark.openlineage.namespace": namespace,
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
        "spark.openlineage.filter.rddEventsDisabled": str(not rdd_events).lower(),
        **{f"spark.openlineage.facets.{facet}.disabled": "true" for facet in _QUIET_FACETS},
        **_transport(url, api_key),
        **_circuit_breaker(),
        **({"spark.openlineage.appName": app_name} if app_name else {}),
        **({"spark.openlineage.applicationRunId": application_run_id} if application_run_id else {}),
        **(_parent(parent) if parent else {}),
    }


def properties_file(lines: Mapping[str, str]) -> str:
    """The text of a file for `spark-submit --properties-file`, one property a line."""
    return "".join(f"{key} {value}\n" for key, value in lines.items())


def _configured(
    builder: SparkSession.Builder, present: Mapping[str, str], lines: Mapping[str, str]
) -> SparkSession.Builder:
    for key, value in lines.items():
        if key == _PACKAGES and is_installed():
            continue
        builder = builder.config(key, _joined(present.get(key), value, _LISTS[key]) if key in _LISTS else value)
    return builder


def _obstacle(options: Mapping[str, str]) -> str:
    """Why the listener cannot join the session that these options ask for; empty if it can."""
    if is_remote(options):
        return "this is Spark Connect; put the listener on its server, with the lines of whence_client.spark.conf"
    release = spark_version()
    if doubt := release_doubt(release):
        _log.warning("%s; lineage may be incomplete", doubt)
    jvm = running_jvm()
    if jvm is None:
        return release_obstacle(release) or ("" if is_installed() else fetch_obstacle(options))
    if has_listener(jvm, LISTENER_CLASS) is False:
        return "a session already runs without the listener; call attach before the first session of the process"
    if not can_load(jvm, LISTENER_CLASS):
        return "Spark's JVM already runs without the listener; restart the process, or set spark.jars.packages for it"
    return ""


def _transport(url: str, api_key: str | None) -> dict[str, str]:
    prefix = "spark.openlineage.transport"
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


def _joined(present: str | None, added: str, separator: str) -> str:
    if not present:
        return added
    return present if added in present.split(separator) else f"{present}{separator}{added}"
