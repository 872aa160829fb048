"""`whence tags add` and `remove`: what people say of datasets, columns and jobs, sent to a server."""

from collections.abc import Callable, Sequence

from rich.text import Text

from whence.cli.output.labels import label, name_of
from whence.cli.output.streams import print_lines, safe
from whence.client.acts.tags import add_tags, remove_tags
from whence.client.connection import Connection
from whence.client.profiles import choose_server
from whence.client.questions import Client

Change = Callable[[Connection, str, Sequence[str]], None]


def tag_node(url: str, node: str, tags: Sequence[str]) -> None:
    """Tag the node that a name means. Raises ApiError, AccessError, NodeNotFoundError, AmbiguousNodeError."""
    _change(url, node, tags, add_tags, "now has")


def untag_node(url: str, node: str, tags: Sequence[str]) -> None:
    """Remove tags from the node that a name means. Raises as `tag_node`."""
    _change(url, node, tags, remove_tags, "no longer has")


def _change(url: str, node: str, tags: Sequence[str], change: Change, done: str) -> None:
    server = choose_server(url)
    connection = Connection(server.url, server.key)
    try:
        root = Client(connection).upstream(node, depth=1, max_nodes=1).root
        change(connection, root, tags)
    finally:
        connection.close()
    print_lines([Text(safe(f"{label([name_of(root)]).of(name_of(root))} {done} {', '.join(tags)}"))])
