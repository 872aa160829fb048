"""The documentation tells the truth: every command, route, error, setting and table is there, as it is in the code.

`python tests/test_docs.py` (or `make docs`) writes the generated part of docs/cli.md anew.
"""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine
from typer.testing import CliRunner

import whence.errors
from query.worlds import Said, World, load
from whence.api.app import create_app
from whence.api.meters import Meters
from whence.api.metrics import exposition
from whence.api.settings import Settings
from whence.api.status import Status
from whence.capture.spark import LISTENER_VERSION, attach, conf
from whence.cli.app import app as command_line
from whence.derive.kpis.series import kpis
from whence.derive.publish.schema import KPI, SCHEMA_VERSION, TABLES
from whence.errors import WhenceError
from whence.log import Amount, Position
from whence.log.kafka.address import OWN, SECURITY
from whence.log.kafka.topic import SETTINGS as TOPIC
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.producers import Adapter
from whence.openlineage.refusals import REFUSALS
from whence.store.disagreements import Disagreements
from whence.store.engine import open_store, sqlite_url, writing
from whence.store.ledger import Ledger
from whence.store.migrate import migrate
from whence.store.standing import Produced, Standing
from whence.store.tables import FACTS, metadata, progress

ROOT = Path(__file__).parents[1]
GENERATED = re.compile(r"<!-- generated -->\n.*<!-- /generated -->\n", re.DOTALL)
SQL_TYPES = {"int64": "bigint", "string": "string", "bool": "boolean", "double": "double"} | {
    "timestamp[us, tz=UTC]": "timestamp"
}
HELP = re.compile(r"<!-- help -->\n.*<!-- /help -->\n", re.DOTALL)
EXAMPLE = re.compile(r"```http\n(GET|POST|PUT|DELETE) (\S+)\n(.*?)```\n```json\n(\d+)\n(.*?)```", re.DOTALL)
VARIABLES = (
    re.compile(r"environ(?:\.get|\.setdefault)?[\[(]\"(\w+)\""),
    re.compile(r"envvar=\"(\w+)\""),
    re.compile(r"\"((?:WHENCE|OTEL)_\w+)\""),
)
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(text: str, title: str) -> str:
    """The part of a page under a heading, up to the next heading."""
    return text.partition(f"\n{title}\n")[2].partition("\n#")[0]


def commands() -> list[str]:
    return sorted(typer.main.get_group(command_line).commands)


def all_commands() -> list[list[str]]:
    """The commands as they are typed, those of groups after their group."""
    found = []
    for name, command in sorted(typer.main.get_group(command_line).commands.items()):
        found += [[name], *([name, inner] for inner in sorted(getattr(command, "commands", {})))]
    return found


def help_pages() -> str:
    """What `whence COMMAND --help` says, for each command, as Markdown."""
    runner = CliRunner(
        env={
            "COLUMNS": "100",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "WHENCE_DATA": None,
            "WHENCE_STORE": None,
            "WHENCE_LOG": None,
        }
    )
    parts = []
    for arguments in ([], *all_commands()):
        said = runner.invoke(command_line, [*arguments, "--help"], prog_name="whence")
        assert said.exit_code == 0, said.output
        lines = [line.rstrip() for line in said.output.strip().splitlines()]
        parts.append("\n".join([f"### whence {' '.join(arguments)}".rstrip(), "", "```", *lines, "```", ""]))
    return "\n".join(parts)


def with_help(text: str) -> str:
    """docs/cli.md with the generated part as it should be."""
    return HELP.sub(lambda _: f"<!-- help -->\n{help_pages()}<!-- /help -->\n", text)


def with_tables(text: str) -> str:
    """docs/tables.md, likewise."""
    parts = []
    for name, table in {**TABLES, "kpi": KPI}.items():
        columns = [f"| `{column}` | {SQL_TYPES[str(type_)]} | {said} |" for column, type_, said in table.columns]
        head = "| column | type | meaning |\n|---|---|---|"
        parts.append("\n".join([f"## {name}", "", table.meaning, "", head, *columns, ""]))
    return _generated(text, "\n".join(parts))


def with_kpis(text: str) -> str:
    """docs/kpis.md, likewise."""
    rows = [f"| `{one.name}` | {one.unit} | {one.definition} |" for one in kpis()]
    return _generated(text, "\n".join(["| KPI | unit | definition |", "|---|---|---|", *rows, ""]))


def _generated(text: str, part: str) -> str:
    return GENERATED.sub(lambda _: f"<!-- generated -->\n{part}<!-- /generated -->\n", text)


