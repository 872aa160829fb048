"""What Presidio finds in columns, without a network. In its own environment; reads and prints a JSON document."""

import json
import socket
import sys

from whence.govern.tags.presidio_kinds import open_finder


def refuse(*_: object) -> None:
    """There is no network."""
    raise OSError("a network was asked for")


socket.socket.connect = refuse  # type: ignore[method-assign]
socket.getaddrinfo = refuse  # type: ignore[assignment]
find = open_finder()
found = {name: find(name, values) for name, values in json.load(sys.stdin).items()}
json.dump({name: one and [one.category, one.tag, one.share, one.values] for name, one in found.items()}, sys.stdout)
