"""Commands about who may do what: keys, grants, the audit log. They act on the security database, not on the API."""

import os
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import (
    MOST,
    Data,
    EventLog,
    Form,
    RowsForm,
    Security,
    Store,
    choice_option,
    parse_age,
)
from whence.cli.output.streams import Output, Rows, reporting
from whence.cli.settings import data_directory, evidence_keys, log_url, security_db, signed_heads, store_url
from whence.client.profiles import URL
from whence.model.access import SCOPES, Action, Role

keys = typer.Typer(name="keys", help="API keys: create, list, rotate, revoke.", no_args_is_help=True)
access = typer.Typer(name="access", help="Roles and hidden fields.", no_args_is_help=True)
audit = typer.Typer(name="audit", help="The audit log: writes, reads and rejected requests.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for group in (keys, access, audit):
        app.add_typer(group)


class RoleName(StrEnum):
    """The roles by name; each includes the one before it."""

    READER = "reader"
    WRITER = "writer"
    STEWARD = "steward"
    ADMIN = "admin"

    @property
    def role(self) -> Role:
        """The role itself."""
        return Role[self.name]


def _scope(text: str) -> Action:
    if text not in SCOPES:
        raise typer.BadParameter("choose read, write, steward or admin")
    return Action(text)


def _url(data: Path | None, store: str | None, security: str | None) -> str:
    """The URL of the security database. Prints a notice if WHENCE_URL is set, which these commands do not use."""
    database = security_db(store_url(data_directory(data), store), security)
    if server := os.environ.get(URL):
        from whence.cli.administration.access.keys import note_database

        note_database(database, server)
    return database


def _now() -> int:
    return time.time_ns() // 1_000


Name = Annotated[str, typer.Argument(help="The name of the key: airflow, ci, ada. Grants are for key:NAME")]
GrantedRole = Annotated[RoleName | None, choice_option(RoleName, "--role", help="Also grant this role")]
Namespaces = Annotated[str, typer.Option("--namespaces", "-n", help="The namespaces, a pattern: * matches any text")]
Scopes = Annotated[
    list[Action] | None,
    typer.Option(
        "--scope",
        parser=_scope,
        metavar="read|write|steward|admin",
        help="Restrict the key to this action; may be repeated",
    ),
]
Expires = Annotated[
    int | None,
    typer.Option("--expires-in", parser=parse_age, metavar="AGE", help="The key expires after this time: 90d, 12h"),
]
Subject = Annotated[str, typer.Argument(help="key:NAME, user:SUBJECT or group:NAME")]


@keys.command()
def create(
    name: Name,
    role: GrantedRole = None,
    namespaces: Namespaces = "*",
    scope: Scopes = None,
    expires_in: Expires = None,
    data: Data = None,
    store: Store = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Create a key, and print it: only now, since only its hash is stored."""
    from whence.cli.administration.access.keys import show_created
    from whence.govern.grants import KeyRequest

    wanted = KeyRequest(
        name=name,
        role=role.role if role else None,
        namespaces=namespaces,
        scopes=frozenset(scope or SCOPES),
        lifetime=expires_in,
    )
    with reporting(output):
        show_created(_url(data, store, security), wanted, _now(), output)


@keys.command("list")
def list_keys(data: Data = None, store: Store = None, security: Security = None, output: Form = Output.TEXT) -> None:
    """List all keys without their secrets: name, scopes, expiry, last use."""
    from whence.cli.administration.access.keys import show_keys

    with reporting(output):
        show_keys(_url(data, store, security), _now(), output)


@keys.command()
def rotate(
    name: Name,
    overlap: Annotated[
        int, typer.Option("--overlap", parser=parse_age, metavar="AGE", help="How long the old key remains valid")
    ] = "24h",  # type: ignore[assignment]  # parsed
    expires_in: Expires = None,
    data: Data = None,
    store: Store = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Replace a key with a new one with the same grants and scopes, and print it."""
    from whence.cli.administration.access.keys import show_rotated

    with reporting(output):
        show_rotated(_url(data, store, security), name, overlap, expires_in, _now(), output)


@keys.command()
def revoke(
    key: Annotated[str, typer.Argument(help="A key's id, or a name, for all of its keys")],
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """Revoke a key. It takes effect within a second."""
    from whence.cli.administration.access.keys import show_revoked

    with reporting(Output.TEXT):
        show_revoked(_url(data, store, security), key, _now())


@access.command()
def grant(
    subject: Subject,
    role: Annotated[RoleName, choice_option(RoleName, "--role", help="The role; each includes the one before it")],
    namespaces: Namespaces = "*",
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """Grant a role in the namespaces that match a pattern."""
    from whence.cli.administration.access.grants import grant_role

    with reporting(Output.TEXT):
        grant_role(_url(data, store, security), subject, role.role, namespaces)


@access.command()
def revoke_grant(
    subject: Subject,
    namespaces: Namespaces = "*",
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """Revoke the grant that has exactly this pattern."""
    from whence.cli.administration.access.grants import revoke_role

    with reporting(Output.TEXT):
        revoke_role(_url(data, store, security), subject, namespaces)


@access.command()
def hide(
    subject: Annotated[str, typer.Argument(help="key:NAME, user:SUBJECT, group:NAME, or * for everybody")],
    fields: Annotated[str, typer.Option("--fields", help="The fields, a pattern")],
    datasets: Annotated[str, typer.Option("--datasets", help="Their datasets, a pattern")] = "*",
    namespaces: Namespaces = "*",
    undo: Annotated[bool, typer.Option("--undo", help="Show them again")] = False,
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """Hide fields from everybody but the stewards of their namespace."""
    from whence.cli.administration.access.grants import hide_or_show
    from whence.model.access import Hiding

    with reporting(Output.TEXT):
        hide_or_show(_url(data, store, security), subject, Hiding(namespaces, datasets, fields), undo=undo)


@access.command("list")
def list_access(data: Data = None, store: Store = None, security: Security = None, output: Form = Output.TEXT) -> None:
    """List all grants and hidden fields."""
    from whence.cli.administration.access.grants import show_access

    with reporting(output):
        show_access(_url(data, store, security), output)


@access.command()
def review(
    window: Annotated[
        int, typer.Option("--window", parser=parse_age, metavar="AGE", help="What was not used for this long is named")
    ] = "90d",  # type: ignore[assignment]  # parsed
    data: Data = None,
    store: Store = None,
    security: Security = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List all grants with their last use, the sensitive columns that they show, and what speaks against them."""
    from whence.cli.administration.access.review import show_review

    with reporting(output.output):
        lineage = store_url(data_directory(data), store)
        show_review(_url(data, store, security), lineage, _now(), window, output)


@access.command()
def keep(
    subject: Subject,
    reason: Annotated[str, typer.Option("--reason", help="Why it is still needed: written to the audit log")],
    namespaces: Namespaces = "*",
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """Record that a grant was reviewed and stays."""
    from whence.cli.administration.access.review import keep_grant

    with reporting(Output.TEXT):
        keep_grant(_url(data, store, security), subject, namespaces, reason)


@access.command()
def sign_out(
    subject: Annotated[str, typer.Argument(help="user:SUBJECT")],
    data: Data = None,
    store: Store = None,
    security: Security = None,
) -> None:
    """End all sessions of a user immediately."""
    from whence.cli.administration.access.grants import end_sessions

    with reporting(Output.TEXT):
        end_sessions(_url(data, store, security), subject, _now())


@audit.command()
def verify(data: Data = None, store: Store = None, security: Security = None, output: Form = Output.TEXT) -> None:
    """Verify the whole audit log: detects rows that were changed, removed or moved."""
    from whence.cli.administration.access.audit import show_verified

    with reporting(output):
        show_verified(_url(data, store, security), output)


@audit.command()
def sign(
    file: Annotated[
        Path | None,
        typer.Argument(dir_okay=False, help="The file of signed heads, that of the server if not given; keep a copy"),
    ] = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Sign what the audit log and the event log are now, and append it to a file: for `whence audit prove`."""
    from whence.cli.administration.access.signed_heads import show_signed
    from whence.query.answers.instants import iso

    where = data_directory(data)
    with reporting(output):
        url, keys = _url(data, store, security), evidence_keys(where)
        show_signed(file or signed_heads(where), keys, url, log_url(where, log), iso(_now()), output)


@audit.command()
def prove(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file of signed heads")],
    key: Annotated[
        list[Path] | None,
        typer.Option(
            "--key",
            exists=True,
            dir_okay=False,
            help="A public key that you trust (PEM); may be repeated. Those of the data directory if not given",
        ),
    ] = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Prove that nothing that was signed was changed in, or cut from, the audit log and the event log."""
    from whence.cli.administration.access.signed_heads import show_proof

    where = data_directory(data)
    with reporting(output):
        url, keys = _url(data, store, security), evidence_keys(where)
        raise typer.Exit(show_proof(file, keys, key or (), url, log_url(where, log), output))


@audit.command("list")
def list_audit(
    who: Annotated[str, typer.Option("--who", help="Only entries of key:NAME or user:SUBJECT")] = "",
    action: Annotated[
        str, typer.Option("--action", help="Only this action: read, write, refused, login, keys ...")
    ] = "",
    node: Annotated[str, typer.Option("--node", help="Only entries about this node or namespace")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most entries to list")] = 50,
    data: Data = None,
    store: Store = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """List the newest entries of the audit log."""
    from whence.cli.administration.access.audit import show_audit
    from whence.store.security.audit import AuditFilter

    with reporting(output):
        show_audit(_url(data, store, security), AuditFilter(who=who, action=action, node=node, limit=limit), output)
