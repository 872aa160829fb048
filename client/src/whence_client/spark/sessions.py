"""The capture of the sessions that a program makes, without a call of `attach`: `whence run` installs it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.patches import Patches, hook_once
from whence_client.spark.installation import has_listener, running_jvm
from whence_client.spark.listener import LISTENER_CLASS

if TYPE_CHECKING:
    from whence_client.captures.naming import Naming
    from whence_client.captures.session import Session
    from whence_client.events.facets import Event
    from whence_client.spark.capture.events import Application, Execution
    from whence_client.spark.capture.records import Query
    from whence_client.spark.plan.relations import Context

_PACKAGES = ("pyspark", "pyspark-client", "databricks-connect")


@dataclass(frozen=True)
class Written:
    """A query that wrote something, and what its application knows."""

    query: Query
    execution: Execution
    application: Application
    context: Context


class SparkSessions:
    """Every session that a builder makes, unless `attach` or the official listener captures it."""

    name = "spark"
    kind = ATTACH
    versions = Versions("3.4.0", "4.3.0")

    def check(self) -> Findings:
        """Whether PySpark is there, and of a release that is known."""
        found = (check_package(one, self.versions) for one in _PACKAGES)
        return next((one for one in found if one.version), check_package(_PACKAGES[0], self.versions))

    def translate(self, record: Written, naming: Naming) -> Iterable[Event]:
        """The events of one query."""
        from whence_client.spark.capture.events import query_events

        return query_events(record.query, record.execution, record.application, record.context)

    def install(self, session: Session) -> Undo:
        """Hook the builder of sessions, which the job has imported."""
        builder = sys.modules["pyspark.sql.session"].SparkSession.Builder
        return hook_once(builder, lambda: _hook(builder, session, self.name))


def _hook(owner: Any, session: Session, name: str) -> Undo:
    from whence_client.spark.capture.attaching import capture_session, is_attached

    def observe(spark: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not is_attached(args[0]) and not has_listener(running_jvm(), LISTENER_CLASS):
            capture_session(spark, session, args[0])

    patches = Patches(session.guard(name))
    patches.observe(owner, "getOrCreate", observe)
    return patches.undo


capture = SparkSessions()
