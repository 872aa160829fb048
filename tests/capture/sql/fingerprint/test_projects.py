"""Two versions of a project of scripts or models: which datasets change for their readers, and where the cause is."""

from collections.abc import Mapping
from typing import Any

import pytest

from whence.capture.sql.fingerprint.projects import evaluation
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.fingerprint.targets import ScriptTargets, read_targets
from whence.errors import DialectError
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName

BASE = {
    "raw.sql": "create view shop.paid as select id, amount, day from shop.orders where ok",
    "daily.sql": "create table shop.daily as select day, sum(amount) total, count(*) n from shop.paid group by day",
    "star.sql": "create table shop.copy as select * from shop.paid",
    "top.sql": "insert into shop.top (day, total) select day, total from shop.daily order by total desc limit 3",
}
COLUMNS = {"shop.orders": ("id", "amount", "day", "ok", "rate")}


def project(files: Mapping[str, str]) -> ProjectCode:
    codes = tuple(Code(file=name, sql=text, content=text) for name, text in files.items())
    return ProjectCode(dialect="duckdb", namespace="duck", codes=codes, columns=COLUMNS)


def changes(**files: str) -> list[ColumnChange]:
    head = {**BASE, **{f"{name}.sql": text for name, text in files.items()}}
    head = {name: text for name, text in head.items() if text}
    return list(compare_projects(project(BASE), project(head)))


def shown(found: list[ColumnChange]) -> list[str]:
    names = [f"{one.dataset.name}.{one.column}" if one.column else one.dataset.name for one in found]
    return [f"{name} {one.kind}{' (inherited)' * one.inherited}" for name, one in zip(names, found, strict=True)]


def test_a_filter_reaches_every_dataset_behind_it_and_one_is_the_cause() -> None:
    found = changes(raw=BASE["raw.sql"] + " and amount > 0")
    assert shown(found) == [
        "shop.paid rows",
        "shop.daily rows (inherited)",
        "shop.copy rows (inherited)",
        "shop.top rows (inherited)",
    ]
    assert "condition added: 0 < amount" in found[0].reason
    assert "the cause is upstream: shop.paid" in found[1].reason


def test_a_value_reaches_its_own_column_only() -> None:
    text = "create view shop.paid as select id, amount * rate as amount, day from shop.orders where ok"
    assert shown(changes(raw=text)) == [
        "shop.paid.amount values",
        "shop.daily.total values (inherited)",
        "shop.copy.amount values (inherited)",
        "shop.top rows (inherited)",
    ]


def test_a_rename_that_every_reader_follows_changes_nothing_behind_them() -> None:
    raw = "create view shop.paid as select id, amount as paid, day from shop.orders where ok"
    daily = "create table shop.daily as select day, sum(paid) as total, count(*) as n from shop.paid group by day"
    assert shown(changes(raw=raw, daily=daily)) == ["shop.paid.amount renamed", "shop.copy.amount renamed (inherited)"]


def test_a_reference_to_a_column_that_is_gone_is_found_in_a_file_that_nobody_changed() -> None:
    found = changes(raw="create view shop.paid as select id, day from shop.orders where ok")
    broken = [one for one in found if one.kind is ChangeKind.BROKEN_REFERENCE]
    assert shown(broken) == ["shop.daily broken reference"]
    assert (broken[0].file, broken[0].line, broken[0].before) == ("daily.sql", 1, "amount")


def test_a_table_that_nobody_builds_any_more_is_found_at_its_readers() -> None:
    found = changes(raw="")
    assert "shop.paid removed" in shown(found)
    assert {one.dataset.name for one in found if one.kind is ChangeKind.BROKEN_REFERENCE} >= {"shop.daily", "shop.copy"}


def test_a_statement_that_cannot_be_read_is_never_no_change() -> None:
    found = changes(daily=BASE["daily.sql"].replace("select", "selec"))
    assert [one.kind for one in found if one.dataset.name == "shop.daily"] == [ChangeKind.UNKNOWN]


def test_a_comment_and_another_name_of_a_file_change_nothing() -> None:
    head = {f"moved/{name}": f"-- moved\n{text}" for name, text in BASE.items()}
    assert compare_projects(project(BASE), project(head)) == ()


def test_a_function_of_the_project_is_a_part_of_its_callers() -> None:
    def with_rate(rate: str) -> dict[str, str]:
        function = f"create function net(x) as x * {rate}"
        return {"f.sql": function, "use.sql": "create table t as select net(amount) as v, id from shop.orders"}

    found = compare_projects(project(with_rate("0.8")), project(with_rate("0.7")))
    assert shown(list(found)) == ["t.v values"]


