"""Nodes as plain tuples, and their ids.

("dataset", namespace, name), ("field", namespace, name, field), ("job", namespace, name), ("run", id, namespace, name).
"""

from hashlib import sha256

Node = tuple[str, ...]


def text(node: Node) -> str:
    """The node id that the dump prints."""
    kind, *parts = node
    if kind == "run":
        run_id, namespace, name = parts
        return f"run:{run_id}@{text(('job', namespace, name))}"
    namespace, *rest = parts
    prefix = "datasetField" if kind == "field" else kind
    return ":".join([prefix, namespace, *(part.replace("%", "%25").replace(":", "%3A") for part in rest)])


def whole(node: Node) -> Node:
    """The dataset that a field belongs to; any other node is itself."""
    return ("dataset", node[1], node[2]) if node[0] == "field" else node


def netstrings(parts: list[str]) -> bytes:
    """The parts, each with its length in code points before it."""
    return "".join(f"{len(part)}:{part}" for part in parts).encode()


def run_number(run: Node) -> int:
    """The statement id of a run: 64 bits, signed, the lowest two set."""
    _, run_id, namespace, name = run
    first = int.from_bytes(sha256(netstrings(["R", run_id, namespace, name])).digest()[:8], "big")
    return signed(first | 3)


def ending_number(key: str, aspect: str) -> int:
    """The statement id by which an event ends what a job said in an aspect: the lowest two bits are 2."""
    first = int.from_bytes(sha256(netstrings(["E", key[:16], aspect])).digest()[:8], "big")
    return signed(first - first % 4 + 2)


def dropping_number(by: int, dataset: Node, owner: Node, aspect: str) -> int:
    """The statement id by which a dropped dataset ends what an owner wrote into it: the lowest two bits are 2."""
    parts = ["L", str(by), str(number(dataset)), str(number(owner)), aspect]
    first = int.from_bytes(sha256(netstrings(parts)).digest()[:8], "big")
    return signed(first - first % 4 + 2)


def number(node: Node) -> int:
    """The id of a dataset or job: the lowest two bits are 0 or 2."""
    letter, bits = {"dataset": ("D", 0), "job": ("J", 2)}[node[0]]
    first = int.from_bytes(sha256(netstrings([letter, *node[1:]])).digest()[:8], "big")
    return signed(first - first % 4 + bits)


def signed(number: int) -> int:
    """An unsigned 64-bit number as two's complement."""
    return number - 2**64 if number >= 2**63 else number
