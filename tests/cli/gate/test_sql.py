"""`whence gate --sql`: a folder of SQL at merge base and head, judged column by column."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from cli.gate.conftest import BOARD, WAREHOUSE, Checkout, statement
from query.worlds.random_worlds import World, load
from whence.cli.commands.app import app
from whence.model.names import DatasetName, JobName

PAID, DAILY, ORDERS = (DatasetName(WAREHOUSE, name) for name in ("shop.paid", "shop.daily", "shop.orders"))
FILES: dict[str, str | None] = {
    "sql/paid.sql": "create view shop.paid as select id, amount, day, note from shop.orders where ok\n",
    "sql/daily.sql": "create table shop.daily as select day, sum(amount) as total from shop.paid group by day\n",
}
WORLD = World(
    statements=(
        statement(
            JobName("dbt", "paid"), *((ORDERS, column, PAID, column) for column in ("id", "amount", "day", "note"))
        ),
        statement(JobName("dbt", "daily"), (PAID, "amount", DAILY, "total"), (PAID, "day", DAILY, "day")),
        statement(JobName("bi", "board"), (DAILY, "total", BOARD, "bars")),
    ),
    facets=(
        (BOARD, "datasetType", json.dumps({"datasetType": "DASHBOARD"})),
        (DAILY, "tags", json.dumps({"tags": [{"key": "certified", "value": "true"}]})),
        (DAILY, "ownership", json.dumps({"owners": [{"name": "finance"}]})),
        (PAID, "whence_contract", json.dumps({"version": "2.1.0"})),
    ),
)
COLUMNS: dict[str, Any] = {"shop.orders": ["id", "amount", "day", "note", "ok", "rate"]}


@pytest.fixture
def models(checkout: Checkout) -> Checkout:
    """The models, merged before."""
    checkout.git("switch", "-q", "main")
    checkout.commit(FILES)
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    return checkout


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    load(sqlite_store, WORLD)
    return str(sqlite_store.url)


def judged(models: Checkout, store: str, path: Path, files: dict[str, str | None], code: int) -> dict[str, Any]:
    """The verdict on a commit of these files."""
    models.commit(files)
    columns = path / "columns.json"
    columns.write_text(json.dumps(COLUMNS))
    read = ["--sql", "sql", "--dialect", "duckdb", "--namespace", WAREHOUSE, "--columns", str(columns)]
    where = ["--repository", str(models.folder), "--base", "main", "--store", store]
    result = CliRunner().invoke(app, ["gate", *where, *read, "-o", "json"], env={"WHENCE_URL": None})
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def kinds(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["node"].rpartition(":")[2], one["kind"]) for one in found["changes"]]


def test_another_text_of_the_same_meaning_is_silent(models: Checkout, production: str, tmp_path: Path) -> None:
    text = (
        "-- paid orders\ncreate view shop.paid as\nselect o.id, o.amount, o.day, o.note\nfrom shop.orders o where ok;\n"
    )
    found = judged(models, production, tmp_path, {"sql/paid.sql": text}, 0)
    assert (found["verdict"], found["changes"]) == ("pass", [])


def test_a_waiver_of_some_rows_is_none_of_others(models: Checkout, production: str, tmp_path: Path) -> None:
    texts = [
        f"create view shop.paid as select id, amount, day, note from shop.orders{one}\n" for one in ("", " limit 9")
    ]
    (every, few, again) = (
        judged(models, production, tmp_path, {"sql/paid.sql": text}, 6)["changes"][0] for text in (*texts, texts[0])
    )
    assert {every["kind"], few["kind"]} == {"rows"}
    assert every["id"] == again["id"] != few["id"]


def test_a_formula_hits_the_board_that_shows_it(models: Checkout, production: str, tmp_path: Path) -> None:
    text = "create view shop.paid as select id, amount * rate as amount, day, note from shop.orders where ok\n"
    found = judged(models, production, tmp_path, {"sql/paid.sql": text}, 6)
    assert kinds(found) == [("amount", "values")]
    assert [(one["node"], one["by"]) for one in found["affected"]] == [
        (str(BOARD), "by value"),
        (str(DAILY), "by value"),
    ]
    assert [one["owner"] for one in found["required_approvals"]] == ["finance"]


def test_a_formula_that_nobody_reads_is_silent(models: Checkout, production: str, tmp_path: Path) -> None:
    text = "create view shop.paid as select id, amount, day, upper(note) as note from shop.orders where ok\n"
    found = judged(models, production, tmp_path, {"sql/paid.sql": text}, 0)
    assert (kinds(found), found["affected"]) == ([("note", "values")], [])


def test_a_statement_that_cannot_be_read_is_not_judged(models: Checkout, production: str, tmp_path: Path) -> None:
    """Not even what it writes is known, so that no change of a dataset tells of it."""
    odd = "merge into shop.odd using shop.orders on id = = other when matched then update set amount = {}\n"
    models.git("switch", "-q", "main")
    models.commit({"sql/odd.sql": odd.format(1), "sql/untouched.sql": odd.format(3)})
    models.git("switch", "-q", "work")
    models.git("rebase", "-q", "main")
    found = judged(models, production, tmp_path, {"sql/odd.sql": odd.format(2)}, 7)
    assert (found["verdict"], found["unjudged"], found["changes"]) == ("unknown", ["sql/odd.sql"], [])


def test_another_filter_changes_the_rows_of_all(models: Checkout, production: str, tmp_path: Path) -> None:
    text = "create view shop.paid as select id, amount, day, note from shop.orders where ok and amount > 0\n"
    found = judged(models, production, tmp_path, {"sql/paid.sql": text}, 6)
    assert kinds(found) == [("shop.paid", "rows")]


def test_a_renamed_contracted_column_blocks(models: Checkout, production: str, tmp_path: Path) -> None:
    renamed: dict[str, str | None] = {
        "sql/paid.sql": "create view shop.paid as select id, amount as paid, day, note from shop.orders where ok\n",
    }
    found = judged(models, production, tmp_path, renamed, 5)
    assert ("daily", "broken reference") in [(name.rpartition(".")[2], kind) for name, kind in kinds(found)]
    rules = {reason["rule"] for one in found["changes"] for reason in one["why"]}
    assert {"contract", "broken-reference", "breaking"} <= rules


def test_a_column_that_nobody_reads_may_go(models: Checkout, production: str, tmp_path: Path) -> None:
    text = "create view shop.paid as select id, amount, day from shop.orders where ok\n"
    found = judged(models, production, tmp_path, {"sql/paid.sql": text}, 0)
    assert (kinds(found), found["verdict"]) == ([("note", "removed")], "note")


def test_sql_that_cannot_be_read_is_unknown(models: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(models, production, tmp_path, {"sql/daily.sql": "create table shop.daily as selec 1 from\n"}, 7)
    assert "unknown" in [kind for _, kind in kinds(found)]


def test_sql_needs_its_dialect_and_its_namespace(models: Checkout, production: str) -> None:
    result = CliRunner().invoke(app, ["gate", "--store", production, "--sql", "sql"])
    assert result.exit_code == 2


def test_a_change_that_no_database_confirms_says_so(
    models: Checkout, production: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = {"id": "integer", "amount": "integer", "day": "date", "note": "varchar", "ok": "boolean", "rate": "integer"}
    monkeypatch.setitem(COLUMNS, "shop.orders", types)
    text = "create view shop.paid as select id, {} as amount, day, note from shop.orders where ok\n"
    models.git("switch", "-q", "main")
    models.commit({"sql/paid.sql": text.format("case when amount > 3 then amount - rate else 0 end")})
    models.git("switch", "-q", "work")
    models.git("rebase", "-q", "main")
    same = text.format(
        "coalesce([0, amount - rate][1 + (amount > 3)::integer], case when amount > 3 then null else 0 end)"
    )
    found = judged(models, production, tmp_path, {"sql/paid.sql": same}, 6)
    assert ("amount", "not confirmed") in kinds(found)
    assert all("generated databases" in one["trial"]["text"] for one in found["changes"])
    other = text.format("case when amount >= 3 then amount - rate else 0 end")
    found = judged(models, production, tmp_path, {"sql/paid.sql": other}, 6)
    assert ("amount", "values") in kinds(found)
    assert "amount 3" in found["changes"][0]["trial"]["text"]


@pytest.mark.parametrize(
    ("options", "prefix"), [((), "public"), (("--database", "shop"), "shop.public"), (("--schema", "sales"), "sales")]
)
def test_bare_tables_have_the_names_that_their_capture_gives_them(
    checkout: Checkout, sqlite_store: Engine, options: tuple[str, ...], prefix: str
) -> None:
    daily = DatasetName(WAREHOUSE, f"{prefix}.daily")
    load(sqlite_store, World(statements=(statement(JobName("bi", "board"), (daily, "total", BOARD, "bars")),)))
    text = "create table daily as select day, {} as total from orders group by day\n"
    checkout.git("switch", "-q", "main")
    checkout.commit({"sql/daily.sql": text.format("sum(amount)")})
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    checkout.commit({"sql/daily.sql": text.format("max(amount)")})
    read = ["--sql", "sql", "--dialect", "postgres", "--namespace", WAREHOUSE, *options]
    where = ["--repository", str(checkout.folder), "--base", "main", "--store", str(sqlite_store.url)]
    result = CliRunner().invoke(app, ["gate", *where, *read], env={"WHENCE_URL": None})
    assert (result.exit_code, "by value" in result.output) == (0, True), result.output
    assert f"{prefix}.daily.total" in result.output


SUM = "create table shop.daily as select day, sum(amount) as total from shop.paid group by day\n"


def test_a_byte_order_mark_or_other_line_ends_change_nothing(models: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(models, production, tmp_path, {"sql/daily.sql": "\ufeff" + SUM}, 0)
    assert (found["verdict"], found["changes"]) == ("pass", [])
    (models.folder / "sql/daily.sql").write_bytes(SUM.replace("\n", "\r\n").encode())
    found = judged(models, production, tmp_path, {}, 0)
    assert (found["verdict"], found["changes"]) == ("pass", [])


def test_readers_of_a_file_that_cannot_be_read_are_not_broken(
    models: Checkout, production: str, tmp_path: Path
) -> None:
    """A statement that this reader does not know may build the table all the same."""
    found = judged(models, production, tmp_path, {"sql/paid.sql": "create view shop.paid as selec id frm x\n"}, 7)
    assert ("shop.paid", "unknown") in kinds(found)
    assert "broken reference" not in [kind for _, kind in kinds(found)]


def test_a_link_or_a_huge_file_in_the_folder_is_not_judged(models: Checkout, production: str, tmp_path: Path) -> None:
    (models.folder / "sql/link.sql").symlink_to("daily.sql")
    text = "create table shop.big as select 1 as one\n--" + "x" * (5 << 20)
    found = judged(models, production, tmp_path, {"sql/big.sql": text}, 7)
    assert (found["verdict"], found["unjudged"]) == ("unknown", ["sql/big.sql", "sql/link.sql"])


def test_a_submodule_is_named(models: Checkout, production: str, tmp_path: Path) -> None:
    models.git("update-index", "--add", "--cacheinfo", f"160000,{models.git('rev-parse', 'HEAD')},vendor/models")
    models.git("commit", "-q", "-m", "submodule")
    result = CliRunner().invoke(
        app,
        ["gate", "--repository", str(models.folder), "--base", "main", "--store", production],
        env={"WHENCE_URL": None},
    )
    assert (result.exit_code, "vendor/models is a submodule" in result.output) == (0, True), result.output


def test_what_cannot_be_executed_keeps_nothing_else_from_it(
    models: Checkout, production: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The types of a table into which a script inserts are not known. Names have spaces, and no schema."""
    monkeypatch.setitem(COLUMNS, '"Order Lines"', {"Net Amount": "integer"})
    texts = {
        "sql/log.sql": "insert into log (amount) select id from shop.orders where id > {}\n",
        "sql/report.sql": 'create table report as select "Net Amount" n from "Order Lines" where "Net Amount" > {}\n',
    }
    models.git("switch", "-q", "main")
    models.commit({name: text.format(3) for name, text in texts.items()})
    models.git("switch", "-q", "work")
    models.git("rebase", "-q", "main")
    found = judged(models, production, tmp_path, {name: text.format(4) for name, text in texts.items()}, 7)
    trials = {one["node"].rpartition(":")[2]: one["trial"] for one in found["changes"]}
    assert trials["main.log"]["untried"] == "the types of the columns of log are not known"
    assert "net amount 4" in trials["main.report"]["text"]
