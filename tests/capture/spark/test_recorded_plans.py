"""Column lineage of recorded plans of several releases of Spark, against a truth written from the statements alone.

`make nightly-spark` records the plans anew, with the capture in a running Spark.
"""

from pathlib import Path

import pytest

from nightly.spark_battery import statements
from nightly.spark_battery.replay import ROOT, read_records, replay
from nightly.spark_battery.score import Verdict, judge

PLANS = Path(__file__).parent / "plans"
RELEASES = sorted(path.name.removesuffix(".jsonl.gz") for path in PLANS.glob("*.jsonl.gz"))
WITHOUT_FORMATS = "spark-4.3.0"
"""Delta Lake and Iceberg have no build for it."""


@pytest.fixture(scope="module", params=RELEASES)
def verdicts(request: pytest.FixtureRequest) -> "dict[str, Verdict]":
    release: str = request.param
    names = [
        one.name for one in statements.STATEMENTS if not one.fails and not (one.needs and release == WITHOUT_FORMATS)
    ]
    found = judge(replay(read_records(PLANS / f"{release}.jsonl.gz")), ROOT, names)
    assert len(found) == len(names) >= 67
    return {one.name: one for one in found}


def test_every_statement_has_the_lineage_of_its_text(verdicts: "dict[str, Verdict]") -> None:
    assert {name: one.differences for name, one in verdicts.items() if one.differences} == {}
    assert sum(one.right for one in verdicts.values()) >= 143


@pytest.mark.parametrize("release", RELEASES)
def test_the_pivoting_column_decides_the_pivoted_columns_and_no_rows(release: str) -> None:
    events = replay(read_records(PLANS / f"{release}.jsonl.gz"))
    outputs = [output for event in events for output in event["outputs"] if output["name"].endswith("/s17")]
    facet = outputs[-1]["facets"]["columnLineage"]
    assert [one["field"] for one in facet["dataset"]] == ["customer_id"]
    conditions = {
        name: [one["field"] for one in column["inputFields"] if one["transformations"][0]["type"] == "INDIRECT"]
        for name, column in facet["fields"].items()
    }
    assert conditions == {"customer_id": [], "paid": ["status"], "open": ["status"]}
