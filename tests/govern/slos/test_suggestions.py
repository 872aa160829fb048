"""Suggested objectives are a file that says the same when it is read, whatever the names of the datasets."""

import pytest

from whence.govern.slos.evaluation.facts import Facts, Write
from whence.govern.slos.objectives import Freshness
from whence.govern.slos.slo_file import read_slos
from whence.govern.slos.suggestions import suggest_objectives, write_suggestions
from whence.model.names import DatasetName

HOUR = 3_600_000_000
NOW = 1_790_000_000_000_000
NAMES = (
    *(DatasetName(f"postgres://{stage}:5432", "shop.orders") for stage in ("prod", "staging", "dev")),
    DatasetName("s3://\x1b[31m\u202e", "[bold]<b>%:/\u00e9\n"),
    DatasetName("postgres://prod:5432", "shop.orders "),
    DatasetName("postgres://prod:5432", "x" * 300),
    DatasetName("postgres://prod:5432", "x" * 301),
    DatasetName("postgres://prod:5432", '- *a: &b {"}\x85\U000e0001'),
)


def written(*hours: float) -> Facts:
    return Facts(writes=tuple(Write(time=NOW - int(hour * HOUR), rows=100) for hour in hours))


def test_any_name_is_read_back() -> None:
    facts = written(*range(100))
    found = [one for name in NAMES for one in suggest_objectives(name, facts, NOW)]
    text = write_suggestions("shop: # {", found)
    assert all(line.isprintable() for line in text.splitlines())
    read = read_slos(text)
    assert read.service == "shop: # {"
    assert [one.dataset for one in read.objectives] == [name for name in NAMES for _ in ("fresh", "rows")]


@pytest.mark.parametrize(
    ("gap", "limit"), [(0.1, 0.25), (0.9, 1), (1, 2), (24, 26), (24.5, 26), (36, 50), (70, 7 * 24)]
)
def test_the_limit_has_some_slack(gap: float, limit: float) -> None:
    facts = written(*(gap * number for number in range(12)))
    (fresh,) = (one for one in suggest_objectives(NAMES[0], facts, NOW) if "freshness" in one.indicator)
    (read,) = read_slos(write_suggestions("shop", [fresh])).objectives
    assert read.indicator == Freshness(limit=int(limit * HOUR))


def test_too_little_suggests_nothing() -> None:
    assert not list(suggest_objectives(NAMES[0], written(*range(9)), NOW))
    old = written(*(24 * 31 + hour for hour in range(100)))
    assert not list(suggest_objectives(NAMES[0], old, NOW))
    dead = written(*(24 * 20 + hour for hour in range(100)))
    assert [one.indicator for one in suggest_objectives(NAMES[0], dead, NOW)] == [{"volume": {}}]
