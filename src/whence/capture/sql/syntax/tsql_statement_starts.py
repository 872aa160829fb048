"""T-SQL: the boundaries of statements without a semicolon between them."""

from collections.abc import Iterator

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.dialects.functions import words
from whence.capture.sql.syntax.splitter import Mark, Piece, is_end, pieces_between, scan_marks

_ALWAYS = words(
    "CREATE ALTER DROP TRUNCATE DECLARE USE PRINT RAISERROR THROW RETURN COMMIT ROLLBACK WAITFOR GRANT REVOKE "
    "DENY OPEN CLOSE DEALLOCATE FETCH IF WHILE BREAK CONTINUE GOTO BULK DBCC KILL BACKUP RESTORE SAVE"
)
_MAYBE = words("SELECT INSERT UPDATE DELETE MERGE WITH SET EXEC EXECUTE BEGIN END ELSE")
_CONTINUES = {
    "SELECT": words("UNION ALL EXCEPT INTERSECT AS FOR INTO"),
    "INSERT": frozenset(["BULK", "THEN", "INSTEAD", "OF", "AFTER", "FOR"]),
    "UPDATE": words("THEN FOR ON IF AND OR NOT AFTER OF INSTEAD"),
    "DELETE": words("THEN ON AFTER FOR OF INSTEAD"),
    "MERGE": words("INNER LEFT RIGHT FULL OUTER CROSS UNION"),
    "EXEC": frozenset(["INTO", "AS", "WITH"]),
    "EXECUTE": frozenset(["INTO", "AS", "WITH"]),
    "RETURN": frozenset(["AS"]),
    "DROP": frozenset(["TABLE_ACTION"]),
    "FETCH": frozenset(["ROWS", "ROW"]),
    "IF": words("TABLE VIEW PROCEDURE PROC FUNCTION DATABASE SCHEMA INDEX TRIGGER COLUMN"),
    "USE": frozenset(["OPTION"]),
    "SAVE": frozenset(),
    "OPEN": frozenset(),
}
_HEADS = frozenset(["CREATE", "ALTER"])


def split_tsql(text: str, dialect: Dialect) -> list[Piece]:
    """Split a T-SQL script into its statements."""
    return list(pieces_between(text, dialect, _ends(text, dialect)))


def _ends(text: str, dialect: Dialect) -> Iterator[Mark]:
    depth = cases = 0
    head = previous = second_previous = ""
    clauses: set[str] = set()
    all_marks = list(scan_marks(text, dialect, words=True))
    for index, mark in enumerate(all_marks):
        word = mark.text.upper()
        if word in ("(", ")"):
            depth = max(0, depth + (1 if word == "(" else -1))
        elif is_end(mark.text):
            yield mark
            head, clauses, depth, cases = "", set(), 0, 0
        elif depth == 0 and word == "CASE":
            cases += 1
        elif depth == 0 and word == "END" and cases:
            cases -= 1
        elif (
            depth == 0
            and head
            and not cases
            and _begins_statement(
                word,
                previous,
                second_previous,
                head,
                clauses,
                [one.text.upper() for one in all_marks[index + 1 : index + 4]],
            )
        ):
            yield Mark("", mark.start, mark.start)
            head, clauses = word, {word}
        elif depth == 0:
            head = head or word
            clauses.add(word)
        second_previous, previous = previous, word


def _begins_statement(
    word: str, previous: str, second_previous: str, head: str, clauses: set[str], following: list[str]
) -> bool:
    """Whether a word begins a new statement, given the words and clauses of the current one."""
    if word in _ALWAYS:
        if head in _HEADS and word in ("DROP", "ALTER", "RETURN", "IF", "FETCH") and not _has_body(clauses):
            return False
        if word == "IF" and previous == "ELSE":
            return True
        if word in ("DROP", "ALTER") and head == "ALTER":
            return previous != "TABLE" and following[:1] != ["COLUMN"] and following[:1] != ["CONSTRAINT"]
        return previous not in _CONTINUES.get(word, ()) and previous != "ORDER" and previous != "ON"
    if word not in _MAYBE:
        return False
    if previous in _CONTINUES.get(word, ()) and not (previous == "AS" and "PROCEDURE" in clauses | {"PROC"} & clauses):
        return False
    match word:
        case "SELECT":
            return not (
                head in ("INSERT", "WITH") and not clauses & {"SELECT", "VALUES", "EXEC", "UPDATE", "DELETE", "MERGE"}
            )
        case "INSERT" | "UPDATE" | "DELETE" | "MERGE":
            return not (head == "WITH" and len(clauses & {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}) == 0)
        case "WITH":
            return (
                len(following) > 1
                and following[0] != "("
                and (following[1] in ("AS", "("))
                and previous not in ("TABLE",)
                and following[0] != "SCHEMABINDING"
            )
        case "SET":
            return (
                not (head in ("UPDATE", "ALTER") and "SET" not in clauses)
                and not ("UPDATE" in clauses and "SET" not in clauses)
                and previous not in ("UPDATE", "DELETE", "ON")
                and head != "MERGE"
            )
        case "BEGIN" | "END" | "ELSE":
            return True
        case "EXEC" | "EXECUTE":
            return not (head == "INSERT" and not clauses & {"SELECT", "VALUES"}) and head not in ("GRANT",)
    return True


def _has_body(clauses: set[str]) -> bool:
    return bool(clauses & {"AS", "BEGIN"})
