"""Random databases of a university: students, courses, grades, fees, portal, library; some keys are declared."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random

from capture.sql.generated.companies.logistics import target_of
from capture.sql.generated.companies.market import quoted

__all__ = ("KEYS", "TABLES", "TARGETS", "is_read", "made_table", "scripts", "tables_of", "target_of")

TABLES: Mapping[str, Mapping[str, str]] = {
    "students": {
        "student_id": "INTEGER",
        "full name": "VARCHAR",
        "email": "VARCHAR",
        "birth_date": "DATE",
        "country": "VARCHAR",
        "status": "VARCHAR",
        "programme_id": "INTEGER",
        "advisor_id": "INTEGER",
        "is_part_time": "BOOLEAN",
        "admitted_on": "DATE",
        "left_on": "DATE",
        "created_at": "TIMESTAMP",
    },
    "programmes": {
        "programme_id": "INTEGER",
        "title": "VARCHAR",
        "faculty": "VARCHAR",
        "degree": "VARCHAR",
        "max places": "INTEGER",
        "credits_required": "INTEGER",
    },
    "courses": {
        "course_id": "INTEGER",
        "code": "VARCHAR",
        "title": "VARCHAR",
        "faculty": "VARCHAR",
        "level": "INTEGER",
        "credits": "INTEGER",
        "größe": "INTEGER",
        "is_active": "BOOLEAN",
    },
    "sections": {
        "section_id": "INTEGER",
        "course_id": "INTEGER",
        "term": "VARCHAR",
        "group": "VARCHAR",
        "lecturer_id": "INTEGER",
        "capacity": "INTEGER",
        "starts_on": "DATE",
        "ends_on": "DATE",
    },
    "enrolments": {
        "student_id": "INTEGER",
        "section_id": "INTEGER",
        "status": "VARCHAR",
        "source": "VARCHAR",
        "enrolled_at": "TIMESTAMP",
        "dropped_at": "TIMESTAMP",
    },
    "grades": {
        "student_id": "INTEGER",
        "section_id": "INTEGER",
        "attempt": "INTEGER",
        "points": "DECIMAL(5,2)",
        "letter": "VARCHAR",
        "is_final": "BOOLEAN",
        "graded_at": "TIMESTAMP",
    },
    "staff": {
        "staff_id": "INTEGER",
        "full name": "VARCHAR",
        "department": "VARCHAR",
        "rank": "VARCHAR",
        "manager_id": "INTEGER",
        "workload": "DECIMAL(4,2)",
        "hired_on": "DATE",
        "left_on": "DATE",
    },
    "fee invoices": {
        "invoice_id": "INTEGER",
        "student_id": "INTEGER",
        "term": "VARCHAR",
        "amount": "DECIMAL(10,2)",
        "currency": "VARCHAR",
        "due_on": "DATE",
        "paid_on": "DATE",
        "is_waived": "BOOLEAN",
    },
    "payments": {
        "payment_id": "INTEGER",
        "invoice_id": "INTEGER",
        "amount": "DECIMAL(10,2)",
        "method": "VARCHAR",
        "is_refund": "BOOLEAN",
        "paid_at": "TIMESTAMP",
    },
    "portal events": {
        "student_id": "INTEGER",
        "event_type": "VARCHAR",
        "page": "VARCHAR",
        "device": "VARCHAR",
        "duration_s": "INTEGER",
        "occurred_at": "TIMESTAMP",
    },
    "items": {
        "item_id": "INTEGER",
        "title": "VARCHAR",
        "category": "VARCHAR",
        "price": "DECIMAL(8,2)",
        "order": "INTEGER",
        "bought_on": "DATE",
    },
    "loans": {
        "loan_id": "INTEGER",
        "student_id": "INTEGER",
        "item_id": "INTEGER",
        "branch": "VARCHAR",
        "renewals": "INTEGER",
        "loaned_at": "TIMESTAMP",
        "due_on": "DATE",
        "returned_at": "TIMESTAMP",
    },
    "scholarships": {
        "student_id": "INTEGER",
        "scheme": "VARCHAR",
        "amount": "DECIMAL(10,2)",
        "from": "DATE",
        "to": "DATE",
    },
    "applications": {
        "application_id": "INTEGER",
        "applicant_email": "VARCHAR",
        "programme_id": "INTEGER",
        "term": "VARCHAR",
        "source": "VARCHAR",
        "score_text": "VARCHAR",
        "decision": "VARCHAR",
        "applied_on": "DATE",
        "decided_on": "DATE",
    },
    "attendance": {
        "section_id": "INTEGER",
        "student_id": "INTEGER",
        "state": "VARCHAR",
        "minutes": "INTEGER",
        "held_on": "DATE",
    },
    "bookings": {
        "booking_id": "INTEGER",
        "room": "VARCHAR",
        "section_id": "INTEGER",
        "is_cancelled": "BOOLEAN",
        "starts_at": "TIMESTAMP",
        "ends_at": "TIMESTAMP",
    },
    "prüfungen": {
        "exam_id": "INTEGER",
        "section_id": "INTEGER",
        "raum": "VARCHAR",
        "max points": "INTEGER",
        "exam date": "DATE",
    },
}
TARGETS: Mapping[str, Mapping[str, str]] = {}
"""No statement writes a table that is there before."""
KEYS: Mapping[str, str] = {
    "students": "student_id",
    "programmes": "programme_id",
    "courses": "course_id",
    "sections": "section_id",
    "staff": "staff_id",
    "fee invoices": "invoice_id",
    "items": "item_id",
    "loans": "loan_id",
    "applications": "application_id",
    "bookings": "booking_id",
    "prüfungen": "exam_id",
}
"""The primary keys, which are unique and never NULL. The other tables have rows that repeat."""
_FEW, _MANY = (2, 4, 7), (8, 18, 32)
_COUNTS: Mapping[str, Sequence[int]] = {
    "students": (4, 8, 12), "programmes": _FEW, "courses": _FEW, "sections": (3, 6, 10), "staff": (4, 8, 12),
    "items": _FEW,
}  # fmt: skip
_ENDS = frozenset(("left_on", "dropped_at", "paid_on", "returned_at", "to", "decided_on", "manager_id"))
"""Columns that are often unknown."""
_TEXTS: Mapping[str, Sequence[str]] = {
    "full name": ("Ada Berg", "ada berg", " Ada Berg", "Jo van Os", "Jo", "Ærø, Åse", "", "Berg; Ada"),
    "email": ("ada@uni.de", "Ada@Uni.DE", " ada@uni.de ", "jo@uni.de", "jo@mail.org", "nobody", ""),
    "applicant_email": ("ada@uni.de", "Ada@Uni.DE", " ada@uni.de ", "jo@uni.de", "jo@mail.org", ""),
    "country": ("DE", "de", "AT", "FR", " FR", ""),
    "status": ("active", "Active", "leave", "graduated", "withdrawn", "test", ""),
    "enrolments.status": ("enrolled", "enrolled", "completed", "failed", "waitlisted", "cancelled", "Enrolled", ""),
    "title": ("Algebra", "algebra", "Law I", "Ethics", "50% Chemistry", ""),
    "faculty": ("Science", "science", "Arts", "Law", "none", ""),
    "degree": ("BSc", "MSc", "PhD", "bsc", ""),
    "code": ("MAT101", "mat101", "PHY-201", "CS 50", "LAW1", ""),
    "term": ("2023W", "2024S", "2024W", "2025S", "2025W", ""),
    "group": ("A", "B", "a", ""),
    "source": ("web", "office", "Web", "import", ""),
    "letter": ("A", "B", "C", "D", "F", "a", ""),
    "department": ("Maths", "maths", "Physics", "Library", ""),
    "rank": ("professor", "lecturer", "assistant", "Lecturer", ""),
    "currency": ("EUR", "EUR", "CHF", "eur", ""),
    "method": ("card", "transfer", "cash", "Card", ""),
    "event_type": ("login", "view", "download", "submit", "logout", "heartbeat", "Login", ""),
    "page": ("/home", "/courses/1", "/courses/22", "/grades", "/library?q=x", "/Home", ""),
    "device": ("mobile", "desktop", "tablet", "Mobile", ""),
    "category": ("book", "journal", "dvd", "Book", ""),
    "branch": ("main", "law", "Main", ""),
    "scheme": ("merit", "need", "Merit", "sport", ""),
    "score_text": ("88", "88.5", " 91 ", "0", "100", "100.01", "-1", "n/a", "55.555", "1e1", ""),
    "decision": ("accepted", "Accepted", "rejected", "waitlist", "withdrawn", ""),
    "state": ("present", "absent", "excused", "late", "Present", ""),
    "room": ("R1", "R2", "Aula", "r1", ""),
    "raum": ("R1", "R2", "Aula", "r1", ""),
}  # fmt: skip
_AMOUNTS = (
    "0", "0", "0.01", "0.5", "1", "1", "2.25", "10", "10", "12.34", "99.99", "100", "100", "-1", "-10", "333.33",
    "1000", "1200",
)  # fmt: skip
_POINTS = ("0", "10", "33.33", "49.99", "50", "50", "50.01", "66.67", "75.5", "89.99", "90", "100", "100")
_BIRTHS = ("1978-05-01", "1999-12-31", "2000-02-29", "2001-06-15", "2004-09-30", "2005-01-01", "2006-03-01")
_CLOCKS = ("00:00:00", "00:00:00", "00:00:01", "08:59:59", "09:00:00", "12:00:00", "17:30:00", "23:59:59")
_DAYS = tuple(
    date(year, month, day)
    for year, month, day in (
        (2023, 12, 31), (2024, 1, 1), (2024, 1, 31), (2024, 2, 28), (2024, 2, 29), (2024, 3, 1), (2024, 3, 31),
        (2024, 4, 1), (2024, 6, 15), (2024, 6, 30), (2024, 7, 1), (2024, 9, 9), (2024, 10, 1), (2024, 11, 30),
        (2024, 12, 31), (2025, 1, 1), (2025, 1, 15), (2025, 2, 28), (2025, 3, 1), (2025, 12, 31),
    )
)  # fmt: skip
_SHIFTS = (1, 1, 2, 6, 7, 8, 14, 15, 29, 30, 31, 45, 60, 90, 91, 180, 364, 365, 366)
_SECONDS = {"hour": 3600, "minute": 60, "day": 86400}


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random, in DuckDB.

    Values are at, and on both sides of, the days, numbers and spans of time that the versions compare with. Keys of
    `KEYS` are declared and unique. In the other tables some rows repeat, and some differ in one value from another.
    """
    text, random = "\n".join(versions), Random(f"campus:{seed}")
    pools, nulls = _pools(text, random), random.choice((0.0, 0.05, 0.1, 0.2, 0.3))
    for table, columns in tables_of(text).items():
        yield from made_table(table, columns, KEYS.get(table, ""), _rows(random, pools, nulls, table))


