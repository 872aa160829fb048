"""The oracle of perturbation.py on PySpark: several variants of the tables at once, in one plan for each query.

Planning is what costs on Spark, so all columns that no output claims are changed together: if an output changes then,
one of them influences it. Columns that only some of the outputs claim, and those of DIRECT claims, are changed alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from capture.sql.golden_cases import Claim
from capture.sql.oracles.perturbation import (
    Columns,
    Influence,
    claimed_pairs,
    is_counted,
    name_of,
    named_tables,
    text_of,
)

ROWS = 9
INTEGER = tuple(str(value) for value in range(-1, 5))
Kinds = Mapping[str, tuple[str, ...]]
"""The values of a column by its bare name, as SQL writes them; whole numbers unless said."""
_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.crossJoin.enabled": "true",
}


class Seen(NamedTuple):
    """What of a query's claims the changes show: what is not claimed, and DIRECT claims that nothing showed."""

    unclaimed: tuple[Influence, ...]
    unshown: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class SparkEstate:
    """Tables with rows, as texts that a query can have before it."""

    session: SparkSession
    columns: Columns
    kinds: Kinds
    seed: int

    @classmethod
    def of(
        cls, session: SparkSession, columns: Columns, kinds: Mapping[str, tuple[str, ...]] = {}, seed: int = 0
    ) -> "SparkEstate":
        """A session of its own on the same context, with the settings that small queries are quick with."""
        session = session.newSession()
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        return cls(session, columns, kinds, seed)

    def judge(self, sql: str, claims: Iterable[Claim], share: float = 0.6) -> Seen:
        """Change `share` of the rows. Raises pyspark's AnalysisException where Spark does not take the query."""
        claims = tuple(claims)
        tables = named_tables(self.columns, sql)
        pairs = claimed_pairs(claims)
        everything = frozenset(f"{table}.{name}" for table in tables for name in self.columns[table])
        on_rows = frozenset(source for source, target in pairs if target == "result")
        on_some = frozenset(source for source, target in pairs if target != "result") & everything
        direct = frozenset(claim.source.lower() for claim in claims if claim.type == "DIRECT") & everything
        alone = sorted(direct | (on_some - on_rows))
        variants = [*filter(None, [everything - on_rows - on_some]), *(frozenset((one,)) for one in alone)]
        base, *after = self._shown(sql, tables, [frozenset(), *variants], share)
        changed = {
            (columns, target)
            for columns, shown in zip(variants, after, strict=True)
            for target in base
            if shown[target] != base[target]
        }
        lost = (
            Influence("+".join(sorted(columns)), target)
            for columns, target in changed
            if not columns & on_rows and not any((column, target) in pairs for column in columns)
        )
        shown = {(column, target) for columns, target in changed if len(columns) == 1 for column in columns}
        unshown = (one for one in claims if one.type == "DIRECT" and (one.source, one.target) not in shown)
        return Seen(tuple(sorted(lost)), tuple(sorted(unshown)))

    def _shown(
        self, sql: str, tables: Sequence[str], variants: Sequence[frozenset[str]], share: float
    ) -> list[Mapping[str, Counter[str]]]:
        branches = (
            f"SELECT {number} AS variant_, * FROM ({self._over(sql, tables, changed, share)})"
            for number, changed in enumerate(variants)
        )
        answer = self.session.sql(" UNION ALL ".join(branches))
        names = [f"result.{name_of(name, place)}" for place, name in enumerate(answer.columns[1:], start=1)]
        return _sorted_out(answer, names, len(variants), is_counted(sql))

    def _over(self, sql: str, tables: Sequence[str], changed: frozenset[str], share: float) -> str:
        """The query over tables of these rows. A WITH of its own is below, and does not hide them."""
        given = ", ".join(f"{table} AS ({self._table(table, changed, share)})" for table in tables)
        return f"WITH {given} SELECT * FROM ({sql})"

    def _table(self, table: str, changed: frozenset[str], share: float) -> str:
        values = [list(self._column(table, name, changed, share)) for name in self.columns[table]]
        rows = ", ".join(f"({', '.join(row)})" for row in zip(*values, strict=True))
        # In one partition nothing needs to be exchanged.
        return f"SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS t({', '.join(self.columns[table])})"

    def _column(self, table: str, name: str, changed: frozenset[str], share: float) -> Iterator[str]:
        random, others = Random(f"{self.seed}{table}{name}"), Random(f"{self.seed}{table}{name}changed")
        pool = self.kinds.get(name, INTEGER)
        nulls = () if name in self.kinds else ("NULL",)
        for row in range(ROWS):
            value = random.choice((*pool, *pool, *nulls)) if row else random.choice(pool)
            if f"{table}.{name}" in changed and (others.random() < share or not row):
                value = others.choice([null for null in (*pool, *(nulls if row else ())) if null != value])
            yield value


def _sorted_out(
    answer: DataFrame, names: Sequence[str], variants: int, counted: bool
) -> list[Mapping[str, Counter[str]]]:
    rows: list[list[Sequence[Any]]] = [[] for _ in range(variants)]
    for variant, *values in answer.collect():
        rows[variant].append(values)
    return [
        {
            name: Counter(found if counted else set(found))
            for place, name in enumerate(names)
            for found in [[text_of(row[place]) for row in one]]
        }
        for one in rows
    ]
