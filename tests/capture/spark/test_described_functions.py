"""What the capture in Spark tells of functions: their names around the column, and nothing of a user's values."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nightly.spark_battery.replay import read_records, replay
from whence.model.sensitivity import Grade
from whence.query.answers.transformations import Transformation
from whence.query.sensitivity.disclosures import disclosure
from whence_client.lineage.columns import (
    AGGREGATION,
    SAME,
    UNREAD,
    Column,
    Dataset,
    call,
    merge,
    read_column,
    transform,
)
from whence_client.lineage.facets import lineage_facets
from whence_client.spark.plan.functions import steps_of, steps_of_call

PLANS = sorted((Path(__file__).parent / "plans").glob("*.jsonl.gz"))
CRM = Dataset("file", "/crm")
MAIL = read_column(CRM, "email")
KNOWN = {
    "hour(ts)": Grade.PARTIAL,
    "sum(amount)": Grade.STATISTIC,
    "collect_set(order_id)": Grade.FULL,
    "concat_ws(?, status, ?)": Grade.FULL,
    "count_if((status = ?))": Grade.INFLUENCED,
    "((amount + ?) * ?)": Grade.FULL,
    "if(?, amount, ?)": Grade.FULL,
    "percentile_approx(amount, ?, ?)": Grade.STATISTIC,
}


def transformations(value: Any) -> Iterator[dict[str, Any]]:
    """Every transformation in a document."""
    if isinstance(value, dict):
        yield from value.get("transformations", ())
        for one in value.values():
            yield from transformations(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from transformations(one)


def described(column: Column) -> list[str]:
    """The descriptions in the facet of an output with this column."""
    return [one["description"] for one in transformations(lineage_facets({"out": column}, frozenset()))]


@pytest.mark.parametrize("plans", PLANS, ids=lambda one: one.name.removesuffix(".jsonl.gz"))
def test_recorded_plans_tell_functions_and_no_literals(plans: Path) -> None:
    events = [json.loads(json.dumps(one)) for one in replay(read_records(plans))]
    texts = {one["description"] for one in transformations(events)}
    assert texts >= KNOWN.keys()
    assert not [one for one in texts if any(quote in one for quote in "'\\") or UNREAD in one or len(one) > 400]
    assert not [one for one in texts if "paid" in one]


@pytest.mark.parametrize(("text", "grade"), KNOWN.items())
def test_described_functions_have_the_grades_of_sql(text: str, grade: Grade) -> None:
    column = next(one for one in ("ts", "amount", "order_id", "status") if one in text)
    found = disclosure(Transformation(type="DIRECT", subtype="TRANSFORMATION", masking=False, description=text), column)
    assert (found.grade, found.assumed) == (grade, False)


def test_a_hash_of_a_column_is_pseudonymous_for_certain() -> None:
    trimmed = call([MAIL], steps_of("StringTrim", [MAIL]))
    hashed = call([trimmed, Column()], steps_of("Sha2", [trimmed, Column()]), masking=True)
    assert described(hashed) == ["sha2(trim(email), ?)"]
    how = Transformation(type="DIRECT", subtype="TRANSFORMATION", masking=True, description="sha2(trim(email), ?)")
    assert disclosure(how, "email") == disclosure(how, "email").__class__(Grade.PSEUDONYMOUS)


def test_only_a_part_that_has_no_end_is_all_of_a_text() -> None:
    def part(*numbers: str) -> str:
        children = [MAIL, *(Column(type=("number", one)) for one in numbers)]
        (text,) = described(call(children, steps_of("Substring", children)))
        return text

    assert part("1", "2147483647") == "substring(email, 1)"
    assert part("1", "3") == "substring(email, ?, ?)"
    assert part("7", "2147483647") == "substring(email, ?, ?)"


def test_what_is_not_read_stays_so() -> None:
    once = transform([MAIL])
    assert described(once) == described(call([once], ["sha2({}, ?)"])) == [""]
    assert described(transform([call([MAIL], ["upper({})"])], AGGREGATION, step=SAME)) == ["upper(email)"]
    assert steps_of_call("DROP TABLE x; --", 1) == [UNREAD]


def test_ways_that_multiply_are_not_told_apart() -> None:
    value = MAIL
    for _ in range(300):
        value = merge([call([value], ["f({})"]), call([value], ["g({}, ?)"]), value])
        assert len(value.direct) <= 8
    assert set(described(value)) == {""}
    union = merge(call([MAIL], [f"f{number}({{}})"]) for number in range(100))
    assert described(union) == [""]


def test_names_of_columns_are_quoted_where_sql_needs_it() -> None:
    for name, shown in (("a b", '"a b"'), ('x"y', '"x""y"'), ("order", '"order"'), ("Name_1", "Name_1")):
        (text,) = described(call([read_column(CRM, name)], ["md5({})"]))
        assert text == f"md5({shown})"
        how = Transformation(type="DIRECT", subtype="TRANSFORMATION", masking=True, description=text)
        assert disclosure(how, name).grade is Grade.PSEUDONYMOUS
        assert not disclosure(how, name).assumed
