"""Commands for profiles: login, logout."""

from typing import Annotated

import typer

from whence.cli.output.streams import Output, reporting
from whence.client.profiles import DEFAULT, PROFILE, URL

Address = Annotated[
    str | None,
    typer.Argument(envvar=URL, help="The server's address; by default that of the profile"),
]
Name = Annotated[str, typer.Option("--profile", envvar=PROFILE, help="The name of the profile")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command()(login)
    app.command()(logout)


def login(url: Address = None, profile: Name = DEFAULT) -> None:
    """Check an API key, print its owner, and store it with the server's address.

    The key is read from a prompt, from standard input, or from WHENCE_API_KEY.
    """
    from whence.cli.administration.profiles import keep_server

    with reporting(Output.TEXT):
        keep_server(url, profile)


def logout(profile: Name = DEFAULT) -> None:
    """Delete a profile with its key. The key itself stays valid until `whence keys revoke`."""
    from whence.cli.administration.profiles import forget_server

    with reporting(Output.TEXT):
        forget_server(profile)
