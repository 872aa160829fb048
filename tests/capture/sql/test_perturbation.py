"""What a change of one input column changes in DuckDB's answer, the reader claims and the golden suite expects."""

from functools import cache

import pytest

from capture.sql.generated import tpch
from capture.sql.generated.queries import query_of
from capture.sql.generated.query_parts import TABLES
from capture.sql.golden_cases import Case, Claim, claims_of, golden_cases
from capture.sql.oracles.perturbation import BOOLEAN, LIST, TEXT, Estate, Influence, table_of, unclaimed, unshown
from whence.capture.sql import Catalog, read_script

QUERIES, QUERIES_LONG, BATCH = 20, 400, 20
"""Generated queries, ordinarily and with `--long`, and how many of them a test takes."""
SHOWN = 0.5
"""The least share of the DIRECT claims of a batch that a change shows: a reader that claims everything is below it."""
KINDS = {"xs": LIST, "ok": BOOLEAN, "name": TEXT, "q": TEXT}
NOT_RUN = {
    "duckdb/files::copy a query to a file": "writes a file",
    "duckdb/adversarial::copy from first query": "writes a file",
    "duckdb/adversarial::group by alias and having alias": "needs a column of times",
    "duckdb/adversarial::insert on conflict do update": "needs a key",
    "duckdb/adversarial::lambda functions": "needs a column of lists",
    "duckdb/adversarial::merge with update and insert": "needs a key",
    "duckdb/adversarial::struct field": "needs a column with fields",
    "duckdb/adversarial::temp view collapses": "its target is not made in the script",
    "duckdb/adversarial::unnest of a list": "needs a column of lists",
    "duckdb/adversarial::unpivot statement": "leaves out rows whose value is NULL; no edge says so, as for UNNEST",
    "duckdb/adversarial::update of itself": "one of its tables has no columns in the case",
    "duckdb/files::a parquet file whose columns are not known, joined by name": "reads files",
    "duckdb/files::files of different columns joined by name": "reads files",
    "duckdb/files::files of one layout": "reads files",
    "duckdb/inserts::insert or replace": "needs a key",
    "duckdb/inserts::upsert with an expression": "needs a key",
    "duckdb/merges::merge": "needs a key",
    "duckdb/nested::struct fields": "needs a column with fields",
    "duckdb/pivots::unpivot statement": "leaves out rows whose value is NULL; no edge says so, as for UNNEST",
    "duckdb/scripts::schemas and attached databases": "needs a second database",
    "duckdb/tables::quoted names keep a space": "its table has a space in its name",
}
UNSHOWN = {
    "duckdb/adversarial::pivot statement": "the values that make its columns are not in the data",
    "duckdb/scripts::alter adds a column that a star shows": "t.b is made in the script, no input",
    "duckdb/scripts::create table as over a view of the script": "v is made in the script, no input",
    "duckdb/warehouse::year on year of the same week": "few rows meet the joins of two years",
}
CASES = [
    case
    for case in golden_cases()
    if case.dialect == "duckdb" and case.columns and case.claims and case.id not in NOT_RUN
]


@cache
def estate() -> Estate:
    return Estate.of(TABLES, seed=1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Divide the seeds of the generated queries into batches."""
    if "seeds" in metafunc.fixturenames:
        end = QUERIES_LONG if metafunc.config.getoption("long") else QUERIES
        batches = [range(start, start + BATCH) for start in range(0, end, BATCH)]
        metafunc.parametrize("seeds", batches, ids=[f"{batch.start}-{batch.stop - 1}" for batch in batches])


def test_every_influence_on_a_generated_query_is_claimed(seeds: range) -> None:
    catalog, direct, not_shown = Catalog.from_columns(TABLES, "duckdb"), 0, 0
    for query in map(query_of, seeds):
        lineage = read_script(query, "duckdb", catalog)
        claims = set(claims_of(lineage))
        seen = estate().influences(query)
        assert [(statement.status, statement.unknowns) for statement in lineage] == [("parsed", ())], query
        assert not unclaimed(seen, claims), query
        direct += sum(claim.type == "DIRECT" for claim in claims)
        not_shown += len(unshown(seen, claims))
    assert direct - not_shown > SHOWN * direct


@cache
def warehouse(seed: int) -> Estate:
    return Estate.of(tpch.TABLES, tpch.KINDS, seed, plan=True)


@pytest.mark.parametrize("number", range(1, 23))
def test_every_influence_on_a_query_of_tpch_is_claimed(number: int) -> None:
    query = tpch.queries()[number - 1]
    lineage = read_script(query, "duckdb", Catalog.from_columns(tpch.TABLES, "duckdb"))
    # Not all rows meet what a query asks for.
    seen = next(filter(None, (warehouse(seed).influences(query) for seed in range(3, 9))))
    assert [(statement.status, statement.unknowns) for statement in lineage] == [("parsed", ())]
    assert not unclaimed(seen, claims_of(lineage))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_every_influence_on_a_golden_case_is_expected(case: Case) -> None:
    seen: frozenset[Influence] = frozenset()
    for seed in (3,) if case.id in UNSHOWN else range(3, 9):
        seen |= Estate.of(case.columns, KINDS, seed).influences(case.sql, sorted(_targets(case)))
        if not unshown(seen, case.claims):
            break
    assert not unclaimed(seen, case.claims)
    assert bool(unshown(seen, case.claims)) == (case.id in UNSHOWN)


def test_a_missing_claim_is_found() -> None:
    query = "SELECT a.x AS p, sum(b.z) AS q FROM a JOIN b ON a.k = b.k GROUP BY a.x"
    claims = {
        Claim("result.p", "a.x", "DIRECT", "IDENTITY"),
        Claim("result.q", "b.z", "DIRECT", "AGGREGATION"),
        Claim("result", "a.x", "INDIRECT", "GROUP_BY"),
        Claim("result", "a.k", "INDIRECT", "JOIN"),
        Claim("result", "b.k", "INDIRECT", "JOIN"),
    }
    seen = estate().influences(query)
    assert not unclaimed(seen, claims)
    for claim in claims - {Claim("result.p", "a.x", "DIRECT", "IDENTITY")}:
        assert {change.source for change in unclaimed(seen, claims - {claim})} == {claim.source}


def _targets(case: Case) -> set[str]:
    """Tables whose columns are expected; those that only lose rows if there are none."""
    columns = {table_of(claim.target) for claim in case.claims if claim.type == "DIRECT"}
    return columns or {claim.target for claim in case.claims}
