"""What a change of input columns changes in Spark's answer, the reader claims: generated queries and golden cases."""

from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError

from capture.sql.generated.queries import query_of
from capture.sql.generated.query_parts import TABLES
from capture.sql.golden_cases import Case, Claim, claims_of, golden_cases
from capture.sql.oracles.spark_perturbation import SparkEstate
from whence.capture.sql import Catalog, read_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES, QUERIES_LONG, BATCH = 10, 300, 10
"""Generated queries that must run, ordinarily and with `--long`, and how many of them a test takes."""
_LONGEST = 900
"""Characters: what is longer takes Spark seconds to plan."""
SPARE = 2
"""More queries of a batch than must run: of some, Spark's own optimizer loses a column (`key not found`)."""
SHOWN = 0.3
"""The least share of the DIRECT claims of a batch that a change shows; some take rows that the data do not have."""
GOLDEN = (
    *(
        "aggregates::max by",
        "aggregates::rollup",
        "aggregates::star in count of columns",
        "expressions::if nvl and case",
    ),
    *("joins::lateral join", "joins::natural left join with a star", "joins::null safe equality"),
    *("joins::right join using gives the right key", "joins::semi join keeps the left columns"),
    *("joins::three tables with using show the key once", "names::lateral alias chain", "nested::struct star"),
    *("nested::stack of columns", "nested::named struct and its field in one query", "set_operations::minus"),
    *("subqueries::not exists with two levels of names", "windows::window with a frame and an expression over it"),
    "ctes::alias of a table hides a cte",
    "joins::cross join then semi join by a condition on both",
    "warehouse::union of three sources by name with missing columns",
)
CASES = [case for case in golden_cases() if case.dialect == "spark" and case.id.removeprefix("spark/") in GOLDEN]


@pytest.fixture(scope="module")
def estate(spark: "SparkSession") -> SparkEstate:
    return SparkEstate.of(spark, TABLES, seed=1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Divide the seeds of short generated queries into batches."""
    if "seeds" in metafunc.fixturenames:
        queries = QUERIES_LONG if metafunc.config.getoption("long") else QUERIES
        short = (seed for seed in count() if len(query_of(seed, "spark", deep=True)) < _LONGEST)
        batches = [tuple(islice(short, BATCH + SPARE)) for _ in range(queries // BATCH)]
        metafunc.parametrize("seeds", batches, ids=[f"{batch[0]}-{batch[-1]}" for batch in batches])


def test_every_influence_on_a_generated_query_is_claimed(estate: SparkEstate, seeds: tuple[int, ...]) -> None:
    catalog, direct, unshown, ran = Catalog.from_columns(TABLES, "spark"), 0, 0, 0
    for seed in seeds:
        query = query_of(seed, "spark", deep=True)
        lineage = read_script(query, "spark", catalog)
        assert [(statement.status, statement.unknowns) for statement in lineage] == [("parsed", ())], query
        claims = set(claims_of(lineage))
        try:
            seen = estate.judge(query, claims)
        except Py4JJavaError as error:
            if "key not found" not in str(error):
                raise
            continue
        ran += 1
        assert not seen.unclaimed, query
        direct += sum(claim.type == "DIRECT" for claim in claims)
        unshown += len(seen.unshown)
    assert ran >= BATCH
    assert direct - unshown > SHOWN * direct


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_every_influence_on_a_golden_case_is_expected(spark: "SparkSession", case: Case) -> None:
    assert not SparkEstate.of(spark, case.columns, seed=3).judge(case.sql, case.claims).unclaimed


def test_a_missing_claim_is_found(estate: SparkEstate) -> None:
    query = "SELECT a.x AS p, sum(b.z) AS q FROM a JOIN b ON a.k = b.k GROUP BY a.x"
    claims = {
        Claim("result.p", "a.x", "DIRECT", "IDENTITY"),
        Claim("result.q", "b.z", "DIRECT", "AGGREGATION"),
        Claim("result", "a.x", "INDIRECT", "GROUP_BY"),
        Claim("result", "a.k", "INDIRECT", "JOIN"),
        Claim("result", "b.k", "INDIRECT", "JOIN"),
    }
    assert not estate.judge(query, claims).unclaimed
    for claim in claims - {Claim("result.p", "a.x", "DIRECT", "IDENTITY")}:
        assert any(claim.source in change.source for change in estate.judge(query, claims - {claim}).unclaimed)


def test_all_golden_cases_named_here_are_there() -> None:
    assert len(CASES) == len(GOLDEN)
