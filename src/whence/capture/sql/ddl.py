"""Whether a script only defines tables: then its job writes no data, whatever outputs it reports."""

import re
from collections.abc import Iterable

from whence.capture.sql.lineage import StatementLineage

DEFINING = frozenset({"alter", "create", "drop", "truncate"})
_AROUND = frozenset({"analyze", "comment", "commit", "grant", "revoke", "rollback", "set", "transaction", "use"})
_AS = re.compile(r"\bas\b", re.IGNORECASE)


def only_defines(script: Iterable[StatementLineage], query: str) -> bool:
    """Whether every statement was read, none reads or moves data, and one defines a table.

    `create table t as select 1` moves data but has no source: so with the word AS, a script does more than define.
    """
    statements = tuple(script)
    kinds = {one.kind for one in statements}
    moves = any(one.error or one.reads or one.edges or one.unknowns for one in statements)
    return bool(kinds & DEFINING) and kinds <= DEFINING | _AROUND and not moves and not _AS.search(query)
