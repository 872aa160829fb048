"""The libraries that Spark does not bring."""

from pathlib import Path

import pytest

from whence.derive.spark import jars
from whence.errors import JarsNotFoundError
from whence.log.address import open_log

TOPIC = "kafka://127.0.0.1:9092/t"


def test_the_kafka_source_is_fetched_once() -> None:
    files = jars.jars_for(open_log(TOPIC))
    assert [file.suffix for file in files] == [".jar"] * len(jars.KAFKA)
    assert all(file.is_file() for file in files)
    assert jars.fetch(jars.KAFKA) == files


def test_segments_need_none(tmp_path: Path) -> None:
    assert jars.jars_for(open_log(str(tmp_path))) == ()


def test_under_spark_submit_they_are_the_submitters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert jars.jars_for(open_log(TOPIC)) == ()


def test_what_cannot_be_fetched_is_named() -> None:
    with pytest.raises(JarsNotFoundError, match="no-such-library") as raised:
        jars.fetch(("org.apache.kafka:no-such-library:1.0",))
    assert raised.value.coordinates == ("org.apache.kafka:no-such-library:1.0",)
    assert "not found" in str(raised.value)
