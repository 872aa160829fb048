"""The long passes of `python -m bench.sql_reader.accuracy`: broken texts, TPC-DS, deep generated queries, Spark.

Each prints what it has found, and gives how many complaints there are.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from time import process_time

import duckdb

from capture.sql.generated import tpcds
from capture.sql.generated.broken_texts import broken_texts, complaints
from capture.sql.generated.queries import query_of
from capture.sql.generated.query_parts import TABLES
from capture.sql.golden_cases import Claim, claims_of
from capture.sql.oracles.perturbation import Estate, Influence, unclaimed, unshown
from whence.capture.sql import Budget, Catalog, ScriptLineage, read_script

NO_VALUE = "no row of any data gives its target a value"
COVERED = "other rows and values cover what it changes"
"""Why a DIRECT claim is not shown: an extreme, a rank or a sum of many hides one value; or its branch chose no row."""


def fuzz(characters: int, seed: int) -> int:
    """So many characters of broken SQL, over all dialects."""
    texts = done = wrong = failed = 0
    slowest, began = 0.0, process_time()
    for one in broken_texts(seed, characters):
        started = process_time()
        for complaint in complaints(one, Budget()):
            wrong += 1
            _say(f"{complaint}\n  {one.dialect}: {one.text!r}")
        slowest = max(slowest, process_time() - started)
        failed += any(statement.status == "failed" for statement in read_script(one.text, one.dialect))
        texts, done = texts + 1, done + len(one.text)
    _say(
        f"{done:,} characters in {texts:,} texts, {failed:,} of them with a statement that cannot be read; "
        f"{wrong} complaints, {process_time() - began:.0f} s of CPU, the slowest text {slowest:.2f} s"
    )
    return wrong


def of_tpcds(tries: int) -> int:
    """Every query over up to so many data that its rows meet, until all its DIRECT claims are shown."""
    catalog, wrong, left = Catalog.from_columns(tpcds.columns(), "duckdb"), 0, Counter[str]()
    for name, text in tpcds.queries().items():
        lineage = read_script(text, "duckdb", catalog)
        claims, sql = set(claims_of(lineage)), tpcds.with_few_rows(text)
        lost, hidden, valued = _tried(name, sql, claims, tries)
        wrong += len(lost) + (not _read(lineage))
        _say(f"{name:>4}: {len(claims):4} claims, {len(lost)} influences not claimed, {len(hidden)} DIRECT not shown")
        for claim in hidden:
            why = COVERED if claim.target in valued else NO_VALUE
            left[why] += 1
            _say(f"      {claim}: {why}")
        for one in lost:
            _say(f"      NOT CLAIMED {one.source} on {one.target}")
    _say(f"103 queries, {wrong} complaints; DIRECT claims not shown: {dict(left) or 'none'}")
    return wrong


def _tried(name: str, sql: str, claims: set[Claim], tries: int) -> tuple[set[Influence], list[Claim], set[str]]:
    seen: set[Influence] = set()
    valued: set[str] = set()
    met = 0
    hidden = unshown(seen, claims)
    for seed in _seeds(name):
        estate = tpcds.estate_of(name, seed)
        if tpcds.meets(estate, sql):
            met += 1
            seen |= estate.influences(sql)
            valued |= estate.valued(sql)
            hidden = unshown(seen, claims)
        estate.connection.close()
        if met == tries or (met and not hidden):
            break
    return set(unclaimed(seen, claims)), hidden, valued


def _seeds(name: str) -> Iterator[int]:
    known = tpcds.SEEDS.get(name, 0)
    yield known
    yield from (seed for seed in range(60) if seed != known)


def deep(queries: int, first: int) -> int:
    """So many generated queries on DuckDB, with pivots, laterals, structs, recursion and the like."""
    catalog, estate = Catalog.from_columns(TABLES, "duckdb"), Estate.of(TABLES, seed=1)
    wrong = ran = direct = hidden = 0
    for seed in range(first, first + queries):
        query = query_of(seed, deep=True)
        lineage = read_script(query, "duckdb", catalog)
        claims = set(claims_of(lineage))
        try:
            seen = estate.influences(query, turns=(0, 1))
        except duckdb.Error as error:
            _say(f"{seed}: DuckDB does not run it: {str(error).splitlines()[0]}")
            continue
        ran += 1
        direct += sum(claim.type == "DIRECT" for claim in claims)
        hidden += len(unshown(seen, claims))
        if lost := unclaimed(seen, claims) or (not _read(lineage)):
            wrong += 1
            _say(f"{seed}: {lost}\n  {query}")
    _say(
        f"{ran:,} queries of {queries:,} ran, {wrong} complaints, {direct - hidden:,} of {direct:,} DIRECT claims shown"
    )
    return wrong


def of_spark(queries: int, first: int) -> int:
    """So many generated queries on a local Spark."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from capture.sql.oracles.spark_perturbation import SparkEstate
    from whence.derive.spark.session import open_session

    session = open_session()
    catalog, estate = Catalog.from_columns(TABLES, "spark"), SparkEstate.of(session, TABLES, seed=1)
    wrong = ran = 0
    for seed in range(first, first + queries):
        query = query_of(seed, "spark", deep=True)
        lineage = read_script(query, "spark", catalog)
        try:
            lost = estate.judge(query, set(claims_of(lineage))).unclaimed
        except (PySparkException, Py4JJavaError) as error:
            _say(f"{seed}: Spark does not run it: {str(error).splitlines()[0][:200]}")
            continue
        ran += 1
        if lost or not _read(lineage):
            wrong += 1
            _say(f"{seed}: {lost}\n  {query}")
    session.stop()
    _say(f"{ran:,} queries of {queries:,} ran on Spark, {wrong} complaints")
    return wrong


def _read(lineage: ScriptLineage) -> bool:
    return all(statement.status == "parsed" and not statement.unknowns for statement in lineage)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
