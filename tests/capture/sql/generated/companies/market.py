"""Random databases of an online marketplace: orders, listings, prices, refunds, events; small domains, no key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random

from capture.sql.generated.companies.logistics import target_of

__all__ = ("TABLES", "TARGETS", "quoted", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "orders": {
        "order_id": "INTEGER",
        "buyer_id": "INTEGER",
        "placed_at": "TIMESTAMP",
        "status": "VARCHAR",
        "currency": "VARCHAR",
        "coupon_code": "VARCHAR",
        "country": "VARCHAR",
        "shipping_fee": "DECIMAL(10,2)",
        "cancelled_at": "TIMESTAMP",
        "device": "VARCHAR",
    },
    "order_lines": {
        "line_id": "INTEGER",
        "order_id": "INTEGER",
        "listing_id": "INTEGER",
        "seller_id": "INTEGER",
        "quantity": "INTEGER",
        "unit_price": "DECIMAL(10,2)",
        "discount": "DECIMAL(10,2)",
    },
    "sellers": {
        "seller_id": "INTEGER",
        "shop_name": "VARCHAR",
        "country": "VARCHAR",
        "tier": "VARCHAR",
        "joined_on": "DATE",
        "closed_on": "DATE",
        "referrer_id": "INTEGER",
    },
    "listings": {
        "listing_id": "INTEGER",
        "seller_id": "INTEGER",
        "title": "VARCHAR",
        "category": "VARCHAR",
        "listed_at": "TIMESTAMP",
        "delisted_at": "TIMESTAMP",
        "attributes": "JSON",
        "tags": "VARCHAR[]",
    },
    "price_history": {
        "listing_id": "INTEGER",
        "valid_from": "TIMESTAMP",
        "price": "DECIMAL(10,2)",
        "currency": "VARCHAR",
    },
    "refunds": {
        "refund_id": "INTEGER",
        "order_id": "INTEGER",
        "line_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "reason": "VARCHAR",
        "refunded_at": "TIMESTAMP",
    },
    "reviews": {
        "review_id": "INTEGER",
        "listing_id": "INTEGER",
        "buyer_id": "INTEGER",
        "stars": "INTEGER",
        "body": "VARCHAR",
        "posted_at": "TIMESTAMP",
        "helpful": "INTEGER",
    },
    "buyers": {
        "buyer_id": "INTEGER",
        "email": "VARCHAR",
        "full_name": "VARCHAR",
        "signed_up_at": "TIMESTAMP",
        "country": "VARCHAR",
        "marketing_ok": "BOOLEAN",
    },
    "events": {
        "event_id": "INTEGER",
        "buyer_id": "INTEGER",
        "visitor": "VARCHAR",
        "event": "VARCHAR",
        "happened_at": "TIMESTAMP",
        "page": "VARCHAR",
        "properties": "JSON",
    },
    "coupons": {
        "code": "VARCHAR",
        "kind": "VARCHAR",
        "percent_off": "INTEGER",
        "amount_off": "DECIMAL(10,2)",
        "starts_on": "DATE",
        "ends_on": "DATE",
    },
    "payouts": {
        "payout_id": "INTEGER",
        "seller_id": "INTEGER",
        "period_start": "DATE",
        "period_end": "DATE",
        "currency": "VARCHAR",
        "gross": "DECIMAL(12,2)",
        "fee": "DECIMAL(12,2)",
        "paid_on": "DATE",
        "status": "VARCHAR",
    },
    "fx_rates": {"currency": "VARCHAR", "rate_date": "DATE", "eur_rate": "DECIMAL(12,4)"},
    "assignments": {
        "experiment": "VARCHAR",
        "buyer_id": "INTEGER",
        "variant": "VARCHAR",
        "assigned_at": "TIMESTAMP",
    },
    "Händler.Liste 2025": {
        'Shop "Nr."': "INTEGER",
        "Größe m²": "DECIMAL(8,2)",
        "order": "INTEGER",
        "group": "VARCHAR",
        "from": "DATE",
        "to": "DATE",
        "e-Mail": "VARCHAR",
    },
    "Umsatz je Shop": {'Shop "Nr."': "INTEGER", "select": "VARCHAR", "Betrag €": "DECIMAL(10,2)", "am.Tag": "DATE"},
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "fct_seller_day": {
        "day": "DATE",
        "seller_id": "INTEGER",
        "orders": "BIGINT",
        "units": "HUGEINT",
        "gross": "DECIMAL(38,2)",
    },
    "dim_listing": {
        "listing_id": "INTEGER",
        "title": "VARCHAR",
        "category": "VARCHAR",
        "is_live": "BOOLEAN",
        "changed_on": "DATE",
    },
}
"""Tables that exist, with rows, before a statement writes them."""
_MANY = frozenset(("orders", "order_lines", "events", "price_history", "refunds", "reviews", "payouts", "fx_rates"))
_ENDS = frozenset(("cancelled_at", "closed_on", "delisted_at", "ends_on", "paid_on", "to", "referrer_id"))
"""What is often unknown."""
_TEXTS: Mapping[str, Sequence[str]] = {
    "status": ("paid", "shipped", "cancelled", "draft", "Paid", "returned", ""),
    "currency": ("EUR", "USD", "eur", "JPY", "CHF", ""),
    "coupon_code": ("SPRING", "spring", "VIP-10", "VIP10", "", " VIP-10"),
    "code": ("SPRING", "spring", "VIP-10", "VIP10", ""),
    "kind": ("percent", "amount", "Percent", "shipping"),
    "country": ("DE", "CH", "de", "US", "AT", ""),
    "device": ("ios", "android", "web", "iOS", "mobile web", ""),
    "shop_name": ("Tee & Co", "tee & co", " Lampen", "Lampen", "O'Neil", ""),
    "tier": ("gold", "silver", "Gold", "basic", ""),
    "title": ("Blue mug", "blue mug ", "Mug, blue", "50% off mug", "Lamp_2", ""),
    "category": ("home", "home/kitchen", "Home", "toys", "toys/wood", ""),
    "reason": ("damaged", "late", "Late", "fraud", "other", ""),
    "body": ("Great mug!", "great MUG", "bad", " Bad ", "ok, but late", ""),
    "email": ("ada@shop.de", "Ada@Shop.DE", "ada+x@shop.de", " jo@post.io", "jo@post.io", "nobody", "a@b@c.d"),
    "e-Mail": ("ada@shop.de", "Ada@Shop.DE", "jo@post.io", "nobody", ""),
    "full_name": ("Ada Berg", "ada berg", "Jo van Os", " Jo", "Jo"),
    "visitor": ("v1", "v2", "V1", "v3"),
    "event": ("view", "cart", "checkout", "purchase", "View", "search"),
    "page": ("/", "/home", "/home/", "/item?id=3", "/item", "/Home", ""),
    "experiment": ("new_checkout", "ranking", "New_Checkout"),
    "variant": ("control", "treatment", "Control", "b"),
    "group": ("A", "a", "B", ""),
    "select": ("A", "a", "bar", "Karte", ""),
    "tags": ("['sale', 'new']", "['Sale']", "['new', 'new']", "[]", "['sale', NULL]", "['vintage', 'blue', 'sale']"),
    "attributes": (
        '{"color": "blue", "weight": 12, "brand": {"name": "Mugly"}}',
        '{"color": "Blue", "weight": "12", "brand": {"name": null}}',
        '{"color": null, "weight": 0, "brand": {}}',
        '{"color": "", "weight": "heavy"}',
        '{"weight": 99.5, "sizes": ["S", "M", "M"]}',
        '{"color": "red", "weight": 500, "sizes": []}',
        "{}",
    ),
    "properties": (
        '{"source": "ad", "value": 20, "campaign": "spring"}',
        '{"source": "Ad", "value": "20"}',
        '{"source": "mail", "value": 0, "campaign": null}',
        '{"source": "", "value": "many", "campaign": ""}',
        '{"source": null, "value": 9.5}',
        '{"value": 100}',
        "{}",
    ),
}
_AMOUNTS = (
    "0", "0", "0.01", "0.5", "0.99", "1", "1", "2.25", "10", "10", "12.34", "20", "49.99", "50", "100", "-1", "-10",
    "250.5",
)  # fmt: skip
_RATES = ("1", "0.5", "0.9321", "1.1", "0.0065", "2")
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "01:30:00", "08:59:59", "09:00:00", "12:00:00", "17:00:00", "22:00:00",
           "22:30:00", "23:00:00", "23:59:59")  # fmt: skip
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2024, 2, 29), (2024, 12, 29), (2024, 12, 31), (2025, 1, 1), (2025, 1, 5), (2025, 1, 6), (2025, 1, 31),
        (2025, 2, 1), (2025, 2, 28), (2025, 3, 1), (2025, 3, 30), (2025, 3, 31), (2025, 4, 1), (2025, 6, 30),
        (2025, 7, 1), (2025, 10, 26), (2025, 12, 31), (2026, 1, 1),
    )
)  # fmt: skip
_SHIFTS = (1, 1, 2, 6, 7, 8, 13, 14, 15, 28, 30, 31, 60, 90, 365)
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the dates, numbers and spans of time that the versions compare with. Some rows
    occur more than once, and some differ from another row in one value only, so that there are ties.
    """
    text, random = "\n".join(versions), Random(f"market:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.05, 0.12, 0.3))
    for table, columns in tables_of(text).items():
        count = random.choice((8, 16, 30) if table in _MANY else (3, 6, 12))
        rows = [_row(random, pools, nulls, columns) for _ in range(count)]
        rows += [_twin(random, pools, columns, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
        rows += random.sample(rows, random.choice((0, 0, 1, 3)))
        typed = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
        yield f"CREATE TABLE {quoted(table)} ({typed})"
        values = ", ".join(f"({', '.join(row)})" for row in rows)
        yield f"INSERT INTO {quoted(table)} VALUES {values}"


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in {**TABLES, **TARGETS}.items() if _is_named(table, text)}


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _is_named(table: str, text: str) -> bool:
    return re.search(rf"(?i)(?<![\w.]){re.escape(table)}\b", text) is not None


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    numbers, days = _near_numbers(text, random), _days(text, random)
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": _times(text, days, random),
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((2, 3, 6, 12))), *numbers[: random.choice((0, 2, 4))]],
        "INTEGER": ["0", "1", "2", "3", "5", *random.choice(((), ("-1",))), *numbers],
        "BIGINT": ["0", "1", "2", *numbers],
        "HUGEINT": ["0", "1", "2"],
        "BOOLEAN": ["true", "false"],
        "keys": [str(key) for key in range(1, random.choice((2, 3, 4, 6)))],
        "eur_rate": _RATES,
        "quantity": ["0", "1", "1", "2", "3", *random.choice(((), ("-1",)))],
        "stars": ["1", "2", "3", "4", "5", "5", "0"],
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


