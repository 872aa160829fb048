"""What an edge is worth that was read without a schema: as often right as its confidence says, and it says why."""

import pytest

from bench.sql_reader.confidence import Band, bands
from whence.capture.sql import Catalog, read_script
from whence.capture.sql.provenance.confidence import PROCEDURAL

FEW = 10
"""Edges of which no share can be taken."""
ERROR = 0.05


@pytest.fixture(scope="module")
def measured() -> dict[tuple[float, str], Band]:
    return bands()


def test_each_confidence_is_the_share_of_edges_that_are_right(measured: dict[tuple[float, str], Band]) -> None:
    shares = {
        (confidence, reason): round(band.share, 3)
        for (confidence, reason), band in measured.items()
        if band.edges >= FEW and not _is_procedural(confidence)
    }
    assert len(shares) >= 6
    assert not {key: share for key, share in shares.items() if abs(share - key[0]) > ERROR}


def _is_procedural(confidence: float) -> bool:
    """Of these only those who run the procedure know what they are worth."""
    return any(abs(confidence - PROCEDURAL * one) < 0.01 for one in (1.0, 0.99, 0.98, 0.97, 0.5))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a from t", {"t.a 0.99 single source"}),
        ("select a, x from t join known using (k)", {"t.a 0.98 not in the other sources", "known.x 1 schema"}),
        ("create table t (a int); select a from t", {"t.a 0.97 DDL of the script"}),
        ("select a from t, u", {f"{one}.a 0.5 one of several candidates" for one in "tu"}),
        ("select a from t, u, v", {f"{one}.a 0.33 one of several candidates" for one in "tuv"}),
        ("insert into o select x from known", {"known.x 0.5 the target's columns are not known"}),
        ("insert into o (y) select x from known", {"known.x 1 schema"}),
        ("insert into known select x, x from known", {"known.x 1 schema"}),
        ("create table o as select x from known", {"known.x 1 schema"}),
        ("insert into o by name select x from known", {"known.x 1 schema"}),
    ],
)
def test_the_reason(text: str, expected: set[str]) -> None:
    edges = read_script(text, "duckdb", Catalog.from_columns({"known": ("k", "x")}, "duckdb")).collapsed
    assert {f"{edge.source} {edge.confidence:g} {edge.reason}" for edge in edges if edge.type == "DIRECT"} == expected


def test_a_partition_is_placed_and_the_columns_before_it_are_not() -> None:
    edges = read_script("insert into o partition (d) select a, b as d from t", "hive").collapsed
    assert {f"{edge.target} {edge.confidence:g}" for edge in edges} == {"o.a 0.5", "o.d 0.99"}
