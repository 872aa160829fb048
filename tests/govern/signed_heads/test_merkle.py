"""The root over records is that of RFC 9162, whatever their number."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.signed_heads.merkle import hash_tree

PUBLISHED = [bytes.fromhex(one) for one in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
PUBLISHED.append(bytes.fromhex("606162636465666768696a6b6c6d6e6f"))
"""The leaves that implementations of Certificate Transparency agree about."""


def defined(leaves: list[bytes]) -> bytes:
    """The tree hash as the RFC defines it."""
    match leaves:
        case []:
            return sha256().digest()
        case [leaf]:
            return sha256(b"\x00" + leaf).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha256(b"\x01" + defined(leaves[:half]) + defined(leaves[half:])).digest()


@given(st.lists(st.binary(max_size=8), max_size=70))
def test_the_root_is_the_one_of_the_definition(leaves: list[bytes]) -> None:
    assert hash_tree(leaves) == (len(leaves), defined(leaves))


@pytest.mark.parametrize(
    ("leaves", "root"),
    [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
    ],
)
def test_published_roots(leaves: int, root: str) -> None:
    assert hash_tree(PUBLISHED[:leaves])[1].hex() == root
