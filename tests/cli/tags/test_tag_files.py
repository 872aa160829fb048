"""`whence tags plan`, `import` and `check` on a running server: the page about them, and what they refuse."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/tags.md").read_text("utf-8")
REFERENCES = "docs/how-to/tags/tag_references.csv"
OF_SHOP = "--namespace snowflake://acme-eu --tag-schema GOVERNANCE.TAGS"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server with the lineage of the page, that `WHENCE_URL` names, and the checkout as the working directory."""
    serving = Serving(tmp_path)
    made = serving()
    engine = open_migrated(made.store_url)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("WHENCE_URL", f"http://127.0.0.1:{made.port}")
    with applying(engine, made.data / "log"):
        assert run(command("capture sql-log"), made).exit_code == 0
        yield made
    engine.dispose()
    serving.end()


def command(begins: str) -> str:
    """A command of the page."""
    found = re.search(rf"^whence {begins}.*(?:\n  .*)*", PAGE, re.MULTILINE)
    assert found, begins
    return found[0]


def run(text: str, api: Api) -> Result:
    result = CliRunner().invoke(app, text.replace("\\\n", " ").split()[1:])
    assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]
    return result


def test_tags_come_in_and_go_out_as_the_page_shows(api: Api, tmp_path: Path) -> None:
    (learned, planned) = re.findall(r"^```\n((?:learn|set) .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert run(f"{command('tags import')} --dry-run", api).stdout.replace("would change", "changed") == learned
    assert run(command("tags import"), api).stdout == learned
    assert run(command("tags import"), api).stdout.endswith("\n0 datasets changed, 2 as they were\n")
    target = tmp_path / "tags.sql"
    assert (
        run(command("tags plan").replace("tags.sql", str(target)), api).stdout.replace(str(target), "tags.sql")
        == planned
    )
    statements = target.read_text("utf-8").splitlines()
    assert statements[2].endswith('"WHENCE_PII" SET MASKING POLICY "GOVERNANCE"."POLICIES"."MASK" FORCE;')
    assert sum("SET TAG" in line for line in statements) == 5

    differing = run(f"whence tags check snowflake {REFERENCES} {OF_SHOP} --output json", api)
    assert (differing.exit_code, len(json.loads(differing.stdout)["changes"])) == (Exit.BLOCKED, 5)
    export = tmp_path / "after.csv"
    header, *rows = (ROOT / REFERENCES).read_text("utf-8").splitlines()
    kept = [row for row in rows if "WHENCE" not in row]
    tables = re.findall(
        r'TABLE "(\w+)"."(\w+)"."(\w+)" MODIFY COLUMN "(\w+)" SET .* = \'(\w+)\'', "\n".join(statements)
    )
    made = [f"GOVERNANCE,TAGS,WHENCE_PII,{grade},{a},{b},{c},,COLUMN,{column}" for a, b, c, column, grade in tables]
    export.write_text("\n".join([header, *kept, *made]), "utf-8")
    agreeing = run(f"whence tags check snowflake {export} {OF_SHOP}", api)
    assert (agreeing.exit_code, agreeing.stdout.splitlines()[-1]) == (Exit.OK, "the tags agree")

    untagged = tmp_path / "untagged.csv"
    untagged.write_text("\n".join([header, *(row for row in made), kept[1]]), "utf-8")
    forgotten = run(f"whence tags import snowflake {untagged} {OF_SHOP}", api).stdout
    assert re.findall(r"^(?:learn|forget).*", forgotten, re.MULTILINE) == [
        "forget PII=email  shop.CRM.CUSTOMERS.EMAIL",
        "forget PII=email  shop.STAGING.USERS.CONTACT",
    ]
    last = run(f"whence tags plan snowflake --current {untagged} {OF_SHOP} -o {target}", api).stdout
    assert last.endswith("0 to set, 5 to remove, 0 as they should be\n")


def test_mistakes_name_what_to_do(api: Api, tmp_path: Path) -> None:
    nobody = run(f"whence tags check snowflake {REFERENCES} --namespace snowflake://other", api)
    assert (nobody.exit_code, "whence search" in nobody.stderr) == (Exit.USAGE, True)
    missing = run(f"whence tags import ranger {tmp_path}/none.json --namespace x", api)
    assert (missing.exit_code, "none.json" in missing.stderr) == (Exit.MISTAKE, True)
    schemaless = run(f"whence tags plan snowflake --namespace snowflake://acme-eu -o {tmp_path}/x.sql", api)
    assert schemaless.exit_code == Exit.OK  # nothing is tagged, so there is nothing to write
    for system in ("bigquery", "dbt"):
        bare = run(f"whence tags plan {system} --namespace snowflake://acme-eu -o {tmp_path}/x", api)
        assert (bare.exit_code, "give one with --current" in bare.stderr) == (Exit.USAGE, True)
    assert run(f"whence tags check dbt {REFERENCES} --namespace snowflake://acme-eu", api).exit_code == Exit.MISTAKE
    assert run(f"whence tags import dbt {REFERENCES} --namespace x", api).exit_code == Exit.USAGE
