"""Tagging datasets, columns and jobs on a server."""

from collections.abc import Sequence
from urllib.parse import quote

from whence.client.connection import Connection
from whence.errors import QuestionError


def add_tags(connection: Connection, node: str, tags: Sequence[str]) -> None:
    """Tag a node, by its id: `pii`, or `masking=mail` with a value. Raises as `Connection.put`; QuestionError for a
    tag without a key.
    """
    for tag in tags:
        key, _, value = tag.partition("=")
        connection.put(_path(node, key), {"value": value} if value else {})


def remove_tags(connection: Connection, node: str, tags: Sequence[str]) -> None:
    """Remove tags from a node, by their keys. Raises as `Connection.delete`; QuestionError for a tag without a key."""
    for tag in tags:
        connection.delete(_path(node, tag.partition("=")[0]))


def _path(node: str, key: str) -> str:
    if not key.strip():
        raise QuestionError("tag", "write a word, or KEY=VALUE")
    return f"/api/v2/nodes/{quote(node, safe='')}/tags/{quote(key, safe='')}"
