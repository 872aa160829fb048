"""Kinds of values by form and check digit, and files of values of which nothing but the kind is told."""

import json
import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.govern.tags.value_kinds import find_kind, is_address_of_host, is_card, is_email, is_iban, is_phone

CARDS = ("4111 1111 1111 1111", "5500005555555559", "378282246310005")  # published test numbers
IBANS = ("DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606")


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        (is_email, ("ada@example.com", "a.b+c@mail.example.co.uk"), ("ada@", "@example.com", "a b@example.com", "x@y")),
        (is_phone, ("+49 30 123456", "0044 20 7946 0958"), ("20261128", "078-05-1120", "123456789", "+1")),
        (is_card, CARDS, ("4111111111111112", "0000000000000000", "20261128", "4111 11111111 1111")),
        (is_iban, IBANS, ("DE89370400440532013001", "GB82", "INVOICE123456789")),
        (is_address_of_host, ("10.0.0.1", "2001:db8::1"), ("1.2.3", "10.0.0.256", "1.5")),
    ],
)
def test_forms_are_told_apart(test: object, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    assert callable(test)
    assert all(map(test, right))
    assert not any(map(test, wrong))


def test_most_values_decide_and_random_numbers_are_nothing() -> None:
    mails = [f"user{number}@example.com" for number in range(80)] + ["unknown"] * 20
    found = find_kind("contact2", mails)
    assert found is not None
    assert (found.category, found.kind, found.share, found.values) == ("pii", "e-mail addresses", 0.8, 100)
    assert find_kind("contact2", mails[70:]) is None
    assert find_kind("contact2", ["ada@example.com"] * 100) is None
    dice = random.Random(5)
    assert find_kind("order", [str(dice.randrange(10**15, 10**16)) for _ in range(500)]) is None
    assert find_kind("day", [f"2026{dice.randrange(1, 13):02}{dice.randrange(1, 29):02}" for _ in range(500)]) is None


def test_a_file_is_looked_at_and_no_value_is_told(tmp_path: Path) -> None:
    file = tmp_path / "export.csv"
    rows = [f"{number};Zoe{number};zoe{number}@secret.example;{IBANS[number % 3]}" for number in range(50)]
    file.write_text("\n".join(["id;name;contact2;ref", *rows]), "utf-8")

    def run(*options: str) -> str:
        answer = CliRunner().invoke(app, ["tags", "sample", "crm.customers", str(file), *options])
        assert answer.exit_code == Exit.OK, answer.output
        assert not any(word in answer.output for word in ("zoe", "Zoe", "secret", "DE89"))
        return answer.output

    assert "pii        crm.customers.contact2  e-mail addresses in 100% of 50 values" in run()
    (one,) = json.loads(run("--output", "json"))["columns"]
    assert one == {"column": "contact2", "category": "pii", "kind": "e-mail addresses", "share": 1.0, "values": 50} | {
        "sent": False
    }
    assert "contact2,pii,e-mail addresses,1.0,7,false" in run("--output", "csv", "--rows", "7")
    without = CliRunner().invoke(app, ["tags", "sample", "crm.customers", str(file), "--presidio"])
    if find_spec("presidio_analyzer") is None:
        assert (without.exit_code, "pip install 'whence-lineage[presidio]'" in without.stderr) == (Exit.MISTAKE, True)
    file.write_bytes(b"\xff\xfe\x00")
    refused = CliRunner().invoke(app, ["tags", "sample", "crm.customers", str(file)])
    assert (refused.exit_code, "cannot be read" in refused.output) == (Exit.MISTAKE, True)
