"""Random databases of an electricity grid operator: meters, readings, contracts, outages; small domains, no key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random

from capture.sql.generated.companies.logistics import target_of

__all__ = ("TABLES", "TARGETS", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "meters": {
        "meter_id": "INTEGER",
        "serial": "VARCHAR",
        "customer_id": "INTEGER",
        "feeder_id": "INTEGER",
        "model": "VARCHAR",
        "installed_on": "DATE",
        "removed_on": "DATE",
        "multiplier": "INTEGER",
        "is_smart": "BOOLEAN",
    },
    "readings": {
        "reading_id": "INTEGER",
        "meter_id": "INTEGER",
        "read_at": "TIMESTAMP",
        "loaded_at": "TIMESTAMP",
        "kwh": "DECIMAL(12,3)",
        "quality": "VARCHAR",
        "source": "VARCHAR",
    },
    "customers": {
        "customer_id": "INTEGER",
        "full_name": "VARCHAR",
        "email": "VARCHAR",
        "segment": "VARCHAR",
        "postcode": "VARCHAR",
        "signed_on": "DATE",
        "left_on": "DATE",
        "referrer_id": "INTEGER",
    },
    "contracts": {
        "contract_id": "INTEGER",
        "customer_id": "INTEGER",
        "product": "VARCHAR",
        "valid_from": "DATE",
        "valid_to": "DATE",
        "price_ct": "DECIMAL(8,3)",
        "base_fee": "DECIMAL(8,2)",
        "is_green": "BOOLEAN",
        "cancelled_at": "TIMESTAMP",
    },
    "invoices": {
        "invoice_id": "INTEGER",
        "customer_id": "INTEGER",
        "contract_id": "INTEGER",
        "period_start": "DATE",
        "period_end": "DATE",
        "issued_on": "DATE",
        "due_on": "DATE",
        "net": "DECIMAL(12,2)",
        "tax": "DECIMAL(12,2)",
        "status": "VARCHAR",
    },
    "payments": {
        "payment_id": "INTEGER",
        "invoice_id": "INTEGER",
        "paid_on": "DATE",
        "amount": "DECIMAL(12,2)",
        "method": "VARCHAR",
    },
    "feeders": {
        "feeder_id": "INTEGER",
        "substation": "VARCHAR",
        "region": "VARCHAR",
        "capacity_kw": "INTEGER",
        "built_on": "DATE",
    },
    "outages": {
        "outage_id": "INTEGER",
        "feeder_id": "INTEGER",
        "crew_id": "INTEGER",
        "cause": "VARCHAR",
        "started_at": "TIMESTAMP",
        "ended_at": "TIMESTAMP",
        "customers_hit": "INTEGER",
        "is_planned": "BOOLEAN",
        "report": "JSON",
    },
    "crews": {
        "crew_id": "INTEGER",
        "crew_name": "VARCHAR",
        "base": "VARCHAR",
        "lead_id": "INTEGER",
        "hired_on": "DATE",
    },
    "spot_prices": {"zone": "VARCHAR", "hour": "TIMESTAMP", "eur_mwh": "DECIMAL(10,2)"},
    "app_events": {
        "event_id": "INTEGER",
        "customer_id": "INTEGER",
        "event": "VARCHAR",
        "occurred_at": "TIMESTAMP",
        "page": "VARCHAR",
        "properties": "JSON",
    },
    "tariff_bands": {
        "product": "VARCHAR",
        "from_kwh": "DECIMAL(12,3)",
        "to_kwh": "DECIMAL(12,3)",
        "price_ct": "DECIMAL(8,3)",
        "valid_from": "DATE",
        "valid_to": "DATE",
    },
    "Zähler Liste": {
        "Meter No": "VARCHAR",
        "Größe kVA": "DECIMAL(8,3)",
        "order": "INTEGER",
        "group": "VARCHAR",
        "from": "DATE",
        "to": "DATE",
    },
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "fct_feeder_day": {"day": "DATE", "feeder_id": "INTEGER", "readings": "BIGINT", "kwh": "DECIMAL(38,3)"},
    "dim_meter": {
        "meter_id": "INTEGER",
        "serial": "VARCHAR",
        "feeder_id": "INTEGER",
        "is_open": "BOOLEAN",
        "changed_on": "DATE",
    },
}
"""Tables that exist, with rows, before a statement writes them."""
_MANY = frozenset(("readings", "app_events", "spot_prices", "outages", "payments", "invoices"))
_ENDS = frozenset(("removed_on", "left_on", "valid_to", "cancelled_at", "ended_at", "to"))
"""What has often no end."""
_TEXTS: Mapping[str, Sequence[str]] = {
    "serial": ("SM-100-A", "sm-100-a", "LG_7", " SM-22-B ", "SM-22", "", "Z-1-"),
    "Meter No": ("SM-100-A", "sm-100-a", "LG_7", "SM-22-B", ""),
    "model": ("E350", "e350", "T200 ", "T200", "X"),
    "quality": ("A", "E", "X", "a", ""),
    "source": ("mdm", " MDM", "hand", "Hand ", "api", ""),
    "full_name": ("Ada Berg", "ada berg", "Li", " Jo van Os", "O'Hara", "Ada  Berg"),
    "email": ("ada@grid.ch", "Ada@Grid.CH", "li@post.io", "nobody", "@x.y", " jo@grid.ch", "a@b@c.d"),
    "segment": ("home", "farm", "Home", "industry", ""),
    "postcode": ("3001", "03001", " 3001", "8000", "8000-A", "CH-8000", ""),
    "product": ("flex", "fix", "Flex", "nature", ""),
    "status": ("open", "paid", "void", "Open", "partial"),
    "method": ("card", "debit", "refund", "Card", "wire"),
    "substation": ("Nord", "nord", "Süd", "Au", ""),
    "region": ("east", "west", "East", "alps"),
    "cause": ("storm", "tree", "cable", "Storm", "unknown", ""),
    "crew_name": ("Blitz", "blitz", "Volt", "Ampère"),
    "base": ("Nord", "Au", "Bern", ""),
    "zone": ("CH", "DE", "ch"),
    "event": ("visit", "quote", "sign", "Visit", "login", "cancel"),
    "page": ("/home", "/home/", "/price?x=1", "/price", "", "/Home"),
    "group": ("A", "a", "B", ""),
    "report": (
        '{"severity": 3, "tags": ["wind", "night"], "site": {"name": "Au"}}',
        '{"severity": "3", "tags": [], "site": {"name": null}}',
        '{"severity": null, "site": {}}',
        '{"tags": ["wind", "wind"], "site": {"name": "au"}}',
        '{"severity": 4.6, "tags": ["ice"]}',
        "{}",
    ),
    "properties": (
        '{"plan": "flex", "kwh": 1200, "ab": "b"}',
        '{"plan": "Flex", "kwh": "1200"}',
        '{"plan": null, "kwh": 0, "ab": "a"}',
        '{"plan": "", "kwh": "many"}',
        '{"kwh": 99.5}',
        "{}",
    ),
}
_AMOUNTS = (
    "0",
    "0.01",
    "0.5",
    "1",
    "1.5",
    "2.25",
    "10",
    "12.345",
    "49.99",
    "100",
    "100",
    "250.5",
    "-1",
    "-10",
    "999.995",
)
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "05:59:59", "06:00:00", "12:00:00", "12:30:30", "21:59:59", "22:00:00",
           "22:30:00", "23:59:59")  # fmt: skip
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2024, 2, 29), (2024, 12, 29), (2024, 12, 31), (2025, 1, 1), (2025, 1, 31), (2025, 2, 28), (2025, 3, 1),
        (2025, 3, 30), (2025, 3, 31), (2025, 4, 1), (2025, 6, 30), (2025, 7, 1), (2025, 9, 30), (2025, 10, 1),
        (2025, 10, 26), (2025, 12, 31),
    )
)  # fmt: skip
_SHIFTS = (1, 1, 2, 6, 7, 8, 13, 14, 28, 30, 31, 59, 60, 61, 90, 365)
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are on both sides of the dates, numbers and spans of time that the versions compare with.
    """
    text, random = "\n".join(versions), Random(f"grid:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.04, 0.1, 0.1, 0.3))
    for table, columns in tables_of(text).items():
        count = random.choice((6, 14, 28) if table in _MANY else (3, 6, 12))
        rows = [_row(random, pools, nulls, columns) for _ in range(count)]
        rows += random.sample(rows, random.choice((0, 0, 1, 3)))
        typed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        yield f'CREATE TABLE "{table}" ({typed})'
        yield f'INSERT INTO "{table}" VALUES {", ".join(rows)}'


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in {**TABLES, **TARGETS}.items() if re.search(rf"(?i)\b{table}\b", text)}


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    numbers, days = _near_numbers(text, random), _days(text, random)
    times = [f"{day} {clock}" for day in days for clock in random.sample(_CLOCKS, random.choice((2, 4, 8)))]
    if random.random() < 0.5:
        spans = _spans_apart(text, random.choice(days))
        times = random.sample(spans, random.randint(3, len(spans))) if spans else times
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": times,
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((3, 6, 12))), *numbers[: random.choice((0, 2, 4))]],
        "INTEGER": ["0", "1", "2", "3", "7", *random.choice(((), ("-1",))), *numbers],
        "BIGINT": ["0", "1", "2", *numbers],
        "BOOLEAN": ["true", "false"],
        "keys": [str(key) for key in range(1, random.choice((2, 3, 4, 6)))],
        **{name: _texts(text, texts, random) for name, texts in _TEXTS.items()},
    }


