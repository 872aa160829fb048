"""Commands for profiles: a key is checked before it is stored, and only in the user's own file."""

import os
import sys
from ipaddress import ip_address
from urllib.parse import urlsplit

import typer

from whence.cli.output.streams import safe
from whence.client.connection import Connection
from whence.client.profiles import KEY, Server, profiles_file, read_profiles, remove_profile, write_profile
from whence.client.questions import Client
from whence.client.values.access import CurrentUser
from whence.errors import ProfileError


def keep_server(url: str | None, profile: str) -> None:
    """Check the key at the server, then store both. Raises AccessError, ApiError, ProfileError."""
    known = read_profiles().get(profile)
    address = url or (known.url if known else "")
    if not address:
        raise ProfileError("no server is given: run `whence login https://HOST`")
    if _is_open_to_others(address):
        typer.echo(f"whence: the key goes to {safe(address)} unencrypted; use https", err=True)
    key = _read_key()
    with Client(Connection(address, key)) as client:
        address, user = client.url, client.whoami()
    path = write_profile(profile, Server(address, key if user else ""))
    typer.echo(f"{_signed_in_text(address, user)} Kept as profile {safe(profile)!r} in {path}.")


def forget_server(profile: str) -> None:
    """Remove a profile. Raises ProfileError if there is none."""
    if not remove_profile(profile):
        raise ProfileError(f"there is no profile {profile!r} in {profiles_file()}")
    typer.echo(f"Profile {safe(profile)!r} is forgotten.")


def _read_key() -> str:
    if KEY in os.environ:
        return os.environ[KEY].strip()
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    key: str = typer.prompt("API key", hide_input=True, default="", show_default=False, err=True)
    return key.strip()


def _signed_in_text(url: str, user: CurrentUser | None) -> str:
    if user is None:
        return f"{safe(url)} runs open and needs no key."
    roles = ", ".join(f"{one.role} in {one.namespaces}" for one in user.grants) or "no role yet"
    return safe(f"You are {user.name} at {url}: {roles}.")


def _is_open_to_others(url: str) -> bool:
    """Whether others could read the traffic: no https, and not to this machine."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    host = parts.hostname or ""
    try:
        return parts.scheme == "http" and not ip_address(host).is_loopback
    except ValueError:
        return parts.scheme == "http" and host != "localhost"
