"""Who may do what, and who did it, comes back from a backup: of either kind of store, into either."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from typer.testing import CliRunner

from conftest import STORES
from fixtures.migrated_stores import open_migrated
from security.conftest import now
from services.postgres import new_database
from whence.cli.commands.app import app
from whence.errors import BackupError
from whence.govern.api_keys import create_key
from whence.govern.backup import SECURITY, Place, back_up, restore_backup
from whence.log.segments.log import SegmentLog
from whence.model.access import SCOPES, Grant, Hiding, Role
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.security.audit import Entry, Head, append_entries, verify_log
from whence.store.security.database import read_security, write_security
from whence.store.security.grants import add_grant, add_hidings
from whence.store.security.policy import Policy, read_policy
from whence.store.security.sessions import Session, add_session
from whence.store.security.tables import session

ENTRIES = 25_000
"""More than are read at a time."""


@pytest.fixture(params=STORES)
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of another place, of each kind in turn."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            (tmp_path / "elsewhere").mkdir()
            yield sqlite_url(tmp_path / "elsewhere" / "security.db")
        else:
            yield stack.enter_context(new_database(request.getfixturevalue("postgres_server")))


@pytest.fixture
def guarded(security: Engine) -> Engine:
    """Keys, grants, hidings, an audit log and a session."""
    with write_security(security) as connection:
        create_key(connection, "airflow", SCOPES, now())
        add_grant(connection, "key:airflow", Grant(Role.WRITER, "team-*"))
        add_hidings(connection, "*", [Hiding("*", "*", "*ssn*")])
        append_entries(
            connection, [Entry(at=n, who="ada", action="read", what=f"GET /{n}", count=n) for n in range(ENTRIES)]
        )
        person = Session(subject="user:ada", groups=(), created_at=0, used_at=0, expires_at=now() * 2)
        add_session(connection, "cookie", person)
    return security


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """`place(name, security)`: a store and a log there."""
    engines: list[Engine] = []

    def make(name: str, security: Engine | None) -> Place:
        engines.append(open_store(sqlite_url(tmp_path / name / "store.db")))
        return Place(engine=engines[-1], log=SegmentLog(tmp_path / name / "log"), security=security)

    yield make
    for engine in engines:
        engine.dispose()


def filled(where: Place) -> Place:
    Path(str(where.engine.url.database)).parent.mkdir()
    migrate(where.engine)
    where.log.open_writer().close()
    return where


def state(engine: Engine) -> tuple[Policy, Head]:
    with read_security(engine) as connection:
        return read_policy(connection), verify_log(connection)


def test_keys_grants_and_the_audit_log_come_back(
    guarded: Engine, elsewhere: str, place: Callable[..., Place], tmp_path: Path
) -> None:
    manifest = back_up(filled(place("old", guarded)), tmp_path / "backup")
    assert SECURITY in manifest.files
    assert (tmp_path / "backup" / SECURITY).stat().st_mode & 0o077 == 0
    new = open_store(elsewhere)
    restore_backup(tmp_path / "backup", place("new", new))
    assert state(new) == state(guarded)
    with write_security(new) as connection:
        assert connection.execute(select(session)).all() == []
        assert append_entries(connection, [Entry(at=1, who="bob", action="read", what="GET /")]).number == ENTRIES + 1
        verify_log(connection)
    new.dispose()


def test_a_database_with_keys_is_not_overwritten(guarded: Engine, place: Callable[..., Place], tmp_path: Path) -> None:
    back_up(filled(place("old", guarded)), tmp_path / "backup")
    before = state(guarded)
    with pytest.raises(BackupError, match="the security database is not empty: its table access_key has rows"):
        restore_backup(tmp_path / "backup", place("new", guarded))
    assert state(guarded) == before
    assert not (tmp_path / "new").exists()


def test_where_there_is_none_there_is_none(place: Callable[..., Place], tmp_path: Path) -> None:
    missing = open_store(sqlite_url(tmp_path / "none.security.db"))
    manifest = back_up(filled(place("old", missing)), tmp_path / "backup")
    assert SECURITY not in manifest.files
    restore_backup(tmp_path / "backup", place("new", missing))
    assert not (tmp_path / "none.security.db").exists()
    missing.dispose()


def test_the_commands_do_it_and_the_restored_log_is_verified(tmp_path: Path) -> None:
    old, new, backup = tmp_path / "old", tmp_path / "new", tmp_path / "backup"
    SegmentLog(old / "log").open_writer().close()
    engine = open_migrated(sqlite_url(old / "store.db"))
    engine.dispose()
    run_command(old, "keys", "create", "admin", "--role", "admin")
    run_command(old, "backup", str(backup))
    run_command(new, "restore", str(backup))
    listed = run_command(old, "keys", "list")
    assert "admin" in listed
    assert run_command(new, "keys", "list") == listed
    assert run_command(new, "audit", "verify") == run_command(old, "audit", "verify")


def run_command(data: Path, *command: str) -> str:
    found: Any = CliRunner().invoke(app, command, env={"WHENCE_DATA": str(data)})
    assert found.exit_code == 0, found.output
    return str(found.output)