def _near_numbers(text: str, random: Random) -> list[str]:
    """Numbers at and next to those that the text names."""
    named = {int(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named for shift in (-1, 0, 1)})
    return [str(number) for number in random.sample(near, min(len(near), 5))]


def _days(text: str, random: Random) -> list[date]:
    """Days at and next to those that the text names, ends of periods, and days some weeks or months apart."""
    named = sorted(set(map(date.fromisoformat, re.findall(r"\b20\d{2}-\d{2}-\d{2}", text))))
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((1, 3, 5))) + random.sample(near, min(len(near), random.choice((2, 6))))
    first = random.choice(days)
    return days + [first + timedelta(days=shift) for shift in random.sample(_SHIFTS, random.choice((1, 4)))]


def _spans_apart(text: str, day: date) -> list[str]:
    """Times that are just the named spans apart, or a second less or more."""
    named = re.findall(r"(?i)INTERVAL '?(\d+)'? ?(second|minute|hour|day)", text)
    named += [(count, unit) for unit, count in re.findall(r"(?i)(minute|hour|day)s? *[<>]=? *(\d+)", text)]
    spans = sorted({int(count) * _UNITS[unit.lower()] for count, unit in named})
    noon = datetime(day.year, day.month, day.day, 12)
    return [
        str(noon + timedelta(seconds=span * far + more)) for span in spans for far in (0, 1, 2) for more in (-1, 0, 1)
    ]


def _texts(text: str, texts: Sequence[str], random: Random) -> Sequence[str]:
    """All texts, or few: those that the statement names, and some others."""
    if random.random() < 0.5:
        return texts
    named = [one for one in texts if f"'{one}'" in text]
    return [*named, *random.sample(texts, random.choice((0, 1, 2)) if named else 2)]


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, columns: Mapping[str, str]) -> str:
    shares = {name: max(nulls, 0.4) if name in _ENDS else nulls for name in columns}
    cells = (
        "NULL" if random.random() < shares[name] else _value(random, pools, name, kind)
        for name, kind in columns.items()
    )
    return f"({', '.join(cells)})"


def _value(random: Random, pools: Mapping[str, Sequence[str]], column: str, kind: str) -> str:
    pool = pools.get(column) or pools["keys" if column.endswith("_id") else kind.partition("(")[0]]
    value = random.choice(pool)
    quoted = kind.partition("(")[0] in ("VARCHAR", "JSON", "DATE", "TIMESTAMP")
    return "'" + value.replace("'", "''") + "'" if quoted else value
