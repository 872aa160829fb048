"""`whence tags sample --send` on a running server: columns get tags, and no value leaves the machine in any form."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from services.recorded_traffic import Traffic, recorded_traffic
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.govern.tags.value_kinds import is_card
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event, facet


def made_iban(account: str) -> str:
    """A German account with its check digits."""
    return f"DE{98 - int(f'{account}131400') % 97:02}{account}"


def made_card(number: str) -> str:
    """A card's number with its check digit."""
    return next(card for digit in range(10) if is_card(card := f"{number}{digit}"))


COLUMNS = ("id", "name", "Contact2", "ref", "card", "phone", "ip")
ROWS = [
    (
        f"70{at:05}",
        f"Zoe Quux{at}",
        f"zoe{at}@secret.example",
        made_iban(f"37040044{at:010}"),
        made_card(f"41111111{at:07}"),
        f"+49 30 5551{at:03}",
        f"10.77.0.{at}",
    )
    for at in range(40)
]
CUSTOMERS = [DatasetName(f"postgres://{place}:5432", "shop.crm.customers") for place in ("prod", "staging", "dev")]


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server that knows the columns in three places; somebody denied that the card numbers of prod are some."""
    serving = Serving(tmp_path)
    made = serving()
    engine = open_migrated(made.store_url)
    monkeypatch.delenv("WHENCE_URL", raising=False)
    with applying(engine, made.data / "log"):
        for at, name in enumerate(CUSTOMERS, 1):
            fields = [{"name": column.lower()} for column in COLUMNS if column != "ip"]
            facets = {"schema": facet("SchemaDatasetFacet", fields=fields)}
            denied = {"key": "financial", "value": "false", "source": "USER", "field": "card"}
            facets |= {"tags": facet("TagsDatasetFacet", tags=[denied])} if at == 1 else {}
            body = json.dumps(dataset_event(at, name, facets=facets)).encode()
            assert made.ask("POST", "/api/v1/lineage", body).status == 201
        wait_for_all(made)
        yield made
    engine.dispose()
    serving.end()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "export.csv"
    made.write_text("\n".join(map(";".join, [COLUMNS, *ROWS])), "utf-8")
    return made


def wait_for_all(api: Api) -> None:
    assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]


def sample(file: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["tags", "sample", *options, str(file)])


def forms_of(value: str) -> set[bytes]:
    """A value as a program may write it."""
    return {form.encode() for form in (value, quote(value), quote(value, safe="@"), json.dumps(value)[1:-1])} | {
        base64.b64encode(value.encode()).rstrip(b"=")[:-1]
    }


def assert_no_value_in(traffic: Traffic) -> None:
    assert len(traffic.sent) > 500
    assert not [value for row in ROWS for value in row for form in forms_of(value) if form in traffic.sent]


def test_columns_are_tagged_and_no_byte_of_a_value_is_sent(api: Api, file: Path) -> None:
    before = api.ask("GET", "/api/v2/progress").json
    assert sample(file, str(CUSTOMERS[0])).exit_code == Exit.OK
    assert api.ask("GET", "/api/v2/progress").json == before, "without --send nothing is said"
    with recorded_traffic(api.port) as traffic:
        done = sample(file, str(CUSTOMERS[0]), "--send", "--url", traffic.url)
        assert done.exit_code == Exit.OK, done.output
        assert_no_value_in(traffic)
    assert "customers.contact2  pii=email" in done.stdout
    assert "customers.card  it has the tag financial=false" in done.stdout
    assert "customers.ip  it is no column that is known of this dataset" in done.stdout
    assert done.stdout.endswith("3 of 5 columns tagged; no value left this machine\n")
    wait_for_all(api)
    tags = {
        place: {
            (tag.get("field"), tag["key"], tag["value"])
            for tag in api.ask("GET", f"/api/v2/datasets/{quote(name.namespace, safe='')}/{name.name}").json["data"][
                "tags"
            ]
        }
        for place, name in zip(("prod", "staging", "dev"), CUSTOMERS, strict=True)
    }
    assert tags["prod"] >= {("contact2", "pii", "email"), ("ref", "financial", "iban"), ("phone", "pii", "phone")}
    assert len(tags["prod"]) == 4
    assert tags["staging"] == tags["dev"] == set()

    again = json.loads(
        sample(file, str(CUSTOMERS[0]), "--send", "--url", f"http://127.0.0.1:{api.port}", "--output", "json").stdout
    )
    assert [one["sent"] for one in again["columns"]] == [False] * 5
    assert {one["column"] for one in again["left_out"]} == {"contact2", "ref", "card", "phone", "ip"}


def test_refusals_name_no_value(api: Api, file: Path) -> None:
    url = f"http://127.0.0.1:{api.port}"
    several = sample(file, "crm.customers", "--send", "--url", url)
    assert (several.exit_code, "postgres://staging:5432" in several.stderr) == (Exit.MISTAKE, True)
    job = sample(file, "crm.nobody", "--send", "--url", url)
    assert (job.exit_code, "crm.nobody" in job.stderr) == (Exit.MISTAKE, True)
    column = sample(file, f"datasetField:{CUSTOMERS[0].namespace}:shop.crm.customers:ref", "--send", "--url", url)
    assert (column.exit_code, "is not a dataset" in column.stderr) == (Exit.USAGE, True)
    unreachable = sample(file, str(CUSTOMERS[0]), "--send", "--url", "http://127.0.0.1:1")
    assert (unreachable.exit_code, unreachable.stdout) == (Exit.OUT_OF_SERVICE, "")

    lines = file.read_text("utf-8").splitlines()[1:]
    file.write_text("\n".join(lines), "utf-8")
    nameless = sample(file, str(CUSTOMERS[0]), "--send", "--url", url)
    assert (nameless.exit_code, "put the names of the columns there" in nameless.stderr) == (Exit.MISTAKE, True)
    assert not any(word in nameless.output for word in ("zoe", "Zoe", "secret", "DE89"))
