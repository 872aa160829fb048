"""The shop's raw files: customers and their payments as CSV, the same on every machine."""

import csv
import random
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path

_SEED = 20261101
_LAST_DAY = date(2026, 10, 31)
_COUNTRIES = ("DE", "FR", "IT", "NL")


def write_raw(folder: Path, customers: int = 200) -> None:
    """Write `customers.csv` and `payments.csv`. Who has left paid less, and less often."""
    rng = random.Random(_SEED)
    statuses = {number: rng.choice(("active", "active", "left")) for number in range(1, customers + 1)}
    people = ((one, f"customer{one}@example.com", rng.choice(_COUNTRIES), status) for one, status in statuses.items())
    folder.mkdir(parents=True)
    _write(folder / "customers.csv", ("customer_id", "email", "country", "status"), people)
    _write(folder / "payments.csv", ("payment_id", "customer_id", "paid_on", "cents"), _payments(rng, statuses))


def _payments(rng: random.Random, statuses: dict[int, str]) -> Iterator[tuple[object, ...]]:
    for customer, status in statuses.items():
        for number in range(rng.randint(1, 6 if status == "active" else 3)):
            cents = rng.randint(500, 9_000 if status == "active" else 4_000)
            yield customer * 10 + number, customer, _LAST_DAY - timedelta(days=rng.randint(0, 90)), cents


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
