"""The Spark that a process would run or already runs: its versions, and whether its JVM can load a listener.

Only `pyspark` itself is asked, because this runs in the user's process.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger(__name__)

_LIBRARY = re.compile(r"scala-library-(\d+\.\d+)\.")
_NEWEST = "2.13"
_WITH_SCALA_2_12 = 3
"""The last major release of Spark whose default build, and PyPI's, is for Scala 2.12."""


def spark_version() -> tuple[int, int] | None:
    """The major and minor version of the installed PySpark; None if there is none, or it has no version."""
    try:
        from pyspark.version import __version__ as version
    except ImportError:
        return None
    found = re.match(r"(\d+)\.(\d+)", str(version))
    return (int(found[1]), int(found[2])) if found else None


def scala_version(spark_home: Path | None = None) -> str:
    """The Scala version (`2.12`, `2.13`) that the installed Spark is built with, by its own jars.

    A listener built for another one ends the SparkContext with a NoSuchMethodError. Where there are no jars: that of
    PyPI's build of the installed PySpark; 2.13 where there is no Spark at all.
    """
    home = spark_home or find_spark_home()
    jars = (home / "jars").glob("scala-library-*.jar") if home else ()
    versions = sorted(found[1] for jar in jars if (found := _LIBRARY.match(jar.name)))
    if versions:
        return versions[-1]
    spark = spark_version()
    return "2.12" if spark and spark[0] <= _WITH_SCALA_2_12 else _NEWEST


def is_remote(options: Mapping[str, str]) -> bool:
    """Whether a session with these options is one of Spark Connect, whose JVM is another process's."""
    named = options.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    mode = options.get("spark.api.mode") or os.environ.get("SPARK_API_MODE", "")
    return bool(named) or mode == "connect"


def running_jvm() -> Any | None:
    """The JVM of this process's Spark, with or without a session; None if none was started yet."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return None
    return getattr(SparkContext, "_jvm", None)


def can_load(jvm: Any, class_name: str) -> bool:
    """Whether a running JVM has a class on its class path."""
    from py4j.protocol import Py4JError

    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(class_name)
    except (Py4JError, OSError) as error:
        _log.debug("%s cannot be loaded: %s", class_name, error)
        return False
    return True


def has_listener(jvm: Any, class_name: str) -> bool | None:
    """Whether the running SparkContext has a listener of this class; None if no SparkContext runs."""
    from pyspark import SparkContext

    active = getattr(SparkContext, "_active_spark_context", None)
    if active is None or jvm is None:
        return None
    return class_name in str(active.getConf().get("spark.extraListeners", ""))


def find_spark_home() -> Path | None:
    """The directory of the Spark that this process would run; None if there is none."""
    try:
        from pyspark.find_spark_home import _find_spark_home
    except ImportError:
        return None
    try:
        return Path(_find_spark_home())
    except SystemExit:  # how it reports that there is none
        return None
