"""Whether a script only defines tables: then its job writes no data, whatever outputs it reports."""

import re
from collections.abc import Iterable

from whence.capture.sql.lineage import StatementLineage

DEFINING = frozenset({"alter", "create", "drop", "truncate"})
_AROUND = frozenset({"analyze", "comment", "commit", "grant", "revoke", "rollback", "set", "transaction", "use"})
_AS = re.compile(r"\bas\b", re.IGNORECASE)


def only_defines(script: Iterable[StatementLineage], query: str) -> bool:
    """Whether every statement was read, none reads or moves data, and one defines a table.

    `create table t as select 1` moves data but has no source. So a script with the word AS does more than define.
    """
    statements = tuple(script)
    kinds = {statement.kind for statement in statements}
    has_moves = any(
        statement.error or statement.reads or statement.edges or statement.unknowns for statement in statements
    )
    return bool(kinds & DEFINING) and kinds <= DEFINING | _AROUND and not has_moves and not _AS.search(query)
