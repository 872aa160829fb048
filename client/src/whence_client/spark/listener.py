"""Which build of the official OpenLineage listener fits a Spark, and whether that Spark will get hold of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from whence_client.spark.installation import find_spark_home, scala_version

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTENER_VERSION = "1.53.0"
LISTENER_CLASS = "io.openlineage.spark.agent.OpenLineageSparkListener"

OLDEST, NEWEST = (3, 3), (4, 3)
"""The releases of Spark that this listener was run with: docs/reference/compatibility.md."""

_GROUP = "io.openlineage"
_CENTRAL = "https://repo1.maven.org/maven2"
_CENTRAL_SECONDS = 5.0

_OWN_SOURCES = ("spark.jars.repositories", "spark.jars.ivySettings", "spark.jars.ivy")
"""Settings for other sources of jars: then Spark resolves them."""


def listener_package(scala: str | None = None) -> str:
    """The Maven coordinates of the listener for a Scala version; for that of the installed Spark if not given."""
    return f"{_GROUP}:{_artifact(scala or scala_version())}:{LISTENER_VERSION}"


def release_obstacle(spark: tuple[int, int] | None) -> str:
    """Why the listener cannot run in this release of Spark; empty if it can, or if that is unknown."""
    if spark is None or spark >= OLDEST:
        return ""
    return f"Spark {_dotted(spark)} is older than {_dotted(OLDEST)}, the oldest that the listener is tested with"


def release_doubt(spark: tuple[int, int] | None) -> str:
    """A notice for a release that is newer than all tested ones; empty if it is not."""
    if spark is None or spark <= NEWEST:
        return ""
    return f"Spark {_dotted(spark)} is newer than {_dotted(NEWEST)}, the newest that the listener is tested with"


def fetch_obstacle(options: Mapping[str, str]) -> str:
    """Why Spark would not start for want of the listener's jar; empty if it has it, can fetch it, or it is unknown.

    Spark ends the user's process when a package of `spark.jars.packages` cannot be resolved. `options` are the
    session's.
    """
    artifact = _artifact(scala_version())
    if any(options.get(one) for one in _OWN_SOURCES) or _has_proxy(options):
        return ""
    if _is_cached(artifact) or _is_at_central(artifact):
        return ""
    return (
        f"{artifact}-{LISTENER_VERSION}.jar is not in the Ivy cache and Maven Central does not answer; put the jar "
        "into the directory jars of Spark, or say where it is with spark.jars.repositories"
    )


def is_installed() -> bool:
    """Whether the installed Spark has the listener among its own jars."""
    home = find_spark_home()
    return bool(home) and any((Path(str(home)) / "jars").glob("openlineage-spark*.jar"))


def _artifact(scala: str) -> str:
    return f"openlineage-spark_{scala}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _has_proxy(options: Mapping[str, str]) -> bool:
    """Whether the JVM uses a proxy, which this process cannot use."""
    jvm_options = [os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")]
    jvm_options += [value for name, value in options.items() if "JavaOptions" in name]
    return any("proxyHost" in option for option in jvm_options)


def _is_cached(artifact: str) -> bool:
    file = f"{artifact}-{LISTENER_VERSION}.jar"
    ivy = f".ivy2*/cache/{_GROUP}/{artifact}/jars/{file}"
    maven = f".m2/repository/{_GROUP.replace('.', '/')}/{artifact}/{LISTENER_VERSION}/{file}"
    try:
        return any(any(Path.home().glob(one)) for one in (ivy, maven))
    except (OSError, RuntimeError):  # a home that cannot be read, or none
        return False


def _is_at_central(artifact: str) -> bool:
    import urllib.request

    path = f"{_GROUP.replace('.', '/')}/{artifact}/{LISTENER_VERSION}/{artifact}-{LISTENER_VERSION}.jar"
    request = urllib.request.Request(f"{_CENTRAL}/{path}", method="HEAD")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # as the JVM will ask
    try:
        with direct.open(request, timeout=_CENTRAL_SECONDS) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
