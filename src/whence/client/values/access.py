"""Users and what they may do: values of answers."""

import msgspec


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A role in the namespaces that match a pattern."""

    role: str
    namespaces: str


class CurrentUser(msgspec.Struct, frozen=True, kw_only=True):
    """The current user: `key:NAME` or `user:SUBJECT`, their highest role, and all roles granted to them."""

    name: str
    role: str | None
    grants: tuple[Grant, ...]


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """The current user, if known. `open`: the server needs no keys."""

    open: bool
    me: CurrentUser | None
