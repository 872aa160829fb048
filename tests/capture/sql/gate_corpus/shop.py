"""Random databases of a shop, for the Spark SQL statements: small domains, NULLs, ties, hostile texts, unique keys."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from random import Random
from typing import NamedTuple

NULLS = 0.12
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "orders": {
        "order_id": "INT",
        "customer_id": "INT",
        "ts": "TIMESTAMP",
        "day": "DATE",
        "status": "STRING",
        "amount": "INT",
        "discount": "INT",
        "tags": "ARRAY<STRING>",
        "attrs": "MAP<STRING, STRING>",
        "address": "STRUCT<city: STRING, zip: STRING>",
        "note": "STRING",
    },
    "lines": {"order_id": "INT", "line": "INT", "sku": "STRING", "qty": "INT", "price": "INT"},
    "customers": {
        "customer_id": "INT",
        "name": "STRING",
        "country": "STRING",
        "segment": "STRING",
        "signup": "DATE",
        "email": "STRING",
        "group by": "STRING",
    },
    "products": {"sku": "STRING", "title": "STRING", "category": "STRING", "list_price": "INT"},
    "events": {"user_id": "INT", "at": "TIMESTAMP", "kind": "STRING", "amount": "INT"},
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "customer_360": {
        "customer_id": "INT",
        "who": "STRUCT<name: STRING, city: STRING>",
        "source": "STRING",
        "campaign": "STRING",
        "label": "STRING",
    },
    "all_names": {"name": "STRING", "role": "STRING"},
    "daily_revenue": {"zone": "INT", "n": "BIGINT", "revenue": "BIGINT", "day": "DATE"},
    "dim_customers": {"customer_id": "INT", "name": "STRING", "country": "STRING", "segment": "STRING"},
}
"""Tables that exist, with rows, before a statement writes them."""
PARTITIONS = {"daily_revenue": "day"}
FUNCTIONS = (
    "clean_name(s STRING) RETURNS STRING RETURN lower(trim(s))",
    "short_name(s STRING) RETURNS STRING RETURN left(s, 2)",
    "hide(s STRING, shown INT) RETURNS STRING RETURN concat(left(s, shown), '*')",
    "is_valid(s STRING) RETURNS BOOLEAN RETURN s LIKE '%@%'",
)
_KEYS = {"orders": ("order_id",), "lines": ("order_id", "line"), "customers": ("customer_id",), "products": ("sku",)}
_COUNTS = {"orders": (16, 28), "lines": (20, 40), "customers": (5, 8), "products": (3, 5), "events": (8, 16)}
_SKUS = ("s1", "s2", "s3", "s4", "s5")
_WORDS = ("vip", "promo", "test", " a ", "", "Ab ", "über")
_POOLS: Mapping[str, tuple[str | int, ...]] = {
    "order_id": tuple(range(1, 31)),
    "customer_id": tuple(range(1, 10)),
    "user_id": (1, 2, 3),
    "line": (1, 2, 3),
    "ts": tuple(
        f"2024-{month}-{day} {hour}:30:00" for month, day, hour in product(("01", "02"), ("02", "20"), ("00", "13"))
    ),
    "at": ("2024-01-02 00:00:00", "2024-01-02 10:00:00", "2024-01-03 10:00:00", "2024-03-31 23:59:59"),
    "day": ("2024-01-02", "2024-01-03", "2024-02-29", "2023-12-31"),
    "signup": ("2024-01-02", "2023-02-28", "2020-02-29"),
    "status": ("paid", "paid", "shipped", "open", "void"),
    "name": (" Ann", "Bob ", "cleo", "O'Hara", "Größe", 'a"b', "bob "),
    "country": ("CH", "DE", "FR", "it"),
    "segment": ("gold", "base", "new"),
    "email": ("a@x", "b@X", "cdef@x", "no address"),
    "group by": ("`", "--", "x"),
    "note": ("late", "gift", ""),
    "sku": _SKUS,
    "title": ("ball", "Größe", "x", "bread", "long title"),
    "category": ("toys", "food"),
    "kind": ("view", "cart", "buy"),
    "zone": (0, 1, 2),
    "n": (3, 4),
    "source": ("web", "app"),
    "campaign": ("spring",),
    "label": ("old",),
    "role": ("customer", "other"),
}
_NUMBERS = (0, 1, 3, 5, 6, 9, 10, 25, -2)


def target_of(statement: str) -> str | None:
    """The existing table that a statement writes."""
    return next((table for table in TARGETS if re.search(rf"\bINTO {table}\b|\bTABLE {table}\b", statement)), None)


class Writer(NamedTuple):
    """SQL of one dialect, with one source of random choices."""

    random: Random
    dialect: str

    def type_of(self, kind: str) -> str:
        return kind.replace("STRING", "VARCHAR") if self.dialect == "duckdb" else kind

    def name(self, column: str) -> str:
        return f'"{column}"' if self.dialect == "duckdb" else f"`{column}`"

    def text(self, value: str | int) -> str:
        if isinstance(value, int):
            return str(value)
        escaped = value.replace("'", "''") if self.dialect == "duckdb" else value.replace("'", "\\'")
        return f"'{escaped}'"

    def value(self, column: str, kind: str) -> str:
        if self.random.random() < NULLS:
            return f"CAST(NULL AS {kind})"
        scalar = partial(self._scalar, ("a@x", *_WORDS))
        match kind.partition("<")[0]:
            case "ARRAY":
                words = ", ".join(scalar() for _ in range(self.random.randint(0, 4)))
                return f"CAST(array({words}) AS {kind})"
            case "MAP":
                keys = self.random.sample(("source", "campaign", "medium"), self.random.randint(0, 3))
                return f"CAST(map({', '.join(f'{self.text(key)}, {scalar()}' for key in keys)}) AS {kind})"
            case "STRUCT":
                fields = re.findall(r"(\w+): ", kind)
                return f"named_struct({', '.join(f'{self.text(name)}, {scalar()}' for name in fields)})"
        return f"CAST({self.text(self.random.choice(_POOLS.get(column, _NUMBERS)))} AS {self.type_of(kind)})"

    def _scalar(self, pool: tuple[str, ...]) -> str:
        return "CAST(NULL AS STRING)" if self.random.random() < NULLS else self.text(self.random.choice(pool))

    def rows(self, table: str, columns: Mapping[str, str], count: int) -> Iterator[str]:
        keys = _KEYS.get(table, ("customer_id",) if table == "dim_customers" else ())
        places = list(product(*(_POOLS[key] for key in keys))) if keys else [()] * count
        for key in self.random.sample(places, min(count, len(places))):
            known = dict(zip(keys, map(self.text, key), strict=True))
            cells = (known.get(name) or self.value(name, kind) for name, kind in columns.items())
            yield f"({', '.join(cells)})"


def rows_of(random: Random, dialect: str, table: str, is_empty: bool = False) -> tuple[str, ...]:
    """Random rows of a table as SQL."""
    columns = TARGETS.get(table) or COLUMNS[table]
    count = random.randint(*_COUNTS.get(table, (2, 5)))
    return () if is_empty else tuple(Writer(random, dialect).rows(table, columns, count))


def scripts(random: Random, dialect: str, empty: frozenset[str] = frozenset()) -> Iterator[str]:
    """The statements that create and fill what DuckDB needs of the shop."""
    writer = Writer(random, dialect)
    for table, columns in (("customers", COLUMNS["customers"]), ("dim_customers", TARGETS["dim_customers"])):
        yield f"CREATE TABLE {table} ({', '.join(f'{writer.name(n)} {writer.type_of(k)}' for n, k in columns.items())})"
        if rows := rows_of(random, dialect, table, table in empty):
            yield f"INSERT INTO {table} VALUES {', '.join(rows)}"
