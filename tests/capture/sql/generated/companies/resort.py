"""Random databases of a ski resort: passes, lifts, lessons, rentals, tills, the web shop; some keys are declared."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from capture.sql.generated.companies.campus import is_read, made_table
from capture.sql.generated.companies.logistics import target_of
from capture.sql.generated.companies.market import quoted

__all__ = ("KEYS", "TABLES", "TARGETS", "scripts", "tables_of", "target_of")


def _columns(text: str) -> Mapping[str, str]:
    """Columns and types of a line `name TYPE; name TYPE`."""
    pairs = (part.strip().rpartition(" ") for part in text.split(";"))
    return {name: kind for name, _, kind in pairs}


TABLES: Mapping[str, Mapping[str, str]] = {
    name: _columns(text)
    for name, text in {
        "raw_guests": "guest_id INTEGER; First Name VARCHAR; Last Name VARCHAR; email VARCHAR; country VARCHAR;"
        "birth_date DATE; marketing_opt_in BOOLEAN; created_at TIMESTAMP; _deleted BOOLEAN",
        "raw_passes": "id INTEGER; guest INTEGER; product VARCHAR; price_cents INTEGER; currency VARCHAR;"
        "valid_from DATE; valid_to DATE; sold_at TIMESTAMP; channel VARCHAR; _deleted BOOLEAN",
        "Raw Scans": "scan_id INTEGER; pass_id INTEGER; lift_id INTEGER; result VARCHAR; scanned_at TIMESTAMP;"
        "_loaded_at TIMESTAMP",
        "Raw Lifts": "lift_id INTEGER; name VARCHAR; kind VARCHAR; area_id INTEGER; capacity/h INTEGER;"
        "länge_m INTEGER; opened_on DATE; closed_on DATE",
        "raw_lessons": "lesson_id INTEGER; updated_at TIMESTAMP; guest_id INTEGER; instructor_id INTEGER;"
        "level VARCHAR; group VARCHAR; starts_at TIMESTAMP; minutes INTEGER; price_text VARCHAR; status VARCHAR",
        "raw_rentals": "rental_id INTEGER; guest_id INTEGER; item_id INTEGER; shop VARCHAR; picked_up_at TIMESTAMP;"
        "returned_at TIMESTAMP; daily_rate DECIMAL(8,2); damage_fee DECIMAL(8,2)",
        "raw_items": "item_id INTEGER; item_type VARCHAR; size_cm INTEGER",
        "POS lines": "receipt_id INTEGER; line_no INTEGER; outlet VARCHAR; sku VARCHAR; qty INTEGER;"
        "unit_price DECIMAL(8,2); discount_pct INTEGER; sold_at TIMESTAMP; is_void BOOLEAN",
        "Wetter Station": "Station VARCHAR; area_id INTEGER; Datum DATE; Höhe INTEGER; snow_cm INTEGER;"
        "new_snow_cm INTEGER; temp_c DECIMAL(4,1); wind_kmh INTEGER",
        "raw_web_events": "event_id INTEGER; visitor VARCHAR; guest_id INTEGER; event_name VARCHAR;"
        "page_url VARCHAR; timestamp TIMESTAMP",
        "raw_staff": "staff_id INTEGER; full_name VARCHAR; role VARCHAR; manager_id INTEGER;"
        "hourly_rate DECIMAL(6,2); hired_on DATE; left_on DATE",
        "raw_incidents": "incident_id INTEGER; area_id INTEGER; severity VARCHAR; reported_at TIMESTAMP;"
        "closed_at TIMESTAMP; used_helicopter BOOLEAN",
        "raw_fx_ecb": "currency VARCHAR; rate_date DATE; rate DECIMAL(10,4)",
        "raw_fx_snb": "currency VARCHAR; rate_date DATE; rate DECIMAL(10,4)",
        "stg_guests": "guest_id INTEGER; full_name VARCHAR; email VARCHAR; country_code VARCHAR; birth_date DATE;"
        "is_opted_in BOOLEAN; created_at TIMESTAMP",
        "stg_passes": "pass_id INTEGER; guest_id INTEGER; product_code VARCHAR; price DECIMAL(10,2);"
        "currency VARCHAR; valid_from DATE; valid_to DATE; sold_at TIMESTAMP; sales_channel VARCHAR",
        "stg_scans": "scan_id INTEGER; pass_id INTEGER; lift_id INTEGER; scanned_at TIMESTAMP; result VARCHAR",
        "stg_lifts": "lift_id INTEGER; lift_name VARCHAR; kind VARCHAR; area_id INTEGER;"
        "capacity_per_hour INTEGER; opened_on DATE; closed_on DATE",
        "stg_areas": "area_id INTEGER; area_name VARCHAR; region VARCHAR",
        "stg_lessons": "lesson_id INTEGER; guest_id INTEGER; instructor_id INTEGER; lesson_level VARCHAR;"
        "starts_at TIMESTAMP; minutes INTEGER; price DECIMAL(8,2); status VARCHAR",
        "stg_rentals": "rental_id INTEGER; guest_id INTEGER; item_type VARCHAR; shop VARCHAR;"
        "picked_up_at TIMESTAMP; returned_at TIMESTAMP; daily_rate DECIMAL(8,2); damage_fee DECIMAL(8,2)",
        "stg_pos_lines": "receipt_id INTEGER; line_no INTEGER; outlet VARCHAR; sku VARCHAR; quantity INTEGER;"
        "unit_price DECIMAL(8,2); line_amount DECIMAL(10,2); sold_at TIMESTAMP",
        "stg_web_events": "event_id INTEGER; visitor_key VARCHAR; guest_id INTEGER; event_name VARCHAR;"
        "page_path VARCHAR; occurred_at TIMESTAMP",
        "stg_staff": "staff_id INTEGER; full_name VARCHAR; role VARCHAR; manager_id INTEGER;"
        "hourly_rate DECIMAL(6,2); hired_on DATE; left_on DATE",
        "stg_shifts": "staff_id INTEGER; lift_id INTEGER; shift_date DATE; starts_at TIMESTAMP; ends_at TIMESTAMP;"
        "break_minutes INTEGER",
        "stg_incidents": "incident_id INTEGER; area_id INTEGER; severity VARCHAR; reported_at TIMESTAMP;"
        "minutes_to_close INTEGER; used_helicopter BOOLEAN",
        "stg_snow_reports": "area_id INTEGER; report_date DATE; snow_cm INTEGER; new_snow_cm INTEGER",
        "stg_fx_rates": "currency VARCHAR; rate_date DATE; rate DECIMAL(10,4)",
        "stg_pass_status": "pass_id INTEGER; changed_at TIMESTAMP; status VARCHAR",
        "int_scans_enriched": "scan_id INTEGER; scan_date DATE; guest_id INTEGER; product_code VARCHAR;"
        "lift_name VARCHAR; area_name VARCHAR",
        "int_pass_status_history": "pass_id INTEGER; status VARCHAR; valid_from DATE; valid_to DATE",
        "dim date": "date_day DATE; season VARCHAR; is_holiday BOOLEAN",
        "load_state": "model VARCHAR; loaded_until TIMESTAMP",
        "Umsätze 2025": "Saison VARCHAR; Gast-Nr INTEGER; Betrag € DECIMAL(10,2); Storno? BOOLEAN; order INTEGER",
    }.items()
}
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "raw_guests": ("guest_id",),
    "raw_passes": ("id",),
    "Raw Lifts": ("lift_id",),
    "raw_lessons": ("lesson_id", "updated_at"),
    "raw_rentals": ("rental_id",),
    "raw_items": ("item_id",),
    "raw_staff": ("staff_id",),
    "raw_incidents": ("incident_id",),
    "stg_guests": ("guest_id",),
    "stg_passes": ("pass_id",),
    "stg_scans": ("scan_id",),
    "stg_lifts": ("lift_id",),
    "stg_areas": ("area_id",),
    "stg_lessons": ("lesson_id",),
    "stg_rentals": ("rental_id",),
    "stg_web_events": ("event_id",),
    "stg_staff": ("staff_id",),
    "stg_incidents": ("incident_id",),
    "stg_snow_reports": ("area_id", "report_date"),
    "stg_fx_rates": ("currency", "rate_date"),
    "stg_pass_status": ("pass_id", "changed_at"),
    "int_scans_enriched": ("scan_id",),
    "dim date": ("date_day",),
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_FEW = frozenset(("raw_items", "stg_areas", "stg_lifts", "Raw Lifts", "raw_staff", "stg_staff", "stg_guests"))
_ENDS = frozenset(
    ("returned_at", "closed_on", "left_on", "closed_at", "valid_to", "manager_id", "damage_fee", "_deleted")
)
"""Columns that are often unknown."""
_TEXTS: Mapping[str, Sequence[str]] = {
    "First Name": ("Ada", " Ada", "Jo ", "Åse", ""),
    "Last Name": ("Berg", "berg", " van Os", "Ærø", ""),
    "full_name": ("Ada Berg", "ada berg", "Jo van Os", "Åse Ærø", ""),
    "email": ("ada@ski.at", " Ada@Ski.AT", "jo@ski.at ", "nobody", ""),
    "country": ("AT", "at", "DE", "CH", ""),
    "country_code": ("AT", "DE", "CH", ""),
    "product": ("day", "DAY", "week", "season", "Kids", ""),
    "product_code": ("DAY", "DAY", "WEEK", "SEASON", "KIDS", "TRIAL", ""),
    "currency": ("EUR", "EUR", "CHF", "eur", ""),
    "channel": ("web", "app", "desk", "Web", "phone", ""),
    "sales_channel": ("online", "counter", "other"),
    "result": ("ok", "ok", "OK", "denied", "expired", ""),
    "name": ("Gondel 1", "Sessel", "gondel 1", ""),
    "lift_name": ("Gondel 1", "Sessel", "Schlepper", ""),
    "kind": ("gondola", "chair", "tow", "test", "Gondola", ""),
    "area_name": ("Nord", "Süd", "nord", ""),
    "level": ("Beginner", "beginner", "advanced", "Race", ""),
    "lesson_level": ("beginner", "beginner", "advanced", "advanced", "race", ""),
    "group": ("A", "B", "a", ""),
    "price_text": ("80", "80.5", "80,5", " 95 ", "12.345", "n/a", "-1", ""),
    "status": ("done", "done", "cancelled", " cancelled", "void", "active", " ", ""),
    "shop": ("Tal", "Gipfel", "tal", ""),
    "item_type": ("ski", "board", "helmet", ""),
    "outlet": ("Gipfel", "Talstation", "Hütte", " Gipfel", "Kiosk", ""),
    "sku": ("A-1", "B-2", ""),
    "Station": ("S1", "S2", ""),
    "visitor": ("v1", "v2", "7", ""),
    "visitor_key": ("v1", "v2", "v3", ""),
    "raw_web_events.event_name": ("view", "View", "heartbeat", "Ping", "ping", "purchase", ""),
    "event_name": ("view", "view", "cart", "cart", "purchase", "purchase", "search", ""),
    "page_url": ("/pass", "/pass?utm_source=mail&x=1", "/ski?x=1&utm_source=ads", "/?utm_source=", "/?utm-source=x"),
    "role": ("instructor", "patrol", "lift", "Patrol", ""),
    "severity": ("low", "high", "fatal", ""),
    "season": ("2024/25", "2023/24", ""),
    "Saison": ("2024/25", "2023/24", ""),
    "model": ("fct_rides", "fct_rides", "fct_scans", ""),
}  # fmt: skip
_AMOUNTS = ("0", "0", "0.01", "0.5", "1", "1", "2.25", "12.34", "49.99", "50", "50", "80", "100", "-1", "333.33")
_CLOCKS = (
    "00:00:00", "00:00:00", "00:29:59", "08:59:59", "09:00:00", "09:00:30", "09:29:59", "09:30:00", "09:31:00",
    "12:00:00", "22:59:59", "23:00:00", "23:30:00", "23:59:59",
)  # fmt: skip
_DAYS = tuple(
    date.fromisoformat(day)
    for day in (
        "2023-10-31", "2023-11-01", "2023-11-02", "2024-02-29", "2024-03-01", "2024-11-30", "2024-12-01", "2024-12-02",
        "2024-12-24", "2024-12-31", "2025-01-01", "2025-01-05", "2025-01-06", "2025-01-31", "2025-02-01", "2025-02-28",
        "2025-03-01", "2025-04-20", "2025-04-21", "2025-04-22", "2025-04-30", "2025-05-01",
    )
)  # fmt: skip


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a query name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and texts that the versions compare with. Keys of `KEYS` are
    declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"resort:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        key = ", ".join(map(quoted, KEYS.get(table, ())))
        yield from made_table(table, columns, key, _rows(random, pools, nulls, table))


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names after FROM, JOIN or a comma, with their columns and types."""
    return {table: columns for table, columns in TABLES.items() if is_read(table, text)}