WRITTEN = {"docs/cli.md": with_help, "docs/tables.md": with_tables, "docs/kpis.md": with_kpis}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_generated_is_as_the_code_says(name: str) -> None:
    text = page(name)
    assert HELP.search(text) or GENERATED.search(text)
    assert WRITTEN[name](text) == text, "run `make docs`"


def test_the_version_of_the_tables_is_documented() -> None:
    assert f"what is below, now {SCHEMA_VERSION}." in page("docs/tables.md")


def test_every_environment_variable_is_documented() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")] + [page("tests/conftest.py")]
    used = {name for text in sources for pattern in VARIABLES for name in pattern.findall(text)}
    settings = set(re.findall(r"^\| `(\w+)` \|", section(page("docs/cli.md"), "## Settings"), re.MULTILINE))
    assert {"WHENCE_DATA", "WHENCE_STORE", "JAVA_HOME", "OPENLINEAGE_URL"} <= used
    assert used == settings


def test_every_error_is_documented() -> None:
    errors = {name for name, one in inspect.getmembers(whence.errors, inspect.isclass) if issubclass(one, WhenceError)}
    assert set(re.findall(r"^\| `(\w+)` \|", page("docs/errors.md"), re.MULTILINE)) == errors


def test_every_table_and_column_is_documented_with_its_rule() -> None:
    text = page("docs/store.md")
    assert sorted(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == sorted(metadata.tables)
    for table in metadata.tables.values():
        rules = {
            column.name: column.info["merge"] if table in FACTS else "key" if column.primary_key else ""
            for column in table.columns
        }
        documented = re.findall(r"^\| `(\w+)` \| (\w*) ?\|", section(text, f"### {table.name}"), re.MULTILINE)
        assert dict(documented) == rules, table.name


def test_every_setting_of_a_topic_is_documented() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", section(page("docs/log.md"), "## Kafka"), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    assert documented == {*OWN, "settings", *SECURITY}
    for name, value in TOPIC.items():
        assert f"{name}={value}" in page("docs/log.md")


def test_every_option_of_the_spark_listener_is_documented() -> None:
    options = set(re.findall(r"^\| `(\w+)` \|", section(page("docs/spark.md"), "## Attach"), re.MULTILINE))
    assert options == set(inspect.signature(conf).parameters)
    assert set(inspect.signature(attach).parameters) - {"builder"} <= options
    assert LISTENER_VERSION in page("docs/spark.md")
    assert LISTENER_VERSION in page("README.md")


ORDERS, REVENUE = (
    DatasetName("postgres://db:5432", f"shop.{name}") for name in ("public.orders", "gold.daily_revenue")
)
SHOP = World(
    said=(
        Said(
            owner=JobName("shop", "daily_revenue"),
            edges=(
                (
                    Edge(
                        source=FieldName(ORDERS, "amount"),
                        target=FieldName(REVENUE, "total"),
                        type="DIRECT",
                        subtype="AGGREGATION",
                        description="sum(amount)",
                    ),
                    Origin.COLUMN,
                ),
                (Edge(source=ORDERS, target=REVENUE, type="DIRECT"), Origin.COLUMN),
            ),
            start=1_795_154_400_000_000,
            run_id="0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10",
        ),
    )
)
"""What the examples ask about: one run of one job."""


def fill(engine: Engine) -> None:
    """What the examples ask about, and no event of the log yet."""
    load(engine, SHOP)
    with writing(engine) as connection:
        connection.execute(progress.update().values(position=Position(1, 16).as_int))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """The application over an empty log, and a store with one run."""
    directory = tmp_path_factory.mktemp("docs")
    settings = Settings(data=directory, store_url=sqlite_url(directory / "store.db"), open=True)
    engine = open_store(settings.store_url)
    migrate(engine)
    fill(engine)
    yield create_app(settings)
    engine.dispose()


def test_every_route_is_documented(api: FastAPI) -> None:
    paths = api.openapi()["paths"].items()
    routes = {f"{method.upper()} {path}" for path, methods in paths for method in methods}
    text = page("docs/api.md") + page("docs/catalog.md") + page("docs/access.md")
    with_examples = set(re.findall(r"^### `(\w+ \S+)`$", text, re.MULTILINE))
    of_marquez = set(re.findall(r"^\| `(\w+ /\S+)` \|", page("docs/marquez.md"), re.MULTILINE))
    assert with_examples | of_marquez == routes
    for route in with_examples:
        example = EXAMPLE.search(section(text, f"### `{route}`"))
        assert example, route
        template = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route))
        assert re.fullmatch(template, f"{example[1]} {example[2].partition('?')[0]}"), route


