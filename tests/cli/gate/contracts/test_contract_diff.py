"""`whence contract diff`: two versions of a contract over the readers that a store knows."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from whence.cli.commands.app import app

COLUMNS = {"amount": "number", "id": "integer", "note": "string"}


def contract(path: Path, version: str, columns: dict[str, str], name: str = "shop.public.orders") -> str:
    fields = "".join(f"      - {{name: {column}, logicalType: {type_}}}\n" for column, type_ in columns.items())
    text = f"""\
apiVersion: v3.1.0
kind: DataContract
id: orders
version: {version}
status: active
team:
  members:
    - {{username: ada, role: Owner}}
schema:
  - name: {name}
    properties:
{fields}"""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return str(path)


def diff(tmp_path: Path, store: str, version: str, columns: dict[str, str], *options: str, name: str = "") -> Result:
    names = {"name": name} if name else {}
    old = contract(tmp_path / "old" / "orders.odcs.yaml", "1.0.0", COLUMNS, **names)
    new = contract(tmp_path / "new" / "orders.odcs.yaml", version, columns, **names)
    words = ["contract", "diff", old, new, "--store", store, "--namespace", "postgres://prod:5432", *options]
    return CliRunner().invoke(app, words, env={"WHENCE_URL": None})


def without(column: str) -> dict[str, str]:
    return {name: type_ for name, type_ in COLUMNS.items() if name != column}


def test_a_column_that_somebody_reads_breaks(shop_store: str, tmp_path: Path) -> None:
    result = diff(tmp_path, shop_store, "1.1.0", without("amount"), "--readers-within-days", "100000")
    assert result.exit_code == 5
    lines = result.stdout.splitlines()
    assert lines[0] == "blocked: orders 1.0.0 -> 1.1.0"
    assert lines[1].startswith("  breaking: shop.public.orders.amount: removed: amount  (")
    assert lines[2] == (
        "    read by job:airflow:clean, into dataset:postgres://prod:5432:shop.silver.orders, of shop-team"
    )
    assert "  missing: a new major version is needed; 1.0.0 became 1.1.0" in lines
    (tmp_path / "new" / "MIGRATION.md").write_text("# 2.0.0\nUse total.\n")
    ready = diff(tmp_path, shop_store, "2.0.0", without("amount"), "--readers-within-days", "100000")
    assert ready.exit_code == 6
    assert ready.stdout.splitlines()[-2:] == ["  approval needed of: ada", "  to be notified: shop-team"]


def test_a_column_that_nobody_has_read_of_late_is_unused(shop_store: str, tmp_path: Path) -> None:
    """The jobs ran on 2026-11-20; a day later they are readers of the last 90 days, and no readers of the last one."""
    result = diff(tmp_path, shop_store, "1.1.0", without("id"), "--readers-within-days", "1", "-o", "json")
    document = json.loads(result.stdout)
    assert [(one["class"], one["column"]) for one in document["changes"]] == [("unused", "id")]
    assert (result.exit_code, document["verdict"]) == (0, "note")


def test_what_production_does_not_know_may_be_read(shop_store: str, tmp_path: Path) -> None:
    result = diff(tmp_path, shop_store, "1.1.0", without("id"), name="no.such.table")
    assert result.exit_code == 5
    assert "there may be more readers: production does not know this dataset" in result.stdout
    offline = diff(tmp_path, "sqlite:////nowhere/at/all.db", "1.1.0", without("id"), "--offline")
    assert "there may be more readers: production was not asked" in offline.stdout


@pytest.mark.parametrize(("old", "new"), [("id: orders", "id: lines"), ("version:", "vresion:")])
def test_what_is_no_pair_of_versions(shop_store: str, tmp_path: Path, old: str, new: str) -> None:
    first = contract(tmp_path / "a.yaml", "1.0.0", COLUMNS)
    second = Path(contract(tmp_path / "b.yaml", "1.0.0", COLUMNS))
    second.write_text(second.read_text().replace(old, new))
    result = CliRunner().invoke(app, ["contract", "diff", first, str(second), "--offline"])
    assert (result.exit_code, result.stdout) == (1 if new == "id: lines" else 2, "")
    assert "b.yaml" in result.stderr
