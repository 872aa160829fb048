"""`whence access`: the work and output of its commands."""

from rich.text import Text

from whence.cli.administration.access.keys import read, recorded
from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.govern.access_document import RestrictionDocument, grants_document
from whence.govern.grants import give_role, hide_fields, show_fields, take_role
from whence.model.access import Grant, Hiding, Role
from whence.model.names import FieldName, parse_node
from whence.store.security.grants import read_grants, read_hidings
from whence.store.security.restrictions import read_restrictions
from whence.store.security.sessions import revoke_sessions

_MOST_COLUMNS = 5


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
    """List all grants, hidings and restrictions. Raises StoreError."""
    with read(url) as connection:
        grants, hidings = read_grants(connection), read_hidings(connection)
        restrictions = read_restrictions(connection)
    document = grants_document(grants, hidings, restrictions)
    if output is Output.JSON:
        print_document({**document})
        return
    lines = [f"{who}  {one.role.name.lower()}  {one.namespaces}" for who, several in grants.items() for one in several]
    lines += [
        f"{who}  does not see  {one.fields} of {one.datasets} in {one.namespaces}"
        for who, several in hidings.items()
        for one in several
    ]
    lines += map(_restriction_line, document["restrictions"])
    print_lines([Text(safe(line)) for line in lines])


def _short_name(column: str) -> str:
    node = parse_node(column)
    return f"{node.dataset.name}.{node.field}" if isinstance(node, FieldName) else column


def _restriction_line(one: RestrictionDocument) -> str:
    """Who may see the restricted columns of a namespace, and which they are."""
    first, more = one["columns"][:_MOST_COLUMNS], len(one["columns"]) - _MOST_COLUMNS
    named = ", ".join(map(_short_name, first)) + (f" and {more:,} more" if more > 0 else "")
    who = ", ".join(["stewards", *one["readers"]])
    return f"only {who}  see  {named} in {one['namespace']}, by the policy {one['policy']!r}"


def _say(text: str) -> None:
    print_lines([Text(safe(text))])