def test_every_example_is_answered_as_it_says(api: FastAPI) -> None:
    examples = EXAMPLE.findall(page("docs/api.md"))
    for (method, target, _, status, body), answer in zip(examples, asyncio.run(answers(api, examples)), strict=True):
        documented = json.loads(body)
        assert answer[0] == int(status), (method, target, answer)
        assert shape(answer[1]) == shape(documented), (method, target)
        for key in ("key", "duplicate", "status", "summary", "failed_events", "reason", "pointer", "reached"):
            assert documented.get(key) == answer[1].get(key), (method, target, key)


async def answers(api: FastAPI, examples: list[tuple[str, ...]]) -> list[tuple[int, Any]]:
    """Status and JSON of each example's answer, one after the other."""
    async with api.router.lifespan_context(api):
        return [await ask(api, method, target, body.encode()) for method, target, body, *_ in examples]


async def ask(api: FastAPI, method: str, target: str, body: bytes) -> tuple[int, Any]:
    """One request, without a socket."""
    path, _, query = target.partition("?")
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    scope["headers"] = [(b"content-type", b"application/json")] if body else []
    await api(scope, receive, send)
    return said[0]["status"], json.loads(b"".join(part.get("body", b"") for part in said[1:]))


def shape(value: Any) -> Any:
    """The keys and types of a JSON value, without the values."""
    match value:
        case dict():
            return {key: shape(inner) for key, inner in value.items()}
        case list():
            return [shape(inner) for inner in value]
    return type(value).__name__


def test_every_metric_is_documented_with_its_labels() -> None:
    standing = Standing(
        progress={},
        ledger=Ledger(1, 1, 1),
        refusals=dict.fromkeys(REFUSALS, 1),
        producers=(Produced(adapter=Adapter("p"), events=1, last_seen=0),),
        runs_without_start=0,
        runs_without_end=0,
        size=0,
        disagreements=Disagreements(),
    )
    amount = Amount(0, 0)
    status = Status(received=amount, waiting=amount, waiting_seconds=0, standing=standing, counted_at=0, missing=0)
    meters = Meters()
    meters.event("accepted", "p", 1)
    meters.refused("large")
    meters.restricted("p")
    meters.appended(1)
    for name in ("whence_queue_records", "whence_queue_bytes", "whence_held_bytes"):
        meters.watch(name, "", lambda: 0)
    said = text_string_to_metric_families(exposition(meters, status, names=True).decode())
    metrics = {
        (sample.name.removesuffix("_bucket"), tuple(sample.labels))
        for family in said
        for sample in family.samples
        if not sample.name.endswith(("_count", "_sum"))
    }
    table = section(page("docs/operations.md"), "## Metrics")
    rows = re.findall(r"^\| `(whence_\w+)` \|([^|]*)\|", table, re.MULTILINE)
    assert {(name, tuple(re.findall(r"`(\w+)`", labels))) for name, labels in rows} == metrics
    assert set(REFUSALS) <= set(re.findall(r"`(\w+)`", table))


def test_links_between_pages_lead_somewhere() -> None:
    for name in PAGES:
        text = re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            assert "://" in target or (ROOT / name).parent.joinpath(target).exists(), (name, target)


def test_the_readme_names_what_there_is() -> None:
    text = page("README.md")
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", text)) <= targets
    assert set(re.findall(r"whence ([a-z]+) ", "\n".join(re.findall(r"```.*?```", text, re.DOTALL)))) <= set(commands())
    pyspark = re.search(r"pyspark==([\d.]+)", page("pyproject.toml"))
    assert pyspark
    assert f"PySpark {pyspark[1]}" in text


def test_the_lock_files_agree_and_name_no_registry() -> None:
    names = ("requirements.lock", "requirements-dev.lock", "requirements-java.lock", "requirements-ui.lock")
    locks = {name: page(name) for name in names}
    for name, text in locks.items():
        assert not re.search(r"https?://|--index-url|--find-links|^-[if] ", text, re.MULTILINE), name
    pins = {name: set(re.findall(r"^([\w.-]+==[\w.+-]+)", text, re.MULTILINE)) for name, text in locks.items()}
    assert pins["requirements.lock"] < pins["requirements-dev.lock"]
    assert not re.search(r'"resolved"|//registry\.', page("ui/package-lock.json"))
    assert len(pins["requirements-java.lock"]) == 1
    assert f'java = ["{pins["requirements-java.lock"].pop()}"]' in page("pyproject.toml")


if __name__ == "__main__":
    for page_name, written in WRITTEN.items():
        (ROOT / page_name).write_text(written(page(page_name)), "utf-8")