def _rows(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> Iterator[list[str]]:
    """Rows of a table, some equal or nearly equal to another one, with the keys that are declared."""
    count = random.choice((2, 4, 7) if table in _FEW else (6, 14, 28))
    rows = [_row(random, pools, nulls, table) for _ in range(count)]
    rows += [_twin(random, pools, table, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
    rows += random.sample(rows, random.choice((0, 0, 1, 2)))
    key = [list(TABLES[table]).index(name) for name in KEYS.get(table, ())]
    if len(key) == 1 and TABLES[table][KEYS[table][0]] == "INTEGER":
        yield from ([str(number), *row[1:]] for number, row in enumerate(rows, start=1))
    elif key:
        yield from {tuple(row[place] for place in key): row for row in rows}.values()
    else:
        yield from rows


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    days, numbers = _days(text, random), _near_numbers(text, random)
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": [f"{day} {clock}" for day in days for clock in random.sample(_CLOCKS, random.choice((1, 4, 9)))],
        "DECIMAL": random.sample(_AMOUNTS, random.choice((2, 4, 7, 14))),
        "INTEGER": ["0", "1", "2", "3", "60", *numbers[: random.choice((1, 4, 8))]],
        "BOOLEAN": ["true", "false", *random.choice((("false", "false"), ("true",), ()))],
        "VARCHAR": ["/pass", "/Pass", "north", ""],
        "keys": [str(key) for key in range(1, random.choice((3, 4, 6, 8)))],
        "rate": ["0", "0.5", "0.9", "1", "1.1", "2", "-1"],
        "temp_c": ["-10.5", "-1", "0", "0.1", "3.3", "20"],
        "price_cents": ["0", "1", "50", "4999", "5000", "8050", "-100"],
        "discount_pct": ["0", "0", "5", "33", "50", "100"],
        "minutes": ["0", "30", "45", "60", "60", "90", "120"],
        "minutes_to_close": ["0", "5", "30", "60", "61"],
        **{name: _texts(text, texts, random) for name, texts in _TEXTS.items()},
    }


def _near_numbers(text: str, random: Random) -> list[str]:
    """Whole numbers at and next to those that the text names."""
    named = {int(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named for shift in (-1, 0, 1)})
    return [str(number) for number in random.sample(near, len(near))]


def _days(text: str, random: Random) -> list[date]:
    """Days of the seasons, some of them at and next to those that the text names."""
    named = sorted(set(map(date.fromisoformat, re.findall(r"\b202\d-\d{2}-\d{2}", text))))
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 1)]
    return random.sample(_DAYS, random.choice((2, 5, 9))) + random.sample(near, min(len(near), random.choice((2, 6))))


