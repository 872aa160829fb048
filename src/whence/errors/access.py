"""Errors of callers, of the audit log, and of servers that are asked."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


@dataclass(eq=False)
class AuditError(WhenceError):
    """The audit log is not as it was written, from row `number` on."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.number} of the audit log {self.reason}"


@dataclass(eq=False)
class AccessError(WhenceError):
    """Who asks is not known (`status` 401), is one of too many (503), or may not do this (403).

    Does not reveal what exists.
    Of keys and grants: there is none such (404), it is malformed (422), or it conflicts with another (409).
    """

    reason: str
    status: int = 401

    def __str__(self) -> str:
        return self.reason


@dataclass(eq=False)
class ApiError(WhenceError):
    """The API cannot be reached, or stays overloaded."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


@dataclass(eq=False)
class DeliveryError(WhenceError):
    """A notification cannot be delivered. `place` has no secrets; `pause`: seconds until the receiver wants the next
    attempt, None if it has no wish; `is_away`: it takes nothing now, so others need not be tried.
    """

    place: str
    reason: str
    pause: float | None = None
    is_away: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class ServerVersionError(ApiError):
    """The API's answers have another form: it is of another version, or is not Whence."""

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}. The server may be of another version of Whence than this client"


class ProfileError(WhenceError):
    """No server is named, or the file of profiles cannot be read or written."""
