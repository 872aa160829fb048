"""The demo's raw data: a CRM export, usage logs and support tickets as CSV, the same on every machine."""

import csv
import random
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from datetime import date, datetime, timedelta
from pathlib import Path

AS_OF = date(2023, 10, 1)
SEED = 20231001
"""Other seeds make other customers: the exports of other days."""

_CONTRACTS = ("Month-to-Month", "One Year", "Two Year")
_APPS = ("ios", "android")
_SEVERITIES = ("low", "medium", "HIGH", "critical")


@dataclass(frozen=True, slots=True)
class Customer:
    """One row of the CRM export."""

    customer_id: int
    name: str
    email: str
    signup_date: date
    contract_type: str
    tenure: int
    monthly_charges: float
    churned: str


@dataclass(frozen=True, slots=True)
class Login:
    """One row of the usage logs: a session that began with a login."""

    customer_id: int
    last_login: datetime | None
    session_minutes: float
    device: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """One row of the support tickets."""

    ticket_id: int
    customer_id: int
    opened_at: date
    severity: str
    subject: str


def write_raw(directory: Path, customers: int = 400, *, lost_logins: bool = False, seed: int = SEED) -> None:
    """Write the three sources to `directory`/crm_export, /usage_logs and /support_tickets, one CSV file each.

    `lost_logins`: a release of the apps for phones forgot to send the time of the login, and the logs have nulls.
    """
    rng = random.Random(seed)
    people = [_customer(rng, number) for number in range(1, customers + 1)]
    logins = [login for person in people for login in _logins(rng, person)]
    tickets = [ticket for person in people for ticket in _tickets(rng, person)]
    if lost_logins:
        logins = [replace(login, last_login=None) if login.device in _APPS else login for login in logins]
    # Every export has its duplicates; the pipeline removes them.
    _write(directory / "crm_export", [*people, *people[:10]])
    _write(directory / "usage_logs", logins)
    _write(directory / "support_tickets", tickets)


def columns(row: type[Customer] | type[Login] | type[Ticket]) -> tuple[str, ...]:
    """The column names of one of the three sources, in order."""
    return tuple(field.name for field in fields(row))


def _customer(rng: random.Random, number: int) -> Customer:
    contract = rng.choice(_CONTRACTS)
    tenure = rng.randint(1, 72)
    risk = 0.55 * (contract == _CONTRACTS[0]) + 0.3 * (tenure < 12)
    return Customer(
        customer_id=number,
        name=f"Customer {number}",
        email=f" Customer{number}@Example.com",
        signup_date=AS_OF - timedelta(days=30 * tenure),
        contract_type=contract,
        tenure=tenure,
        monthly_charges=round(rng.uniform(20, 120), 2),
        churned="Yes" if rng.random() < risk else "No",
    )


def _logins(rng: random.Random, person: Customer) -> Iterator[Login]:
    quiet = 60 if person.churned == "Yes" else 0
    for _ in range(rng.randint(0, 12)):
        ago = timedelta(days=quiet + rng.randint(1, 60), minutes=rng.randint(0, 1439))
        at = datetime(AS_OF.year, AS_OF.month, AS_OF.day) - ago
        yield Login(person.customer_id, at, round(rng.uniform(-1, 90), 1), rng.choice(("web", *_APPS)))


def _tickets(rng: random.Random, person: Customer) -> Iterator[Ticket]:
    for count in range(rng.randint(0, 5 if person.churned == "Yes" else 3)):
        opened = AS_OF - timedelta(days=rng.randint(1, 120))
        number = person.customer_id * 10 + count
        yield Ticket(number, person.customer_id, opened, rng.choice(_SEVERITIES), "Help, please")


def _write(directory: Path, rows: Iterable[Customer | Login | Ticket]) -> None:
    listed = list(rows)
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{AS_OF:%Y%m%d}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns(type(listed[0])))
        writer.writerows(astuple(row) for row in listed)