def model(name: str, sql: str, **settings: Any) -> Code:
    defaults: dict[str, Any] = {"file": f"models/{name}.sql", "content": sql, "table": name}
    dataset = DatasetName("duck", name)
    return Code(sql=sql, builds=dataset, **{**defaults, **settings})


def compare_models(before: Code, after: Code, *others: Code) -> list[ColumnChange]:
    versions = [(before, *others), (after, *others)]
    base, head = (ProjectCode(dialect="duckdb", namespace="duck", codes=one, columns=COLUMNS) for one in versions)
    return list(compare_projects(base, head))


def test_an_incremental_model_changes_from_now_on() -> None:
    reader = model("r", "select id from inc", parents=("inc",))
    before, after = (
        model("inc", f"select id from shop.orders where amount > {least}", materialized="incremental", parents=())
        for least in (1, 2)
    )
    found = compare_models(before, after, reader)
    assert [(one.dataset.name, one.kind, one.new_rows_only) for one in found] == [
        ("inc", ChangeKind.ROWS, True),
        ("r", ChangeKind.ROWS, True),
    ]


@pytest.mark.parametrize("text", ["select id, v from main.z", "select * from main.z", 'select z.v from main."z" as z'])
def test_a_model_that_is_named_without_a_reference_reaches_its_reader(text: str) -> None:
    """Models are read in the order of their parents; this one's is not among them, and comes after it."""
    reader = model("main.a", text, parents=())
    before, after = (
        model("main.z", f"select id, {value} as v from shop.orders", parents=("shop.orders",))
        for value in ("amount", "amount * 2")
    )
    versions = [(reader, one) for one in (before, after)]
    base, head = (ProjectCode(dialect="duckdb", namespace="duck", codes=one, columns=COLUMNS) for one in versions)
    assert shown(list(compare_projects(base, head))) == ["main.z.v values", "main.a.v values (inherited)"]


def test_a_file_is_read_again_if_a_table_that_it_names_means_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is not behind a change is read once for both versions."""
    texts: list[str] = []

    def counted(text: str, *arguments: Any, **options: Any) -> ScriptTargets:
        texts.append(text)
        return read_targets(text, *arguments, **options)

    monkeypatch.setattr(evaluation, "read_targets", counted)
    changed = BASE["daily.sql"].replace("count(*)", "count(id)")
    assert changes(daily=changed)
    counts = {name: texts.count(text) for name, text in BASE.items()}
    assert counts == {"raw.sql": 1, "star.sql": 1, "daily.sql": 2, "top.sql": 2}
    assert texts.count(changed) == 2


def test_a_new_column_of_an_incremental_model_waits_for_its_schema_change() -> None:
    before, after = (
        model("inc", f"select {columns} from shop.orders", materialized="incremental") for columns in ("id", "id, day")
    )
    (added,) = compare_models(before, after)
    assert added.kind is ChangeKind.ADDED
    assert "on_schema_change (ignore)" in added.reason


@pytest.mark.parametrize(("kind", "noun"), [("seed", "content"), ("python", "Python")])
def test_a_seed_and_a_python_model_change_in_an_unknown_way(kind: str, noun: str) -> None:
    reader = model("r", "select code from s", parents=("s",))
    before, after = (model("s", "", kind=kind, content=content, columns=("code",)) for content in ("one", "two"))
    own, behind = compare_models(before, after, reader)
    assert own.kind is ChangeKind.UNKNOWN
    assert noun in own.reason
    assert (behind.dataset.name, behind.inherited) == ("r", True)


def test_a_description_is_metadata_and_another_materialization_is_said() -> None:
    before = model("m", "select id from shop.orders", materialized="view", metadata={"description": "old"})
    after = model("m", "select id from shop.orders", materialized="table", metadata={"description": "new"})
    assert [(one.kind, one.before, one.after) for one in compare_models(before, after)] == [
        (ChangeKind.METADATA, "view", "table"),
        (ChangeKind.METADATA, "old", "new"),
    ]


def test_models_in_a_circle_are_compared() -> None:
    before = model("m", "select id from n", parents=("n",))
    after = model("m", "select id from n where id > 1", parents=("n",))
    found = compare_models(before, after, model("n", "select id from m", parents=("m",)))
    assert "m rows" in shown(found)


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(DialectError):
        compare_projects(ProjectCode(dialect="cobol", namespace="", codes=()), project(BASE))
