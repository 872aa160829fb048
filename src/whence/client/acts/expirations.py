"""What ends soon, in answers: values, and the question about it."""

from typing import Any, TypeVar

import msgspec

from whence.client.connection import Connection

Value = TypeVar("Value")


class Expiring(msgspec.Struct, frozen=True, kw_only=True):
    """A certification, waiver, exception of a policy or API key that ends."""

    kind: str
    name: str
    place: str | None
    expires_at: str
    owner: str | None
    reason: str | None
    node: str | None


class Expirations(msgspec.Struct, frozen=True, kw_only=True):
    """What ends after `at` and not after `until`, the first first. `keys_shown`: whether keys are among them."""

    at: str
    until: str
    expiring: tuple[Expiring, ...]
    keys_shown: bool


class ExpirationsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a server."""

    data: Expirations


class ExpirationQuestions:
    """The question about what ends soon, for a client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        raise NotImplementedError

    def expirations(self, *, within: str = "30d") -> Expirations:
        """Certifications, waivers, exceptions of policies and API keys that end within a time such as `30d`."""
        document = self._connection.get("/api/v2/reports/expirations", {"within": within})
        return self._converted(document, ExpirationsAnswer).data
