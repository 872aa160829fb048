"""Capture on a Spark session, at no risk to the job: from Python, or by the official OpenLineage listener's jar."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from whence_client.captures.session import process_session
from whence_client.process.settings import FILE, HTTP, OFF, Settings, given_settings
from whence_client.spark.installation import can_load, has_listener, is_remote, running_jvm, spark_version
from whence_client.spark.listener import (
    LISTENER_CLASS,
    fetch_obstacle,
    is_installed,
    release_doubt,
    release_obstacle,
)
from whence_client.spark.properties import JVM_OPTIONS, PACKAGES, Parent, conf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

_LISTS = {PACKAGES: ",", "spark.extraListeners": ",", JVM_OPTIONS: " "}


def attach(
    builder: SparkSession.Builder,
    *,
    url: str = "",
    namespace: str = "",
    api_key: str | None = None,
    app_name: str | None = None,
    parent: Parent | None = None,
    application_run_id: str | None = None,
    events_file: str = "",
    jar: bool = False,
) -> Any:
    """Capture lineage in the sessions of a builder, or in a session that runs already.

    Without `jar`, Python reads the plans: nothing is downloaded, and a running session is as good as a new one. What
    is not given comes from the environment (`OPENLINEAGE_URL`, `WHENCE_API_KEY`, `OPENLINEAGE_PARENT_ID` …).
    `events_file` is a file that gets the events instead of a collector, one JSON document a line.

    With `jar`, the official OpenLineage listener is put on the builder, for applications that run Scala or Java code.
    Call it before the first `getOrCreate()` of the process: Spark loads packages when the JVM starts. The listener is
    the one for the Scala version of the installed Spark.

    If it cannot join, the builder is returned unchanged, and a warning has the reason and the next step.
    """
    try:
        if jar:
            settings = given_settings(url, namespace, api_key, events_file)
            around = parent or process_session().parent()
            return _attach_jar(builder, settings, app_name, around, application_run_id)
        from whence_client.spark.capture.attaching import attach_python

        return attach_python(builder, url, namespace, api_key, app_name, parent, application_run_id, events_file)
    except Exception as error:  # no error here may break the job of the user
        _log.warning("no lineage is captured: %s", error)
        return builder


def _attach_jar(
    builder: SparkSession.Builder,
    settings: Settings,
    app_name: str | None,
    parent: Parent | None,
    application_run_id: str | None,
) -> SparkSession.Builder:
    present: Mapping[str, str] = dict(getattr(builder, "_options", {}))
    if settings.transport == OFF:
        return builder
    if obstacle := _obstacle_of(settings) or _obstacle(present):
        _log.warning("no lineage is captured: %s", obstacle)
        return builder
    lines = conf(
        url=settings.url,
        namespace=settings.namespace,
        api_key=settings.api_key,
        app_name=app_name,
        parent=parent,
        application_run_id=application_run_id,
        events_file=settings.path if settings.transport == FILE else "",
    )
    return _configured(builder, present, lines)


def _configured(
    builder: SparkSession.Builder, present: Mapping[str, str], lines: Mapping[str, str]
) -> SparkSession.Builder:
    for key, value in lines.items():
        if key == PACKAGES and is_installed():
            continue
        builder = builder.config(key, _joined(present.get(key), value, _LISTS[key]) if key in _LISTS else value)
    return builder


def _obstacle_of(settings: Settings) -> str:
    """Why the listener cannot send events where the settings say; empty if it can."""
    if settings.transport in (HTTP, FILE):
        return ""
    return "the listener sends events to a collector or into a file, and not to the console"


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


def _joined(present: str | None, added: str, separator: str) -> str:
    if not present:
        return added
    return present if added in present.split(separator) else f"{present}{separator}{added}"
