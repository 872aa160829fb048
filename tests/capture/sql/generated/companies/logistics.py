"""Random databases of a parcel company: routes, bills and claims; small domains, NULLs, ties, duplicates, no key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random

NULLS = (0.03, 0.12, 0.3)
"""The share of NULLs in a database."""
TABLES: Mapping[str, Mapping[str, str]] = {
    "parcels": {
        "parcel_id": "INTEGER",
        "tracking_code": "VARCHAR",
        "customer_id": "INTEGER",
        "depot_id": "INTEGER",
        "service": "VARCHAR",
        "weight_kg": "DECIMAL(8,3)",
        "value_eur": "DECIMAL(12,2)",
        "created_at": "TIMESTAMP",
        "promised_on": "DATE",
        "delivered_at": "TIMESTAMP",
        "is_fragile": "BOOLEAN",
        "postcode": "VARCHAR",
        "reference": "VARCHAR",
    },
    "scans": {
        "scan_id": "INTEGER",
        "parcel_id": "INTEGER",
        "depot_id": "INTEGER",
        "driver_id": "INTEGER",
        "event": "VARCHAR",
        "scanned_at": "TIMESTAMP",
        "note": "VARCHAR",
    },
    "customers": {
        "customer_id": "INTEGER",
        "company": "VARCHAR",
        "email": "VARCHAR",
        "tier": "VARCHAR",
        "country": "VARCHAR",
        "signed_on": "DATE",
        "closed_on": "DATE",
        "credit_limit": "DECIMAL(12,2)",
        "is_internal": "BOOLEAN",
        "parent_id": "INTEGER",
    },
    "depots": {
        "depot_id": "INTEGER",
        "depot_name": "VARCHAR",
        "region": "VARCHAR",
        "capacity": "INTEGER",
        "opened_on": "DATE",
    },
    "drivers": {
        "driver_id": "INTEGER",
        "full_name": "VARCHAR",
        "depot_id": "INTEGER",
        "hired_on": "DATE",
        "left_on": "DATE",
        "hourly_rate": "DECIMAL(8,2)",
        "phone": "VARCHAR",
    },
    "routes": {
        "route_id": "INTEGER",
        "driver_id": "INTEGER",
        "depot_id": "INTEGER",
        "route_date": "DATE",
        "started_at": "TIMESTAMP",
        "finished_at": "TIMESTAMP",
        "planned_stops": "INTEGER",
        "done_stops": "INTEGER",
        "distance_km": "DOUBLE",
    },
    "bills": {
        "bill_id": "INTEGER",
        "customer_id": "INTEGER",
        "billed_on": "DATE",
        "due_on": "DATE",
        "net": "DECIMAL(12,2)",
        "vat": "DECIMAL(12,2)",
        "status": "VARCHAR",
        "currency": "VARCHAR",
    },
    "bill_lines": {
        "bill_id": "INTEGER",
        "line_no": "INTEGER",
        "parcel_id": "INTEGER",
        "description": "VARCHAR",
        "qty": "INTEGER",
        "price": "DECIMAL(10,2)",
        "rebate_pct": "INTEGER",
    },
    "receipts": {
        "receipt_id": "INTEGER",
        "bill_id": "INTEGER",
        "paid_on": "DATE",
        "amount": "DECIMAL(12,2)",
        "channel": "VARCHAR",
        "is_reversal": "BOOLEAN",
    },
    "claims": {
        "case_id": "INTEGER",
        "parcel_id": "INTEGER",
        "customer_id": "INTEGER",
        "topic": "VARCHAR",
        "priority": "INTEGER",
        "opened_at": "TIMESTAMP",
        "replied_at": "TIMESTAMP",
        "solved_at": "TIMESTAMP",
        "csat": "INTEGER",
        "details": "JSON",
        "labels": "VARCHAR[]",
    },
    "tariffs": {
        "service": "VARCHAR",
        "zone": "VARCHAR",
        "from_kg": "DECIMAL(8,3)",
        "to_kg": "DECIMAL(8,3)",
        "price": "DECIMAL(10,2)",
        "valid_from": "DATE",
        "valid_to": "DATE",
    },
    "fx": {"currency": "VARCHAR", "day": "DATE", "to_eur": "DECIMAL(12,6)"},
    "Delivery Zones": {
        "post code": "VARCHAR",
        "Größe": "VARCHAR",
        "order": "INTEGER",
        "group": "VARCHAR",
        "select": "INTEGER",
    },
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "fct_depot_day": {"day": "DATE", "depot_id": "INTEGER", "parcels": "BIGINT", "kg": "DECIMAL(38,3)"},
    "dim_customer": {
        "customer_id": "INTEGER",
        "company": "VARCHAR",
        "tier": "VARCHAR",
        "country": "VARCHAR",
        "is_open": "BOOLEAN",
    },
}
"""Tables that exist, with rows, before a statement writes them."""
_COUNTS = {
    "parcels": (6, 14, 24),
    "scans": (6, 16, 30),
    "routes": (5, 12, 20),
    "bills": (5, 14, 30),
    "bill_lines": (5, 12, 20),
    "claims": (5, 12, 20),
    "customers": (3, 6, 10),
    "depots": (2, 4, 6),
    "tariffs": (3, 8, 14),
    "fx": (6, 16, 48),
    "Delivery Zones": (4, 9, 16),
}
_TEXTS: Mapping[str, Sequence[str]] = {
    "tracking_code": ("PX001", "px001", " PX002", "AB-12-9", "PX_9", "PXA9", "", "AB--7", "CB-12"),
    "service": ("express", "standard", "economy", "Express", "express "),
    "postcode": ("10115", "1011", " 8001", "80-331", "SW1A 1AA", "08001", ""),
    "reference": ("ORD-1", "ord-1", "RMA 7", "", "ORD%2", "gift"),
    "event": ("pickup", "out_for_delivery", "delivered", "failed", "returned", "Delivered"),
    "note": ("nobody home", "Nobody HOME", "damaged box", "", "left at 50% slope", "left_at"),
    "company": ("Acme", " acme", "Müller & Söhne", "O'Neil", "Zed  Ltd", "", "acme ltd", "Acme "),
    "email": ("ann@acme.io", "Ann@Acme.IO", "bob@zed.com", "none", "root@depot", "x@test.post", " bob@zed.com"),
    "tier": ("gold", "silver", "bronze", "Gold", ""),
    "country": ("CH", "DE", "AT", "de", "FR", ""),
    "depot_name": ("Bern", "Basel Nord", "Chur", "bern"),
    "region": ("north", "south", "east", "South"),
    "full_name": ("Ann Lee", "Bo", "Cy van Dam", "ann lee", " Di "),
    "phone": ("+41 79 1", "0041791", "079-1", "", "n/a"),
    "status": ("open", "paid", "void", "draft", "disputed", "written_off"),
    "currency": ("EUR", "CHF", "USD", "eur"),
    "description": ("Freight", "freight surcharge", "Fuel surcharge", "Insurance", "Pick-up fee", "fuel_x"),
    "channel": ("card", "sepa", "cash", "wire"),
    "topic": ("lost", "damaged", "late", "billing", "Lost"),
    "zone": ("A", "B", "C"),
    "post code": ("10115", "8001", " 8001", "08001", "x"),
    "Größe": ("S", "M", "L", "ß", ""),
    "group": ("urban", "rural", "Urban", "alpine"),
    "details": (
        '{"refund": 12.5, "steps": ["call", "mail"], "box": {"colour": "red"}}',
        '{"refund": "12.5", "steps": [], "box": {"colour": null}}',
        '{"refund": null, "steps": ["mail"]}',
        '{"refund": 0, "box": {}}',
        '{"steps": ["call", null, "call"], "box": {"colour": "Red"}}',
        "{}",
    ),
}
_LABELS = ("vip", "repeat", "legal", "VIP", "")
_MONEY = ("0.00", "0.01", "9.99", "10.00", "10.00", "49.50", "100.00", "250.55", "1000.00", "-5.00", "-10.00")
_PARTS = ("0", "0.25", "0.5", "1", "1.5", "2.75", "12.5")
_TIMES = (
    "00:00:00",
    "00:00:00",
    "00:00:01",
    "08:15:00",
    "08:44:59",
    "08:45:00",
    "08:45:30",
    "12:00:00",
    "20:30:30",
    "23:59:59",
)
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2024, 12, 29), (2024, 12, 31), (2025, 1, 1), (2025, 1, 6), (2025, 1, 31), (2025, 2, 1), (2025, 2, 28),
        (2025, 3, 1), (2025, 3, 30), (2025, 3, 31), (2025, 4, 1), (2025, 6, 30), (2025, 7, 1), (2024, 2, 29),
    )
)  # fmt: skip
_SHIFTS = (1, 1, 2, 3, 6, 7, 8, 14, 30, 31, 60)


def target_of(statement: str) -> str:
    """The table or view that a statement writes; empty for a query."""
    text = re.sub(r"--.*|/\*.*?\*/", "", statement)
    found = re.match(r"(?is)\s*(?:WITH|SELECT|FROM)\b", text)
    written = re.search(r"(?i)\b(?:INTO|UPDATE|DELETE FROM|(?:TABLE|VIEW)(?: IF NOT EXISTS)?) (\w+)", text)
    return written[1] if written and not found else ""


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB."""
    for table, columns, rows in filled(seed, versions):
        typed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        yield f'CREATE TABLE "{table}" ({typed})'
        yield f'INSERT INTO "{table}" VALUES {", ".join(rows)}'


