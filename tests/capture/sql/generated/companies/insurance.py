"""Random databases of an insurer: policies and their versions, claims, payments, invoices; some keys are declared."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random

from capture.sql.generated.companies.logistics import target_of

__all__ = ("KEYS", "TABLES", "TARGETS", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "customers": {
        "customer_id": "INTEGER",
        "full_name": "VARCHAR",
        "email": "VARCHAR",
        "phone": "VARCHAR",
        "birth_date": "DATE",
        "postcode": "VARCHAR",
        "segment": "VARCHAR",
        "is_business": "BOOLEAN",
        "referred_by": "INTEGER",
        "created_at": "TIMESTAMP",
    },
    "agents": {
        "agent_id": "INTEGER",
        "agent_name": "VARCHAR",
        "region": "VARCHAR",
        "manager_id": "INTEGER",
        "hired_on": "DATE",
        "left_on": "DATE",
        "target_premium": "DECIMAL(12,2)",
    },
    "policies": {
        "policy_id": "INTEGER",
        "customer_id": "INTEGER",
        "agent_id": "INTEGER",
        "product": "VARCHAR",
        "status": "VARCHAR",
        "start_date": "DATE",
        "end_date": "DATE",
        "annual_premium": "DECIMAL(10,2)",
        "instalments": "INTEGER",
        "channel": "VARCHAR",
    },
    "policy_versions": {
        "policy_id": "INTEGER",
        "version_no": "INTEGER",
        "valid_from": "DATE",
        "valid_to": "DATE",
        "coverage": "DECIMAL(12,2)",
        "deductible": "DECIMAL(10,2)",
        "reason": "VARCHAR",
        "changed_at": "TIMESTAMP",
    },
    "invoices": {
        "invoice_id": "INTEGER",
        "policy_id": "INTEGER",
        "due_on": "DATE",
        "paid_on": "DATE",
        "amount": "DECIMAL(10,2)",
        "paid_amount": "DECIMAL(10,2)",
        "is_reversed": "BOOLEAN",
    },
    "claims": {
        "claim_id": "INTEGER",
        "policy_id": "INTEGER",
        "claim_type": "VARCHAR",
        "status": "VARCHAR",
        "occurred_on": "DATE",
        "reported_at": "TIMESTAMP",
        "closed_at": "TIMESTAMP",
        "reserve": "DECIMAL(12,2)",
        "adjuster_id": "INTEGER",
        "is_litigated": "BOOLEAN",
    },
    "claim_payments": {
        "payment_id": "INTEGER",
        "claim_id": "INTEGER",
        "payee": "VARCHAR",
        "amount": "DECIMAL(12,2)",
        "paid_at": "TIMESTAMP",
        "is_recovery": "BOOLEAN",
    },
    "claim_events": {
        "claim_id": "INTEGER",
        "event_type": "VARCHAR",
        "event_at": "TIMESTAMP",
        "actor_id": "INTEGER",
        "note": "VARCHAR",
    },
}
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, Sequence[str]] = {
    "customers": ("customer_id",),
    "agents": ("agent_id",),
    "policies": ("policy_id",),
    "claims": ("claim_id",),
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_COUNTS: Mapping[str, Sequence[int]] = {
    "customers": (3, 7, 12),
    "agents": (4, 8, 12),
    "policies": (5, 12, 20),
    "claims": (5, 10, 18),
}
_ENDS = frozenset(("end_date", "valid_to", "left_on", "paid_on", "closed_at", "referred_by", "manager_id"))
"""Columns that are often unknown."""
_TEXTS: Mapping[str, Sequence[str]] = {
    "full_name": ("Ada Berg", "ada berg", " Ada Berg", "Jo van Os", "Jo", "Berg, Ada", ""),
    "email": ("ada@mail.de", "Ada@Mail.DE", " ada@mail.de ", "ada+x@mail.de", "jo@post.io", "nobody", "a@b@c.d", ""),
    "phone": ("+49 30 123", "004930123", "030-123", "+49-30-123", "n/a", ""),
    "postcode": ("10115", "10999", "1011", "80331", " 10115", "A-101", "01067", ""),
    "segment": ("retail", "Retail", "vip", "corporate", "retail ", ""),
    "agent_name": ("Kim Lee", "kim lee", "Max O'Hara", "Max", ""),
    "region": ("north", "south", "North", "west", ""),
    "product": ("motor", "home", "Motor", "life", "motor_fleet", "travel", ""),
    "channel": ("web", "broker", "phone", "Web", ""),
    "claim_type": ("theft", "fire", "water", "Fire", "collision", ""),
    "payee": ("customer", "garage", "lawyer", "Customer", ""),
    "reason": ("renewal", "upgrade", "Renewal", "correction", ""),
    "event_type": ("opened", "contacted", "assessed", "closed", "reopened", "note", "Closed"),
    "note": ("call back", "Call back", "no answer", "total loss", "TOTAL LOSS: car", "50% share", ""),
    "status": ("active", "lapsed", "cancelled", "Active", "open", "closed", "rejected", "reopened", ""),
}
_AMOUNTS = (
    "0", "0", "0.01", "0.5", "1", "1", "2.25", "10", "10", "12.34", "99.99", "100", "100", "-1", "-10", "333.33",
    "1000", "1200",
)  # fmt: skip
_RESERVES = ("0", "1", "50", "100", "999.99", "1000", "1200", "5000")
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "08:59:59", "09:00:00", "12:00:00", "17:30:00", "23:59:59")
_BIRTHS = (
    "1948-05-01", "1959-12-31", "1960-01-01", "1960-06-15", "1985-03-01", "1998-12-31", "1999-01-01", "1999-06-15",
    "2000-02-29",
)  # fmt: skip
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2023, 12, 31), (2024, 1, 1), (2024, 1, 31), (2024, 2, 28), (2024, 2, 29), (2024, 3, 1), (2024, 3, 31),
        (2024, 4, 1), (2024, 6, 15), (2024, 6, 30), (2024, 7, 1), (2024, 9, 9), (2024, 11, 30), (2024, 12, 31),
        (2025, 1, 1), (2025, 1, 15), (2025, 2, 28), (2025, 3, 1), (2025, 12, 31), (2026, 1, 1),
    )
)  # fmt: skip
_SHIFTS = (1, 1, 2, 7, 13, 14, 15, 29, 30, 31, 45, 60, 61, 89, 90, 91, 180, 364, 365, 366, 730)
_HOURS = {"hour": 3600, "minute": 60, "day": 86400}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and spans of time that the versions compare with. Keys of
    `KEYS` are declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"insurance:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        rows = list(_rows(random, pools, nulls, table))
        key = f", PRIMARY KEY ({', '.join(KEYS[table])})" if table in KEYS else ""
        typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        values = ", ".join(f"({', '.join(row)})" for row in rows)
        yield f"CREATE TABLE {table} ({typed}{key})"
        yield f"INSERT INTO {table} VALUES {values}"


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in TABLES.items() if re.search(rf"(?i)(?<![\w.]){table}\b", text)}


def _rows(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> Iterator[list[str]]:
    """Rows of a table, some equal or nearly equal to another one; the declared key counts them."""
    columns = TABLES[table]
    rows = [_row(random, pools, nulls, columns) for _ in range(random.choice(_COUNTS.get(table, (8, 18, 30))))]
    rows += [_twin(random, pools, columns, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
    rows += random.sample(rows, random.choice((0, 0, 1, 3)))
    for number, row in enumerate(rows, start=1):
        yield [str(number), *row[1:]] if table in KEYS else row


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    days, numbers = _days(text, random), _near_numbers(text, random)
    keys = [str(key) for key in range(1, random.choice((3, 4, 6, 9)))]
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": _times(text, days, random),
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((2, 4, 7, 14))), *numbers[: random.choice((0, 3, 8))]],
        "INTEGER": ["0", "1", "2", "3", "4", "12", *numbers[:2]],
        "BOOLEAN": ["true", "false", *random.choice((("false", "false"), ("true",), ()))],
        "reserve": [*random.sample(_RESERVES, random.choice((2, 4, 8))), *numbers[: random.choice((0, 2))]],
        "keys": keys,
        "birth_date": random.sample(_BIRTHS, random.choice((2, 5, 9))),
        "version_no": ["1", "1", "2", "2", "3", "4"],
        **{name: _texts(text, texts, random) for name, texts in _TEXTS.items()},
    }


def _near_numbers(text: str, random: Random) -> list[str]:
    """Numbers at and next to those that the text names."""
    named = {float(number) for number in re.findall(r"(?<![-.\w:'])\d{1,6}(?:\.\d{1,2})?(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named for shift in (-1, 0, 0.01, 1)})
    return [f"{number:g}" if number < 100_000 else f"{number:.2f}" for number in random.sample(near, min(len(near), 8))]


def _days(text: str, random: Random) -> list[date]:
    """Days at and next to those that the text names, ends of periods, and days some weeks or months apart."""
    named = sorted(set(map(date.fromisoformat, re.findall(r"\b20\d{2}-\d{2}-\d{2}", text))))
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((1, 3, 6))) + random.sample(near, min(len(near), random.choice((2, 6))))
    first, *_ = random.choices(near if near and random.random() < 0.7 else days)
    spans = [int(count) for count in re.findall(r"(?<![-.\w:'])\d{1,3}(?![-.\w:'])", text) if int(count)]
    apart = [*random.sample(_SHIFTS, random.choice((2, 5))), *random.sample(spans, min(len(spans), 3))]
    return days + [first + timedelta(days=sign * shift) for shift in apart for sign in random.choice(((1,), (1, -1)))]


def _times(text: str, days: Sequence[date], random: Random) -> list[str]:
    """Times of these days; in some databases times just as far apart as the text names."""
    times = [f"{day} {clock}" for day in days for clock in random.sample(_CLOCKS, random.choice((1, 3, 6)))]
    spans = _spans_apart(text, random.choice(days))
    if not spans or random.random() < 0.35:
        return times
    return random.sample(spans, random.randint(min(3, len(spans)), len(spans))) + random.sample(times, 2)


def _spans_apart(text: str, day: date) -> list[str]:
    """Times that are just the named spans apart, or a second less or more."""
    named = re.findall(r"(?i)INTERVAL '?(\d+)'? ?(minute|hour|day)", text)
    named += [(count, unit) for unit, count in re.findall(r"(?i)'(minute|hour|day)'[^<>=\n]{0,60}[<>]=? *(\d+)", text)]
    spans = sorted({int(count) * _HOURS[unit.lower()] for count, unit in named})
    noon = datetime(day.year, day.month, day.day, 12)
    return [
        str(noon + timedelta(seconds=span * far + more)) for span in spans for far in (0, 1) for more in (-1, 0, 0, 1)
    ]


def _texts(text: str, texts: Sequence[str], random: Random) -> Sequence[str]:
    """All texts, or few: those that the versions name, and some others."""
    if random.random() < 0.4:
        return texts
    named = [one for one in texts if f"'{one}'" in text]
    return [*named, *named, *random.sample(texts, random.choice((0, 1, 2)) if named else 3)]


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, columns: Mapping[str, str]) -> list[str]:
    shares = {
        name: max(nulls, 0.4 if name in _ENDS else 0.12 if kind == "BOOLEAN" else 0.0) for name, kind in columns.items()
    }
    return [
        "NULL" if random.random() < shares[name] else _value(random, pools, name, kind)
        for name, kind in columns.items()
    ]


def _twin(
    random: Random, pools: Mapping[str, Sequence[str]], columns: Mapping[str, str], row: Sequence[str]
) -> list[str]:
    """A row that differs from another one in one value."""
    place, (name, kind) = random.choice(list(enumerate(columns.items())))
    return [*row[:place], _value(random, pools, name, kind), *row[place + 1 :]]


def _value(random: Random, pools: Mapping[str, Sequence[str]], column: str, kind: str) -> str:
    is_key = column.endswith("_id") or column == "referred_by"
    value = random.choice(pools.get(column) or pools["keys" if is_key else kind.partition("(")[0]])
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP") else value
