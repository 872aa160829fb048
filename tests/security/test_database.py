"""The security database: its tables, and what is kept of keys and sessions there."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, select

from security.conftest import now
from whence.errors import AccessError
from whence.govern.api_keys import (
    create_key,
    generate_key,
    is_hash_of,
    list_live_keys,
    parse_key,
    revoke_key,
    rotate_key,
)
from whence.model.access import SCOPES, Action, Grant, Hiding, Role
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import metadata as of_store
from whence.store.security.api_key_rows import StoredKey, read_keys
from whence.store.security.database import VERSION_TABLE, migrate_security, read_security, security_url, write_security
from whence.store.security.grants import add_grant, add_hidings, read_state, remove_grant, remove_hiding
from whence.store.security.policy import read_policy
from whence.store.security.sessions import (
    Login,
    Session,
    add_login,
    add_session,
    find_session,
    pop_login,
    revoke_session,
    revoke_sessions,
)
from whence.store.security.tables import login, metadata, session

HOUR = 3_600_000_000


def test_migrations_end_in_the_declared_tables(security: Engine) -> None:
    migrate_security(security)
    with read_security(security) as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_it_lives_beside_the_lineage_in_one_database(security: Engine) -> None:
    with read_security(security) as connection:
        before = read_state(connection)
    migrate(security)
    migrate_security(security)
    with read_security(security) as connection:
        assert read_state(connection) == before
    assert not set(metadata.tables) & set(of_store.tables)
    assert security_url("sqlite:////d/store.db") == "sqlite:////d/store.security.db"
    assert security_url("postgresql://h/d") == "postgresql://h/d"


def test_a_key_is_readable_checked_and_never_shown_again() -> None:
    key = generate_key()
    assert parse_key(key.text) == key
    assert key.id in key.text
    assert key.text not in repr(key)
    typed = key.text[:-1] + ("0" if key.text[-1] != "0" else "1")
    for wrong in ("", "whence", "whence_a_b", typed, key.text[:-1], key.text + "0", f"x{key.text}", "é" * 60):
        assert parse_key(wrong) is None


def test_only_a_hash_of_a_key_is_kept(security: Engine) -> None:
    with write_security(security) as connection:
        key = create_key(connection, "ci", SCOPES, now())
    with read_security(security) as connection:
        (stored,) = read_keys(connection)
    assert key.text.split("_")[2] not in repr(stored)
    assert stored.hash.startswith("$argon2id$")
    assert is_hash_of(stored, key)
    other = generate_key()
    assert not is_hash_of(stored, other)


def test_a_rotated_key_is_good_until_the_overlap_ends(security: Engine) -> None:
    start = now()
    with write_security(security) as connection:
        old = create_key(connection, "ci", frozenset({Action.WRITE}), start)
        with pytest.raises(AccessError):
            create_key(connection, "ci", SCOPES, start)
        new = rotate_key(connection, "ci", start, HOUR)
        kept = {one.id: one for one in read_keys(connection)}
    assert kept[new.id].scopes == {Action.WRITE}
    assert [kept[old.id].is_live(at) for at in (start, start + HOUR - 1, start + HOUR)] == [True, True, False]
    assert kept[new.id].is_live(start + HOUR)


def test_a_revoked_key_is_dead_and_its_name_free(security: Engine) -> None:
    with write_security(security) as connection:
        key = create_key(connection, "ci", SCOPES, now())
        assert [one.id for one in revoke_key(connection, key.id, now())] == [key.id]
        with pytest.raises(AccessError):
            revoke_key(connection, "ci", now())
        with pytest.raises(AccessError):
            rotate_key(connection, "ci", now(), HOUR)
        again = create_key(connection, "ci", SCOPES, now())
        assert [one.id for one in list_live_keys(connection, "ci", now())] == [again.id]


def test_an_expired_key_is_dead() -> None:
    key = StoredKey(id="a", name="n", hash="", scopes=SCOPES, created_at=0, expires_at=10)
    assert [key.is_live(at) for at in (9, 10)] == [True, False]


def test_a_policy_has_what_was_granted_to_somebody_and_their_groups(security: Engine) -> None:
    rule = Hiding("*", "*", "ssn")
    with write_security(security) as connection:
        before = read_state(connection).revision
        add_grant(connection, "user:ada", Grant(Role.READER, "a*"))
        add_grant(connection, "user:ada", Grant(Role.WRITER, "a*"))
        add_grant(connection, "group:eng", Grant(Role.READER, "b"))
        add_hidings(connection, "*", [rule, rule])
        policy = read_policy(connection)
    assert policy.revision > before
    ada = policy.viewer("user:ada", ("eng", "none"))
    assert ada.grants == (Grant(Role.WRITER, "a*"), Grant(Role.READER, "b"))
    assert ada.hidings == (rule,)
    assert policy.viewer("user:bob").grants == ()
    with write_security(security) as connection:
        assert (remove_grant(connection, "user:ada", "a*"), remove_grant(connection, "user:ada", "a*")) == (1, 0)
        assert (remove_hiding(connection, "*", rule), remove_hiding(connection, "*", rule)) == (1, 0)
        assert read_policy(connection).viewer("user:ada").hidings == ()


def one_session(at: int, subject: str = "user:ada") -> Session:
    return Session(subject=subject, groups=("eng",), created_at=at, used_at=at, expires_at=at + 10 * HOUR)


def test_a_session_ends_unused_expired_or_revoked(security: Engine) -> None:
    start = now()
    with write_security(security) as connection:
        add_session(connection, "cookie", one_session(start))
        found = find_session(connection, "cookie")
        assert found == one_session(start)
        assert find_session(connection, "other") is None
        assert "cookie" not in str(connection.execute(select(session)).all())
        assert [found.is_live(start + at, HOUR) for at in (0, HOUR - 1, HOUR)] == [True, True, False]
        assert [found.is_live(start + at, 99 * HOUR) for at in (10 * HOUR - 1, 10 * HOUR)] == [True, False]
        revoke_session(connection, "cookie", start)
        revoked = find_session(connection, "cookie")
    assert revoked is not None
    assert not revoked.is_live(start, HOUR)


def test_all_sessions_of_somebody_end_together(security: Engine) -> None:
    with write_security(security) as connection:
        for cookie, subject in (("a", "user:ada"), ("b", "user:ada"), ("c", "user:bob")):
            add_session(connection, cookie, one_session(now(), subject))
        assert revoke_sessions(connection, "user:ada", now()) == 2
        live = {cookie: find_session(connection, cookie) for cookie in "abc"}
    assert [one is not None and one.is_live(now(), HOUR) for one in live.values()] == [False, False, True]


def test_a_login_is_taken_once_and_in_time(security: Engine) -> None:
    one = Login(nonce="n", verifier="v", target="/", expires_at=now() + HOUR)
    with write_security(security) as connection:
        add_login(connection, "state", one, now())
        add_login(connection, "late", one, now())
        assert "state" not in {row.id for row in connection.execute(select(login))}
        assert pop_login(connection, "state", now()) == one
        assert pop_login(connection, "state", now()) is None
        assert pop_login(connection, "late", one.expires_at) is None
