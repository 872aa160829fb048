"""the tables of the first release: keys, grants, sessions, audit log

Frozen: a later release adds a migration, this one never changes. A column is `name:type`, `?` after it: may be NULL.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from whence.store.security.audit import make_head
from whence.store.security.grants import make_state

revision = "0001"
down_revision = None

_TYPES: dict[str, Any] = {
    "id": sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "big": sa.BigInteger(),
    "small": sa.SmallInteger(),
    "text": sa.Text(),
    "bytes": sa.LargeBinary(),
}


def upgrade() -> None:
    _create_keys()
    _create_sessions()
    _create_audit()
    make_state(op.get_bind())
    make_head(op.get_bind())


def _create_keys() -> None:
    _create_table(
        "access_state",
        key="id",
        columns="id:small revision:big secret:bytes",
    )
    _create_table(
        "access_key",
        key="id",
        columns="id:text name:text hash:text scopes:text created_at:big expires_at:big? revoked_at:big? used_at:big? "
        "fingerprint:text?",
    )
    op.create_index("access_key_name", "access_key", ["name"])
    _create_table(
        "access_grant",
        key="subject namespaces",
        columns="subject:text namespaces:text role:small",
    )
    _create_table(
        "access_hiding",
        key="subject namespaces datasets fields",
        columns="subject:text namespaces:text datasets:text fields:text",
    )


def _create_sessions() -> None:
    _create_table(
        "access_session",
        key="id",
        columns="id:text subject:text groups:text created_at:big used_at:big expires_at:big revoked_at:big? key:text?",
    )
    op.create_index("access_session_subject", "access_session", ["subject"])
    _create_table(
        "access_login",
        key="id",
        columns="id:text nonce:text verifier:text target:text expires_at:big",
    )


def _create_audit() -> None:
    _create_table(
        "audit",
        key="number",
        columns="number:id at:big who:text action:text what:text nodes:text count:big status:small hash:text",
    )
    _create_table(
        "audit_head",
        key="id",
        columns="id:small number:big hash:text",
    )


def _create_table(name: str, key: str, columns: str) -> None:
    made = [_column(*spec.split(":")) for spec in columns.split()]
    op.create_table(name, *made, sa.PrimaryKeyConstraint(*key.split()))


def _column(name: str, type_: str) -> sa.Column[Any]:
    return sa.Column(name, _TYPES[type_.rstrip("?")], autoincrement=False, nullable=type_.endswith("?"))
