"""The commands that keep servers and keys: login, logout."""

from typing import Annotated

import typer

from whence.cli.output.streams import Output, reporting
from whence.client.profiles import DEFAULT, PROFILE, URL

Address = Annotated[
    str | None,
    typer.Argument(envvar=URL, help="The server's address; that of the profile if not given"),
]
Name = Annotated[str, typer.Option("--profile", envvar=PROFILE, help="Keep it by this name")]


def add_to(app: typer.Typer) -> None:
    """Make these the application's commands."""
    app.command()(login)
    app.command()(logout)


def login(url: Address = None, profile: Name = DEFAULT) -> None:
    """Check an API key, say whose it is, and keep it with the server's address.

    The key is asked for, or read from standard input, or from WHENCE_API_KEY.
    """
    from whence.cli.administration.profiles import keep_server

    with reporting(Output.TEXT):
        keep_server(url, profile)


def logout(profile: Name = DEFAULT) -> None:
    """Forget the key and the address of a profile. The key itself stays valid: `whence keys revoke` ends it."""
    from whence.cli.administration.profiles import forget_server

    with reporting(Output.TEXT):
        forget_server(profile)
