"""Whether the words of a statement indicate data movement: a statement without a tree is then not `opaque`."""

import re

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.dialects.functions import words
from whence.capture.sql.syntax.splitter import scan_marks

_DATA_VERBS = words(
    "SELECT INSERT UPDATE DELETE MERGE FROM INTO COPY UNLOAD CLONE EXCHANGE SWITCH SWAP APPEND UPSERT APPLY RENAME MOVE"
)
_NO_DATA_VERBS = words(
    "GRANT REVOKE DENY SHOW EXPLAIN DESC DESCRIBE COMMENT ANALYZE VACUUM OPTIMIZE LOCK UNLOCK KILL LIST LS REMOVE RM "
    "SET RESET USE CALL BEGIN FETCH COMMIT ROLLBACK START END SAVEPOINT RELEASE DEALLOCATE DISCARD LISTEN NOTIFY "
    "UNDROP PRINT RAISERROR RAISE THROW OPEN CLOSE CHECKPOINT CLUSTER REINDEX DETACH ATTACH INSTALL PRAGMA "
    "DBCC BACKUP RESTORE SYSTEM KILL CHECK REPAIR MSCK INVALIDATE COMPUTE REFRESH COLLECT HELP DROP PURGE FLUSH EXIT "
    "ADD DATABASE SIGNAL RESIGNAL GET PUT LEAVE ITERATE GOTO WAITFOR SAVE GO SPOOL PROMPT WHENEVER DEFINE"
)
"""Verbs of statements about statements, sessions, rights and storage."""
_OBJECT = re.compile(
    r"(?:CREATE|ALTER)\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:UNIQUE|CLUSTERED|NONCLUSTERED|BITMAP|FULLTEXT|SPATIAL|COLUMNSTORE|"
    r"PUBLIC|HASH|JOIN|ROW|ACCESS|MASKING|AGGREGATION|PROJECTION|SEARCH|VECTOR|NETWORK|SECURITY|DEFAULT|TEMP|TEMPORARY|"
    r"RESOURCE|STORAGE|EXTERNAL)\s+)*(?:INDEX|POLICY|PRIVILEGES|STATISTICS|ROLE|USER|LOGIN|GROUP|SEQUENCE|DATABASE|SCHEMA|"
    r"TYPE|DOMAIN|EXTENSION|LANGUAGE|SERVER|SYNONYM|WAREHOUSE|STAGE|INTEGRATION|TAG|SHARE|SECRET|CONNECTION|CATALOG|"
    r"COLLATION|OPERATOR|AGGREGATE|CAST|PUBLICATION|SUBSCRIPTION|CONSTRAINT|MONITOR|QUOTA|SETTINGS|PROFILE|"
    r"TABLESPACE|SYSTEM|SESSION|FUNCTION|PROCEDURE|PROC|TRIGGER|MACRO|EVENT|VOLUME|RESERVATION|ASSIGNMENT|CAPACITY|"
    r"PARTITION|FILE|CREDENTIAL|ENDPOINT|QUEUE|SERVICE|CERTIFICATE|KEY|ASSEMBLY|CONTEXT|DIRECTORY|LIBRARY|OUTLINE)\b",
    re.IGNORECASE,
)
"""Objects without data of their own."""
_TABLE = re.compile(
    r"CREATE\s+(?:\w+\s+){0,6}?(?:TABLE|VIEW)\b|CREATE\s+(?:\w+\s+){0,4}?(?:STREAM|PIPE|ALERT|TASK|RULE|FLOW|DICTIONARY|MODEL)\b",
    re.IGNORECASE,
)
_NO_VERB_AFTER = words("ON FOR AFTER BEFORE OF OR INSTEAD DISTINCT")
"""Words after which a verb is an event or a comparison: ON DELETE CASCADE, FOR UPDATE, IS DISTINCT FROM."""


def has_data_verbs(text: str, dialect: Dialect) -> bool:
    """Whether the words outside of quotes and comments indicate that the statement moves data."""
    if _TABLE.match(text):
        return True
    if _OBJECT.match(text):
        return False
    previous = ""
    for mark in scan_marks(text, dialect, words=True):
        word = mark.text.upper()
        if not previous and word in _NO_DATA_VERBS:
            return False
        if word in _DATA_VERBS and previous not in _NO_VERB_AFTER:
            return True
        previous = word
    return False
