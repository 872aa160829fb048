"""`whence expect`: dependencies that a repository states are in the graph, or named as missing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from whence.cli.commands.app import app


def expect(path: Path, store: str, text: str, *options: str) -> Result:
    file = path / "expected.yaml"
    file.write_text(text, "utf-8")
    return CliRunner().invoke(app, ["expect", str(file), "--store", store, *options], env={"WHENCE_URL": None})


def test_dependencies_that_hold(shop_store: str, tmp_path: Path) -> None:
    text = """\
version: 1
dependencies:
  - {from: shop.public.orders.amount, to: gold.revenue.total, by_value: true}
  - {from: shop.public.orders, to: Revenue board}
"""
    result = expect(tmp_path, shop_store, text)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "2 of 2 dependencies hold"


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ("from: gold.revenue.total, to: shop.public.orders.amount", "no path leads there"),
        ("from: shop.public.orders.note, to: gold.revenue.total", "no path leads there"),
        ("from: shop.public.orders.amount, to: no.such.table", "no dataset, column, job or run is named"),
    ],
)
def test_a_dependency_that_is_missing_is_named_with_its_line(
    shop_store: str, tmp_path: Path, ends: str, reason: str
) -> None:
    text = f"dependencies:\n- {{from: shop.public.orders, to: gold.revenue}}\n- {{{ends}}}\n"
    result = expect(tmp_path, shop_store, text, "-o", "json")
    assert result.exit_code == 5
    held, missing = json.loads(result.stdout)["dependencies"]
    assert (held["outcome"], missing["outcome"]) == ("holds", "missing")
    assert missing["place"].endswith("expected.yaml:3")
    assert reason in missing["reason"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it states no dependency"),
        ("dependencies: []", "it states no dependency"),
        ("version: 1", "'dependencies' is missing"),
        ("dependencies:\n- {from: a}", "expected.yaml:2: 'to' is missing"),
        ("dependencies:\n- {from: a, to: b, by_vale: true}", "did you mean 'by_value'?"),
    ],
)
def test_a_mistake_in_the_file_is_no_pass(shop_store: str, tmp_path: Path, text: str, reason: str) -> None:
    result = expect(tmp_path, shop_store, text)
    assert result.exit_code == 2
    assert reason in result.stderr.replace("\n", " ")
