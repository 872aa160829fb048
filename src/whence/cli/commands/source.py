"""The target of a question: a server, or a store on this machine.

Options take precedence over the environment, and the environment over the profile `default`. If none of them names a
server or a store, it is the store in the user's data directory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from whence.cli.output.streams import Rows, reporting
from whence.cli.settings import data_directory, log_url, security_db, store_url
from whence.client.profiles import DEFAULT, read_profiles

if TYPE_CHECKING:
    from whence.cli.answers.ask import QuestionCommand, Questions

_SERVER, _STORE = ("url", "profile"), ("store", "data")
_NO_SERVER = (
    "no server is named: set WHENCE_URL and WHENCE_API_KEY, or give --url; "
    "a store on this machine needs pip install 'whence-lineage[server]'"
)


@contextmanager
def open_questions(context: typer.Context) -> Iterator["Questions"]:
    """Open the target of a command. Raises ProfileError, ApiError."""
    given = context.params
    match _named(context):
        case "url":
            yield from _server(given["url"], None)
        case "profile":
            yield from _server(None, given["profile"])
        case name:
            yield _store(given["data"], given["store"], is_named=bool(name))


@contextmanager
def open_question_command(context: typer.Context, output: Rows) -> Iterator["QuestionCommand"]:
    """Open the server or store of a command, with errors in the requested form."""
    from whence.cli.answers.ask import QuestionCommand

    with reporting(output.output), open_questions(context) as questions:
        yield QuestionCommand(questions=questions, output=output)


def _named(context: typer.Context) -> str:
    """The parameter that names the target; empty if there is none."""
    sources = {name: context.get_parameter_source(name) for name in (*_SERVER, *_STORE)}
    typed, of_environment = (
        [name for name, source in sources.items() if source is not None and source.name == kind]
        for kind in ("COMMANDLINE", "ENVIRONMENT")
    )
    if len(set(typed) & set(_SERVER)) == 2 or (set(typed) & set(_SERVER) and set(typed) & set(_STORE)):
        raise typer.BadParameter("name one of --url, --profile and --store")
    if typed or of_environment:
        return (typed or of_environment)[0]
    return "profile" if DEFAULT in read_profiles() else ""


def _store(data: Path | None, store: str | None, is_named: bool) -> "Questions":
    """The store on this machine. Without the server's packages nobody means it who did not name it."""
    try:
        from whence.cli.answers.local.store import StoreQuestions
    except ModuleNotFoundError as error:
        if is_named or (error.name or "").startswith("whence"):
            raise
        raise typer.BadParameter(_NO_SERVER) from None
    directory = data_directory(data)
    url = store_url(directory, store)
    return StoreQuestions(url, log_url(directory), security_db(url))


def _server(url: str | None, profile: str | None) -> Iterator["Questions"]:
    from whence.client.questions import connect

    with connect(url, profile=profile or (None if url else DEFAULT)) as client:
        yield client
