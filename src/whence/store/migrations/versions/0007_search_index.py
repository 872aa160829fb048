"""the search index: words of names, and of what people say of things"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from whence.store.words import index_all

revision = "0007"
down_revision = "0006"

_EXACT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table("word", _key("word", _EXACT), sa.PrimaryKeyConstraint("word"), sqlite_with_rowid=False)
    op.create_table(
        "word_gram",
        _key("gram", _EXACT),
        _key("word", _EXACT),
        sa.PrimaryKeyConstraint("gram", "word"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "word_name",
        _key("word", _EXACT),
        _key("kind", sa.SmallInteger()),
        _key("size", sa.SmallInteger()),
        _key("id", sa.BigInteger()),
        sa.PrimaryKeyConstraint("word", "kind", "size", "id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "field_name",
        _key("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite")),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "word_said",
        _key("word", _EXACT),
        _key("facet", sa.SmallInteger()),
        _key("id", sa.BigInteger()),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("word", "facet", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index("word_said_subject", "word_said", ["subject_id", "facet"])
    op.create_index("field_named", "field", [sa.text("substr(name, 1, 200)"), "dataset_id"])
    index_all(op.get_bind())


def _key(name: str, of: Any) -> sa.Column[Any]:
    return sa.Column(name, of, autoincrement=False, nullable=False)
