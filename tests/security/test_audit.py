"""The audit log: in commit order whoever writes, and no change of it goes unseen."""

import random
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Engine, delete, insert, select, update

from whence.errors import AuditError
from whence.store.security.audit import NOTHING, AuditFilter, Entry, Head, append_entries, read_audit, verify_log
from whence.store.security.database import read_security, write_security
from whence.store.security.tables import audit, audit_head


def entry(number: int, who: str = "key:ci") -> Entry:
    return Entry(at=number, who=who, action="read", what="GET /x", nodes=(f"dataset:n:t{number}", 'é\n"'), count=number)


def write(engine: Engine, *entries: Entry) -> Head:
    with write_security(engine) as connection:
        return append_entries(connection, entries)


def checked(engine: Engine, *earlier: Head) -> Head:
    with read_security(engine) as connection:
        return verify_log(connection, earlier)


def test_what_was_written_is_verified_and_read_newest_first(security: Engine) -> None:
    assert checked(security) == Head(0, NOTHING)
    first = write(security, entry(1), entry(2))
    last = write(security, entry(3, "key:ada"))
    assert checked(security, first, last) == last
    with read_security(security) as connection:
        assert read_audit(connection, AuditFilter()) == [(3, entry(3, "key:ada")), (2, entry(2)), (1, entry(1))]
        assert [number for number, _ in read_audit(connection, AuditFilter(who="key:ci", limit=1))] == [2]
        assert [number for number, _ in read_audit(connection, AuditFilter(node="dataset:n:t2"))] == [2]
        assert read_audit(connection, AuditFilter(node="dataset:n:t")) == []


def _change(column: str, value: object) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(update(audit).where(audit.c.number == 5).values({column: value}))


def _remove(number: int) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(delete(audit).where(audit.c.number == number))


def _swap(connection: Connection) -> None:
    rows = connection.execute(select(audit).where(audit.c.number.in_((4, 5))).order_by(audit.c.number)).mappings().all()
    connection.execute(delete(audit).where(audit.c.number.in_((4, 5))))
    connection.execute(insert(audit), [{**rows[1], "number": 4}, {**rows[0], "number": 5}])


def _cut(connection: Connection) -> None:
    """Take the last rows away, and the head with them: what nobody sees without an earlier head."""
    connection.execute(delete(audit).where(audit.c.number > 7))
    last = connection.execute(select(audit.c.number, audit.c.hash).where(audit.c.number == 7)).one()
    connection.execute(update(audit_head).values(number=last.number, hash=last.hash))


def _write_anew(connection: Connection) -> None:
    """Everything again, hashes and all, without one entry."""
    connection.execute(delete(audit))
    connection.execute(update(audit_head).values(number=0, hash=NOTHING))
    append_entries(connection, [entry(number) for number in range(10) if number != 5] + [entry(99)])


@pytest.mark.parametrize(
    ("tamper", "row"),
    [
        (_change("who", "key:other"), 5),
        (_change("at", 1), 5),
        (_change("nodes", "[]"), 5),
        (_change("count", 0), 5),
        (_change("status", 200), 5),
        (_change("hash", "0" * 64), 5),
        (_change("number", 50), 5),
        (_remove(1), 1),
        (_remove(5), 5),
        (_remove(10), 10),
        (_swap, 4),
    ],
)
def test_a_row_that_was_changed_removed_or_moved_is_found(
    security: Engine, tamper: Callable[[Connection], object], row: int
) -> None:
    write(security, *map(entry, range(10)))
    with write_security(security) as connection:
        tamper(connection)
    with pytest.raises(AuditError) as found:
        checked(security)
    assert found.value.number == row


@pytest.mark.parametrize("tamper", [_cut, _write_anew])
def test_an_earlier_head_finds_what_was_cut_or_written_anew(
    security: Engine, tamper: Callable[[Connection], object]
) -> None:
    head = write(security, *map(entry, range(10)))
    with write_security(security) as connection:
        tamper(connection)
    checked(security)
    with pytest.raises(AuditError):
        checked(security, head)


def test_many_writers_make_one_chain(security: Engine) -> None:
    def work(who: str) -> None:
        dice = random.Random(who)
        for number in range(10):
            write(security, *[entry(number, who)] * dice.randint(1, 4))

    threads = [threading.Thread(target=work, args=(f"key:{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with read_security(security) as connection:
        rows = [one for _, one in read_audit(connection, AuditFilter(limit=1_000))][::-1]
    assert checked(security).number == len(rows) >= 60
    for number in range(6):
        own = [one.at for one in rows if one.who == f"key:{number}"]
        assert own == sorted(own)
