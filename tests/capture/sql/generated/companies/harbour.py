"""Random databases of a container port: vessels, calls, moves, holds, invoices, tariffs, shifts, trucks, reefers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from random import Random

from capture.sql.generated.companies.campus import is_read, made_table
from capture.sql.generated.companies.logistics import target_of

__all__ = ("KEYS", "TABLES", "TARGETS", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "vessels": {
        "vessel_id": "INTEGER",
        "imo": "VARCHAR",
        "name": "VARCHAR",
        "flag": "VARCHAR",
        "teu_capacity": "INTEGER",
        "length_m": "DECIMAL(6,2)",
        "built_on": "DATE",
        "operator_id": "INTEGER",
        "is_scrapped": "BOOLEAN",
        "updated_at": "TIMESTAMP",
    },
    "port_calls": {
        "call_id": "INTEGER",
        "vessel_id": "INTEGER",
        "berth_id": "INTEGER",
        "agent_id": "INTEGER",
        "voyage": "VARCHAR",
        "status": "VARCHAR",
        "eta": "TIMESTAMP",
        "ata": "TIMESTAMP",
        "atd": "TIMESTAMP",
    },
    "berths": {
        "berth_id": "INTEGER",
        "code": "VARCHAR",
        "terminal": "VARCHAR",
        "depth_m": "DECIMAL(5,2)",
        "quay length": "INTEGER",
        "opened_on": "DATE",
        "closed_on": "DATE",
    },
    "liegeplätze": {"berth_id": "INTEGER", "straße": "VARCHAR", "zuständig": "VARCHAR", "prüfung am": "DATE"},
    "containers": {
        "container_no": "VARCHAR",
        "iso_type": "VARCHAR",
        "owner_code": "VARCHAR",
        "tare_kg": "INTEGER",
        "is_reefer": "BOOLEAN",
        "updated_at": "TIMESTAMP",
    },
    "movements": {
        "container_no": "VARCHAR",
        "call_id": "INTEGER",
        "kind": "VARCHAR",
        "slot": "VARCHAR",
        "crane_id": "INTEGER",
        "weight_kg": "INTEGER",
        "moved_at": "TIMESTAMP",
    },
    "customs holds": {
        "container_no": "VARCHAR",
        "authority": "VARCHAR",
        "reason": "VARCHAR",
        "from": "TIMESTAMP",
        "to": "TIMESTAMP",
    },
    "agents": {
        "agent_id": "INTEGER",
        "name": "VARCHAR",
        "email": "VARCHAR",
        "country": "VARCHAR",
        "tier": "VARCHAR",
        "parent_id": "INTEGER",
        "credit_limit": "DECIMAL(12,2)",
        "joined_on": "DATE",
        "is_deleted": "BOOLEAN",
    },
    "invoices": {
        "invoice_id": "INTEGER",
        "agent_id": "INTEGER",
        "call_id": "INTEGER",
        "amount_cents": "INTEGER",
        "currency": "VARCHAR",
        "issued_on": "DATE",
        "due_on": "DATE",
        "paid_on": "DATE",
        "is_void": "BOOLEAN",
    },
    "invoice_lines": {
        "invoice_id": "INTEGER",
        "line_no": "INTEGER",
        "service": "VARCHAR",
        "quantity": "INTEGER",
        "unit_price": "DECIMAL(10,2)",
        "discount_pct": "DECIMAL(5,2)",
    },
    "payments": {
        "invoice_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "method": "VARCHAR",
        "is_refund": "BOOLEAN",
        "paid_at": "TIMESTAMP",
    },
    "fx_rates": {"currency": "VARCHAR", "valid_from": "DATE", "valid_to": "DATE", "rate": "DECIMAL(8,4)"},
    "tariffs": {
        "service": "VARCHAR",
        "size_ft": "INTEGER",
        "price": "DECIMAL(10,2)",
        "valid_from": "DATE",
        "valid_to": "DATE",
    },
    "crane_shifts": {
        "crane_id": "INTEGER",
        "crew": "VARCHAR",
        "operator": "VARCHAR",
        "starts_at": "TIMESTAMP",
        "ends_at": "TIMESTAMP",
        "break_min": "INTEGER",
        "moves": "INTEGER",
    },
    "gate_tickets": {
        "plate": "VARCHAR",
        "haulier_id": "INTEGER",
        "container_no": "VARCHAR",
        "direction": "VARCHAR",
        "lane": "INTEGER",
        "arrived_at": "TIMESTAMP",
        "left_at": "TIMESTAMP",
        "is_rejected": "BOOLEAN",
    },
    "hauliers": {"haulier_id": "INTEGER", "name": "VARCHAR", "country": "VARCHAR", "is_blocked": "BOOLEAN"},
    "reefer_readings": {
        "container_no": "VARCHAR",
        "sensor": "VARCHAR",
        "celsius": "DECIMAL(5,2)",
        "humidity": "DOUBLE",
        "payload": "VARCHAR",
        "read_at": "TIMESTAMP",
    },
    "users": {
        "user_id": "INTEGER",
        "email": "VARCHAR",
        "role": "VARCHAR",
        "agent_id": "INTEGER",
        "created_at": "TIMESTAMP",
        "last_login_at": "TIMESTAMP",
        "is_active": "BOOLEAN",
    },
    "portal_events": {
        "visitor": "VARCHAR",
        "user_id": "INTEGER",
        "event_name": "VARCHAR",
        "page": "VARCHAR",
        "occurred_at": "TIMESTAMP",
    },
    "vessel_history": {
        "vessel_id": "INTEGER",
        "name": "VARCHAR",
        "operator_id": "INTEGER",
        "valid_from": "TIMESTAMP",
        "valid_to": "TIMESTAMP",
    },
    "order": {
        "order id": "INTEGER",
        "user": "VARCHAR",
        "group": "VARCHAR",
        "limit": "DECIMAL(10,2)",
        "when": "TIMESTAMP",
        "end": "TIMESTAMP",
        "agent_id": "INTEGER",
    },
    "dangerous_goods": {
        "container_no": "VARCHAR",
        "un_number": "VARCHAR",
        "class": "VARCHAR",
        "declared_at": "TIMESTAMP",
    },
    "monthly targets": {"terminal": "VARCHAR", "year": "INTEGER", "jan": "INTEGER", "feb": "INTEGER", "mar": "INTEGER"},
    "load_log": {"table_name": "VARCHAR", "loaded_until": "TIMESTAMP"},
}
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "vessels": ("vessel_id",),
    "port_calls": ("call_id",),
    "berths": ("berth_id",),
    "agents": ("agent_id",),
    "invoices": ("invoice_id",),
    "invoice_lines": ("invoice_id", "line_no"),
    "fx_rates": ("currency", "valid_from"),
    "hauliers": ("haulier_id",),
    "users": ("user_id",),
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_FEW, _SOME, _MANY = (2, 4, 6), (4, 8, 14), (8, 16, 30)
_COUNTS: Mapping[str, Sequence[int]] = {
    "vessels": _FEW, "berths": _FEW, "liegeplätze": _FEW, "agents": _FEW, "hauliers": _FEW, "load_log": (1, 2, 4),
    "port_calls": _SOME, "invoices": _SOME, "users": _SOME, "monthly targets": _FEW,
}  # fmt: skip
_OFTEN_UNKNOWN = frozenset(("closed_on", "to", "valid_to", "paid_on", "ata", "atd", "left_at", "parent_id", "end"))
_TEXTS: Mapping[str, Sequence[str]] = {
    "imo": ("IMO9321483", "9321483", "imo 9074729", "IMO 9074729", " 9074729", ""),
    "name": ("Ever Given", "EVER GIVEN", " Maersk Alba ", "Maersk Alba", "Åse & Søn", "ocean gmbh", ""),
    "flag": ("DE", "de", "PA", "LR", "", "  "),
    "voyage": ("012E", "012W", "012e", "7", ""),
    "status": ("berthed", "Berthed", "planned", "departed", "cancelled", "CANCELLED", "open", ""),
    "code": ("A1", "a1", "B-2", " B-2", ""),
    "terminal": ("North", "north", "South", "", "West"),
    "straße": ("Kai 1", "Hafenstr. 2", " Kai 1", ""),
    "zuständig": ("Ada", "ada", "niemand", "Jo", ""),
    "container_no": ("MSKU1234567", "msku1234567", "TCLU7654321", " HLXU0000001", "HLXU0000001"),
    "iso_type": ("22G1", "42G1", "45R1", "22r1", "L5G1", ""),
    "owner_code": ("MSK", "msk", "HLC", "", "TCL"),
    "kind": ("discharge", "load", "gate_in", "gate_out", "shift", "Load", "DISCHARGE", ""),
    "slot": ("A-01-2", "B-10-1", "a-01-2", "TRUCK", ""),
    "authority": ("customs", "Customs", "veterinary", "police", ""),
    "reason": ("documents", "scan", " Scan", "unknown", ""),
    "email": ("ada@port.de", " Ada@Port.DE ", "jo@lines.com", "jo@test.port", "nobody", ""),
    "country": ("DE", "de", "NL", "nl", "BE", "DK", ""),
    "tier": ("gold", "Gold", "silver", "none", ""),
    "currency": ("EUR", "USD", "usd", " USD", "DKK", "eur", ""),
    "service": ("lift", "Lift", "storage", "reefer", "pilot", ""),
    "method": ("transfer", "card", "Card", "cash", ""),
    "crew": ("red", "Red", "blue", ""),
    "operator": ("Ada", "Jo", "Åse", ""),
    "plate": ("HH-AB 12", "hh-ab 12", "HHAB12", "B 7", ""),
    "direction": ("in", "IN", "out", "Out", ""),
    "sensor": ("return", "supply", "Supply", ""),
    "payload": (
        '{"alarm": "door", "battery": 80, "probe": {"set_point": "-18"}}',
        '{"alarm": "none", "battery": 20, "probe": {"set_point": "4"}}',
        '{"alarm": null, "battery": "19"}',
        '{"alarm": "Door", "probe": {}}',
        '{"battery": 100, "probe": {"set_point": " 4 "}}',
        "{}",
    ),
    "role": ("admin", "Admin", "clerk", "viewer", "test", ""),
    "visitor": ("v1", "v2", "v3"),
    "event_name": ("view_call", "book_slot", "confirm_slot", "view_call", "search", "Confirm_Slot", ""),
    "page": ("/", "/calls/1", "/calls/1?ref=mail", "/book", "/Book", ""),
    "user": ("Ada", "ada", "Jo", "system", ""),
    "group": ("import", "Import", "export", "transit", ""),
    "un_number": ("UN1203", "1203", "un1203", "UN 0012", ""),
    "class": ("3", "9", "1.1", "1.4S", "", "2"),
    "table_name": ("fct_movements", "fct_gate", ""),
}  # fmt: skip
_AMOUNTS = ("0", "0", "0.01", "1", "9.5", "10", "10", "12.34", "50", "99.99", "100", "100.5", "-1", "-10", "500")
_CLOCKS = (
    "00:00:00",
    "00:00:00",
    "00:00:01",
    "05:59:59",
    "06:00:00",
    "12:00:00.25",
    "22:00:00",
    "23:30:00",
    "23:59:59",
)
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2023, 12, 31), (2024, 1, 1), (2024, 1, 7), (2024, 1, 8), (2024, 1, 31), (2024, 2, 29), (2024, 3, 1),
        (2024, 3, 31), (2024, 4, 1), (2024, 6, 30), (2024, 7, 1), (2024, 10, 27), (2024, 12, 30), (2024, 12, 31),
        (2025, 1, 1), (2025, 1, 5), (2025, 1, 6), (2025, 2, 28), (2025, 3, 31), (2025, 12, 31),
    )
)  # fmt: skip
_SECONDS = {"hour": 3600, "minute": 60}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and spans that the versions compare with. Keys of `KEYS`
    are declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"harbour:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        yield from made_table(table, columns, ", ".join(KEYS.get(table, ())), _rows(random, pools, nulls, table))


@cache
def tables_of(text: str) -> Mapping[str, Mapping[str, str]]:
    """The tables that a text names after FROM, JOIN or a comma, with their columns and types."""
    return {table: columns for table, columns in TABLES.items() if is_read(table, text)}


def _rows(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> Iterator[list[str]]:
    """Rows of a table, some equal or nearly equal to another one. A key of one column counts them."""
    rows = [_row(random, pools, nulls, table) for _ in range(random.choice(_COUNTS.get(table, _MANY)))]
    rows += [_twin(random, pools, table, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
    rows += random.sample(rows, min(random.choice((0, 0, 1, 2)), len(rows)))
    key, seen = KEYS.get(table, ()), set[tuple[str, ...]]()
    for number, row in enumerate(rows, start=1):
        if len(key) == 1:
            yield [str(number), *row[1:]]
        elif not key:
            yield row
        elif (places := tuple(row[list(TABLES[table]).index(name)] for name in key)) not in seen:
            seen.add(places)
            yield row


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> list[str]:
    found = []
    for name, kind in TABLES[table].items():
        share = max(nulls, 0.4 if name in _OFTEN_UNKNOWN else 0.12 if kind == "BOOLEAN" else 0.0)
        is_null = name not in KEYS.get(table, ()) and random.random() < share
        found.append("NULL" if is_null else _value(random, pools, table, name))
    return found


def _twin(random: Random, pools: Mapping[str, Sequence[str]], table: str, row: Sequence[str]) -> list[str]:
    """A row that differs from another one in one value."""
    place, name = random.choice(list(enumerate(TABLES[table])))
    return [*row[:place], _value(random, pools, table, name), *row[place + 1 :]]


def _value(random: Random, pools: Mapping[str, Sequence[str]], table: str, name: str) -> str:
    kind = TABLES[table][name]
    by_type = "keys" if name.endswith("_id") else kind.partition("(")[0]
    value = random.choice(pools.get(name) or pools[by_type])
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP", "DOUBLE") else value


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    days, numbers = _days(text, random), _near_numbers(text, random)
    whole = [number for number in numbers if number.lstrip("-").isdigit()]
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": _times(text, days, random),
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((3, 6, 12))), *numbers],
        "DOUBLE": ["0", "0.5", "80", "nan", "100", "-0.0", *numbers],
        "INTEGER": ["0", "1", "2", "3", "40", *whole],
        "BOOLEAN": ["true", "false", *random.choice((("false", "false"), ("true",), ()))],
        "keys": [str(key) for key in range(1, random.choice((3, 4, 6, 8)))],
        "rate": ["0.5", "0.1341", "1", "1.0825", "2", "0", "-1"],
        "discount_pct": ["0", "5", "12.5", "50", "100"],
        "line_no": ["1", "2", "3"],
        "order id": ["1", "2", "3", "4", "5"],
        "lane": ["1", "2", "3"],
        "size_ft": ["20", "40", "45"],
        "quantity": ["0", "1", "2", "3", "-1"],
        "celsius": ["-18", "-18.5", "0", "4", "4.01", "8", "-25", *(one for one in numbers if len(one) < 4)],
        "year": ["2023", "2024", "2024", "2025"],
        "break_min": ["0", "15", "30", "45", "60"],
        **{name: _texts(text, texts, random) for name, texts in _TEXTS.items()},
    }


def _texts(text: str, texts: Sequence[str], random: Random) -> Sequence[str]:
    """All texts, or few: those that the versions name, and some others."""
    if random.random() < 0.4:
        return texts
    named = [one for one in texts if one and f"'{one}'" in text]
    return [*named, *named, *random.sample(texts, random.choice((0, 1, 2)) if named else 3)]


def _near_numbers(text: str, random: Random) -> list[str]:
    """Numbers at and next to those that the text names."""
    named = {float(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?:\.\d{1,2})?(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named if number < 1000 for shift in (-1, 0, 0.01, 1)})
    near += [number for number in sorted(named) if number >= 1000]
    return [f"{number:g}" for number in random.sample(near, min(len(near), random.choice((2, 5, 8))))]


def _days(text: str, random: Random) -> list[date]:
    """Days at and next to those that the text names, ends of periods, and days as far apart as its numbers."""
    named = sorted(set(map(date.fromisoformat, re.findall(r"\b20[0-4]\d-\d{2}-\d{2}", text))))
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((1, 3, 6))) + random.sample(near, min(len(near), random.choice((2, 6))))
    spans = sorted({int(count) for count in re.findall(r"(?<![-.\w:'])\d{1,3}(?![-.\w:'])", text)})
    apart = [1, 7, random.choice((2, 14, 29, 31, 90, 365)), *random.sample(spans, min(len(spans), 4))]
    first = random.choice(near if near and random.random() < 0.7 else days)
    return days + [first + timedelta(days=sign * shift) for shift in apart for sign in random.choice(((1,), (1, -1)))]


def _times(text: str, days: Sequence[date], random: Random) -> list[str]:
    """Times of these days; in some databases times just as far apart as the spans that the text names."""
    times = [f"{day} {clock}" for day in days for clock in random.sample(_CLOCKS, random.choice((1, 3, 6)))]
    named = re.findall(r"interval '?(\d+) (minute|hour)", text.lower())
    spans = {int(count) * _SECONDS[unit] for count, unit in named}
    if not spans or random.random() < 0.35:
        return times
    noon = datetime.combine(random.choice(days), time(12))
    apart = [
        noon + timedelta(seconds=span * far + more)
        for span in sorted(spans)
        for far in (0, 1, 2)
        for more in (-1, 0, 0, 1)
    ]
    return [*map(str, apart), *random.sample(times, min(len(times), 2))]