def filled(seed: int, versions: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str], Sequence[str]]]:
    """The tables that versions of a statement name, with their columns and random rows. Values are on both sides of
    the dates and numbers that the versions compare with.
    """
    text, random = "\n".join(versions), Random(f"logistics:{seed}")
    pools, nulls = _pools(text, random), random.choice(NULLS)
    for table, columns in tables_of(text).items():
        count = random.choice(_COUNTS.get(table, (3, 8, 12)))
        full = random.random() < 0.1
        rows = [_row(random, pools, 0.0 if full else nulls, columns) for _ in range(count)]
        yield table, columns, [*rows, *random.sample(rows, random.choice((0, 1, 2)))]


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in {**TABLES, **TARGETS}.items() if re.search(rf"(?i)\b{table}\b", text)}


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    numbers = _near_numbers(text, random)
    days = _days(text, random)
    times = random.sample(_TIMES, random.choice((2, 4, 7)))
    hours = sorted({int(number) for number in re.findall(r"(?i)INTERVAL (\d+) HOUR", text)})
    all_texts = random.random() < 0.6
    money = [*random.sample(_MONEY, random.choice((2, 4, 8))), *numbers[: random.choice((0, 2))]]
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": [f"{day} {clock}" for day in days for clock in times]
        if not hours
        else _hours_apart(days[0], hours),
        "DECIMAL": [*money, *_tolerated(text)],
        "weight": [*random.sample(_PARTS, random.choice((2, 4))), *numbers[: random.choice((0, 3))]],
        "DOUBLE": [*random.sample(_PARTS, 4), *numbers[:2], "80.5"],
        "INTEGER": [*random.choice(((), ("-1",))), "0", "1", "2", "3", "10", *numbers],
        "BOOLEAN": ["true", "false"],
        **{name: _sample(random, text, texts, all_texts) for name, texts in _TEXTS.items()},
        "keys": [str(key) for key in range(1, random.choice((2, 3, 4, 6, 8)))],
    }


