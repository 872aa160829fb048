"""A scenario has a closed schema: each mistake has its line."""

from pathlib import Path

import pytest

from whence.errors import RulesFileError
from whence.govern.gamedays.scenario_file import read_scenario

TEXT = (Path(__file__).parents[3] / "docs/how-to/gamedays/late-orders.yaml").read_text()


def test_the_example_is_read() -> None:
    found = read_scenario(TEXT)
    assert [one.name.name for one in found.tasks] == ["load_orders", "build_report"]
    assert found.fixed_at - found.fault_at == 16 * 3_600_000_000
    assert found.expected.root == ("orders", "")
    assert [str(one.dataset) for one in found.objectives] == [
        "dataset:postgres://db%3A5432:shop.public.orders".replace("%3A", ":")
    ]


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ("  - {name: load_orders,", "  - {naem: load_orders,", "20: no key 'naem' belongs here; did you mean 'name'?"),
        ("reads: [shop],", "reads: [shops],", "20: no dataset has the key 'shops'"),
        ("[orders.amount]", "[orders.total]", "21: orders has no column 'total'"),
        ("[orders.amount]", "[shop.amount]", "21: report.revenue comes from shop, which it does not read"),
        ("    load_orders: {late: 12h}", "    load_order: {late: 12h}", "32: no job is named 'load_order'"),
        ("{late: 12h}", "{nulls: {amount: 1.5}}", "32: write a number from 0 to 1"),
        ("{late: 12h}", "{reads: {shop: elsewhere}}", "32: no dataset has the key 'elsewhere'"),
        ("at: '04:00'", "at: '25:00'", "20: write a time of the day (UTC), such as 02:30"),
        ("start: 2026-03-02T00:00:00Z", "start: 2026-03-02T00:00:00", "5: write a time with its offset"),
        ("  owner: team:checkout\n  contained", "  contained", "35: 'owner' is missing"),
        ("contained: [build_report]", "contained: [build]", "38: no job is named 'build'"),
        ("      dataset: orders\n", "      dataset: elsewhere\n", "write the node id of a dataset"),
        ("reads: [shop], writes: [orders]", "reads: [report], writes: [orders]", "does not read"),
    ],
)
def test_mistakes(before: str, after: str, mistake: str) -> None:
    assert before in TEXT
    with pytest.raises(RulesFileError) as caught:
        read_scenario(TEXT.replace(before, after, 1))
    assert mistake in str(caught.value)


def test_jobs_are_written_in_the_order_of_the_data() -> None:
    lines = TEXT.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if "name: load_orders" in line)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    with pytest.raises(RulesFileError, match="it reads orders, which a later job writes"):
        read_scenario("".join(lines))


def test_an_empty_file_is_a_mistake() -> None:
    with pytest.raises(RulesFileError, match="the file is empty"):
        read_scenario("")
