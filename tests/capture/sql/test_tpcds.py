"""What a change of one input column changes in DuckDB's answer to a query of TPC-DS, the reader claims.

`python -m bench.sql_reader.accuracy --tpcds` tries more data and more changes, and lists what no change has shown.
"""

import pytest

from capture.sql.generated import tpcds
from capture.sql.golden_cases import claims_of
from capture.sql.oracles.perturbation import unclaimed
from whence.capture.sql import Catalog, read_script

CATALOG = Catalog.from_columns(tpcds.columns(), "duckdb")
SOME_ROWS = (1,)
"""The change of this test: of four rows in ten."""
EVERY = 3
"""Of the queries, every third is tried ordinarily; all with `--long`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The queries that are tried."""
    if "name" in metafunc.fixturenames:
        names = list(tpcds.queries())
        metafunc.parametrize("name", names if metafunc.config.getoption("long") else names[::EVERY])


def test_every_influence_on_a_query_of_tpcds_is_claimed(name: str) -> None:
    lineage = read_script(tpcds.queries()[name], "duckdb", CATALOG)
    assert [(statement.status, statement.unknowns) for statement in lineage] == [("parsed", ())]
    sql = tpcds.with_few_rows(tpcds.queries()[name])
    seen = tpcds.estate_of(name, tpcds.SEEDS.get(name, 0)).influences(sql, turns=SOME_ROWS)
    assert seen or name in tpcds.UNMET
    assert not unclaimed(seen, claims_of(lineage))


def test_a_missing_claim_is_found() -> None:
    lineage = read_script(tpcds.queries()["3"], "duckdb", CATALOG)
    seen = tpcds.estate_of("3", tpcds.SEEDS.get("3", 0)).influences(tpcds.queries()["3"])
    kept = [claim for claim in claims_of(lineage) if claim.source != "store_sales.ss_ext_sales_price"]
    assert {change.source for change in unclaimed(seen, kept)} == {"store_sales.ss_ext_sales_price"}


def test_all_variants_are_there() -> None:
    assert len(tpcds.queries()) == 103
    assert {name for name in tpcds.queries() if name.endswith("b")} == {"14b", "23b", "24b", "39b"}
