"""Structured Streaming: what a stream reads and writes, and its start and end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whence_client.spark.capture.reading import read_plan
from whence_client.spark.capture.records import Target
from whence_client.spark.capture.scala import call, class_name, read_map
from whence_client.spark.capture.tables import name_kafka, name_path

if TYPE_CHECKING:
    from whence_client.spark.capture.capture import SparkCapture
    from whence_client.spark.capture.records import Query

STREAM = "stream"
_PATH_OF_SINK = re.compile(r"(?:FileSink|DeltaSink)\[(.+)\]$", re.DOTALL)


def make_listener(spark: Any, capture: SparkCapture) -> Any:
    """A `StreamingQueryListener` of PySpark that reports to the capture."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class StreamListener(StreamingQueryListener):
        """Called by Spark: at the start in the thread of `start()`, later on a bus of its own."""

        def onQueryStarted(self, event: Any) -> None:
            capture.note_stream_start(str(event.runId), find_stream(spark, str(event.id)))

        def onQueryProgress(self, event: Any) -> None:
            """Nothing: the lineage of a stream does not change with its batches."""

        def onQueryIdle(self, event: Any) -> None:
            """Nothing."""

        def onQueryTerminated(self, event: Any) -> None:
            capture.note_stream_end(str(event.runId), event.exception)

    return StreamListener()


def find_stream(spark: Any, number: str) -> Any:
    """The Java object of a running stream; None if it has ended already."""
    query = spark.streams.get(number)
    wrapped = getattr(query, "_jsq", None)
    return call(wrapped, "streamingQuery") if wrapped is not None else None


def read_stream(stream: Any) -> Query:
    """The record of a stream. It has no target if its sink is `foreachBatch`, the console or memory."""
    plan = stream.analyzedPlan()
    session = call(stream, "sparkSession")
    return read_plan(STREAM, STREAM, plan, session, _read_sink(stream))


def _read_sink(stream: Any) -> Target | None:
    sink = stream.sink()
    if found := _PATH_OF_SINK.match(str(sink.toString())):
        return Target(name_path(found[1]))
    if "kafka" in class_name(sink).lower():
        options = _options(stream)
        topics = name_kafka(read_map(options, "kafka.bootstrap.servers"), read_map(options, "topic")) if options else ()
        return Target(topics[0]) if topics else None
    properties = call(sink, "properties")
    location = properties.get("location") if properties is not None else None
    return Target(name_path(str(location))) if location else None


def _options(stream: Any) -> Any:
    """The options of `writeStream`, which the stream keeps in a private field."""
    kind = stream.getClass()
    while kind is not None:
        for one in kind.getDeclaredFields():
            if str(one.getName()).endswith("extraOptions"):
                one.setAccessible(True)
                return one.get(stream)
        kind = kind.getSuperclass()
    return None