def _texts(text: str, texts: Sequence[str], random: Random) -> Sequence[str]:
    """All texts, or few: those that the versions name, and some others."""
    if random.random() < 0.4:
        return texts
    named = [one for one in texts if one and f"'{one}'" in text]
    return [*named, *named, *random.sample(texts, random.choice((0, 1, 2)) if named else min(3, len(texts)))]


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> list[str]:
    shares = {
        name: 0.0
        if name in KEYS.get(table, ())
        else max(nulls, 0.4 if name in _ENDS else 0.12 if kind == "BOOLEAN" else 0.0)
        for name, kind in TABLES[table].items()
    }
    return ["NULL" if random.random() < share else _value(random, pools, table, name) for name, share in shares.items()]


def _twin(random: Random, pools: Mapping[str, Sequence[str]], table: str, row: Sequence[str]) -> list[str]:
    """A row that differs from another one in one value."""
    place, name = random.choice(list(enumerate(TABLES[table])))
    return [*row[:place], _value(random, pools, table, name), *row[place + 1 :]]


def _value(random: Random, pools: Mapping[str, Sequence[str]], table: str, name: str) -> str:
    kind = TABLES[table][name]
    by_type = "keys" if name.endswith(("_id", "guest", "Gast-Nr")) else kind.partition("(")[0]
    value = random.choice(pools.get(f"{table}.{name}") or pools.get(name) or pools[by_type])
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP") else value
