"""The documentation tells the truth: every command, route, error, setting and table is there, as it is in the code."""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine

import whence.errors
from fixtures.migrated_stores import open_migrated
from nightly.compatibility.matrix import read_rows, write_page
from nightly.compatibility.releases import RELEASES
from query.worlds.random_worlds import Statement, World, load
from reference_pages import GENERATED, WRITTEN
from whence.api.collector.metrics import CollectorMetrics
from whence.api.operations.prometheus import exposition
from whence.api.operations.status import Status
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.cli.commands.app import app as command_line
from whence.cli.output.streams import exit_code
from whence.derive.lineage_tables.schema import SCHEMA_VERSION
from whence.errors import WhenceError
from whence.govern.contracts.evaluation.answers import ContractCounts
from whence.log import Amount, Position
from whence.log.kafka.address import OWN, SECURITY
from whence.log.kafka.topic import SETTINGS as TOPIC
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.facets.producers import Adapter
from whence.openlineage.validation.rejection_reasons import REFUSALS
from whence.store.connection.engine import sqlite_url, writing
from whence.store.schema.tables import FACTS, metadata, progress
from whence.store.status.ledger import Ledger
from whence.store.status.overview import ProducerCounts, StoreOverview
from whence.store.status.sql_disagreements import Disagreements
from whence_client.spark import LISTENER_VERSION, attach, conf
from whence_client.spark.listener import NEWEST, OLDEST

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"```http\n(GET|POST|PUT|DELETE) (\S+)\n(.*?)```\n```json\n(\d+)\n(.*?)```", re.DOTALL)
VARIABLES = (
    re.compile(r"environ(?:\.get|\.setdefault)?[\[(]\"(\w+)\""),
    re.compile(r"envvar=\"(\w+)\""),
    re.compile(r"\"((?:WHENCE|OTEL|OPENLINEAGE)_\w+)\""),
)
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(text: str, title: str) -> str:
    """The part of a page under a heading, up to the next heading."""
    return text.partition(f"\n{title}\n")[2].partition("\n#")[0]


def commands() -> list[str]:
    return sorted(typer.main.get_group(command_line).commands)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_generated_is_as_the_code_says(name: str) -> None:
    text = page(name)
    assert GENERATED.search(text)
    assert WRITTEN[name](text) == text, "run `make docs`"


def test_the_version_of_the_tables_is_documented() -> None:
    assert f"what is below, now {SCHEMA_VERSION}." in page("docs/reference/tables.md")


def test_every_environment_variable_is_documented() -> None:
    stack = ROOT / "src/whence/demo/stack"  # sets variables of the programs that it starts
    paths = [path for path in (ROOT / "src").rglob("*.py") if not path.is_relative_to(stack)]
    sources = [path.read_text("utf-8") for path in paths] + [page("tests/conftest.py")]
    used = {name for text in sources for pattern in VARIABLES for name in pattern.findall(text)}
    settings = set(
        re.findall(
            r"^\| `(\w+)` \|",
            section(page("docs/reference/configuration.md"), "## Environment variables"),
            re.MULTILINE,
        )
    )
    assert {"WHENCE_DATA", "WHENCE_STORE", "JAVA_HOME", "OPENLINEAGE_URL"} <= used
    assert used == settings


def test_every_error_is_documented() -> None:
    errors = {name for name, one in inspect.getmembers(whence.errors, inspect.isclass) if issubclass(one, WhenceError)}
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \| [^|]+ \|$", page("docs/reference/errors.md"), re.MULTILINE)
    assert {name for name, _ in rows} == errors
    documented = {name: code for name, code in rows if code.isdigit()}
    assert len(documented) > 20
    for name, code in documented.items():
        error = getattr(whence.errors, name)
        assert exit_code(error.__new__(error)) == int(code), name


