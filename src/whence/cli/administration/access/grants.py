"""`whence access`: the work and output of its commands."""

from rich.text import Text

from whence.cli.administration.access.keys import read, recorded
from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.govern.access_document import grants_document
from whence.govern.grants import give_role, hide_fields, show_fields, take_role
from whence.model.access import Grant, Hiding, Role
from whence.store.security.grants import read_grants, read_hidings
from whence.store.security.sessions import revoke_sessions


def grant_role(url: str, subject: str, role: Role, namespaces: str) -> None:
    """Grant a role. Raises AccessError for an invalid subject, StoreError."""
    with recorded(url, "access grant", subject, f"{role.name.lower()} in {namespaces}") as connection:
        give_role(connection, subject, Grant(role, namespaces))
    _say(f"{subject} is {role.name.lower()} in {namespaces}")


def revoke_role(url: str, subject: str, namespaces: str) -> None:
    """Revoke a grant. Raises AccessError if there is none, StoreError."""
    with recorded(url, "access revoke-grant", subject, namespaces) as connection:
        take_role(connection, subject, namespaces)
    _say(f"{subject} has no role in {namespaces} any more")


def hide_or_show(url: str, subject: str, what: Hiding, *, undo: bool) -> None:
    """Hide fields, or show them again. Raises AccessError, StoreError."""
    rule = f"fields {what.fields} of {what.datasets} in {what.namespaces}"
    with recorded(url, "access hide --undo" if undo else "access hide", subject, rule) as connection:
        (show_fields if undo else hide_fields)(connection, subject, what)
    _say(f"{subject} {'may see' if undo else 'may not see'} {rule}")


def end_sessions(url: str, subject: str, now: int) -> None:
    """Sign somebody out everywhere. Raises StoreError."""
    with recorded(url, "access sign-out", subject) as connection:
        ended = revoke_sessions(connection, subject, now)
    _say(f"{ended} sessions of {subject} ended")


def show_access(url: str, output: Output) -> None:
    """List all grants and hidings. Raises StoreError."""
    with read(url) as connection:
        grants, hidings = read_grants(connection), read_hidings(connection)
    if output is Output.JSON:
        print_document({**grants_document(grants, hidings)})
        return
    lines = [f"{who}  {one.role.name.lower()}  {one.namespaces}" for who, several in grants.items() for one in several]
    lines += [
        f"{who}  does not see  {one.fields} of {one.datasets} in {one.namespaces}"
        for who, several in hidings.items()
        for one in several
    ]
    print_lines([Text(safe(line)) for line in lines])


def _say(text: str) -> None:
    print_lines([Text(safe(text))])
