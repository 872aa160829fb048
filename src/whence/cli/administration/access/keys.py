"""`whence keys`: the work and output of its commands. Each change and its row of the audit log are one transaction."""

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text
from sqlalchemy import Connection, Engine, make_url

from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.govern.access_document import key_document, key_state, new_key_document
from whence.govern.api_keys import Key, revoke_key, rotate_key
from whence.govern.grants import KeyRequest, make_key
from whence.model.access import Role
from whence.query.answers.instants import iso
from whence.store.security.api_key_rows import StoredKey, read_keys
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import open_security, read_security, write_security
from whence_client.redaction.credentials import strip_credentials

FIRST = "admin"


@contextmanager
def recorded(url: str, command: str, *nodes: str) -> Iterator[Connection]:
    """Open a transaction that includes its row of the audit log. Raises StoreError."""
    who = f"cli:{getpass.getuser()}"
    entry = Entry(at=time.time_ns() // 1_000, who=who, action=command.split()[0], what=f"whence {command}", nodes=nodes)
    with _opened(url) as engine, write_security(engine) as connection:
        yield connection
        append_entries(connection, [entry])


@contextmanager
def read(url: str) -> Iterator[Connection]:
    """Open a transaction that reads the security database. Raises StoreError."""
    with _opened(url) as engine, read_security(engine) as connection:
        yield connection


def note_database(url: str, server: str) -> None:
    """Say on stderr which security database a command uses, for a user whose environment names a server."""
    used = make_url(url).render_as_string(hide_password=True)
    sentence = f"uses {used}; {strip_credentials(server)} (WHENCE_URL) is not asked, and may have another one"
    print_lines([Text(safe(sentence), "yellow")], Console(stderr=True, highlight=False))


def show_created(url: str, wanted: KeyRequest, now: int, output: Output) -> None:
    """Create a key, with its grant if one is requested. Raises AccessError, StoreError."""
    with recorded(url, "keys create", f"key:{wanted.name}") as connection:
        key = make_key(connection, wanted, now)
    _show(key, f"key:{wanted.name}", output)


def show_first_key(url: str) -> None:
    """Create an administrator's key if there is no key yet, and print it to stderr. Raises StoreError."""
    with read(url) as connection:
        if read_keys(connection):
            return
    with recorded(url, "keys create", f"key:{FIRST}") as connection:
        key = make_key(connection, KeyRequest(name=FIRST, role=Role.ADMIN), time.time_ns() // 1_000)
    sys.stderr.write(f"The first administrator's key; it is shown only now:\n  {key.text}\n")
    sys.stderr.write("Commands that talk to the API take it from WHENCE_API_KEY.\n")


def show_rotated(url: str, name: str, overlap: int, lifetime: int | None, now: int, output: Output) -> None:
    """Rotate a key. Raises AccessError, StoreError."""
    with recorded(url, "keys rotate", f"key:{name}") as connection:
        key = rotate_key(connection, name, now, overlap, None if lifetime is None else now + lifetime)
    _show(key, f"key:{name}", output)


def show_revoked(url: str, named: str, now: int) -> None:
    """Revoke keys. Raises AccessError, StoreError."""
    with recorded(url, "keys revoke", named) as connection:
        gone = revoke_key(connection, named, now)
    print_lines([Text(safe(f"revoked {one.id} of key:{one.name}")) for one in gone])


def show_keys(url: str, now: int, output: Output) -> None:
    """List all keys. Raises StoreError."""
    with read(url) as connection:
        found = read_keys(connection)
    if output is Output.JSON:
        print_document({"keys": [key_document(one, now) for one in found]})
        return
    print_lines([Text(safe(_line(one, now))) for one in found] or [Text("No keys.", "dim")])


def _show(key: Key, subject: str, output: Output) -> None:
    if output is Output.JSON:
        print_document({**new_key_document(key, subject)})
        return
    print_lines([Text(key.text)])
    note = Text(safe(f"is shown only now; it belongs to {subject}"), "dim")
    print_lines([note], Console(stderr=True, highlight=False))


def _line(one: StoredKey, now: int) -> str:
    until = f", expires {iso(one.expires_at)}" if one.expires_at is not None else ""
    used = f"last used {iso(one.used_at)}" if one.used_at is not None else "never used"
    return f"{one.id}  {key_state(one, now):7}  {one.name}  {' '.join(sorted(one.scopes))}  {used}{until}"


@contextmanager
def _opened(url: str) -> Iterator[Engine]:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = open_security(url)
    try:
        yield engine
    finally:
        engine.dispose()
