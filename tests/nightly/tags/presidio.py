"""Columns of numbers that states give to people, as Presidio finds them, beside numbers that look like them."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from environments import environment

FOLDER = Path(__file__).parent
ROOT = Path(__file__).parents[3]


def pesel(dice: random.Random) -> str:
    """A Polish number of a person: a date of birth, a number, and the check digit."""
    digits = f"{dice.randrange(50, 99)}{dice.randrange(1, 13):02}{dice.randrange(1, 29):02}{dice.randrange(10_000):04}"
    weighted = sum(int(digit) * weight for digit, weight in zip(digits, (1, 3, 7, 9) * 3, strict=False))
    return f"{digits}{-weighted % 10}"


def nif(dice: random.Random) -> str:
    """A Spanish number of a person, with its letter."""
    number = dice.randrange(10_000_000, 100_000_000)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def nhs(dice: random.Random) -> str:
    """A number of a patient of the National Health Service."""
    while True:
        digits = str(dice.randrange(10**8, 10**9))
        check = 11 - sum(int(digit) * weight for digit, weight in zip(digits, range(10, 1, -1), strict=True)) % 11
        if check != 10:
            return f"{digits[:3]} {digits[3:6]} {digits[6:]}{check % 11}"


def ssn(dice: random.Random) -> str:
    """A social security number of the USA: it has no check digit."""
    return f"2{dice.randrange(10, 99)}-{dice.randrange(10, 99)}-{dice.randrange(1_000, 9_999)}"


def columns() -> Iterator[tuple[str, list[str]]]:
    """Columns by name: 300 values each."""
    dice = random.Random(22)
    makers = {"ref": pesel, "code": nif, "member": nhs, "customer_ssn": ssn, "key": ssn}
    for name, make in makers.items():
        yield name, [make(dice) for _ in range(300)]
    yield "mostly", [pesel(dice) if at % 10 else "unknown" for at in range(300)]
    for width in (8, 9, 10, 11, 12, 13, 16):
        yield f"order{width}", [str(dice.randrange(10 ** (width - 1), 10**width)) for _ in range(300)]
    yield "name", [f"Zoe Quux {at}" for at in range(300)]
    yield "day", [f"2026-{at % 12 + 1:02}-{at % 28 + 1:02}" for at in range(300)]


@pytest.fixture(scope="module")
def found() -> Any:
    python = environment("presidio", FOLDER / "presidio.lock") / "bin/python"
    done = subprocess.run(
        [str(python), str(FOLDER / "read_values.py")],
        input=json.dumps(dict(columns())),
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'client/src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_numbers_of_people_are_found_by_their_check_digits(found: Any) -> None:
    assert found["ref"] == ["pii", "pl-pesel", 1.0, 200]
    assert found["code"] == ["pii", "es-nif", 1.0, 200]
    assert found["member"] == ["phi", "uk-nhs", 1.0, 200]
    assert found["mostly"][:2] == ["pii", "pl-pesel"]
    assert 0.8 < found["mostly"][2] < 1


def test_a_number_without_one_counts_if_the_name_agrees(found: Any) -> None:
    assert found["customer_ssn"][:2] == ["pii", "us-ssn"]
    assert found["key"] is None


def test_other_numbers_are_nothing(found: Any) -> None:
    assert [name for name in found if name.startswith("order") and found[name]] == []
    assert (found["name"], found["day"]) == (None, None)
