"""Random databases of a film distributor: films, cinemas, box office, bookings, invoices, campaigns, streaming."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from random import Random

from capture.sql.generated.companies.campus import is_read, made_table
from capture.sql.generated.companies.logistics import target_of

__all__ = ("KEYS", "TABLES", "TARGETS", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "films": {
        "film_id": "INTEGER",
        "original title": "VARCHAR",
        "title": "VARCHAR",
        "genre": "VARCHAR",
        "language": "VARCHAR",
        "runtime_min": "INTEGER",
        "certificate": "VARCHAR",
        "release_date": "DATE",
        "budget": "DECIMAL(12,2)",
        "is_deleted": "BOOLEAN",
        "updated_at": "TIMESTAMP",
    },
    "cinemas": {
        "cinema_id": "INTEGER",
        "name": "VARCHAR",
        "city": "VARCHAR",
        "country": "VARCHAR",
        "screens": "INTEGER",
        "größe": "INTEGER",
        "chain_id": "INTEGER",
        "opened_on": "DATE",
        "closed_on": "DATE",
        "is_deleted": "BOOLEAN",
    },
    "chains": {"chain_id": "INTEGER", "name": "VARCHAR", "tier": "VARCHAR", "discount": "DECIMAL(5,2)"},
    "screenings": {
        "screening_id": "INTEGER",
        "film_id": "INTEGER",
        "cinema_id": "INTEGER",
        "starts_at": "TIMESTAMP",
        "seats": "INTEGER",
        "format": "VARCHAR",
        "language": "VARCHAR",
        "is_cancelled": "BOOLEAN",
    },
    "ticket_sales": {
        "screening_id": "INTEGER",
        "ticket_type": "VARCHAR",
        "channel": "VARCHAR",
        "tickets": "INTEGER",
        "gross": "DECIMAL(10,2)",
        "sold_at": "TIMESTAMP",
    },
    "box office": {
        "cinema_id": "INTEGER",
        "film_id": "INTEGER",
        "week": "DATE",
        "gross": "DECIMAL(10,2)",
        "admissions": "INTEGER",
        "source": "VARCHAR",
        "reported_at": "TIMESTAMP",
    },
    "bookings": {
        "booking_id": "INTEGER",
        "film_id": "INTEGER",
        "cinema_id": "INTEGER",
        "status": "VARCHAR",
        "from": "DATE",
        "to": "DATE",
        "rental_share": "DECIMAL(5,2)",
        "guarantee": "DECIMAL(10,2)",
        "booked_at": "TIMESTAMP",
    },
    "legacy_bookings": {
        "booking_no": "VARCHAR",
        "film_id": "INTEGER",
        "cinema_id": "INTEGER",
        "share": "DECIMAL(5,2)",
        "starts_on": "DATE",
    },
    "invoices": {
        "invoice_id": "INTEGER",
        "booking_id": "INTEGER",
        "amount_cents": "INTEGER",
        "currency": "VARCHAR",
        "issued_on": "DATE",
        "due_on": "DATE",
        "paid_on": "DATE",
        "is_void": "BOOLEAN",
    },
    "payments": {
        "payment_id": "INTEGER",
        "invoice_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "method": "VARCHAR",
        "is_refund": "BOOLEAN",
        "paid_at": "TIMESTAMP",
    },
    "fx_rates": {"currency": "VARCHAR", "valid_from": "DATE", "valid_to": "DATE", "rate": "DECIMAL(8,4)"},
    "prints": {
        "print_id": "INTEGER",
        "film_id": "INTEGER",
        "cinema_id": "INTEGER",
        "kind": "VARCHAR",
        "shipped_on": "DATE",
        "returned_on": "DATE",
    },
    "credits": {"film_id": "INTEGER", "person_id": "INTEGER", "role": "VARCHAR", "billing": "INTEGER"},
    "persons": {"person_id": "INTEGER", "full name": "VARCHAR", "born_on": "DATE", "country": "VARCHAR"},
    "reviews": {
        "film_id": "INTEGER",
        "outlet": "VARCHAR",
        "score_text": "VARCHAR",
        "headline": "VARCHAR",
        "published_on": "DATE",
    },
    "campaigns": {
        "campaign_id": "INTEGER",
        "film_id": "INTEGER",
        "channel": "VARCHAR",
        "order": "INTEGER",
        "budget": "DECIMAL(10,2)",
        "status": "VARCHAR",
        "starts_on": "DATE",
        "ends_on": "DATE",
    },
    "ad_spend": {
        "campaign_id": "INTEGER",
        "day": "DATE",
        "impressions": "INTEGER",
        "clicks": "INTEGER",
        "spend": "DECIMAL(10,2)",
    },
    "accounts": {
        "account_id": "INTEGER",
        "email": "VARCHAR",
        "plan": "VARCHAR",
        "country": "VARCHAR",
        "referrer_id": "INTEGER",
        "signed_up_at": "TIMESTAMP",
        "cancelled_at": "TIMESTAMP",
    },
    "stream_views": {
        "account_id": "INTEGER",
        "film_id": "INTEGER",
        "device": "VARCHAR",
        "country": "VARCHAR",
        "seconds": "INTEGER",
        "is_trial": "BOOLEAN",
        "started_at": "TIMESTAMP",
    },
    "site_events": {
        "visitor": "VARCHAR",
        "account_id": "INTEGER",
        "event_name": "VARCHAR",
        "page": "VARCHAR",
        "occurred_at": "TIMESTAMP",
    },
    "gebiete": {"cinema_id": "INTEGER", "gebiet": "VARCHAR", "zuständig": "VARCHAR", "seit": "DATE"},
    "film_versions": {
        "film_id": "INTEGER",
        "title": "VARCHAR",
        "certificate": "VARCHAR",
        "valid_from": "TIMESTAMP",
        "valid_to": "TIMESTAMP",
    },
    "load_log": {"table_name": "VARCHAR", "loaded_until": "TIMESTAMP"},
}
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "films": ("film_id",),
    "cinemas": ("cinema_id",),
    "chains": ("chain_id",),
    "screenings": ("screening_id",),
    "bookings": ("booking_id",),
    "invoices": ("invoice_id",),
    "payments": ("payment_id",),
    "fx_rates": ("currency", "valid_from"),
    "prints": ("print_id",),
    "persons": ("person_id",),
    "campaigns": ("campaign_id",),
    "ad_spend": ("campaign_id", "day"),
    "accounts": ("account_id",),
    "gebiete": ("cinema_id",),
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_FEW, _SOME, _MANY = (2, 4, 6), (4, 8, 14), (8, 16, 30)
_COUNTS: Mapping[str, Sequence[int]] = {
    "films": _FEW, "cinemas": _FEW, "chains": (1, 2, 4), "persons": _FEW, "gebiete": (1, 3, 5), "load_log": (1, 2, 4),
    "screenings": _SOME, "bookings": _SOME, "invoices": _SOME, "campaigns": _SOME, "accounts": _SOME,
}  # fmt: skip
_OFTEN_UNKNOWN = frozenset(
    ("closed_on", "to", "valid_to", "paid_on", "returned_on", "ends_on", "cancelled_at", "referrer_id")
)
_TEXTS: Mapping[str, Sequence[str]] = {
    "original title": ("Die Welle", " Die Welle ", "Amélie", "Alien", ""),
    "title": ("The Wave", "Amelie", "Alien", "alien", ""),
    "genre": ("Drama", "drama", "Comedy", "Horror", ""),
    "language": ("de", "DE", "en", " en ", "", "  "),
    "certificate": ("6", "12", "16", "unrated", ""),
    "name": ("Rex", "Astor", "rex", "Kino am Ring", ""),
    "city": ("Köln", "köln", "Wien", "Bern", ""),
    "country": ("DE", "de", "AT", "at", "CH", "ch", "FR", ""),
    "tier": ("A", "B", "a", ""),
    "format": ("2D", "3D", "imax", " IMAX", ""),
    "ticket_type": ("adult", "Adult", "child", "member", ""),
    "channel": ("web", "app", "desk", "Web", "tv", ""),
    "source": ("comscore", "manual", "api", ""),
    "status": ("confirmed", "cancelled", "draft", "live", "ended", "planned", "Confirmed", ""),
    "booking_no": ("B-1", "B-2", "L7", "1", ""),
    "currency": ("EUR", "CHF", "chf", " CHF", "USD", "eur", ""),
    "method": ("transfer", "card", "Card", "unknown", ""),
    "kind": ("35mm", "DCP", ""),
    "role": ("director", "Director", "writer", "actor", "Actor", ""),
    "full name": ("Ada Berg", "Jo van Os", "Åse Ærø", "jo van os", ""),
    "outlet": ("Daily", "Film Weekly", ""),
    "score_text": ("7", "7.5", "7.55", " 8 ", "n/a", "10", "0", "-1", ""),
    "headline": ("A masterpiece", "MASTERPIECE!", "Dull", " Dull ", "   ", ""),
    "email": ("ada@film.de", " Ada@Film.DE ", "jo@test.org", "jo@mail.org", "nobody", ""),
    "plan": ("free", "basic", "premium", "family", "Premium", ""),
    "device": ("tv", "TV", "phone", ""),
    "visitor": ("v1", "v2", "v3"),
    "event_name": ("view_film", "start_checkout", "purchase", "search", "view_film", "Purchase", ""),
    "page": ("/", "/film/1", "/checkout", ""),
    "gebiet": ("Nord", "Süd", "unassigned", "nord", ""),
    "zuständig": ("Ada", "Jo", "niemand", ""),
    "table_name": ("fct_ticket_sales", "fct_views", ""),
}
_AMOUNTS = ("0", "0", "0.01", "1", "9.5", "10", "10", "12.34", "50", "99.99", "100", "100.5", "-1", "-10", "1000")
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "11:59:59", "12:00:00", "17:59:59", "18:00:00", "23:30:00", "23:59:59")
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2023, 12, 31), (2024, 1, 1), (2024, 1, 8), (2024, 1, 31), (2024, 2, 29), (2024, 3, 1), (2024, 3, 31),
        (2024, 4, 1), (2024, 5, 31), (2024, 6, 1), (2024, 6, 30), (2024, 7, 1), (2024, 10, 28), (2024, 12, 31),
        (2025, 1, 1), (2025, 1, 6), (2025, 2, 28), (2025, 3, 31), (2025, 6, 30), (2025, 12, 31),
    )
)  # fmt: skip
_SECONDS = {"hour": 3600, "minute": 60}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and spans that the versions compare with. Keys of `KEYS`
    are declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"film:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        yield from made_table(table, columns, ", ".join(KEYS.get(table, ())), _rows(random, pools, nulls, table))


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
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
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP") else value


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
        "rate": ["0.5", "0.95", "1", "1.0825", "2", "0", "-1"],
        "discount": ["0", "5", "12.5", "50"],
        "rental_share": ["0", "35", "45.5", "50", "60"],
        "share": ["0", "40", "45.5", "50"],
        "screens": ["0", "1", "2", "8"],
        "billing": ["1", "1", "2", "3"],
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
