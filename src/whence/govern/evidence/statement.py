"""The names in a pack: of the file with the statement, and of the statement's types."""

from collections.abc import Mapping

ENVELOPE = "evidence.dsse.json"
"""The file with the statement about all other files."""
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://github.com/whence-lineage/whence/evidence/v1"
Files = Mapping[str, bytes]
"""The files of a pack by their names, which are always the same: no name of a node is in them."""
