"""Random databases of a company that sells subscriptions: small domains, NULLs, ties, duplicates, no unique key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

NULLS = (0.04, 0.12, 0.3)
"""The share of NULLs in a database."""
TABLES: Mapping[str, Mapping[str, str]] = {
    "accounts": {
        "account_id": "INTEGER",
        "name": "VARCHAR",
        "country": "VARCHAR",
        "segment": "VARCHAR",
        "parent_id": "INTEGER",
        "owner_id": "INTEGER",
        "created_at": "TIMESTAMP",
        "updated_at": "TIMESTAMP",
        "is_test": "BOOLEAN",
        "settings": "JSON",
    },
    "users": {
        "user_id": "INTEGER",
        "account_id": "INTEGER",
        "email": "VARCHAR",
        "role": "VARCHAR",
        "signed_up_at": "TIMESTAMP",
        "deleted_at": "TIMESTAMP",
        "invited_by": "INTEGER",
        "profile": "STRUCT(city VARCHAR, age INTEGER)",
        "tags": "VARCHAR[]",
    },
    "plans": {
        "plan_id": "INTEGER",
        "plan_name": "VARCHAR",
        "tier": "VARCHAR",
        "monthly_price": "DECIMAL(10,2)",
        "currency": "VARCHAR",
        "features": "VARCHAR[]",
        "valid_from": "DATE",
        "valid_to": "DATE",
    },
    "subscriptions": {
        "subscription_id": "INTEGER",
        "account_id": "INTEGER",
        "plan_id": "INTEGER",
        "status": "VARCHAR",
        "seats": "INTEGER",
        "mrr": "DECIMAL(10,2)",
        "started_on": "DATE",
        "ended_on": "DATE",
        "cancel_reason": "VARCHAR",
    },
    "subscription_events": {
        "event_id": "INTEGER",
        "subscription_id": "INTEGER",
        "account_id": "INTEGER",
        "kind": "VARCHAR",
        "occurred_at": "TIMESTAMP",
        "old_mrr": "DECIMAL(10,2)",
        "new_mrr": "DECIMAL(10,2)",
        "payload": "JSON",
    },
    "invoices": {
        "invoice_id": "INTEGER",
        "account_id": "INTEGER",
        "subscription_id": "INTEGER",
        "status": "VARCHAR",
        "issued_on": "DATE",
        "due_on": "DATE",
        "currency": "VARCHAR",
        "total": "DECIMAL(10,2)",
        "tax": "DECIMAL(10,2)",
    },
    "invoice_lines": {
        "invoice_id": "INTEGER",
        "line_no": "INTEGER",
        "plan_id": "INTEGER",
        "description": "VARCHAR",
        "quantity": "INTEGER",
        "unit_price": "DECIMAL(10,2)",
        "discount": "DECIMAL(10,2)",
    },
    "payments": {
        "payment_id": "INTEGER",
        "invoice_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "method": "VARCHAR",
        "status": "VARCHAR",
        "paid_at": "TIMESTAMP",
    },
    "refunds": {
        "refund_id": "INTEGER",
        "payment_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "reason": "VARCHAR",
        "refunded_at": "TIMESTAMP",
    },
    "page_views": {
        "view_id": "INTEGER",
        "user_id": "INTEGER",
        "session_id": "VARCHAR",
        "url": "VARCHAR",
        "viewed_at": "TIMESTAMP",
        "duration": "INTEGER",
        "context": "JSON",
    },
    "tickets": {
        "ticket_id": "INTEGER",
        "account_id": "INTEGER",
        "user_id": "INTEGER",
        "priority": "VARCHAR",
        "status": "VARCHAR",
        "opened_at": "TIMESTAMP",
        "closed_at": "TIMESTAMP",
        "labels": "VARCHAR[]",
        "score": "INTEGER",
    },
    "exchange_rates": {"currency": "VARCHAR", "day": "DATE", "rate": "DECIMAL(10,4)"},
    "calendar": {"day": "DATE", "is_workday": "BOOLEAN", "fiscal_quarter": "VARCHAR"},
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "daily_mrr": {"day": "DATE", "account_id": "INTEGER", "mrr": "DECIMAL(38,2)", "subscriptions": "INTEGER"},
    "dim_accounts": {
        "account_id": "INTEGER",
        "name": "VARCHAR",
        "country": "VARCHAR",
        "segment": "VARCHAR",
        "updated_at": "TIMESTAMP",
    },
    "fct_payments": {
        "payment_id": "INTEGER",
        "account_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "paid_on": "DATE",
        "method": "VARCHAR",
    },
}
"""Tables that exist, with rows, before a statement writes them."""
_COUNTS = {
    "accounts": (4, 8, 12),
    "invoices": (6, 14, 24),
    "plans": (3, 6, 9),
    "exchange_rates": (3, 6),
    "calendar": (3, 8),
    "page_views": (6, 14, 24),
    "subscription_events": (6, 14, 24),
    "subscriptions": (4, 9, 14),
}
_CURRENCIES = ("USD", "EUR", "CHF", "usd", "eur")
_STATUS = ("active", "active", "trialing", "canceled", "past_due")
_MONEY = ("0", "10.00", "10.00", "49.90", "99.99", "100.00", "250.50", "-5.00")
_TEXTS: Mapping[str, Sequence[str]] = {
    "accounts.name": ("Acme", "acme ", "Über GmbH", "O'Neil", "Zed", ""),
    "country": ("CH", "DE", "US", "us", ""),
    "segment": ("smb", "mid", "enterprise", "SMB"),
    "email": ("ann@acme.io", "Ann@Acme.io", "bob@zed.com", "no address", "x@test.io"),
    "role": ("admin", "member", "viewer"),
    "plan_name": ("Free", "Pro", "Pro Annual", "Team_1", "TeamX1"),
    "tier": ("free", "paid", "enterprise"),
    "currency": _CURRENCIES,
    "subscriptions.status": _STATUS,
    "cancel_reason": ("price", "churned", "", "missing feature"),
    "subscription_events.kind": ("created", "upgraded", "downgraded", "canceled", "reactivated"),
    "invoices.status": ("paid", "open", "void", "draft"),
    "description": ("seats", "seats (annual)", "support", "Setup fee"),
    "method": ("card", "sepa", "wire"),
    "payments.status": ("succeeded", "failed", "pending"),
    "reason": ("duplicate", "fraud", "goodwill"),
    "session_id": ("s1", "s2", "s3"),
    "url": ("/pricing", "/signup", "/docs/a", "/docs/b?x=1", "/Checkout", "/checkout"),
    "priority": ("low", "high", "urgent"),
    "tickets.status": ("open", "closed", "pending"),
    "fiscal_quarter": ("Q1", "Q2"),
    "settings": (
        '{"locale": "de", "limits": {"seats": 5}}',
        '{"locale": "en", "limits": {"seats": "10"}, "beta": true}',
        '{"locale": null, "flags": ["a", "b"]}',
        '{"flags": [], "beta": false}',
        "{}",
    ),
    "payload": (
        '{"plan": "pro", "seats": 3, "source": {"channel": "ads"}}',
        '{"plan": "free", "seats": 1, "source": {"channel": "seo"}}',
        '{"plan": null, "seats": 0}',
        '{"source": {"channel": "ads", "campaign": "spring"}}',
    ),
    "context": (
        '{"utm": {"source": "ads"}, "device": "mobile"}',
        '{"utm": {"source": "seo"}, "device": "desktop"}',
        '{"device": "Mobile"}',
        "{}",
    ),
}
_WORDS = ("bug", "vip", "beta", "sso", "")
_TIMES = ("00:00:00", "00:00:00", "09:30:00", "09:59:59", "10:00:00", "10:30:00", "23:59:59")
_DAYS = tuple(
    date(2024, *day) for day in ((1, 1), (1, 2), (1, 15), (1, 31), (2, 1), (2, 29), (3, 1), (3, 31), (4, 1), (12, 31))
)


def target_of(statement: str) -> str:
    """The table or view that a statement writes; empty for a query."""
    found = re.search(r"(?i)\b(?:INTO|UPDATE|DELETE FROM|(?:TABLE|VIEW)(?: IF NOT EXISTS)?) (\w+)", statement)
    return found[1] if found and not re.match(r"(?i)\s*(?:--.*\n\s*)*(?:WITH|SELECT|FROM)\b", statement) else ""


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random. Values are on
    both sides of the dates and numbers that the versions compare with.
    """
    text, random = "\n".join(versions), Random(f"subscriptions:{seed}")
    pools, nulls = _pools(text, random), random.choice(NULLS)
    for table, columns in tables_of(text).items():
        yield f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})"
        rows = [
            _row(random, pools, nulls, table, columns) for _ in range(random.choice(_COUNTS.get(table, (3, 8, 14))))
        ]
        rows += random.sample(rows, random.choice((0, 1, 2)))
        yield f"INSERT INTO {table} VALUES {', '.join(rows)}"


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in {**TABLES, **TARGETS}.items() if re.search(rf"(?i)\b{table}\b", text)}


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    named = {date.fromisoformat(day) for day in re.findall(r"\b20\d{2}-\d{2}-\d{2}", text)}
    near = [day + timedelta(days=shift) for day in sorted(named) for shift in (-1, 0, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((2, 4, 6))) + random.sample(
        near, min(len(near), random.choice((2, 4, 6)))
    )
    first = random.choice(days)
    days += [first + timedelta(days=shift) for shift in random.sample((1, 2, 6, 7, 8, 29, 30, 31), 3)]
    numbers = sorted({int(number) for number in re.findall(r"(?<![-.\w:'])\d{1,3}(?![-.\w:'])", text)})
    near_numbers = sorted({number + shift for number in numbers for shift in (-1, 0, 1)})
    chosen = random.sample(near_numbers, min(len(near_numbers), 4))
    all_texts = random.random() < 0.6
    times = random.sample(_TIMES, random.choice((2, 4)))
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": [f"{day} {time}" for day in days for time in times],
        "DECIMAL": [*random.sample(_MONEY, random.choice((1, 2, 5))), *map(str, chosen[: random.choice((0, 2))])],
        "INTEGER": ["0", "1", "2", "5", "30", *map(str, chosen)],
        "BOOLEAN": ["true", "false"],
        **{name: random.sample(texts, len(texts) if all_texts else 2) for name, texts in _TEXTS.items()},
        "keys": [str(key) for key in range(1, random.choice((2, 3, 4, 6)))],
    }


def _row(
    random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str, columns: Mapping[str, str]
) -> str:
    cells = (
        "NULL" if random.random() < nulls else _value(random, pools, table, name, kind)
        for name, kind in columns.items()
    )
    return f"({', '.join(cells)})"


def _value(random: Random, pools: Mapping[str, Sequence[str]], table: str, column: str, kind: str) -> str:
    texts = pools.get(f"{table}.{column}") or pools.get(column)
    if texts:
        return _quoted(random.choice(texts))
    if column.endswith(("_id", "_by")):
        return _quoted(random.choice(pools["keys"]))
    match kind.partition("(")[0]:
        case "VARCHAR[]":
            return f"[{', '.join(random.choice(('NULL', *map(_quoted, _WORDS))) for _ in range(random.randint(0, 3)))}]"
        case "STRUCT":
            age, city = random.choice(("NULL", "17", "18", "40")), random.choice(("NULL", "'Bern'", "'Rome'"))
            return f"{{'city': {city}, 'age': {age}}}"
        case "VARCHAR":
            return _quoted(random.choice(_WORDS))
    return _quoted(random.choice(pools[kind.partition("(")[0]]))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
