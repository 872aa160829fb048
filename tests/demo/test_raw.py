"""The raw data is the same on every machine, and has the defects that the pipeline mends."""

import csv
from pathlib import Path

from whence.demo.raw import Customer, Login, Ticket, columns, write_raw


def test_the_same_files_every_time(tmp_path: Path) -> None:
    write_raw(tmp_path / "a", customers=20)
    write_raw(tmp_path / "b", customers=20)
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


def test_each_source_has_its_columns_and_its_defects(tmp_path: Path) -> None:
    write_raw(tmp_path)
    crm, usage, tickets = (_rows(tmp_path / name) for name in ("crm_export", "usage_logs", "support_tickets"))
    assert [tuple(rows[0]) for rows in (crm, usage, tickets)] == [columns(kind) for kind in (Customer, Login, Ticket)]
    assert len({row["customer_id"] for row in crm}) < len(crm)
    assert any(float(row["session_minutes"]) <= 0 for row in usage)
    assert {"Yes", "No"} == {row["churned"] for row in crm}
    assert {row["customer_id"] for row in tickets} < {row["customer_id"] for row in crm}


def test_only_the_apps_for_phones_lose_the_times_of_logins(tmp_path: Path) -> None:
    write_raw(tmp_path / "whole", customers=40)
    write_raw(tmp_path / "broken", customers=40, lost_logins=True)
    whole, broken = (_rows(tmp_path / name / "usage_logs") for name in ("whole", "broken"))
    assert [one | {"last_login": ""} if one["device"] != "web" else one for one in whole] == broken
    assert {one["last_login"] == "" for one in broken} == {True, False}
    for other in ("crm_export", "support_tickets"):
        assert _rows(tmp_path / "whole" / other) == _rows(tmp_path / "broken" / other)


def _files(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.csv")}


def _rows(directory: Path) -> list[dict[str, str]]:
    (path,) = directory.glob("*.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
