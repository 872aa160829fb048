"""Whence: ask where any number came from, and what breaks if it changes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.client.questions import Client, connect

__version__: str
__all__ = ["Client", "__version__", "connect"]


def __getattr__(name: str) -> Any:
    match name:
        case "__version__":
            from importlib.metadata import version  # 25 ms that a command need not wait for

            return version("whence-lineage")
        case "Client" | "connect":
            from whence.client import questions  # an HTTP client, which other parts of Whence do not need

            return getattr(questions, name)
    raise AttributeError(name)
