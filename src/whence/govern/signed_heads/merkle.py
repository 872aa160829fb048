"""The root of a Merkle tree over records (RFC 9162, section 2.1.1), with memory for one path."""

from collections.abc import Iterable
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""


def hash_tree(leaves: Iterable[bytes]) -> tuple[int, bytes]:
    """The number of leaves, and the root over them."""
    count, subtrees = 0, list[tuple[int, bytes]]()
    for leaf in leaves:
        count += 1
        level, root = 0, sha256(b"\x00" + leaf).digest()
        while subtrees and subtrees[-1][0] == level:
            level, root = level + 1, _join(subtrees.pop()[1], root)
        subtrees.append((level, root))
    if not subtrees:
        return 0, EMPTY
    _, root = subtrees.pop()
    while subtrees:
        root = _join(subtrees.pop()[1], root)
    return count, root


def _join(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()
