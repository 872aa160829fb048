"""Putting the Python capture on a builder or a running session, with settings from the call or the environment."""

from __future__ import annotations

import os
import sys
from types import MethodType
from typing import TYPE_CHECKING, Any

from whence_client.captures.session import Session
from whence_client.outbox import Outbox
from whence_client.process.settings import given_settings
from whence_client.spark.capture.capture import NAME, Names
from whence_client.spark.capture.listener import install
from whence_client.spark.connect.hooks import install_remote

if TYPE_CHECKING:
    from whence_client.events.runs import RunRef

_UNNAMED = ("", "pyspark-shell", "PySparkShell", "Spark shell")
"""What Spark calls an application that nobody named."""


def attach_python(
    target: Any,
    url: str,
    namespace: str,
    api_key: str | None,
    app_name: str | None,
    parent: RunRef | None,
    application_run_id: str | None,
    events_file: str,
) -> Any:
    """Put the capture on a session, or on the sessions that a builder will make. Returns the argument."""
    session = Session(Outbox(given_settings(url, namespace, api_key, events_file)))

    def start(spark: Any) -> None:
        around = parent or session.parent()
        name = app_name or _name_of(spark, _given_name(target))
        names = Names(session.naming().namespace, name, around, application_run_id or "")
        session.guard(NAME).run("attach", _install, spark, session, names)

    if is_session(target):
        start(target)
        return target
    _wrap_builder(target, start)
    return target


def capture_session(spark: Any, session: Session, builder: Any) -> None:
    """Put the capture of a process on a session that its builder has just made or found.

    An application without a name of its own is called as the script is: then it is the run around it.
    """
    name = _name_of(spark, _given_name(builder))
    _install(spark, session, Names(session.naming().namespace, name, session.parent(), is_automatic=True))


def is_session(target: Any) -> bool:
    """Whether this is a session, here or of Spark Connect; else it is a builder."""
    return hasattr(target, "_jsparkSession") or _is_remote_session(target)


def is_attached(builder: Any) -> bool:
    """Whether `attach` was called for a builder."""
    return "getOrCreate" in vars(builder)


def _install(spark: Any, session: Session, names: Names) -> None:
    put = install_remote if _is_remote_session(spark) else install
    put(spark, session, names)


def _given_name(builder: Any) -> str:
    return str(getattr(builder, "_options", {}).get("spark.app.name", ""))


def _wrap_builder(builder: Any, start: Any) -> None:
    original = builder.getOrCreate

    def get_or_create(self: Any) -> Any:
        spark = original()
        if is_session(spark):
            start(spark)
        return spark

    builder.getOrCreate = MethodType(get_or_create, builder)


def _is_remote_session(target: Any) -> bool:
    """Whether this is a session of Spark Connect, here or of Databricks."""
    return hasattr(type(target), "sql") and hasattr(getattr(target, "_client", None), "execute_command")


def _name_of(spark: Any, given: str = "") -> str:
    """The application's name; that of the script if it has none. `given` is what the builder of a session says."""
    name = given if _is_remote_session(spark) else str(spark.sparkContext.appName)
    if name not in _UNNAMED:
        return name
    path = getattr(sys.modules.get("__main__"), "__file__", "") or ""
    return os.path.splitext(os.path.basename(path))[0] or name or "spark"
