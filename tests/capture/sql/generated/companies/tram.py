"""Random databases of a public transport operator: stops, lines, trips, taps, tickets, fines, energy, subsidies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from random import Random

from capture.sql.generated.companies.campus import is_read, made_table
from capture.sql.generated.companies.logistics import target_of

__all__ = ("KEYS", "TABLES", "TARGETS", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "stops": {
        "stop_id": "INTEGER", "stop name": "VARCHAR", "code": "VARCHAR", "parent_id": "INTEGER", "zone": "VARCHAR",
        "kind": "VARCHAR", "is_closed": "BOOLEAN", "opened_on": "DATE", "closed_on": "DATE",
    },
    "lines": {
        "line_id": "INTEGER", "line": "VARCHAR", "mode": "VARCHAR", "depot_id": "INTEGER", "colour": "VARCHAR",
        "from": "DATE", "to": "DATE",
    },
    "trips": {
        "trip_id": "INTEGER", "line_id": "INTEGER", "vehicle_id": "INTEGER", "driver_id": "INTEGER",
        "service_date": "DATE", "direction": "VARCHAR", "planned_start": "TIMESTAMP", "planned_end": "TIMESTAMP",
        "started_at": "TIMESTAMP", "ended_at": "TIMESTAMP", "status": "VARCHAR", "updated_at": "TIMESTAMP",
    },
    "timetable": {"trip_id": "INTEGER", "stop_id": "INTEGER", "stop_seq": "INTEGER", "planned_at": "TIMESTAMP"},
    "stop_calls": {
        "trip_id": "INTEGER", "stop_id": "INTEGER", "stop_seq": "INTEGER", "arrived_at": "TIMESTAMP",
        "departed_at": "TIMESTAMP", "boarded": "INTEGER", "alighted": "INTEGER",
    },
    "vehicles": {
        "vehicle_id": "INTEGER", "fleet no": "VARCHAR", "kind": "VARCHAR", "seats": "INTEGER", "standing": "INTEGER",
        "depot_id": "INTEGER", "in_service_from": "DATE", "scrapped_on": "DATE", "is_test": "BOOLEAN",
    },
    "vehicle_history": {
        "vehicle_id": "INTEGER", "depot_id": "INTEGER", "status": "VARCHAR", "valid_from": "TIMESTAMP",
        "valid_to": "TIMESTAMP",
    },
    "drivers": {
        "driver_id": "INTEGER", "full_name": "VARCHAR", "group": "VARCHAR", "depot_id": "INTEGER", "hired_on": "DATE",
        "left_on": "DATE",
    },
    "shifts": {
        "driver_id": "INTEGER", "depot_id": "INTEGER", "starts_at": "TIMESTAMP", "ends_at": "TIMESTAMP",
        "break_min": "INTEGER", "kind": "VARCHAR",
    },
    "depots": {"depot_id": "INTEGER", "name": "VARCHAR", "region_id": "INTEGER", "größe": "INTEGER"},
    "regions": {"region_id": "INTEGER", "name": "VARCHAR", "country": "VARCHAR", "currency": "VARCHAR"},
    "taps": {
        "tap_id": "INTEGER", "card_id": "INTEGER", "stop_id": "INTEGER", "line_id": "INTEGER", "direction": "VARCHAR",
        "tapped_at": "TIMESTAMP", "loaded_at": "TIMESTAMP", "payload": "JSON",
    },
    "cards": {
        "card_id": "INTEGER", "customer_id": "INTEGER", "card no": "VARCHAR", "kind": "VARCHAR", "issued_on": "DATE",
        "blocked_on": "DATE",
    },
    "customers": {
        "customer_id": "INTEGER", "first_name": "VARCHAR", "last_name": "VARCHAR", "e-mail": "VARCHAR",
        "postcode": "VARCHAR", "birth_date": "DATE", "created_at": "TIMESTAMP", "deleted_at": "TIMESTAMP",
        "referred_by_id": "INTEGER",
    },
    "tickets": {
        "ticket_id": "INTEGER", "customer_id": "INTEGER", "product": "VARCHAR", "zones": "INTEGER",
        "price": "DECIMAL(8,2)", "currency": "VARCHAR", "channel": "VARCHAR", "sold_at": "TIMESTAMP",
        "is_cancelled": "BOOLEAN",
    },
    "legacy_tickets": {
        "Nr.": "VARCHAR", "product": "VARCHAR", "price_text": "VARCHAR", "currency": "VARCHAR", "sold_on": "DATE",
    },
    "passes": {
        "pass_id": "INTEGER", "customer_id": "INTEGER", "product": "VARCHAR", "zones": "INTEGER", "valid_from": "DATE",
        "valid_to": "DATE", "price": "DECIMAL(8,2)", "auto_renew": "BOOLEAN",
    },
    "fares": {
        "product": "VARCHAR", "zones": "INTEGER", "valid_from": "DATE", "valid_to": "DATE", "price": "DECIMAL(8,2)",
        "currency": "VARCHAR",
    },
    "refunds": {
        "refund_id": "INTEGER", "ticket_id": "INTEGER", "amount": "DECIMAL(8,2)", "reason": "VARCHAR",
        "refunded_at": "TIMESTAMP",
    },
    "inspections": {
        "inspection_id": "INTEGER", "line_id": "INTEGER", "inspector": "VARCHAR", "started_at": "TIMESTAMP",
        "checked": "INTEGER", "without_ticket": "INTEGER",
    },
    "fines": {
        "fine_id": "INTEGER", "inspection_id": "INTEGER", "customer_id": "INTEGER", "amount_cents": "INTEGER",
        "status": "VARCHAR", "issued_on": "DATE", "paid_on": "DATE",
    },
    "disruptions": {
        "disruption_id": "INTEGER", "line_id": "INTEGER", "cause": "VARCHAR", "severity": "INTEGER",
        "starts_at": "TIMESTAMP", "ends_at": "TIMESTAMP",
    },
    "passenger counts": {
        "line_id": "INTEGER", "day": "DATE", "hour": "INTEGER", "ins": "INTEGER", "outs": "INTEGER",
        "sensor": "VARCHAR",
    },
    "complaints": {
        "complaint_id": "INTEGER", "customer_id": "INTEGER", "line_id": "INTEGER", "channel": "VARCHAR",
        "body": "VARCHAR", "received_at": "TIMESTAMP", "answered_at": "TIMESTAMP",
    },
    "énergie": {"depot_id": "INTEGER", "day": "DATE", "kind": "VARCHAR", "kwh": "DECIMAL(10,3)", "source": "VARCHAR"},
    "subsidies": {
        "region_id": "INTEGER", "year": "INTEGER", "kind": "VARCHAR", "amount": "DECIMAL(14,2)", "currency": "VARCHAR",
    },
    "fx_rates": {"currency": "VARCHAR", "rate_date": "DATE", "rate": "DECIMAL(10,5)"},
    "calendar": {"day": "DATE", "day_type": "VARCHAR", "is_holiday": "BOOLEAN"},
    "app_events": {
        "event_id": "INTEGER", "device": "VARCHAR", "customer_id": "INTEGER", "event": "VARCHAR", "props": "JSON",
        "occurred_at": "TIMESTAMP",
    },
    "load_state": {"table_name": "VARCHAR", "loaded_until": "TIMESTAMP"},
    "Haltestellen Wien": {"Nr": "INTEGER", "Name": "VARCHAR", "Straße": "VARCHAR", "group": "VARCHAR"},
}  # fmt: skip
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "stops": ("stop_id",),
    "lines": ("line_id",),
    "trips": ("trip_id",),
    "vehicles": ("vehicle_id",),
    "depots": ("depot_id",),
    "taps": ("tap_id",),
    "cards": ("card_id",),
    "customers": ("customer_id",),
    "tickets": ("ticket_id",),
    "fx_rates": ("currency", "rate_date"),
    "calendar": ("day",),
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_FEW, _SOME, _MANY = (2, 4, 6), (4, 8, 14), (8, 16, 30)
_COUNTS: Mapping[str, Sequence[int]] = {
    "lines": _FEW, "depots": _FEW, "regions": (2, 4, 8), "load_state": (1, 2, 4), "vehicles": _SOME, "cards": _FEW,
    "trips": _FEW, "stops": _FEW, "customers": _SOME, "tickets": _SOME, "inspections": _SOME, "disruptions": (1, 2, 4),
}  # fmt: skip
_OFTEN_UNKNOWN = frozenset(
    ("to", "valid_to", "scrapped_on", "left_on", "blocked_on", "deleted_at", "paid_on", "ends_at", "answered_at")
)
_TEXTS: Mapping[str, Sequence[str]] = {
    "stop name": ("Hauptplatz", " Hauptplatz ", "Zoo", "zoo", ""),
    "code": ("HP1", " HP1", "", "  "),
    "zone": ("A", "a", "B", "100", ""),
    "kind": ("platform", "station", "tram", "bus", "BUS", "traction", "heating", "training", "night", "adult", ""),
    "line": ("1", "2", "N7", "1", ""),
    "mode": ("tram", "bus", "light rail", "Bus", "ferry", ""),
    "colour": ("#FF0000", "ff0000", "#00ab00", "", "#"),
    "direction": ("in", "out", "In", "outbound", ""),
    "status": ("planned", "running", "done", "cancelled", "paid", "open", " Open", "waived", "workshop", "", " "),
    "fleet no": ("T 101", " T 101 ", "B7", ""),
    "full_name": ("Ada  Berg", "Ada Berg", " Jo van Os ", "Åse Ærø", ""),
    "group": ("A", "B", "a", ""),
    "name": ("Nord", "Süd", "nord", "Depot 1", ""),
    "Name": ("Zoo", "Hauptplatz", " ", ""),
    "Straße": ("Ring 1", "ohne", "Am Zoo", ""),
    "country": ("AT", "CH", ""),
    "currency": ("EUR", "EUR", "CHF", "eur", " EUR", " CHF", "CZK", ""),
    "card no": ("0001", "1", ""),
    "first_name": ("Ada", " Ada", "Jo", ""),
    "last_name": ("Berg", "van Os ", "Berg", ""),
    "e-mail": ("ada@tram.at", " Ada@Tram.AT ", "x@test.org", "x@TEST.org", "nobody", ""),
    "postcode": ("1010", "A-1010", "10 10", "A 80 20", ""),
    "product": ("single", "day", "week", "Single", ""),
    "channel": ("app", "machine", "desk", "web", "phone", "App", ""),
    "Nr.": ("1", "2", "17", ""),
    "price_text": ("2,40", "2.40", "n/a", " 3,10 ", "12", ""),
    "reason": ("test", "late", "Test", "double", ""),
    "inspector": ("I1", "I2", "i1", "unknown"),
    "cause": ("snow", "accident", ""),
    "sensor": ("ok", "broken", "Broken", ""),
    "body": (
        "Tram was late", "TOO LATE", "the driver was late", "Driver rude", "delay again", "DELAY", "  ", "", " hot ",
        "Delayed, rude driver",
    ),
    "source": ("meter", "estimate", "Estimate", ""),
    "day_type": ("weekday", "sunday", "holiday", "unknown"),
    "device": ("d1", "d1", "d2", "d3"),
    "event": ("search", "select", "purchase", "Purchase", "heartbeat", "Ping", "ping", "view"),
    "table_name": ("trips", "trips", "taps", ""),
    "payload": (
        '{"device": "D1", "balance": "12.50", "zone": "A"}', '{"device": "D2", "balance": 3, "zone": null}', "{}",
        '{"device": "D1", "zone": "none", "balance": -1.25}', '{"device": "", "zone": ""}',
    ),
    "props": (
        '{"line": "1", "ms": 900}', '{"line": "N7", "ms": 0}', '{"line": 2}', "{}", '{"line": null, "ms": 60000}',
    ),
}  # fmt: skip
_AMOUNTS = ("0", "0", "0.01", "1", "2.4", "2.4", "10", "12.34", "50", "99.99", "-1", "-2.4", "365")
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "05:59:59", "06:00:00", "12:00:00", "21:30:00", "22:00:00", "23:59:59")
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2023, 12, 31), (2024, 1, 1), (2024, 1, 31), (2024, 2, 29), (2024, 3, 1), (2024, 3, 31), (2024, 4, 1),
        (2024, 6, 3), (2024, 6, 9), (2024, 7, 1), (2024, 10, 27), (2024, 12, 31), (2025, 1, 1), (2025, 1, 31),
        (2025, 3, 1), (2025, 3, 31), (2025, 6, 30), (2025, 12, 31),
    )
)  # fmt: skip
_SECONDS = {"hour": 3600, "minute": 60}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and spans that the versions compare with. Keys of `KEYS`
    are declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"tram:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        yield from made_table(table, columns, ", ".join(KEYS.get(table, ())), _rows(random, pools, nulls, table))


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names after FROM, JOIN or a comma, with their columns and types."""
    return {table: columns for table, columns in TABLES.items() if is_read(table, text)}


