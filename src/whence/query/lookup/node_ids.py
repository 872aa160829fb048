"""Node ids in the form of Marquez clients: not escaped, optionally followed by the version of a dataset or job."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.query.lookup.requested_names import known_field
from whence.query.ports.graph import Graph

_VERSION = re.compile(r"#([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")
_MOST_PARTS = 40


@dataclass(frozen=True, slots=True)
class Address:
    """A node, and the requested version (None: the current one)."""

    node: Node
    version: str | None = None


def find_address(graph: Graph, text: str) -> Address | None:
    """The node that a node id denotes, wherever the namespace ends. None if there is none.

    `dataset:kafka://h:9092:a:b` is the dataset `a:b` or the dataset `b`, whichever exists; if both do, the one that the
    id denotes in Whence's own form. A column may exist only under another name of its dataset.
    """
    if found := _known(graph, text):
        return Address(found)
    version = _VERSION.search(text)
    known = _known(graph, text[: version.start()]) if version else None
    return Address(known, version[1].lower()) if version and known else None


def _known(graph: Graph, text: str) -> Node | None:
    candidates = list(dict.fromkeys(_candidates(text)))
    known = graph.nodes({node_id(one) for one in candidates})
    found = (one for one in candidates if node_id(one) in known)
    fields = (one for one in candidates if isinstance(one, FieldName))
    return next(found, None) or next((one for one in fields if known_field(graph, one)), None)


def _candidates(text: str) -> Iterator[Node]:
    if exact := parse_node(text):
        yield exact
    kind, _, rest = text.partition(":")
    places = [place for place, letter in enumerate(rest) if letter == ":"][-_MOST_PARTS:]
    match kind:
        case "dataset":
            yield from (DatasetName(*ends) for ends in _cut(rest, places))
        case "job":
            yield from (JobName(*ends) for ends in _cut(rest, places))
        case "datasetField":
            for place in places:
                for namespace, name in _cut(rest[:place], [one for one in places if one < place]):
                    yield FieldName(DatasetName(namespace, name), unquote(rest[place + 1 :]))
                    yield FieldName(DatasetName(namespace, name), rest[place + 1 :])


def _cut(text: str, places: list[int]) -> Iterator[tuple[str, str]]:
    for place in reversed(places):
        yield text[:place], text[place + 1 :]
        yield text[:place], unquote(text[place + 1 :])
