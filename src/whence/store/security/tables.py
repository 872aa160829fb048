"""The tables of the security database. Times are microseconds UTC; secrets are stored only as hashes."""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

metadata = MetaData()


def _column(name: str, type_: Any, *, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    return Column(name, type_, primary_key=primary_key, autoincrement=False, nullable=nullable)


state = Table(
    "access_state",
    metadata,
    _column("id", SmallInteger, primary_key=True),  # 0: there is one row
    _column("revision", BigInteger),  # grows with every change of keys, grants and hidings
    _column("secret", LargeBinary),  # what tokens of hidden names are made with
)

key = Table(
    "access_key",
    metadata,
    _column("id", Text, primary_key=True),  # the readable part of the key
    _column("name", Text),  # whose it is: `key:<name>` in grants; several keys while one is rotated
    _column("hash", Text),  # Argon2 of the secret part
    _column("scopes", Text),  # words
    _column("created_at", BigInteger),
    _column("expires_at", BigInteger, nullable=True),
    _column("revoked_at", BigInteger, nullable=True),
    _column("used_at", BigInteger, nullable=True),  # to the minute
    _column("fingerprint", Text, nullable=True),  # the beginning of its SHA-256: detects a wrong key at once
    Index("access_key_name", "name"),
)

grant = Table(
    "access_grant",
    metadata,
    _column("subject", Text, primary_key=True),  # key:<name>, user:<subject>, group:<name>
    _column("namespaces", Text, primary_key=True),  # a pattern
    _column("role", SmallInteger),  # model.access.Role
)

hiding = Table(
    "access_hiding",
    metadata,
    _column("subject", Text, primary_key=True),  # likewise, or `*`: everybody
    _column("namespaces", Text, primary_key=True),
    _column("datasets", Text, primary_key=True),
    _column("fields", Text, primary_key=True),
)

restriction = Table(
    "access_restriction",
    metadata,
    _column("policy", Text, primary_key=True),
    _column("namespace", Text, primary_key=True),  # where the policy is declared
    _column("readers", Text),  # a JSON array of subjects that it does not restrict
    _column("fields", Text),  # a JSON array of [dataset, field]: all that it hides
)

session = Table(
    "access_session",
    metadata,
    _column("id", Text, primary_key=True),  # SHA-256 of the cookie
    _column("subject", Text),
    _column("groups", Text),  # a JSON array
    _column("created_at", BigInteger),
    _column("used_at", BigInteger),  # to the minute
    _column("expires_at", BigInteger),  # whether used or not
    _column("revoked_at", BigInteger, nullable=True),
    _column("key", Text, nullable=True),  # the id of the key that it was begun with: it ends with it
    Index("access_session_subject", "subject"),
)

login = Table(
    "access_login",
    metadata,
    _column("id", Text, primary_key=True),  # SHA-256 of the state that the provider returns
    _column("nonce", Text),
    _column("verifier", Text),  # of PKCE; of no use without the state
    _column("target", Text),  # the path to go to afterwards
    _column("expires_at", BigInteger),
)

audit = Table(
    "audit",
    metadata,
    _column("number", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),  # 1, 2, 3: in commit order
    _column("at", BigInteger),
    _column("who", Text),
    _column("action", Text),  # model.access.Action, `export`, `login`, `refused`, or a command
    _column("what", Text),  # the route or the command
    _column("nodes", Text),  # a JSON array of node ids, or namespaces
    _column("count", BigInteger),  # of events written, nodes answered
    _column("status", SmallInteger),  # of the HTTP answer; 0 for a command
    _column("hash", Text),  # of this row and the hash before it
)

audit_head = Table(
    "audit_head",
    metadata,
    _column("id", SmallInteger, primary_key=True),  # 0: there is one row, which each writer locks
    _column("number", BigInteger),
    _column("hash", Text),
)