def _near_numbers(text: str, random: Random) -> list[str]:
    """Numbers at and next to those that the text names."""
    named = {int(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named for shift in (-1, 0, 0, 1)} - {-1})
    return [str(number) for number in random.sample(near, min(len(near), 5))]


def _days(text: str, random: Random) -> list[date]:
    """Days at and next to those that the text names, and others a week, a month or a quarter apart."""
    named = {date.fromisoformat(day) for day in re.findall(r"\b20\d{2}-\d{2}-\d{2}", text)}
    near = [day + timedelta(days=shift) for day in sorted(named) for shift in (-1, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((1, 3, 5))) + random.sample(near, min(len(near), random.choice((2, 5))))
    first = random.choice(days)
    return days + [first + timedelta(days=shift) for shift in random.sample(_SHIFTS, random.choice((1, 4)))]


def _hours_apart(day: date, hours: Sequence[int]) -> list[str]:
    """Times that are just these hours apart, or a second or half an hour less or more, and midnights."""
    noon = datetime(day.year, day.month, day.day, 12, 15)
    ends = [noon + timedelta(hours=shift, seconds=more) for shift in hours for more in (-1, 0, 1, 1800, 3600)]
    midnights = [datetime.combine(end, time()) for end in ends[::4]]
    return [str(one) for one in (noon, noon, noon, *ends, *midnights)]


def _tolerated(text: str) -> list[str]:
    """Amounts that differ by the small amounts that the text names."""
    named = re.findall(r"\b0\.0\d+", text)
    return [str(10 + sign * Decimal(amount)) for amount in sorted(set(named)) for sign in (-1, 0, 1)]


def _sample(random: Random, text: str, texts: Sequence[str], everything: bool) -> Sequence[str]:
    """All texts, or few, rather such as the statement names."""
    if everything:
        return texts
    named = [one for one in texts if f"'{one}'" in text]
    return [*random.sample(texts, 2), *random.sample(named, min(len(named), 2))]


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, columns: Mapping[str, str]) -> str:
    cells = ("NULL" if random.random() < nulls else _value(random, pools, name, kind) for name, kind in columns.items())
    return f"({', '.join(cells)})"


def _value(random: Random, pools: Mapping[str, Sequence[str]], column: str, kind: str) -> str:
    if texts := pools.get(column):
        return _quoted(random.choice(texts))
    if column.endswith("_id"):
        return random.choice(pools["keys"])
    if column.endswith("_kg"):
        return random.choice(pools["weight"])
    match kind.partition("(")[0]:
        case "VARCHAR[]":
            words = ("NULL", *map(_quoted, _LABELS))
            return f"[{', '.join(random.choice(words) for _ in range(random.randint(0, 3)))}]"
        case "BIGINT":
            return random.choice(pools["INTEGER"])
        case ("DATE" | "TIMESTAMP") as one:
            return _quoted(random.choice(pools[one]))
        case one:
            return random.choice(pools[one])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
