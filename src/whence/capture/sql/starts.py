"""T-SQL: where one statement ends and the next begins, when there is no semicolon between them."""

from collections.abc import Iterator

from whence.capture.sql.dialects import Dialect
from whence.capture.sql.functions import words
from whence.capture.sql.splitter import Mark, Piece, cut, is_end, marks

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


def split_without_ends(text: str, dialect: Dialect) -> list[Piece]:
    """The statements of a T-SQL script."""
    return list(cut(text, dialect, _ends(text, dialect)))


def _ends(text: str, dialect: Dialect) -> Iterator[Mark]:
    depth = cases = 0
    head = previous = before = ""
    clauses: set[str] = set()
    every = list(marks(text, dialect, words=True))
    for place, mark in enumerate(every):
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
            and _starts(
                word, previous, before, head, clauses, [one.text.upper() for one in every[place + 1 : place + 4]]
            )
        ):
            yield Mark("", mark.start, mark.start)
            head, clauses = word, {word}
        elif depth == 0:
            head = head or word
            clauses.add(word)
        before, previous = previous, word


def _starts(word: str, previous: str, before: str, head: str, clauses: set[str], following: list[str]) -> bool:
    """Whether a word begins a statement, after what was said of the current one."""
    if word in _ALWAYS:
        if head in _HEADS and word in ("DROP", "ALTER", "RETURN", "IF", "FETCH") and not _body(clauses):
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


def _body(clauses: set[str]) -> bool:
    return bool(clauses & {"AS", "BEGIN"})