def test_every_table_and_column_is_documented_with_its_rule() -> None:
    text = page("docs/reference/store.md")
    assert sorted(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == sorted(metadata.tables)
    for table in metadata.tables.values():
        rules = {
            column.name: column.info["merge"] if table in FACTS else "key" if column.primary_key else ""
            for column in table.columns
        }
        documented = re.findall(r"^\| `(\w+)` \| (\w*) ?\|", section(text, f"### {table.name}"), re.MULTILINE)
        assert dict(documented) == rules, table.name


def test_every_setting_of_a_topic_is_documented() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", section(page("docs/reference/event-log.md"), "## Kafka"), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    assert documented == {*OWN, "settings", *SECURITY}
    for name, value in TOPIC.items():
        assert f"{name}={value}" in page("docs/reference/event-log.md")


def test_every_option_of_the_spark_listener_is_documented() -> None:
    options = set(re.findall(r"^\| `(\w+)` \|", section(page("docs/how-to/spark.md"), "## Attach"), re.MULTILINE))
    assert options == {*inspect.signature(conf).parameters, *inspect.signature(attach).parameters} - {"builder"}
    assert LISTENER_VERSION in page("docs/how-to/spark.md")
    assert LISTENER_VERSION in page("README.md")


ORDERS, REVENUE = (
    DatasetName("postgres://db:5432", f"shop.{name}") for name in ("public.orders", "gold.daily_revenue")
)
SHOP = World(
    statements=(
        Statement(
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
    engine = open_migrated(settings.store_url)
    fill(engine)
    yield create_app(settings)
    engine.dispose()


def test_every_route_is_documented(api: FastAPI) -> None:
    paths = api.openapi()["paths"].items()
    routes = {f"{method.upper()} {path}" for path, methods in paths for method in methods}
    text = (
        page("docs/reference/http-api.md")
        + page("docs/reference/http-catalog.md")
        + page("docs/reference/http-access.md")
        + page("docs/reference/http-gate.md")
        + page("docs/reference/http-evidence.md")
        + page("docs/reference/http-slos.md")
        + page("docs/reference/http-incidents.md")
        + page("docs/reference/http-certification.md")
        + page("docs/reference/http-reports.md")
        + page("docs/reference/http-governance.md")
    )
    with_examples = set(re.findall(r"^### `(\w+ \S+)`$", text, re.MULTILINE))
    of_marquez = set(re.findall(r"^\| `(\w+ /\S+)` \|", page("docs/reference/marquez.md"), re.MULTILINE))
    assert with_examples | of_marquez == routes
    for route in with_examples:
        example = EXAMPLE.search(section(text, f"### `{route}`"))
        assert example, route
        template = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route))
        assert re.fullmatch(template, f"{example[1]} {example[2].partition('?')[0]}"), route


def test_every_example_is_answered_as_it_says(api: FastAPI) -> None:
    examples = EXAMPLE.findall(page("docs/reference/http-api.md"))
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
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    scope["headers"] = [(b"content-type", b"application/json")] if body else []
    await api(scope, receive, send)
    return messages[0]["status"], json.loads(b"".join(part.get("body", b"") for part in messages[1:]))


def shape(value: Any) -> Any:
    """The keys and types of a JSON value, without the values."""
    match value:
        case dict():
            return {key: shape(inner) for key, inner in value.items()}
        case list():
            return [shape(inner) for inner in value]
    return type(value).__name__


def test_every_metric_is_documented_with_its_labels() -> None:
    standing = StoreOverview(
        progress={},
        ledger=Ledger(1, 1, 1),
        refusals=dict.fromkeys(REFUSALS, 1),
        producers=(ProducerCounts(adapter=Adapter("p"), events=1, last_seen=0),),
        runs_without_start=0,
        runs_without_end=0,
        size=0,
        disagreements=Disagreements(),
    )
    amount = Amount(0, 0)
    status = Status(received=amount, waiting=amount, waiting_seconds=0, standing=standing, counted_at=0, missing=0)
    status = replace(status, contracts=ContractCounts())
    meters = CollectorMetrics()
    meters.event("accepted", "p", 1)
    meters.refused("large")
    meters.restricted("p")
    meters.appended(1)
    for name in ("whence_queue_records", "whence_queue_bytes", "whence_held_bytes"):
        meters.watch(name, "", lambda: 0)
    families = text_string_to_metric_families(exposition(meters, status, names=True).decode())
    metrics = {
        (sample.name.removesuffix("_bucket"), tuple(sample.labels))
        for family in families
        for sample in family.samples
        if not sample.name.endswith(("_count", "_sum"))
    }
    table = section(page("docs/reference/metrics.md"), "## Series of the API")
    rows = re.findall(r"^\| `(whence_\w+)` \|([^|]*)\|", table, re.MULTILINE)
    assert {(name, tuple(re.findall(r"`(\w+)`", labels))) for name, labels in rows} == metrics
    assert set(REFUSALS) <= set(re.findall(r"`(\w+)`", table))


def test_links_between_pages_lead_somewhere() -> None:
    for name in PAGES:
        text = re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            assert "://" in target or (ROOT / name).parent.joinpath(target).exists(), (name, target)


def test_the_readme_is_short() -> None:
    text = page("README.md")
    assert text.count("\n") <= 150
    prose = re.sub(r"^```.*?^```|^\|.*?$|^<!--.*?-->|^!\[.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n\s*\n|^- ", prose, flags=re.MULTILINE)
    assert len(paragraphs) > 20
    assert [one for one in paragraphs if len(one.split()) > 80] == []


def test_every_message_of_the_troubleshooting_page_exists() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    symptoms = re.findall(r"^\| (?!symptom|---)(.+?) \|", page("docs/troubleshooting.md"), re.MULTILINE)
    messages = [text for symptom in symptoms for text in re.findall(r"`([^`]+)`", symptom)]
    assert len(messages) > 10
    assert [one for one in messages if one not in sources] == []


def test_the_readme_names_what_there_is() -> None:
    text = page("README.md")
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", text)) <= targets
    assert set(re.findall(r"whence ([a-z]+) ", "\n".join(re.findall(r"```.*?```", text, re.DOTALL)))) <= set(commands())
    pyspark = re.search(r"pyspark==([\d.]+)", page("pyproject.toml"))
    assert pyspark
    assert f"PySpark {pyspark[1]}" in text


def test_the_lock_files_agree_and_name_no_registry() -> None:
    kinds = ("", "-base", "-dev", "-dist", "-docs", "-java", "-ui", "-uv")
    names = [f"requirements{kind}.lock" for kind in kinds]
    locks = {name: page(name) for name in names}
    for name, text in locks.items():
        assert not re.search(r"https?://|--index-url|--find-links|^-[if] ", text, re.MULTILINE), name
    pins = {name: set(re.findall(r"^([\w.-]+==[\w.+-]+)", text, re.MULTILINE)) for name, text in locks.items()}
    assert pins["requirements-base.lock"] < pins["requirements.lock"] < pins["requirements-dev.lock"]
    for more in ("docs", "dist"):
        of_both = {pin.partition("==")[0] for pin in pins["requirements-dev.lock"]}
        mine = {pin for pin in pins[f"requirements-{more}.lock"] if pin.partition("==")[0] in of_both}
        assert mine <= pins["requirements-dev.lock"]
    assert pins["requirements-uv.lock"] < pins["requirements-dev.lock"]
    assert not re.search(r'"resolved"|//registry\.', page("ui/package-lock.json"))
    assert len(pins["requirements-java.lock"]) == 1
    assert f'java = ["{pins["requirements-java.lock"].pop()}"]' in page("pyproject.toml")


def test_the_compatibility_page_lists_the_releases_that_are_run() -> None:
    text = page("docs/reference/compatibility.md")
    assert list(read_rows(text)) == [one.spark for one in RELEASES]
    assert write_page(read_rows(text)) == text
    for one in RELEASES:
        assert re.search(rf"^pyspark=={re.escape(one.spark)}$", one.lock.with_suffix(".in").read_text(), re.MULTILINE)
        assert re.search(rf"^pyspark=={re.escape(one.spark)} ", one.lock.read_text(), re.MULTILINE)
        assert not re.search(r"https?://", one.lock.read_text())
    versions = [tuple(map(int, one.spark.split(".")[:2])) for one in RELEASES]
    assert (min(versions), max(versions)) == (OLDEST, NEWEST)