def _times(text: str, days: Sequence[date], random: Random) -> list[str]:
    """Times of these days; in half of the databases times just as far apart as the text names, and few others."""
    times = [f"{day} {clock}" for day in days for clock in random.sample(_CLOCKS, random.choice((2, 4, 8)))]
    spans = _spans_apart(text, random.choice(days))
    if not spans or random.random() < 0.5:
        return times
    return random.sample(spans, random.randint(3, len(spans))) + random.sample(times, random.choice((0, 2)))


def _spans_apart(text: str, day: date) -> list[str]:
    """Times that are just the named spans apart, or a second less or more."""
    named = re.findall(r"(?i)INTERVAL '?(\d+)'? ?(second|minute|hour|day|week)", text)
    named += [
        (count, unit) for unit, count in re.findall(r"(?i)'?(minute|hour|day)s?\b[^<>=\n]{0,60}[<>]=? *(\d+)", text)
    ]
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


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, columns: Mapping[str, str]) -> list[str]:
    shares = {name: max(nulls, 0.4) if name in _ENDS else nulls for name in columns}
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
    pool = pools.get(column) or pools["keys" if column.endswith("_id") or "Nr." in column else kind.partition("(")[0]]
    value = random.choice(pool)
    is_text = kind in ("VARCHAR", "JSON", "DATE", "TIMESTAMP")
    return "'" + value.replace("'", "''") + "'" if is_text else value
