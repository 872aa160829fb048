"""Options that several modules of commands share."""

import os
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from whence.cli.output.streams import Output, Rows
from whence.cli.settings import ARCHIVE, DATA, LOG, SECURITY, STORE, TABLES
from whence.client.profiles import DEFAULT, PROFILE, URL, choose_server, read_profiles
from whence.errors import ProfileError
from whence.query.answers.instants import duration, instant, past_instant

if TYPE_CHECKING:
    from whence.query.history.changes.period import Period

_Choice = TypeVar("_Choice", bound=StrEnum)

MOST = 1_000_000_000
"""The largest limit: databases count up to 2⁶³."""
Data = Annotated[Path | None, typer.Option("--data", envvar=DATA, help="The data directory")]
Store = Annotated[
    str | None, typer.Option("--store", envvar=STORE, help="The store's URL; SQLite in the data directory if not given")
]
EventLog = Annotated[
    str | None,
    typer.Option(
        "--log",
        envvar=LOG,
        help="The event log: a directory, or kafka://HOST:PORT/TOPIC; in the data directory if not given",
    ),
]
Archive = Annotated[
    str | None,
    typer.Option("--archive", envvar=ARCHIVE, help="The archive's path or URL; in the data directory if not given"),
]
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables", envvar=TABLES, help="The published tables' path or URL; in the data directory if not given"
    ),
]
COLUMNS = (
    'The columns of tables: a JSON file {"db.table": ["column", …]}, dbt\'s target directory, the URL of a database '
    "(postgresql://…), or `whence` for Whence's own store"
)
"""The help of options for table columns."""
Security = Annotated[
    str | None,
    typer.Option("--security", envvar=SECURITY, help="The security database's URL; beside the store if not given"),
]
ServerUrl = Annotated[
    str | None,
    typer.Option("--url", envvar=URL, help="Ask the server at this address, with the key in WHENCE_API_KEY"),
]
Profile = Annotated[
    str | None, typer.Option("--profile", envvar=PROFILE, help="Ask the server of a profile that `whence login` stored")
]


def collector_url() -> str:
    """The collector that nothing names: the server of the default profile, else this machine's."""
    try:
        profiles = read_profiles()
        return choose_server().url if os.environ.get(PROFILE) or DEFAULT in profiles else LOCAL_URL
    except ProfileError as error:
        raise typer.BadParameter(str(error)) from None


LOCAL_URL = "http://127.0.0.1:8080"
Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar=[URL, "OPENLINEAGE_URL"],
        default_factory=collector_url,
        show_default=f"the default profile's, or {LOCAL_URL}",
        help="The collector's address",
    ),
]


def parse_age(text: str) -> int:
    """Parse an age such as `90d`, to microseconds."""
    try:
        return duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_instant(text: str) -> int:
    """Parse a time, to microseconds UTC."""
    return _parsed(instant, text)


def parse_past_instant(text: str) -> int:
    """Parse a time that is not in the future, to microseconds UTC."""
    return _parsed(past_instant, text)


def _parsed(read: Callable[[str, int], int], text: str) -> int:
    try:
        return read(text, time.time_ns() // 1_000)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_choice(choices: type[_Choice]) -> Callable[[str], _Choice]:
    """A parser of an option's value, for `typer.Option`: one of `choices`, in any case."""

    def parse(text: str) -> _Choice:
        try:
            return choices(text.lower())
        except ValueError:
            *others, last = choices
            raise typer.BadParameter(f"choose {', '.join(others)} or {last}, not {text!r}") from None

    return parse


def choice_option(choices: type[StrEnum], *names: str, help: str) -> Any:
    """A `typer.Option` whose value is one of `choices`."""
    return typer.Option(*names, parser=parse_choice(choices), metavar=f"<{'|'.join(choices)}>", help=help)


Form = Annotated[Output, choice_option(Output, "--output", "-o", help="The form of the answer")]
RowsForm = Annotated[Rows, choice_option(Rows, "--output", "-o", help="The form of the answer; csv: its rows")]


def parse_types(text: str) -> str:
    """Parse types of edges."""
    if text.lower() not in ("direct", "indirect", "both"):
        raise typer.BadParameter("choose direct, indirect or both")
    return text.lower()


def is_given(text: str) -> str:
    """The text, if it is not empty."""
    if not text.strip():
        raise typer.BadParameter("it is empty")
    return text


Node = Annotated[
    str,
    typer.Argument(help="A node id, or the end of a name: orders.total, gold.daily_revenue", callback=is_given),
]
Depth = Annotated[int | None, typer.Option("--depth", "-d", min=0, help="Hops; all if not given")]
Types = Annotated[
    str | None,
    typer.Option(
        "--types",
        parser=parse_types,
        metavar="direct|indirect|both",
        help="Edges to follow; by default direct for upstream of a field, else both",
    ),
]
AsOf = Annotated[
    int | None,
    typer.Option(
        "--as-of",
        parser=parse_past_instant,
        metavar="TIME",
        help="The graph at this time: 2026-11-20T06:00, 2h ago, yesterday (UTC)",
    ),
]
MaxNodes = Annotated[int, typer.Option("--max-nodes", min=1, max=MOST, help="Stop after this number of nodes")]
MaxEdges = Annotated[int, typer.Option("--max-edges", min=1, max=MOST, help="Stop after this number of edges")]
Namespaces = Annotated[
    list[str] | None,
    typer.Option("--namespace", metavar="NAME", help="Only nodes in this namespace; may contain *; may be repeated"),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only nodes with this tag: pii, pii=high")]
Owners = Annotated[list[str] | None, typer.Option("--owner", metavar="OWNER", help="Only nodes of this owner")]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind: dataset, field, job, or a type: view, dashboard"),
]
Jobs = Annotated[
    list[str] | None, typer.Option("--job", metavar="JOB", help="Only nodes that this job reads or writes")
]
Within = Annotated[bool, typer.Option("--within", help="Do not pass through nodes that the filter excludes")]


class Grades(StrEnum):
    """The grades of sensitivity labels that can be listed."""

    INFLUENCED = "influenced"
    STATISTIC = "statistic"
    PARTIAL = "partial"
    PSEUDONYMOUS = "pseudonymous"
    FULL = "full"


def period_of(since: str, until: str | None, as_of: str | None) -> "Period":
    """The period of some options. Raises BadParameter."""
    from whence.query.history.changes.period import read_period

    try:
        return read_period(since, until, as_of, time.time_ns() // 1_000)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(str(error)) from None
