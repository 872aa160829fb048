"""Declared policies in answers: values, and the questions about them."""

from typing import Any, TypeVar

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

_AT_ONCE = 500

Value = TypeVar("Value")


class DeclaredPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy that holds in a namespace. `text`: JSON of the form of `policies.yaml`; None for a key that may not see
    everything.
    """

    namespace: str
    name: str
    version: str
    reason: str | None
    owner: str | None
    text: str | None
    declared_at: str
    declared_by: str


class PoliciesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The policies."""

    data: tuple[DeclaredPolicy, ...]


class RuleState(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy (`rule`), or certification, says of a dataset (`node`) since a time. `lapsed`: it was certified."""

    kind: str
    rule: str | None
    node: str
    state: str
    since: str
    blocks: bool
    lapsed: bool
    columns: tuple[str, ...]
    reason: str | None


class RuleStatesPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of states."""

    data: tuple[RuleState, ...]
    page: dict[str, Any] | None


class PolicyQuestions:
    """The questions about declared policies, for a client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        raise NotImplementedError

    def policies(self) -> tuple[DeclaredPolicy, ...]:
        """The declared policies that hold now, by namespace and name."""
        return self._converted(self._connection.get("/api/v2/policies", {}), PoliciesAnswer).data

    def rule_states(self, *, kind: str = "", rule: str = "", as_of: Time | None = None) -> tuple[RuleState, ...]:
        """The datasets of which a policy, or a rule of certification, does not hold, or may not, at a time.

        `kind`: `policy` or `certification`; `rule`: the name of a policy.
        """
        query = {"kind": kind or None, "rule": rule, "as_of": iso_text(as_of), "limit": _AT_ONCE}
        found: list[RuleState] = []
        cursor = None
        while True:
            document = self._connection.get("/api/v2/rule-states", {**query, "cursor": cursor})
            page = self._converted(document, RuleStatesPage)
            found += page.data
            cursor = (page.page or {}).get("next")
            if not cursor:
                return tuple(found)
