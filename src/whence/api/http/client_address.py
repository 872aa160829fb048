"""The address of a caller, as its connection has it; headers of proxies are not read, for anybody can send them."""

from starlette.types import Scope


def client_address(scope: Scope) -> str:
    """The caller's IP address, or an empty text for a connection without one (a UNIX socket)."""
    client = scope.get("client")
    return str(client[0]) if client else ""
