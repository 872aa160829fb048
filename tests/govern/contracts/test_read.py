"""What a contract promises, whatever the version of the standard in which it is written."""

from pathlib import Path

import pytest

from whence.govern.contracts.contract import Contract
from whence.govern.contracts.read import read_contract
from whence.model.names import DatasetName

EXAMPLES = Path(__file__).parent / "examples"


def read(text: str, **options: str) -> Contract:
    contract, checked = read_contract(text, "a.odcs.yaml", **options)
    assert contract is not None, checked.problems
    return contract


def example(name: str, **options: str) -> Contract:
    return read((EXAMPLES / f"{name}.odcs.yaml").read_text("utf-8"), **options)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.odcs.yaml")), ids=lambda path: path.name)
def test_the_text_stays_as_it_was_written(path: Path) -> None:
    text = path.read_bytes().decode()
    assert read(text).text == text


def test_versions_of_the_standard_end_here() -> None:
    old, new = example("orders-v3.0.2"), example("orders-v3.1.0")
    for one in (old, new):
        assert (one.id, one.version, one.status, one.owners) == ("orders", "1.4.0", "active", ("ada",))
        (table,) = one.tables
        assert [str(dataset) for dataset in table.datasets] == [
            "dataset:postgres://db:5432:shop.public.orders",
            "dataset:postgres://devdb:5432:shop.public.orders",
        ]
        columns = {column.name: column for column in table.columns}
        assert (columns["id"].required, columns["id"].unique, columns["id"].primary_key) == (True, True, True)
        assert columns["status"].values == frozenset({"new", "paid", "shipped"})
        assert columns["status"].rules[0].metric == "invalidValues"
        assert columns["status"].rules[0].operators == {"mustBeLessThan": 1}
        assert (table.rules[0].key, table.rules[0].metric) == ("enough rows", "rowCount")
        assert [(level.property, level.value, level.unit) for level in one.service_levels][:2] == [
            ("latency", 4, "h"),
            ("retention", 3, "y"),
        ]
    assert [column.name for column in new.tables[0].columns][3:] == ["address", "address.city", "lines", "lines.amount"]
    assert (new.ends, new.migration_note) == ("2030-01-01", "notes/orders.md")
    assert (old.ends, old.migration_note) == ("", "")


def test_lines_are_those_of_the_file() -> None:
    contract = example("orders-v3.0.2")
    lines = (EXAMPLES / "orders-v3.0.2.odcs.yaml").read_text("utf-8").splitlines()
    (table,) = contract.tables
    assert lines[table.line - 1] == "  - name: orders"
    assert [lines[one.line - 1].strip() for one in table.columns] == [
        "- name: id",
        "- name: status",
        "- name: ordered_on",
    ]
    assert lines[contract.lines["team"] - 1] == "team:"
    assert contract.place(table.line) == f"a.odcs.yaml:{table.line}"


def test_one_environment_is_chosen() -> None:
    (table,) = example("orders-v3.0.2", environment="dev").tables
    assert table.datasets == (DatasetName("postgres://devdb:5432", "shop.public.orders"),)


HEAD = "apiVersion: v3.2.0\nkind: DataContract\nid: a\nversion: 1.0.0\n"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("type: snowflake, account: org-acc, database: DB, schema: S", "dataset:snowflake://org-acc:DB.S.t"),
        ("type: bigquery, project: p, dataset: d", "dataset:bigquery:p.d.t"),
        ("type: mysql, host: h, port: 3306, database: shop", "dataset:mysql://h:3306:shop.t"),
        ("type: duckdb, database: /data/a.duckdb, schema: main", "dataset:duckdb:///data/a.duckdb:a.main.t"),
        ("type: kafka, host: 'k:9092'", "dataset:kafka://k:9092:t"),
        ("type: s3, location: 's3://lake/{model}/*.parquet', format: parquet", "dataset:s3://lake:t"),
        ("type: local, path: /data/t, format: csv", "dataset:file:/data/t"),
        ("type: postgres, host: '${HOST}', port: 5432, database: d, schema: s", ""),
        ("type: custom, host: h", ""),
    ],
)
def test_servers_name_datasets_as_openlineage_does(server: str, expected: str) -> None:
    contract = read(f"{HEAD}servers: [{{server: s, {server}}}]\nschema: [{{name: x, physicalName: t}}]\n")
    assert [str(one) for one in contract.tables[0].datasets] == ([expected] if expected else [])


def test_a_table_names_its_datasets_itself_or_the_caller_its_namespace() -> None:
    own = read(
        f"{HEAD}schema: [{{name: x, customProperties: [{{property: whenceDataset, "
        "value: ['dataset:s3://a:b', 'dataset:pg:c']}]}]\n"
    )
    assert own.tables[0].datasets == (DatasetName("s3://a", "b"), DatasetName("pg", "c"))
    given = read(f"{HEAD}schema: [{{name: x, physicalName: s.x}}]\n", namespace="pg")
    assert given.tables[0].datasets == (DatasetName("pg", "s.x"),)
    assert read(f"{HEAD}schema: [{{name: x}}]\n").tables[0].datasets == ()


@pytest.mark.parametrize(
    ("team", "owners"),
    [
        ("team: {name: shop}", ("shop",)),
        ("team: {name: shop, members: [{username: a, role: Product Owner}, {username: b}]}", ("a",)),
        ("team: {members: [{username: a}, {username: b, dateOut: '2024-01-01'}]}", ("a",)),
        ("team: {members: [{username: a, role: owner, dateOut: '2024-01-01'}]}", ()),
        ("tags: []", ()),
    ],
)
def test_owners(team: str, owners: tuple[str, ...]) -> None:
    assert read(f"{HEAD}{team}\n").owners == owners


def test_people_and_topics_of_older_versions() -> None:
    people, topic = example("team-of-table-v3.0.2"), example("topic-v3.0.2")
    assert (people.owners, people.tables) == (("grace",), ())
    assert topic.tables[0].datasets == (DatasetName("kafka://broker.example.com:9092", "payments"),)