def made_table(table: str, columns: Mapping[str, str], key: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The statements that create a table with columns of these types and a primary key, and fill it with rows."""
    typed = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    yield f"CREATE TABLE {quoted(table)} ({typed}{f', PRIMARY KEY ({key})' if key else ''})"
    yield f"INSERT INTO {quoted(table)} VALUES {values}"


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names after FROM, JOIN or a comma, with their columns and types."""
    return {table: columns for table, columns in TABLES.items() if is_read(table, text)}


def is_read(table: str, text: str) -> bool:
    """Whether a text names a table after FROM, JOIN or a comma."""
    return re.search(rf'(?i)(?:\bFROM|\bJOIN|,)\s+"?{re.escape(table)}\b', text) is not None


def _rows(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> Iterator[list[str]]:
    """Rows of a table, some equal or nearly equal to another one; the declared key counts them."""
    rows = [_row(random, pools, nulls, table) for _ in range(random.choice(_COUNTS.get(table, _MANY)))]
    rows += [_twin(random, pools, table, random.choice(rows)) for _ in range(random.choice((0, 2, 5)))]
    rows += random.sample(rows, random.choice((0, 0, 1, 2)))
    for number, row in enumerate(rows, start=1):
        yield [str(number), *row[1:]] if table in KEYS else row


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    """The values of this database, by the name or the type of a column."""
    days, numbers = _days(text, random), _near_numbers(text, random)
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": _times(text, days, random),
        "DECIMAL": [*random.sample(_AMOUNTS, random.choice((2, 4, 7, 14))), *numbers[: random.choice((0, 3, 8))]],
        "INTEGER": ["0", "1", "2", "3", "5", "30", *_whole(numbers)[:4]],
        "BOOLEAN": ["true", "false", *random.choice((("false", "false"), ("true",), ()))],
        "keys": [str(key) for key in range(1, random.choice((3, 4, 6, 8)))],
        "birth_date": random.sample(_BIRTHS, random.choice((2, 5, 7))),
        "points": random.sample(_POINTS, random.choice((3, 6, 12))),
        "workload": ["0", "0.25", "0.5", "0.5", "0.75", "1", "1", "1.25"],
        "price": ["0", "0.99", "1", "5", "10", "12.5", "40"],
        "attempt": ["1", "1", "2", "2", "3"],
        "credits": ["0", "3", "5", "5", "6", "10"],
        **{name: _texts(text, texts, random) for name, texts in _TEXTS.items()},
    }


def _near_numbers(text: str, random: Random) -> list[str]:
    """Numbers at and next to those that the text names."""
    named = {float(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?:\.\d{1,2})?(?![-.\w:'])", text)}
    near = sorted({number + shift for number in named for shift in (-1, 0, 0.01, 1)})
    return [f"{number:g}" for number in random.sample(near, min(len(near), 8))]


def _whole(numbers: Sequence[str]) -> list[str]:
    return [number for number in numbers if number.lstrip("-").isdigit()]


def _days(text: str, random: Random) -> list[date]:
    """Days at and next to those that the text names, ends of periods, and days some weeks or months apart."""
    named = sorted(set(map(date.fromisoformat, re.findall(r"\b20\d{2}-\d{2}-\d{2}", text))))
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((1, 3, 6))) + random.sample(near, min(len(near), random.choice((2, 6))))
    first = random.choice(near if near and random.random() < 0.7 else days)
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
    spans = sorted({int(count) * _SECONDS[unit.lower()] for count, unit in named})
    noon = datetime(day.year, day.month, day.day, 12)
    return [
        str(noon + timedelta(seconds=span * far + more)) for span in spans for far in (0, 1) for more in (-1, 0, 0, 1)
    ]


def _texts(text: str, texts: Sequence[str], random: Random) -> Sequence[str]:
    """All texts, or few: those that the versions name, and some others."""
    if random.random() < 0.4:
        return texts
    named = [one for one in texts if one and f"'{one}'" in text]
    return [*named, *named, *random.sample(texts, random.choice((0, 1, 2)) if named else 3)]


def _row(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str) -> list[str]:
    shares = {
        name: max(nulls, 0.4 if name in _ENDS else 0.12 if kind == "BOOLEAN" else 0.0)
        for name, kind in TABLES[table].items()
    }
    return ["NULL" if random.random() < share else _value(random, pools, table, name) for name, share in shares.items()]


def _twin(random: Random, pools: Mapping[str, Sequence[str]], table: str, row: Sequence[str]) -> list[str]:
    """A row that differs from another one in one value."""
    place, name = random.choice(list(enumerate(TABLES[table])))
    return [*row[:place], _value(random, pools, table, name), *row[place + 1 :]]


def _value(random: Random, pools: Mapping[str, Sequence[str]], table: str, name: str) -> str:
    kind = TABLES[table][name]
    by_type = "keys" if name.endswith("_id") else kind.partition("(")[0]
    value = random.choice(pools.get(f"{table}.{name}") or pools.get(name) or pools[by_type])
    return "'" + value.replace("'", "''") + "'" if kind in ("VARCHAR", "DATE", "TIMESTAMP") else value