def _rows(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> Iterator[list[str]]:
    """Rows of a table, some equal or nearly equal to another one. A key of one number counts them."""
    rows = [_row(random, pools, nulls, table) for _ in range(random.choice(_COUNTS.get(table, _MANY)))]
    rows += [_twin(random, pools, table, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
    rows += random.sample(rows, min(random.choice((0, 0, 1, 2)), len(rows)))
    key, seen = KEYS.get(table, ()), set[tuple[str, ...]]()
    for number, row in enumerate(rows, start=1):
        if len(key) == 1 and TABLES[table][key[0]] == "INTEGER":
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
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP", "JSON") else value


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    days, numbers = _days(text, random), _near_numbers(text, random)
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": _times(text, days, random),
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((3, 6, 12))), *numbers],
        "INTEGER": ["0", "1", "2", "3", "40", *(number for number in numbers if number.lstrip("-").isdigit())],
        "BOOLEAN": ["true", "false", *random.choice((("false", "false"), ("true",), ()))],
        "keys": [str(key) for key in range(1, random.choice((3, 4, 6, 8)))],
        "Nr": ["1", "2", "3", "4"],
        "stop_seq": ["1", "2", "3"],
        "zones": ["0", "1", "2", "3", "4"],
        "severity": ["0", "1", "2", "2", "3"],
        "break_min": ["0", "15", "30"],
        "amount_cents": ["0", "1", "135", "13500", "10050", "-100"],
        "year": ["2021", "2022", "2023", "2024", "2025"][random.choice((0, 1)) :],
        "rate": ["0.5", "0.95", "1", "1.08256", "2", "0.04015", "0"],
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
    near = sorted({number + shift for number in named for shift in (-1, 0, 0.01, 1)})
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
    spans = {int(count) * _SECONDS[unit] for count, unit in re.findall(r"interval '?(\d+) (minute|hour)", text.lower())}
    spans |= {60 * int(count) for count in re.findall(r"(?:minutes|_min) [<>=]+ (\d+)", text)}
    spans |= {int(count) for count in re.findall(r"_s (?:between -\d+ and|[<>=]+) (\d+)", text)}
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
