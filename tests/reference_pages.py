"""The parts of reference pages that are generated from the code. `python tests/reference_pages.py` (`make docs`) writes
them; test_docs.py compares the pages with them.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import typer.main
from typer.testing import CliRunner

import whence.errors
from fixtures.migrated_stores import open_migrated
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.cli.commands.app import app as command_line
from whence.derive.kpis.series import kpis
from whence.derive.lineage_tables.schema import KPI, TABLES
from whence.store.connection.engine import sqlite_url

ROOT = Path(__file__).parents[1]
GENERATED = re.compile(r"<!-- generated -->\n.*<!-- /generated -->\n", re.DOTALL)
SQL_TYPES = {"int64": "bigint", "string": "string", "bool": "boolean", "double": "double"} | {
    "timestamp[us, tz=UTC]": "timestamp"
}
HTTP_PAGES = (
    *("http-api.md", "http-catalog.md", "http-access.md", "http-gate.md", "http-evidence.md", "http-slos.md"),
    "http-incidents.md",
    *("http-certification.md", "http-reports.md", "http-governance.md"),
)
UNSLUGGED = re.compile(r"[^\w\- ]")


def all_commands() -> list[list[str]]:
    """The commands as they are typed, those of groups after their group."""
    found = []
    for name, command in sorted(typer.main.get_group(command_line).commands.items()):
        found += [[name], *([name, inner] for inner in sorted(getattr(command, "commands", {})))]
    return found


def help_pages() -> str:
    """The output of `whence COMMAND --help` for each command, as Markdown."""
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
        shown = runner.invoke(command_line, [*arguments, "--help"], prog_name="whence")
        assert shown.exit_code == 0, shown.output
        lines = [line.rstrip() for line in shown.output.strip().splitlines()]
        parts.append("\n".join([f"### whence {' '.join(arguments)}".rstrip(), "", "```", *lines, "```", ""]))
    return "\n".join(parts)


def with_help(text: str) -> str:
    """docs/reference/cli.md with the help of each command."""
    return _generated(text, help_pages())


def with_tables(text: str) -> str:
    """docs/reference/tables.md with the published tables."""
    parts = []
    for name, table in {**TABLES, "kpi": KPI}.items():
        columns = [f"| `{column}` | {SQL_TYPES[str(type_)]} | {meaning} |" for column, type_, meaning in table.columns]
        head = "| column | type | meaning |\n|---|---|---|"
        parts.append("\n".join([f"## {name}", "", table.meaning, "", head, *columns, ""]))
    return _generated(text, "\n".join(parts))


def with_kpis(text: str) -> str:
    """docs/reference/kpis.md with the definition of each KPI."""
    rows = [f"| `{one.name}` | {one.unit} | {one.definition} |" for one in kpis()]
    return _generated(text, "\n".join(["| KPI | unit | definition |", "|---|---|---|", *rows, ""]))


def with_operations(text: str) -> str:
    """docs/reference/http.md with every operation, and where it is described."""
    rows = [f"| `{operation}` | [{page}]({target}) |" for operation, (page, target) in sorted(_described().items())]
    return _generated(text, "\n".join(["| operation | described in |", "|---|---|", *rows, ""]))


def _described() -> dict[str, tuple[str, str]]:
    """The title of the page and the place in it that describe each operation of the API."""
    places = {}
    for name in HTTP_PAGES:
        page = (ROOT / "docs/reference" / name).read_text("utf-8")
        title = page.partition("\n")[0].removeprefix("# ")
        for operation in re.findall(r"^### `(\w+ \S+)`$", page, re.MULTILINE):
            places[operation] = (title, f"{name}#{UNSLUGGED.sub('', operation.lower()).replace(' ', '-')}")
    elsewhere = ("Marquez API", "marquez.md#operations")
    return {operation: places.get(operation, elsewhere) for operation in _operations()}


def _operations() -> list[str]:
    with TemporaryDirectory() as directory:
        settings = Settings(data=Path(directory), store_url=sqlite_url(Path(directory) / "store.db"), open=True)
        engine = open_migrated(settings.store_url)
        engine.dispose()
        paths = create_app(settings).openapi()["paths"].items()
    return [f"{method.upper()} {path}" for path, methods in paths for method in methods]


def with_error_tree(text: str) -> str:
    """docs/reference/errors.md with the tree at the head of `whence.errors`."""
    tree = (whence.errors.__doc__ or "").partition("\n\n")[2].strip()
    return _generated(text, f"```text\n{tree}\n```\n")


def _generated(text: str, part: str) -> str:
    return GENERATED.sub(lambda _: f"<!-- generated -->\n{part}<!-- /generated -->\n", text)


WRITTEN = {
    "docs/reference/cli.md": with_help,
    "docs/reference/errors.md": with_error_tree,
    "docs/reference/http.md": with_operations,
    "docs/reference/kpis.md": with_kpis,
    "docs/reference/tables.md": with_tables,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or WRITTEN:
        path = ROOT / name
        path.write_text(WRITTEN[name](path.read_text("utf-8")), "utf-8")
