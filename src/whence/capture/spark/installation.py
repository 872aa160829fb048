"""The Spark that a process would run or already runs: its Scala version, and whether its JVM can load a listener.

Only `pyspark` itself is asked, because this runs in the user's process.
"""

import logging
import re
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)

_LIBRARY = re.compile(r"scala-library-(\d+\.\d+)\.")
_NEWEST = "2.13"


def scala_version(spark_home: Path | None = None) -> str:
    """The Scala version (`2.12`, `2.13`) that the installed Spark is built with, by its own jars.

    A listener built for another one ends the SparkContext with a NoSuchMethodError. 2.13 where no Spark is found.
    """
    home = spark_home or _spark_home()
    jars = (home / "jars").glob("scala-library-*.jar") if home else ()
    versions = sorted(found[1] for jar in jars if (found := _LIBRARY.match(jar.name)))
    return versions[-1] if versions else _NEWEST


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


def _spark_home() -> Path | None:
    try:
        from pyspark.find_spark_home import _find_spark_home
    except ImportError:
        return None
    try:
        return Path(_find_spark_home())
    except SystemExit:  # how it reports that there is none
        return None
